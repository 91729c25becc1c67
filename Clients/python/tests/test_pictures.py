"""Pictures of random worlds on the real server: what is drawn at a pixel is what `view/identify` finds."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import select
import signal
import struct
import unittest
from pathlib import Path

from picture_worlds import PIXELS, WORLDS, Estimated, World, decoded
from support import SERVER, needs_server

import geomodel


@needs_server
class PickTests(unittest.TestCase):
    def test_what_is_picked_is_what_is_identified(self) -> None:
        first = int(os.environ.get("GEOMODEL_PICTURES_SEED", "0"))
        labelled = 0
        with geomodel.launch_sync(SERVER or "") as server:
            for seed in range(first, first + WORLDS):
                with self.subTest(seed=seed):
                    world = World(server, random.Random(seed))
                    self.assertEqual(world.disagreements(PIXELS), [], (world.map, world.scale))
                    labelled += world.labelled
                    server.map.close(map="m")
        self.assertGreater(labelled, 0)


@needs_server
class PainterTests(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Estimated()
        self.addCleanup(self.server.close)
        places = [(index % 200 - 100, index // 200 - 50) for index in range(20_000)]
        points = [{"id": id, "geometry": {"type": "Point", "coordinates": at}} for id, at in enumerate(places)]
        symbol = {"type": "simpleMarker", "size": 100}
        self.server.overlay("o", points, [], renderer={"type": "simple", "symbol": symbol})

    def painters(self) -> list[int]:
        """Each thread has children of its own."""
        found = [child for thread in Path(f"/proc/{self.server.process.pid}/task").iterdir() for child in read(thread / "children").split()]
        return [int(child) for child in found if b"--painter" in read(Path(f"/proc/{int(child)}/cmdline"))]

    @unittest.skipUnless(Path("/proc/self/task").exists(), "children are found in /proc")
    def test_a_painter_that_is_killed_again_and_again(self) -> None:
        self.server.send({"id": "r", "method": "view/render", "params": {"view": "v", "pixelRatio": 8}})
        answers = self.server.process.stdout
        while not select.select([answers], [], [], 0.02)[0]:
            for child in self.painters():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        answer = json.loads(answers.readline())
        self.assertEqual((answer["id"], answer["error"]["data"]), ("r", {"kind": "painterFailed", "signal": 9}))
        self.assertEqual(self.server("view/render", view="v")["picture"]["width"], 400)


def read(file: Path) -> bytes:
    """Nothing, if the process is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return file.read_bytes()
    return b""


@needs_server
class PixelTests(unittest.TestCase):
    def test_pixels_have_the_colours_of_what_is_picked(self) -> None:
        server = Estimated()
        self.addCleanup(server.close)
        for seed in range(WORLDS):
            dice = random.Random(seed)
            colors = [f"{dice.randrange(1 << 24):06X}" for _ in range(30)]
            graphics = []
            for id, rgb in enumerate(colors):
                # Edges between pixels, so that every pixel has one colour.
                (left, right), (low, high) = sorted(dice.sample(range(-200, 201), 2)), sorted(dice.sample(range(-150, 151), 2))
                ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
                area = {"type": "Polygon", "coordinates": [ring]}
                graphics.append({"id": id, "geometry": area, "symbol": {"type": "simpleFill", "color": f"#{rgb}"}})
            server.overlay("o", graphics, [])
            transparent = seed % 2 == 1
            picture = server("view/render", view="v", pick=True, transparent=transparent)["picture"]
            width, height, channels, pixels = decoded(picture["data"])
            self.assertEqual((width, height, channels), (400, 300, 4 if transparent else 3))
            numbers = struct.unpack(f"<{width * height}I", base64.b64decode(picture["pick"]["pixels"]))
            ground = bytes(4) if transparent else b"\xff" * 3
            shown = [ground, *(bytes.fromhex(colors[each["id"]]) + b"\xff" * (channels - 3) for each in picture["pick"]["items"])]
            self.assertEqual(pixels, b"".join(shown[number] for number in numbers))
