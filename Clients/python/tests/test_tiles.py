"""Vector tiles of layers, read by a decoder that is not ours: needs the packages mapbox-vector-tile and shapely."""

from __future__ import annotations

import math
import random
import unittest

from tiling import TilesCase, area, decoded, faults, feature, has, rectangle


@unittest.skipUnless(has("mapbox_vector_tile"), "no mapbox-vector-tile")
class TilesTest(TilesCase):
    def test_typed_attributes_and_places(self) -> None:
        self.load([
            feature(1, {"type": "Point", "coordinates": [0, 0]}, text="é", whole=7, less=-3, big=2**53, part=0.5, yes=True, none=None, list=[1]),
            feature(2, {"type": "Point", "coordinates": [90, 0]}, text="b"),
        ])
        answer, found = self.tile(0, 0, 0)
        self.assertEqual((answer["featureCount"], answer["isThinned"]), (2, False))
        self.assertEqual(
            found[0]["properties"], {"text": "é", "whole": 7, "less": -3, "big": 2**53, "part": 0.5, "yes": True, "list": "[1]"}
        )
        self.assertEqual([each["id"] for each in found], [1, 2])
        self.assertEqual([each["geometry"]["coordinates"] for each in found], [[2048, 2048], [3072, 2048]])
        _, found = self.tile(0, 0, 0, properties=["yes", "unknown"])
        self.assertEqual([each["properties"] for each in found], [{"yes": True}, {}])
        self.assertEqual(self.tile(1, 0, 1)[1][0]["geometry"]["coordinates"], [4096, 0])
        self.assertEqual(self.tile(3, 0, 0)[1], [])

    def test_rings_wind_as_the_format_demands(self) -> None:
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [rectangle(-60, -40, 60, 40), rectangle(-10, -10, 10, 10)]}),
            feature(2, {"type": "Polygon", "coordinates": [rectangle(-60, -40, 60, 40)[::-1], rectangle(-10, -10, 10, 10)[::-1]]}),
            feature(3, {"type": "MultiPolygon", "coordinates": [[rectangle(70, 0, 71, 1)], [rectangle(80, 0, 80.0001, 0.0001)]]}),
            feature(4, {"type": "Polygon", "coordinates": [rectangle(80, 0, 80.0001, 0.0001)]}),
        ])
        _, found = self.tile(0, 0, 0)
        self.assertEqual([each["id"] for each in found], [1, 2, 3])
        for each in found[:2]:
            shell, hole = each["geometry"]["coordinates"]
            self.assertGreater(area(shell), 0)
            self.assertLess(area(hole), 0)
        self.assertEqual(found[2]["geometry"]["type"], "Polygon")
        # Cut at the buffer: 64 units on each side.
        xs = [x for x, _ in self.tile(3, 4, 4)[1][0]["geometry"]["coordinates"][0]]
        self.assertEqual((min(xs), max(xs)), (-64, 4160))

    @unittest.skipUnless(has("shapely"), "no shapely")
    def test_areas_are_valid(self) -> None:
        chance = random.Random(1)
        # Combs whose teeth go beyond the buffer, areas that touch when rounded, a star that crosses itself, holes near the edge.
        comb = [[-100, -60], *([x / 4, -60 if x % 2 else 60] for x in range(-400, 400)), [100, -80], [-100, -80], [-100, -60]]
        star = [[chance.uniform(-90, 90), chance.uniform(-60, 60)] for _ in range(120)]
        thin = [[rectangle(x, 0, x + 0.04, 50)] for x in range(0, 20)] + [[rectangle(x + 0.05, 0, x + 1, 50)] for x in range(0, 20)]
        shell = rectangle(-60, -60, -20, 60)
        holes = [[[-60 + x, y], [-60 + x + 0.2, y], [-60 + x + 0.1, y + 0.15], [-60 + x, y]] for x in (0.001, 5, 39.79) for y in range(-50, 50)]
        coast = [[math.cos(a / 500 * math.pi) * r, math.sin(a / 500 * math.pi) * r] for a in range(1000) for r in [chance.uniform(60, 61)]]
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [comb]}),
            feature(2, {"type": "Polygon", "coordinates": [[*star, star[0]]]}),
            feature(3, {"type": "MultiPolygon", "coordinates": thin}),
            feature(4, {"type": "Polygon", "coordinates": [shell, *holes]}),
            feature(5, {"type": "Polygon", "coordinates": [[*coast, coast[0]]]}),
        ], name="l1")
        for z in range(4):
            for x in range(2**z):
                for y in range(2**z):
                    answer = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": y})
                    for layer in decoded(answer["data"]).values() if answer["data"] else []:
                        self.assertEqual((z, x, y, faults(layer)), (z, x, y, []))
                    self.assertEqual(answer["failedCount"], 0)
        whole = {each["id"]: each for each in self.tile(0, 0, 0)[1]}
        self.assertEqual(set(whole), {1, 2, 3, 4, 5})
        # A hole is kept where it has an area on the grid.
        self.assertGreater(len(whole[4]["geometry"]["coordinates"]), 50)

    def test_lines_are_cut_into_pieces(self) -> None:
        self.load([feature(1, {"type": "LineString", "coordinates": [[-170, 10], [-100, 80], [-100, 10], [-10, 10], [-10, 20]]})])
        _, found = self.tile(1, 0, 0)
        self.assertEqual(found[0]["geometry"]["type"], "LineString")
        _, found = self.tile(3, 2, 3)
        kind, parts = found[0]["geometry"]["type"], found[0]["geometry"]["coordinates"]
        self.assertEqual((kind, len(parts)), ("LineString", 2))
        for part in [parts] if kind == "LineString" else parts:
            for x, y in part:
                self.assertTrue(-64 <= x <= 4160 and -64 <= y <= 4160)

    def test_both_sides_of_the_antimeridian(self) -> None:
        self.load([
            feature(1, {"type": "Polygon", "coordinates": [rectangle(170, -10, 190, 10)]}),
            feature(2, {"type": "Point", "coordinates": [-179.99, 0]}),
        ])
        _, east = self.tile(1, 1, 0)
        _, west = self.tile(1, 0, 0)
        self.assertEqual([each["id"] for each in east], [1, 2])
        self.assertEqual([each["id"] for each in west], [1, 2])
        self.assertGreater(max(x for x, _ in east[0]["geometry"]["coordinates"][0]), 4096)
        self.assertEqual(min(x for x, _ in west[0]["geometry"]["coordinates"][0]), -64)

    def test_other_references(self) -> None:
        self.load([feature(1, {"type": "Point", "coordinates": [500000, 5000000]}, name="a")], "EPSG:32632")
        z = 10
        longitude, latitude = 9.0, 45.1535
        x = int((longitude + 180) / 360 * 2**z)
        y = int((1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2 * 2**z)
        _, found = self.tile(z, x, y)
        self.assertEqual(len(found), 1)

    def test_thinned_by_size_and_limits(self) -> None:
        points = [feature(n, {"type": "Point", "coordinates": [n % 100 / 10, n // 100 / 10]}) for n in range(3000)]
        self.load([*points, feature(9999, {"type": "LineString", "coordinates": [[0, 0], [9, 9]]})])
        answer, found = self.tile(0, 0, 0, maxFeatures=100)
        self.assertEqual((answer["featureCount"], answer["isThinned"], answer["omittedCount"]), (100, True, 2901))
        self.assertEqual(found[-1]["id"], 9999)
        self.assertEqual(found, self.tile(0, 0, 0, maxFeatures=100)[1])
        more = {each["id"] for each in self.tile(0, 0, 0, maxFeatures=200)[1]}
        self.assertLess({each["id"] for each in found}, more)
        answer, _ = self.tile(0, 0, 0, maxBytes=5000)
        self.assertTrue(2500 < answer["bytes"] <= 5000, answer["bytes"])

    def test_filters_selection_and_clusters(self) -> None:
        points = [feature(n, {"type": "Point", "coordinates": [n / 1000, 0]}, n=n) for n in range(50)]
        self.load(points)
        self.server.call("layer/update", {"layer": "l1", "definitionExpression": "n >= 10"})
        self.server.call("layer/select", {"layer": "l1", "ids": [12]})
        _, found = self.tile(0, 0, 0)
        self.assertEqual(len(found), 40)
        self.assertEqual([each["id"] for each in found if each["properties"].get("_selected")], [12])
        statistics = [{"type": "sum", "field": "n", "name": "total"}]
        self.server.call("layer/update", {"layer": "l1", "featureReduction": {"aggregateFields": statistics}})
        _, found = self.tile(0, 0, 0)
        self.assertEqual([(each["id"], each["properties"]["cluster_count"]) for each in found], [(10, 40)])
        self.assertEqual(found[0]["properties"]["total"], sum(range(10, 50)))
        self.assertIs(found[0]["properties"]["_selected"], True)
        _, found = self.tile(22, 1 << 21, (1 << 21) - 1)
        self.assertTrue(all("_cluster" not in each["properties"] for each in found))


if __name__ == "__main__":
    unittest.main()
