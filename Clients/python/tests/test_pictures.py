"""Pictures and labels in random worlds on the real server: what is drawn at a pixel is what `view/identify` finds, and labels meet none."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import random
import select
import signal
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path
from typing import Any, Callable, Iterator

from support import ROOT, real_server

import geomodel

SERVER = real_server()
# More for a search by hand.
WORLDS, PIXELS = int(os.environ.get("GEOMODEL_PICTURES", "12")), 60
MAPS = ["EPSG:3857", "EPSG:3857", "EPSG:4326", "EPSG:25832", "EPSG:3035", "EPSG:3995", "ESRI:54030"]
REFERENCES = ["EPSG:4326", "EPSG:3857"]
STYLES = ["solid", "solid", "solid", "dash", "dot", "longDashDot", "null"]
Item = tuple[str, int, str]


def decoded(data: str) -> tuple[int, int, int, bytes]:
    """Width, height, bytes to a pixel and the pixels of a PNG that has 8 bits to a channel."""
    file = base64.b64decode(data)
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: list[tuple[bytes, bytes]] = []
    at = 8
    while at < len(file):
        (length,) = struct.unpack(">I", file[at : at + 4])
        kind, body = file[at + 4 : at + 8], file[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", file[at + 8 + length : at + 12 + length])
        assert zlib.crc32(kind + body) == check
        chunks.append((kind, body))
        at += 12 + length
    width, height, depth, colors = struct.unpack(">IIBB", chunks[0][1][:10])
    channels = {2: 3, 6: 4}[colors]
    assert depth == 8 and chunks[-1][0] == b"IEND"
    raw, size = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT")), width * channels
    pixels, above = bytearray(), bytearray(size)
    for row in range(height):
        line = bytearray(raw[row * (size + 1) + 1 : (row + 1) * (size + 1)])
        unfilter(raw[row * (size + 1)], line, above, channels)
        pixels += line
        above = line
    return width, height, channels, bytes(pixels)


def unfilter(kind: int, line: bytearray, above: bytearray, channels: int) -> None:
    for at in range(len(line)):
        left, corner = (line[at - channels], above[at - channels]) if at >= channels else (0, 0)
        up = above[at]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            guess = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        else:
            return
        line[at] = (line[at] + guess) & 0xFF


class Place:
    """Random geometries on a view's screen, in a spatial reference."""

    def __init__(self, server: Any, dice: random.Random, width: float, height: float, reference: str) -> None:
        points = [{"x": dice.uniform(-0.2, 1.2) * width, "y": dice.uniform(-0.2, 1.2) * height} for _ in range(40)]
        near = [{"x": at["x"] + dice.uniform(-70, 70), "y": at["y"] + dice.uniform(-70, 70)} for at in points for _ in range(12)]
        found = server.view.to_location(view="v", points=points + near, spatial_reference=reference)["locations"]
        # Beyond the poles of a map in degrees is nothing.
        limit = 90 if reference == "EPSG:4326" else math.inf
        places = [each["coordinates"][:2] if each and abs(each["coordinates"][1]) <= limit else None for each in found]
        self.dice = dice
        self.groups = [
            [places[index], *(each for each in places[40 + 12 * index : 52 + 12 * index] if each)]
            for index in range(40)
            if places[index]
        ]
        self.groups = [group for group in self.groups if len(group) > 8]

    def geometry(self, depth: int = 0) -> dict[str, Any]:
        dice, group = self.dice, self.dice.choice(self.groups)
        kind = dice.randrange(8 if depth else 9)
        if kind == 0:
            return {"type": "MultiPoint", "coordinates": group[: dice.randint(1, 5)]}
        if kind == 1:
            return {"type": "LineString", "coordinates": group[: dice.randint(2, 6)]}
        if kind == 2:
            return {"type": "MultiLineString", "coordinates": [group[:3], group[3:5]]}
        if kind in (3, 4):
            return {"type": "Polygon", "coordinates": self.rings(group)}
        if kind == 5:
            return {"type": "MultiPolygon", "coordinates": [self.rings(group), self.rings(dice.choice(self.groups))]}
        if kind == 8:
            return {"type": "GeometryCollection", "geometries": [self.geometry(1) for _ in range(3)]}
        return {"type": "Point", "coordinates": group[0]}

    def rings(self, group: list[Any]) -> list[Any]:
        """A star of a ring around the first place, and in half of the cases a hole in it."""
        middle = group[0]
        corners = sorted(group[1:], key=lambda at: math.atan2(at[1] - middle[1], at[0] - middle[0]))
        rings = [corners + corners[:1]]
        if self.dice.random() < 0.5:
            rings.append([[middle[axis] + 0.4 * (at[axis] - middle[axis]) for axis in (0, 1)] + at[2:] for at in rings[0]])
        return rings


def color(dice: random.Random) -> str:
    return "#" + "".join(dice.choice("0123456789ABCDEF") for _ in range(6)) + dice.choice(["", "", "80", "00"])


