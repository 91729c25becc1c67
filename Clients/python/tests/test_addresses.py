"""Files at addresses, which the real server reads through HTTP."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import json
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support import FIXTURES, SERVER, needs_server

import geomodel


class Handler(BaseHTTPRequestHandler):
    """Serves the fixtures, whole or a range of their bytes."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/loop":
            return self.redirect("/loop")
        if path == "/to":
            return self.redirect(query)
        if path.startswith("/locked/"):
            given = b64decode(self.headers.get("Authorization", "").removeprefix("Basic "))
            if given != b"me:pass/word" and query != "token=pass%2F.word":
                return self.send_error(401)
        file = FIXTURES / Path(path).name
        if file.name == "plain":
            data = b'{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null, "properties": {"n": 1}}]}'
        elif file.is_file():
            data = file.read_bytes()
        else:
            return self.send_error(404)
        status, first, last = 200, 0, len(data) - 1
        if "whole" not in query and (found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))):
            status, first = 206, int(found[1])
            last = min(int(found[2] or last), last)
        body = data[first : last + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@needs_server
class NetworkTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        self.address = f"http://127.0.0.1:{service.server_address[1]}"

    async def launch(self, *flags: str) -> geomodel.Server:
        server = await geomodel.launch([str(SERVER), *flags])
        self.addAsyncCleanup(server.close)
        return server

    async def test_addresses_are_refused_without_the_flag(self) -> None:
        server = await self.launch()
        with self.assertRaises(geomodel.errors.PathRefusedError):
            await server.source.open(path=f"{self.address}/cities.fgb")

    async def test_the_flag_opens_addresses(self) -> None:
        server = await self.launch("--allow-network")
        await server.map.create(id="m")
        for name, layer in [("cities.fgb", "cities"), ("naturalearth_110m.gpkg", "countries")]:
            await server.source.open(id=name, path=f"{self.address}/{name}")
            await server.layer.add(map="m", source=name, source_layer=layer, id=layer)
            loaded = await server.layer.load(layer=layer)
            self.assertEqual(loaded["featureCount"], 243 if layer == "cities" else 177)
        with self.assertRaises(geomodel.errors.GeoModelError):
            await server.source.open(path=f"{self.address}/nothing.fgb")
        # What reads addresses reads no files, and has all other bounds.
        status = await server.session.status()
        self.assertNotIn("network", status["confinement"])
        self.assertIn("systemCalls", status["confinement"])
        # A reader of files has no network.
        await server.source.open(path=str(FIXTURES / "cities.fgb"))
        confinement = (await server.session.status())["confinement"]
        self.assertEqual("network" in confinement, "network" in await self.usual_confinement())

    async def usual_confinement(self) -> list[str]:
        server = await self.launch()
        await server.source.open(path=str(FIXTURES / "cities.fgb"))
        return list((await server.session.status())["confinement"])

    async def test_heights_and_documents(self) -> None:
        server = await self.launch("--allow-network")
        await server.scene.create(id="s")
        await server.scene.add_elevation_source(scene="s", path=f"{self.address}/jacksboro_dem.tif")
        point = {"type": "Point", "coordinates": [-84.25, 36.6]}
        heights = await server.scene.elevation(scene="s", points=[point], interpolation="nearest")
        self.assertEqual(heights["elevations"][0]["elevation"], 513)
        await server.source.open(id="c", path=f"{self.address}/cities.fgb")
        with tempfile.TemporaryDirectory() as folder:
            await server.document.save_as(path=f"{folder}/a.json")
            await server.document.open(path=f"{folder}/a.json")
        self.assertEqual((await server.source.get(source="c"))["path"], f"{self.address}/cities.fgb")

    async def test_a_raster_at_an_address_is_drawn_as_the_file_is(self) -> None:
        server = await self.launch("--allow-network")
        await server.map.create(id="m")
        pictures = []
        for folder in (self.address, str(FIXTURES)):
            raster = (await server.layer.add_raster(map="m", path=f"{folder}/jacksboro_dem.tif"))["layer"]
            await server.layer.load(layer=raster)
            pictures.append((await server.layer.render(layer=raster, width=300, height=200))["picture"]["data"])
        self.assertEqual(pictures[0], pictures[1])
        missing = (await server.layer.add_raster(map="m", path=f"{self.address}/nothing.tif"))["layer"]
        with self.assertRaises(geomodel.errors.AddressFailedError):
            await server.layer.load(layer=missing)
        offline = await self.launch()
        await offline.map.create(id="m")
        with self.assertRaises(geomodel.errors.PathRefusedError):
            await offline.layer.add_raster(map="m", path=f"{self.address}/jacksboro_dem.tif")

    async def test_errors_say_why_no_data_came(self) -> None:
        server = await self.launch("--allow-network")
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        for path, cause, status, reason in [
            (f"http://127.0.0.1:{port}/a.fgb", "unreachable", None, "Connection refused"),
            (f"{self.address}/nothing.fgb", "status", 404, "the server answers 404 Not Found"),
            (f"{self.address}/loop", "redirectLoop", None, "redirects"),
            (f"{self.address}/naturalearth_110m.gpkg?whole", "noRanges", None, "sends whole files only"),
            ("http://nowhere.invalid/a.fgb", "unreachable", None, "resolve"),
        ]:
            for call in (server.source.open(path=path), self.height(server, path)):
                with self.subTest(path=path), self.assertRaises(geomodel.errors.AddressFailedError) as caught:
                    await call
                data = caught.exception.data
                self.assertEqual((data["path"], data["cause"], data.get("status")), (path, cause, status))
                self.assertIn(reason, data["reason"])
                self.assertIn(reason, str(caught.exception))

    async def height(self, server: geomodel.Server, path: str) -> None:
        await server.scene.create(id="s", if_exists="reuse")
        await server.scene.add_elevation_source(scene="s", path=path)

    async def test_redirects_within_a_private_network_are_followed(self) -> None:
        server = await self.launch("--allow-network")
        await server.source.open(id="c", path=f"{self.address}/to?{self.address}/cities.fgb")

    @unittest.skipUnless(sys.platform == "linux", "namespaces of Linux")
    async def test_redirects_from_the_public_network_to_private_addresses_are_refused(self) -> None:
        code = "import test_addresses; test_addresses.print_public_redirects()"
        done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest("no network namespace of one's own here")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = json.loads(done.stdout)
        for name, kind in [("127.0.0.1", "a loopback address"), ("10.1.2.3", "an address of a private network")]:
            data = results[name]
            self.assertEqual((data["kind"], data["cause"]), ("addressFailed", "redirectRefused"))
            self.assertIn(f"it leads to {name}, {kind}", data["reason"])
        self.assertEqual(results["203.0.113.5"], {})
        self.assertEqual(results["from loopback"], {})

    async def test_secrets_are_shown_nowhere_and_not_saved(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            server = await self.launch("--allow-network")
            host = self.address.removeprefix("http://")
            await server.map.create(id="m")
            for user, query, shown in [
                ("me:pass%2Fword@", "", "me:***@"),
                ("", "?token=pass%2F.word", "?token=***"),
            ]:
                name = "q" if query else "u"
                source = f"{name}-source"
                await server.source.open(id=source, path=f"http://{user}{host}/locked/cities.fgb{query}")
                await server.layer.add(map="m", source=source, id=name)
                self.assertIn(shown, (await server.source.get(source=source))["path"])
                self.assertEqual((await server.layer.load(layer=name))["featureCount"], 243)
                # Whatever fails, whose password is right or wrong.
                for path in [f"http://{user or 'x:pass%2Fword@'}{host}/nothing{query}", f"http://me:pass%2Fwood@{host}/locked/cities.fgb"]:
                    with self.assertRaises(geomodel.errors.GeoModelError) as caught:
                        await server.source.open(path=path)
                    self.assertNotIn("pass%2F", f"{caught.exception} {caught.exception.data}")
            # A layer that GDAL names by the address.
            await server.source.open(id="p", path=f"{self.address}/locked/plain?token=pass%2F.word")
            self.assertEqual((await server.source.get(source="p"))["layers"][0]["name"], "plain")
            await server.layer.add_table(map="m", source="p", id="t")
            self.assertEqual((await server.layer.load(layer="t"))["featureCount"], 1)
            await server.document.save_as(path=f"{folder}/a.json")
            self.assertNotIn("pass", Path(f"{folder}/a.json").read_text())
            state = json.dumps(await server.state.get(path=""))
            self.assertNotIn("pass%2F", state)
            self.assertIn("me:***@", state)
            await server.document.open(path=f"{folder}/a.json")
            for name in ("u", "q"):
                for _ in range(2):
                    with self.assertRaises(geomodel.errors.CredentialsNeededError) as caught:
                        await server.layer.load(layer=name)
                    self.assertIn("***", caught.exception.data["path"])
            with self.assertRaises(geomodel.errors.CredentialsNeededError) as caught:
                await server.layer.retry_load(layer="u", credentials={"password": "wrong"})
            self.assertEqual(caught.exception.data["status"], 401)
            await server.layer.retry_load(layer="u", credentials={"user": "me", "password": "pass/word"})
            await server.layer.retry_load(map="m", credentials={"password": "pass/.word"})
            self.assertEqual((await server.layer.get(layer="q"))["featureCount"], 243)
            # What is saved again has them no more than before.
            await server.document.save()
            self.assertNotIn("pass", Path(f"{folder}/a.json").read_text())

    async def test_heights_with_credentials(self) -> None:
        server = await self.launch("--allow-network")
        await server.scene.create(id="s")
        path = self.address.replace("://", "://me:pass%2Fword@") + "/locked/jacksboro_dem.tif"
        await server.scene.add_elevation_source(scene="s", path=path, id="e")
        with tempfile.TemporaryDirectory() as folder:
            await server.document.save_as(path=f"{folder}/a.json")
            self.assertNotIn("pass", Path(f"{folder}/a.json").read_text())
            await server.document.open(path=f"{folder}/a.json")
        with self.assertRaises(geomodel.errors.CredentialsNeededError):
            await server.scene.retry_elevation_source(scene="s", elevation_source="e")
        await server.scene.retry_elevation_source(scene="s", elevation_source="e", credentials={"password": "pass/word"})
        point = {"type": "Point", "coordinates": [-84.25, 36.6]}
        heights = await server.scene.elevation(scene="s", points=[point], interpolation="nearest")
        self.assertEqual(heights["elevations"][0]["elevation"], 513)


def print_public_redirects() -> None:
    """Redirects from and to an address of the public network, in a network namespace that has one; exit code 77 where none can be made."""
    # As the administrator, or in a namespace of users as well.
    if all(ctypes.CDLL(None).unshare(flags) != 0 for flags in (0x40000000, 0x50000000)):
        sys.exit(77)
    addresses = {"lo": "127.0.0.1", "lo:1": "203.0.113.5", "lo:2": "10.1.2.3"}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh22x", b"lo", 1))
        for name, address in addresses.items():
            request = struct.pack("16sHH4s16x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, 0x8916, request)
    service = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
    port = service.server_address[1]
    threading.Thread(target=service.serve_forever, daemon=True).start()

    async def check() -> dict[str, object]:
        results: dict[str, object] = {}
        proxied = ["env", f"http_proxy=http://10.1.2.3:{port}", str(SERVER), "--allow-network"]
        async with geomodel.launch(proxied) as server:
            await server.source.open(path="http://198.51.100.1/cities.fgb")
        async with geomodel.launch([str(SERVER), "--allow-network"]) as server:
            tries = [(target, "203.0.113.5", target) for target in addresses.values()]
            for name, first, second in [*tries, ("from loopback", "127.0.0.1", "203.0.113.5")]:
                try:
                    await server.source.open(path=f"http://{first}:{port}/to?http://{second}:{port}/cities.fgb")
                    results[name] = {}
                except geomodel.GeoModelError as error:
                    results[name] = {"kind": error.kind, **error.data}
        return results

    print(json.dumps(asyncio.run(check())))


if __name__ == "__main__":
    unittest.main()
