"""Styles of vector tiles: what of a layer's renderer and labels MapLibre can express."""

from __future__ import annotations

import math
import unittest
from typing import Any

from tiling import SCALE, TilesCase, feature, has


@unittest.skipUnless(has("mapbox_vector_tile"), "no mapbox-vector-tile")
class LayerStyleTest(TilesCase):
    def test_attributes_for_styles(self) -> None:
        self.load([feature(n, {"type": "Point", "coordinates": [n, 0]}, n=n, name=f"p{n}") for n in range(4)])
        symbol = {"type": "simpleMarker", "size": 10}
        values = [{"values": [True], "symbol": symbol}, {"values": [False], "symbol": symbol}]
        self.server.call("layer/update", {
            "layer": "l1", "renderer": {"type": "uniqueValue", "expression": "n > 1", "uniqueValues": values}, "labelsEnabled": True,
            "labels": [{"expression": "name", "whereClause": "n > 2", "symbol": {"type": "text", "text": ""}}]})
        _, found = self.tile(0, 0, 0, properties=[])
        self.assertEqual([each["properties"] for each in found], [
            {"_value0": False}, {"_value0": False}, {"_value0": True}, {"_value0": True, "_label0": "p3"}])
        style = self.style()
        self.assertEqual(style["layers"][0]["filter"][1], ["==", ["get", "_value0"], True])
        _, found = self.tile(0, 0, 0, properties=[], returnPortrayal=False)
        self.assertEqual([each["properties"] for each in found], [{}] * 4)

    def style(self, losses: list[str] | None = None) -> dict[str, Any]:
        answer = self.server.call("layer/style", {"layer": "l1", "glyphs": "{fontstack}/{range}.pbf"})
        if losses is not None:
            self.assertEqual(answer["notExpressed"], losses)
        style: dict[str, Any] = answer["style"]
        self.assertEqual((style["version"], list(style["sources"])), (8, ["l1"]))
        ids = [each["id"] for each in style["layers"]]
        self.assertEqual(len(ids), len(set(ids)))
        for each in style["layers"]:
            self.assertEqual((each["source"], each["source-layer"]), ("l1", "l1"))
            self.assertIn(each["type"], ("circle", "line", "fill", "symbol"))
        return style

    def test_style_without_renderer(self) -> None:
        self.load([feature(1, {"type": "Point", "coordinates": [0, 0]})])
        self.server.call("layer/update", {"layer": "l1", "opacity": 0.5, "minScale": 1e6, "isVisible": False})
        layers = {each["id"]: each for each in self.style()["layers"]}
        self.assertEqual(layers["l1-default-point"]["paint"]["circle-radius"], 3.5)
        self.assertEqual(layers["l1-default-point"]["paint"]["circle-opacity"], 0.5)
        self.assertEqual(layers["l1-default-line"]["paint"]["line-color"], "rgba(128,128,128,1)")
        self.assertEqual(layers["l1-default-area"]["layout"], {"visibility": "none"})
        self.assertAlmostEqual(layers["l1-default-area"]["minzoom"], math.log2(SCALE / 1e6), 4)

    def test_style_of_class_breaks_and_visual_variables(self) -> None:
        self.load([feature(1, {"type": "Point", "coordinates": [0, 0]}, n=1, area=2, label="a")])
        breaks = [{"minValue": 0, "maxValue": 10, "symbol": {"type": "simpleMarker", "style": "diamond", "color": "#FF000080", "size": 8}},
                  {"maxValue": 20, "symbol": {"type": "simpleLine", "style": "dash", "width": 2}}]
        self.server.call("layer/update", {
            "layer": "l1", "renderer": {
                "type": "classBreaks", "field": "n", "normalizationField": "area", "breaks": breaks,
                "defaultSymbol": {"type": "simpleFill", "style": "cross", "outline": {"width": 3}},
                "visualVariables": [{"type": "size", "field": "n", "stops": [{"value": 0, "size": 4}, {"value": 9, "size": 40}]},
                                    {"type": "color", "field": "n", "stops": [{"value": 0, "color": "#000000"}, {"value": 9, "color": "#FFFFFF"}]},
                                    {"type": "opacity", "field": "n", "stops": [{"value": 0, "opacity": 0}, {"value": 9, "opacity": 1}]}]}})
        style = self.style(["markerStyle", "fillStyle", "drawingOrder"])
        marker, line, fill, outline = [each for each in style["layers"] if "symbol" in each["id"]]
        ratio = ["/", ["get", "n"], ["get", "area"]]
        self.assertEqual(line["filter"][1][2], ["all", [">", ratio, 10], ["<=", ratio, 20]])
        self.assertEqual(line["paint"]["line-dasharray"], [4, 3])
        self.assertEqual(fill["filter"][1][0], "!")
        self.assertEqual(outline["type"], "line")
        is_number = ["==", ["typeof", ["get", "n"]], "number"]
        self.assertEqual(marker["paint"]["circle-radius"], [
            "*", ["case", is_number, ["interpolate", ["linear"], ["get", "n"], 0, 4, 9, 40], 8], 0.5])
        self.assertEqual(marker["paint"]["circle-color"], [
            "case", is_number, ["interpolate", ["linear"], ["get", "n"], 0, "rgba(0,0,0,1)", 9, "rgba(255,255,255,1)"], "rgba(255,0,0,0.502)"])
        self.assertEqual(marker["paint"]["circle-opacity"][2][-1], 1)

    def test_style_of_labels_and_reference_scale(self) -> None:
        self.load([feature(1, {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}, name="a")])
        self.server.call("map/update", {"map": "m1", "referenceScale": SCALE})
        self.server.call("layer/update", {
            "layer": "l1", "labelsEnabled": True, "renderer": {"type": "simple", "symbol": {"type": "simpleLine", "width": 2}},
            "labels": [{"expression": "name", "placement": "lineAboveAlong", "maxScale": 1000,
                        "symbol": {"type": "text", "text": "", "size": 10, "haloColor": "#FFFFFF", "haloWidth": 1}}]})
        line, *_, label = self.style([])["layers"]
        width = line["paint"]["line-width"]
        self.assertEqual(width[:3], ["interpolate", ["exponential", 2], ["zoom"]])
        self.assertAlmostEqual(width[4], 2, 5)
        self.assertAlmostEqual(width[6] / 2**24, 2, 5)
        self.assertEqual((label["layout"]["text-field"], label["layout"]["symbol-placement"]), (["get", "_label0"], "line"))
        self.assertIn("maxzoom", label)


if __name__ == "__main__":
    unittest.main()