def part(dice: random.Random, kind: str) -> dict[str, Any]:
    def outline() -> dict[str, Any]:
        return {"style": dice.choice(STYLES), "width": dice.choice([0, 0.5, 1, 3, 9]), "color": color(dice)}

    if kind == "simpleMarker":
        edge = {"outline": outline()} if dice.random() < 0.6 else {}
        shape = dice.choice(["circle", "cross", "diamond", "square", "triangle", "x"])
        offsets = {"xOffset": dice.uniform(-30, 30), "yOffset": dice.uniform(-30, 30)} if dice.random() < 0.4 else {}
        size, angle = dice.uniform(0, 60), dice.choice([0, dice.uniform(-360, 360)])
        return {"type": kind, "style": shape, "size": size, "angle": angle, "color": color(dice), **offsets, **edge}
    if kind == "simpleLine":
        return {"type": kind, "style": dice.choice(STYLES), "width": dice.choice([0, 1, 4, 20]), "color": color(dice)}
    if kind == "text":
        halo = {"haloColor": color(dice), "haloWidth": dice.choice([0, 1, 5])} if dice.random() < 0.4 else {}
        sides = {
            "horizontalAlignment": dice.choice(["left", "center", "right", "justify"]),
            "verticalAlignment": dice.choice(["top", "middle", "baseline", "bottom"]),
        }
        turned = {"angle": dice.choice([0, dice.uniform(-360, 360)]), "xOffset": dice.choice([0, 20]), "yOffset": dice.choice([0, -9])}
        text = dice.choice(["WWWW", "illi", "Ab\ncdef", "Łódź", "北京"])
        return {"type": kind, "text": text, "size": dice.choice([8, 14, 30]), "color": color(dice), **halo, **sides, **turned}
    edge = {"outline": outline()} if dice.random() < 0.6 else {}
    return {"type": kind, "style": dice.choice(["solid", "solid", "cross", "forwardDiagonal", "null"]), "color": color(dice), **edge}


def symbol(dice: random.Random) -> dict[str, Any]:
    kinds = ["simpleMarker", "simpleLine", "simpleFill"]
    if dice.random() < 0.25:
        return part(dice, dice.choice(kinds))
    chosen = [kind for kind in kinds if dice.random() < 0.8] or kinds
    if dice.random() < 0.3:
        chosen.append("simpleMarker")
    if dice.random() < 0.3:
        chosen.append("text")
    dice.shuffle(chosen)
    return {"type": "composite", "symbols": [part(dice, kind) for kind in chosen]}


def renderer(dice: random.Random) -> dict[str, Any]:
    variables: list[dict[str, Any]] = []
    if dice.random() < 0.4:
        variables.append({"type": "size", "field": "n", "stops": [{"value": 0, "size": 2}, {"value": 9, "size": 40}]})
    if dice.random() < 0.3:
        variables.append({"type": "rotation", "field": "n"})
    if dice.random() < 0.3:
        variables.append({"type": "opacity", "field": "n", "stops": [{"value": 0, "opacity": 0}, {"value": 9, "opacity": 1}]})
    common = {"visualVariables": variables} if variables else {}
    if dice.random() < 0.5:
        return {"type": "simple", "symbol": symbol(dice), **common}
    breaks = [{"maxValue": bound, "symbol": symbol(dice)} for bound in (2, 5, 7)]
    return {"type": "classBreaks", "field": "n", "breaks": [{"minValue": 0, **breaks[0]}, *breaks[1:]], **common}


