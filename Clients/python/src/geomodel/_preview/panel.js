// The panel: the view that is shown, its layers and overlays with their visibility, undo and redo, and what cannot be drawn.

export class Panel {
  #connection;
  #origin;
  #root;
  #busy = false;

  /** @param onView called with the id of the view that somebody chooses. */
  constructor(root, connection, origin, onView) {
    this.#root = root;
    this.#connection = connection;
    this.#origin = origin;
    for (const name of ["undo", "redo"]) this.#part(name).onclick = () => this.#do(`edit/${name}`);
    this.#part("views").onchange = ({ target }) => onView(target.value);
  }

  #part(id) {
    return this.#root.querySelector(`#${id}`);
  }

  async #do(method, params = {}) {
    try {
      await this.#connection.call(method, { ...params, meta: { origin: this.#origin } });
    } catch (error) {
      this.note(error.message);
    }
  }

  note(text) {
    this.#part("notes").textContent = text;
  }

  show(model) {
    const views = this.#part("views");
    views.replaceChildren(...model.views.map(({ view, map, scene }) => {
      const title = map === model.map?.map ? model.map?.title : undefined;
      return new Option(`${view}${title ? ` – ${title}` : scene ? " (scene)" : ""}`, view, false, view === model.view?.view);
    }));
    for (const name of ["undo", "redo"]) {
      const button = this.#part(name), can = model.edit[`can${name[0].toUpperCase()}${name.slice(1)}`] === true;
      button.disabled = !can;
      button.title = `${name[0].toUpperCase()}${name.slice(1)}${can ? ` ${model.edit[`${name}Name`] ?? ""}` : ""}`;
    }
    document.title = `${model.document.isModified ? "• " : ""}${model.document.path?.split("/").at(-1) ?? "geomodel preview"}`;
    this.#part("layers").replaceChildren(...this.#rows(model));
    const reference = model.view?.spatialReference;
    this.note(
      model.view === null ? "The model has no view."
        : model.view.scene ? "A scene: the page draws maps only, and overlays on them."
          : reference !== "EPSG:3857" ? `The map is in ${reference}, drawn here in Web Mercator: shapes, scale and north may differ.` : "");
  }

  /** Says at each row what of it the map's style cannot express, and why it is not drawn. */
  showLosses({ notExpressed, failures }) {
    for (const row of this.#root.querySelectorAll("li")) {
      const id = row.dataset.layer ?? row.dataset.overlay, names = notExpressed.get(id), failure = failures.get(id);
      row.title = failure ?? (names === undefined ? "" : `Not drawn as the model says: ${names.join(", ")}`);
      if (failure !== undefined) row.querySelector("label").classList.add("failed");
    }
  }

  *#rows(model) {
    for (const id of [...(model.view?.overlays ?? [])].reverse()) {
      const overlay = model.overlays.get(id);
      if (overlay) yield this.#row("overlay", id, overlay.name || id, overlay, `${overlay.graphicCount}`);
    }
    const { basemap, operationalLayers = [] } = model.map ?? {};
    for (const ids of [basemap?.referenceLayers ?? [], operationalLayers, basemap?.baseLayers ?? []]) yield* this.#layers(ids, model);
  }

  *#layers(ids, model) {
    for (const id of [...ids].reverse()) {
      const layer = model.layers.get(id);
      if (!layer) continue;
      const row = this.#row("layer", id, layer.name || id, layer, layer.featureCount === undefined ? "" : `${layer.featureCount}`);
      if (layer.layers) {
        const inner = document.createElement("ul");
        inner.append(...this.#layers(layer.layers, model));
        row.append(inner);
      } else if (["notLoaded", "failed"].includes(layer.loadStatus.type)) {
        const load = document.createElement("button");
        load.type = "button";
        load.textContent = layer.loadStatus.type === "failed" ? "retry" : "load";
        load.title = layer.loadStatus.error?.message ?? "";
        load.onclick = () => this.#do(layer.loadStatus.type === "failed" ? "layer/retryLoad" : "layer/load", { layer: id });
        row.append(load);
      }
      yield row;
    }
  }

  #row(kind, id, name, object, count) {
    const row = document.createElement("li"), label = document.createElement("label"), box = document.createElement("input");
    const detail = document.createElement("small");
    row.dataset[kind] = id;
    box.type = "checkbox";
    box.checked = object.isVisible;
    box.onchange = () => this.#do(`${kind}/update`, { [kind]: id, isVisible: box.checked });
    const status = object.loadStatus?.type;
    detail.textContent = [count, object.selectedCount ? `${object.selectedCount} selected` : "", status && status !== "loaded" ? status : ""].filter(Boolean).join(", ");
    label.classList.toggle("failed", status === "failed");
    label.append(box, ` ${name} `, detail);
    row.append(label);
    return row;
  }
}
