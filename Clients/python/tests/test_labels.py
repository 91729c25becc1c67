"""Labels of random worlds on the real server: they meet none, and are found where they are drawn."""

from __future__ import annotations

import contextlib
import math
import random
import unittest
from typing import Any, Callable, Iterator

from picture_worlds import PLACEMENTS, SIDES, WORLDS, Estimated
from support import SERVER, needs_server

import geomodel

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


@needs_server
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


@needs_server
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
