"""Joins of random points, lines and polygons, against shapely and geopandas."""

from __future__ import annotations

import array
import base64
import random
import unittest
from typing import Any

from support import SERVER, needs_server

import geomodel

try:
    import geopandas
    import shapely
except ImportError:
    geopandas = None

RELATIONS = ["intersects", "within", "contains", "crosses", "overlaps", "touches"]


def numbers(column: Any) -> list[Any]:
    values = array.array({"int64": "q", "float64": "d"}[column["type"]])
    values.frombytes(base64.b64decode(column["data"]))
    return values.tolist()


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class JoinTests(unittest.TestCase):
    def setUp(self) -> None:
        self.random = random.Random(12)
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.map.create(id="m1")
        self.server.view.create(id="v1", map="m1")

    def position(self) -> tuple[int, int]:
        # Of a coarse grid, so that positions are shared.
        return self.random.randrange(25), self.random.randrange(25)

    def box(self) -> Any:
        x, y = self.position()
        return shapely.box(x, y, x + self.random.randint(1, 6), y + self.random.randint(1, 6))

    def area(self) -> Any:
        if self.random.random() < 0.5:
            return self.box()
        hull = shapely.MultiPoint([self.position() for _ in range(5)]).convex_hull
        return hull if hull.geom_type == "Polygon" else self.box()

    def line(self) -> Any:
        return shapely.LineString([self.position() for _ in range(3)])

    def overlay(self, name: str, shapes: list[Any]) -> Any:
        self.server.overlay.create(id=name, view="v1", spatial_reference="EPSG:3857")
        frame = geopandas.GeoDataFrame(
            {"n": [self.random.randrange(-50, 50) for _ in shapes]}, geometry=shapes, crs="EPSG:3857")
        self.server.overlay.add_graphics(overlay=name, graphics=frame)
        return frame

    def pairs(self, **params: Any) -> list[tuple[int, int]]:
        answer = self.server.feature.join(**params)
        found = list(zip(numbers(answer["ids"]), numbers(answer["joinedIds"])))
        self.assertEqual(answer["pairCount"], len(found))
        return found

    def test_pairs_are_those_of_geopandas(self) -> None:
        frames = {
            "points": self.overlay("points", [shapely.Point(self.position()) for _ in range(400)]),
            "areas": self.overlay("areas", [self.area() for _ in range(150)]),
            "lines": self.overlay("lines", [self.line() for _ in range(150)]),
        }
        some = 0
        for left in frames:
            for right in frames:
                for relation in RELATIONS:
                    if left == right == "lines" and relation in ("crosses", "overlaps"):
                        # GEOS before 3.13 rounds where lines meet.
                        continue
                    with self.subTest(left=left, right=right, relation=relation):
                        wanted = geopandas.sjoin(frames[left], frames[right], predicate=relation)
                        wanted = sorted(zip(wanted.index.tolist(), wanted["index_right"].tolist()))
                        found = self.pairs(overlay=left, join={"overlay": right}, relationship=relation)
                        self.assertEqual(found, wanted)
                        some += bool(wanted)
        self.assertGreater(some, 25)

    def test_equal_ones_are_those_of_shapely(self) -> None:
        shapes = [self.box() for _ in range(80)] + [self.area() for _ in range(80)]
        shapes += [shapely.reverse(each) for each in self.random.sample(shapes, 30)]
        frame = self.overlay("o1", shapes)
        wanted = [(i, k) for i, a in enumerate(frame.geometry) for k, b in enumerate(frame.geometry) if a.equals(b)]
        self.assertEqual(self.pairs(overlay="o1", join={"overlay": "o1"}, relationship="equals"), wanted)

    def test_counts_and_figures_are_those_of_pandas(self) -> None:
        points = self.overlay("points", [shapely.Point(self.position()) for _ in range(500)])
        areas = self.overlay("areas", [self.box() for _ in range(60)])
        types = {"sum": "sum", "mean": "mean", "min": "min", "max": "max", "standardDeviation": "std", "variance": "var"}
        for least in (-50, 20, 48):
            answer = self.server.feature.join(
                overlay="areas", join={"overlay": "points", "whereClause": f"n >= {least}"}, output="counts",
                aggregates=[{"type": each, "field": "n"} for each in types])
            some = points[points["n"] >= least]
            joined = geopandas.sjoin(areas[["geometry"]], some, predicate="intersects").groupby(level=0)["n"]
            self.assertEqual(numbers(answer["counts"]), joined.count().reindex(areas.index, fill_value=0).tolist())
            for each, name in types.items():
                # Without any it is not a number.
                wanted = joined.agg(name).reindex(areas.index)
                for found, value in zip(numbers(answer["aggregates"][f"{each}_n"]), wanted):
                    self.assertTrue(found == value or (found != found and value != value) or abs(found - value) < 1e-12)


if __name__ == "__main__":
    unittest.main()
