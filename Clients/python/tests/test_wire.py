"""Turning Python values into messages."""

import array
import base64
import contextlib
import datetime
import json
import re
import struct
import unittest
from pathlib import Path, PurePosixPath
from typing import Any

import support
import geomodel
from geomodel import EncodeError, ProtocolError
from geomodel._limits import Limits, _count_values, _depth, _levels
from geomodel._options import CallOptions
from geomodel._wire import COLUMN_MAPS, COLUMNS, dumps, encoding, loads, prepare

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
                mapped = {p["name"] for p in method["params"] if p["type"] == "AttributeColumns"}
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

    def test_what_the_server_would_refuse_is_an_encode_error_with_its_path(self) -> None:
        for value, what in (
            ({"a/b": [1, 2**70]}, "the integer 1180591620717411303424 is beyond 64 bits, at /params/value/a~1b/1"),
            ([-(2**63) - 1], "-9223372036854775809 is beyond 64 bits, at /params/value/0"),
            ([{"a\0b": 1}], r"the name 'a\x00b' has a NUL, at /params/value/0"),
            (["a", "\ud800"], "a lone surrogate at /params/value/1"),
            ({"\ud800": 1}, "has a lone surrogate, at /params/value"),
            ({"x": [0.5, float("-inf")]}, "-inf is not a JSON number, at /params/value/x/1"),
        ):
            with self.subTest(what), self.assertRaises(EncodeError) as caught:
                dumps({"id": 1, "params": {"value": value}})
            self.assertIn(what, str(caught.exception))

    def test_what_only_looks_like_that_is_sent(self) -> None:
        for value in (
            [2**63 - 1, -(2**63), 0.00012345678901234567, 1e300], "[99999999999999999999,", "9" * 5000, {"a\\u0000b": "\0"},
            {"2020": 1, 2021: 2, None: 3}, "[99999999999999999999]\n", ["[" * 3000, "\\\"[", '"'], ["]", "]"] * 2000, [[[]]] * 2000, "," * 99,
        ):
            with self.subTest(str(value)[:50]):
                self.assertEqual(json.loads(dumps(value, Limits(10**6, 6001))), json.loads(json.dumps(value)))

    def test_nesting_is_counted_as_the_server_does(self) -> None:
        for text, is_well in (
            ("[" * 2048 + "]" * 2048, True), ("[" * 2047 + "1" + "]" * 2047, True), ("[" * 2048 + "1" + "]" * 2048, False),
            ("[" * 2049 + "]" * 2049, False), ('{"[":' * 2047 + '"]"' + "}" * 2047, True),
            ("[" + '["]"],' * 3000 + '{"":[' * 1024 + '"]]"' + "]}" * 1024 + "]", False),
        ):
            with self.subTest(text[:30], is_well=is_well):
                refused = contextlib.nullcontext() if is_well else self.assertRaisesRegex(EncodeError, "nested deeper")
                with support.deep_recursion(), refused:
                    Limits().check(text.encode())
                # How it is counted where Python does not read so many levels.
                self.assertEqual(_levels(text) <= 2048, is_well)

    def test_a_message_that_is_nested_too_deeply_is_a_protocol_error(self) -> None:
        deep = b"[" * 500_000 + b"]" * 500_000
        for text in (deep, b'{"a":"' + b"x" * 50_000 + b'","b":' + deep + b"}"):
            with self.assertRaisesRegex(ProtocolError, "nested too deeply"):
                loads(text)

    def test_structure_is_distinguished_from_text(self) -> None:
        body = dumps([{'a"[,': '\\"[,{'}, ["\\", ",", '""'], [], {}])
        self.assertEqual(_count_values(body), 11)
        self.assertEqual(_depth(body), 0)

    def test_sizes_beyond_the_limits_of_the_server(self) -> None:
        limits = Limits.of({"maxMessageBytes": 1000, "maxMessageValues": 100})
        for params, what in (
            ({"small": 1, "text": "x" * 1000}, "1,032 bytes, and the server takes 1,000; most of it is at /params/text"),
            ({"small": 1, "list": [1] * 100}, "104 values, and the server takes 100; most of it is at /params/list"),
        ):
            dumps({"params": params})
            with self.subTest(what), self.assertRaises(EncodeError) as caught:
                dumps({"params": params}, limits)
            self.assertIn(what, str(caught.exception))
        self.assertEqual(Limits.of(None), Limits())

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

    def test_columns_of_geometries_are_packed(self) -> None:
        columns = {"x": array.array("d", [1.0, 2.0]), "y": [3, 4]}
        sent = prepare("geometry/project", {"columns": columns, "outSpatialReference": "EPSG:3857"})
        packed = {"type": "float64", "data": base64.b64encode(struct.pack("<2d", 1, 2)).decode()}
        self.assertEqual(sent["columns"], {"x": packed, "y": [3, 4]})

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

    @unittest.skipIf(numpy is None, "no numpy")
    def test_masked_values_are_null_in_attributes_and_an_error_elsewhere(self) -> None:
        masked = numpy.ma.array
        when = numpy.array(["2000-01-01", "2000-01-02"], dtype="datetime64[s]")
        out = prepare(
            "overlay/addColumns",
            {
                "x": masked([1.5, 2.5], mask=False),
                "attributes": {
                    "n": masked([1, 2, 3], mask=[0, 1, 0]), "big": masked([1, 2**63], mask=[0, 1], dtype="u8"),
                    "f": masked([1.0, float("inf"), float("nan")], mask=[0, 1, 0]), "whole": masked([1, 2]),
                    "s": masked(["a", "b"], mask=[1, 0]), "ok": masked([True, False], mask=[0, 1]),
                    "when": masked(when, mask=[1, 0]), "b": masked([b"a", b"\xff"], mask=[0, 1]),
                },
            },
        )
        self.assertEqual(unpack(out["x"]), [1.5, 2.5])
        first, *gaps = unpack(out["attributes"]["f"])
        self.assertEqual((first, [gap != gap for gap in gaps]), (1.0, [True, True]))
        self.assertEqual(unpack(out["attributes"]["whole"]), [1, 2])
        self.assertEqual(
            {name: values for name, values in out["attributes"].items() if name not in ("f", "whole")},
            {"n": [1, None, 3], "big": [1, None], "s": [None, "b"], "ok": [True, None],
             "when": [None, "2000-01-02T00:00:00.000Z"], "b": ["a", None]},
        )
        for method, name in (("addColumns", "x"), ("addColumns", "y"), ("updateColumns", "ids"), ("select", "ids")):
            with self.subTest(name), self.assertRaisesRegex(EncodeError, f"/params/{name}/1 is masked"):
                prepare(f"overlay/{method}", {name: masked([1, 2, 3], mask=[0, 1, 0])})
        self.assertEqual(round_trip([masked([1, 2], mask=[0, 1])]), [[1, None]])

    @unittest.skipIf(numpy is None, "no numpy")
    def test_bytes_of_numpy_are_text(self) -> None:
        names = numpy.array(["\u00e9".encode(), b"b"])
        self.assertEqual(prepare("overlay/addColumns", {"attributes": {"s": names}}), {"attributes": {"s": ["\u00e9", "b"]}})
        with self.assertRaisesRegex(EncodeError, "/params/attributes/s/1: the bytes are no UTF-8"):
            prepare("overlay/addColumns", {"attributes": {"s": numpy.array([b"a", b"\xff"])}})

    def refuse_infinity(self, make: Any) -> None:
        for infinity in (float("inf"), float("-inf")):
            for params in ({"x": make([0.0, infinity])}, {"attributes": {"x": make([float("nan"), infinity, 1.0])}}):
                with self.subTest(params=str(params)), self.assertRaisesRegex(EncodeError, "/x/1 is infinite|/x/1$"):
                    dumps({"params": prepare("overlay/addColumns", params)})

    def test_infinity_is_an_error_in_every_kind_of_column(self) -> None:
        self.refuse_infinity(list)
        self.refuse_infinity(lambda values: array.array("d", values))
        self.refuse_infinity(lambda values: array.array("f", values))
        # The bytes of an infinity across two numbers are none.
        astride = struct.unpack("<2d", b"\0" * 4 + struct.pack("<d", float("inf")) + b"\0" * 4)
        self.assertEqual(unpack(prepare("overlay/addColumns", {"x": array.array("d", astride)})["x"]), list(astride))

    @unittest.skipIf(numpy is None, "no numpy")
    def test_infinity_is_an_error_in_numpy_columns(self) -> None:
        for kind in ("f8", ">f8", "f4", "f2"):
            self.refuse_infinity(lambda values: numpy.array(values, dtype=kind))

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
