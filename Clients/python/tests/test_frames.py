"""What is sent of a GeoDataFrame, without a server."""

from __future__ import annotations

import datetime
import decimal
import unittest
import uuid
from typing import Any

import geomodel
from geomodel import EncodeError
from geomodel._frames import as_frame
from geomodel._values import column
from geomodel._wire import prepare

try:
    import geopandas
    import numpy
    import pandas
    import shapely
except ImportError:
    geopandas = None


def frame(columns: dict[str, Any], shapes: list[Any], **options: Any) -> Any:
    return geopandas.GeoDataFrame(columns, geometry=shapes, **options)


@unittest.skipIf(geopandas is None, "no geopandas")
class FrameTests(unittest.TestCase):
    """What is sent."""

    def test_the_crs_is_the_spatial_reference_of_each_graphic(self) -> None:
        frame_ = frame({}, [shapely.Point(500000, 5500000)], crs="EPSG:25832")
        for graphics in (frame_, frame_.geometry):
            for method in ("overlay/addGraphics", "overlay/replaceGraphics"):
                out = prepare(method, {"graphics": graphics})["graphics"]
                self.assertEqual([each["spatialReference"] for each in out], ["EPSG:25832"])

    def test_a_crs_without_a_code_is_sent_as_text(self) -> None:
        # GRS80 alone is no datum, so that this is not EPSG:25832.
        made = as_frame(frame({}, [shapely.Point(1, 2)], crs="+proj=utm +zone=32 +ellps=GRS80"), "data")
        self.assertTrue(made is not None and made.reference is not None and made.reference.startswith("PROJCRS["), made)

    def test_the_crs_of_a_feature_collection(self) -> None:
        collection = {
            "type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}},
            "features": [{"type": "Feature", "geometry": None, "properties": {}}],
        }
        out = prepare("overlay/addGraphics", {"graphics": collection})["graphics"]
        self.assertEqual(out[0]["spatialReference"], "urn:ogc:def:crs:EPSG::25832")

    def test_without_a_crs_it_says_what_is_assumed(self) -> None:
        with self.assertWarnsRegex(UserWarning, "has no crs: its coordinates are assumed to be in the spatial reference"):
            out = prepare("overlay/addGraphics", {"graphics": frame({}, [shapely.Point(1, 2)])})["graphics"]
        self.assertNotIn("spatialReference", out[0])

    def test_which_index_gives_ids(self) -> None:
        def ids(index: Any, method: str) -> Any:
            rows = frame({}, [shapely.Point(1, 2)] * 2, index=index, crs=4326)
            out = prepare(method, {"graphics": rows})["graphics"]
            return [each.get("id", each["attributes"]) for each in out]

        self.assertEqual(ids(None, "overlay/addGraphics"), [{}, {}])
        self.assertEqual(ids(None, "overlay/replaceGraphics"), [0, 1])
        self.assertEqual(ids([7, 3], "overlay/addGraphics"), [7, 3])
        self.assertEqual(ids(pandas.RangeIndex(5, 9, 2), "overlay/addGraphics"), [5, 7])
        self.assertEqual(ids(["a", "b"], "overlay/replaceGraphics"), [{"index": "a"}, {"index": "b"}])
        self.assertEqual(ids([3, 3], "overlay/addGraphics"), [{"index": 3}, {"index": 3}])
        self.assertEqual(ids([-1, 3], "overlay/addGraphics"), [{"index": -1}, {"index": 3}])
        named = pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None])
        self.assertEqual(ids(named, "overlay/addGraphics"), [{"k": "a", "level_1": 1}, {"k": "b", "level_1": 2}])

    def test_types_of_pandas(self) -> None:
        naive = pandas.to_datetime(pandas.Series(["2020-01-01T00:00:00", None]))
        fine = pandas.Series([pandas.Timestamp("2020-01-01T00:00:00.000001"), None])
        zoned = pandas.Series([pandas.Timestamp("2020-01-01T00:00:00+02:00"), None])
        cases: list[tuple[Any, list[Any]]] = [
            (pandas.array([1, None], dtype="Int64"), [1, None]),
            (pandas.array([2**53 + 1, None], dtype="UInt64"), [2**53 + 1, None]),
            (pandas.array([1.5, None], dtype="Float32"), [1.5, None]),
            (pandas.array([True, None], dtype="boolean"), [True, None]),
            (pandas.array(["a", None], dtype="string"), ["a", None]),
            (pandas.Categorical(["x", None]), ["x", None]),
            (pandas.Categorical([7, 8]), [7, 8]),
            (naive, ["2020-01-01T00:00:00.000Z", None]),
            (fine, ["2020-01-01T00:00:00.000001Z", None]),
            (zoned, ["2019-12-31T22:00:00.000Z", None]),
            ([datetime.datetime(2020, 1, 1), None], ["2020-01-01T00:00:00.000Z", None]),
            (numpy.array([datetime.datetime(2020, 1, 1), "x"], dtype=object), ["2020-01-01T00:00:00Z", "x"]),
            (numpy.array([numpy.timedelta64(5, "ns"), "x"], dtype=object), ["P0DT0H0M0S", "x"]),
            ([datetime.date(2020, 1, 1), None], ["2020-01-01", None]),
            (pandas.to_timedelta(pandas.Series(["1D 02:03:04.5", None])), ["P1DT2H3M4.5S", None]),
            (pandas.to_timedelta(pandas.Series(["-1s", "1us"])), ["-P0DT0H0M1S", "P0DT0H0M0.000001S"]),
            (pandas.period_range("2020-01", periods=2, freq="M"), ["2020-01", "2020-02"]),
            ([decimal.Decimal("1.5"), None], [1.5, None]),
            ([uuid.UUID(int=1), None], [str(uuid.UUID(int=1)), None]),
            ([{"a": 1}, [1, 2]], [{"a": 1}, [1, 2]]),
            ([pandas.NA, numpy.float32(0.5)], [None, 0.5]),
            (pandas.arrays.SparseArray([1, 0]), [1, 0]),
        ]
        for values, expected in cases:
            with self.subTest(values=str(values)):
                rows = frame({"a": values}, [None, None], crs=4326)
                out = prepare("overlay/addGraphics", {"graphics": rows})["graphics"]
                self.assertEqual([each["attributes"]["a"] for each in out], expected)

    def test_what_is_no_value_names_column_and_row(self) -> None:
        for odd, said in ((1 + 2j, "complex"), (object(), "object"), (pandas.Interval(0, 1), "Interval")):
            with self.subTest(said), self.assertRaisesRegex(EncodeError, f"a/1: {said} is no value of an attribute"):
                as_frame(frame({"a": numpy.array([None, odd], dtype=object)}, [None, None]), "data")
        with self.assertRaisesRegex(EncodeError, "a/1 is infinite"):
            as_frame(frame({"a": [0, numpy.inf]}, [None, None]), "data")
        with self.assertRaisesRegex(EncodeError, "two columns are named 'a'"):
            as_frame(frame({"a": [1], "b": [1]}, [None]).rename(columns={"b": "a"}), "data")
        with self.assertRaisesRegex(EncodeError, "no active geometry"):
            as_frame(geopandas.GeoDataFrame({"a": [1]}), "data")
        with self.assertRaisesRegex(EncodeError, "the index is named as the column 'a'"):
            as_frame(frame({"a": [1]}, [None], index=pandas.Index(["x"], name="a")), "data")

    def test_parts_hold_all_rows_in_order_and_fit(self) -> None:
        count = 1000
        shapes = [shapely.Point(n, 0).buffer(1, quad_segs=n % 40) if n % 7 else None for n in range(count)]
        made = as_frame(
            frame({"s": ["\u00e9\n\"" * (n % 50) for n in range(count)], "n": range(count), "f": numpy.arange(count) / 2,
                   "j": [[n] * (n % 3) for n in range(count)]}, shapes, crs=4326), "data")
        assert made is not None
        parts = list(made.parts(10_000))
        self.assertGreater(len(parts), 20)
        self.assertEqual([part.first for part in parts], [0, *numpy.cumsum([part.count for part in parts])[:-1].tolist()])
        self.assertEqual(sum(part.count for part in parts), count)
        for part in parts:
            body = geomodel._wire.dumps(part.columns)
            self.assertLess(len(body), 10_000 + 3 * 8_000)

    def test_geometries_as_a_column(self) -> None:
        shapes = [shapely.Point(1, 2), None]
        expected = {"type": "WKB", "data": "AQEAAAAAAAAAAADwPwAAAAAAAABA"}
        for given in (shapes, geopandas.GeoSeries(shapes), numpy.array(shapes), [shapely.to_wkb(shapes[0]), None]):
            out = prepare("overlay/addColumns", {"geometry": given})["geometry"]
            self.assertEqual({**out, "offsets": geomodel._values.unpacked(out["offsets"])}, {**expected, "offsets": [0, 21, 21]})
        with self.assertRaisesRegex(EncodeError, "/params/geometry/1: int is no geometry"):
            prepare("overlay/addColumns", {"geometry": [shapes[0], 5]})


if __name__ == "__main__":
    unittest.main()
