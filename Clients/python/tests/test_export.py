"""Exported files give the features back, to the server and to other readers."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sqlite3
import threading
import unittest
from contextlib import closing
from pathlib import Path
from typing import Any

from exporting import GEOMETRIES, PROPERTIES, ExportCase, collection, shape
from support import FIXTURES, needs_server

import geomodel

try:
    import geopandas
    import pyogrio
    import shapely
except ImportError:
    geopandas = None


def as_text(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With lists and objects as FlatGeobuf's texts."""
    def text(value: Any) -> Any:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False) if isinstance(value, (list, dict)) else value

    return [{**each, "properties": {name: text(value) for name, value in each["properties"].items()}} for each in features]


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class ExportTests(ExportCase):
    def test_all_types_come_back(self) -> None:
        layer = self.layer(data=collection(GEOMETRIES * 3))
        mine = self.features(layer)
        for name in ("a.geojson", "a.geojsons", "a.ndjson", "a.gpkg"):
            with self.subTest(name):
                result, path = self.export(layer, name)
                self.assertEqual(result["count"], len(mine))
                self.assertEqual(result["bytes"], path.stat().st_size)
                again = self.layer(path=str(path))
                self.check_same(mine, self.features(again))
                fields = [(field["name"], field["type"]) for field in self.server.source.get(source="s" + again)["layers"][0]["fields"]]
                types = dict(fields)
                self.assertEqual(
                    [types[name] for name in ("flag", "whole", "real", "day", "at", "list")],
                    ["boolean", "integer", "double", "date", "dateTime", "json"])

    def test_flatgeobuf(self) -> None:
        layer = self.layer(data=collection(GEOMETRIES))
        mine = self.features(layer)
        result, path = self.export(layer, "a.fgb")
        kinds = {(each["kind"], each.get("field"), each.get("type")) for each in result["differences"]}
        # GDAL 3.6 leaves out features without a position, later versions do not.
        left_out = len(mine) - result["count"]
        self.assertEqual(kinds - {("features", None, None)}, {
            ("ids", None, None), ("spatialIndex", None, None), *(("fieldType", name, "string") for name in ("day", "clock", "list", "object"))})
        self.assertEqual(("features", None, None) in kinds, left_out == 1)
        theirs = self.features(self.layer(path=str(path)))
        self.check_same(as_text(mine)[:len(mine) - left_out], theirs, ids=False)

    def test_an_index_of_flatgeobuf_orders_the_features(self) -> None:
        layer = self.layer(data=collection(GEOMETRIES[:-1] * 20))
        mine = self.features(layer)
        result, path = self.export(layer, "a.fgb")
        self.assertIn("order", {each["kind"] for each in result["differences"]})
        theirs = self.features(self.layer(path=str(path)))

        def key(each: dict[str, Any]) -> str:
            return json.dumps([each["properties"], shape(each["geometry"]).wkt], sort_keys=True)

        self.check_same(sorted(as_text(mine), key=key), sorted(theirs, key=key), ids=False)
        self.assertEqual(pyogrio.read_info(path)["capabilities"]["fast_spatial_filter"], True)

    def test_other_readers_see_the_same(self) -> None:
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="countries")
        for reference in ("EPSG:4326", "EPSG:25832", "EPSG:3857"):
            for name in ("a.geojson", "a.gpkg", "a.fgb"):
                with self.subTest(name, reference=reference):
                    result, path = self.export(
                        layer, f"{reference[5:]}{name}", out_spatial_reference=reference, where_clause="name < 'M'")
                    wanted = [each for each in self.features(
                        layer, out_spatial_reference=reference, where_clause="name < 'M'")]
                    frame = geopandas.read_file(path, engine="pyogrio")
                    self.assertEqual(str(frame.crs), reference)
                    failed = {each["id"] for each in result.get("failed", [])}
                    self.assertEqual(failed, {each["id"] for each in wanted if each["geometry"] is None})
                    own = {each["properties"]["name"]: shape(each["geometry"]) for each in wanted}
                    if name == "a.fgb":
                        self.assertEqual({"kind": "features", "count": len(failed)} in result["differences"], bool(failed))
                        own = {key: value for key, value in own.items() if value}
                    other = {row["name"]: row.geometry and shapely.normalize(row.geometry) for _, row in frame.iterrows()}
                    self.assertEqual(own.keys(), other.keys())
                    for key, value in own.items():
                        same = value is other[key] is None or shapely.equals_exact(value, other[key], tolerance=0)
                        self.assertTrue(same, key)
                    self.assertEqual(result["spatialReference"], reference)

    def test_rings_follow_the_right_hand_rule(self) -> None:
        ring = [[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]
        hole = [[2, 2], [4, 2], [4, 4], [2, 4], [2, 2]]
        geometries = [
            {"type": "Polygon", "coordinates": [ring, hole]}, {"type": "Polygon", "coordinates": [ring[::-1], hole[::-1]]},
            {"type": "GeometryCollection", "geometries": [{"type": "MultiPolygon", "coordinates": [[ring, hole]]}]},
        ]
        _, path = self.export(self.layer(data=collection(geometries)), "a.geojson")
        for feature in json.loads(path.read_text())["features"]:
            for part in shapely.get_parts(shapely.get_parts(shapely.geometry.shape(feature["geometry"]))):
                self.assertTrue(part.exterior.is_ccw and not part.interiors[0].is_ccw)

    def test_elevations_and_measures(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v", spatial_reference="EPSG:25832")
        texts = [
            "POINT Z (1 2 3)", "POINT (4 5)", "POINT M (1 2 9)", "LINESTRING ZM (0 0 1 2, 3 4 5 6)", "POLYGON Z ((0 0 1, 4 0 1, 4 4 2, 0 0 1))",
            "POINT EMPTY", "MULTIPOLYGON EMPTY",
        ]
        self.server.overlay.add_graphics(
            overlay="o", graphics=[{"geometry": {"type": "WKT", "text": text}, "attributes": {"n": index}} for index, text in enumerate(texts)])
        path = self.folder / "a.gpkg"
        result = self.server.feature.export(overlay="o", path=str(path))
        self.assertNotIn("measures", {each["kind"] for each in result.get("differences", [])})
        layer = self.layer(path=str(path))
        own = self.server.feature.query(overlay="o", return_m=True)["features"]
        other = self.features(layer, return_m=True)
        self.assertEqual(self.server.source.get(source="s" + layer)["layers"][0]["spatialReference"], "EPSG:25832")
        self.assertEqual([each["geometry"] for each in own], [each["geometry"] for each in other])
        csv_path = self.folder / "a.csv"
        result = self.server.feature.export(overlay="o", path=str(csv_path))
        self.assertEqual(result["geometryFields"], ["WKT"])
        with csv_path.open(newline="") as lines:
            self.assertEqual([row["WKT"] for row in csv.DictReader(lines)], texts)
        result = self.server.feature.export(overlay="o", path=str(self.folder / "a.geojson"))
        self.assertIn({"kind": "measures", "count": 2}, result["differences"])

    def test_csv_is_what_others_read(self) -> None:
        points = [{"type": "Point", "coordinates": [1.5, 2.25]}, {"type": "Point", "coordinates": [3, 4, 5]}, None]
        result, path = self.export(self.layer(data=collection(points)), "a.csv")
        self.assertEqual(result["geometryFields"], ["x", "y", "z"])
        data = path.read_bytes()
        self.assertTrue(data.endswith(b"\r\n"))
        with path.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, strict=True))
        self.assertEqual([(row["x"], row["y"], row["z"]) for row in rows], [("1.5", "2.25", ""), ("3.0", "4.0", "5.0"), ("", "", "")])
        self.assertEqual(rows[0]["name"], PROPERTIES[0]["name"])
        self.assertEqual(json.loads(rows[0]["list"]), [1, [2, None]])
        self.assertEqual(rows[0]["whole"], "9007199254740993")
        self.assertEqual((rows[1]["flag"], rows[2]["flag"]), ("false", ""))
        again = self.features(self.layer(path=str(path), x_field="x", y_field="y"))
        self.assertEqual([each["geometry"] and each["geometry"]["coordinates"][:2] for each in again], [[1.5, 2.25], [3, 4], None])

    def test_many_features(self) -> None:
        count = 100_000
        chance = random.Random(4)
        frame = geopandas.GeoDataFrame(
            {"n": range(count), "x": [chance.random() for _ in range(count)], "t": [f"t{index % 977}" for index in range(count)]},
            geometry=[shapely.Point(chance.uniform(-180, 180), chance.uniform(-90, 90)) for _ in range(count)], crs="EPSG:4326")
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        self.server.overlay.add(frame, overlay="o")
        for name in ("a.geojson", "a.gpkg", "a.fgb", "a.csv"):
            with self.subTest(name):
                path = self.folder / name
                result = self.server.feature.export(overlay="o", path=str(path), properties=["n", "x", "t"])
                self.assertEqual(result["count"], count)
                if name.endswith("csv"):
                    with path.open(newline="") as lines:
                        numbers = [(int(row["n"]), float(row["x_2"]) if "x_2" in row else float(row["x"])) for row in csv.DictReader(lines)]
                    self.assertEqual([n for n, _ in numbers], list(range(count)))
                    continue
                read = geopandas.read_file(path, engine="pyogrio").sort_values("n").reset_index(drop=True)
                self.assertEqual(list(read["n"]), list(frame["n"]))
                self.assertEqual(list(read["x"]), list(frame["x"]))
                self.assertEqual(list(read["t"]), list(frame["t"]))
                self.assertTrue(read.geometry.geom_equals_exact(frame.geometry, 0).all())

    def test_names_that_a_database_takes_for_one(self) -> None:
        data = {"type": "FeatureCollection", "features": [
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},
             "properties": {"Name": 1, "name": 2, "fid": 3, "geom": 4, "NAME": 5}}]}
        result, path = self.export(self.layer(data=data), "a.gpkg")
        self.assertEqual(
            result["differences"],
            [{"kind": "fieldName", "field": "name", "name": "name_2"}, {"kind": "fieldName", "field": "NAME", "name": "NAME_3"}])
        self.assertEqual(
            self.features(self.layer(path=str(path)))[0]["properties"], {"Name": 1, "name_2": 2, "fid": 3, "geom": 4, "NAME_3": 5})

    def test_tables_have_no_geometry(self) -> None:
        rows = self.folder / "rows.csv"
        rows.write_text("id,name\n1,a\n2,b\n")
        self.server.source.open(id="rows", path=str(rows))
        self.server.layer.add_table(id="t", map="m", source="rows")
        self.server.layer.load(layer="t")
        with self.assertRaises(geomodel.errors.NoGeometryError):
            self.export("t", "t.fgb")
        for name in ("t.gpkg", "t.csv"):
            with self.subTest(name):
                result, path = self.export("t", name)
                self.assertNotIn("spatialReference", result)
                layer = self.server.source.open(id=name, path=str(path))["layers"][0]
                self.assertNotIn("geometryType", layer)
                self.assertEqual([field["name"] for field in layer["fields"]], ["id", "name"])

    def test_no_features_are_a_file_too(self) -> None:
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="cities")
        for name in ("a.gpkg", "a.fgb", "a.geojson", "a.csv"):
            with self.subTest(name):
                result, path = self.export(layer, name, where_clause="name = 'nowhere'")
                self.assertEqual(result["count"], 0)
                self.assertEqual(len(pyogrio.read_dataframe(path)), 0)
                if name != "a.csv" and name != "a.geojson":
                    self.assertEqual(pyogrio.read_info(path)["geometry_type"], "Point")

    def test_features_without_a_position(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        self.server.overlay.add_graphics(overlay="o", graphics=[
            {"attributes": {"n": 1}}, {"geometry": {"type": "WKT", "text": "POINT EMPTY"}, "attributes": {"n": 2}}])
        for name, count in (("a.gpkg", 2), ("a.fgb", 0), ("a.geojson", 2), ("a.csv", 2)):
            with self.subTest(name):
                result = self.server.feature.export(overlay="o", path=str(self.folder / name))
                self.assertEqual(result["count"], count)
                self.assertEqual({"kind": "features", "count": 2} in result.get("differences", []), count == 0)
                self.assertEqual(len(pyogrio.read_dataframe(self.folder / name)), count)

    def test_odd_names(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        values = {"": 1, "a b": 2, "\"'; DROP TABLE x": 3, "ünï": 4, "x,y": 5, "z\n": 6, "rowid": 7, "select": 8, "ogc_fid": 9}
        self.server.overlay.add_graphics(overlay="o", graphics=[{"geometry": {"type": "Point", "coordinates": [1, 2]}, "attributes": values}])
        for name in ("a.gpkg", "a.fgb", "a.geojson"):
            with self.subTest(name):
                result = self.server.feature.export(overlay="o", path=str(self.folder / name), layer_name="Ö \"q\"; --")
                self.assertEqual(result["layerName"], "Ö \"q\"; --")
                read = self.features(self.layer(path=str(self.folder / name)))[0]["properties"]
                renamed = {each["field"]: each["name"] for each in result.get("differences", []) if each["kind"] == "fieldName"}
                self.assertEqual({renamed.get(key, key): value for key, value in values.items()}, read)
        for bad in ("gpkg_contents", "sqlite_master"):
            with self.assertRaises(geomodel.errors.InvalidParamsError) as refused:
                self.server.feature.export(overlay="o", path=str(self.folder / "bad.gpkg"), layer_name=bad)
            self.assertEqual(refused.exception.path, "/params/layerName")
            self.assertFalse((self.folder / "bad.gpkg").exists())

    def test_elevations_in_part(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        for text in ("POINT Z (1 2 3)", "POINT (4 5)", "LINESTRING (0 0, 1 1)", "POLYGON Z ((0 0 1, 4 0 1, 4 4 2, 0 0 1))"):
            self.server.overlay.add_graphics(overlay="o", graphics=[{"geometry": {"type": "WKT", "text": text}}])
        own = [each["geometry"] for each in self.server.feature.query(overlay="o")["features"]]
        for name, kinds in (("a.gpkg", []), ("a.fgb", [("geometryType", 4), ("dimensions", 2)]), ("a.geojson", [])):
            with self.subTest(name):
                result = self.server.feature.export(overlay="o", path=str(self.folder / name))
                differences = [(each["kind"], each["count"]) for each in result.get("differences", []) if "count" in each]
                self.assertEqual(differences, kinds)
                read = [each["geometry"] for each in self.features(self.layer(path=str(self.folder / name)))]
                if name == "a.fgb":
                    read = [each["geometries"][0] for each in read]
                self.assertEqual(sorted(read, key=str), sorted(own, key=str))
                others = [shapely.get_parts(each)[0] for each in pyogrio.read_dataframe(self.folder / name).geometry]
                heights = sorted((each.geom_type, str(shapely.get_coordinates(each, include_z=True)[0, 2])) for each in others)
                self.assertEqual(heights, [
                    ("LineString", "nan"), ("Point", "3.0"), ("Point", "nan"), ("Polygon", "1.0")])

    def test_a_layer_of_one_type_with_elevations(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        for text in ("POLYGON Z ((0 0 1, 4 0 1, 4 4 2, 0 0 1))", "MULTIPOLYGON Z (((0 0 1, 4 0 1, 4 4 2, 0 0 1)))", "POLYGON ((0 0, 4 0, 4 4, 0 0))"):
            self.server.overlay.add_graphics(overlay="o", graphics=[{"geometry": {"type": "WKT", "text": text}}])
        self.server.feature.export(overlay="o", path=str(self.folder / "a.fgb"))
        self.assertEqual(pyogrio.read_info(self.folder / "a.fgb")["geometry_type"], "MultiPolygon Z")
        path = self.folder / "a.gpkg"
        self.server.feature.export(overlay="o", path=str(path), ids=[0, 2])
        self.assertEqual(pyogrio.read_info(path)["geometry_type"], "Polygon Z")
        with closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("SELECT z, m FROM gpkg_geometry_columns").fetchall(), [(2, 0)])
        self.assertEqual([each.has_z for each in pyogrio.read_dataframe(path).geometry], [True, False])

    def test_mixed_values_become_text(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        values = [1, 2.5, True, "x", [1, 2], None, 9007199254740993]
        self.server.overlay.add_graphics(
            overlay="o", graphics=[{"attributes": {"mixed": value, "number": value if index in (0, 1, 6) else None}} for index, value in enumerate(values)])
        result = self.server.feature.export(overlay="o", path=str(self.folder / "a.gpkg"))
        self.assertEqual(result["differences"], [{"kind": "values", "field": "number", "count": 1}, {"kind": "fieldType", "field": "mixed", "type": "string"}])
        read = self.features(self.layer(path=str(self.folder / "a.gpkg")))
        self.assertEqual([each["properties"]["mixed"] for each in read], ["1", "2.5", "true", "x", "[1,2]", None, "9007199254740993"])

    def test_a_killed_writer_leaves_the_earlier_file(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        self.server.overlay.add_columns(overlay="o", x=[index % 180 for index in range(150_000)], y=[index % 90 for index in range(150_000)])
        path = self.folder / "a.gpkg"
        path.write_text("earlier")
        path.chmod(0o640)
        with self.assertRaises(geomodel.errors.WriterFailedError) as caught:
            def kill() -> None:
                while True:
                    for process in Path("/proc").iterdir():
                        try:
                            words = (process / "cmdline").read_bytes().split(b"\0")
                            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                        except (OSError, ValueError, IndexError):
                            continue
                        if b"--writer" in words and parent == self.server.pid:
                            os.kill(int(process.name), signal.SIGKILL)
                            return

            threading.Thread(target=kill, daemon=True).start()
            self.server.feature.export(overlay="o", path=str(path), if_exists="replace")
        self.assertEqual(caught.exception.data["signal"], signal.SIGKILL)
        self.assertEqual(path.read_text(), "earlier")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.gpkg"])
        self.server.feature.export(overlay="o", path=str(path), if_exists="replace")
        self.assertEqual(pyogrio.read_info(path)["features"], 150_000)
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)

    def test_a_source_may_have_the_replaced_file_open(self) -> None:
        path = self.folder / "a.gpkg"
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="countries")
        self.server.feature.export(layer=layer, path=str(path))
        again = self.layer(path=str(path))
        mine = self.features(again)
        result = self.server.feature.export(layer=again, path=str(path), if_exists="replace", where_clause="name < 'C'")
        self.assertEqual(self.features(again), mine)
        self.assertEqual(pyogrio.read_info(path)["features"], result["count"])


if __name__ == "__main__":
    unittest.main()