class World:
    """A view of random layers and overlays."""

    def __init__(self, server: Any, dice: random.Random) -> None:
        self.server, self.dice = server, dice
        self.labelled = 0
        self.content: dict[str, Any] = {"map": "m"}
        self.width, self.height = float(dice.randint(120, 320)), float(dice.randint(100, 260))
        self.map, self.ratio = dice.choice(MAPS), dice.choice([1, 1, 1, 0.5, 2])
        around = {"EPSG:3995": (dice.uniform(-180, 180), dice.uniform(60, 89)), "EPSG:25832": (dice.uniform(6, 12), 52)}
        europe = (dice.uniform(0, 20), dice.uniform(40, 60))
        anywhere = dice.choice([europe, (dice.uniform(-180, 180), dice.uniform(-70, 70)), (179.9, 10)])
        center = around.get(self.map, europe if self.map == "EPSG:3035" else anywhere)
        self.scale = 10 ** dice.uniform(3, 6.5 if self.map in ("EPSG:25832", "EPSG:3035") else 8.6)
        viewpoint = {
            "type": "centerAndScale", "center": {"type": "Point", "coordinates": center}, "targetScale": self.scale,
            "rotation": dice.choice([0, dice.uniform(0, 360)]),
        }
        server.map.create(id="m", spatial_reference=self.map, if_exists="replace")
        server.view.create(id="v", map="m", width=self.width, height=self.height, viewpoint=viewpoint, if_exists="replace")
        if dice.random() < 0.2:
            server.map.update(map="m", reference_scale=self.scale * dice.choice([0.5, 2]))
        self.fill()

    def fill(self) -> None:
        dice, server = self.dice, self.server
        groups: list[str | None] = [None]
        for index in range(dice.randint(0, 3)):
            self.layer(f"l{index}", dice.choice(groups))
            if dice.random() < 0.4:
                groups.append(f"g{index}")
                server.layer.add_group(**self.content, id=f"g{index}", if_exists="replace")
                server.layer.update(layer=f"g{index}", opacity=dice.choice([1, 0.5]), is_visible=dice.random() < 0.9)
        for index in range(dice.randint(1, 3)):
            self.overlay(f"o{index}")

    def appearance(self) -> dict[str, Any]:
        dice = self.dice
        settings: dict[str, Any] = {"opacity": dice.choice([1, 1, 0.4, 0]), "is_visible": dice.random() < 0.9}
        if dice.random() < 0.1:
            settings["min_scale"] = self.scale * dice.choice([0.5, 2])
        if dice.random() < 0.3:
            settings["feature_reduction"] = {"radius": dice.choice([20, 60]), "minSymbolSize": 8, "maxSymbolSize": 50}
            if dice.random() < 0.3:
                settings["feature_reduction"] |= {"labels": [{"expression": "cluster_count"}], "labelsEnabled": True}
            if dice.random() < 0.5:
                settings["feature_reduction"]["renderer"] = {"type": "simple", "symbol": part(dice, "simpleMarker")}
        return settings

    def labels(self, reference: str) -> dict[str, Any]:
        """None in half of the cases."""
        dice = self.dice
        if dice.random() < 0.5:
            return {}
        symbol = {"type": "text", "size": dice.choice([8, 12, 30]), "angle": dice.choice([0, 0, 30]), "color": color(dice)}
        if dice.random() < 0.4:
            symbol |= {"haloColor": "#FFFFFF", "haloWidth": dice.choice([1, 4])}
        return {"labels": [{"expression": "n * 12345", "symbol": symbol, "placement": dice.choice(PLACEMENTS)}], "labels_enabled": True}

    def place(self, reference: str) -> Place:
        return Place(self.server, self.dice, self.width, self.height, reference)

    def layer(self, name: str, group: str | None) -> None:
        dice, server, reference = self.dice, self.server, self.dice.choice([*REFERENCES, self.map])
        place = self.place(reference)
        if not place.groups:
            return
        features = [
            {"type": "Feature", "id": index, "geometry": place.geometry(), "properties": {"n": dice.randint(0, 9)}}
            for index in range(1, dice.randint(10, 40))
        ]
        data = {"type": "FeatureCollection", "features": features}
        server.source.open_inline(id=f"s-{name}", data=data, spatial_reference=reference, if_exists="replace")
        inside = {"group": group} if group else {}
        server.layer.add(**self.content, source=f"s-{name}", id=name, if_exists="replace", **inside)
        server.layer.load(layer=name)
        look = {"renderer": renderer(dice)} if dice.random() < 0.8 else {}
        server.layer.update(layer=name, **self.appearance(), **look, **self.labels(reference))

    def overlay(self, name: str) -> None:
        dice, server, reference = self.dice, self.server, self.dice.choice([*REFERENCES, self.map])
        place = self.place(reference)
        if not place.groups:
            return
        server.overlay.create(id=name, view="v", spatial_reference=reference, renderer=renderer(dice), **self.appearance(), **self.labels(reference))
        graphics = []
        for index in range(dice.randint(5, 40)):
            graphic = {"id": index, "geometry": place.geometry(), "attributes": {"n": dice.randint(0, 9)}}
            graphic |= {"zIndex": dice.choice([0, 0, 1, -1]), "isVisible": dice.random() < 0.9, "isSelected": dice.random() < 0.1}
            if dice.random() < 0.4:
                graphic["symbol"] = symbol(dice)
            graphics.append(graphic)
        server.overlay.add_graphics(overlay=name, graphics=graphics)

    # What is found

    def found(self, x: float, y: float, tolerance: float = 0) -> Iterator[tuple[Item, float]]:
        """What is near a screen point, from the top, with distances."""
        asked = {"view": "v", "screen_point": {"x": x, "y": y}, "tolerance": tolerance, "return_geometry": False}
        answer = self.server.view.identify(**asked, maximum_results=1000 if tolerance else 1)
        yield from self.items(answer["results"])

    def items(self, results: list[dict[str, Any]]) -> Iterator[tuple[Item, float]]:
        for result in results:
            name = result.get("layer") or result.get("overlay") or ""
            for kind, distances, parts in (
                ("clusters", "clusterDistances", "clusterParts"), ("features", "distances", "parts")
            ):
                found = result.get(kind, [])
                what = result.get(parts, ["symbol"] * len(found))
                yield from (((name, each["id"], part), far) for each, far, part in zip(found, result.get(distances, []), what))
            yield from self.items(result.get("sublayerResults", []))

    def top(self, x: float, y: float) -> Item | None:
        if not (0 <= x <= self.width and 0 <= y <= self.height):
            return None
        found = [item for item, _ in self.found(x, y)]
        # Labels are above all layers.
        return next((item for item in found if item[2] == "label"), found[0] if found else None)

    def disagreements(self, pixels: int) -> list[Any]:
        picture = self.server.view.render(view="v", pick=True, pixel_ratio=self.ratio)["picture"]
        width, height = picture["width"], picture["height"]
        numbers = struct.unpack(f"<{width * height}I", base64.b64decode(picture["pick"]["pixels"]))
        items = [
            None, *((each.get("layer") or each["overlay"], each["id"], each.get("part", "symbol")) for each in picture["pick"]["items"])
        ]
        self.labelled += sum(item is not None and item[2] == "label" for item in map(items.__getitem__, set(numbers)))
        wrong = []
        for _ in range(pixels):
            column, row = self.dice.randrange(width), self.dice.randrange(height)
            drawn = items[numbers[row * width + column]]
            x, y = (column + 0.5) / self.ratio, (row + 0.5) / self.ratio
            if drawn == self.top(x, y) or self.is_at_edge(drawn, x, y):
                continue
            wrong.append((column, row, drawn, self.top(x, y)))
        return wrong

    def is_at_edge(self, drawn: Item | None, x: float, y: float) -> bool:
        """Whether what is drawn is found within a pixel."""
        reach = 0.75 / self.ratio
        around = [(dx * reach, dy * reach) for dx in (-1, -0.5, 0, 0.5, 1) for dy in (-1, -0.5, 0, 0.5, 1)]
        if any(drawn == self.top(x + dx, y + dy) for dx, dy in around):
            return True
        return any(drawn == item and far > 0 for item, far in self.found(x, y, reach))


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class PickTests(unittest.TestCase):
    def test_what_is_picked_is_what_is_identified(self) -> None:
        first = int(os.environ.get("GEOMODEL_PICTURES_SEED", "0"))
        labelled = 0
        with geomodel.launch_sync(SERVER or "") as server:
            for seed in range(first, first + WORLDS):
                with self.subTest(seed=seed):
                    world = World(server, random.Random(seed))
                    self.assertEqual(world.disagreements(PIXELS), [], (world.map, world.scale))
                    labelled += world.labelled
                    server.map.close(map="m")
        self.assertGreater(labelled, 0)


