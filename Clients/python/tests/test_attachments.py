"""Columns as bytes behind a message: what is sent, what comes, and how users see it."""

from __future__ import annotations

import array
import asyncio
import base64
import contextlib
import copy
import json
import os
import pickle
import signal
import struct
import unittest
from typing import Any
from unittest import mock

from support import FAKE, SERVER

import geomodel
from geomodel._limits import Limits
from geomodel._packed import Attachments, PackedColumn, attached, pack
from geomodel._wire import dumps, loads, prepare

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]
try:
    import shapely
except ImportError:
    shapely = None

ATTACHING = [*FAKE, "--attach"]
NUMBERS = [0.5, -1.0, 3e30]
BYTES = struct.pack("<3d", *NUMBERS)
PLAIN = {"type": "float64", "data": base64.b64encode(BYTES).decode()}


def columns(count: int) -> dict[str, Any]:
    """Params with two packed columns, as `overlay.add_columns` makes them."""
    ramp = array.array("d", range(count))
    return prepare("overlay/addColumns", {"x": ramp, "attributes": {"n": array.array("q", range(count))}})


class PackedColumnTests(unittest.TestCase):
    def test_it_is_the_dictionary_of_the_protocol_to_everyone(self) -> None:
        for look in (
            dict, lambda c: {**c}, lambda c: json.loads(json.dumps(c)), lambda c: json.loads(json.dumps([c], indent=1))[0],
            lambda c: dict(c.items()), lambda c: dict(zip(c.keys(), c.values())),
            lambda c: {name: c[name] for name in c}, lambda c: {name: c.get(name) for name in c}, lambda c: c | {}, lambda c: {} | c,
            lambda c: c.copy(), lambda c: {"type": c["type"], "data": c.pop("data")}, lambda c: dict([reversed(c.popitem()[::-1]), *c.items()]),
            lambda c: {"type": c["type"], "data": c.setdefault("data", "")},
        ):
            column = PackedColumn("float64", BYTES)
            self.assertEqual(look(column), PLAIN)
            self.assertIs(type(look(PackedColumn("float64", BYTES))), dict)
        for look in (copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))):
            column = look(PackedColumn("WKB", b"ab", offsets=PackedColumn("int64", BYTES)))
            self.assertIs(type(column), PackedColumn)
            self.assertEqual(column, {"type": "WKB", "data": "YWI=", "offsets": {**PLAIN, "type": "int64"}})
        self.assertEqual(PackedColumn("float64", BYTES), PLAIN)
        self.assertEqual(PLAIN, PackedColumn("float64", BYTES))
        self.assertEqual(PackedColumn("float64", BYTES), PackedColumn("float64", PLAIN["data"]))
        self.assertNotEqual(PackedColumn("float64", BYTES), PackedColumn("int64", BYTES))
        match PackedColumn("float64", BYTES):
            case {"type": "float64", "data": data}:
                self.assertEqual(data, PLAIN["data"])
            case _:
                self.fail()

    def test_its_bytes_follow_its_text(self) -> None:
        column = PackedColumn("float64", BYTES)
        column["data"] = ""
        self.assertEqual((bytes(column.buffer), column), (b"", {"type": "float64", "data": ""}))
        column.update(PLAIN)
        self.assertEqual(bytes(column.buffer), BYTES)
        self.assertEqual(geomodel.decode_column(column), NUMBERS)

    def test_it_is_shown_by_its_size(self) -> None:
        column = PackedColumn("int64", bytes(16))
        self.assertEqual(repr(column), "<int64 column of 2 rows>")
        self.assertEqual(repr(PackedColumn("WKB", b"", offsets=column)), "<WKB column of 1 rows>")
        self.assertEqual(repr(PackedColumn("WKB", b"", offsets=[0, 0, 0])), "<WKB column of 2 rows>")

    def test_columns_of_results_are_packed_and_all_else_is_left(self) -> None:
        given = {"columns": {"ids": {"type": "int64", "data": ""}, "geometry": {"type": "WKB", "data": "", "offsets": {"type": "int64", "data": ""}}}}
        plain = copy.deepcopy(given)
        packed = pack(given)
        kinds = [type(packed["columns"][name]) for name in ("ids", "geometry")] + [type(packed["columns"]["geometry"]["offsets"])]
        self.assertEqual((packed, kinds), (plain, [PackedColumn] * 3))
        for other in ({"type": "WKB", "data": ""}, {"type": ["int64"], "data": ""}, {"type": "int64", "data": []}, {"type": "text", "data": ""}):
            self.assertIs(type(pack({"value": dict(other)})["value"]), dict)

    @unittest.skipIf(numpy is None, "no numpy")
    def test_numpy_has_its_values_without_a_copy(self) -> None:
        column = PackedColumn("float64", BYTES)
        values = numpy.asarray(column)
        self.assertEqual(values.tolist(), NUMBERS)
        self.assertTrue(numpy.shares_memory(values, numpy.asarray(column)))
        self.assertFalse(values.flags.writeable)
        self.assertFalse(numpy.shares_memory(values, numpy.array(column)))
        self.assertEqual(numpy.asarray(column, dtype="f4").dtype, "f4")
        self.assertEqual(numpy.asarray(PackedColumn("int64", b"")).tolist(), [])
        wkb = PackedColumn("WKB", b"abc", offsets=prepare("overlay/select", {"ids": array.array("q", [0, 2, 2, 3])})["ids"])
        self.assertEqual(numpy.asarray(wkb).tolist(), [b"ab", None, b"c"])
        self.assertEqual(geomodel.decode_column(wkb), [b"ab", None, b"c"])
        if int(numpy.__version__.split(".")[0]) >= 2:
            with self.assertRaises(ValueError):
                numpy.asarray(column, dtype="f4", copy=False)


