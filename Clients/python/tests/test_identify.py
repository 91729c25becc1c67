"""What `view/identify` finds, against distances that shapely measures to every graphic, on the real server."""

from __future__ import annotations

import json
import math
import random
import unittest
from typing import Any

from support import SERVER, needs_server

import geomodel

try:
    import pyproj
    import shapely
    from shapely import affinity
    from shapely.geometry import GeometryCollection, LineString, MultiLineString, MultiPoint, Point, Polygon, box, mapping
except ImportError:
    shapely = None

REFERENCES = ["EPSG:3857", "EPSG:4326", "EPSG:25832", "EPSG:3035"]
GRAPHICS, QUESTIONS = 100, 12
# What is as near as this to the edge of the tolerance may be found or not.
ROUNDING = 1e-4


class Screen:
    """A view's screen, by the formulas of the reference."""

    def __init__(self, dice: random.Random, map_reference: str, reference: str) -> None:
        self.width, self.height, self.dpi = dice.uniform(200, 1000), dice.uniform(200, 900), dice.choice([96.0, 254.0])
        self.center, self.scale = (dice.uniform(6, 12), dice.uniform(45, 60)), 10 ** dice.uniform(2, 6.3)
        self.rotation = dice.choice([0.0, dice.uniform(0, 360)])
        self._to = pyproj.Transformer.from_crs(map_reference, reference, always_xy=True)
        self._from = pyproj.Transformer.from_crs(reference, map_reference, always_xy=True)
        self._x, self._y = pyproj.Transformer.from_crs(4326, map_reference, always_xy=True).transform(*self.center)
        self._pixel = self.scale * 0.0254 / self.dpi / (111_319.490793 if map_reference == "EPSG:4326" else 1)
        self._turn = math.cos(math.radians(self.rotation)), math.sin(math.radians(self.rotation))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The position of a screen point in the overlay's reference."""
        (c, s), right, up = self._turn, (x - self.width / 2) * self._pixel, (self.height / 2 - y) * self._pixel
        found: tuple[float, float] = self._to.transform(self._x + right * c - up * s, self._y + right * s + up * c)
        return found

    def drawn(self, shape: Any) -> Any:
        """A geometry of the overlay on the screen."""

        def point(place: Any) -> tuple[float, float]:
            x, y = self._from.transform(*place)
            (c, s), right, up = self._turn, (x - self._x) / self._pixel, (y - self._y) / self._pixel
            return self.width / 2 + right * c + up * s, self.height / 2 + right * s - up * c

        return shapely.transform(shape, lambda places: [point(place) for place in places])


