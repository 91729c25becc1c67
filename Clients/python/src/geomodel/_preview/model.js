// What the page knows of the model: the shown view with its map, layers and overlays, read anew where something has changed.

/** Members that follow a pan are left out: `view/observeViewpoint` has those. */
const PATHS = [
  ...["map", "scene", "overlays", "spatialReference", "width", "height", "dpi", "locationDisplay"].map((name) => `/views/*/${name}`),
  "/maps/*", "/layers/*", "/overlays/*", "/entitySources/*", "/locationSources/*/location",
  "/locationSources/*/isStale", "/locationDisplays/*", "/geotriggers/*/fences", "/environments/*", "/edit", "/document",
];
/** Beyond so many changed objects of a kind, all are read. */
const MANY = 20;

export class Model {
  views = [];
  view = null;
  map = null;
  layers = new Map();
  overlays = new Map();
  fences = [];
  edit = {};
  document = {};
  location = null;
  #connection;
  #onChange;
  #subscription = null;
  /** Names of changed members by object path; an empty name is the object. */
  #touched = new Map();
  #isReading = false;
  #wanted = "";

  /** @param onChange called with the model and the names of changed members by object path; `null` where everything is new. */
  constructor(connection, onChange) {
    this.#connection = connection;
    this.#onChange = onChange;
  }

  /** Number of changed objects that are yet to be read. */
  get waiting() {
    return this.#touched.size + (this.#isReading ? 1 : 0);
  }

  /** Reads everything, in a new session. */
  async begin(wanted) {
    this.#wanted = wanted;
    this.#touched.clear();
    const { subscription } = await this.#connection.call("state/observePaths", { paths: PATHS });
    this.#subscription = subscription;
    await this.#read(null);
  }

  /** Shows another view. */
  async show(id) {
    this.#wanted = id;
    this.#touch("");
  }

  /** `state/touched`. */
  touched({ subscription, paths }) {
    if (subscription === this.#subscription) paths.forEach((path) => this.#touch(path));
  }

  #touch(path) {
    const [, collection = "", id = "", member = ""] = path.split("/");
    const object = `/${collection}/${id}`;
    if (!this.#touched.has(object)) this.#touched.set(object, new Set());
    this.#touched.get(object).add(member);
    if (!this.#isReading) this.#run();
  }

  /** Reads what was touched until nothing is left; changes meanwhile wait for the next round. */
  async #run() {
    this.#isReading = true;
    try {
      // What arrives in one turn is read together.
      await null;
      while (this.#touched.size > 0 && this.#connection.isOpen) {
        const touched = this.#touched;
        this.#touched = new Map();
        await this.#read(touched.has("//") || [...touched.keys()].some((path) => path.endsWith("/")) ? null : touched);
      }
    } catch (error) {
      console.warn(error.message);
    } finally {
      this.#isReading = false;
    }
  }

  async #read(touched) {
    const has = (collection) => touched === null || [...touched.keys()].some((path) => path.startsWith(`/${collection}/`));
    const call = (method, params) => this.#connection.call(method, params);
    if (has("views")) {
      this.views = (await call("view/list")).views;
      const before = this.view;
      this.view = this.views.find(({ view }) => view === this.#wanted) ?? this.views.find(({ view }) => view === before?.view) ?? this.views[0] ?? null;
      if (this.view?.view !== before?.view || this.view?.map !== before?.map) touched = null;
    }
    if (has("maps")) this.map = this.view?.map ? (await call("map/get", { map: this.view.map })) : null;
    await this.#readAll("layer", "layers", this.map && { map: this.map.map }, touched);
    await this.#readAll("overlay", "overlays", this.view && { view: this.view.view }, touched);
    if (has("geotriggers")) {
      const { geotriggers } = await call("geotrigger/list");
      this.fences = [...new Set(geotriggers.map(({ fences }) => fences).filter(Boolean))];
    }
    if (has("edit") || has("document")) {
      const values = await Promise.all(["/edit", "/document"].map((path) => call("state/get", { path })));
      [this.edit, this.document] = values.map(({ values: [first] }) => first?.value ?? {});
    }
    if (has("locationSources") || has("locationDisplays") || has("views")) this.location = await this.#readLocation();
    this.#onChange(this, touched);
  }

  async #readAll(kind, collection, params, touched) {
    const objects = this[collection], prefix = `/${collection}/`;
    if (params === null) return objects.clear();
    const ids = touched === null ? [] : [...touched.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).replaceAll("~1", "/").replaceAll("~0", "~"));
    if (touched === null || ids.length > MANY) {
      const list = (await this.#connection.call(`${kind}/list`, params))[collection];
      objects.clear();
      for (const object of list) objects.set(object[kind], object);
      return;
    }
    await Promise.all(ids.map(async (id) => {
      try {
        objects.set(id, await this.#connection.call(`${kind}/get`, { [kind]: id }));
      } catch (error) {
        if (error.kind !== "unknownId") throw error;
        objects.delete(id);
      }
    }));
  }

  async #readLocation() {
    const { source, display } = this.view?.locationDisplay ?? {};
    if (display !== undefined) {
      const { location, symbolAngle } = await this.#connection.call("locationDisplay/get", { locationDisplay: display });
      return location && { ...location, angle: symbolAngle };
    }
    return source === undefined ? null : (await this.#connection.call("location/get", { locationSource: source })).location ?? null;
  }
}
