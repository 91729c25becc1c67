"""Pictures of scenes on the real server: what is drawn at a pixel is what `view/toScreen` and `view/toLocation` say is there."""

from __future__ import annotations

import base64
import math
import os
import random
import shutil
import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

from picture_worlds import Place, World, decoded
from support import FIXTURES, needs_server

import geomodel

SEA, LAND, SKY = (191, 217, 234), (183, 211, 168), (201, 223, 242)
Pixel = tuple[int, int, int]


def camera(longitude: float, latitude: float, altitude: float, heading: float = 0, pitch: float = 0, roll: float = 0) -> Any:
    return {
        "type": "camera", "longitude": longitude, "latitude": latitude, "altitude": altitude, "heading": heading, "pitch": pitch, "roll": roll,
    }


class Picture:
    """The pixels of a picture, and what is numbered at each."""

    def __init__(self, server: Any, **params: Any) -> None:
        self.result = server.view.render(view="v", **params)["picture"]
        self.width, self.height, self.channels, self.pixels = decoded(self.result["data"])
        pick = self.result.get("pick")
        self.items: list[Any] = pick["items"] if pick else []
        self.numbers = struct.unpack(f"<{self.width * self.height}I", base64.b64decode(pick["pixels"])) if pick else ()

    def __getitem__(self, place: tuple[float, float]) -> Pixel:
        at = (int(place[1]) * self.width + int(place[0])) * self.channels
        red, green, blue = self.pixels[at : at + 3]
        return red, green, blue

    def item(self, x: float, y: float) -> Any:
        number = self.numbers[int(y) * self.width + int(x)]
        return self.items[number - 1] if number else None

    def middles(self) -> dict[int, tuple[float, float]]:
        """The middles of what is drawn, by the ids of the items."""
        sums: dict[int, list[float]] = {}
        for at, number in enumerate(self.numbers):
            if number:
                sum = sums.setdefault(self.items[number - 1]["id"], [0, 0, 0])
                sum[0] += at % self.width + 0.5
                sum[1] += at // self.width + 0.5
                sum[2] += 1
        return {id: (sum[0] / sum[2], sum[1] / sum[2]) for id, sum in sums.items()}


class SceneWorld(World):
    """A view of random layers and overlays over a scene, around a random camera."""

    def __init__(self, server: Any, dice: random.Random) -> None:
        self.server, self.dice, self.labelled = server, dice, 0
        self.content, self.map, self.ratio = {"scene": "m"}, "EPSG:4326", 1
        self.width, self.height = float(dice.randint(120, 280)), float(dice.randint(100, 220))
        server.scene.create(id="m", if_exists="replace")
        self.hills = dice.random() < 0.5
        if self.hills:
            server.scene.add_elevation_source(scene="m", path=str(FIXTURES / "jacksboro_dem.tif"))
            server.scene.update(scene="m", base_surface={"elevationExaggeration": dice.choice([1, 3])})
            place, altitude = (dice.uniform(-84.4, -84.1), dice.uniform(36.4, 36.7)), 10 ** dice.uniform(3.3, 5)
        else:
            place = dice.choice([(dice.uniform(-180, 180), dice.uniform(-80, 80)), (179.9, 10), (30, 89.9)])
            altitude = 10 ** dice.uniform(2, 7.5)
        pitch = dice.choice([0, dice.uniform(0, 85 if altitude < 1e5 else 40)])
        eye = camera(*place, altitude, dice.uniform(0, 360), pitch, dice.choice([0, 0, dice.uniform(-180, 180)]))
        server.view.create(id="v", scene="m", width=self.width, height=self.height, viewpoint=eye, if_exists="replace")
        self.scale = server.view.get(view="v")["scale"]
        self.altitude = altitude
        self.fill()

    def place(self, reference: str) -> Place:
        place = super().place(reference)
        for group in place.groups:
            if self.dice.random() < 0.4:
                height = self.dice.choice([-100, 50, 1000, self.altitude * self.dice.uniform(0.1, 1.2)])
                for at in group:
                    at.append(height + 0.02 * self.altitude * self.dice.random())
        return place


def is_near(one: Pixel, other: Pixel) -> bool:
    return all(abs(a - b) <= 3 for a, b in zip(one, other))


