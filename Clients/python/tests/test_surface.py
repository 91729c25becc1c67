"""Analyses of the ground against GDAL's tools, whose results for the same hills are in Tests/Fixtures/surface.json.

`python3 test_surface.py FILE` writes that file anew, with gdal_contour, gdal_viewshed and gdaldem in the path.
"""

from __future__ import annotations

import base64
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import SERVER, needs_server

import geomodel

EXPECTED = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "surface.json"
# Beside the central meridian of zone 16, where grid north is true north within 0.02 degrees.
SIZE, CELL, WEST, SOUTH = 120, 30, 498_000, 4_050_000
UTM = "EPSG:32616"
WKT = (
    'PROJCS["WGS 84 / UTM zone 16N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
    'UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",-87],'
    'PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0],UNIT["metre",1],AUTHORITY["EPSG","32616"]]'
)
HILLS = [(40, 40, 400, 15), (75, 50, 300, 12), (60, 85, 350, 18), (90, 90, 150, 8)]
OBSERVER = (55, 60)


def height(column: int, row: int) -> float:
    return round(100 + sum(h * math.exp(-((column - x) ** 2 + (row - y) ** 2) / 2 / w / w) for x, y, h, w in HILLS), 3)


def write(folder: Path) -> Path:
    rows = "\n".join(" ".join(f"{height(column, row):.3f}" for column in range(SIZE)) for row in range(SIZE))
    path = folder / "hills.asc"
    path.write_text(f"ncols {SIZE}\nnrows {SIZE}\nxllcorner {WEST}\nyllcorner {SOUTH}\ncellsize {CELL}\nNODATA_value -9999\n{rows}\n")
    (folder / "hills.prj").write_text(WKT)
    return path


def middle(column: int, row: int) -> tuple[float, float]:
    return WEST + (column + 0.5) * CELL, SOUTH + (SIZE - row - 0.5) * CELL


def length(line: list[list[float]]) -> float:
    return sum(math.dist(a, b) for a, b in zip(line, line[1:]))


