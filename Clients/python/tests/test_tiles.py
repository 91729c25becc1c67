"""Vector tiles, read by decoders that are not ours.

Needs the packages mapbox-vector-tile, pmtiles and shapely; tests without theirs are skipped.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import importlib
import importlib.util
import json
import math
import random
import sqlite3
import tempfile
import unittest
from pathlib import Path
from typing import Any

from browser import BROWSER, Browser, Picture
from support import needs_server, SERVER

import geomodel

REACH = 6378137 * math.pi
# The denominator of zoom 0 with tiles of 512 pixels of 96 dpi.
SCALE = 2 * REACH / 512 / (0.0254 / 96)


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def decoded(data: str | bytes) -> dict[str, Any]:
    """The layers of a tile, y southwards as they are stored."""
    raw = base64.b64decode(data) if isinstance(data, str) else data
    layers: dict[str, Any] = importlib.import_module("mapbox_vector_tile").decode(raw, default_options={"y_coord_down": True})
    return layers


def area(ring: list[list[int]]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) / 2


def faults(layer: dict[str, Any]) -> list[tuple[int, str]]:
    """The polygons of a layer of a tile that are not valid, or whose rings wind the wrong way."""
    shapely, validation = importlib.import_module("shapely.geometry"), importlib.import_module("shapely.validation")
    found = []
    for each in layer["features"]:
        kind, coordinates = each["geometry"]["type"], each["geometry"]["coordinates"]
        if "Polygon" not in kind:
            continue
        shape = shapely.shape(each["geometry"])
        if not shape.is_valid:
            found.append((each["id"], validation.explain_validity(shape)))
        for shell, *holes in [coordinates] if kind == "Polygon" else coordinates:
            if area(shell) <= 0 or any(area(hole) >= 0 for hole in holes):
                found.append((each["id"], "winding"))
    return found


def feature(number: int, geometry: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "id": number, "geometry": geometry, "properties": properties}


def rectangle(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


@needs_server
@unittest.skipUnless(has("mapbox_vector_tile"), "no mapbox-vector-tile")
class TilesTest(unittest.TestCase):
    def setUp(self) -> None:
        assert SERVER is not None
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.call("map/create", {"id": "m1"})

    def load(self, features: list[dict[str, Any]], reference: str = "EPSG:4326", name: str = "l1") -> None:
        data = {"type": "FeatureCollection", "features": features}
        self.server.call("source/openInline", {"id": f"s-{name}", "data": data, "spatialReference": reference})
        self.server.call("layer/add", {"map": "m1", "source": f"s-{name}", "id": name})
        self.server.call("layer/load", {"layer": name})

    def tile(self, z: int, x: int, y: int, **params: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        answer = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": y, **params})
        layers = decoded(answer["data"]) if answer["data"] else {}
        self.assertEqual(set(layers) - {"l1"}, set())
        return answer, layers["l1"]["features"] if layers else []

    def test_typed_attributes_and_places(self) -> None:
        self.load([
            feature(1, {"type": "Point", "coordinates": [0, 0]}, text="é", whole=7, less=-3, big=2**53, part=0.5, yes=True, none=None, list=[1]),
            feature(2, {"type": "Point", "coordinates": [90, 0]}, text="b"),
        ])
        answer, found = self.tile(0, 0, 0)
        self.assertEqual((answer["featureCount"], answer["isThinned"]), (2, False))
        self.assertEqual(
            found[0]["properties"], {"text": "é", "whole": 7, "less": -3, "big": 2**53, "part": 0.5, "yes": True, "list": "[1]"}
        )
        self.assertEqual([each["id"] for each in found], [1, 2])
        self.assertEqual([each["geometry"]["coordinates"] for each in found], [[2048, 2048], [3072, 2048]])
        _, found = self.tile(0, 0, 0, properties=["yes", "unknown"])
        self.assertEqual([each["properties"] for each in found], [{"yes": True}, {}])
        self.assertEqual(self.tile(1, 0, 1)[1][0]["geometry"]["coordinates"], [4096, 0])
        self.assertEqual(self.tile(3, 0, 0)[1], [])

    def test_rings_wind_as_the_format_demands(self) -> None:
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [rectangle(-60, -40, 60, 40), rectangle(-10, -10, 10, 10)]}),
            feature(2, {"type": "Polygon", "coordinates": [rectangle(-60, -40, 60, 40)[::-1], rectangle(-10, -10, 10, 10)[::-1]]}),
            feature(3, {"type": "MultiPolygon", "coordinates": [[rectangle(70, 0, 71, 1)], [rectangle(80, 0, 80.0001, 0.0001)]]}),
            feature(4, {"type": "Polygon", "coordinates": [rectangle(80, 0, 80.0001, 0.0001)]}),
        ])
        _, found = self.tile(0, 0, 0)
        self.assertEqual([each["id"] for each in found], [1, 2, 3])
        for each in found[:2]:
            shell, hole = each["geometry"]["coordinates"]
            self.assertGreater(area(shell), 0)
            self.assertLess(area(hole), 0)
        self.assertEqual(found[2]["geometry"]["type"], "Polygon")
        # Cut at the buffer: 64 units on each side.
        xs = [x for x, _ in self.tile(3, 4, 4)[1][0]["geometry"]["coordinates"][0]]
        self.assertEqual((min(xs), max(xs)), (-64, 4160))

    @unittest.skipUnless(has("shapely"), "no shapely")
    def test_areas_are_valid(self) -> None:
        chance = random.Random(1)
        # Combs whose teeth go beyond the buffer, areas that touch when rounded, a star that crosses itself, holes near the edge.
        comb = [[-100, -60], *([x / 4, -60 if x % 2 else 60] for x in range(-400, 400)), [100, -80], [-100, -80], [-100, -60]]
        star = [[chance.uniform(-90, 90), chance.uniform(-60, 60)] for _ in range(120)]
        thin = [[rectangle(x, 0, x + 0.04, 50)] for x in range(0, 20)] + [[rectangle(x + 0.05, 0, x + 1, 50)] for x in range(0, 20)]
        shell = rectangle(-60, -60, -20, 60)
        holes = [[[-60 + x, y], [-60 + x + 0.2, y], [-60 + x + 0.1, y + 0.15], [-60 + x, y]] for x in (0.001, 5, 39.79) for y in range(-50, 50)]
        coast = [[math.cos(a / 500 * math.pi) * r, math.sin(a / 500 * math.pi) * r] for a in range(1000) for r in [chance.uniform(60, 61)]]
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [comb]}),
            feature(2, {"type": "Polygon", "coordinates": [[*star, star[0]]]}),
            feature(3, {"type": "MultiPolygon", "coordinates": thin}),
            feature(4, {"type": "Polygon", "coordinates": [shell, *holes]}),
            feature(5, {"type": "Polygon", "coordinates": [[*coast, coast[0]]]}),
        ], name="l1")
        for z in range(4):
            for x in range(2**z):
                for y in range(2**z):
                    answer = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": y})
                    for layer in decoded(answer["data"]).values() if answer["data"] else []:
                        self.assertEqual((z, x, y, faults(layer)), (z, x, y, []))
                    self.assertEqual(answer["failedCount"], 0)
        whole = {each["id"]: each for each in self.tile(0, 0, 0)[1]}
        self.assertEqual(set(whole), {1, 2, 3, 4, 5})
        # A hole is kept where it has an area on the grid.
        self.assertGreater(len(whole[4]["geometry"]["coordinates"]), 50)

    def test_lines_are_cut_into_pieces(self) -> None:
        self.load([feature(1, {"type": "LineString", "coordinates": [[-170, 10], [-100, 80], [-100, 10], [-10, 10], [-10, 20]]})])
        _, found = self.tile(1, 0, 0)
        self.assertEqual(found[0]["geometry"]["type"], "LineString")
        _, found = self.tile(3, 2, 3)
        kind, parts = found[0]["geometry"]["type"], found[0]["geometry"]["coordinates"]
        self.assertEqual((kind, len(parts)), ("LineString", 2))
        for part in [parts] if kind == "LineString" else parts:
            for x, y in part:
                self.assertTrue(-64 <= x <= 4160 and -64 <= y <= 4160)

    def test_both_sides_of_the_antimeridian(self) -> None:
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [rectangle(170, -10, 190, 10)]}),
            feature(2, {"type": "Point", "coordinates": [-179.99, 0]}),
        ])
        _, east = self.tile(1, 1, 0)
        _, west = self.tile(1, 0, 0)
        self.assertEqual([each["id"] for each in east], [1, 2])
        self.assertEqual([each["id"] for each in west], [1, 2])
        self.assertGreater(max(x for x, _ in east[0]["geometry"]["coordinates"][0]), 4096)
        self.assertEqual(min(x for x, _ in west[0]["geometry"]["coordinates"][0]), -64)

    def test_other_references(self) -> None:
        self.load([feature(1, {"type": "Point", "coordinates": [500000, 5000000]}, name="a")], "EPSG:32632")
        z = 10
        longitude, latitude = 9.0, 45.1535
        x = int((longitude + 180) / 360 * 2**z)
        y = int((1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2 * 2**z)
        _, found = self.tile(z, x, y)
        self.assertEqual(len(found), 1)

    def test_thinned_by_size_and_limits(self) -> None:
        points = [feature(n, {"type": "Point", "coordinates": [n % 100 / 10, n // 100 / 10]}) for n in range(3000)]
        self.load([*points, feature(9999, {"type": "LineString", "coordinates": [[0, 0], [9, 9]]})])
        answer, found = self.tile(0, 0, 0, maxFeatures=100)
        self.assertEqual((answer["featureCount"], answer["isThinned"], answer["omittedCount"]), (100, True, 2901))
        self.assertEqual(found[-1]["id"], 9999)
        self.assertEqual(found, self.tile(0, 0, 0, maxFeatures=100)[1])
        more = {each["id"] for each in self.tile(0, 0, 0, maxFeatures=200)[1]}
        self.assertLess({each["id"] for each in found}, more)
        answer, _ = self.tile(0, 0, 0, maxBytes=5000)
        self.assertTrue(2500 < answer["bytes"] <= 5000, answer["bytes"])

    def test_filters_selection_and_clusters(self) -> None:
        points = [feature(n, {"type": "Point", "coordinates": [n / 1000, 0]}, n=n) for n in range(50)]
        self.load(points)
        self.server.call("layer/update", {"layer": "l1", "definitionExpression": "n >= 10"})
        self.server.call("layer/select", {"layer": "l1", "ids": [12]})
        _, found = self.tile(0, 0, 0)
        self.assertEqual(len(found), 40)
        self.assertEqual([each["id"] for each in found if each["properties"].get("_selected")], [12])
        statistics = [{"type": "sum", "field": "n", "name": "total"}]
        self.server.call("layer/update", {"layer": "l1", "featureReduction": {"aggregateFields": statistics}})
        _, found = self.tile(0, 0, 0)
        self.assertEqual([(each["id"], each["properties"]["cluster_count"]) for each in found], [(10, 40)])
        self.assertEqual(found[0]["properties"]["total"], sum(range(10, 50)))
        self.assertIs(found[0]["properties"]["_selected"], True)
        _, found = self.tile(22, 1 << 21, (1 << 21) - 1)
        self.assertTrue(all("_cluster" not in each["properties"] for each in found))

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


@needs_server
class PublishTest(unittest.TestCase):
    def setUp(self) -> None:
        assert SERVER is not None
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.inputs = Path(folder.name) / "out", Path(folder.name) / "in"
        self.folder.mkdir()
        self.inputs.mkdir()
        self.server.call("map/create", {"id": "m1", "title": "A <map>"})
        shapes = [feature(n, {"type": "Point", "coordinates": [n % 60 * 2.5 - 75, n // 60 * 2 - 40]}, n=n, text="</script>") for n in range(2400)]
        shapes.append(feature(5000, {"type": "Polygon", "coordinates": [rectangle(-100, -50, 100, 50)]}, n=-1))
        data = {"type": "FeatureCollection", "features": shapes}
        self.server.call("source/openInline", {"id": "s1", "data": data})
        self.server.call("layer/add", {"map": "m1", "source": "s1", "id": "l1"})
        self.server.call("layer/load", {"layer": "l1"})

    @unittest.skipUnless(has("pmtiles") and has("mapbox_vector_tile"), "no pmtiles, or no mapbox-vector-tile")
    def test_pmtiles(self) -> None:
        reading = importlib.import_module("pmtiles.reader")
        path = self.folder / "a.pmtiles"
        answer = self.server.call("map/publish", {"map": "m1", "path": str(path), "maxZoom": 6})
        self.assertEqual((answer["format"], answer["layerCount"], answer["bytes"]), ("pmtiles", 1, path.stat().st_size))
        with path.open("rb") as file:
            source = reading.MmapSource(file)
            reader = reading.Reader(source)
            header, metadata = reader.header(), reader.metadata()
            self.assertEqual((header["min_zoom"], header["max_zoom"], header["addressed_tiles_count"]), (0, 6, answer["tileCount"]))
            self.assertEqual((metadata["name"], metadata["vector_layers"][0]["id"]), ("A <map>", "l1"))
            self.assertEqual(metadata["vector_layers"][0]["fields"], {"n": "Number", "text": "String"})
            self.assertAlmostEqual(header["min_lon_e7"] / 1e7, -100, 5)
            tiles = dict(reading.all_tiles(source))
            self.assertEqual(len(tiles), answer["tileCount"])
            for (z, x, y), data in list(tiles.items())[::17]:
                own = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": y})
                self.assertEqual(base64.b64encode(gzip.decompress(data)).decode(), own["data"], (z, x, y))
                self.assertEqual(reader.get(z, x, y), data)
                self.assertTrue(decoded(gzip.decompress(data))["l1"]["features"])
            self.assertIsNone(reader.get(6, 0, 0))
            self.assertEqual((header["tile_compression"].name, header["internal_compression"].name), ("GZIP", "GZIP"))
            packed = {data for data in tiles.values()}
            self.assertLess(sum(map(len, packed)), sum(len(gzip.decompress(data)) for data in packed) / 1.5)
        with self.assertRaises(geomodel.GeoModelError) as raised:
            self.server.call("map/publish", {"map": "m1", "path": str(path)})
        self.assertEqual(raised.exception.kind, "fileExists")
        self.server.call("map/publish", {"layer": "l1", "path": str(path), "ifExists": "replace", "maxZoom": 0})
        self.assertEqual([each.name for each in self.folder.iterdir()], ["a.pmtiles"])

    @unittest.skipUnless(has("mapbox_vector_tile"), "no mapbox-vector-tile")
    def test_mbtiles(self) -> None:
        path = self.folder / "a.mbtiles"
        answer = self.server.call("map/publish", {"map": "m1", "path": str(path), "minZoom": 1, "maxZoom": 6})
        self.assertEqual((answer["format"], answer["layerCount"], answer["omitted"], answer["bytes"]), ("mbtiles", 1, [], path.stat().st_size))
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        metadata = dict(database.execute("SELECT name, value FROM metadata"))
        self.assertEqual((metadata["name"], metadata["format"], metadata["minzoom"], metadata["maxzoom"]), ("A <map>", "pbf", "1", "6"))
        self.assertEqual([round(float(each)) for each in metadata["bounds"].split(",")], [-100, -50, 100, 50])
        self.assertEqual(len(metadata["center"].split(",")), 3)
        self.assertEqual(json.loads(metadata["json"])["vector_layers"][0]["fields"], {"n": "Number", "text": "String"})
        tiles = database.execute("SELECT * FROM tiles").fetchall()
        self.assertEqual(len(tiles), answer["tileCount"])
        plan = database.execute("EXPLAIN QUERY PLAN SELECT tile_data FROM tiles WHERE zoom_level = 1 AND tile_column = 0 AND tile_row = 0")
        self.assertIn("USING INDEX", plan.fetchall()[0][3])
        for z, x, row, data in tiles[::17]:
            own = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": 2**z - 1 - row})
            self.assertEqual(base64.b64encode(gzip.decompress(data)).decode(), own["data"], (z, x, row))
            found = database.execute("SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?", (z, x, row))
            self.assertEqual(found.fetchall(), [(data,)])

    @unittest.skipUnless(has("mapbox_vector_tile") and has("shapely"), "no mapbox-vector-tile, or no shapely")
    def test_areas_of_a_world_are_valid(self) -> None:
        world = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
        if not world.exists():
            self.skipTest("no fixtures")
        self.server.call("map/create", {"id": "world"})
        for source in self.server.call("source/open", {"id": "ne", "path": str(world)})["layers"]:
            self.server.call("layer/add", {"map": "world", "source": "ne", "sourceLayer": source["name"], "id": source["name"]})
            self.server.call("layer/load", {"layer": source["name"]})
        path = self.folder / "world.mbtiles"
        answer = self.server.call("map/publish", {"map": "world", "path": str(path), "maxZoom": 5})
        self.assertEqual(answer["failedCount"], 0)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        count = 0
        for z, x, row, data in database.execute("SELECT * FROM tiles"):
            for name, layer in decoded(gzip.decompress(data)).items():
                count += sum("Polygon" in each["geometry"]["type"] for each in layer["features"])
                self.assertEqual((z, x, row, name, faults(layer)), (z, x, row, name, []))
        self.assertGreater(count, 2500)

    @unittest.skipUnless(has("mapbox_vector_tile"), "no mapbox-vector-tile")
    def test_scale_ranges(self) -> None:
        point = {"type": "FeatureCollection", "features": [feature(1, {"type": "Point", "coordinates": [10, 10]})]}
        self.server.call("source/openInline", {"id": "s2", "data": point})
        ranges = {"far": (None, 3.5), "near": (3.5, None), "later": (9, None), "never": (None, 0.5), "grouped": (None, None)}
        self.server.call("layer/addGroup", {"map": "m1", "id": "g1"})
        self.server.call("layer/update", {"layer": "g1", "minScale": SCALE / 2**2, "maxScale": SCALE / 2**4.5, "opacity": 0.5})
        for name, (first, last) in ranges.items():
            group = {"group": "g1"} if name == "grouped" else {}
            self.server.call("layer/add", {"map": "m1", **group, "source": "s2", "id": name})
            self.server.call("layer/load", {"layer": name})
            update = {"minScale": first, "maxScale": last}
            self.server.call("layer/update", {
                "layer": name, **{key: SCALE / 2**value for key, value in update.items() if value is not None}})
        self.server.call("layer/add", {"map": "m1", "source": "s2", "id": "idle"})
        path = self.folder / "a.mbtiles"
        answer = self.server.call("map/publish", {"map": "m1", "path": str(path), "minZoom": 1, "maxZoom": 6})
        self.assertEqual(sorted((each["layer"], each["reason"]) for each in answer["omitted"]), [("idle", "notLoaded"), ("never", "scaleRange")])
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        shown: dict[str, set[int]] = {}
        for z, data in database.execute("SELECT zoom_level, tile_data FROM tiles"):
            for name in decoded(gzip.decompress(data)):
                shown.setdefault(name, set()).add(z)
        self.assertEqual(shown, {
            "l1": set(range(1, 7)), "far": {1, 2, 3}, "near": {3, 4, 5, 6}, "later": {6}, "grouped": {2, 3, 4}})
        text = database.execute("SELECT value FROM metadata WHERE name = 'json'").fetchone()[0]
        zooms = {each["id"]: (each["minzoom"], each["maxzoom"]) for each in json.loads(text)["vector_layers"]}
        self.assertEqual(zooms, {name: (min(each), max(each)) for name, each in shown.items()})
        answer = self.server.call("map/style", {"map": "m1", "url": "mbtiles://a"})
        grouped = [each for each in answer["style"]["layers"] if each["id"].startswith("grouped-")]
        self.assertEqual({(each["minzoom"], each["maxzoom"], each["metadata"]["geomodel:group"]) for each in grouped}, {(2, 4.5, "g1")})
        self.assertEqual({each["paint"]["circle-opacity"] for each in grouped if "default-point" in each["id"]}, {0.5})
        self.assertEqual(answer["style"]["sources"], {"m1": {"type": "vector", "url": "mbtiles://a"}})

    def test_style_of_a_view(self) -> None:
        self.server.call("map/update", {"map": "m1", "backgroundColor": "#FF0000"})
        self.server.call("view/create", {"map": "m1", "id": "v1"})
        self.server.call("view/setViewpoint", {"view": "v1", "viewpoint": {
            "type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 50]}, "spatialReference": "EPSG:4326",
            "targetScale": SCALE / 2**5, "rotation": 30}})
        self.server.call("overlay/create", {"view": "v1", "id": "o1"})
        self.server.call("overlay/update", {"overlay": "o1", "renderer": {"type": "simple", "symbol": {"type": "simpleMarker", "style": "cross"}}})
        answer = self.server.call("map/style", {"view": "v1", "tiles": ["http://a/{layer}/{z}/{x}/{y}"], "maxZoom": 7})
        style = answer["style"]
        self.assertEqual((style["version"], style["name"], style["bearing"]), (8, "A <map>", 330))
        self.assertAlmostEqual(style["center"][0], 10, 6)
        self.assertAlmostEqual(style["center"][1], 50, 6)
        self.assertAlmostEqual(style["zoom"], 5, 5)
        self.assertEqual(style["layers"][0], {
            "id": "background", "type": "background", "paint": {"background-color": "rgba(255,0,0,1)"}})
        self.assertEqual({each["source"] for each in style["layers"][1:]}, {"l1", "o1"})
        self.assertEqual(style["sources"]["o1"], {"type": "vector", "tiles": ["http://a/o1/{z}/{x}/{y}"], "minzoom": 0, "maxzoom": 7})
        self.assertEqual([each["source"] for each in style["layers"][1:]], sorted(each["source"] for each in style["layers"][1:]))
        self.assertEqual(answer["notExpressed"], [{"layer": "o1", "losses": ["markerStyle", "ownSymbols"]}])
        with self.assertRaises(geomodel.GeoModelError) as raised:
            self.server.call("map/style", {})
        self.assertEqual(raised.exception.kind, "invalidParams")

    def test_page(self) -> None:
        self.server.call("view/create", {"map": "m1", "id": "v1"})
        self.server.call("overlay/create", {"view": "v1", "id": "o1"})
        marker = {"type": "simpleMarker", "style": "triangle"}
        self.server.call("overlay/addGraphics", {"overlay": "o1", "graphics": [{"geometry": {"type": "Point", "coordinates": [0, 0]}, "symbol": marker}]})
        path = self.folder / "a.html"
        answer = self.server.call("map/publish", {"view": "v1", "path": str(path)})
        self.assertEqual((answer["featureCount"], answer["layerCount"], answer["omittedCount"]), (2402, 2, 0))
        page = path.read_text("utf-8")
        self.assertEqual(page.count("<script"), 2)
        self.assertNotIn("http", page)
        data = json.loads(page.split('id="map-data">')[1].split("</script>")[0])
        self.assertEqual((data["name"], len(data["layers"])), ("A <map>", 2))
        self.assertEqual(data["layers"][1]["symbols"][0]["style"], "triangle")
        unit = 2 * REACH / (4096 << 8)
        kind, runs, symbol, labels, values = data["layers"][0]["features"][-1]
        self.assertEqual((kind, labels, values), (2, [], [-1, None]))
        self.assertAlmostEqual(runs[0][0] * unit, -100 / 180 * REACH, delta=unit)

    def test_no_name_ends_the_data_of_a_page(self) -> None:
        evil = "</script><script>alert(1)</script><!--"
        self.server.call("map/create", {"id": "m2", "title": evil})
        self.server.call("view/create", {"map": "m2", "id": "v2"})
        text = {"type": "text", "text": evil}
        self.server.call("overlay/create", {"view": "v2", "id": "o2", "name": evil, "renderer": {"type": "simple", "symbol": text}})
        graphic = {"geometry": {"type": "Point", "coordinates": [0, 0]}, "attributes": {evil: evil}}
        self.server.call("overlay/addGraphics", {"overlay": "o2", "graphics": [graphic]})
        for params in ({}, {"name": evil}):
            path = self.folder / "evil.html"
            self.server.call("map/publish", {"view": "v2", "path": str(path), "ifExists": "replace", **params})
            page = path.read_text("utf-8")
            self.assertEqual((page.count("<script"), page.count("</script"), page.count("<!--")), (2, 2, 0))
            data = json.loads(page.split('id="map-data">')[1].split("</script>")[0])
            layer = data["layers"][0]
            self.assertEqual((data["name"], layer["name"], layer["fields"], layer["symbols"][0]["text"]), (evil, evil, [evil], evil))

    def raster(self, name: str, west: float, south: float, columns: int, rows: int, cell: float = 1) -> None:
        """A map and a layer of heights in degrees, which grow southwards and eastwards."""
        lines = [" ".join(str(row * columns + column) for column in range(columns)) for row in range(rows)]
        head = f"ncols {columns}\nnrows {rows}\nxllcorner {west}\nyllcorner {south}\ncellsize {cell}\nNODATA_value -9999\n"
        (self.inputs / f"{name}.asc").write_text(head + "\n".join(lines) + "\n")
        reference = 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
        (self.inputs / f"{name}.prj").write_text(reference)
        self.server.call("map/create", {"id": f"m-{name}"})
        self.server.call("layer/addRaster", {"map": f"m-{name}", "path": str(self.inputs / f"{name}.asc"), "id": name})
        self.server.call("layer/load", {"layer": name})

    def tiles_of_pixels(self, params: dict[str, Any]) -> tuple[dict[str, str], dict[tuple[int, int, int], Picture]]:
        path = self.folder / "pixels.mbtiles"
        self.server.call("map/publish", {"path": str(path), "ifExists": "replace", **params})
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            found = {(z, x, 2**z - 1 - row): Picture(data) for z, x, row, data in database.execute("SELECT * FROM tiles")}
            return dict(database.execute("SELECT name, value FROM metadata")), found

    def test_tiles_of_a_raster(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        metadata, tiles = self.tiles_of_pixels({"layer": "heights", "maxZoom": 9})
        # A pixel of zoom 3 is 9.8 km, of the raster 11.1 km; the zooms that follow would have no more to show.
        self.assertEqual((metadata["format"], metadata["maxzoom"], json.loads(metadata["json"])), ("png", "3", {"name": "heights"}))
        self.assertEqual(sorted(tiles), [(0, 0, 0), (1, 1, 0), (2, 2, 1), (3, 4, 2), (3, 4, 3)])
        self.assertEqual({(each.width, each.height) for each in tiles.values()}, {(512, 512)})
        # Between 10 and 16 degrees east, and from 46 degrees north.
        places = {name: ((lon + 180) / 360 * 512 * 8 % 512, (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2 * 512 * 8 - 2 * 512)
                  for name, lon, lat in (("first", 10.5, 45.5), ("last", 15.5, 45.5), ("beyond", 17, 45.5), ("above", 12, 47))}
        colors = {name: tiles[3, 4, 2][int(x), int(y)] for name, (x, y) in places.items()}
        self.assertEqual((colors["beyond"], colors["above"]), ((0, 0, 0), (0, 0, 0)))
        self.assertLess(colors["first"], colors["last"])
        path = self.folder / "a.pmtiles"
        answer = self.server.call("map/publish", {"map": "m-heights", "path": str(path), "minZoom": 2, "maxZoom": 3})
        self.assertEqual((answer["tileCount"], answer["layerCount"], answer["omitted"]), (3, 1, []))
        if not has("pmtiles"):
            self.skipTest("no pmtiles, which reads the archive")
        reading = importlib.import_module("pmtiles.reader")
        with path.open("rb") as file:
            source = reading.MmapSource(file)
            header = reading.Reader(source).header()
            self.assertEqual((header["tile_type"].name, header["tile_compression"].name, header["max_zoom"]), ("PNG", "NONE", 3))
            self.assertEqual({at: Picture(data)[100, 500] for at, data in reading.all_tiles(source)}, {at: tiles[at][100, 500] for at in list(tiles)[2:]})

    def test_coarse_rasters_are_in_the_tiles_of_finer_ones(self) -> None:
        self.raster("world", -180, -90, 72, 36, 5)
        self.raster("anti", 170, -20, 20, 40)
        self.server.call("layer/addRaster", {"map": "m-world", "path": str(self.inputs / "anti.asc"), "id": "over"})
        self.server.call("layer/load", {"layer": "over"})
        self.assertEqual(sorted(self.tiles_of_pixels({"layer": "world"})[1]), [(0, 0, 0)])
        tile = self.tiles_of_pixels({"map": "m-anti"})[1][0, 0, 0]
        # On both sides of the antimeridian.
        self.assertEqual([tile[x, 280] != (0, 0, 0) for x in (1, 12, 20, 256, 490, 500, 510)], [True, True, False, False, False, True, True])
        both = self.tiles_of_pixels({"map": "m-world"})[1][0, 0, 0]
        self.assertEqual((both[1, 280], both[510, 280]), (tile[1, 280], tile[510, 280]))
        self.assertNotEqual(both[256, 280], (0, 0, 0))
        self.raster("south", -60, -90, 120, 10)
        self.assertEqual(sorted(self.tiles_of_pixels({"map": "m-south", "maxZoom": 1})[1]), [(0, 0, 0)])

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_rasters_of_a_page(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        data = {"type": "FeatureCollection", "features": [feature(1, {"type": "Polygon", "coordinates": [rectangle(13, 40, 16, 43)]})]}
        self.server.call("source/openInline", {"id": "s-box", "data": data})
        self.server.call("layer/add", {"map": "m-heights", "source": "s-box", "id": "box"})
        self.server.call("layer/load", {"layer": "box"})
        path = self.folder / "a.html"
        answer = self.server.call("map/publish", {"map": "m-heights", "path": str(path), "maxZoom": 3})
        self.assertEqual((answer["layerCount"], answer["featureCount"], answer["omitted"], "reduced" in answer), (2, 1, [], False))
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(path.as_uri(), 600, 600)
        page.until("map.layers[0].images.size == 5 && [...map.layers[0].images.values()].some(each => each.image && each.image.complete)")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = page.picture()
        grey, box, outside = picture[150, 450], picture[450, 450], picture[5, 5]
        self.assertEqual((outside, box, page.said()), ((255, 255, 255), (211, 211, 211), []))
        self.assertTrue(0 < grey[0] == grey[1] == grey[2] < 255, grey)
        # Nothing is drawn beyond the scales of a layer.
        self.server.call("layer/update", {"layer": "heights", "minScale": 1000})
        self.server.call("map/publish", {"map": "m-heights", "path": str(path), "maxZoom": 3, "ifExists": "replace"})
        page = browser.page(path.as_uri(), 600, 600)
        page.until("map.layers[0].images.size == 5")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = page.picture()
        self.assertEqual((picture[150, 450], picture[450, 450]), ((255, 255, 255), (211, 211, 211)))

    def test_a_raster_that_cannot_be_read_leaves_no_file(self) -> None:
        self.raster("heights", 10, 40, 60, 60, 0.1)
        (self.inputs / "heights.asc").write_text("no raster")
        for name in ("a.pmtiles", "a.mbtiles", "a.html"):
            with self.subTest(name), self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.ChangedWhileReadError)):
                self.server.call("map/publish", {"layer": "heights", "path": str(self.folder / name)})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_refusals(self) -> None:
        refusals: list[tuple[dict[str, Any], str]] = [
            ({"map": "m1", "layer": "l1", "path": "a.html"}, "invalidParams"),
            ({"map": "m9", "path": "a.html"}, "unknownId"),
            ({"map": "m1", "path": "a.txt"}, "unknownFormat"),
            ({"map": "m1", "path": "a.pmtiles", "minZoom": 3, "maxZoom": 2}, "invalidParams"),
            ({"map": "m1", "path": "a.pmtiles", "maxZoom": 24}, "invalidParams"),
            ({"map": "m1", "path": "a.html", "ifExists": "addLayer"}, "invalidParams"),
        ]
        for params, kind in refusals:
            with self.subTest(params=params), self.assertRaises(geomodel.GeoModelError) as raised:
                self.server.call("map/publish", {**params, "path": str(self.folder / params["path"])})
            self.assertEqual(raised.exception.kind, kind)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
