"""What the server writes with `--trace-file` is a case that it passes, whatever was said in the session."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
import os
import random
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable

import support
from support import SERVER, needs_server
from test_feeds import FIX, observation, sentence

import geomodel
from geomodel._generated import types
from geomodel.conformance.__main__ import main as conformance
from geomodel.conformance.runner import Case, Runner

CAP = 40_000  # Bytes of a message.
POINT = {"type": "Point", "coordinates": [1, 2]}


def call(method: str, params: Any = None, **members: Any) -> bytes:
    message = {"jsonrpc": "2.0", **members, "method": method, **({} if params is None else {"params": params})}
    return json.dumps(message).encode()


INITIALIZE = call("initialize", {"protocolVersions": [types.PROTOCOL_VERSION]}, id=0)
# Whose answers depend on nothing but what came before them.
STEADY = [
    call("rpc.discover", id="d"), call("session/describe", id=2**63 - 1), call("session/status", id=-(2**63)),
    call("clock/get", id="clock"), call("task/list", id="t"), call("none/such", id="\u0000"), call("none/such"),
    call("session/echo", {"$ref": "#/x", "a": {"$any": True, "$literal": [{"$bind": 1}]}, "$repeat": 2}, id="$ref"),
    call("session/echo", {"v": "${tmp} ${fixtures} ${NONE} $", "w": ["\u0000", "\u2028\r\n", "\ud83d\ude00"]}, id="${tmp}"),
    b'{"jsonrpc":"2.0","id":"\\u0024{tmp}","method":"session/echo","params":{"\\u0024ref":"\\u0024{tmp}"}}',
    b'{"jsonrpc":"2.0","id":-0,"method":"session/echo","params":{"v":[1e308,-0,-0.0,1E2,1.0,1,0.1000000000000000055,1e-400,'
    b"9223372036854775807,-9223372036854775808,9007199254740993,123456789012345678901.0]}}",
    b' {"id" : 7 ,\t"method":"session/echo", "jsonrpc":"2.0",\r "params":{"b":1,"a":{"d":1,"c":2}}, "more":1}',
    b'{"method":"session/echo","id":8}', b'{"jsonrpc":"1.0","method":"session/echo","id":8}', b'{"method":"session/echo"}',
    b'{"jsonrpc":2,"method":"session/echo","id":8}', b'{"jsonrpc":"2.0","id":8}', b'{"jsonrpc":"2.0","id":8,"result":{}}',
    b'{"jsonrpc":"2.0","id":null,"method":"session/echo"}', b'{"jsonrpc":"2.0","id":1.0,"method":"session/echo"}',
    b'{"jsonrpc":"2.0","id":{"$ref":"a"},"method":"session/echo"}', b'{"jsonrpc":"2.0","id":9,"method":"session/echo","params":3}',
    b"{}", b"[]", b"[1,[]]", b'[{"method":"session/echo","id":1}]', b'[[{"method":"session/echo","id":1}]]',
    b"[" + call("session/echo", id=1) + b"," + call("session/echo", id="1") + b',{"$ref":"a"},' + call("exit/not") + b"]",
    b"{", b'{"a":1,"a":2}', b'{"${tmp}":"${tmp}"', b'{"jsonrpc":"2.0","id":1,"method":"session/echo","params":{"v":1e999}}',
    b'{"v":"\xff\xfe ${tmp}"}', b'{"v":"\\ud800"}', b'{"v":"\x00"}', b'{"v":99999999999999999999}', b'{"\\u0000":1}', b"{\x80",
    # Python 3.12 reads no more than 1,500 levels, whatever its limit is.
    b'{"jsonrpc":"2.0","id":1,"method":"session/echo","params":{"v":' + b"[" * 1400 + b"]" * 1400 + b"}}",
    b"[" * 3000 + b"]" * 3000, call("session/echo", {"v": "x" * (CAP - 100)}, id="long"), b"{" + b'"$ref' * CAP,
    call("overlay/create", {"id": "o", "view": "v"}, id=1), call("overlay/close", {"overlay": "o"}, id=1),
    call("overlay/addGraphics", {"overlay": "o", "graphics": [{"geometry": POINT, "attributes": {"$ref": "a", "$": "${tmp}"}}]}, id=1),
    call("overlay/get", {"overlay": "o"}, id="get"), call("feature/query", {"overlay": "o"}, id="query"),
    call("state/observe", {"paths": ["/overlays/*", "/views/*"]}, id="observe"), call("state/get", {"path": "/overlays"}, id="g"),
    call("map/create", {"id": "m", "title": "${tmp}"}, id=1), call("$/setTrace", {"value": "messages"}), call("edit/undo", id=1), call("edit/redo", id=1),
    call("$/setTrace", {"value": "verbose"}), call("$/cancelRequest", {"id": "none"}), call("$/setTrace", {"value": "off"}),
    call("model/apply", {"commands": [{"method": "map/create", "params": {"id": "m"}}] * 2}, id="twice"),
]  # fmt: skip
# A flight in manual time ends when it is cancelled, when its id is wanted again, or with the session.
VIEW = [
    call("clock/set", {"mode": "manual"}, id=1), call("map/create", {"id": "vm"}, id=1),
    call("view/create", {"id": "v", "map": "vm", "width": 100, "height": 100}, id=1),
]  # fmt: skip
FLIGHT = [
    call("view/animateViewpoint", {"view": "v", "viewpoint": {"type": "scale", "targetScale": 10}, "duration": 60}, id="f"),
    call("$/cancelRequest", {"id": "f"}),
    b"[" + call("view/animateViewpoint", {"view": "v", "viewpoint": {"type": "scale", "targetScale": 9}, "duration": 60}, id="b")
    + b"," + call("session/echo", id=5) + b"]", call("$/cancelRequest", {"id": "b"}),
    # Comes last: what is cancelled while it waits for an advance is cancelled at another moment in the replay.
    call("clock/advance", {"seconds": 0.1}, id=3),
]  # fmt: skip


def framed(body: bytes, headers: bool, rng: random.Random) -> bytes:
    if not headers:
        return body.replace(b"\n", b" ") + rng.choice([b"\n", b"\n", b"\r\n", b"\n \n"])
    head = rng.choice([b"Content-Length: %d\r\n\r\n", b"content-length:%d\n\n", b"X: ${tmp}\r\nCONTENT-LENGTH : %d\r\n\r\n"])
    return rng.choice([b"", b"", b" \r\n"]) + head % len(body) + body


def session(rng: random.Random, headers: bool) -> bytes:
    said = [INITIALIZE, call("initialized", {})] if rng.random() < 0.9 else []
    said += VIEW + sorted(rng.choices(STEADY + FLIGHT, k=40), key=FLIGHT[-1].__eq__) if rng.random() < 0.5 else rng.choices(STEADY, k=40)
    said += rng.choice([[], [call("exit")], [call("shutdown", id="end"), call("session/echo", id=2), call("exit"), b"{}"]])
    stream = b"".join(framed(body, headers, rng) for body in said)
    whole = framed(INITIALIZE, headers, rng)
    ends = [b"", whole[: len(whole) // 2], whole.rstrip(), b"\xff\x00 ${tmp}\n", b"{\xff", b"[" * 50_000]
    ends += [b"A: b\r\nContent-Length: x\xff\r\n\r\n{}", b"Content-Length: 50000\r\n\r\n{", b"A: " + b"b" * 9000] if headers else []
    return stream + rng.choice(ends)


@needs_server
class TraceTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = Path(folder.name) / "trace.jsonl"

    def record(self, said: bytes, rng: random.Random, *flags: str) -> None:
        """Says it to a server, in pieces of any size, and reads what it answers to the end."""
        command = [str(SERVER), "--trace-file", str(self.trace), *flags]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdin is not None and server.stdout is not None
            reader = threading.Thread(target=server.stdout.read)
            reader.start()
            with contextlib.suppress(BrokenPipeError):
                while said:
                    size = rng.randint(1, rng.choice([10, 1000, 100_000]))
                    os.write(server.stdin.fileno(), said[:size])
                    said = said[size:]
            with contextlib.suppress(BrokenPipeError):
                server.stdin.close()
            reader.join()

    def replay(self) -> list[dict[str, Any]]:
        """The trace's lines, once it has passed as a case."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = conformance(["--timeout", "60", str(self.trace), "--", str(SERVER)])
        text = self.trace.read_text(encoding="utf-8")
        self.assertEqual(status, 0, f"{out.getvalue()}\n{text[:2000]}\n...\n{text[-2000:]}")
        return [json.loads(line) for line in text.split("\n") if line]

    def test_random_sessions(self) -> None:
        for seed in range(60):
            rng = random.Random(seed)
            with self.subTest(seed=seed), support.deep_recursion():
                self.record(session(rng, seed % 2 == 0), rng, "--max-message-bytes", str(CAP))
                self.replay()

    def test_everything_once_in_both_framings(self) -> None:
        for headers in (True, False):
            rng = random.Random(headers)
            said = [INITIALIZE, call("initialized", {}), *VIEW, *STEADY, *FLIGHT, call("shutdown", id="e"), call("exit")]
            with self.subTest(headers=headers), support.deep_recursion():
                self.record(b"".join(framed(body, headers, rng) for body in said), rng, "--max-message-bytes", str(CAP))
                lines = self.replay()
                self.assertEqual(lines[0]["framing"], "headers" if headers else "lines")
                *flags, start = lines[0]["args"]
                self.assertEqual(flags, ["--max-message-bytes", str(CAP), "--replay-from"])
                self.assertLess(0, int(start))
                self.assertEqual(lines[-1], {"expectExit": 0})
                steps = {name for line in lines[1:] for name in line}
                # "late" only where the machine was.
                self.assertEqual(steps - {"late"}, {"send", "sendText", "sendRaw", "expect", "note", "expectExit"})

    def test_the_traces_of_cases(self) -> None:
        folder = support.ROOT / "Protocol" / "conformance" / "session"
        for path, framing in itertools.product(sorted(folder.glob("*.jsonl")), ("headers", "lines")):
            with self.subTest(path.stem, framing=framing), tempfile.TemporaryDirectory() as tmp, support.deep_recursion():
                command = [str(SERVER), "--trace-file", str(self.trace)]
                Runner(Case(path), command, framing, support.ROOT / "Tests" / "Fixtures", Path(tmp).resolve(), 60).run()
                self.replay()

    def test_a_cancel_that_overtakes_a_large_message_stands_where_it_acts(self) -> None:
        large = call("session/echo", {"v": "x" * (4 << 20)}, id="large")
        said = [INITIALIZE, call("initialized", {}), *VIEW, FLIGHT[0], large, call("session/echo", id="next"),
                call("$/cancelRequest", {"id": "f"}), call("$/cancelRequest", {"id": "next"})]  # fmt: skip
        self.record(b"".join(body + b"\n" for body in said), random.Random(1))
        self.replay()

    def test_answers_to_work_may_come_in_any_order(self) -> None:
        async def work() -> None:
            async with geomodel.launch(str(SERVER), trace_file=self.trace) as server:
                await server.source.open(path=support.ROOT / "Tests" / "Fixtures" / "naturalearth_110m.gpkg", id="w")
                await server.map.create(id="m")
                await server.layer.add(map="m", source="w", source_layer="countries", id="l")
                load = server.options(progress=lambda value: None).layer.load(layer="l")
                await asyncio.gather(load, *(server.session.echo(value=n) for n in range(3)))

        asyncio.run(work())
        lines = self.replay()
        # It is found as well where it stands before what came before it.
        late = next(line for line in lines if "late" in line and "featureCount" in line["expect"]["result"])
        sent = next(index for index, line in enumerate(lines) if line.get("send", {}).get("method") == "layer/load")
        lines.remove(late)
        lines.insert(next(index for index in range(sent, len(lines)) if "expect" in lines[index]), late)
        self.trace.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.replay()

    def test_a_session_in_real_time_replays_at_once_to_the_same_notifications(self) -> None:
        line = {"type": "LineString", "coordinates": [[0, 0], [1, 0]]}
        far: Any = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 50]}, "targetScale": 1e5}
        with geomodel.launch_sync([str(SERVER), "--trace-file", str(self.trace)]) as server:
            server.map.create(id="m")
            server.view.create(id="v", map="m")
            server.location.create_simulated(id="d", line=line, velocity=100, interval=0.1)
            server.view.set_location_display(view="v", source="d", auto_pan_mode="recenter", wander_extent_factor=0)
            server.view.create(id="w", map="m")
            with server.observe(["/views/*/*", "/locationSources/d/*"]):
                server.location.start(location_source="d")
                server.view.animate_viewpoint(view="w", viewpoint=far, duration=0.5)
                server.location.stop(location_source="d")
                before = server.clock.get()["now"]
                server.clock.set(mode="manual")
                server.clock.advance(seconds=2)
                server.clock.set(mode="real", factor=10)
                server.view.animate_viewpoint(view="v", viewpoint=far, duration=1)
        lines = self.replay()
        steps = [line for line in lines if line.get("send", {}).get("method") == "clock/advance"]
        self.assertGreater(len(steps), 10, "each tick is a step")
        answers = [line["expect"].get("result") or {} for line in lines if "expect" in line]
        self.assertIn(before, [answer.get("now") for answer in answers], "the time of day is that of the session")

    def test_a_session_with_feeds_replays_without_them(self) -> None:
        folder = self.trace.parent
        buses, gps = folder / "buses.ndjson", folder / "gps"
        buses.write_text(observation("a", 1, 0) + observation("${tmp}", 2, 0))
        os.mkfifo(gps)
        fields: Any = [{"name": "id", "type": "string"}, {"name": "time", "type": "dateTime"}]
        with geomodel.launch_sync([str(SERVER), "--trace-file", str(self.trace)], root_path=folder) as server:

            def until(read: Callable[..., Any], holds: Callable[[Any], bool], **which: str) -> None:
                end = time.monotonic() + 10
                while not holds(value := read(**which)):
                    self.assertLess(time.monotonic(), end, f"still {value}")
                    time.sleep(0.01)

            server.location.create_nmea(id="gps")
            server.location.follow(location_source="gps", path="gps")
            server.entity.create(id="buses", fields=fields, track_id_field="id", time_field="time")
            server.entity.follow(entity_source="buses", path="buses.ndjson")
            server.entity.observe(entity_source="buses", notices="every")
            with server.observe(["/locationSources/gps/*", "/entitySources/buses/*"]):
                server.entity.connect(entity_source="buses")
                server.location.start(location_source="gps")
                until(server.entity.get, lambda it: it["observationCount"] == 2, entity_source="buses")
                # Chunks while the clock is manual, and one that comes while it is advanced, which is taken behind it.
                server.clock.set(mode="manual")
                with gps.open("w") as out:
                    out.write(sentence(FIX.format("000001")) + "$GPGGA,broken*00\r\n" + sentence(FIX.format("000002")))
                    out.flush()
                    until(server.location.get, lambda it: "location" in it, location_source="gps")
                    out.write(sentence(FIX.format("000003")))
                    out.flush()
                    server.clock.advance(seconds=3000)
                until(server.location.get, lambda it: it["status"]["type"] == "stopped", location_source="gps")
                server.clock.set(mode="real")
                with buses.open("a") as out:
                    out.write(observation("a", 3, 1) + "[]\n" + '{"type": "Feature", "geometry": 7}\n')
                until(server.entity.get, lambda it: it["counts"].get("badLines") == 2, entity_source="buses")
                # Lost, opened again, and then lost for good.
                buses.write_text("")
                until(server.entity.get, lambda it: it["status"]["type"] == "connected", entity_source="buses")
                with buses.open("a") as out:
                    out.write(observation("c", 3, 2))
                until(server.entity.get, lambda it: it["entityCount"] == 3, entity_source="buses")
                os.remove(buses)
                server.entity.follow(entity_source="buses", path="buses.ndjson")
                server.entity.connect(entity_source="buses")
                until(server.entity.get, lambda it: it["status"].get("attempt") == 3, entity_source="buses")
        os.remove(gps)
        lines = self.replay()
        events = [line["send"]["params"]["event"] for line in lines if line.get("send", {}).get("method") == "session/replayFeed"]
        self.assertEqual({event["type"] for event in events if "type" in event}, {"opened", "chunk", "ended"})

    def test_steps_of_real_time_stand_in_no_message_that_is_skipped(self) -> None:
        command = [str(SERVER), "--trace-file", str(self.trace), "--max-message-bytes", "1000"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None and server.stdout is not None

            def say(data: bytes, until: bytes) -> None:
                assert server.stdin is not None and server.stdout is not None
                server.stdin.write(data)
                server.stdin.flush()
                while until not in server.stdout.readline():
                    pass

            far = {"type": "centerAndScale", "center": POINT, "targetScale": 1e5}
            say(INITIALIZE + b"\n", b'"id":0,')
            server.stdin.write(call("initialized", {}) + b"\n")
            say(call("map/create", {"id": "m"}, id=1) + b"\n", b'"id":1,')
            say(call("view/create", {"id": "v", "map": "m"}, id=2) + b"\n", b'"id":2,')
            say(call("view/observeViewpoint", {"view": "v"}, id=3) + b"\n", b'"id":3,')
            server.stdin.write(call("view/animateViewpoint", {"view": "v", "viewpoint": far, "duration": 60, "rate": 240}, id=4) + b"\n")
            for number in range(5):
                # It is refused before it ends, and ticks are due before that.
                say(call("session/echo", {"v": "x" * 2000}, id=f"long{number}")[:-2], f'"long{number}"'.encode())
                server.stdin.write(b"x" * 10_000_000)
                say(b'"}\n', b"viewpointChanged")
            server.stdin.close()
            server.stdout.read()
        self.replay()

    def test_a_session_that_is_cut_short_stops_there(self) -> None:
        command = [str(SERVER), "--trace-file", str(self.trace)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write(b"".join(body + b"\n" for body in [INITIALIZE, call("initialized", {}), *VIEW, FLIGHT[0], STEADY[5]]))
            server.stdin.flush()
            while b"unknownMethod" not in server.stdout.readline():
                pass
            server.terminate()
            # Leaving the block would close the input first.
            server.wait()
        self.assertEqual(self.replay()[-1], {"stop": True})


if __name__ == "__main__":
    unittest.main()
