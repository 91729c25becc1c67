"""Buffers and measures on the ellipsoid, on the real server, against the geodesics of pyproj."""

from __future__ import annotations

import random
import unittest
from typing import Any

from support import SERVER, needs_server

import geomodel

try:
    import numpy
    import pyproj
    import shapely
except ImportError:
    pyproj = None

WGS84 = "EPSG:4326"


def distances(places: Any, line: list[Any]) -> Any:
    """The distances of places from a line of geodesics: its places are searched by thirds."""
    geod = pyproj.Geod(ellps="WGS84")
    least = numpy.full(len(places), numpy.inf)
    for start, end in zip(line, line[1:] or line):
        azimuth, _, length = geod.inv(*start, *end)

        def gap(at: Any) -> Any:
            whole = numpy.full(len(places), 1.0)
            on = geod.fwd(whole * start[0], whole * start[1], whole * azimuth, at)
            return geod.inv(on[0], on[1], places[:, 0], places[:, 1])[2]

        steps = max(8, int(length / 200_000))
        coarse = numpy.array([gap(numpy.full(len(places), length * step / steps)) for step in range(steps + 1)])
        best = coarse.argmin(axis=0)
        low, high = numpy.maximum(best - 1, 0) * length / steps, numpy.minimum(best + 1, steps) * length / steps
        for _ in range(60):
            third, other = low + (high - low) / 3, high - (high - low) / 3
            is_low = gap(third) < gap(other)
            low, high = numpy.where(is_low, low, third), numpy.where(is_low, other, high)
        least = numpy.minimum(least, numpy.minimum(gap((low + high) / 2), coarse.min(axis=0)))
    return least


def outline(area: Any) -> Any:
    """Places along the sides of an area, between its positions as well, without the edges of the world."""
    found = []
    for ring in shapely.get_rings(shapely.get_parts(area)):
        corners = shapely.get_coordinates(ring)
        start, end = corners[:-1], corners[1:]
        is_edge = (abs(start[:, 0]) == 180) & (start[:, 0] == end[:, 0]) | (abs(start[:, 1]) == 90) & (start[:, 1] == end[:, 1])
        found += [start[~is_edge] * (1 - share) + end[~is_edge] * share for share in (0, 0.25, 0.5, 0.75)]
    return numpy.vstack(found)


@unittest.skipIf(pyproj is None, "no pyproj")
@needs_server
class GeodeticTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.server = geomodel.launch_sync(SERVER).__enter__()
        cls.geod = pyproj.Geod(ellps="WGS84")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()

    def buffer(self, line: list[Any], distance: float, shape: Any = None) -> Any:
        """The buffer, whose outline is where it should be within a metre, or a thousandth of the distance."""
        shape = shape or (shapely.LineString(line) if len(line) > 1 else shapely.Point(line[0]))
        area: Any = self.server.geometry.geodetic_buffer(geometry=shape, spatial_reference=WGS84, distance=distance)["geometry"]
        self.assertTrue(area.is_valid)
        places = outline(area)
        places = places[:: 1 + len(places) // 1000]
        off = distances(places, line) - abs(distance)
        self.assertLess(abs(off).max(), min(1, max(abs(distance) / 1000, 0.001)), line)
        return area

    def test_lines_and_points(self) -> None:
        far = self.geod.fwd(10, 50, 60, 5e6)[:2]
        for line, distance in (
            ([(10, 50), far], 500e3),
            ([(10, 50)], 5),
            ([(10, 80)], 3e6),
            ([(0, 90)], 1e6),
            ([(0, 80)], self.geod.inv(0, 80, 0, 90)[2]),
            ([(10, 50)], 12e6),
            ([(170, 10), (-150, 30)], 500e3),
            ([(0, 0), (20, 10), (5, 20), (30, 40)], 400e3),
            ([(0, 70), (180, 70)], 500e3),
            ([(40, 70), (0, 90)], 700e3),
            ([(0, -80), (90, -80), (180, -80), (-90, -80), (0, -80)], 300e3),
        ):
            self.buffer(line, distance)

    def test_polygons_grow_and_shrink(self) -> None:
        box = [(0, 0), (40, 0), (40, 30), (0, 30), (0, 0)]
        grown = self.buffer(box, 500e3, shapely.Polygon(box))
        self.assertTrue(grown.contains(shapely.Point(20, 15)))
        shrunk = self.buffer(box, -500e3, shapely.Polygon(box))
        self.assertTrue(shrunk.contains(shapely.Point(20, 15)) and shapely.Polygon(box).contains(shrunk))

    def test_random_lines(self) -> None:
        numbers = random.Random(7)
        for _ in range(12):
            place = (numbers.uniform(-180, 180), numbers.uniform(-88, 88))
            line = [place]
            for _ in range(numbers.randint(1, 6)):
                step = numbers.choice((1e4, 1e5, 1e6, 3e6))
                line.append(self.geod.fwd(*line[-1], numbers.uniform(0, 360), step)[:2])
            self.buffer(line, numbers.choice((1e3, 1e5, 1e6, 2e6)))

    def test_small_shapes(self) -> None:
        numbers = random.Random(8)
        for _ in range(10):
            place = (numbers.uniform(-179, 179), numbers.uniform(-81, 81))
            step = numbers.choice((3, 30, 300, 3000))
            corners = [self.geod.fwd(*place, turn + numbers.uniform(0, 40), step)[:2] for turn in (90, 0, -90, -180)]
            distance = step * numbers.choice((0.3, 1, 5))
            self.buffer([*corners, corners[0]], distance, shapely.Polygon(corners))
            self.buffer(corners, distance)
            self.buffer(corners[:1], distance)
            self.buffer([*corners, corners[0]], -0.1 * step, shapely.Polygon(corners))

    def test_measures(self) -> None:
        numbers = random.Random(8)
        lines = [
            shapely.LineString([(numbers.uniform(-80, 80), numbers.uniform(-89, 89)) for _ in range(5)]) for _ in range(50)
        ]
        values: Any = self.server.geometry.geodetic_length(geometries=lines, spatial_reference=WGS84)["values"]
        for value, line in zip(values, lines):
            self.assertAlmostEqual(value, self.geod.geometry_length(line), delta=1e-6)
        areas = [line.convex_hull for line in lines]
        values = self.server.geometry.geodetic_area(geometries=areas, spatial_reference=WGS84)["values"]
        for value, area in zip(values, areas):
            self.assertAlmostEqual(value, abs(self.geod.geometry_area_perimeter(area)[0]), delta=abs(value) * 1e-9)
        found: Any = self.server.geometry.geodetic_distance(
            geometry=shapely.Point(2, 48), other=shapely.Point(179, -30), spatial_reference=WGS84
        )
        start, end, length = self.geod.inv(2, 48, 179, -30)
        self.assertAlmostEqual(found["values"][0], length, delta=1e-6)
        self.assertAlmostEqual(found["azimuths"][0], start % 360, delta=1e-9)
        self.assertAlmostEqual(found["endAzimuths"][0], (end + 180) % 360, delta=1e-9)


if __name__ == "__main__":
    unittest.main()
