"""GeoDataFrames into overlays and out again, on the real server."""

from __future__ import annotations

import asyncio
import unittest
import warnings
from typing import Any
from unittest import mock

from support import SERVER, needs_server
from test_frames import frame

import geomodel
from geomodel import EncodeError, _bulk
from geomodel._values import column

try:
    import geopandas
    import numpy
    import pandas
    import shapely
except ImportError:
    geopandas = None


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class RealFrameTests(unittest.TestCase):
    """What comes of it."""

    def setUp(self) -> None:
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.map.create(id="m")
        self.server.view.create(id="v", map="m")
        self.server.overlay.create(id="o", view="v")

    def read(self, **query: Any) -> Any:
        return geomodel.to_geodataframe(self.server, overlay="o", **query)

    def some(self, count: int, **options: Any) -> Any:
        shapes = [shapely.box(n / 100, 0, n / 100 + 1, 1) for n in range(count)]
        return frame({"n": range(count), "f": numpy.arange(count) / 2, "s": [f"row {n}" for n in range(count)]}, shapes,
                     crs=4326, **options)

    def test_utm_lands_in_degrees(self) -> None:
        utm = frame({"a": [1]}, [shapely.Point(500000, 5500000)], crs="EPSG:25832")
        self.server.overlay.add(utm, overlay="o")
        self.server.overlay.add_graphics(overlay="o", graphics=utm)
        self.server.overlay.add(utm.set_crs("+proj=utm +zone=32 +ellps=GRS80", allow_override=True), overlay="o")
        for point in self.read().geometry:
            self.assertAlmostEqual(point.x, 9)
            self.assertAlmostEqual(point.y, 49.6525429, 6)
        self.server.overlay.replace_graphics(overlay="o", graphics=utm)
        found = self.read(out_spatial_reference="EPSG:25832")
        self.assertEqual((found.crs, len(found), list(found.index)), (utm.crs, 1, [0]))
        self.assertTrue(shapely.equals_exact(found.geometry.iloc[0], utm.geometry.iloc[0], 1e-6))

    def test_columns_of_no_rows_keep_their_types(self) -> None:
        self.server.source.add(self.some(3), id="s")
        self.server.layer.add(map="m", source="s", id="l")
        self.server.layer.load(layer="l")
        none = geomodel.to_geodataframe(self.server, layer="l", where_clause="n > 9")
        self.assertEqual((len(none), [none[name].dtype.kind for name in "nfs"]), (0, ["i", "f", "O"]))

    def test_in_and_out_again(self) -> None:
        shapes = [
            shapely.Point(1, 2), shapely.Point(1, 2, 3), shapely.Point(), None, shapely.box(0, 0, 1, 1),
            shapely.from_wkt("LINESTRING Z (0 0 1, 1 1 2)"), shapely.from_wkt("MULTIPOINT (0 0, 1 1)"),
            shapely.from_wkt("GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))"), shapely.MultiPolygon(),
        ]
        count = len(shapes)
        given = frame(
            {"n": pandas.array([None, *range(1, count)], dtype="Int64"), "f": [numpy.nan, *numpy.arange(1, count) / 2],
             "i": range(count), "ok": pandas.array([None, *[True] * (count - 1)], dtype="boolean"), "s": list("abcdefghi")},
            shapes, crs=4326, index=numpy.arange(count)[::-1] * 5)
        added = self.server.overlay.add(given, overlay="o")
        self.assertEqual((added["count"], added["ids"].tolist()), (count, given.index.tolist()))
        found = self.read()
        pandas.testing.assert_frame_equal(pandas.DataFrame(found)[["n", "f", "i", "ok", "s"]],
                                          pandas.DataFrame(given)[["n", "f", "i", "ok", "s"]])
        self.assertEqual(found.geometry.to_wkt().tolist(), given.geometry.to_wkt().tolist())
        self.assertEqual(found.crs, given.crs)

    def test_answers_as_frames(self) -> None:
        self.server.overlay.add(self.some(5, index=[3, 1, 4, 15, 9]), overlay="o")
        for format in ("columns", "geojson"):
            found = geomodel.to_geodataframe(self.server.feature.query(overlay="o", format=format))  # type: ignore[arg-type]
            self.assertEqual((found.index.tolist(), found["s"].tolist()), ([3, 1, 4, 15, 9], [f"row {n}" for n in range(5)]))
            self.assertEqual(found.crs, "EPSG:4326")
        table = self.read(return_geometry=False, where_clause="n > 0", properties=["s"], limit=2, offset=1)
        self.assertEqual((list(table.columns), table.index.tolist()), (["s"], [4, 15]))
        self.assertEqual(self.read(where_clause="n > 99").shape, (0, 4))
        for properties in (None, ["s"]):
            near = self.server.feature.nearest(overlay="o", locations=shapely.Point(1, 2), properties=properties)
            with self.assertRaisesRegex(EncodeError, "no features with their fields"):
                geomodel.to_geodataframe(near)

    def test_both_forms_of_an_answer_are_the_same_frame(self) -> None:
        given = geopandas.GeoDataFrame(
            {"i": pandas.array([2**53 + 1, None], dtype="Int64"), "b": pandas.array([True, None], dtype="boolean"),
             "t": pandas.to_datetime(["2020-01-01T00:00:00", None]), "geometry": [1.5, 2]},
            index=[7, 5])
        given["shape"] = [shapely.from_wkt("POINT M (1 2 3)"), None]
        self.server.source.add(given.set_geometry("shape", crs=25832), id="s")
        self.server.layer.add(map="m", source="s", id="l")
        self.server.layer.load(layer="l")
        for condition in ("TRUE", "FALSE"):
            columns, rows = (
                geomodel.to_geodataframe(self.server.feature.calculate(layer="l", where_clause=condition, format=form))
                for form in ("columns", "geojson"))
            pandas.testing.assert_frame_equal(pandas.DataFrame(rows), pandas.DataFrame(columns), check_dtype=condition == "TRUE")
            self.assertEqual((rows.crs, rows.active_geometry_name), (columns.crs, "geometry_"))
        found = geomodel.to_geodataframe(self.server.feature.query(layer="l", ids=[7, 5]))
        self.assertEqual((found["i"].tolist()[0], str(found["b"].dtype)), (2**53 + 1, "boolean"))

    def test_times_with_zones_are_those_of_their_unit(self) -> None:
        times = pandas.DatetimeIndex(["3000-01-01", "1500-06-01"]).as_unit("s").tz_localize("UTC")
        for each in (times, times.tz_convert("Europe/Berlin")):
            self.assertEqual(column(pandas.Series(each)), ["3000-01-01T00:00:00.000Z", "1500-06-01T00:00:00.000Z"])

    def test_many_parts_are_one_step_with_progress(self) -> None:
        events: list[dict[str, Any]] = []
        client = self.server.options(progress=events.append)
        with mock.patch.object(_bulk, "_PART_BYTES", 5_000), mock.patch.object(_bulk, "_PAGE", 70):
            added = client.overlay.add(self.some(300), overlay="o")
            self.assertEqual((added["count"], added["ids"].tolist()), (300, list(range(300))))
            self.assertEqual([event["kind"] for event in (events[0], events[-1])], ["begin", "end"])
            parts = [event["percentage"] for event in events[1:-1]]
            self.assertTrue(len(parts) > 3 and parts == sorted(parts) and parts[-1] == 100, parts)
            events.clear()
            found = geomodel.to_geodataframe(client, overlay="o")
            self.assertEqual(found["n"].tolist(), list(range(300)))
            self.assertEqual(events[-2]["percentage"], 100)
        self.assertEqual(self.server.edit.history()["undo"][0], "Add 300 graphics")
        self.server.edit.undo()
        self.assertEqual(self.server.overlay.get(overlay="o")["graphicCount"], 0)

    def test_all_rows_or_none(self) -> None:
        self.server.overlay.add(self.some(1).set_axis([1299], axis=0), overlay="o")
        steps = self.server.edit.history()["undo"]
        with mock.patch.object(_bulk, "_PART_BYTES", 5_000):
            with self.assertRaises(geomodel.errors.InvalidItemsError) as raised:
                self.server.overlay.add(self.some(300).set_axis(range(1000, 1300), axis=0), overlay="o")
        self.assertEqual([(item["index"], item["kind"]) for item in raised.exception.data["items"]], [(299, "idExists")])
        self.assertEqual(self.server.overlay.get(overlay="o")["graphicCount"], 1)
        self.assertEqual(self.server.edit.history()["undo"], steps)

    def test_a_source_of_a_frame(self) -> None:
        given = self.some(300, index=numpy.arange(300) + 7)
        given["t"] = pandas.to_datetime(["2020-01-01T00:00:00", None] * 150)
        given["i"] = pandas.array([None, 1] * 150, dtype="Int64")
        with mock.patch.object(_bulk, "_PART_BYTES", 5_000):
            source = self.server.source.add(given.to_crs(3857), id="s")
        self.assertEqual((source["layers"][0]["featureCount"], source["layers"][0]["spatialReference"]), (300, "EPSG:3857"))
        self.assertEqual(
            {field["name"]: field["type"] for field in source["layers"][0]["fields"]},
            {"n": "integer", "f": "double", "t": "dateTime", "i": "integer", "s": "string"})
        self.server.layer.add(map="m", source="s", id="l")
        self.server.layer.load(layer="l")
        found = geomodel.to_geodataframe(self.server, layer="l")
        self.assertEqual(found.index.tolist(), given.index.tolist())
        self.assertEqual((found["t"].dt.tz_localize(None).tolist()[0], found["i"].tolist()[1], str(found["i"].dtype)),
                         (given["t"].tolist()[0], 1, "Int64"))
        self.assertEqual((found["t"].isna() == given["t"].isna()).all(), True)
        self.assertTrue(found.geometry.geom_equals(given.to_crs(3857).geometry).all())
        times = pandas.MultiIndex.from_arrays(
            [pandas.date_range("2020-01-01", periods=3, tz="Europe/Berlin"), [1, 1, 2]], names=["t", "k"])
        indexed = self.server.source.add(self.some(3).set_index(times)[["geometry"]], id="indexed")
        self.assertEqual(
            [(field["name"], field["type"]) for field in indexed["layers"][0]["fields"]], [("t", "dateTime"), ("k", "integer")])
        self.server.source.close(source="indexed")
        with mock.patch.object(_bulk, "_PART_BYTES", 5_000), self.assertRaises(geomodel.errors.InvalidItemsError) as raised:
            self.server.source.add(
                given.assign(geometry=[*given.geometry[:-1], shapely.LineString([(0, 0), (numpy.inf, 1)])]), id="bad")
        self.assertEqual([item["index"] for item in raised.exception.data["items"]], [299])
        self.assertEqual([each["source"] for each in self.server.source.list()["sources"]], ["s"])

    def test_columns_keep_their_order(self) -> None:
        given = geopandas.GeoDataFrame(
            {
                "name": ["a", None], "geometry": geopandas.points_from_xy([1, 2], [3, 4]), "n": [1, 2], "kind": pandas.Categorical(["x", "y"]),
                "f": [1.5, None], "list": [[1], {"a": 2}], "both": ["a", 1], "none": [None, None], "flag": [True, None], "when": pandas.to_datetime(["2020-01-01"] * 2),
            }, crs=4326)
        source = self.server.source.add(given, id="ordered")
        self.assertEqual(
            [(field["name"], field["type"]) for field in source["layers"][0]["fields"]],
            [("name", "string"), ("n", "integer"), ("kind", "string"), ("f", "double"), ("list", "json"), ("both", "string"), ("none", "string"),
             ("flag", "boolean"), ("when", "dateTime")])
        self.server.layer.add(map="m", source="ordered", id="ol")
        self.server.layer.load(layer="ol")
        found = geomodel.to_geodataframe(self.server, layer="ol")
        self.assertEqual(list(found.columns), [*given.columns.drop("geometry"), "geometry"])
        self.server.layer.remove(layer="ol")
        self.server.source.close(source="ordered")

    def test_cancelling_takes_back(self) -> None:
        def stop(event: dict[str, Any]) -> None:
            if event.get("percentage", 0) > 20:
                raise KeyboardInterrupt

        with mock.patch.object(_bulk, "_PART_BYTES", 5_000), self.assertRaises(KeyboardInterrupt):
            self.server.options(progress=stop).overlay.add(self.some(2000), overlay="o")
        self.assertFalse(self.server.edit.history()["isEditing"])
        self.assertEqual(self.server.overlay.get(overlay="o")["graphicCount"], 0)

    def test_features_that_change_meanwhile_are_read_again(self) -> None:
        self.server.overlay.add(self.some(200), overlay="o")
        real, connection = _bulk.ids_of, self.server._async._connection
        removal = {"jsonrpc": "2.0", "method": "overlay/removeGraphics", "params": {"overlay": "o", "ids": [0]}}
        changes = [removal]

        def changed(answer: Any) -> Any:
            """Once, a change behind the first part."""
            while changes:
                connection._send(changes.pop())
            return real(answer)

        with mock.patch.object(_bulk, "_PAGE", 90), mock.patch.object(_bulk, "ids_of", changed):
            found = self.read()
        self.assertEqual((changes, found.index.tolist()), ([], list(range(1, 200))))

    def test_a_frame_without_crs_says_what_is_assumed(self) -> None:
        with self.assertWarnsRegex(UserWarning, "assumed to be in the spatial reference of the overlay 'o'"):
            self.server.overlay.add(self.some(1).set_crs(None, allow_override=True), overlay="o")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.server.overlay.add(self.some(1), overlay="o")

    def test_what_is_no_frame(self) -> None:
        with self.assertRaisesRegex(EncodeError, "a GeoDataFrame or a GeoSeries is expected, not list"):
            self.server.overlay.add([1], overlay="o")


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class AsyncFrameTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.server = await geomodel.launch(SERVER)
        self.addAsyncCleanup(self.server.close)
        await self.server.map.create(id="m")
        await self.server.view.create(id="v", map="m")
        self.frame = frame({"n": range(500)}, [shapely.Point(n / 10, 0) for n in range(500)], crs=4326)

    async def test_several_at_once(self) -> None:
        with mock.patch.object(_bulk, "_PART_BYTES", 2_000), mock.patch.object(_bulk, "_PAGE", 90):
            for name in "abc":
                await self.server.overlay.create(id=name, view="v")
            await asyncio.gather(*(self.server.overlay.add(self.frame, overlay=name) for name in "abc"),
                                 self.server.source.add(self.frame, id="s"))
            self.assertFalse((await self.server.edit.history())["isEditing"])
            found = await asyncio.gather(*(geomodel.to_geodataframe(self.server, overlay=name) for name in "abc"))
        for each in found:
            self.assertEqual(each["n"].tolist(), list(range(500)))

    async def test_a_cancel_takes_back(self) -> None:
        await self.server.overlay.create(id="a", view="v")
        events: list[Any] = []
        with mock.patch.object(_bulk, "_PART_BYTES", 2_000):
            call = asyncio.ensure_future(self.server.options(progress=events.append).overlay.add(self.frame, overlay="a"))
            while len(events) < 3:
                await asyncio.sleep(0)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
        self.assertLess(events[-1].get("percentage", 100), 100)
        self.assertEqual((await self.server.overlay.get(overlay="a"))["graphicCount"], 0)
        self.assertFalse((await self.server.edit.history())["isEditing"])

    async def test_what_the_server_does_not_know_is_said(self) -> None:
        await self.server.overlay.create(id="a", view="v")
        with self.assertRaises(geomodel.errors.GeoModelError) as raised:
            await self.server.overlay.add(self.frame.set_crs("EPSG:5773", allow_override=True), overlay="a")
        self.assertIn(raised.exception.kind, ("unknownSpatialReference", "transformFailed"))


if __name__ == "__main__":
    unittest.main()