class Estimated:
    """A session in which texts have the same size on every machine. Its screen has a pixel to a metre, with 0, 0 in its middle."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([SERVER or ""], text=True, encoding="utf-8", **pipes)  # type: ignore[call-overload]
        self.count = 0
        self("initialize", protocolVersions=["0.7"], textMetrics="estimated", strict=True)
        self.send({"method": "initialized"})
        self("map/create", id="m")
        center = {"type": "Point", "coordinates": [0, 0]}
        viewpoint = {"type": "centerAndScale", "center": center, "targetScale": 10000, "spatialReference": "EPSG:3857"}
        self("view/create", id="v", map="m", width=400, height=300, dpi=254, viewpoint=viewpoint)

    def send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def __call__(self, method: str, **params: Any) -> Any:
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.count:
                assert "result" in answer, answer
                return answer["result"]

    def overlay(self, name: str, graphics: list[dict[str, Any]], labels: list[dict[str, Any]], **params: Any) -> None:
        common = {"labelsEnabled": True, "renderer": {"type": "simple", "symbol": EVERYTHING}, **params}
        self("overlay/create", id=name, view="v", spatialReference="EPSG:3857", labels=labels, ifExists="replace", **common)
        self("overlay/addGraphics", overlay=name, graphics=graphics)

    def labels(self) -> Any:
        return self("view/labels", view="v")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


EVERYTHING = {
    "type": "composite",
    "symbols": [{"type": "simpleMarker", "size": 8}, {"type": "simpleLine", "width": 2}, {"type": "simpleFill"}],
}
SIDES = {
    "pointAboveCenter": (0, -1), "pointAboveLeft": (-1, -1), "pointAboveRight": (1, -1), "pointBelowCenter": (0, 1),
    "pointBelowLeft": (-1, 1), "pointBelowRight": (1, 1), "pointCenterCenter": (0, 0), "pointCenterLeft": (-1, 0),
    "pointCenterRight": (1, 0),
}
PLACEMENTS = [*SIDES, "automatic", "lineAboveAlong", "lineBelowAlong", "lineCenterAlong", "polygonAlwaysHorizontal"]
Box = tuple[float, float, float, float, float]


def boxes(label: dict[str, Any]) -> list[Box]:
    """Middles, sizes and angles in degrees."""
    x, y, width, height = label["center"]["x"], label["center"]["y"], label["width"], label["height"]
    if "line" not in label:
        return [(x, y, width, height, label["angle"])]
    line, found = [(at["x"], at["y"]) for at in label["line"]], []
    for (fromX, fromY), (toX, toY) in zip(line, line[1:]):
        angle, length = math.degrees(math.atan2(toY - fromY, toX - fromX)), math.hypot(toX - fromX, toY - fromY)
        found.append(((fromX + toX) / 2, (fromY + toY) / 2, length, height, angle))
    # The text is shorter than its line by its height.
    return [box for box in found if math.hypot(box[0] - x, box[1] - y) < width / 2 - height / 2]


def corners(box: Box) -> list[tuple[float, float]]:
    x, y, width, height, angle = box
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    halves = [(dx * width / 2, dy * height / 2) for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return [(x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in halves]


def meet(one: Box, other: Box) -> bool:
    for angle in (one[4], one[4] + 90, other[4], other[4] + 90):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        a, b = ([c * x + s * y for x, y in corners(box)] for box in (one, other))
        if max(a) <= min(b) + 1e-3 or max(b) <= min(a) + 1e-3:
            return False
    return True


def inside(x: float, y: float, ring: list[Any]) -> bool:
    crossed = [(a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1])) > x for a, b in zip(ring, ring[1:]) if (a[1] > y) != (b[1] > y)]
    return bool(sum(crossed) % 2)


def from_line(x: float, y: float, line: list[Any]) -> float:
    def edge(a: Any, b: Any) -> float:
        way, square = (b[0] - a[0], b[1] - a[1]), (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
        part = max(0.0, min(1.0, ((x - a[0]) * way[0] + (y - a[1]) * way[1]) / square)) if square else 0.0
        return math.hypot(x - a[0] - part * way[0], y - a[1] - part * way[1])

    return min(edge(a, b) for a, b in zip(line, line[1:]))


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class LabelTests(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Estimated()
        self.addCleanup(self.server.close)

    def world(self, dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Graphics on the screen, and definitions of labels."""
        graphics = []
        for index in range(dice.randint(5, 80)):
            x, y, turn = dice.uniform(-190, 190), dice.uniform(-140, 140), dice.uniform(0, 6.3)

            def around(radius: float, angle: float) -> list[float]:
                x1, y1 = x + radius * math.cos(turn + angle), y + radius * math.sin(turn + angle)
                return [max(-195, min(x1, 195)), max(-145, min(y1, 145))]

            ring = [around(dice.uniform(20, 60), step * math.pi / 4) for step in range(8)]
            curve = [around(dice.uniform(98, 102) * (step - 10) / 10, math.sin(step / 5)) for step in range(21)]
            geometry: dict[str, Any] = {"type": "Point", "coordinates": [x, y]}
            if index % 5 == 3:
                geometry = {"type": "LineString", "coordinates": curve}
            elif index % 5 == 4:
                geometry = {"type": "Polygon", "coordinates": [ring + ring[:1]]}
            name = dice.choice(["a", "Oslo", "A longer name", "two\nlines"])
            graphics.append({"id": index, "geometry": geometry, "attributes": {"name": name, "n": dice.randint(0, 9)}})
        labels: list[dict[str, Any]] = []
        for index in range(dice.randint(1, 3)):
            angle = dice.choice([0, 0, 45, dice.uniform(-360, 360)])
            symbol: dict[str, Any] = {"type": "text", "size": dice.choice([6, 10, 24]), "angle": angle}
            if dice.random() < 0.4:
                symbol |= {"haloColor": "#FFFFFF", "haloWidth": 3, "xOffset": dice.uniform(-5, 5)}
            condition = {"whereClause": f"n < {dice.randint(3, 9)}"} if dice.random() < 0.4 else {}
            placed = {"placement": dice.choice(PLACEMENTS), "priority": dice.choice([0, 1, 5])}
            labels.append({"expression": "name", "symbol": symbol, **placed, **condition})
        return graphics, labels

    def test_labels_are_placed_the_same_way_and_meet_none(self) -> None:
        for seed in range(2 * WORLDS):
            with self.subTest(seed=seed):
                self.place(random.Random(seed))

    def place(self, dice: random.Random) -> None:
        for each in self.server("overlay/list", view="v")["overlays"]:
            self.server("overlay/close", overlay=each["overlay"])
        worlds = {f"o{index}": self.world(dice) for index in range(dice.randint(1, 3))}
        for name, (graphics, labels) in worlds.items():
            self.server.overlay(name, graphics, labels)
        answer = self.server.labels()
        placed = answer["labels"]
        self.assertEqual(answer["textMetrics"], "estimated")
        taken = [boxes(label) for label in placed]
        for index, one in enumerate(taken):
            for x, y in (corner for box in one for corner in corners(box)):
                self.assertTrue(-1e-3 <= x <= 400.001 and -1e-3 <= y <= 300.001, placed[index])
            for other in range(index):
                if any(meet(a, b) for a in one for b in taken[other]):
                    self.fail(f"{placed[index]} meets {placed[other]}")
        # From the top, by priority, by id.
        overlays = sorted(worlds, reverse=True)
        order = [
            (overlays.index(each["overlay"]), worlds[each["overlay"]][1][each["definition"]]["priority"], each["id"]) for each in placed
        ]
        self.assertEqual(order, sorted(order))
        defined = set()
        for name, (graphics, labels) in worlds.items():
            for index, label in enumerate(labels):
                bound = int(label.get("whereClause", "n < 10")[4:])
                defined |= {(name, each["id"], index) for each in graphics if each["attributes"]["n"] < bound}
        drawn = {(each["overlay"], each["id"], each["definition"]) for each in placed}
        self.assertLessEqual(drawn, defined)
        self.assertEqual(answer["omittedLabelCount"], len(defined) - len(drawn))
        for each in placed:
            graphics, labels = worlds[each["overlay"]]
            self.side(each, next(one for one in graphics if one["id"] == each["id"])["geometry"], labels[each["definition"]])
        # Another order of insertion, and an edit that was undone.
        for name, (graphics, labels) in worlds.items():
            dice.shuffle(graphics)
            self.server.overlay(name, graphics, labels)
        self.assertEqual(self.server.labels()["labels"], placed)
        self.server("overlay/removeGraphics", overlay="o0", ids=[worlds["o0"][0][0]["id"]])
        self.server("edit/undo")
        again = self.server.labels()
        self.assertEqual((again["labels"], again["omittedLabelCount"]), (placed, answer["omittedLabelCount"]))

    def side(self, label: dict[str, Any], geometry: dict[str, Any], definition: dict[str, Any]) -> None:
        """That a label is where its definition says."""
        symbol, places = definition["symbol"], geometry["coordinates"]
        x, y = label["center"]["x"] - 200 - symbol.get("xOffset", 0), label["center"]["y"] - 150
        along = definition["placement"] not in SIDES
        if geometry["type"] == "Point":
            dx, dy = x - places[0], y + places[1]
            wide = dx if abs(dx) > 1e-3 else 0, dy if abs(dy) > 1e-3 else 0
            if not along:
                self.assertEqual(tuple(0 if far == 0 else math.copysign(1, far) for far in wide), SIDES[definition["placement"]])
            self.assertAlmostEqual(label["angle"], symbol["angle"], 4)
        elif geometry["type"] == "Polygon" and along:
            self.assertTrue(inside(x, -y, places[0]), label)
        elif geometry["type"] == "LineString" and along:
            # Upright, so that it can be read.
            self.assertTrue(-90 - 1e-3 <= label["angle"] <= 90 + 1e-3, label)
            line = [(place[0], -place[1]) for place in places]
            x, y = label["center"]["x"] - 200, label["center"]["y"] - 150
            away = 0 if definition["placement"] == "lineCenterAlong" else label["height"] / 2 + 1 + 6.2
            self.assertLess(from_line(x, y, line), away + 0.3 * label["height"] + 1, label)

    def test_labels_that_have_room_are_drawn(self) -> None:
        """Those that are left out meet one that was placed before, or the edge."""
        for seed in range(WORLDS):
            dice = random.Random(seed)
            places = [(dice.randint(-190, 190), dice.randint(-140, 140)) for _ in range(150)]
            graphics: list[dict[str, Any]] = [
                {"id": id, "geometry": {"type": "Point", "coordinates": at}, "attributes": {"n": 10**dice.randint(0, 9)}}
                for id, at in enumerate(places)
            ]
            label = {"expression": "n", "symbol": {"type": "text", "size": 12}, "placement": "pointCenterCenter"}
            self.server.overlay("o", graphics, [label])
            placed = {each["id"]: boxes(each)[0] for each in self.server.labels()["labels"]}
            for graphic in graphics:
                x, y = graphic["geometry"]["coordinates"]
                width = 6 * len(str(graphic["attributes"]["n"]))
                box = (x + 200, 150 - y, width + 4, 12 + 4, 0)
                id = graphic["id"]
                cut = not all(0 < x < 400 and 0 < y < 300 for x, y in corners(box))
                self.assertTrue(id in placed or cut or any(meet(box, placed[other]) for other in placed if other < id), (seed, id))

    def test_scales_count(self) -> None:
        point = {"id": 1, "geometry": {"type": "Point", "coordinates": [0, 0]}, "attributes": {"n": 1}}
        for low, high, drawn in ((None, None, 1), (9999, None, 0), (10001, None, 1), (None, 9999, 1), (None, 10001, 0)):
            bounds = {name: value for name, value in (("minScale", low), ("maxScale", high)) if value}
            self.server.overlay("o", [point], [{"expression": "n", **bounds}])
            answer = self.server.labels()
            self.assertEqual((len(answer["labels"]), answer["omittedLabelCount"]), (drawn, 0))
        self.server.overlay("o", [point], [{"expression": "n"}], labelsEnabled=False)
        self.assertEqual(self.server.labels()["labels"], [])

