"""Clients over web sockets, in pages and in Python."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import socket

from sharing import Sharing, WebSocket, until_alone

import geomodel
from geomodel.errors import ClosedError, GeoModelError, ServerDiedError


class WebSocketTests(Sharing):
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
