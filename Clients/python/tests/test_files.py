"""Files that other programs serve or write while the real server reads them."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support import ROOT, real_server

import geomodel

SERVER = real_server()
FIXTURES = ROOT / "Tests" / "Fixtures"


class Handler(BaseHTTPRequestHandler):
    """Serves the fixtures, whole or a range of their bytes."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        file = FIXTURES / Path(self.path).name
        if not file.is_file():
            return self.send_error(404)
        data = file.read_bytes()
        status, first, last = 200, 0, len(data) - 1
        if found := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
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

    def log_message(self, *_: object) -> None:
        pass


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
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


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class LiveDatabaseTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_database_in_use_shows_its_committed_rows(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(FIXTURES / "types.gpkg", folder)
            database = sqlite3.connect(path)
            self.addCleanup(database.close)
            database.execute("PRAGMA journal_mode=wal")
            triggers = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
            for name in triggers:
                database.execute(f'DROP TRIGGER "{name}"')
            database.execute("DELETE FROM mix WHERE fid > 40")
            database.commit()
            self.assertTrue(Path(path + "-wal").stat().st_size > 0)
            server = await geomodel.launch(SERVER)
            self.addAsyncCleanup(server.close)
            await server.map.create(id="m")
            await server.source.open(id="s", path=path)
            await server.layer.add(map="m", source="s", id="l")
            self.assertEqual((await server.layer.load(layer="l"))["featureCount"], 40)


if __name__ == "__main__":
    unittest.main()
