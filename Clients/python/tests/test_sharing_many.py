"""Many, slow and broken clients on one model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import time
from typing import Any

from sharing import POINT, Raw, Sharing, until_alone
from support import SERVER

from geomodel.errors import ClosedError, ServerDiedError


class ManyClientsTests(Sharing):
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
            # Free memory goes back a little after the last has left.
            for _ in range(20_000):
                if (await client.session.status())["residentBytes"] < before + (64 << 20):
                    break
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
