"""Published maps: archives of vector tiles, their styles, and pages. Needs the packages mapbox-vector-tile, pmtiles and shapely."""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import sqlite3
import unittest
from pathlib import Path
from typing import Any

from tiling import REACH, SCALE, PublishCase, decoded, faults, feature, has

import geomodel


class PublishTest(PublishCase):
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
