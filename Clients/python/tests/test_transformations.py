"""`geometry.list_transformations` and the choice of `geometry.project`, on the real server, against pyproj's `TransformerGroup`."""

from __future__ import annotations

import unittest
import warnings

from support import SERVER, needs_server

import geomodel

try:
    import pyproj
    from pyproj.aoi import AreaOfInterest
    from pyproj.transformer import TransformerGroup
except ImportError:
    pyproj = None


AXES = "axis order change (2D)"
"""What pyproj adds to names for x first."""

CASES = [
    ("EPSG:4314", "EPSG:4258", (9, 48, 10, 49)),
    ("EPSG:31467", "EPSG:25832", None),
    ("EPSG:4178", "EPSG:4258", (11, 50.5, 12, 51)),
    ("EPSG:4267", "EPSG:4326", (-100, 40, -99, 41)),
    ("EPSG:4230", "EPSG:4326", (2, 48, 3, 49)),
    ("EPSG:4277", "EPSG:4326", None),
    ("EPSG:4326", "EPSG:25832", None),
]


@unittest.skipIf(pyproj is None, "no pyproj")
@needs_server
class TransformationTests(unittest.TestCase):
    def test_transformations_agree_with_pyproj(self) -> None:
        with geomodel.launch_sync(SERVER) as server, warnings.catch_warnings():
            # That the best lacks a grid.
            warnings.simplefilter("ignore", UserWarning)
            for source, target, box in CASES:
                with self.subTest(source=source, target=target):
                    self.compare(server, source, target, box)

    def compare(self, server: geomodel.SyncClient, source: str, target: str, box: tuple[float, float, float, float] | None) -> None:
        group = TransformerGroup(source, target, always_xy=True, area_of_interest=AreaOfInterest(*box) if box else None)
        area = dict(zip(("xMin", "yMin", "xMax", "yMax"), box)) if box else None
        listed = server.geometry.list_transformations(
            spatial_reference=source, out_spatial_reference=target, **({"area": area} if area else {}))
        ours = {each["name"]: each for each in listed["transformations"]}
        available = [each["available"] for each in listed["transformations"]]
        self.assertEqual(listed.get("used"), available.index(True) if any(available) else None)
        # The databases of both may be of different years, with other grids installed.
        lacking = {each.name: each for each in group.unavailable_operations}
        shared = 0
        for name, each in lacking.items():
            if name not in ours:
                continue
            shared += 1
            self.assertAlmostEqual(ours[name].get("accuracy", -1), each.accuracy)
            grids = [grid["name"] for grid in ours[name]["grids"]]
            # Older databases have other names for the files of some.
            if all(grid.endswith(".tif") for grid in grids):
                self.assertEqual(grids, [grid.short_name for grid in each.grids])
        for each in group.transformers:
            name = " + ".join(step for step in each.description.split(" + ") if step != AXES)
            if name not in ours or not ours[name]["available"]:
                continue
            shared += 1
            if ours[name].get("accuracy") is not None:
                self.assertAlmostEqual(ours[name]["accuracy"], each.accuracy)
            use = ours[name]["areaOfUse"]
            x, y = (use["xMin"] + use["xMax"]) / 2, (use["yMin"] + use["yMax"]) / 2
            if not pyproj.CRS(source).is_geographic:
                x, y = pyproj.Proj(source)(x, y)
            made = server.geometry.project(
                geometry={"type": "Point", "coordinates": [x, y]}, spatial_reference=source, out_spatial_reference=target,
                transformation=name)
            self.assertEqual(made["transformation"]["name"], name)
            tolerance = 1e-9 if pyproj.CRS(target).is_geographic else 1e-4
            for got, wanted in zip(made["geometry"]["coordinates"], each.transform(x, y)):
                self.assertAlmostEqual(got, wanted, delta=tolerance)
        self.assertGreater(shared, 0)