def shape(dice: random.Random, screen: Screen) -> Any:
    x, y = dice.uniform(-0.1, 1.1) * screen.width, dice.uniform(-0.1, 1.1) * screen.height

    def near(count: int, reach: float) -> list[tuple[float, float]]:
        return [screen.place(x + dice.uniform(-reach, reach), y + dice.uniform(-reach, reach)) for _ in range(count)]

    def ring(radius: float) -> list[tuple[float, float]]:
        angles = [2 * math.pi * corner / 7 for corner in range(7)]
        reach = [radius * dice.uniform(0.6, 1) for _ in angles]
        return [screen.place(x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(reach, angles)]

    kind, radius = dice.randrange(6), dice.uniform(4, 70)
    if kind == 0:
        return MultiPoint(near(3, 60))
    if kind == 1:
        return LineString(near(dice.randint(2, 6), 90))
    if kind == 2:
        return MultiLineString([near(3, 90), near(2, 90)])
    if kind == 3:
        return Polygon(ring(radius), [ring(radius / 3)] if dice.random() < 0.5 else [])
    if kind == 4:
        return GeometryCollection([Point(near(1, 1)[0]), Polygon(ring(radius))])
    return Point(near(1, 1)[0])


def symbol(dice: random.Random) -> dict[str, Any]:
    """A symbol for points, lines and areas together."""
    marker = {
        "type": "simpleMarker",
        "style": dice.choice(["circle", "cross", "diamond", "square", "triangle", "x"]),
        "size": dice.uniform(0, 60),
        "angle": dice.uniform(-360, 360),
        "xOffset": dice.uniform(-30, 30),
        "yOffset": dice.uniform(-30, 30),
        "outline": {"width": dice.uniform(0, 9), "style": dice.choice(["solid", "dash", "null"])},
    }
    line = {"type": "simpleLine", "width": dice.uniform(0, 20), "style": dice.choice(["solid", "dot", "null"])}
    fill = {"type": "simpleFill", "style": dice.choice(["solid", "null"]), "outline": {"width": dice.uniform(0, 12)}}
    return {"type": "composite", "symbols": [marker, line, *([fill] if dice.random() < 0.7 else [])]}


def width(line: dict[str, Any]) -> float:
    return 0.0 if line.get("style") == "null" else float(line["width"])


def marker_distance(marker: dict[str, Any], at: Any, pick: Any) -> float:
    half, edge = marker["size"] / 2, width(marker["outline"]) / 2
    center = Point(at.x + marker["xOffset"], at.y - marker["yOffset"])
    if marker["style"] == "circle":
        return max(0.0, float(center.distance(pick)) - half - edge)
    if marker["style"] in ("cross", "x"):
        edge = max(edge, 0.5)
    drawn = {
        "square": lambda: box(-half, -half, half, half),
        "diamond": lambda: Polygon([(half, 0), (0, half), (-half, 0), (0, -half)]),
        "triangle": lambda: Polygon([(0, -half), (half, half), (-half, half)]),
        "cross": lambda: MultiLineString([[(-half, 0), (half, 0)], [(0, -half), (0, half)]]),
        "x": lambda: MultiLineString([[(-half, -half), (half, half)], [(-half, half), (half, -half)]]),
    }[marker["style"]]()
    # Corners of outlines are sharp, ends of lines flat.
    drawn = drawn.buffer(edge, join_style="mitre", mitre_limit=10, cap_style="flat") if edge > 0 else drawn
    # y points down, so that positive angles turn clockwise.
    turned = affinity.translate(affinity.rotate(drawn, marker["angle"], origin=(0, 0)), center.x, center.y)
    return float(turned.distance(pick))


def distance(shape: Any, symbols: list[dict[str, Any]], pick: Any) -> float:
    """From a screen point to what is drawn of a shape that is on the screen."""
    if hasattr(shape, "geoms"):
        return min(distance(part, symbols, pick) for part in shape.geoms)
    found = [math.inf]
    for each in symbols:
        if shape.geom_type == "Point":
            found += [marker_distance(each, shape, pick)] if each["type"] == "simpleMarker" else []
        elif each["type"] == "simpleLine":
            line = shape if shape.geom_type == "LineString" else shape.boundary
            found.append(max(0.0, float(line.distance(pick)) - width(each) / 2))
        elif each["type"] == "simpleFill" and shape.geom_type == "Polygon":
            edge = float(shape.boundary.distance(pick)) - each["outline"]["width"] / 2
            found.append(max(0.0, min(edge, float(shape.distance(pick)))))
    return min(found)


@needs_server
@unittest.skipIf(shapely is None, "no shapely")
class IdentifyTests(unittest.TestCase):
    def test_graphics_are_found_as_shapely_measures_them(self) -> None:
        with geomodel.launch_sync(SERVER or "") as server:
            for seed, map_reference in enumerate(REFERENCES):
                for number, reference in enumerate(REFERENCES):
                    with self.subTest(map=map_reference, overlay=reference):
                        self.compare(server, random.Random(10 * seed + number), map_reference, reference)

    def compare(self, server: Any, dice: random.Random, map_reference: str, reference: str) -> None:
        screen = Screen(dice, map_reference, reference)
        viewpoint = {
            "type": "centerAndScale",
            "center": mapping(Point(screen.center)),
            "targetScale": screen.scale,
            "rotation": screen.rotation,
        }
        server.map.create(id="map", spatial_reference=map_reference, if_exists="replace")
        size = {"width": screen.width, "height": screen.height, "dpi": screen.dpi}
        server.view.create(id="view", map="map", viewpoint=viewpoint, if_exists="replace", **size)
        server.overlay.create(id="overlay", view="view", spatial_reference=reference)
        shapes, symbols = [shape(dice, screen) for _ in range(GRAPHICS)], [symbol(dice) for _ in range(GRAPHICS)]
        order = [(dice.choice([0, 0, 1, -1]), index) for index in range(GRAPHICS)]
        graphics = [
            {"id": index, "geometry": mapping(shapes[index]), "zIndex": z_index, "symbol": symbols[index]}
            for z_index, index in order
        ]
        server.overlay.add_graphics(overlay="overlay", graphics=json.loads(json.dumps(graphics)))
        drawn = [screen.drawn(each) for each in shapes]
        for tolerance in [0, 0, 12, 100] * (QUESTIONS // 4):
            x, y = dice.uniform(0, screen.width), dice.uniform(0, screen.height)
            far = [distance(drawn[index], symbols[index]["symbols"], Point(x, y)) for index in range(GRAPHICS)]
            answer = server.view.identify(
                view="view", screen_point={"x": x, "y": y}, tolerance=tolerance, maximum_results=1000
            )
            found = [feature["id"] for result in answer["results"] for feature in result["features"]]
            doubtful = {index for index in range(GRAPHICS) if abs(far[index] - tolerance) < ROUNDING}
            expected = [index for _, index in sorted(order, reverse=True) if far[index] <= tolerance]
            self.assertEqual([i for i in found if i not in doubtful], [i for i in expected if i not in doubtful])
            for index, away in zip(found, [each for result in answer["results"] for each in result["distances"]]):
                self.assertAlmostEqual(away, far[index], delta=ROUNDING)


if __name__ == "__main__":
    unittest.main()