class AttachedMessageTests(unittest.TestCase):
    def test_columns_follow_the_text_and_begin_at_multiples_of_eight(self) -> None:
        attachments = Attachments()
        wkb = PackedColumn("WKB", b"w" * 2001, offsets=PackedColumn("int64", bytes(1024)))
        text = dumps({"params": {"geometry": wkb, **columns(128), "few": PackedColumn("float64", BYTES)}}, attachments=attachments)
        data = b"".join(attachments.pieces)
        self.assertEqual(len(data), attachments.size)
        params = json.loads(text)["params"]
        self.assertEqual(params["geometry"]["data"], {"offset": 0, "length": 2001})
        self.assertEqual(params["geometry"]["offsets"]["data"], {"offset": 2008, "length": 1024})
        self.assertEqual(params["x"]["data"], {"offset": 3032, "length": 1024})
        # Few bytes are not worth it.
        self.assertEqual(params["few"], PLAIN)
        self.assertEqual(data[:2008], b"w" * 2001 + bytes(7))
        self.assertEqual(data[3032:4056], struct.pack("<128d", *range(128)))
        received = loads(text, memoryview(data))["params"]
        self.assertEqual((received["geometry"], received["x"]), (wkb, columns(128)["x"]))
        self.assertEqual(bytes(received["attributes"]["n"].buffer), struct.pack("<128q", *range(128)))

    def test_long_texts_beside_attachments(self) -> None:
        attachments = Attachments()
        message = {"text": "t" * 50_000, "column": PackedColumn("int64", bytes(2000))}
        text = dumps(message, attachments=attachments)
        self.assertEqual(loads(text, memoryview(b"".join(attachments.pieces))), message)
        self.assertEqual(loads(dumps(message)), message)
        self.assertEqual(loads(dumps({"id": PackedColumn("int64", bytes(80_000))})), {"id": {"type": "int64", "data": "A" * 106667 + "="}})

    def test_the_limit_is_about_all_bytes(self) -> None:
        limits = Limits(message_bytes=2500)
        dumps({"params": columns(128)}, limits, Attachments())
        with self.assertRaisesRegex(geomodel.EncodeError, "the message has [34],... bytes, .* most of it is at /params/x"):
            dumps({"params": {"x": columns(300)["x"], "y": columns(200)["x"]}}, limits, Attachments())

    def test_bytes_that_are_not_there_are_an_error(self) -> None:
        for place in ({"offset": 8, "length": 9}, {"offset": -8, "length": 8}, {"offset": 0, "length": -1}, {"offset": 0.0, "length": 1}):
            with self.subTest(place), self.assertRaises(geomodel.ProtocolError):
                attached({"type": "int64", "data": place}, memoryview(bytes(16)))
        for other in ({"type": "text", "data": {"offset": 0, "length": 99}}, {"type": "int64", "data": {"offset": 99}}, {"data": []}):
            self.assertIs(attached(other, memoryview(b"")), other)


