// Layers and overlays on the map: each is a source of tiles, of pixels for rasters, which come over the web socket, and the style that the server gives.

/** Members whose change shows in the panel alone, those that change the style, and those that change the features; others change both. */
const PANEL = new Set(["name", "isVisible", "popup", "isPopupEnabled", "graphicCount", "extent", "visibilityMode", "layers", "group", "revision"]);
const STYLE = new Set(["opacity", "minScale", "maxScale", "labelsEnabled", "selectionColor"]);
const FEATURES = new Set(["graphics", "entities", "selectedCount", "featureCount", "definitionExpression", "time", "isTimeFilterEnabled"]);
const SCHEME = "geomodel";

export class Drawing {
  #map;
  #connection;
  /** What is drawn, by key (`layer:l1`). */
  #drawn = new Map();
  #isDrawing = false;
  #next = null;
  /** Why tiles cannot be had, by the id of the layer or overlay. */
  failures = new Map();
  /** Called when there are more of these. */
  onFailure = () => {};
  /** Number of tiles that were fetched, for tests and the curious. */
  tiles = 0;

  constructor(map, connection) {
    this.#map = map;
    this.#connection = connection;
    map.on("sourcedata", ({ sourceId }) => this.#drawn.has(sourceId) && this.#loaded(sourceId));
    map.on("idle", () => [...this.#drawn.keys()].forEach((key) => this.#loaded(key)));
    maplibregl.addProtocol(SCHEME, ({ url }, abort) => this.#tile(url, abort));
  }

  async #tile(url, abort) {
    const [kind, id, z, x, y] = new URL(url.replace(`${SCHEME}://`, "http://x/")).pathname.slice(1).split("/").map(decodeURIComponent);
    if (kind === "glyphs") return { data: new ArrayBuffer(0) };
    this.tiles += 1;
    try {
      const { data } = await this.#connection.call(`${kind}/tile`, { [kind]: id, z: +z, x: +x, y: +y }, abort.signal);
      return { data: Uint8Array.from(atob(data), (each) => each.charCodeAt(0)).buffer };
    } catch (error) {
      // A layer that was closed or unloaded meanwhile has nothing to draw.
      if (["unknownId", "notLoaded"].includes(error.kind)) return { data: new ArrayBuffer(0) };
      if (!abort.signal.aborted && error.kind !== undefined && this.failures.get(id) !== error.message) {
        this.failures.set(id, error.message);
        this.onFailure();
      }
      throw error;
    }
  }

  /** Draws the model as it is now; while this waits for styles, only the newest state is kept, and what has changed until then. */
  async show(model, touched) {
    this.#next = { model, touched: this.#next === null ? touched : merged(this.#next.touched, touched) };
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    try {
      while (this.#next !== null) {
        const { model, touched } = this.#next;
        this.#next = null;
        await this.#draw(model, touched);
      }
    } catch (error) {
      console.warn(error.message);
    } finally {
      this.#isDrawing = false;
    }
  }

  async #draw(model, touched) {
    const wanted = [...drawables(model)];
    const keys = new Set(wanted.map(({ key }) => key));
    for (const key of [...this.#drawn.keys()]) if (!keys.has(key)) this.#remove(key);
    await Promise.all(wanted.map((each) => this.#prepare(each, changeOf(each, touched)).catch((error) => console.warn(`${each.key}: ${error.message}`))));
    this.#map.setPaintProperty("background", "background-color", model.map?.backgroundColor ?? "#FFFFFF");
    for (const each of wanted) this.#place(each);
    this.#order(wanted);
  }

  async #prepare({ key, kind, id, isFence }, change) {
    const drawn = this.#drawn.get(key);
    if (change.features) this.failures.delete(id);
    if (drawn === undefined || change.style) {
      const { style, notExpressed } = await this.#connection.call(`${kind}/style`, {
        [kind]: id, tiles: [address(kind, id, drawn?.version ?? 0)], glyphs: `${SCHEME}://glyphs/{fontstack}/{range}`,
      });
      this.#replace(key, id, isFence ? fenced(style) : style, notExpressed, drawn?.version ?? 0);
    }
    if (drawn !== undefined && change.features) this.#fetch(key, kind, id);
  }

  /** Has the tiles of a source fetched anew. Those that are on their way come first: else a model that changes all the time is never seen. */
  #fetch(key, kind, id) {
    const drawn = this.#drawn.get(key), source = this.#map.getSource(key);
    if (drawn === undefined || source === undefined) return;
    if (!this.#map.isSourceLoaded(key)) {
      drawn.again = () => this.#fetch(key, kind, id);
      return;
    }
    drawn.again = null;
    drawn.version += 1;
    source.setTiles([address(kind, id, drawn.version)]);
  }

  #loaded(key) {
    const drawn = this.#drawn.get(key);
    if (drawn?.again && this.#map.isSourceLoaded(key)) drawn.again();
  }

  #replace(key, id, style, notExpressed, version) {
    const map = this.#map, ids = [], again = this.#drawn.get(key)?.again ?? null;
    this.#removeLayers(key);
    if (map.getSource(key) === undefined) map.addSource(key, Object.values(style.sources)[0]);
    style.layers.forEach((layer, index) => {
      const made = { ...layer, id: `${key}#${index}`, source: key };
      map.addLayer(made);
      ids.push(made.id);
    });
    this.#drawn.set(key, { ids, notExpressed, version, again });
  }

  #removeLayers(key) {
    for (const id of this.#drawn.get(key)?.ids ?? []) if (this.#map.getLayer(id)) this.#map.removeLayer(id);
  }

  #remove(key) {
    this.#removeLayers(key);
    if (this.#map.getSource(key)) this.#map.removeSource(key);
    this.#drawn.delete(key);
  }

  #place({ key, isVisible }) {
    for (const id of this.#drawn.get(key)?.ids ?? []) this.#map.setLayoutProperty(id, "visibility", isVisible ? "visible" : "none");
  }

  #order(wanted) {
    const ids = wanted.flatMap(({ key }) => this.#drawn.get(key)?.ids ?? []);
    if (ids.join() !== this.#map.getLayersOrder().filter((id) => id !== "background").join()) for (const id of ids) this.#map.moveLayer(id);
  }

  get isIdle() {
    return !this.#isDrawing && [...this.#drawn.values()].every(({ again }) => again === null);
  }

  /** What styles leave out, by the id of the layer or overlay. */
  get notExpressed() {
    return new Map([...this.#drawn].filter(([, { notExpressed }]) => notExpressed?.length).map(([key, { notExpressed }]) => [key.split(":")[1], notExpressed]));
  }
}

/** The address of a source's tiles. The number makes those that are drawn fetch anew. */
function address(kind, id, version) {
  return `${SCHEME}://${kind}/${encodeURIComponent(id)}/{z}/{x}/{y}?${version}`;
}

/** What the view draws, from bottom to top, each with its groups and the visibility that it has from them. */
function* drawables({ view, map, layers, overlays, fences }) {
  const { basemap, operationalLayers = [] } = map ?? {};
  for (const ids of [basemap?.baseLayers ?? [], operationalLayers, basemap?.referenceLayers ?? []]) yield* layersOf(ids, layers, [], true);
  const own = view?.overlays ?? [];
  for (const id of own) {
    const overlay = overlays.get(id);
    if (overlay) yield { key: `overlay:${id}`, kind: "overlay", id, object: overlay, groups: [], isVisible: overlay.isVisible };
  }
  for (const id of fences) {
    const kind = layers.has(id) ? "layer" : overlays.has(id) ? "overlay" : null;
    const object = layers.get(id) ?? overlays.get(id);
    if (kind !== null && isLoaded(object)) yield { key: `fence:${id}`, kind, id, object, groups: [], isVisible: true, isFence: true };
  }
}

function* layersOf(ids, layers, groups, isVisible) {
  for (const id of ids) {
    const layer = layers.get(id);
    if (layer === undefined) continue;
    const isShown = isVisible && layer.isVisible;
    if (layer.layers) yield* layersOf(layer.layers, layers, [...groups, id], isShown);
    else if (isLoaded(layer)) yield { key: `layer:${id}`, kind: "layer", id, object: layer, groups, isVisible: isShown };
  }
}

function isLoaded(object) {
  return object.loadStatus === undefined || object.loadStatus.type === "loaded" || object.entitySource !== undefined;
}

/** What of a drawable has to be had anew. */
function changeOf({ kind, id, object, groups }, touched) {
  if (touched === null) return { style: true, features: true };
  const names = [
    ...(touched.get(`/${kind}s/${id}`) ?? []), ...(groups.some((group) => touched.get(`/layers/${group}`)?.has("opacity")) ? ["opacity"] : []), ...(touched.get(`/entitySources/${object.entitySource}`)?.has("entities") ? ["entities"] : []),
    ...([...touched.keys()].some((path) => path.startsWith("/environments/")) ? ["environment"] : []),
  ].filter((name) => !PANEL.has(name));
  return { style: names.some((name) => !FEATURES.has(name)), features: names.some((name) => !STYLE.has(name)) };
}

function merged(first, second) {
  if (first === null || second === null) return null;
  const all = new Map(first);
  for (const [path, names] of second) all.set(path, new Set([...(all.get(path) ?? []), ...names]));
  return all;
}

/** Fences are outlined, whatever else is drawn of them. */
function fenced(style) {
  const layer = { "source-layer": style.layers[0]?.["source-layer"] ?? Object.keys(style.sources)[0] };
  return {
    ...style,
    layers: [
      { ...layer, type: "line", filter: ["!=", ["geometry-type"], "Point"], paint: { "line-color": "#D2691E", "line-width": 2, "line-dasharray": [3, 2] } },
      {
        ...layer, type: "circle", filter: ["==", ["geometry-type"], "Point"],
        paint: { "circle-radius": 8, "circle-color": "transparent", "circle-stroke-color": "#D2691E", "circle-stroke-width": 2 },
      },
    ],
  };
}
