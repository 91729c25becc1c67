"""Several clients on one model: a server that is attached to, shared history, roles, ends of all kinds."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, AsyncIterator

from support import real_server

import geomodel
from geomodel.errors import ClosedError, GeoModelError, ServerDiedError

SERVER = real_server()
POINT = {"type": "Point", "coordinates": [7.4, 46.9]}


async def until_alone(client: Any) -> None:
    """Waits until all other clients have left. It polls, as it is the list that has to be right, not what is sent of it."""
    while len((await client.client.list())["clients"]) > 1:
        await asyncio.sleep(0.01)


class Raw:
    """A connection to the socket without any client: lines of JSON."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.settimeout(30)
        self.file = self.socket.makefile("rwb")

    def call(self, method: str, params: dict[str, Any] | None = None, id: int = 1) -> Any:
        self.send(method, params, id)
        while True:
            message = json.loads(self.file.readline())
            if message.get("id") == id:
                return message.get("result", message.get("error"))

    def send(self, method: str, params: dict[str, Any] | None = None, id: int = 1) -> None:
        self.file.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + b"\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class WebSocket:
    """A web socket as a page has it, of RFC 6455 only what the tests need."""

    def __init__(self, port: int, path: str, **headers: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        fields = {
            "Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), **headers,
        }
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n".encode() + b"".join(f"{k}: {v}\r\n".encode() for k, v in fields.items()) + b"\r\n")
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, data: bytes, opcode: int = 1, final: bool = True) -> None:
        mask = os.urandom(4)
        size = len(data)
        length = bytes([size | 0x80]) if size < 126 else b"\xfe" + size.to_bytes(2, "big") if size < 65536 else b"\xff" + size.to_bytes(8, "big")
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        self.socket.sendall(bytes([opcode | (0x80 if final else 0)]) + length + mask + masked)

    def receive(self) -> tuple[int, bytes]:
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                return 8, b""
            size = head[1] & 0x7F
            if size > 125:
                size = int.from_bytes(self.file.read(2 if size == 126 else 8), "big")
            data = self.file.read(size)
            if head[0] & 0xF != 10:
                return head[0] & 0xF, data

    def call(self, method: str, params: dict[str, Any] | None = None, id: int = 1) -> Any:
        self.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}, indent=1).encode())
        while True:
            message = json.loads(self.receive()[1])
            if message.get("id") == id:
                return message.get("result", message.get("error"))

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@unittest.skipUnless(SERVER, "no built server: swift build, or set GEOMODEL_SERVER")
class SharingTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        # The address of a socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="gm", dir="/tmp"))
        self.env = {
            "XDG_RUNTIME_DIR": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state"), "TMPDIR": str(self.folder / "tmp"),
        }
        (self.folder / "tmp").mkdir()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.stop_all)

    def run_server(self, *flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SERVER), *flags], env={**os.environ, **self.env}, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL
        )

    def servers(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run_server("--list", "--json").stdout.splitlines()]

    def stop_all(self) -> None:
        for server in self.servers():
            # A server that cannot keep its model ends at the second signal.
            if self.run_server("--stop", server["name"]).returncode == 75:
                self.run_server("--stop", server["name"])

    @contextlib.asynccontextmanager
    async def attached(self, count: int, *args: str, **options: Any) -> AsyncIterator[list[Any]]:
        clients = []
        try:
            for index in range(count):
                clients.append(
                    await geomodel.launch(
                        [str(SERVER), "--attach", "t", *args], env=self.env, client_name=f"client-{index}", **options
                    )
                )
            yield clients
        finally:
            for client in clients:
                with contextlib.suppress(GeoModelError):
                    await client.close()

    def socket_path(self) -> Path:
        return self.folder / "geomodel-server" / "t.sock"

    # Who is there

    async def test_clients_see_who_joins_changes_and_leaves(self) -> None:
        async with self.attached(1) as [first]:
            async with first.observe("/clients") as seen:
                self.assertEqual(list(seen.state["clients"]), ["c1"])
                async with self.attached(1) as [second]:
                    await self.until(seen, lambda state: len(state["clients"]) == 2)
                    self.assertEqual(seen.state["clients"]["c2"]["name"], "client-0")
                    made = await second.map.create(id="m", meta={"origin": "panel"})
                    self.assertEqual(made["map"], "m")
                    await second.client.update(cursor=[7, 46])
                    await self.until(seen, lambda state: state["clients"]["c2"].get("cursor") == [7, 46])
                await self.until(seen, lambda state: list(state["clients"]) == ["c1"])
            listed = self.servers()
            self.assertEqual([server["name"] for server in listed], ["t"])
            self.assertTrue(listed[0]["isModified"])

    async def until(self, seen: Any, condition: Any) -> None:
        async def wait() -> None:
            async for _ in seen:
                if condition(seen.state):
                    return

        if not condition(seen.state):
            await asyncio.wait_for(wait(), 30)

    async def test_changes_name_the_client(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m")
            async with first.observe("/maps/m/title") as seen:
                await second.map.update(map="m", title="B", meta={"origin": "panel"})
                async for delta in seen:
                    self.assertEqual(delta.origins[0], {"type": "client", "name": "panel", "id": "c2"})
                    break

    async def test_the_folder_of_a_client_is_its_own(self) -> None:
        here, there = self.folder / "here", self.folder / "there"
        for folder, name in ((here, "A"), (there, "B")):
            folder.mkdir()
            text = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"n": name}, "geometry": POINT}]}
            (folder / "x.geojson").write_text(json.dumps(text))
        async with self.attached(1, cwd=here) as [first], self.attached(1, cwd=there) as [second]:
            self.assertEqual((await first.source.open(id="a", path="x.geojson"))["path"], str(here / "x.geojson"))
            self.assertEqual((await second.source.open(id="b", path="x.geojson"))["path"], str(there / "x.geojson"))

    async def test_a_reader_changes_nothing(self) -> None:
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await writer.map.create(id="m")
            with self.assertRaises(GeoModelError) as refused:
                await reader.map.update(map="m", title="B")
            self.assertEqual(refused.exception.kind, "readOnlyClient")
            self.assertEqual((await reader.map.get(map="m"))["map"], "m")
            self.assertTrue((await reader.client.update(cursor=[0, 0]))["isReadOnly"])

    async def test_a_reader_neither_saves_nor_opens_documents(self) -> None:
        mine, other = self.folder / "mine.json", self.folder / "other.json"
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await writer.map.create(id="m", title="saved")
            await writer.document.save_as(path=str(mine))
            await writer.map.update(map="m", title="unsaved")
            documents = reader.document
            for refusal in (
                documents.save(), documents.save_as(path=str(other)), documents.revert(), documents.new(), documents.open(path=str(mine)),
            ):
                with self.assertRaises(GeoModelError) as refused:
                    await refusal
                self.assertEqual(refused.exception.kind, "readOnlyClient")
                document = await writer.document.get()
                self.assertEqual((document["path"], document["isModified"]), (str(mine), True))
                self.assertEqual([map["title"] for map in (await writer.map.list())["maps"]], ["unsaved"])
            self.assertIn("saved", mine.read_text())
            self.assertNotIn("unsaved", mine.read_text())
            self.assertFalse(other.exists())

    async def test_a_reader_writes_no_files(self) -> None:
        out = self.folder / "out"
        out.mkdir()
        async with self.attached(1) as [writer], self.attached(1, "--read-only") as [reader]:
            await self.overlays(writer)
            await writer.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT}])
            await writer.location.create_external(id="gps")
            fields = [{"name": "id", "type": "string"}, {"name": "at", "type": "string"}]
            await writer.entity.create(id="fleet", fields=fields, track_id_field="id", time_field="at")
            for refusal in (
                reader.location.record(location_source="gps", path=str(out / "a.gpx")),
                reader.entity.record(entity_source="fleet", path=str(out / "a.csv")),
                reader.feature.export(overlay="o", path=str(out / "a.geojson")),
                reader.feature.export(overlay="o", path=str(out / "a.gpkg")),
                reader.package.export(path=str(out / "a.gmpk")),
            ):
                with self.assertRaises(GeoModelError) as refused:
                    await refusal
                self.assertEqual(refused.exception.kind, "readOnlyClient", refused.exception)
            self.assertEqual(list(out.iterdir()), [])
            await writer.feature.export(overlay="o", path=str(out / "a.geojson"))

    # History

    async def overlays(self, client: Any) -> None:
        await client.map.create(id="m")
        await client.view.create(id="v", map="m")
        await client.overlay.create(id="o", view="v")

    async def test_a_client_undoes_its_own_steps(self) -> None:
        async with self.attached(2) as [first, second]:
            await self.overlays(first)
            await first.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT, "attributes": {"n": 1}}])
            await second.overlay.add_graphics(overlay="o", graphics=[{"id": 2, "geometry": POINT, "attributes": {"k": 2}}])
            await second.map.update(map="m", title="B")
            undone = await first.edit.undo(own=True)
            self.assertEqual(undone["names"], ["overlay/addGraphics"])
            self.assertEqual(await self.graphics(second), {2: {"k": 2}})
            # The step of the other is taken back as ever, and what took the first one back, too.
            self.assertEqual((await second.edit.undo(own=True))["names"], ["map/update"])
            redone = await first.edit.redo(own=True)
            self.assertEqual(redone["names"], ["overlay/addGraphics"])
            self.assertEqual(set(await self.graphics(second)), {1, 2})
            await second.edit.undo(own=True)
            self.assertEqual(set(await self.graphics(second)), {1})
            history = await first.edit.history()
            while history["canUndo"]:
                await first.edit.undo()
                history = await first.edit.history()
            self.assertEqual((await first.map.list())["maps"], [])

    async def graphics(self, client: Any) -> dict[int, Any]:
        found = await client.feature.query(overlay="o")
        return {feature["id"]: feature.get("properties") for feature in found["features"]}

    async def test_steps_that_touched_the_same_conflict(self) -> None:
        async with self.attached(2) as [first, second]:
            await self.overlays(first)
            await first.overlay.add_graphics(overlay="o", graphics=[{"id": 1, "geometry": POINT, "attributes": {"n": 1}}])
            await first.overlay.update(overlay="o", opacity=0.5)
            await second.overlay.update(overlay="o", name="other")
            # Other members of the same object.
            await first.edit.undo(own=True)
            overlay = await first.overlay.get(overlay="o")
            self.assertEqual((overlay["opacity"], overlay["name"]), (1, "other"))
            await second.overlay.update_graphics(overlay="o", graphics=[{"id": 1, "attributes": {"n": 5}}])
            for _ in range(2):
                with self.assertRaises(GeoModelError) as refused:
                    await first.edit.undo(own=True)
                self.assertEqual(refused.exception.kind, "undoConflict")
                self.assertEqual(refused.exception.data["client"], "c2")
                self.assertEqual(refused.exception.data["step"], "overlay/updateGraphics")
            await second.edit.undo(own=True)
            await first.edit.undo(own=True)
            self.assertEqual(await self.graphics(first), {})

    async def test_own_undo_of_several_steps_is_redone_step_by_step(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await first.map.update(map="m", min_scale=500)
            await second.map.update(map="m", max_scale=10)
            undone = await first.edit.undo(own=True, steps=2)
            self.assertEqual(undone["names"], ["map/update", "map/update"])
            self.assertEqual(self.told(await second.map.get(map="m")), ("A", None, 10))
            self.assertEqual((await first.edit.redo(own=True))["names"], ["map/update"])
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", None, 10))
            await second.map.update(map="m", max_scale=20)
            self.assertEqual((await first.edit.redo(own=True))["names"], ["map/update"])
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", 500, 20))
            with self.assertRaises(GeoModelError) as none:
                await first.edit.redo(own=True)
            self.assertEqual(none.exception.kind, "nothingToRedo")
            await first.edit.undo(own=True, steps=2)
            self.assertEqual((await first.edit.redo(own=True, steps=2))["names"], ["map/update", "map/update"])
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", 500, 20))
            while (await second.edit.history())["canUndo"]:
                await second.edit.undo()
            self.assertEqual((await second.map.list())["maps"], [])
            while (await second.edit.history())["canRedo"]:
                await second.edit.redo()
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", 500, 20))

    def told(self, map: Any) -> tuple[Any, ...]:
        return map.get("title"), map.get("minScale"), map.get("maxScale")

    async def test_what_was_undone_can_be_redone_after_others_changes(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await first.map.update(map="m", min_scale=500)
            # The newest of all, one after the other.
            await first.edit.undo(own=True)
            await first.edit.undo(own=True)
            self.assertTrue((await first.edit.history())["canRedo"])
            await second.map.update(map="m", max_scale=10)
            await second.map.update(map="m", max_scale=20)
            await first.edit.redo(own=True)
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", None, 20))
            await first.edit.redo(own=True)
            self.assertEqual(self.told(await second.map.get(map="m")), ("B", 500, 20))
            await first.edit.undo(own=True)
            await first.map.create(id="n")
            with self.assertRaises(GeoModelError) as none:
                await first.edit.redo(own=True)
            self.assertEqual(none.exception.kind, "nothingToRedo")
            while (await second.edit.history())["canUndo"]:
                await second.edit.undo()
            self.assertEqual((await second.map.list())["maps"], [])
            # What another changed meanwhile, and what was undone as ever, conflict and are gone as before.
            await first.map.create(id="o", title="A")
            await first.map.update(map="o", title="B")
            await first.edit.undo(own=True)
            await second.map.update(map="o", title="C")
            with self.assertRaises(GeoModelError) as conflict:
                await first.edit.redo(own=True)
            self.assertEqual((conflict.exception.kind, conflict.exception.data["client"]), ("undoConflict", "c2"))
            await first.map.update(map="o", min_scale=5)
            await first.edit.undo()
            await second.map.update(map="o", max_scale=1)
            with self.assertRaises(GeoModelError):
                await first.edit.redo(own=True)

    async def test_own_undo_leaves_what_another_took_back_and_set_again(self) -> None:
        for again in (5000, None):
            async with self.attached(3) as [first, second, third]:
                made = await first.map.create(title="A")
                map = made["map"]
                await first.map.update(map=map, title="B")
                await second.map.update(map=map, min_scale=5000)
                await third.map.update(map=map, max_scale=10)
                await second.edit.undo(own=True)
                if again:
                    await second.map.update(map=map, min_scale=again)
                await first.edit.undo(own=True)
                now = await first.map.get(map=map)
                self.assertEqual((now["title"], now.get("minScale"), now["maxScale"]), ("A", again, 10))

    async def test_own_redo_repeats_what_was_undone_last(self) -> None:
        async with self.attached(2) as [first, second]:
            await first.map.create(id="m", title="A")
            await first.map.update(map="m", title="B")
            await second.map.update(map="m", min_scale=5000)
            await first.edit.undo(own=True)
            await first.map.update(map="m", max_scale=10)
            await first.edit.undo(own=True)
            await first.edit.redo(own=True)
            now = await first.map.get(map="m")
            self.assertEqual((now["title"], now.get("maxScale")), ("A", 10))

    async def test_an_edit_keeps_others_out_and_goes_with_its_client(self) -> None:
        async with self.attached(1) as [other]:
            await self.overlays(other)
            async with self.attached(1) as [editor]:
                await editor.edit.begin(name="drag")
                await editor.map.update(map="m", title="half")
                for refusal in (other.map.update(map="m", title="mine"), other.edit.undo(), other.edit.begin(), other.edit.end()):
                    with self.assertRaises(GeoModelError) as refused:
                        await refusal
                    self.assertEqual((refused.exception.kind, refused.exception.data["client"]), ("editInProgress", "c2"))
                await other.client.update(cursor=[1, 1])
                self.kill_forwarder(editor)
            async with other.observe("/edit/isEditing") as seen:
                await self.until(seen, lambda state: state["edit"]["isEditing"] is False)
            self.assertIsNone((await other.map.get(map="m")).get("title"))

    def kill_forwarder(self, client: Any) -> None:
        os.kill(client.pid, signal.SIGKILL)

    # Many, slow and broken clients

    async def test_ten_clients_write_at_once(self) -> None:
        async with self.attached(10) as clients:
            await self.overlays(clients[0])
            async with contextlib.AsyncExitStack() as stack:
                replicas = [
                    await stack.enter_async_context(client.observe(["/overlays/o", "/maps/m/title"])) for client in clients
                ]

                async def write(number: int, client: Any) -> None:
                    for turn in range(30):
                        await client.overlay.add_graphics(overlay="o", graphics=[{"geometry": POINT, "attributes": {"by": number}}])
                        await client.map.update(map="m", title=f"{number} {turn}")

                await asyncio.gather(*(write(number, client) for number, client in enumerate(clients)))
                revision = (await clients[0].map.get(map="m"))["revision"]
                for replica in replicas:
                    while replica.revision < revision:
                        await asyncio.wait_for(replica.__anext__(), 30)
                states = [json.dumps(replica.state, sort_keys=True) for replica in replicas]
                self.assertEqual(len(set(states)), 1)
                self.assertEqual(replicas[0].state["overlays"]["o"]["graphicCount"], 300)

    async def test_a_client_that_does_not_read_harms_nobody(self) -> None:
        async with self.attached(1) as [client]:
            await self.overlays(client)
            deaf = Raw(self.socket_path())
            deaf.call("initialize", {"protocolVersions": ["0.7"]})
            deaf.send("state/observe", {"paths": ["/overlays/o"]}, 2)
            text = "x" * 20_000
            for _ in range(200):
                await asyncio.wait_for(
                    client.overlay.add_graphics(overlay="o", graphics=[{"geometry": POINT, "attributes": {"t": text}}]), 10
                )
            before = time.monotonic()
            await client.session.echo(value=1)
            self.assertLess(time.monotonic() - before, 1)
            deaf.close()

    async def test_half_a_frame_and_gone(self) -> None:
        async with self.attached(1) as [client]:
            for text in (b"Content-Length: 100\r\n\r\n{\"jsonrpc\"", b"{", b"\0", b"\0{}", b"\0" + b"x" * 100_000, b"\0[1]\n", b"GET / HTTP/1.1\r\n\r\n"):
                raw = Raw(self.socket_path())
                with contextlib.suppress(OSError):
                    raw.socket.sendall(text)
                raw.close()
            self.assertEqual(await client.session.echo(value=1), {"value": 1})
            self.assertEqual(len((await client.client.list())["clients"]), 1)

    async def test_a_task_ends_with_its_client(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m")
            await client.source.open_inline(
                id="s", data={"type": "FeatureCollection", "features": [{"type": "Feature", "id": 1, "geometry": POINT, "properties": {}}]}
            )
            await client.layer.add(map="m", source="s", id="l")
            async with self.attached(1) as [other]:
                load = asyncio.ensure_future(other.layer.load(layer="l"))
                await asyncio.sleep(0)
                self.kill_forwarder(other)
                with self.assertRaises((ServerDiedError, ClosedError)):
                    for _ in range(1000):
                        await other.session.echo(value=1)
                load.cancel()
            self.assertEqual((await client.layer.load(layer="l"))["featureCount"], 1)

    async def test_many_join_and_leave(self) -> None:
        async with self.attached(1) as [client]:
            before = (await client.session.status())["residentBytes"]
            for _ in range(10_000 if "release" in str(SERVER) else 1000):
                raw = Raw(self.socket_path())
                raw.call("initialize", {"protocolVersions": ["0.7"]})
                raw.close()
            await until_alone(client)
            self.assertLess((await client.session.status())["residentBytes"], before + (64 << 20))

    async def test_a_client_that_ends_one_direction_and_then_the_other_is_gone(self) -> None:
        async with self.attached(1) as [client]:
            raw = Raw(self.socket_path())
            raw.call("initialize", {"protocolVersions": ["0.7"]})
            # More than the socket holds: answers wait for a reader.
            for id in range(20):
                raw.send("session/echo", {"value": "x" * 100_000}, id)
            raw.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(len((await client.client.list())["clients"]), 2)
            before = time.monotonic()
            raw.close()
            await until_alone(client)
            self.assertLess(time.monotonic() - before, 5)

    async def test_many_leave_at_once(self) -> None:
        async with self.attached(1) as [client]:
            times = []
            for count in (200, 800):
                many = [Raw(self.socket_path()) for _ in range(count)]
                for raw in many:
                    raw.call("initialize", {"protocolVersions": ["0.7"]})
                before = time.monotonic()
                for raw in many:
                    raw.close()
                await until_alone(client)
                times.append(time.monotonic() - before)
            self.assertLess(times[1], 8 * times[0] + 1)

    async def test_more_than_the_pipes_hold_goes_both_ways(self) -> None:
        # A client that writes all before it reads anything.
        ran = subprocess.Popen(
            [str(SERVER), "--attach", "t"], env={**os.environ, **self.env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        sink, source = ran.stdin, ran.stdout
        assert sink is not None and source is not None
        messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersions": ["0.7"]}}]
        messages += [
            {"jsonrpc": "2.0", "id": id, "method": "session/echo", "params": {"value": "x" * 300_000}} for id in range(1, 11)
        ]
        text = b"".join(json.dumps(each).encode() + b"\n" for each in messages)
        writing = asyncio.ensure_future(asyncio.to_thread(lambda: (sink.write(text), sink.close())))
        lines = await asyncio.to_thread(lambda: [json.loads(line) for line in source])
        await writing
        self.assertEqual([line["id"] for line in lines if "id" in line], list(range(11)))
        self.assertEqual(ran.wait(30), 0)
        source.close()

    # Web sockets

    async def test_the_client_connects_over_a_web_socket(self) -> None:
        async with self.attached(1, "--listen-web", "0") as [client]:
            url = (self.folder / "geomodel-server" / "t.web").read_text().strip()
            async with geomodel.connect(url, client_name="web") as web:
                self.assertEqual((web.client_id, web.pid, web.exit_status), ("c2", 0, None))
                await web.map.create(id="m", title="A\nB")
                self.assertEqual((await client.map.get(map="m"))["title"], "A\nB")
                for size in (1, 125, 126, 65_535, 65_536, 3_000_000):
                    self.assertEqual(await web.session.echo(value="é" * size), {"value": "é" * size})
                self.assertEqual(await asyncio.gather(*(web.session.echo(value=n) for n in range(100))), [{"value": n} for n in range(100)])
                async with web.observe("/maps/m/title") as seen:
                    await client.map.update(map="m", title="C")
                    await self.until(seen, lambda state: state == {"maps": {"m": {"title": "C"}}})
                with self.assertRaises(GeoModelError) as unknown:
                    await web.map.get(map="none")
                self.assertEqual(unknown.exception.kind, "unknownId")
            with self.assertRaises(ClosedError):
                await web.map.list()
            await until_alone(client)
            async with geomodel.connect(url, read_only=True) as reader:
                with self.assertRaises(GeoModelError):
                    await reader.map.create(id="n")
            with geomodel.connect_sync(url) as blocking:
                self.assertEqual(len(blocking.map.list()["maps"]), 1)
            lost = await geomodel.connect(url)
            self.run_server("--stop", "t")
            with self.assertRaises((ServerDiedError, ClosedError)):
                for _ in range(1000):
                    await lost.session.echo(value=1)
            for _ in range(2):
                with self.assertRaises(ServerDiedError):
                    await lost.reattach()
            await lost.close()

    async def test_addresses_that_lead_nowhere_are_refused(self) -> None:
        for address in ("http://127.0.0.1:1/", "ws://", "ws://127.0.0.1:99999/", "", "ws://a b/"):
            with self.assertRaises(geomodel.EncodeError):
                geomodel.connect(address)
        async with self.attached(1, "--listen-web", "0"):
            url = (self.folder / "geomodel-server" / "t.web").read_text().strip()
            for wrong, reason in ((url[:-1], "token is wrong"), (url.replace("/?", "/x?"), "404"), ("ws://127.0.0.1:1/", "no server")):
                with self.assertRaises(ServerDiedError) as refused:
                    await geomodel.connect(wrong)
                self.assertIn(reason, str(refused.exception))
                self.assertNotIn(url[-20:], str(refused.exception))

    async def test_what_is_no_web_socket_ends_the_client(self) -> None:
        accept = "Sec-WebSocket-Accept: "

        async def serve(answer: bytes) -> tuple[asyncio.Server, str]:
            async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                head = await reader.readuntil(b"\r\n\r\n")
                key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
                sha = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
                writer.write(answer.replace(b"KEY", sha.encode()))
                writer.write_eof()
                writer.close()

            server = await asyncio.start_server(talk, "127.0.0.1", 0)
            return server, f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

        good = b"HTTP/1.1 101 Go\r\n" + accept.encode() + b"KEY\r\n\r\n"
        for answer in (
            b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", good.replace(b"KEY", b"x"), b"x" * 1_000_000, good, good + b"\x81",
            good + b"\x81\xff", good + b"\xf1\x00", good + b"\x80\x00", good + b"\x09\x00", good + b"\x82\x01a", good + b"\x81\x01{",
            good + b"\x88\x02\x03\xe8", good + b"\x81\x7f" + b"\xff" * 8,
        ):
            server, url = await serve(answer)
            with self.assertRaises(geomodel.Error, msg=answer[-20:]):
                await geomodel.connect(url, start_timeout=10)
            server.close()

    def address(self) -> tuple[int, str]:
        url = (self.folder / "geomodel-server" / "t.web").read_text().strip()
        rest = url.removeprefix("ws://127.0.0.1:")
        port, path = rest.split("/", 1)
        return int(port), "/" + path

    async def test_a_page_is_a_client(self) -> None:
        async with self.attached(1, "--listen-web", "0") as [client]:
            port, path = self.address()
            page = WebSocket(port, path, Origin="http://localhost:8888")
            self.assertEqual(page.status, 101)
            self.assertEqual(page.call("initialize", {"clientInfo": {"name": "page"}})["client"], "c2")
            made = page.call("map/create", {"id": "m", "title": "A"}, 2)
            self.assertEqual(made["map"], "m")
            self.assertEqual((await client.map.get(map="m"))["title"], "A")
            self.assertEqual(page.call("session/echo", {"value": "x" * 100_000}, 2), {"value": "x" * 100_000})
            half = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "map/list", "params": {}}).encode()
            page.send(half[:20], final=False)
            page.send(half[20:], opcode=0)
            self.assertEqual(json.loads(page.receive()[1])["id"], 3)
            page.send(b"hello", opcode=9)
            for text in (b"Content-Length: 3", b"{", b"", b"nonsense"):
                page.send(text)
                self.assertEqual(json.loads(page.receive()[1])["error"]["code"], -32700)
            self.assertEqual(page.call("session/echo", {"value": 1}, 4), {"value": 1})
            page.send(b"\0\1", opcode=2)
            self.assertEqual(page.receive()[0], 8)
            page.close()
            await until_alone(client)

    async def test_web_sockets_of_others_are_refused(self) -> None:
        async with self.attached(1, "--listen-web", "0") as [client]:
            port, path = self.address()
            guess = path[:-1] + ("0" if path[-1] != "0" else "1")
            for status, address, headers in [
                (401, guess, {}),
                (401, "/", {}),
                (404, "/other" + path[1:], {}),
                (403, path, {"Origin": "https://example.org"}),
                (403, path, {"Origin": "http://localhost.example.org"}),
                (403, path, {"Origin": "null"}),
                (403, path, {"Host": "example.org"}),
                (403, path, {"Host": f"example.org:{port}"}),
            ]:
                refused = WebSocket(port, address, **headers)
                self.assertEqual(refused.status, status, (address, headers))
                refused.close()
            plain = socket.create_connection(("127.0.0.1", port), timeout=30)
            plain.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            self.assertIn(b" 426 ", plain.recv(100))
            plain.close()
            pages = [WebSocket(port, path) for _ in range(300)]
            self.assertEqual([page.status for page in pages].count(101), 256)
            self.assertEqual(await client.session.echo(value=1), {"value": 1})
            for page in pages:
                page.close()
            self.assertEqual((self.folder / "geomodel-server" / "t.web").stat().st_mode & 0o777, 0o600)

    # Beginning and end

    async def test_requests_of_a_lost_server_are_answered(self) -> None:
        async with self.attached(1) as [client]:
            await client.clock.set(mode="manual")
            await self.overlays(client)
            waiting = asyncio.ensure_future(
                client.view.animate_viewpoint(
                    view="v", viewpoint={"type": "centerAndScale", "center": POINT, "spatialReference": "EPSG:4326", "targetScale": 1000}, duration=5
                )
            )
            await client.session.echo(value=1)
            os.kill(self.servers()[0]["process"], signal.SIGKILL)
            with self.assertRaises(GeoModelError) as lost:
                await asyncio.wait_for(waiting, 30)
            self.assertEqual(lost.exception.kind, "serverLost")
        # The socket that it left is in nobody's way.
        async with self.attached(1) as [client]:
            self.assertEqual((await client.map.list())["maps"], [])

    async def test_a_client_attaches_again(self) -> None:
        async with geomodel.launch(SERVER, attach="t", env=self.env) as client:
            self.assertEqual(client.client_id, "c1")
            await self.overlays(client)
            async with client.observe(["/maps/*/title", "/clients"]) as titles, client.observe_viewpoint("v") as viewpoints:
                self.run_server("--stop", "t")
                with self.assertRaises(ServerDiedError):
                    while True:
                        await titles.get(30)
                with self.assertRaises(ServerDiedError):
                    await client.map.list()
                self.assertEqual(await client.reattach(), [viewpoints])
                self.assertTrue((await titles.get(30)).resynced)
                self.assertEqual(list(titles.state), ["clients"])
                await client.map.create(id="n", title="B")
                await self.until(titles, lambda state: state.get("maps") == {"n": {"title": "B"}})
            with self.assertRaises(ClosedError):
                await client.reattach()

    async def test_attaching_again_may_be_tried_again(self) -> None:
        async with geomodel.launch(SERVER, attach="t", env=self.env) as client:
            await self.overlays(client)
            async with client.observe("/maps/*/title") as titles:
                self.run_server("--stop", "t")
                with self.assertRaises(ServerDiedError):
                    while True:
                        await titles.get(30)
                # The server cannot start: its socket's place is taken.
                (self.folder / "geomodel-server" / "t.sock" / "x").mkdir(parents=True)
                for _ in range(2):
                    with self.assertRaises(ServerDiedError) as refused:
                        await client.reattach()
                    self.assertIn("t.sock", str(refused.exception))
                    with self.assertRaises(ServerDiedError):
                        await client.map.list()
                shutil.rmtree(self.folder / "geomodel-server" / "t.sock")
                # Two at once: the second finds it attached.
                again = await asyncio.gather(client.reattach(), client.reattach(), return_exceptions=True)
                self.assertEqual(again[0], [])
                self.assertIsInstance(again[1], ClosedError)
                await client.map.create(id="n", title="B")
                await self.until(titles, lambda state: state.get("maps") == {"n": {"title": "B"}})
                # A killed daemon, then a killed forwarder.
                for lose in (lambda: os.kill(self.servers()[0]["process"], signal.SIGKILL), lambda: self.kill_forwarder(client)):
                    lose()
                    with self.assertRaises((ServerDiedError, GeoModelError)):
                        while True:
                            await client.session.echo(value=1)
                    with self.assertRaises(ServerDiedError):
                        while True:
                            await titles.get(30)
                    self.assertEqual(await client.reattach(), [])
                    self.assertEqual(await client.session.echo(value=1), {"value": 1})
            self.run_server("--stop", "t")
            with self.assertRaises(ServerDiedError):
                while True:
                    await client.session.echo(value=1)
        # Closed while it is lost.
        with self.assertRaises(ClosedError):
            await client.reattach()

    async def test_an_unsaved_model_is_kept_and_recovered(self) -> None:
        document = self.folder / "world.json"
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="saved")
            await client.document.save_as(path=str(document))
            await client.map.update(map="m", title="unsaved")
        said = self.run_server("--stop", "t")
        self.assertIn("t.recovery.json", said.stdout)
        async with self.attached(1) as [client]:
            self.assertTrue(client.initialized["recovery"].endswith("t.recovery.json"))
            self.assertEqual((await client.map.list())["maps"], [])
            info = await client.document.recover()
            self.assertEqual((info["path"], info["isModified"]), (str(document), True))
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            with self.assertRaises(GeoModelError) as none:
                await client.document.recover()
            self.assertEqual(none.exception.kind, "noRecovery")
            await client.document.save()
        self.assertNotIn("recovery", self.run_server("--stop", "t").stdout)
        self.assertIn("unsaved", document.read_text())

    async def test_a_model_that_cannot_be_kept_beside_the_socket_is_kept_elsewhere(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="unsaved")
            (self.folder / "geomodel-server" / "t.recovery.json" / "x").mkdir(parents=True)
            notices = client.notifications("$/logMessage")
            self.assertIn("state/geomodel-server/t.recovery.json", self.run_server("--stop", "t").stdout)
            notice = await notices.get(30)
            self.assertEqual((notice["level"], notice["event"]), ("warning", "modelKept"))
            self.assertEqual(Path(notice["path"]), self.folder / "state" / "geomodel-server" / "t.recovery.json")
            self.assertEqual(Path(notice["path"]).stat().st_mode & 0o777, 0o600)
        async with self.attached(1) as [client]:
            await client.document.recover()
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            await client.document.save_as(path=str(self.folder / "w.json"))
        self.assertNotIn("recovery", self.run_server("--stop", "t").stdout)

    async def test_a_model_that_can_be_kept_nowhere_is_not_lost_at_once(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="unsaved")
            for folder in ("geomodel-server", "state/geomodel-server", f"tmp/geomodel-server-{os.getuid()}"):
                (self.folder / folder / "t.recovery.json" / "x").mkdir(parents=True)
                (self.folder / folder).chmod(0o700)
            notices = client.notifications("$/logMessage")
            refused = self.run_server("--stop", "t")
            self.assertEqual(refused.returncode, 75)
            self.assertIn("cannot be kept", refused.stderr)
            notice = await notices.get(30)
            self.assertEqual((notice["level"], notice["event"]), ("error", "modelNotKept"))
            self.assertEqual((await client.map.get(map="m"))["title"], "unsaved")
            self.assertEqual(self.run_server("--stop", "t").returncode, 0)

    async def test_half_an_edit_is_not_kept(self) -> None:
        async with self.attached(1) as [client]:
            await client.map.create(id="m", title="whole")
            await client.edit.begin(name="drag")
            await client.map.update(map="m", title="half")
            self.run_server("--stop", "t")
        async with self.attached(1) as [client]:
            await client.document.recover()
            self.assertEqual((await client.map.get(map="m"))["title"], "whole")

    async def test_a_model_that_nobody_recovered_is_kept(self) -> None:
        for name in ("precious", "other"):
            async with self.attached(1) as [client]:
                await client.map.create(id=name)
            self.run_server("--stop", "t")
        kept = [path.read_text() for path in (self.folder / "geomodel-server").glob("t.recovery*.json*")]
        self.assertTrue(any('"precious"' in text for text in kept))

    async def test_it_ends_when_nobody_is_there_and_nothing_is_unsaved(self) -> None:
        async with self.attached(1, "--linger", "0") as [client]:
            await client.session.echo(value=1)
        await self.gone()
        async with self.attached(1, "--linger", "0") as [client]:
            await client.map.create(id="m")
        self.assertEqual(len(self.servers()), 1)

    async def gone(self) -> None:
        for _ in range(1000):
            if not self.servers():
                return
        self.fail("the server does not end")

    async def test_one_server_has_a_name(self) -> None:
        async with self.attached(1):
            second = self.run_server("--listen", "t")
            self.assertEqual(second.returncode, 69)
            self.assertIn("another server has the name t", second.stderr)
        started = await asyncio.gather(
            *(geomodel.launch([str(SERVER), "--attach", "both"], env=self.env) for _ in range(5))
        )
        self.assertEqual(len((await started[0].client.list())["clients"]), 5)
        for client in started:
            await client.close()

    def test_what_cannot_succeed_fails_at_once(self) -> None:
        taken = socket.create_server(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        for folder, flags, reason in ((None, ["--listen-web", port], port), ("t.sock/x", [], "t.sock"), ("t.lock", [], "t.lock")):
            (self.folder / "geomodel-server").mkdir(mode=0o700)
            if folder is not None:
                (self.folder / "geomodel-server" / folder).mkdir(parents=True)
            before = time.monotonic()
            refused = self.run_server("--attach", "t", *flags)
            self.assertEqual(refused.returncode, 69, refused)
            self.assertIn("no server t can be started", refused.stderr)
            self.assertIn(reason, refused.stderr)
            self.assertNotIn("has the name", refused.stderr)
            self.assertLess(time.monotonic() - before, 8)
            shutil.rmtree(self.folder / "geomodel-server")
        taken.close()

    def test_names_and_folders_are_checked(self) -> None:
        for name in ("../x", ".x", "a/b", "x" * 65):
            self.assertEqual(self.run_server(f"--listen={name}").returncode, 69)
        (self.folder / "geomodel-server").mkdir(mode=0o755, exist_ok=True)
        (self.folder / "geomodel-server").chmod(0o755)
        refused = self.run_server("--listen", "t")
        self.assertEqual(refused.returncode, 69)
        self.assertIn("0700", refused.stderr)

    def test_a_folder_with_a_long_name_is_told_at_once(self) -> None:
        deep = self.folder / ("x" * 100)
        deep.mkdir()
        self.env = {"XDG_RUNTIME_DIR": str(deep)}
        for flag in ("--attach", "--listen"):
            refused = self.run_server(flag, "t")
            self.assertGreater(refused.returncode, 1)
            self.assertIn("File name too long", refused.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root becomes another user")
    async def test_another_user_does_not_get_in(self) -> None:
        async with self.attached(1):
            # Even where the folder and the socket would let it.
            for path in (self.folder, self.folder / "geomodel-server"):
                path.chmod(0o755)
            self.socket_path().chmod(0o666)
            program = (
                "import os, socket; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
                f"s.connect({str(self.socket_path())!r}); s.sendall(b'{{}}\\n'); print(s.recv(10))"
            )
            ran = subprocess.run(["python3", "-c", program], capture_output=True, text=True, timeout=30)
            self.assertTrue(ran.stdout == "b''\n" or "Error" in ran.stderr, ran)
            self.folder.joinpath("geomodel-server").chmod(0o700)


if __name__ == "__main__":
    unittest.main()
