"""Files of several layers or of formats that lack much, and tables: what is written comes back."""

from __future__ import annotations

import csv
import os
import re
import sqlite3
import unittest
from contextlib import closing
from typing import Any

from exporting import GEOMETRIES, ExportCase, collection, shape
from support import FIXTURES, needs_server

import geomodel

try:
    import geopandas
    import pyogrio
    import shapely
except ImportError:
    geopandas = None


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class FormatTests(ExportCase):
    def check_shapes(self, mine: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
        self.assertEqual(len(mine), len(theirs))
        for own, other in zip(mine, theirs):
            left, right = shape(own["geometry"]), shape(other["geometry"])
            self.assertTrue(left is right is None or shapely.equals_exact(left, right, 1e-9), (own, other))

    def test_a_layer_is_added_to_a_foreign_geopackage(self) -> None:
        path = self.folder / "a.gpkg"
        path.write_bytes((FIXTURES / "naturalearth_110m.gpkg").read_bytes())

        def content() -> dict[str, Any]:
            with closing(sqlite3.connect(path)) as database:
                tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                return {
                    name: database.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall() for name in tables
                    if not name.startswith(("gpkg_", "sqlite_", "rtree_added"))}

        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript("CREATE TABLE notes (a, b); INSERT INTO notes VALUES (1, x'00ff'), (2, 'text')")
        earlier = content()
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="cities")
        for case in ("addLayer", "replaceLayer"):
            result = self.server.feature.export(layer=layer, path=str(path), if_exists=case, layer_name="added")
            later = content()
            self.assertEqual(len(later.pop("added")), result["count"])
            self.assertEqual(later, earlier)
            self.assertEqual(len(pyogrio.read_dataframe(path, layer="added")), result["count"])
        self.assertEqual({name for name, _ in pyogrio.list_layers(path)}, {"added", "cities", "countries", "notes"} | {
            name for name, _ in pyogrio.list_layers(FIXTURES / "naturalearth_110m.gpkg")})
        with closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("PRAGMA journal_mode").fetchall(), [("wal",)])
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        before = path.read_bytes()
        for name in ("cities", "Notes"):
            with self.assertRaises(geomodel.errors.LayerExistsError):
                self.server.feature.export(layer=layer, path=str(path), if_exists="addLayer", layer_name=name)
        self.assertEqual(path.read_bytes(), before)

    def test_shapefiles(self) -> None:
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="countries")
        mine = self.features(layer)
        result, path = self.export(layer, "a.shp")
        names = {each["field"]: each["name"] for each in result.get("differences", []) if each["kind"] == "fieldName"}
        lossy = {each["field"] for each in result.get("differences", []) if each["kind"] in ("values", "fieldType")}
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.cpg", "a.dbf", "a.prj", "a.shp", "a.shx"])
        self.assertEqual(result["bytes"], sum(each.stat().st_size for each in self.folder.iterdir()))
        frame = pyogrio.read_dataframe(path)
        self.assertEqual((len(frame), str(frame.crs)), (len(mine), "EPSG:4326"))
        again = self.features(self.layer(path=str(path)))
        for own, other, row in zip(mine, again, frame.itertuples()):
            self.assertTrue(shapely.equals(shape(own["geometry"]), shape(other["geometry"])))
            self.assertTrue(shapely.equals(shape(own["geometry"]), row.geometry))
            for name, value in own["properties"].items():
                if name not in lossy:
                    self.assertEqual(other["properties"][names.get(name, name)], value)

    def test_shapefiles_keep_elevations_and_values(self) -> None:
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")
        values = [
            {"i": 9007199254740993, "d": 123456789.125, "t": "x" * 260, "day": "2024-02-29"}, {"i": -1, "d": -0.1, "t": "ü" * 130, "day": None},
            {"i": 2**63 - 1, "d": 1e21, "t": " a", "day": None}, {"i": None, "d": 1e-9, "t": "b ", "day": None}]
        for text, attributes in zip(("POINT Z (1 2 3)", "POINT (4 5)", "POINT ZM (1 2 3 4)", "POINT EMPTY"), values):
            self.server.overlay.add_graphics(overlay="o", graphics=[{"geometry": {"type": "WKT", "text": text}, "attributes": attributes}])
        path = self.folder / "p.shp"
        result = self.server.feature.export(overlay="o", path=str(path))
        self.assertNotIn("warnings", result)
        self.assertEqual(
            sorted((each["kind"], each.get("field", ""), each.get("count", 0)) for each in result["differences"]),
            [("elevations", "", 2), ("ids", "", 0), ("measures", "", 1), ("values", "d", 2), ("values", "i", 1), ("values", "t", 4)])
        frame = pyogrio.read_dataframe(path)
        self.assertEqual([each and each.wkt for each in frame.geometry], ["POINT (1 2)", "POINT (4 5)", "POINT (1 2)", None])
        self.assertEqual([each and len(each) for each in frame["t"]], [254, 127, 1, 1])
        again = [each["properties"] for each in self.features(self.layer(path=str(path)))]
        self.assertEqual([each["i"] for each in again], [2.0**53, -1, 2.0**63, None])
        self.assertEqual([each["d"] for each in again], [123456789.125, -0.1, 1e21, 1e-9])

    def test_kml(self) -> None:
        layer = self.layer(data=collection(GEOMETRIES))
        mine = self.features(layer)
        result, path = self.export(layer, "a.kml")
        again = self.features(self.layer(path=str(path)))
        self.assertEqual(result["count"], len(mine))
        self.check_shapes(mine, again)
        frame = pyogrio.read_dataframe(path)
        self.assertEqual(len(frame), len(mine))
        self.assertEqual([each["properties"]["name"] or None for each in mine], [each["properties"].get("Name") or None for each in again])
        self.assertEqual([each["properties"]["at"] for each in mine], [each["properties"].get("at") for each in again])

    def test_gpx(self) -> None:
        points = [{"type": "Feature", "id": index, "geometry": {"type": "Point", "coordinates": [7 + index, 51, 100.5]}, "properties": {
            "name": f"P{index}", "time": "2024-02-29T10:20:30Z", "size": index}} for index in range(3)]
        lines = [{"type": "Feature", "id": 1, "geometry": {"type": "LineString", "coordinates": [[7, 51, 1], [8, 52, 2]]}, "properties": {"name": "L"}}]
        result, path = self.export(self.layer(data={"type": "FeatureCollection", "features": points}), "p.gpx")
        again = self.features(self.layer("waypoints", path=str(path)))
        self.check_shapes(points, again)
        for own, other in zip(points, again):
            self.assertEqual((own["properties"]["name"], own["properties"]["time"]), (other["properties"]["name"], other["properties"]["time"]))
            self.assertEqual(str(own["properties"]["size"]), str(other["properties"]["ogr_size"]))
        self.assertEqual(list(pyogrio.read_dataframe(path, layer="waypoints")["ele"]), [100.5] * 3)
        result, path = self.export(self.layer(data={"type": "FeatureCollection", "features": lines}), "l.gpx")
        track, = self.features(self.layer("tracks", path=str(path)))
        self.assertEqual(track["geometry"], {"type": "MultiLineString", "coordinates": [[[7, 51], [8, 52]]]})
        # GDAL reads the elevations of tracks only with an option.
        self.assertEqual(re.findall("<ele>(.*)</ele>", path.read_text()), ["1.0", "2.0"])
        self.assertEqual(track["properties"]["name"], "L")

    def test_statistics_and_joins(self) -> None:
        layer = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="cities")
        areas = self.layer(path=str(FIXTURES / "naturalearth_110m.gpkg"), source_layer="countries")
        path = self.folder / "a.csv"
        self.server.feature.export_join(layer=areas, path=str(path), join={"layer": layer}, output="counts", aggregates=[
            {"type": "count", "name": "z"}, {"type": "count", "name": "b"}])
        joined = self.server.feature.join(layer=areas, join={"layer": layer}, output="counts")
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["id", "count", "z", "b"])
        self.assertEqual(sum(int(row["count"]) for row in rows), joined["pairCount"])
