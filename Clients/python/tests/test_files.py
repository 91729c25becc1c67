"""Files that other programs write while the real server reads them, and readers that lack what they need."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import FIXTURES, SERVER, needs_server

import geomodel

NAD27 = (
    'GEOGCRS["NAD27",DATUM["North American Datum 1927",ELLIPSOID["Clarke 1866",6378206.4,294.978698213898]],'
    'CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]]'
)
WGS84 = (
    'GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],'
    'CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]]'
)


@needs_server
class ScarcityTests(unittest.IsolatedAsyncioTestCase):
    """What a reader needs and the system does not have is named."""

    async def failures(self, server: geomodel.Server) -> list[geomodel.GeoModelError]:
        """The errors of reading: a vector file, its features, a raster."""
        found = []
        await server.scene.create(id="s")
        for call in (
            lambda: server.source.open(id="c", path=str(FIXTURES / "cities.fgb")),
            lambda: server.layer.add(scene="s", source="c", id="l"),
            lambda: server.layer.load(layer="l"),
            lambda: server.scene.add_elevation_source(scene="s", path=str(FIXTURES / "jacksboro_dem.tif")),
        ):
            try:
                await call()
            except geomodel.errors.UnknownIdError:
                pass
            except geomodel.GeoModelError as error:
                found.append(error)
        return found

    async def test_too_many_open_files_are_named_wherever_they_are_missing(self) -> None:
        kinds = set()
        for limit in range(15, 27):
            command = ["sh", "-c", f"ulimit -n {limit}; exec '{SERVER}'"]
            try:
                server = await geomodel.launch(command)
            except geomodel.Error:
                continue
            try:
                for error in await self.failures(server):
                    kinds.add(error.kind)
                    self.assertIn("Too many open files", str(error), f"{limit}: {error} {error.data}")
            finally:
                await server.close()
        self.assertIn("openFailed", kinds)

    @unittest.skipUnless(sys.platform == "linux", "/proc of Linux")
    async def test_a_missing_proc_is_named(self) -> None:
        hidden = "mount -t tmpfs none /proc"
        if subprocess.run(["unshare", "-m", "sh", "-c", hidden], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace of one's own here")
        server = await geomodel.launch(["unshare", "-m", "sh", "-c", f"{hidden}; exec '{SERVER}'"])
        try:
            errors = await self.failures(server)
        finally:
            await server.close()
        self.assertEqual([error.kind for error in errors], ["readerFailed", "readerFailed"])
        for error in errors:
            self.assertIn("/proc is not mounted", error.data["reason"])
            self.assertIn("/proc is not mounted", str(error))


@needs_server
class QuotationTests(unittest.IsolatedAsyncioTestCase):
    """A quotation mark that nothing closes makes one row of all lines behind it."""

    async def test_rows_of_csv_are_not_lost_in_silence(self) -> None:
        async def count(text: str) -> int:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.csv"
                path.write_text("x,y,name\n" + text)
                async with geomodel.launch(SERVER) as server:
                    await server.map.create(id="m")
                    await server.source.open(id="s", path=path, x_field="x", y_field="y")
                    await server.layer.add(id="l", map="m", source="s")
                    return (await server.layer.load(layer="l"))["featureCount"]

        # Newer GDALs open no such file.
        with self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.OpenFailedError)):
            await count('1,2,a\n3,4,"b\n5,6,c\n7,8,d\n')
        self.assertEqual(await count('1,2,"a\nb"\n3,4,"5"""\n'), 2)


@needs_server
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


@needs_server
class ReferenceFileTests(unittest.IsolatedAsyncioTestCase):
    """Spatial references whose definitions name files: PROJ opens none but its own."""

    async def test_a_fifo_in_a_definition_is_not_opened(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        fifo = folder / "shift.gsb"
        os.mkfifo(fifo)
        names = [str(fifo), f"/usr/share/proj/../../..{fifo}", os.path.relpath(fifo)]
        definitions = [form for name in names for form in self.definitions(name)]
        async with geomodel.launch(SERVER) as server:
            for definition in definitions:
                placed = {"geometry": {"type": "Point", "coordinates": [-100.0, 40.0]}, "spatialReference": definition}
                for method, params in [
                    ("geometry/isSimple", placed),
                    ("geometry/project", {**placed, "outSpatialReference": "EPSG:4326"}),
                ]:
                    with self.subTest(definition=definition, method=method):
                        # What it answers depends on the form: a grid that lacks, or the rest of the operation.
                        try:
                            await asyncio.wait_for(server.call(method, params), 20)
                        except geomodel.GeoModelError as error:
                            self.assertIn(error.kind, ("unknownSpatialReference", "gridMissing", "transformFailed"))
                        await asyncio.wait_for(server.session.echo(value=1), 20)

    def definitions(self, name: str) -> list[str]:
        method = 'METHOD["NTv2",ID["EPSG",9615]],PARAMETERFILE["Latitude and longitude difference file"'
        return [
            f"BOUNDCRS[SOURCECRS[{NAD27}],TARGETCRS[{WGS84}],"
            f'ABRIDGEDTRANSFORMATION["shift",{method},"{name}"]]]',
            f"+proj=longlat +ellps=clrk66 +nadgrids={name} +type=crs",
            f"+proj=longlat +ellps=clrk66 +geoidgrids={name} +type=crs",
            f"+init={name}:1 +type=crs",
            f"{name}:1",
        ]


if __name__ == "__main__":
    unittest.main()
