"""Clusters of 10^5 points, against supercluster itself, in single precision as it is and in double precision.

Needs Node.js, and supercluster's JavaScript: the file that GEOMODEL_SUPERCLUSTER names (its distribution `supercluster.js`, or a bundle that has it),
or the package dash-leaflet in this Python, which has version 8. Skipped without: a minute or two with a server built for release.
"""

from __future__ import annotations

import array
import base64
import importlib.util
import json
import os
import random
import shutil
import subprocess
import unittest
from collections import Counter
from pathlib import Path

from support import SERVER, needs_server

import geomodel

PROGRAM = Path(__file__).with_name("supercluster.js")
MAX_ZOOM = 16
RADIUS = 60
Nodes = list[tuple[int, float, float]]  # count, longitude, latitude


def bundle() -> str | None:
    if given := os.environ.get("GEOMODEL_SUPERCLUSTER"):
        return given
    package = importlib.util.find_spec("dash_leaflet")
    path = Path(package.origin).with_name("async-GeoJSON.js") if package and package.origin else None
    return str(path) if path and path.is_file() else None


def of_supercluster(points: list[tuple[float, float]], bits: int) -> list[Nodes]:
    """The clusters and single points of each zoom, points in ascending order of ids."""
    question = json.dumps({"points": points, "maxZoom": MAX_ZOOM, "radius": RADIUS, "bits": bits})
    answer = subprocess.run(["node", str(PROGRAM), str(bundle())], input=question, capture_output=True, text=True, check=True)
    return [[tuple(each) for each in nodes] for nodes in json.loads(answer.stdout)]


def numbers(values: list[float]) -> dict[str, str]:
    return {"type": "float64", "data": base64.b64encode(array.array("d", values).tobytes()).decode()}


def counts(nodes: Nodes) -> Counter[int]:
    return Counter(count for count, _, _ in nodes)


def difference(one: Counter[int], other: Counter[int]) -> int:
    return ((one - other) + (other - one)).total()


@unittest.skipIf(shutil.which("node") is None, "no Node.js")
@unittest.skipIf(bundle() is None, "no supercluster: set GEOMODEL_SUPERCLUSTER, or install dash-leaflet")
@needs_server
class SuperclusterTests(unittest.TestCase):
    def of_server(self, points: list[tuple[float, float]]) -> list[Nodes]:
        columns = {"x": numbers([x for x, _ in points]), "y": numbers([y for _, y in points])}
        zooms: list[Nodes] = []
        with geomodel.launch_sync(SERVER) as server:
            for zoom in range(MAX_ZOOM + 2):
                nodes: Nodes = []
                exceeded = True
                while exceeded:
                    page = server.call("cluster/points", {
                        "points": columns, "zoom": zoom, "maxZoom": MAX_ZOOM, "radius": RADIUS, "offset": len(nodes)})
                    nodes += [(each["count"], *each["geometry"]["coordinates"]) for each in page["clusters"]]
                    exceeded = page["exceededLimit"]
                zooms.append(nodes)
        return zooms

    def compare(self, points: list[tuple[float, float]]) -> None:
        ours, single, double = self.of_server(points), of_supercluster(points, 32), of_supercluster(points, 64)
        for zoom in range(MAX_ZOOM + 2):
            with self.subTest(zoom=zoom):
                # In double precision nothing differs, although the server rounds to 2^-32 of the world.
                self.assertEqual(counts(ours[zoom]), counts(double[zoom]))
                for axis in (1, 2):
                    pairs = zip(sorted(each[axis] for each in ours[zoom]), sorted(each[axis] for each in double[zoom]))
                    self.assertLess(max(abs(a - b) for a, b in pairs), 360 / 2**32 * 2)
                # In single precision (2^-25 of the world; 60 pixels of zoom 16 are 2^-19) as much differs as does between the two precisions.
                self.assertLessEqual(difference(counts(ours[zoom]), counts(single[zoom])), len(single[zoom]) / 100)
                self.assertLessEqual(abs(len(ours[zoom]) - len(single[zoom])), len(single[zoom]) / 1000)

    def test_clustered_points(self) -> None:
        numbers = random.Random(1)
        centers = [(numbers.uniform(-170, 170), numbers.uniform(-70, 70), 10 ** numbers.uniform(-4, 1)) for _ in range(200)]
        points = []
        for _ in range(100_000):
            x, y, spread = numbers.choice(centers)
            points.append((max(-180.0, min(180.0, numbers.gauss(x, spread))), max(-85.0, min(85.0, numbers.gauss(y, spread / 2)))))
        self.compare(points)

    def test_random_points(self) -> None:
        numbers = random.Random(2)
        self.compare([(numbers.uniform(-180, 180), numbers.uniform(-85, 85)) for _ in range(100_000)])


if __name__ == "__main__":
    unittest.main()
