// Clusters points by supercluster: `node supercluster.js FILE` reads {maxZoom, radius, bits, points: [[longitude, latitude], ...]} and writes, for each
// zoom from 0 to maxZoom + 1, [count, longitude, latitude] of each cluster and point.
//
// FILE is supercluster's own distribution, or a bundle of a web package that has it in its text. With 64 bits its single-precision
// coordinates are doubles, by another `Math.fround` and `Float32Array`; nothing else of it changes.

"use strict";
const fs = require("fs");

/** The part of a bundle from the spatial index to the last function of the projection, and the name of its class. */
function fromBundle(text) {
  const start = text.search(/const \w+=\[Int8Array,/);
  const name = /class (\w+)\{constructor\(\w+\)\{this\.options=Object\.assign\(Object\.create\(/.exec(text);
  const end = /Math\.atan\(Math\.exp\(\w+\)\)\/Math\.PI-90\}/.exec(text);
  if (start < 0 || !name || !end) throw new Error("There is no supercluster in the bundle.");
  return text.slice(start, end.index + end[0].length) + `;module.exports = ${name[1]};`;
}

function load(path, bits) {
  const text = fs.readFileSync(path, "utf8");
  const source = /webpackChunk/.test(text) ? fromBundle(text) : text;
  const module = { exports: {} };
  const math = Object.create(Math, { fround: { value: bits === 64 ? (x) => x : Math.fround } });
  const floats = bits === 64 ? Float64Array : Float32Array;
  new Function("module", "exports", "Math", "Float32Array", source)(module, module.exports, math, floats);
  return module.exports;
}

const { maxZoom, radius, bits, points } = JSON.parse(fs.readFileSync(0, "utf8"));
const Supercluster = load(process.argv[2], bits);
const index = new Supercluster({ maxZoom, radius, extent: 512, minPoints: 2 });
index.load(points.map((coordinates) => ({ type: "Feature", properties: {}, geometry: { type: "Point", coordinates } })));
const zooms = [];
for (let zoom = 0; zoom <= maxZoom + 1; zoom++) {
  zooms.push(index.getClusters([-180, -90, 180, 90], zoom).map((each) => [
    each.properties.cluster ? each.properties.point_count : 1, ...each.geometry.coordinates]));
}
process.stdout.write(JSON.stringify(zooms));
