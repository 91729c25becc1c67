// The preview page: connects to the server that served it, and has the parts follow one view of the model.

import { Camera } from "./camera.js";
import { Connection } from "./connection.js";
import { Drawing } from "./drawing.js";
import { Features } from "./features.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";

const element = (id) => document.getElementById(id);
const origin = `preview-${crypto.randomUUID()}`;

/** Shows a text across the page; none hides it. */
function say(text = "") {
  element("message").textContent = text;
  element("message").hidden = text === "";
}

function chosen() {
  return decodeURIComponent(location.hash.slice(1));
}

function makeMap() {
  const map = new maplibregl.Map({
    // Shift is for selections.
    container: "map", boxZoom: false, minZoom: -2, maxZoom: 24, maxPitch: 0, pitchWithRotate: false, touchPitch: false, attributionControl: false, fadeDuration: 0,
    style: {
      version: 8, glyphs: "geomodel://glyphs/{fontstack}/{range}", sources: {},
      layers: [{ id: "background", type: "background", paint: { "background-color": "#FFFFFF" } }],
    },
  });
  // What a view shows is not bounded by the world's square.
  const transform = Object.getPrototypeOf(map.transform);
  if (typeof transform.getConstrained === "function") transform.getConstrained = (center, zoom) => ({ center, zoom });
  // All letters are those of this machine: there is no server of glyphs.
  const glyphs = Object.getPrototypeOf(map.style.glyphManager ?? {});
  if (typeof glyphs._doesCharSupportLocalGlyph === "function") glyphs._doesCharSupportLocalGlyph = () => true;
  map.on("error", ({ error }) => console.warn(error.message));
  return map;
}

function start() {
  const map = makeMap(), parts = {};
  const connection = new Connection({
    onOpen: async () => {
      await new Promise((done) => (map.isStyleLoaded() || parts.isLoaded ? done() : map.once("load", done)));
      parts.isLoaded = true;
      await parts.model.begin(chosen());
      say(parts.model.view === null ? "The model has no view; one that a script creates is shown here." : "");
    },
    onClosed: (text) => {
      parts.camera.leave();
      say(text);
    },
    onNotification: (method, params) => {
      if (method === "view/viewpointChanged") parts.camera.changed(params);
      if (method === "state/touched") parts.model.touched(params);
    },
  });
  Object.assign(parts, { map, connection });
  parts.camera = new Camera(map, connection, origin);
  parts.drawing = new Drawing(map, connection);
  parts.features = new Features(map, connection, parts.camera, origin);
  parts.panel = new Panel(element("panel"), connection, origin, (view) => (location.hash = encodeURIComponent(view)));
  parts.drawing.onFailure = () => parts.panel.showLosses(parts.drawing);
  parts.model = new Model(connection, (model, touched) => shown(parts, model, touched));
  addEventListener("hashchange", () => parts.model.show(chosen()));
  map.on("resize", () => parts.camera.takeScreen().catch((error) => console.warn(error.message)));
  // What tests and people at the console look at.
  window.preview = parts;
}

function shown({ camera, drawing, features, panel, connection }, model, touched) {
  panel.show(model);
  features.locate(model.location);
  if (model.view !== null) say();
  if (model.view === null) camera.leave();
  else if (camera.view !== model.view.view) {
    camera.follow(model.view).catch((error) => console.warn(error.message));
    connection.call("client/update", { view: model.view.view }).catch((error) => console.warn(error.message));
  } else camera.state = model.view;
  camera.snaps = Boolean(model.map?.scaleLevels?.length || model.map?.rotationSnap);
  drawing.show(model, touched).then(() => panel.showLosses(drawing));
}

if (window.maplibregl === undefined) {
  say("This page draws with MapLibre GL, which the server does not have.\npip install maplibre, then start the preview anew; or set GEOMODEL_MAPLIBRE to a folder with maplibre-gl.js and maplibre-gl.css.");
} else {
  start();
}