@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class PainterTests(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Estimated()
        self.addCleanup(self.server.close)
        places = [(index % 200 - 100, index // 200 - 50) for index in range(20_000)]
        points = [{"id": id, "geometry": {"type": "Point", "coordinates": at}} for id, at in enumerate(places)]
        symbol = {"type": "simpleMarker", "size": 100}
        self.server.overlay("o", points, [], renderer={"type": "simple", "symbol": symbol})

    def painters(self) -> list[int]:
        """Each thread has children of its own."""
        found = [child for thread in Path(f"/proc/{self.server.process.pid}/task").iterdir() for child in read(thread / "children").split()]
        return [int(child) for child in found if b"--painter" in read(Path(f"/proc/{int(child)}/cmdline"))]

    @unittest.skipUnless(Path("/proc/self/task").exists(), "children are found in /proc")
    def test_a_painter_that_is_killed_again_and_again(self) -> None:
        self.server.send({"id": "r", "method": "view/render", "params": {"view": "v", "pixelRatio": 8}})
        answers = self.server.process.stdout
        while not select.select([answers], [], [], 0.02)[0]:
            for child in self.painters():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        answer = json.loads(answers.readline())
        self.assertEqual((answer["id"], answer["error"]["data"]), ("r", {"kind": "painterFailed", "signal": 9}))
        self.assertEqual(self.server("view/render", view="v")["picture"]["width"], 400)


def read(file: Path) -> bytes:
    """Nothing, if the process is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return file.read_bytes()
    return b""


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class FoundLabelTests(unittest.TestCase):
    """Placed labels are kept for `view/identify` until something changes that they depend on: `view/labels` places them anew."""

    LABELS: dict[str, Any] = {"labels": [{"expression": "n", "symbol": {"type": "text", "size": 12}}], "labels_enabled": True}

    def setUp(self) -> None:
        server: Any = geomodel.launch_sync(SERVER or "")
        self.server = server
        self.addCleanup(server.close)
        server.map.create(id="m", spatial_reference="EPSG:4326")
        self.look()
        server.layer.add_group(map="m", id="g")
        groups: list[tuple[str, dict[str, Any]]] = [("l", {}), ("in", {"group": "g"})]
        for name, group in groups:
            features = [
                {"type": "Feature", "id": id, "geometry": {"type": "Point", "coordinates": [id, id]}, "properties": {"n": f"{name}{id}"}}
                for id in range(1, 9)
            ]
            data = {"type": "FeatureCollection", "features": features}
            server.source.open_inline(id=f"s-{name}", data=data, spatial_reference="EPSG:4326")
            server.layer.add(map="m", source=f"s-{name}", id=name, **group)
            server.layer.load(layer=name)
            server.layer.update(layer=name, **self.LABELS)
        server.entity.create(id="e", fields=[{"name": "n", "type": "string"}], track_id_field="n")
        server.entity.connect(entity_source="e")
        server.layer.add(map="m", entity_source="e", id="moving")
        server.layer.update(layer="moving", **self.LABELS)
        server.overlay.create(id="o", view="v", spatial_reference="EPSG:4326", **self.LABELS)
        self.add("o")

    def look(self, x: float = 5, y: float = 5, scale: float = 2e7) -> None:
        center = {"type": "Point", "coordinates": [x, y]}
        viewpoint = {"type": "centerAndScale", "center": center, "targetScale": scale}
        self.server.view.create(id="v", map="m", width=500, height=400, viewpoint=viewpoint, if_exists="reuse")
        self.server.view.set_viewpoint(view="v", viewpoint=viewpoint)

    def add(self, overlay: str) -> None:
        graphics = [{"id": id, "geometry": {"type": "Point", "coordinates": [10 - id, id]}, "attributes": {"n": f"o{id}"}} for id in range(9)]
        self.server.overlay.add_graphics(overlay=overlay, graphics=graphics)

    def changes(self, dice: random.Random) -> list[Callable[[], Any]]:
        server = self.server

        def place() -> list[float]:
            return [dice.uniform(0, 10), dice.uniform(1, 9)]

        def point() -> dict[str, Any]:
            return {"type": "Point", "coordinates": place()}

        def layer(**changes: Any) -> Callable[[], Any]:
            name = dice.choice(["l", "in"])
            return lambda: server.layer.update(layer=name, **changes)

        node = dice.choice(["m", "l", "o", "v", None])
        scope = {"node": node} if node else {}
        return [
            lambda: server.overlay.replace_graphics(
                overlay="o", graphics=[{"id": dice.randrange(9), "geometry": point(), "attributes": {"n": "moved"}}]),
            lambda: server.overlay.update(overlay="o", is_visible=dice.random() < 0.7),
            lambda: server.overlay.update(overlay="o", labels=[{"expression": "n", "symbol": {"type": "text", "size": dice.choice([8, 12, 20])}}]),
            lambda: server.overlay.update(overlay="o", feature_reduction={"radius": 60, "labels": [{"expression": "cluster_count"}], "labelsEnabled": True}),
            lambda: server.overlay.update(overlay="o", clear=["featureReduction"]),
            layer(is_visible=dice.random() < 0.7),
            layer(definition_expression=f"n <> 'l{dice.randrange(9)}'"),
            layer(labels=[{"expression": "n", "symbol": {"type": "text", "size": dice.choice([9, 14])}}]),
            layer(min_scale=dice.choice([1e7, 1e9])),
            lambda: server.layer.update(layer="g", is_visible=dice.random() < 0.7),
            lambda: server.layer.move(layer="l", index=dice.randrange(2)),
            lambda: server.environment.set(key="symbolScale", value=dice.choice([1, 1.5]), **scope),
            lambda: server.map.update(map="m", reference_scale=dice.choice([1e7, 2e7])),
            lambda: self.look(dice.uniform(0, 10), dice.uniform(1, 9), dice.choice([1.5e7, 2e7, 3e7])),
            lambda: server.view.resize(view="v", width=dice.choice([400, 500])),
            lambda: server.entity.push(
                entity_source="e", features=[{"type": "Feature", "geometry": point(), "properties": {"n": dice.choice("abc")}}]),
            lambda: server.entity.purge(entity_source="e"),
            server.edit.undo,
            server.edit.redo,
        ]

    def test_labels_are_found_where_they_are_whatever_has_changed(self) -> None:
        dice, found = random.Random(5), 0
        for step in range(40 * WORLDS):
            with contextlib.suppress(geomodel.GeoModelError):
                dice.choice(self.changes(dice))()
            labels = self.server.view.labels(view="v")["labels"]
            for label in dice.sample(labels, min(2, len(labels))):
                names = list(self.found(self.server.view.identify(view="v", screen_point=label["center"])["results"]))
                name = label.get("layer") or label["overlay"]
                self.assertIn(((name, label["id"]), "label"), names, (step, label))
                found += 1
            # Where none is, none is found.
            x, y = dice.uniform(0, 400), dice.uniform(0, 400)
            near = any(abs(x - each["center"]["x"]) <= each["width"] / 2 and abs(y - each["center"]["y"]) <= each["height"] / 2 for each in labels)
            results = self.server.view.identify(view="v", screen_point={"x": x, "y": y})["results"]
            self.assertEqual(near, any(part == "label" for _, part in self.found(results)), (step, x, y))
        self.assertGreater(found, 10 * WORLDS)

    def found(self, results: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, int], str]]:
        for result in results:
            name = result.get("layer") or result.get("overlay") or ""
            for kind, parts in (("clusters", "clusterParts"), ("features", "parts")):
                for each, part in zip(result.get(kind, []), result.get(parts, [])):
                    yield (name, each["id"]), part
            yield from self.found(result["sublayerResults"])


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class SeriesTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server: Any = geomodel.launch_sync(SERVER or "")
        self.addCleanup(self.server.close)
        self.server.map.create(id="m")
        self.server.view.create(id="v", map="m", width=400, height=300)

    def overlay(self, count: int) -> None:
        self.server.overlay.create(id="o", view="v", renderer={"type": "simple", "symbol": {"type": "simpleFill", "color": "#FF0000"}})
        graphics: list[Any] = []
        for id in range(count):
            x, y = id % 100, id // 100
            ring = [[x, y], [x + 0.8, y], [x + 0.8, y + 0.5], [x, y + 0.5], [x, y]]
            graphics.append({"id": id, "geometry": {"type": "Polygon", "coordinates": [ring]}, "attributes": {"name": f"No. {id}"}})
        self.server.overlay.add_graphics(overlay="o", graphics=graphics)

    def test_a_book_has_a_page_for_each_feature(self) -> None:
        self.overlay(30)
        file = self.folder / "book.pdf"
        seen: list[Any] = []
        series = self.server.options(progress=seen.append).view.render_series(
            view="v", overlay="o", path=str(file), format="pdf", title_expression="name"
        )["series"]
        written = file.read_bytes()
        self.assertEqual((series["bytes"], series["pages"][29]), (len(written), {"id": 29, "title": "No. 29"}))
        self.assertTrue(written.startswith(b"%PDF") and written.rstrip().endswith(b"%%EOF"))
        self.assertIn(b"/Count 30", written)
        self.assertTrue(seen)

    def test_pages_show_their_features(self) -> None:
        self.overlay(12)
        series = self.server.view.render_series(view="v", overlay="o", path=str(self.folder / "p.png"), ids=[2, 11])["series"]
        self.assertEqual([Path(page["path"]).name for page in series["pages"]], ["p-1.png", "p-2.png"])
        for page in series["pages"]:
            width, height, channels, pixels = decoded(base64.b64encode(Path(page["path"]).read_bytes()).decode())
            middle = channels * (height // 2 * width + width // 2)
            self.assertEqual(pixels[middle : middle + 3], b"\xff\x00\x00")
            self.assertEqual(pixels[:3], b"\xff\xff\xff")
            # As wide as the page without its margins, of which there are two of a tenth of 300.
            row = pixels[channels * (height // 2) * width : channels * (height // 2 + 1) * width]
            red = [column for column in range(width) if row[channels * column : channels * column + 3] == b"\xff\x00\x00"]
            self.assertAlmostEqual(red[-1] - red[0], 340, delta=3)

    def test_a_book_that_is_cancelled_leaves_nothing(self) -> None:
        self.overlay(900)
        kept = self.folder / "kept.pdf"
        kept.write_bytes(b"earlier")
        with self.assertRaises(geomodel.errors.TimedOutError):
            self.server.options(task_timeout=0.05).view.render_series(view="v", overlay="o", path=str(kept), format="pdf", replace=True)
        self.assertGreater(self.server.view.render(view="v")["picture"]["bytes"], 0)
        # It ends when its work has ended.
        self.server.close()
        self.assertEqual([each.name for each in self.folder.iterdir()], ["kept.pdf"])
        self.assertEqual(kept.read_bytes(), b"earlier")

    def test_fences_are_drawn_with_their_buffers(self) -> None:
        server = self.server
        scale = 100_000
        view = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 60]}, "targetScale": scale}
        server.view.set_viewpoint(view="v", viewpoint=view)
        server.overlay.create(id="zones", view="v")
        server.overlay.add_graphics(overlay="zones", graphics=[{"id": 1, "geometry": {"type": "Point", "coordinates": [10, 60]}}])
        server.location.create_external(id="drive")
        server.geotrigger.create(id="watch", feed="drive", fences="zones", buffer=1000)
        for shown in (False, True):
            width, height, channels, pixels = decoded(server.view.render(view="v", fences=shown)["picture"]["data"])
            row = [pixels[channels * (150 * width + x) : channels * (150 * width + x) + 3] for x in range(width)]
            inked = [x for x, color in enumerate(row) if color != b"\xff\xff\xff"]
            self.assertEqual(bool(inked), shown)
        # A kilometre is twice as long on this map, at 60 degrees.
        self.assertAlmostEqual(inked[-1] - inked[0], 2 * 2 * 1000 / scale / 0.0254 * 96, delta=4)

    def test_a_raster_that_cannot_be_read_any_more_is_named_and_the_rest_is_drawn(self) -> None:
        file = self.folder / "colors.tif"
        file.write_bytes((ROOT / "Tests" / "Fixtures" / "colors.tif").read_bytes())
        self.server.layer.add_raster(map="m", path=str(file), id="colors")
        self.server.layer.load(layer="colors")
        layer = self.server.layer.get(layer="colors")
        box: Any = {"type": "boundingGeometry", "geometry": {"type": "Envelope", **layer["extent"]}, "spatialReference": layer["spatialReference"]}
        self.server.view.set_viewpoint(view="v", viewpoint=box)
        self.overlay(1)
        file.write_bytes(b"no raster")
        picture = self.server.view.render(view="v")["picture"]
        self.assertEqual([each["layer"] for each in picture["failed"]], ["colors"])
        self.assertIn(picture["failed"][0]["error"]["kind"], ("readFailed", "changedWhileRead"))
        low, high = [[layer["extent"][f"{axis}{end}"] for axis in "xy"] for end in ("Min", "Max")]
        self.server.overlay.create(id="there", view="v", spatial_reference=layer["spatialReference"])
        self.server.overlay.add_graphics(overlay="there", graphics=[{"geometry": {"type": "LineString", "coordinates": [low, high]}}])
        with self.assertRaises((geomodel.errors.ReadFailedError, geomodel.errors.ChangedWhileReadError)):
            self.server.view.render_series(view="v", overlay="there", path=str(self.folder / "page.png"))

    def test_parts_are_the_picture(self) -> None:
        asked: dict[str, Any] = {"view": "v", "width": 3000, "height": 3000, "layout": {"graticule": {"interval": 0.5}}}
        self.server.view.set_viewpoint(
            view="v", viewpoint={"type": "centerAndScale", "center": {"type": "Point", "coordinates": [10, 60]}, "targetScale": 1e7}
        )
        whole = self.server.view.render(**asked, format="svg")["picture"]
        parts = self.server.parts("view/render", {**asked, "format": "svg"})
        pieces = [part["data"] for part in parts]
        self.assertGreater(len(pieces), 1)
        self.assertLess(max(map(len, pieces)), 1 << 20)
        self.assertEqual("".join(pieces), whole.pop("data"))
        self.assertEqual(parts.result["picture"] if parts.result else None, whole)


@unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
class PixelTests(unittest.TestCase):
    def test_pixels_have_the_colours_of_what_is_picked(self) -> None:
        server = Estimated()
        self.addCleanup(server.close)
        for seed in range(WORLDS):
            dice = random.Random(seed)
            colors = [f"{dice.randrange(1 << 24):06X}" for _ in range(30)]
            graphics = []
            for id, rgb in enumerate(colors):
                # Edges between pixels, so that every pixel has one colour.
                (left, right), (low, high) = sorted(dice.sample(range(-200, 201), 2)), sorted(dice.sample(range(-150, 151), 2))
                ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
                area = {"type": "Polygon", "coordinates": [ring]}
                graphics.append({"id": id, "geometry": area, "symbol": {"type": "simpleFill", "color": f"#{rgb}"}})
            server.overlay("o", graphics, [])
            transparent = seed % 2 == 1
            picture = server("view/render", view="v", pick=True, transparent=transparent)["picture"]
            width, height, channels, pixels = decoded(picture["data"])
            self.assertEqual((width, height, channels), (400, 300, 4 if transparent else 3))
            numbers = struct.unpack(f"<{width * height}I", base64.b64decode(picture["pick"]["pixels"]))
            ground = bytes(4) if transparent else b"\xff" * 3
            shown = [ground, *(bytes.fromhex(colors[each["id"]]) + b"\xff" * (channels - 3) for each in picture["pick"]["items"])]
            self.assertEqual(pixels, b"".join(shown[number] for number in numbers))


if __name__ == "__main__":
    unittest.main()
