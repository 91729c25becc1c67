"""What the tests of servers that several clients share have in common: the server, its clients, and connections without any client."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, AsyncIterator

from support import SERVER, needs_server

import geomodel
from geomodel.errors import GeoModelError

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


@needs_server
class Sharing(unittest.IsolatedAsyncioTestCase):
    """A folder of servers, which end with the test."""

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

    async def until(self, seen: Any, condition: Any) -> None:
        async def wait() -> None:
            async for _ in seen:
                if condition(seen.state):
                    return

        if not condition(seen.state):
            await asyncio.wait_for(wait(), 30)

    async def overlays(self, client: Any) -> None:
        await client.map.create(id="m")
        await client.view.create(id="v", map="m")
        await client.overlay.create(id="o", view="v")

    async def graphics(self, client: Any) -> dict[int, Any]:
        found = await client.feature.query(overlay="o")
        return {feature["id"]: feature.get("properties") for feature in found["features"]}

    def kill_forwarder(self, client: Any) -> None:
        os.kill(client.pid, signal.SIGKILL)

    def address(self) -> tuple[int, str]:
        url = (self.folder / "geomodel-server" / "t.web").read_text().strip()
        rest = url.removeprefix("ws://127.0.0.1:")
        port, path = rest.split("/", 1)
        return int(port), "/" + path

    async def gone(self) -> None:
        for _ in range(1000):
            if not self.servers():
                return
        self.fail("the server does not end")
