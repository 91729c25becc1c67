"""Turning Python values into messages."""

import array
import base64
import datetime
import json
import re
import struct
import unittest
from pathlib import Path, PurePosixPath
from typing import Any

import support
import geomodel
from geomodel import EncodeError
from geomodel._options import CallOptions
from geomodel._wire import COLUMN_MAPS, COLUMNS, dumps, encoding, prepare

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]
try:
    import pandas
except ImportError:
    pandas = None


class Shape:
    def __init__(self, geo: Any) -> None:
        self.__geo_interface__ = geo


def round_trip(value: Any) -> Any:
    return json.loads(dumps(value))


def unpack(column: dict[str, str]) -> list[Any]:
    data = base64.b64decode(column["data"])
    return list(struct.unpack(f"<{len(data) // 8}{'d' if column['type'] == 'float64' else 'q'}", data))


class WireTests(unittest.TestCase):
    def test_the_tables_of_columns_are_those_of_the_definition(self) -> None:
        columns, maps = {}, {}
        for path in (support.ROOT / "Protocol" / "domains").glob("*.json"):
            for method in json.loads(path.read_text()).get("methods", []):
                if not isinstance(method["params"], list):
                    continue
                plain = {p["name"] for p in method["params"] if p["type"] == "Column"}
                mapped = {p["name"] for p in method["params"] if p["type"] == {"map": "Column"}}
                if plain:
                    columns[method["name"]] = plain
                if mapped:
                    maps[method["name"]] = mapped
        self.assertEqual({k: set(v) for k, v in COLUMNS.items()}, columns)
        self.assertEqual({k: set(v) for k, v in COLUMN_MAPS.items()}, maps)

    def test_every_domain_with_methods_is_an_attribute(self) -> None:
        for path in (support.ROOT / "Protocol" / "domains").glob("*.json"):
            definition = json.loads(path.read_text())
            name = re.sub("([A-Z])", r"_\1", definition["domain"]).lower()
            if any(method["shape"] != "lifecycle" for method in definition.get("methods", [])):
                self.assertTrue(hasattr(geomodel.Client, name) and hasattr(geomodel.SyncClient, name), name)

    def test_paths_geometries_and_times(self) -> None:
        utc = datetime.datetime(2000, 1, 1, 12, tzinfo=datetime.timezone.utc)
        self.assertEqual(
            round_trip([PurePosixPath("/a/b"), Path("c"), Shape({"type": "Point", "coordinates": (1.0, 2.0)}), utc, utc.date()]),
            ["/a/b", "c", {"type": "Point", "coordinates": [1, 2]}, "2000-01-01T12:00:00Z", "2000-01-01"],
        )

    def test_iterables_become_arrays(self) -> None:
        self.assertEqual(round_trip([(1, 2), range(2), {"a": 1}.keys()]), [[1, 2], [0, 1], ["a"]])

    def test_what_has_no_place_in_json_is_an_encode_error(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        for value in (float("nan"), float("inf"), object(), "\ud800", loop, {(1, 2): 3}):
            with self.assertRaises(EncodeError):
                dumps({"value": value})

    def test_types_that_do_not_fit_are_encode_errors(self) -> None:
        class Odd:
            @property
            def __geo_interface__(self) -> Any:
                raise LookupError("no geometry here")

        for method, params in (
            ("overlay/addGraphics", {"graphics": 5}), ("overlay/addGraphics", {"graphics": {"type": "FeatureCollection"}}),
            ("overlay/addColumns", {"x": 5}), ("overlay/addColumns", {"attributes": 5}),
            ("overlay/addColumns", {"x": array.array("Q", [2**63])}), ("map/create", [1, 2]), ("map/create", "m1"),
            ("map/create", {"meta": "m"}), ("map/create", {"id": object()}), ("map/create", {"id": Odd()}),
        ):
            with self.subTest(method=method, params=params), self.assertRaises(EncodeError):
                with encoding(method):
                    dumps(prepare(method, CallOptions(origin="me").with_meta(params, None)))  # type: ignore[arg-type]

    def test_graphics_of_features_and_geometries(self) -> None:
        point = {"type": "Point", "coordinates": [1, 2]}
        feature = {"type": "Feature", "id": "0", "geometry": point, "properties": {"a": 1}}
        bare = {"type": "Feature", "geometry": point, "properties": {"a": 1}}
        collection = {"type": "FeatureCollection", "features": [feature]}
        for given, wanted in (
            (collection, [bare]),
            (Shape(collection), [bare]),
            (Shape(point), [{"geometry": point}]),
            ([Shape(point), point, Shape(feature), {"id": 7, "geometry": point}],
             [{"geometry": point}, {"geometry": point}, bare, {"id": 7, "geometry": point}]),
            ([{**feature, "id": 5}], [{**feature, "id": 5}]),
        ):
            self.assertEqual(prepare("overlay/addGraphics", {"graphics": given})["graphics"], wanted)

    def test_lists_stay_lists_with_nan_as_null(self) -> None:
        out = prepare("overlay/addColumns", {"x": [1, float("nan")], "y": (2, 3), "attributes": {"n": [None, "a"]}})
        self.assertEqual(out, {"x": [1, None], "y": [2, 3], "attributes": {"n": [None, "a"]}})

    def test_arrays_are_packed(self) -> None:
        out = prepare(
            "overlay/addColumns",
            {"x": array.array("d", [1.5, -2]), "y": array.array("f", [0.5]), "ids": array.array("B", [7, 255])},
        )
        self.assertEqual((out["x"]["type"], unpack(out["x"])), ("float64", [1.5, -2.0]))
        self.assertEqual((out["y"]["type"], unpack(out["y"])), ("float64", [0.5]))
        self.assertEqual((out["ids"]["type"], unpack(out["ids"])), ("int64", [7, 255]))
        with self.assertRaises(EncodeError):
            prepare("overlay/select", {"ids": array.array("Q", [2**63])})

    def test_packed_columns_pass(self) -> None:
        packed = {"type": "float64", "data": ""}
        self.assertEqual(prepare("overlay/addColumns", {"x": packed})["x"], packed)

    def test_params_of_others_are_left_alone(self) -> None:
        self.assertEqual(prepare("feature/query", {"ids": [1, 2]}), {"ids": [1, 2]})

    @unittest.skipIf(numpy is None, "no numpy")
    def test_numpy(self) -> None:
        out = prepare(
            "overlay/addColumns",
            {
                "x": numpy.array([1, 2.5], dtype=">f4"), "y": numpy.arange(4)[::2], "ids": numpy.array([1, 2], dtype="u8"),
                "attributes": {
                    "name": numpy.array(["a", "b"]), "ok": numpy.array([True, False]),
                    "mixed": numpy.array(["a", float("nan")], dtype=object),
                    "when": numpy.array(["2000-01-01T00:00:01", "NaT"], dtype="datetime64[s]"),
                },
            },
        )
        self.assertEqual(unpack(out["x"]), [1.0, 2.5])
        self.assertEqual((out["y"]["type"], unpack(out["y"])), ("int64", [0, 2]))
        self.assertEqual(unpack(out["ids"]), [1, 2])
        self.assertEqual(
            out["attributes"],
            {"name": ["a", "b"], "ok": [True, False], "mixed": ["a", None], "when": ["2000-01-01T00:00:01.000Z", None]},
        )
        self.assertEqual(
            round_trip([numpy.float32(0.5), numpy.int64(3), numpy.bool_(True), numpy.array([[1, 2], [3, 4]])]),
            [0.5, 3, True, [[1, 2], [3, 4]]],
        )
        for bad in (numpy.zeros((2, 2)), numpy.array([2**63], dtype="u8")):
            with self.assertRaises(EncodeError):
                prepare("overlay/select", {"ids": bad})

    @unittest.skipIf(pandas is None, "no pandas")
    def test_pandas(self) -> None:
        frame = pandas.DataFrame({"x": [1.0, 2.0], "n": pandas.array([1, None], dtype="Int64"), "s": ["a", None]})
        whole = pandas.Series(pandas.array([1, 2**53 + 1], dtype="Int64"))
        out = prepare("overlay/addColumns", {"x": frame["x"], "attributes": {"n": frame["n"], "s": frame["s"]}, "ids": whole})
        self.assertEqual((out["ids"]["type"], unpack(out["ids"])), ("int64", [1, 2**53 + 1]))
        self.assertEqual(unpack(out["x"]), [1.0, 2.0])
        self.assertEqual(out["attributes"], {"n": [1, None], "s": ["a", None]})


if __name__ == "__main__":
    unittest.main()