class AttachingTests(unittest.IsolatedAsyncioTestCase):
    async def test_columns_go_and_come_as_bytes_where_the_server_takes_them(self) -> None:
        for command, framing, attaches in ((ATTACHING, "headers", True), (FAKE, "headers", False), (ATTACHING, "lines", False)):
            async with geomodel.launch(command, framing=framing) as server:
                for count in (1, 1000, 300_000):
                    answer = await server.call("session/echo", {"columns": columns(count)})
                    self.assertEqual(geomodel.decode_column(answer["columns"]["x"]), list(range(count)))
                    self.assertEqual(answer["columns"], columns(count))
                log = (await server.call("test/log"))["log"]
                self.assertEqual(log[0]["params"].get("attachments", False), framing == "headers")
                sent = [m["params"]["columns"]["x"]["data"] for m in log if m["method"] == "session/echo"]
                self.assertEqual([type(data) for data in sent], [str, *[dict if attaches else str] * 2], (command, framing))

    async def test_many_large_calls_at_once_get_their_own_answers(self) -> None:
        async with geomodel.launch(ATTACHING) as server:
            answers = await asyncio.gather(*(server.call("session/echo", columns(50_000 + n)) for n in range(8)))
        self.assertEqual([len(answer["x"].buffer) // 8 for answer in answers], [50_000 + n for n in range(8)])

    async def test_a_column_of_bytes_that_are_not_attached_ends_the_session(self) -> None:
        async with geomodel.launch(ATTACHING) as server:
            with self.assertRaisesRegex(geomodel.ProtocolError, "did not attach"):
                await server.call("test/misplace")

    async def test_what_a_cancelled_call_has_not_sent_yet_is_kept_as_it_was(self) -> None:
        async with geomodel.launch(ATTACHING) as server:
            await server.call("test/stopReading")
            values = bytearray(8 << 20)
            params = {"column": PackedColumn("int64", values)}
            call = asyncio.ensure_future(server.call("session/echo", params))
            output = server._connection._process._input
            while not output._size:
                await asyncio.sleep(0)
            with mock.patch.object(server._connection._replies, "_send") as send:
                call.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await call
            self.assertEqual(send.call_args.args[0]["method"], "$/cancelRequest")
            values[:] = b"x" * len(values)
            os.kill(server.pid, signal.SIGUSR1)
            found: list[Any] = []
            server._connection._replies._orphans = {id: found.append for id in server._connection._replies._orphans}
            await server.session.echo(value="after it")
            self.assertEqual(bytes(loads(dumps(found[0]))["column"]["data"][:4], "ascii"), b"AAAA")
            self.assertFalse(any(found[0]["column"].buffer))

    async def test_a_server_that_ends_amid_a_large_message_is_reported(self) -> None:
        async with geomodel.launch(ATTACHING) as server:
            await server.call("test/stopReading")
            call = asyncio.ensure_future(server.call("session/echo", columns(1_000_000)))
            while not server._connection._process._input._size:
                await asyncio.sleep(0)
            os.kill(server.pid, signal.SIGKILL)
            with self.assertRaises(geomodel.ServerDiedError):
                await call


@unittest.skipIf(SERVER is None or numpy is None, "no server, or no numpy")
class RealAttachmentTests(unittest.TestCase):
    def test_results_are_the_same_with_and_without_attachments(self) -> None:
        x, y = numpy.linspace(-170, 170, 5000), numpy.linspace(-80, 80, 5000)
        answers: list[Any] = []
        for framing in ("headers", "lines"):
            with geomodel.launch_sync(SERVER, framing=framing) as server:
                points = {"x": x, "y": y}
                answer = server.geometry.project(columns=points, spatial_reference="EPSG:4326", out_spatial_reference="EPSG:3857")
                # What came may be sent again.
                back = server.geometry.project(
                    columns=answer["columns"], spatial_reference="EPSG:3857", out_spatial_reference="EPSG:4326"
                )
                self.assertTrue(numpy.allclose(numpy.asarray(back["columns"]["x"]), x))
                answers.append(answer)
                if shapely is not None:
                    circles = server.geometry.buffer(geometries=list(shapely.points(x, y)), distance=1.0, spatial_reference="EPSG:3857")
                    answers[-1] = {**answer, "area": sum(circle.area for circle in circles["geometries"])}
        self.assertEqual(*answers)

    def test_parts_and_attributes_come_as_bytes(self) -> None:
        with geomodel.launch_sync(SERVER) as server:
            server.map.create(id="m")
            points = {"x": numpy.arange(3000) % 90, "y": numpy.zeros(3000), "attributes": {"n": numpy.arange(3000)}}
            server.source.open_inline(id="s", columns=points)
            server.layer.add(map="m", source="s", id="l")
            server.layer.load(layer="l")
            with server.parts("feature/query", {"layer": "l", "format": "columns"}) as parts:
                found = [numpy.asarray(part["columns"]["attributes"]["n"]) for part in parts]
            self.assertEqual(numpy.concatenate(found).tolist(), list(range(3000)))


if __name__ == "__main__":
    unittest.main()
