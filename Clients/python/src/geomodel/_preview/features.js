// What one does with features on the map: popups by a click, selections by a click with a modifier key, and the location of the device.

/** Pixels around a click within which features are found. */
const TOLERANCE = 6;
/** Features of each layer in a popup. */
const MANY = 10;
/** Metres to a pixel at the equator at zoom 0, of tiles of 512 pixels. */
const METRES = 40075016.6856 / 512;

export class Features {
  #map;
  #connection;
  #camera;
  #origin;
  #popup = null;
  #marker = null;

  /** Where the device is shown: longitude and latitude. */
  place = null;
  /** How far it may be from there, in metres. */
  #accuracy = 0;

  constructor(map, connection, camera, origin) {
    this.#map = map;
    this.#connection = connection;
    this.#camera = camera;
    this.#origin = origin;
    map.on("zoom", () => this.#showAccuracy());
    map.on("click", (event) => this.#clicked(event).catch((error) => console.warn(error.message)));
  }

  async #clicked({ lngLat, originalEvent }) {
    const view = this.#camera.view;
    if (view === undefined) return;
    await this.#camera.takeScreen();
    const screenPoint = this.#camera.screenPoint(lngLat), meta = { origin: this.#origin };
    this.#popup?.remove();
    if (originalEvent.shiftKey || originalEvent.ctrlKey || originalEvent.metaKey) {
      const mode = originalEvent.altKey ? "subtract" : originalEvent.shiftKey ? "add" : "new";
      await this.#connection.call("view/select", { view, screenPoint, tolerance: TOLERANCE, mode, meta });
      return;
    }
    await this.#connection.call("view/interact", { view, interaction: { type: "tap", screenPoint }, meta });
    const { results } = await this.#connection.call("view/identify", {
      view, screenPoint, tolerance: TOLERANCE, maximumResults: MANY, returnPopupsOnly: true,
    });
    const popups = [...popupsOf(results)];
    if (popups.length === 0) return;
    const content = document.createElement("div");
    content.className = "popup";
    content.append(...popups.map(({ name, popup }) => shown(name, popup)));
    this.#popup = new maplibregl.Popup({ maxWidth: "320px" }).setLngLat(lngLat).setDOMContent(content).addTo(this.#map);
  }

  /** Shows where the device is; null for nowhere. */
  locate(location) {
    const place = (this.place = location?.position?.coordinates ?? null);
    if (place === null) {
      this.#marker?.remove();
      this.#marker = null;
      return;
    }
    if (this.#marker === null) {
      const element = document.createElement("div");
      element.className = "location";
      this.#marker = new maplibregl.Marker({ element }).setLngLat(place).addTo(this.#map);
    }
    this.#marker.setLngLat(place);
    this.#marker.getElement().classList.toggle("old", location.isLastKnown === true);
    this.#accuracy = location.horizontalAccuracy ?? 0;
    this.#showAccuracy();
  }

  #showAccuracy() {
    if (this.#marker === null) return;
    const metres = (METRES * Math.cos((this.place[1] * Math.PI) / 180)) / 2 ** this.#map.getZoom();
    this.#marker.getElement().style.setProperty("--accuracy", `${this.#accuracy / metres}px`);
  }
}

function* popupsOf(results) {
  for (const result of results) {
    yield* result.popups.map((popup) => ({ name: result.name, popup }));
    yield* popupsOf(result.sublayerResults);
  }
}

/** Texts of the model become texts of the page, never markup. */
function shown(name, { title, lines }) {
  const part = document.createElement("section"), head = document.createElement("h1"), table = document.createElement("table");
  head.textContent = title || name;
  for (const { label, field, text } of lines) {
    const row = table.insertRow();
    row.insertCell().textContent = label ?? field ?? "";
    row.insertCell().textContent = text ?? "";
  }
  part.append(head, table);
  return part;
}
