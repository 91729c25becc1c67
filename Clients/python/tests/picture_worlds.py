"""What the tests of pictures have in common: random worlds, places on a screen, and the pixels of a PNG file."""

from __future__ import annotations

import base64
import json
import math
import os
import random
import struct
import subprocess
import zlib
from typing import Any, Iterator

from support import SERVER

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
