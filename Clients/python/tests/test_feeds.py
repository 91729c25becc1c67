"""Files, FIFOs and devices that sources follow, with the real server."""

from __future__ import annotations

import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Awaitable, Callable

from support import SERVER, needs_server

import geomodel

FIX = "$GPGGA,{0},4851.6000,N,00221.0000,E,1,08,0.9,35.0,M,47.0,M,,"


def sentence(text: str) -> str:
    checksum = 0
    for byte in text[1:].encode():
        checksum ^= byte
    return f"{text}*{checksum:02X}\r\n"


def observation(track: str, x: float, second: int) -> str:
    return (
        f'{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [{x}, 1]}},'
        f' "properties": {{"id": "{track}", "time": "2026-01-01T00:00:{second:02}Z"}}}}\n'
    )


@needs_server
class FeedTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server = await geomodel.launch(SERVER, root_path=self.folder)
        self.addAsyncCleanup(self.server.close)

    async def buses(self, path: str, **options: Any) -> None:
        await self.server.entity.create(
            id="buses", fields=[{"name": "id", "type": "string"}, {"name": "time", "type": "dateTime"}], track_id_field="id",
            time_field="time",
        )
        await self.server.entity.follow(entity_source="buses", path=path, **options)
        self.assertEqual((await self.server.entity.connect(entity_source="buses"))["status"]["type"], "connecting")

    async def until(self, read: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]) -> Any:
        """The first value for which the condition holds, within ten seconds."""
        end = time.monotonic() + 10
        while not holds(value := await read()):
            self.assertLess(time.monotonic(), end, f"still {value}")
        return value

    async def source(self) -> Any:
        return await self.server.entity.get(entity_source="buses")

    async def receiver(self) -> Any:
        return await self.server.location.get(location_source="gps")

    async def test_a_file_that_grows_and_ends_cut(self) -> None:
        file = self.folder / "buses.ndjson"
        file.write_text(observation("a", 1, 0) + observation("b", 2, 0))
        await self.buses("buses.ndjson")
        await self.until(self.source, lambda it: it["observationCount"] == 2 and it["status"]["type"] == "connected")
        with file.open("a") as out:
            out.write(observation("a", 3, 1) + '{"type": "Feature"\n[]\n' + '{"type": "Feature", "geometry": 7}\n')
        source = await self.until(self.source, lambda it: it["counts"].get("badLines") == 3)
        self.assertEqual((source["entityCount"], source["observationCount"]), (2, 3))
        file.write_text("")
        # The connection is lost, and the next attempt opens the file as it is now.
        with file.open("a") as out:
            out.write(observation("c", 3, 2))
        await self.until(self.source, lambda it: it["entityCount"] == 3 and it["status"]["type"] == "connected")
        self.assertEqual((await self.source())["observationCount"], 4)
        await self.server.entity.disconnect(entity_source="buses")

    async def test_a_file_that_is_read_once_and_one_that_is_not_there(self) -> None:
        (self.folder / "once.ndjson").write_text(observation("a", 1, 0))
        await self.buses("once.ndjson", follows=False)
        await self.until(self.source, lambda it: it["status"]["type"] == "disconnected" and it["observationCount"] == 1)
        await self.server.entity.follow(entity_source="buses", path="none.ndjson")
        await self.server.entity.connect(entity_source="buses")
        source = await self.until(self.source, lambda it: it["status"].get("attempt") == 3)
        self.assertEqual(source["status"]["error"]["kind"], "fileNotFound")

    async def test_a_receiver_behind_a_fifo_starts_runs_and_ends(self) -> None:
        path = self.folder / "gps"
        os.mkfifo(path)
        await self.server.location.create_nmea(id="gps")
        await self.server.location.follow(location_source="gps", path="gps")
        self.assertEqual((await self.server.location.start(location_source="gps"))["status"]["type"], "started")
        with path.open("w") as out:
            out.write(sentence(FIX.format("000001")) + "$GPGGA,broken*00\r\n" + sentence(FIX.format("000002")))
            out.flush()
            source = await self.until(self.receiver, lambda it: "location" in it)
        self.assertAlmostEqual(source["location"]["position"]["coordinates"][1], 48.86)
        source = await self.until(self.receiver, lambda it: it["status"]["type"] == "stopped")
        self.assertEqual(source["refusals"], {"checksum": 1})

    async def test_a_receiver_that_is_not_there_fails_to_start_and_is_retried(self) -> None:
        await self.server.location.create_nmea(id="gps")
        await self.server.location.follow(location_source="gps", path="gps.nmea", follows=False)
        with self.assertRaises(geomodel.errors.FileNotFoundError):
            await self.server.location.start(location_source="gps")
        self.assertEqual((await self.receiver())["status"]["type"], "failedToStart")
        (self.folder / "gps.nmea").write_text(sentence(FIX.format("000001")))
        started = await self.server.location.start(location_source="gps")
        self.assertEqual(started["status"]["type"], "started")
        await self.until(self.receiver, lambda it: it["status"]["type"] == "stopped")


if __name__ == "__main__":
    unittest.main()
