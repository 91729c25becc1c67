// The preview page: connects to the server that served it, and has the parts follow one view of the model.

import { Connection } from "./connection.js";
import { Camera } from "./camera.js";

const element = (id) => document.getElementById(id);
const origin = `preview-${crypto.randomUUID()}`;

/** Shows a text across the page; none hides it. */
function say(text = "") {
  element("message").textContent = text;
  element("message").hidden = text === "";
}

function start() {
  const map = new maplibregl.Map({
    container: "map", style: { version: 8, sources: {}, layers: [] }, minZoom: -2, maxZoom: 24, maxPitch: 0, pitchWithRotate: false,
    touchPitch: false, attributionControl: false, fadeDuration: 0,
  });
  // What a view shows is not bounded by the world's square.
  const transform = Object.getPrototypeOf(map.transform);
  if (typeof transform.getConstrained === "function") transform.getConstrained = (center, zoom) => ({ center, zoom });
  let camera;
  const connection = new Connection({
    onOpen: async () => {
      say();
      const { views } = await connection.call("view/list");
      if (views.length > 0) await camera.follow(views[0]);
    },
    onClosed: (text) => {
      camera.leave();
      say(text);
    },
    onNotification: (method, params) => {
      if (method === "view/viewpointChanged") camera.changed(params);
    },
  });
  camera = new Camera(map, connection, origin);
  // What tests and people at the console look at.
  window.preview = { map, connection, camera };
}

if (window.maplibregl === undefined) {
  say("This page draws with MapLibre GL, which the server does not have.\npip install maplibre, then start the preview anew; or set GEOMODEL_MAPLIBRE to a folder with maplibre-gl.js and maplibre-gl.css.");
} else {
  start();
}
