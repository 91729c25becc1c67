// The map's camera and a view's viewpoint, each following the other.

/** Metres around the equator on the sphere of Web Mercator, and inches in a metre. */
const AROUND = 2 * Math.PI * 6378137, INCHES = 1 / 0.0254;
/** Pixels of the world's side at zoom 0. */
const SIDE = 512;

export function zoomOf(scale, dpi) {
  return Math.log2((AROUND * INCHES * dpi) / (SIDE * scale));
}

export function scaleOf(zoom, dpi) {
  return (AROUND * INCHES * dpi) / (SIDE * 2 ** zoom);
}

export class Camera {
  #map;
  #connection;
  #origin;
  #view = null;
  #subscription = null;
  #isApplying = false;
  /** The model's scale and the zoom that it has become: a scale that nobody changes here goes back as it came. */
  #scale = { zoom: NaN, scale: NaN };
  /** Whether a viewpoint is on its way to the server, and whether the map has moved since. */
  #isSending = false;
  #isAhead = false;
  /** Whether a gesture has ended whose end the server does not know. */
  #hasEnded = false;
  /** Whether the map has scales or directions to which gestures snap. */
  snaps = false;

  /** @param origin the name that changes made here carry, so that they do not come back. */
  constructor(map, connection, origin) {
    this.#map = map;
    this.#connection = connection;
    this.#origin = origin;
    map.on("move", () => this.#moved());
    map.on("moveend", () => this.#ended());
  }

  get view() {
    return this.#view?.view;
  }

  /** Whether the server has all that was moved here. */
  get isSettled() {
    return !this.#isSending && !this.#isAhead;
  }

  /** The view as it was last read. */
  set state(view) {
    if (view.view === this.#view?.view) this.#view = view;
  }

  /** Follows a view, as `view/get` answers it, from now on. */
  async follow(view) {
    if (this.#subscription !== null) this.#connection.call("state/unobserve", { subscription: this.#subscription }).catch(() => {});
    this.#subscription = null;
    this.#view = view;
    this.#isAhead = this.#hasEnded = false;
    const observed = await this.#connection.call("view/observeViewpoint", { view: view.view, exceptOrigin: this.#origin });
    if (this.#view?.view !== view.view) return this.#connection.call("state/unobserve", { subscription: observed.subscription });
    this.#subscription = observed.subscription;
    this.#apply(observed.viewpoints[0]);
    await this.takeScreen();
  }

  /** Follows nothing. The session with the subscription has ended. */
  leave() {
    this.#view = this.#subscription = null;
    this.#isAhead = this.#hasEnded = false;
  }

  /** Makes this page's size the view's: the screen is where somebody looks and clicks. */
  async takeScreen() {
    const { clientWidth: width, clientHeight: height } = this.#map.getContainer();
    if (this.#view === null || !width || !height || (this.#view.width === width && this.#view.height === height)) return;
    this.#view = await this.#connection.call("view/resize", { view: this.#view.view, width, height, meta: { origin: this.#origin } });
  }

  /** `view/viewpointChanged`. */
  changed({ subscription, viewpoints }) {
    if (subscription === this.#subscription) this.#apply(viewpoints[0]);
  }

  /** Where a place of the map is on the view's screen. */
  screenPoint(lngLat) {
    const inMap = this.#map.project(lngLat), { clientWidth, clientHeight } = this.#map.getContainer();
    return { x: inMap.x - (clientWidth - this.#view.width) / 2, y: inMap.y - (clientHeight - this.#view.height) / 2 };
  }

  #apply({ center, targetScale, rotation }) {
    const [lng, lat] = center.coordinates;
    this.#isApplying = true;
    try {
      this.#map.jumpTo({ center: [lng, Math.max(-85.0511287798066, Math.min(85.0511287798066, lat))], zoom: zoomOf(targetScale, this.#view.dpi), bearing: -rotation });
      this.#scale = { zoom: this.#map.getZoom(), scale: targetScale };
    } finally {
      this.#isApplying = false;
    }
  }

  #moved() {
    if (this.#isApplying || this.#subscription === null) return;
    this.#isAhead = true;
    if (!this.#isSending) this.#send();
  }

  #ended() {
    if (this.#isApplying || this.#subscription === null || !this.snaps) return;
    this.#hasEnded = true;
    if (!this.#isSending) this.#send();
  }

  /** Sends where the map is now. While an answer is awaited, only the newest place is kept. */
  async #send() {
    const view = this.#view, map = this.#map;
    if (view === null) return;
    this.#isSending = true;
    try {
      while (this.#isAhead && this.#view?.view === view.view) {
        this.#isAhead = false;
        const center = map.getCenter().wrap();
        const zoom = map.getZoom(), rotation = (360 - map.getBearing()) % 360;
        const targetScale = zoom === this.#scale.zoom ? this.#scale.scale : scaleOf(zoom, view.dpi);
        const { viewpoint } = await this.#connection.call("view/setViewpoint", {
          view: view.view,
          viewpoint: {
            type: "centerAndScale", center: { type: "Point", coordinates: center.toArray() }, targetScale, rotation, spatialReference: "EPSG:4326",
          },
          meta: { origin: this.#origin },
        });
        // Limits of the map, or somebody else's viewpoint that the server had before this one.
        if (!this.#isAhead && this.#view?.view === view.view) this.#settle(viewpoint);
      }
      if (this.#hasEnded && this.#view?.view === view.view) {
        this.#hasEnded = false;
        const interaction = { type: "pan", x: 0, y: 0, ends: true };
        const { viewpoint } = await this.#connection.call("view/interact", { view: view.view, interaction, meta: { origin: this.#origin } });
        if (!this.#isAhead) this.#settle(viewpoint);
      }
    } catch (error) {
      console.warn(error.message);
    } finally {
      this.#isSending = false;
    }
    if (this.#isAhead) this.#send();
  }

  #settle(viewpoint) {
    const map = this.#map, shown = map.project(map.getCenter()), place = map.project(viewpoint.center.coordinates);
    const isThere = Math.hypot(shown.x - place.x, shown.y - place.y) < 0.01
      && Math.abs(zoomOf(viewpoint.targetScale, this.#view.dpi) - map.getZoom()) < 1e-6
      && Math.abs(((viewpoint.rotation + map.getBearing() + 540) % 360) - 180) < 1e-6;
    if (!isThere) this.#apply(viewpoint);
  }
}