def lengths(features: list[Any]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for feature in features:
        level = f"{feature['properties']['elevation']:g}"
        sums[level] = sums.get(level, 0) + length(feature["geometry"]["coordinates"])
    return sums


def grid(path: Path) -> list[list[float]]:
    """The cells of a file, by gdal_translate as text."""
    text = path.with_suffix(".txt.asc")
    subprocess.run(["gdal_translate", "-q", "-of", "AAIGrid", path, text], check=True)
    rows = [line.split() for line in text.read_text().splitlines()]
    return [[float(number) for number in row] for row in rows if len(row) == SIZE]


@needs_server
class SurfaceTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.scene.create(id="s", elevation_sources=[write(Path(folder.name))])
        self.expected = json.loads(EXPECTED.read_text())

    def cells(self, quantity: Any) -> Any:
        found: Any = self.server.surface.cells(scene="s", quantity=quantity)["cells"]
        self.assertEqual((found["width"], found["height"]), (SIZE, SIZE))
        data = memoryview(base64.b64decode(found["data"]))
        return list(data) if found["type"] == "uint8" else data.cast("f").tolist()

    def test_contours_are_as_long_as_those_of_gdal_contour(self) -> None:
        found: Any = self.server.surface.contours(scene="s", spatial_reference=UTM, interval=50, base=25)
        ours = lengths(found["features"])
        self.assertEqual(ours.keys(), self.expected["contours"].keys())
        for level, known in self.expected["contours"].items():
            if level == "125":
                # It reaches the edge, where GDAL goes on for half a cell at each end.
                known -= CELL
            self.assertAlmostEqual(ours[level] / known, 1, delta=1e-4)

    def test_slopes_and_shading_are_those_of_gdaldem(self) -> None:
        slopes, shading = self.cells("slope"), self.cells("hillshade")
        for column, row, slope, shade in self.expected["slopes"]:
            # Distances on the ground are 0.9996 of those in the grid.
            self.assertAlmostEqual(slopes[row * SIZE + column] / slope, 1, delta=6e-4)
            self.assertAlmostEqual(shading[row * SIZE + column], shade, delta=1)
        places: Any = [{"type": "Point", "coordinates": middle(c, r)} for c, r, _, _ in self.expected["slopes"]]
        one: Any = self.server.surface.slope(scene="s", points=places, spatial_reference=UTM)
        for (column, row, _, _), slope in zip(self.expected["slopes"], one["slope"]):
            self.assertAlmostEqual(slopes[row * SIZE + column], slope, delta=1e-4)

    def test_a_viewshed_is_that_of_gdal_viewshed_but_at_its_edges(self) -> None:
        point: Any = {"type": "Point", "coordinates": middle(*OBSERVER)}
        found: Any = self.server.surface.viewshed(
            scene="s", observer=point, spatial_reference=UTM, max_distance=10_000, observer_height=20, output="cells")
        seen, known = base64.b64decode(found["cells"]["data"]), base64.b64decode(self.expected["viewshed"])
        other = sum(seen[index] != (known[index // 8] >> index % 8 & 1) for index in range(SIZE * SIZE))
        self.assertLess(other, SIZE * SIZE * 0.015)

    def test_a_viewshed_is_what_lines_of_sight_see(self) -> None:
        point: Any = {"type": "Point", "coordinates": middle(*OBSERVER)}
        found: Any = self.server.surface.viewshed(
            scene="s", observer=point, spatial_reference=UTM, max_distance=10_000, observer_height=20, output="cells")
        seen = base64.b64decode(found["cells"]["data"])
        some = [(column, row) for column in range(2, SIZE, 5) for row in range(3, SIZE, 5)]
        targets: Any = [{"type": "Point", "coordinates": middle(*each)} for each in some]
        lines: Any = self.server.surface.line_of_sight(
            scene="s", observers=[point], targets=targets, spatial_reference=UTM, observer_height=20, step=3)["lines"]
        other = sum((line["state"] == "visible") != (seen[row * SIZE + column] == 1) for (column, row), line in zip(some, lines))
        self.assertLess(other, len(some) * 0.01)

    def test_heights_of_a_profile_are_bilinear(self) -> None:
        line: Any = {"type": "LineString", "coordinates": [middle(10, 15), middle(100, 92)]}
        found: Any = self.server.surface.profile(scene="s", line=line, spatial_reference=UTM, count=60)
        for x, y, elevation in zip(found["x"], found["y"], found["elevation"]):
            column, row = (x - WEST) / CELL - 0.5, SIZE - (y - SOUTH) / CELL - 0.5
            c, r = int(column), int(row)
            u, v = column - c, row - r
            known = (height(c, r) * (1 - u) + height(c + 1, r) * u) * (1 - v) + (height(c, r + 1) * (1 - u) + height(c + 1, r + 1) * u) * v
            self.assertAlmostEqual(elevation, known, delta=1e-4)
        self.assertAlmostEqual(found["length"] * 0.9996 / math.dist(middle(10, 15), middle(100, 92)), 1, delta=1e-6)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write(folder)
        x, y = middle(*OBSERVER)
        for command in (
            ["gdal_contour", "-q", "-a", "elevation", "-i", "50", "-off", "25", "-f", "GeoJSON", "-lco", "RFC7946=NO", path, folder / "lines.json"],
            ["gdal_viewshed", "-q", "-ox", x, "-oy", y, "-oz", 20, "-md", 10_000, "-cc", 0.87, "-vv", 1, "-iv", 0, path, folder / "seen.tif"],
            ["gdaldem", "slope", "-q", path, folder / "slope.tif"],
            ["gdaldem", "hillshade", "-q", path, folder / "shade.tif"],
        ):
            subprocess.run([str(word) for word in command], check=True)
        seen = [int(number) for row in grid(folder / "seen.tif") for number in row]
        bits = bytes(sum(seen[start + bit] << bit for bit in range(8)) for start in range(0, SIZE * SIZE, 8))
        slopes, shading = grid(folder / "slope.tif"), grid(folder / "shade.tif")
        version = subprocess.run(["gdalinfo", "--version"], check=True, capture_output=True, text=True).stdout.split(",")[0]
        some = [(20, 30), (40, 55), (45, 33), (60, 70), (75, 60), (88, 84), (100, 50), (60, 100), (30, 60), (50, 45)]
        known = {
            "by": version,
            "contours": {level: round(sum_, 3) for level, sum_ in lengths(json.loads((folder / "lines.json").read_text())["features"]).items()},
            "slopes": [[c, r, round(slopes[r][c], 4), shading[r][c]] for c, r in some], "viewshed": base64.b64encode(bits).decode()}
        Path(sys.argv[1]).write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
