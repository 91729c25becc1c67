"""The gallery: each program draws the picture that the page shows, and the page has them all."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import NamedTuple

from pixels import pixels
from support import ROOT, SERVER, TESTS, child_environment

import geomodel

GALLERY = TESTS.parent / "examples" / "gallery"


class Expected(NamedTuple):
    size: tuple[int, int]
    # The least number of pixels by colour: what is drawn, and in which colour.
    colors: dict[str, int]


PICTURES = {
    "choropleth": Expected((700, 320), {"#EDF8E9": 2500, "#BAE4B3": 2000, "#74C476": 2500, "#31A354": 8000, "#006D2C": 5000, "#D0D0D0": 100}),
    "clusters": Expected((640, 320), {"#D35400": 2500, "#1F5F8B": 40, "#F4F1E8": 60_000, "#DCE9F2": 40_000}),
    "continents": Expected((640, 420), {"#8DA0CB": 50_000, "#FC8D62": 10_000, "#FFD92F": 4000, "#222222": 300}),
    "contours": Expected((400, 300), {"#FBF8F0": 40_000, "#9C6B30": 600}),
    "globe": Expected((400, 400), {"#B7D3A8": 25_000, "#DCE9F2": 30_000, "#FFFFFF": 25_000}),
    "proportional": Expected((640, 320), {"#D17265": 2000, "#F4F1E8": 15_000}),
    "query": Expected((480, 360), {"#8E44AD": 300, "#FFFFFF": 100_000}),
    "selection": Expected((400, 440), {"#00FFFF": 600, "#F4F1E8": 30_000}),
    "terrain": Expected((420, 280), {"#E9E4D8": 10_000, "#C0392B": 250}),
    "track": Expected((480, 400), {"#1B4F72": 50, "#1E6FD9": 40, "#F4F1E8": 50_000}),
    "world": Expected((720, 360), {"#F6D9A8": 4000, "#F2C5B5": 4000, "#CFE0B8": 3000, "#D9CBE6": 2500}),
}


class GalleryTests(unittest.TestCase):
    def test_the_page_has_each_program_and_its_picture(self) -> None:
        programs = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "gallery_support")
        self.assertEqual(programs, sorted(PICTURES))
        page = (GALLERY / "README.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"\]\((\w+)\.png\)", page)), programs)
        self.assertEqual(sorted(re.findall(r"\]\((\w+)\.py\)", page)), programs)
        self.assertIn("(Clients/python/examples/gallery/world.png)", (ROOT / "README.md").read_text(encoding="utf-8"))
        for name, expected in PICTURES.items():
            with self.subTest(name):
                data = (GALLERY / f"{name}.png").read_bytes()
                self.assertLess(len(data), 60_000)
                shown = pixels(data)
                self.assertEqual((shown.width, shown.height), expected.size)

    @unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
    def test_each_program_draws_its_picture(self) -> None:
        for name, expected in PICTURES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [sys.executable, str(GALLERY / f"{name}.py"), folder], capture_output=True, text=True, timeout=120,
                    env={**child_environment(), "GEOMODEL_SERVER": str(SERVER)},
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                drawn = pixels((Path(folder) / f"{name}.png").read_bytes())
                self.assertEqual((drawn.width, drawn.height), expected.size)
                for color, least in expected.colors.items():
                    self.assertGreaterEqual(drawn.count(color), least, color)
                # It has 255 colours.
                self.assertLessEqual(drawn.differing(pixels((GALLERY / f"{name}.png").read_bytes())), 0.01)

    @unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
    def test_a_package_has_a_thumbnail_of_its_first_map(self) -> None:
        with tempfile.TemporaryDirectory() as folder, geomodel.launch_sync(SERVER) as server:
            server.map.create(id="m", background_color="#DCE9F2")
            server.source.open(id="w", path=ROOT / "Tests" / "Fixtures" / "naturalearth_110m.gpkg")
            server.layer.add(map="m", source="w", source_layer="countries", id="l")
            for name, members in (("unloaded", set()), ("loaded", {"thumbnail.png"})):
                server.package.export(path=f"{folder}/{name}.gmpk")
                with zipfile.ZipFile(f"{folder}/{name}.gmpk") as package:
                    self.assertEqual(set(package.namelist()) & {"thumbnail.png"}, members)
                    if members:
                        drawn = pixels(package.read("thumbnail.png"))
                        self.assertEqual((drawn.width, drawn.height), (256, 192))
                        self.assertGreater(drawn.count("#DCE9F2"), 10_000)
                        self.assertGreater(drawn.count("#D3D3D3"), 3000)
                        index = server.package.describe(path=f"{folder}/{name}.gmpk")["index"]
                        self.assertEqual(index["thumbnail"], "thumbnail.png")
                server.layer.load(layer="l")


if __name__ == "__main__":
    unittest.main()
