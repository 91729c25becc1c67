"""What a broken server may write, cut anywhere: each call ends with an exception of the package, and nothing is left behind."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import FAKE

import geomodel
from geomodel._direct import DirectServer
from geomodel._generated import PROTOCOL_VERSION

# Answers `initialize` with its first argument, waits until there have been so many messages, writes the second, and ends.
PLAYER = """
import base64, os, sys
def until(count):
    while count > 0:
        data = os.read(0, 65536)
        count = count - data.count(b"Content-Length:") if data else 0
until(1)
for text, count in ((sys.argv[1], int(sys.argv[3])), (sys.argv[2], 0)):
    data = base64.b64decode(text)
    while data:
        data = data[os.write(1, data):]
    until(count)
"""
BEGUN = {"protocolVersion": PROTOCOL_VERSION, "serverInfo": {}, "capabilities": {"attachments": True}}


def frame(message: Any, attached: bytes = b"") -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    more = b"Attachment-Length: %d\r\n" % len(attached) if attached else b""
    return b"Content-Length: %d\r\n%b\r\n%b%b" % (len(body) + len(attached), more, body, attached)


def answer(number: int, result: Any, attached: bytes = b"") -> bytes:
    return frame({"id": number, "result": result}, attached)


def notification(method: str, params: Any) -> bytes:
    return frame({"method": method, "params": params})


def player(first: bytes, then: bytes = b"", count: int = 0) -> list[str]:
    return [sys.executable, "-S", "-c", PLAYER, base64.b64encode(first).decode(), base64.b64encode(then).decode(), str(count)]


COLUMN = {"type": "float64", "data": {"offset": 0, "length": 16}}
# The answers to the calls of `outcomes`, and what a server says unasked.
PIECES = [
    notification("$/progress", {"token": "progress-1", "value": {"features": [1]}}),
    answer(2, {"subscription": "s1", "revision": 7, "snapshot": [{"path": "/a", "value": 0}]}),
    notification("state/changed", {"subscription": "s1", "base": 7, "revision": 8, "changes": [{"op": "replace", "path": "/a", "value": 1}]}),
    answer(3, {"subscription": "s2", "status": {}}),
    notification("geotrigger/events", {"subscription": "s2", "events": [{"n": 1}], "missed": 0}),
    answer(5, {"features": []}),
    answer(4, {"column": COLUMN}, bytes(16)),
]
SESSION = b"".join(PIECES)


async def outcomes(command: list[str]) -> list[Any]:
    """How calls of each kind end, of a server that writes what it is to."""

    async def observed(opening: Any) -> Any:
        async with opening as subscription:
            return [item async for item in subscription]

    async def parts(server: geomodel.Server) -> Any:
        return [part async for part in server.parts("feature/query", {"layer": "l1"})]

    try:
        async with geomodel.launch(command) as server:
            calls = observed(server.observe("/a")), observed(server.observe_geotrigger("g")), parts(server), server.call("feature/query")
            ended = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20)
            for result in ended:
                repr(result)
            return ended
    except geomodel.Error as error:
        return [error]


class MisfitTests(unittest.IsolatedAsyncioTestCase):
    def left(self) -> list[int]:
        """The numbers of open files, threads and children, those of other tests among them."""
        children = [file.read_text().split() for file in Path("/proc/self/task").glob("*/children")]
        return [len(os.listdir("/proc/self/fd")), threading.active_count(), sum(map(len, children))]

    def has_more_than(self, before: list[int]) -> bool:
        return any(now > then for now, then in zip(self.left(), before))

    @unittest.skipUnless(sys.platform == "linux", "/proc of Linux")
    async def test_a_session_that_is_cut_anywhere_ends_all_calls_and_leaves_nothing(self) -> None:
        first = answer(1, BEGUN)
        commands = [player(first[:at]) for at in range(0, len(first), 20)]
        commands += [player(first, SESSION[:at], 5) for at in range(0, len(SESSION) + 1, 17)]
        await outcomes(commands[0])
        before = self.left()
        turn = asyncio.Semaphore(4)

        async def checked(command: list[str]) -> None:
            async with turn:
                for outcome in await outcomes(command):
                    if isinstance(outcome, BaseException):
                        self.assertIsInstance(outcome, geomodel.Error)

        with self.assertNoLogs("geomodel", "WARNING"), self.assertNoLogs("asyncio", "ERROR"):
            await asyncio.gather(*map(checked, commands))

        async def cleared() -> None:
            # A thread of asyncio may be about to end.
            while self.has_more_than(before):
                await asyncio.sleep(0)

        await asyncio.wait_for(cleared(), 20)

    async def test_what_does_not_fit_is_a_protocol_error(self) -> None:
        wrong = {
            "an id that is no number": frame({"id": [1], "result": 0}),
            "an unknown id": answer(77, 0),
            "a second answer": answer(5, 0) * 2,
            "a report that is no object": notification("$/progress", {"token": "progress-1", "value": 5}),
            "params that are no object": notification("any", [1]),
            "bytes that are not attached": answer(5, {"column": {**COLUMN, "data": {"offset": 8, "length": 16}}}, bytes(16)),
            "numbers that are cut": answer(5, {"column": {**COLUMN, "data": {"offset": 0, "length": 9}}}, bytes(16)),
            "geometries whose offsets are none": answer(5, {"column": {**COLUMN, "type": "WKB", "offsets": 5}}, bytes(16)),
            "more attachments than bytes": b"Content-Length: 2\r\nAttachment-Length: 3\r\n\r\n{}{",
            "a length beyond all memory": b"Content-Length: 999999999999999\r\n\r\n",
            "no length": b"Content-Type: x\r\n\r\n",
            "half a text": b"Content-Length: 1\r\n\r\n{",
        }
        for name, data in wrong.items():
            with self.subTest(name), self.assertNoLogs("geomodel", "WARNING"):
                found = await outcomes(player(answer(1, BEGUN), data, 5))
                self.assertEqual({type(each) for each in found if isinstance(each, BaseException)}, {geomodel.ProtocolError})
        for result in (5, {}, {**BEGUN, "capabilities": []}, {**BEGUN, "serverInfo": 1}):
            with self.subTest(result), self.assertRaises(geomodel.ProtocolError):
                await geomodel.launch(player(answer(1, result)))

    async def test_a_subscription_that_does_not_fit_fails_alone(self) -> None:
        for result in (None, {}, {"subscription": {}}, {"subscription": "s1", "revision": 7, "snapshot": 5}):
            data = b"".join([PIECES[0], answer(2, result), *PIECES[3:]])
            with self.subTest(result):
                state, fence, parts, columns = await outcomes(player(answer(1, BEGUN), data, 5))
                self.assertIsInstance(state, geomodel.ProtocolError)
                self.assertEqual((parts, geomodel.decode_column(columns["column"])), ([{"features": [1]}], [0.0, 0.0]))
                self.assertIsInstance(fence, geomodel.ServerDiedError)

    async def test_a_notification_that_does_not_fit_ends_its_subscription_alone(self) -> None:
        data = SESSION.replace(b'"events"', b'"evants"').replace(b'"changes"', b'"chances"')
        state, fence, parts, columns = await outcomes(player(answer(1, BEGUN), data, 5))
        self.assertIsInstance(state, geomodel.ProtocolError)
        self.assertIsInstance(fence, geomodel.ProtocolError)
        self.assertEqual((parts, geomodel.decode_column(columns["column"])), ([{"features": [1]}], [0.0, 0.0]))

    async def test_who_kills_a_server_leaves_its_exit_status_to_the_loop(self) -> None:
        server = await geomodel.launch(FAKE)
        with mock.patch.object(subprocess.Popen, "poll", side_effect=AssertionError("takes the status")):
            server._connection.kill()
            await server.close()
        self.assertEqual(server.exit_status, -9)

    def test_columns_that_are_none(self) -> None:
        for column in (5, {"type": "int64", "data": 5}, {"type": "int64", "data": "A"}, {"type": "WKB", "data": "AAAA", "offsets": [0, "1"]}):
            with self.subTest(column), self.assertRaises(geomodel.ProtocolError):
                geomodel.decode_column(column)

    @unittest.skipUnless(sys.platform == "linux", "/proc of Linux")
    def test_the_server_of_the_shell_says_so_too_and_leaves_nothing(self) -> None:
        before = self.left()
        for data in (b"", answer(2, 0)[:-1], b"Content-Length: 1\r\n\r\n{", b"Content-Length: 2\r\n\r\n[[", b"Content-Length: 1\r\n\r\n\xff",
                     b"Content-Length: 1\r\n\r\n5", notification("$/progress", {}), notification("$/progress", 5)):  # fmt: skip
            with self.subTest(data), self.assertRaises((geomodel.ProtocolError, geomodel.ServerDiedError)):
                with DirectServer(player(answer(1, BEGUN), data, 2), client_name="test") as server:
                    server.call("session/echo", {})
        self.assertFalse(self.has_more_than(before))


if __name__ == "__main__":
    unittest.main()