def position(longitude: float, latitude: float, height: float) -> tuple[float, float, float]:
    """Geocentric, in metres."""
    a, e = 6378137.0, 0.00669437999014
    x, y = math.radians(longitude), math.radians(latitude)
    normal = a / math.sqrt(1 - e * math.sin(y) ** 2)
    around = (normal + height) * math.cos(y)
    return around * math.cos(x), around * math.sin(x), (normal * (1 - e) + height) * math.sin(y)


@needs_server
class Scenes(unittest.TestCase):
    def setUp(self) -> None:
        self.server = geomodel.launch_sync()
        self.addCleanup(self.server.close)
        self.server.scene.create(id="s", background_color="#BFD9EA")
        self.server.view.create(id="v", scene="s", width=240, height=200, viewpoint=camera(15, 20, 1.5e7))

    def look(self, *place: float) -> None:
        self.server.view.set_viewpoint(view="v", viewpoint=camera(*place))

    def add_countries(self) -> None:
        self.server.source.open(id="world", path=FIXTURES / "naturalearth_110m.gpkg")
        self.server.layer.add(scene="s", source="world", source_layer="countries", id="countries")
        self.server.layer.load(layer="countries")
        symbol: Any = {"type": "simpleFill", "color": "#B7D3A8", "outline": {"color": "#B7D3A8", "width": 0.1}}
        self.server.layer.update(layer="countries", renderer={"type": "simple", "symbol": symbol})

    def add_hills(self, exaggeration: float = 3) -> None:
        self.server.scene.add_elevation_source(scene="s", path=str(FIXTURES / "jacksboro_dem.tif"))
        self.server.scene.update(scene="s", base_surface={"elevationExaggeration": exaggeration})

    def screen(self, *places: tuple[float, ...]) -> list[Any]:
        locations: Any = [{"type": "Point", "coordinates": list(place)} for place in places]
        found = self.server.view.to_screen(view="v", locations=locations, spatial_reference="EPSG:4326")["points"]
        return [each and (each["x"], each["y"]) for each in found]

    def ground(self, *points: tuple[float, float]) -> list[Any]:
        found = self.server.view.to_location(view="v", points=[{"x": x, "y": y} for x, y in points])["locations"]
        return [each and each["coordinates"] for each in found]

    def test_countries_from_space_are_where_they_are(self) -> None:
        self.add_countries()
        land = [(18, 15), (3, 28), (23, -2), (45, 24), (20, 52), (28, -25), (-5, 17)]
        sea = [(-20, 0), (-30, 25), (5, -15), (55, 0), (18, 35)]
        for eye in [(15, 20, 1.5e7), (15, 20, 4e7, 90), (0, 0, 9e6, 0, 8), (40, 50, 9e6, 200, 10, 30)]:
            self.look(*eye)
            picture = Picture(self.server, pick=True)
            for places, color in ((land, LAND), (sea, SEA)):
                for place, at in zip(places, self.screen(*places)):
                    if at and 0 <= at[0] < 240 and 0 <= at[1] < 200:
                        # Beyond the horizon is what is before it.
                        seen = self.ground(at)[0]
                        if seen and abs(seen[0] - place[0]) < 0.01 and abs(seen[1] - place[1]) < 0.01:
                            self.assertTrue(is_near(picture[at], color), (eye, place, at, picture[at]))
                            self.assertEqual(picture.item(*at) is not None, color == LAND, (eye, place))
            corners = [(1.0, 1.0), (238.0, 1.0), (1.0, 198.0), (238.0, 198.0)]
            for at, place in zip(corners, self.ground(*corners)):
                self.assertEqual(place is None, is_near(picture[at], SKY), (eye, at))

    def test_the_horizon_is_round(self) -> None:
        self.look(0, 0, 6378137)
        picture = Picture(self.server)
        # From one radius above the equator the earth is a disc of 30 degrees.
        radius = 120 / math.tan(math.radians(27.5)) * math.tan(math.radians(30))
        self.assertGreater(radius, 120)
        self.assertTrue(is_near(picture[120, 100], SEA))
        self.look(0, 0, 3 * 6378137)
        picture = Picture(self.server)
        radius = 120 / math.tan(math.radians(27.5)) * math.tan(math.asin(1 / 4))
        for angle in (0, 180):
            for way, color in ((radius - 1.5, SEA), (radius + 1.5, SKY)):
                at = (120 + way * math.cos(math.radians(angle)), 100.5)
                self.assertTrue(is_near(picture[at], color), (angle, way, picture[at]))

    def test_markers_are_where_to_screen_says_unless_ground_hides_them(self) -> None:
        self.add_hills()
        dice = random.Random(7)
        places = [(dice.uniform(-84.4, -84.1), dice.uniform(36.46, 36.72)) for _ in range(150)]
        graphics: Any = [{"id": index, "geometry": {"type": "Point", "coordinates": list(place)}} for index, place in enumerate(places)]
        self.server.overlay.create(view="v", id="o", spatial_reference="EPSG:4326")
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)
        symbol: Any = {"type": "simpleMarker", "style": "square", "size": 5, "color": "#FF0000"}
        self.server.overlay.update(overlay="o", renderer={"type": "simple", "symbol": symbol})
        seen = hidden = 0
        for eye in [(-84.25, 36.4, 4000.0, 0, 75), (-84.5, 36.6, 3500, 90, 80, 10), (-84.2, 36.6, 9000, 200, 30), (-84.25, 36.6, 40000)]:
            self.look(*eye)
            middles = Picture(self.server, pick=True).middles()
            at = self.screen(*places)
            inside = [index for index, each in enumerate(at) if each and 5 < each[0] < 235 and 5 < each[1] < 195]
            asked: Any = [{"type": "Point", "coordinates": list(place)} for place in places]
            heights: Any = self.server.scene.elevation(scene="s", points=asked)["elevations"]
            camera_at = position(*eye[:3])
            # A pixel around it, too: the mesh of the ground is not exactly where the ground is.
            around = [(at[index][0] + dx, at[index][1] + dy) for index in inside for dx, dy in ((0, 0), (0, -1.5), (-1.5, 0), (1.5, 0), (0, 1.5))]
            grounds = self.ground(*around)
            for number, index in enumerate(inside):
                height = 3 * (heights[index].get("elevation") or 0)
                way = math.dist(camera_at, position(*places[index], height))
                near_ground = [
                    math.dist(camera_at, position(ground[0], ground[1], 3 * ground[2])) if ground else math.inf
                    for ground in grounds[5 * number : 5 * number + 5]
                ]
                meets = near_ground[0]
                if max(near_ground) < 0.97 * way:
                    hidden += 1
                    self.assertNotIn(index, middles, (eye, places[index], way, meets))
                elif min(near_ground) > 0.99 * way:
                    seen += 1
                    near = any(other != index and math.dist(at[other], at[index]) < 9 for other in inside)
                    if not near:
                        self.assertIn(index, middles, (eye, places[index], way, meets))
                        self.assertLess(math.dist(middles[index], at[index]), 1, (eye, places[index]))
        self.assertGreater(seen, 100)
        self.assertGreater(hidden, 20)

    def test_what_is_picked_is_what_is_identified(self) -> None:
        first, labelled = int(os.environ.get("GEOMODEL_PICTURES_SEED", "0")), 0
        for seed in range(first, first + int(os.environ.get("GEOMODEL_PICTURES", "10"))):
            with self.subTest(seed=seed):
                world = SceneWorld(self.server, random.Random(seed))
                self.assertEqual(world.disagreements(50), [], (world.hills, world.server.view.get(view="v")))
                labelled += world.labelled
                self.server.scene.close(scene="m")
        self.assertGreater(labelled, 0)

    def add_markers(self, *places: tuple[float, ...], size: float = 5) -> None:
        self.server.overlay.create(view="v", id="o", spatial_reference="EPSG:4326")
        graphics: Any = [{"id": index, "geometry": {"type": "Point", "coordinates": list(place)}} for index, place in enumerate(places)]
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)
        symbol: Any = {"type": "simpleMarker", "style": "square", "size": size, "color": "#FF0000"}
        self.server.overlay.update(overlay="o", renderer={"type": "simple", "symbol": symbol})

    def found(self, x: float, y: float, **params: Any) -> list[int]:
        """The ids of what is found in the overlay, from the top."""
        results = self.server.view.identify(view="v", screen_point={"x": x, "y": y}, maximum_results=100, **params)["results"]
        return [each["id"] for result in results for each in result.get("features", [])]

    def test_what_is_high_is_seen_before_the_sky_and_before_the_nearest_ground(self) -> None:
        # One beyond the horizon, one nearer than any ground that is seen, and one far above.
        self.add_markers((0, 3, 60_000), (0, 0.02, 900), (0, 0.1, 30_000))
        for pitch, expected in ((85, {0, 1}), (140, {2}), (180, {2})):
            self.look(0, 0, 1000, 0, pitch)
            middles = Picture(self.server, pick=True).middles()
            self.assertEqual(set(middles), expected, pitch)
            for id, at in middles.items():
                self.assertLess(math.dist(at, self.screen(*[(0, 3, 60_000), (0, 0.02, 900), (0, 0.1, 30_000)])[id]), 1, id)
                self.assertEqual(self.found(*at), [id])

    def test_a_marker_reaches_into_the_picture_from_outside(self) -> None:
        self.look(0, 0, 10_000)
        inside, outside = self.ground((2, 100), (119, 5))
        beyond = (inside[0] * 122 / 118, outside[1] * 102 / 95)
        self.add_markers((beyond[0], 0), (0, beyond[1]), size=20)
        picture = Picture(self.server, pick=True)
        for id, at in ((0, (1.5, 100.5)), (1, (119.5, 1.5))):
            item = picture.item(*at)
            self.assertEqual(item and item["id"], id)
            self.assertEqual(self.found(*at), [id])

    def test_heights_without_measure_end_nothing(self) -> None:
        lines = [[[0, 0, z], [1, 1, -z]] for z in (1e9, 1e150, 1e300, -1e300)]
        self.add_markers((0, 0, 1e300), (1, 0, -1e300))
        graphics: Any = [{"id": 10 + id, "geometry": {"type": "LineString", "coordinates": line}} for id, line in enumerate(lines)]
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)
        self.server.overlay.update(overlay="o", renderer={"type": "simple", "symbol": {"type": "simpleLine", "width": 4}})
        for pitch in (0, 90, 180):
            self.look(0, 0, 1000, 0, pitch)
            Picture(self.server, pick=True)
            self.found(120, 100, tolerance=100)

    def test_an_area_covers_the_ground_that_is_in_it(self) -> None:
        self.add_hills()
        west, south, east, north = -84.3, 36.52, -84.2, 36.62
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        symbol: Any = {"type": "simpleFill", "color": "#FF0000"}
        self.server.overlay.create(view="v", id="o", spatial_reference="EPSG:4326")
        self.server.overlay.add_graphics(
            overlay="o", graphics=[{"id": 1, "geometry": {"type": "Polygon", "coordinates": [ring]}, "symbol": symbol}])
        dice, inside = random.Random(3), 0
        for eye in [(-84.25, 36.45, 5000.0, 0, 70), (-84.4, 36.6, 6000, 100, 60, -15), (-84.25, 36.57, 20000)]:
            self.look(*eye)
            picture = Picture(self.server, pick=True)
            points = [(dice.randrange(240) + 0.5, dice.randrange(200) + 0.5) for _ in range(150)]
            wrong = []
            for at, place in zip(points, self.ground(*points)):
                is_in = bool(place) and west < place[0] < east and south < place[1] < north
                near = place and min(abs(place[0] - west), abs(place[0] - east), abs(place[1] - south), abs(place[1] - north)) < 0.004
                inside += is_in
                if not near and is_in != (picture.item(*at) is not None):
                    wrong.append((at, place))
            # At ridges the mesh and the ground differ.
            self.assertLessEqual(len(wrong), 3, (eye, wrong))
        self.assertGreater(inside, 60)

    def test_straight_down_on_the_equator_is_as_from_above(self) -> None:
        places = [(dx / 100, dy / 100) for dx in (-3, -1, 0, 2, 3) for dy in (-3, 0, 1, 3)]
        graphics: Any = [{"id": index, "geometry": {"type": "Point", "coordinates": list(place)}} for index, place in enumerate(places)]
        to: Any = {
            "type": "centerAndScale", "center": {"type": "Point", "coordinates": [0, 0]}, "spatialReference": "EPSG:4326", "targetScale": 2e5,
            "rotation": 40,
        }
        self.server.view.set_viewpoint(view="v", viewpoint=to)
        self.server.overlay.create(view="v", id="o", spatial_reference="EPSG:4326")
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)
        symbol: Any = {"type": "simpleMarker", "style": "square", "size": 5, "color": "#FF0000"}
        self.server.overlay.update(overlay="o", renderer={"type": "simple", "symbol": symbol})
        perspective = Picture(self.server, pick=True).middles()
        above = Picture(self.server, pick=True, projection="above").middles()
        self.assertEqual(len(perspective), len(places))
        for id, at in perspective.items():
            self.assertLessEqual(math.dist(at, above[id]), 1.0, places[id])

    def test_heights_count_and_nothing_is_below_the_ground(self) -> None:
        self.add_hills()
        self.look(-84.25, 36.5, 6000, 0, 60)
        self.server.overlay.create(view="v", id="o", spatial_reference="EPSG:4326")
        places: Any = [(-84.25, 36.54, 4000), (-84.26, 36.54), (-84.24, 36.54, -3000)]
        graphics: Any = [{"id": index, "geometry": {"type": "Point", "coordinates": list(place)}} for index, place in enumerate(places)]
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)
        symbol: Any = {"type": "simpleMarker", "style": "square", "size": 5, "color": "#FF0000"}
        self.server.overlay.update(overlay="o", renderer={"type": "simple", "symbol": symbol})
        middles = Picture(self.server, pick=True).middles()
        for id, at in enumerate(self.screen(places[0], places[1], places[2][:2])):
            self.assertLess(math.dist(middles[id], at), 1, id)

    def test_ground_is_shaded_and_rasters_lie_on_it(self) -> None:
        self.look(-84.25, 36.58, 30000)
        self.assertTrue(is_near(Picture(self.server)[120, 100], SEA))
        self.add_hills(1)
        for projection in ("perspective", "above"):
            shades = Picture(self.server, projection=projection)
            tones = {shades[x, y] for x in range(90, 150, 3) for y in range(70, 130, 3)}
            self.assertTrue(all(red == green == blue for red, green, blue in tones), tones)
            self.assertGreater(max(tones)[0] - min(tones)[0], 60)
        self.server.scene.update(scene="s", base_surface={"opacity": 0})
        self.assertTrue(is_near(Picture(self.server)[120, 100], SEA))
        self.server.scene.update(scene="s", base_surface={"opacity": 1, "isEnabled": False})
        self.assertTrue(is_near(Picture(self.server)[120, 100], SEA))
        self.server.layer.add_raster(scene="s", path=str(FIXTURES / "colors.tif"), id="colors")
        self.server.layer.load(layer="colors")
        extent = self.server.layer.get(layer="colors")["extent"]
        middle = ((extent["xMin"] + extent["xMax"]) / 2, (extent["yMin"] + extent["yMax"]) / 2)
        reach = 111_000 * (extent["xMax"] - extent["xMin"])
        dice, drawn = random.Random(5), 0
        for pitch in (0, 50):
            self.look(middle[0], middle[1] - reach * math.tan(math.radians(pitch)) / 111_000, reach, 0, pitch)
            picture = Picture(self.server)
            points = [(dice.randrange(240) + 0.5, dice.randrange(200) + 0.5) for _ in range(60)]
            for at, place in zip(points, self.ground(*points)):
                covered = bool(place) and extent["xMin"] < place[0] < extent["xMax"] and extent["yMin"] < place[1] < extent["yMax"]
                drawn += covered and picture[at] != SEA
                if place and not covered:
                    edge = 0.02 * (extent["xMax"] - extent["xMin"])
                    if not (extent["xMin"] - edge < place[0] < extent["xMax"] + edge and extent["yMin"] - edge < place[1] < extent["yMax"] + edge):
                        self.assertTrue(is_near(picture[at], SEA), (pitch, at, place))
        self.assertGreater(drawn, 10)

    def test_a_source_that_is_not_there_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            heights = Path(folder) / "heights.tif"
            shutil.copy(FIXTURES / "jacksboro_dem.tif", heights)
            self.server.scene.add_elevation_source(scene="s", path=str(heights), id="e")
            self.server.document.save_as(path=Path(folder) / "scene.json")
            heights.unlink()
            with geomodel.launch_sync() as server:
                server.document.open(path=Path(folder) / "scene.json")
                view = server.view.list()["views"][0]["view"] if server.view.list()["views"] else None
                view = view or server.view.create(scene="s", width=50, height=50)["view"]
                failed = server.view.render(view=view)["picture"]["failed"]
                self.assertEqual([each.get("elevationSource") for each in failed], ["e"])

    def test_labels_from_above_need_no_ground(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            heights = Path(folder) / "heights.tif"
            shutil.copy(FIXTURES / "jacksboro_dem.tif", heights)
            self.server.scene.add_elevation_source(scene="s", path=str(heights))
            self.look(-84.25, 36.55, 20_000)
            heights.write_bytes(b"no heights")
            self.assertEqual(self.server.view.labels(view="v", projection="above")["labels"], [])
            with self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.ChangedWhileReadError)):
                self.server.view.render(view="v", projection="above")


if __name__ == "__main__":
    unittest.main()
