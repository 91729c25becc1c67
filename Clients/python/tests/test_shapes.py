"""Operations of `geometry.*` with geometries of Shapely, on the real server, against Shapely."""

from __future__ import annotations

import random
import unittest
from typing import Any

from support import SERVER, needs_server

import geomodel

try:
    import geopandas
    import numpy
    import shapely
    from shapely import affinity
except ImportError:
    geopandas = None


def polygons(count: int, seed: int) -> list[Any]:
    """Stars with a hole now and then, all valid."""
    numbers = random.Random(seed)
    made = []
    for _ in range(count):
        x, y, corners = numbers.uniform(0, 50), numbers.uniform(0, 50), numbers.randint(3, 40)
        ring = [
            (x + (radius := numbers.uniform(2, 9)) * numpy.cos(angle), y + radius * numpy.sin(angle))
            for angle in numpy.linspace(0, 2 * numpy.pi, corners, endpoint=False)
        ]
        shape = shapely.Polygon(ring)
        made.append(shape.difference(shapely.Point(x, y).buffer(1)) if numbers.random() < 0.3 else shape)
    return made


def lines(count: int, seed: int) -> list[Any]:
    numbers = random.Random(seed)
    return [
        shapely.LineString([(numbers.uniform(0, 50), numbers.uniform(0, 50)) for _ in range(numbers.randint(2, 9))])
        for _ in range(count)
    ]


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class ShapeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.server = geomodel.launch_sync(SERVER).__enter__()
        cls.shapes = polygons(150, 1) + lines(50, 2) + [shapely.Point(7, 7), shapely.MultiPoint([(1, 1), (9, 3)])]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()

    def same(self, made: Any, wanted: Any, tolerance: float = 1e-9) -> None:
        """The same areas, lines and points but for a strip that the tolerance allows."""
        self.assertEqual(len(made), len(wanted))
        for one, other in zip(made, wanted):
            self.assertEqual(one.is_empty, other.is_empty, (one, other))
            if not one.is_empty:
                self.assertLess(shapely.hausdorff_distance(one, other), tolerance, (one, other))
                self.assertAlmostEqual(one.area, other.area, delta=tolerance * 100)

    def test_what_costs_much_is_made_elsewhere_and_comes_back(self) -> None:
        numbers = random.Random(5)
        tangle = shapely.LineString([(numbers.uniform(0, 100), numbers.uniform(0, 100)) for _ in range(400)])
        made = self.server.geometry.buffer(geometry=tangle, distance=0.1, quadrant_segments=8)["geometry"]
        self.same([made], [tangle.buffer(0.1, quad_segs=8)])

    def test_areas(self) -> None:
        series = geopandas.GeoSeries(self.shapes)
        for distance in (3, 0.1, -0.5):
            made = self.server.geometry.buffer(geometries=series, distance=distance, quadrant_segments=8)["geometries"]
            self.same(made, series.buffer(distance, quad_segs=8))
        flat = self.server.geometry.buffer(geometries=series, distance=1, cap="flat", join="mitre", mitre_limit=2)["geometries"]
        self.same(flat, shapely.buffer(self.shapes, 1, quad_segs=8, cap_style="flat", join_style="mitre", mitre_limit=2))
        other = polygons(1, 3)[0]
        for method, wanted in (("intersection", shapely.intersection), ("difference", shapely.difference),
                               ("symmetric_difference", shapely.symmetric_difference)):
            made = getattr(self.server.geometry, method)(geometries=series, other=other)["geometries"]
            self.same(made, wanted(self.shapes, other), 1e-7)
        pairs = self.server.geometry.intersection(geometries=self.shapes[:150], others=polygons(150, 4))["geometries"]
        self.same(pairs, shapely.intersection(self.shapes[:150], polygons(150, 4)), 1e-7)
        union = self.server.geometry.union(geometries=self.shapes[:150])["geometries"][0]
        self.assertLess(union.symmetric_difference(shapely.union_all(self.shapes[:150])).area, 1e-7)
        far = [affinity.translate(shape, 100 * (row % 9), 0) for row, shape in enumerate(self.shapes[:150])]
        union = self.server.geometry.union(geometries=far)["geometries"][0]
        self.assertLess(union.symmetric_difference(shapely.union_all(far)).area, 1e-7)

    def test_forms_and_measures(self) -> None:
        geometry = self.server.geometry
        self.same(geometry.convex_hull(geometries=self.shapes)["geometries"], shapely.convex_hull(self.shapes))
        self.same(geometry.centroid(geometries=self.shapes)["geometries"], shapely.centroid(self.shapes))
        self.same(geometry.densify(geometries=self.shapes, max_segment_length=0.7)["geometries"], shapely.segmentize(self.shapes, 0.7))
        # Versions of GEOS choose other positions.
        for made, shape in zip(geometry.generalize(geometries=self.shapes, max_deviation=1.5)["geometries"], self.shapes):
            self.assertTrue(made.is_valid)
            self.assertLessEqual(shapely.get_num_coordinates(made), shapely.get_num_coordinates(shape))
            self.assertLess(max(made.distance(shapely.Point(xy)) for xy in shapely.get_coordinates(shape)), 1.5 + 1e-9)
        numpy.testing.assert_allclose(geometry.length(geometries=self.shapes)["values"], shapely.length(self.shapes), rtol=1e-12)
        numpy.testing.assert_allclose(geometry.area(geometries=self.shapes)["values"], shapely.area(self.shapes), rtol=1e-9, atol=1e-9)
        other = lines(1, 5)[0]
        made = geometry.distance(geometries=self.shapes, other=other)["values"]
        numpy.testing.assert_allclose(made, shapely.distance(self.shapes, other), rtol=1e-12, atol=1e-12)
        self.assertEqual(geometry.relate(geometries=self.shapes, other=self.shapes[0])["matrices"],
                         list(shapely.relate(self.shapes, self.shapes[0])))
        for name in ("intersects", "contains", "within", "crosses", "overlaps", "touches", "disjoint", "equals"):
            made = geometry.relate(geometries=self.shapes, other=self.shapes[0], relationship=name)["related"]
            self.assertEqual(made, getattr(shapely, name)(self.shapes, self.shapes[0]).tolist(), name)
        for shape, point in zip(self.shapes[:150], geometry.label_point(geometries=self.shapes[:150])["geometries"]):
            wanted = shapely.maximum_inscribed_circle(shape, max(shape.bounds[2] - shape.bounds[0], shape.bounds[3] - shape.bounds[1]) / 1000)
            self.assertTrue(shape.contains(point))
            self.assertAlmostEqual(shape.boundary.distance(point), wanted.length, delta=0.05)

    def test_cuts_are_the_whole(self) -> None:
        cutter = shapely.LineString([(-10, 20), (25, 31), (30, 2), (70, 40)])
        pieces = self.server.geometry.cut(geometries=self.shapes[:200], cutter=cutter)["pieces"]
        for row, shape in enumerate(self.shapes[:200]):
            own = [each for each in pieces if each["index"] == row]
            self.assertAlmostEqual(sum(each["geometry"].area for each in own), shape.area, places=6)
            self.assertAlmostEqual(shapely.union_all([each["geometry"] for each in own]).length if shape.area == 0 else 0,
                                   shape.length if shape.area == 0 and shape.is_simple else 0, places=6) if shape.is_simple else None
            if shape.area:
                self.assertEqual({each["side"] for each in own} == {"uncut"}, not shape.crosses(cutter) and not cutter.crosses(shape))
                inner = [each["geometry"].representative_point() for each in own]
                for one, other in zip(inner, inner[1:]):
                    self.assertFalse(one.equals(other))

    def test_frames_come_back(self) -> None:
        frame = geopandas.GeoDataFrame({"n": [1, 2, 3]}, geometry=[shapely.Point(9, 48), None, shapely.Point(10, 50)],
                                       crs="EPSG:4326", index=[7, 8, 9])
        made = self.server.geometry.project(geometries=frame, out_spatial_reference="EPSG:25832")["geometries"]
        self.assertEqual((list(made.index), list(made["n"]), made.crs.to_epsg()), ([7, 8, 9], [1, 2, 3], 25832))
        self.assertIsNone(made.geometry.iloc[1])
        wanted = frame.to_crs("EPSG:25832").geometry
        self.same([made.geometry.iloc[0], made.geometry.iloc[2]], [wanted.iloc[0], wanted.iloc[2]], 1e-6)
        one = self.server.geometry.buffer(geometry=shapely.Point(1, 2), distance=1)["geometry"]
        self.assertIsInstance(one, shapely.Polygon)
        many = geopandas.GeoSeries(polygons(3000, 6))
        made = self.server.geometry.buffer(geometries=many, distance=1)["geometries"]
        # Versions of GEOS differ in corners that are hardly bent.
        self.same(made, many.buffer(1, quad_segs=8), 1e-3)

    def test_references_that_differ_are_refused(self) -> None:
        first = geopandas.GeoSeries([shapely.box(500000, 5300000, 500100, 5300100)] * 2, crs=25832)
        second = geopandas.GeoSeries([shapely.box(500050, 5300050, 500200, 5300200)] * 2, crs=25832)
        call = self.server.geometry
        self.assertEqual(call.intersection(geometries=first, others=second)["geometries"].area.tolist(), [2500, 2500])
        self.assertEqual(call.area(geometries=first, spatial_reference="epsg:25832")["values"], [10000, 10000])
        for refused in (
            lambda: call.intersection(geometries=first, others=second.to_crs(4326)),
            lambda: call.distance(geometries=first, others=geopandas.GeoDataFrame(geometry=second.to_crs(3857))),
            lambda: call.auto_complete(geometries=first, lines=second.to_crs(4326).boundary),
            lambda: call.area(geometries=first, spatial_reference="EPSG:3857"),
            lambda: call.intersection(geometries=list(second), others=second, spatial_reference="EPSG:3857"),
        ):
            with self.assertRaisesRegex(geomodel.errors.EncodeError, "crs is EPSG:.* `to_crs`"):
                refused()
        degrees = first.to_crs("OGC:CRS84"), second.to_crs(4326)
        self.assertEqual(len(call.intersection(geometries=degrees[0], others=degrees[1])["geometries"]), 2)
        # A frame states the reference of the call, wherever it is.
        self.assertAlmostEqual(call.geodetic_distance(geometries=list(first), others=second)["values"][0], 0)

    def test_nothing_is_made_with_none(self) -> None:
        one, two = shapely.box(0, 0, 2, 2), shapely.box(1, 1, 3, 3)
        call = self.server.geometry
        for others in ([None, two], geopandas.GeoSeries([None, two])):
            made = call.intersection(geometries=[one, one], others=others)["geometries"]
            self.assertEqual((made[0], made[1].area), (None, 1))
        self.assertEqual(call.distance(geometries=[one, one, None], others=[two, None, two])["values"], [0, None, None])

    def test_one_number_is_no_list(self) -> None:
        with self.assertRaisesRegex(geomodel.EncodeError, "/params/others: expected a list"):
            self.server.geometry.intersection(geometries=[shapely.Point(0, 0)] * 2, others=shapely.Point(0, 0))
        with self.assertRaisesRegex(geomodel.EncodeError, "/params/distances: expected a list"):
            self.server.geometry.geodetic_buffer(geometries=[shapely.Point(0, 0)], distances=5)  # type: ignore[arg-type]

    def test_failures_have_the_index_of_the_whole(self) -> None:
        shapes = [shapely.Point(0, 0).buffer(1, quad_segs=2000)] * 60
        shapes[55] = shapely.Polygon([(0, 0), (4, 4), (4, 0), (0, 4)])
        answer = self.server.geometry.buffer(geometries=shapes, distance=1)
        self.assertEqual([each["index"] for each in answer["failures"]], [55])
        self.assertIsNone(answer["geometries"][55])


if __name__ == "__main__":
    unittest.main()
