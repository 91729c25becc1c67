"""Pictures beside those that were looked at once: every symbol and every place of a label, in two sheets. The gallery has maps.

`GEOMODEL_WRITE_PICTURES=FOLDER` writes what is drawn there, to be looked at.
"""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from typing import Any

from pixels import Pixels, pixels
from support import ROOT, SERVER, needs_server

import geomodel

SHEETS = ROOT / "Tests" / "Fixtures" / "pictures"
WRITTEN = os.environ.get("GEOMODEL_WRITE_PICTURES")
# Of the pixels of a sheet, as `Pixels.differing` counts.
TOLERANCE = 0.005

MARKERS = ["circle", "cross", "diamond", "square", "triangle", "x"]
LINES = [
    "solid", "dash", "dot", "dashDot", "dashDotDot", "longDash", "longDashDot", "shortDash", "shortDashDot", "shortDashDotDot", "shortDot", "null",
]
FILLS = ["solid", "backwardDiagonal", "cross", "diagonalCross", "forwardDiagonal", "horizontal", "vertical", "null"]
POINT_LABELS = {
    "pointAboveLeft": "above left", "pointAboveCenter": "above", "pointAboveRight": "above right", "pointCenterLeft": "left",
    "pointCenterCenter": "centre", "pointCenterRight": "right", "pointBelowLeft": "below left", "pointBelowCenter": "below",
    "pointBelowRight": "below right",
}
LINE_LABELS = {"lineAboveAlong": "above a line", "lineCenterAlong": "on a line", "lineBelowAlong": "below a line"}
# Metres to a pixel of the sheets.
UNIT = 1000.0


def line(style: str, width: float, color: str = "#204060") -> Any:
    return {"type": "simpleLine", "style": style, "color": color, "width": width}


def point(x: float, y: float) -> Any:
    return {"type": "Point", "coordinates": [x * UNIT, -y * UNIT]}


def path(*places: tuple[float, float]) -> Any:
    return {"type": "LineString", "coordinates": [[x * UNIT, -y * UNIT] for x, y in places]}


def area(x: float, y: float, width: float, height: float) -> Any:
    ring = [(x, y), (x, y + height), (x + width, y + height), (x + width, y), (x, y)]
    return {"type": "Polygon", "coordinates": [[[x * UNIT, -y * UNIT] for x, y in ring]]}


def sheet(server: geomodel.SyncServer, width: int, height: int) -> None:
    """A map whose place (x, y) is at that pixel, from the top left."""
    server.map.create(id="map", spatial_reference="EPSG:3857", background_color="#FFFFFF")
    middle: Any = {
        "type": "centerAndScale", "center": point(width / 2, height / 2), "spatialReference": "EPSG:3857", "targetScale": UNIT * 96 / 0.0254,
    }
    server.view.create(id="view", map="map", width=width, height=height, viewpoint=middle)


def symbols(server: geomodel.SyncServer) -> bytes:
    """Markers by style, with and without outline, large, turned and moved; lines by style and width; fills by style; texts."""
    sheet(server, 400, 300)
    graphics: list[Any] = []

    def add(geometry: Any, symbol: Any) -> None:
        graphics.append({"geometry": geometry, "symbol": symbol})

    for index, style in enumerate(MARKERS):
        marker = {"type": "simpleMarker", "style": style, "color": "#D2691E", "size": 14}
        outline = {"style": "solid", "color": "#000000", "width": 1}
        for row, more in enumerate(({}, {"outline": outline}, {"outline": {**outline, "width": 3, "color": "#0000FF80"}}, {"angle": 30, "size": 20})):
            add(point(16 + 26 * index, 16 + 28 * row), {**marker, **more})
    for index, style in enumerate(LINES):
        for column, width in enumerate((1, 3)):
            add(path((170 + 110 * column, 12 + 10 * index), (225 + 110 * column, 12 + 10 * index), (270 + 110 * column, 8 + 10 * index)), line(style, width))
    for index, style in enumerate(FILLS):
        symbol = {"type": "simpleFill", "style": style, "color": "#2E8B57C0", "outline": {"style": "solid", "color": "#203020", "width": 1.5}}
        add(area(8 + 48 * index, 140, 40, 40), symbol)
    texts: list[dict[str, Any]] = [
        {"text": "Straße Ἀθῆναι Київ"}, {"text": "bold", "fontWeight": "bold"}, {"text": "italic", "fontStyle": "italic"},
        {"text": "halo", "haloColor": "#FFD700", "haloWidth": 2}, {"text": "turned", "angle": 45}, {"text": "two\nlines"},
    ]
    for index, text in enumerate(texts):
        add(point(90 + 120 * (index % 3), 210 + 55 * (index // 3)), {"type": "text", "size": 16, "color": "#1A1A1A", **text})
    server.overlay.create(id="symbols", view="view", spatial_reference="EPSG:3857")
    server.overlay.add_graphics(overlay="symbols", graphics=graphics)
    return geomodel.picture_bytes(server.view.render(view="view"))


def labels(server: geomodel.SyncServer) -> bytes:
    """Each place of a label at a point, along lines that turn, and in areas, one with a hole; those that find no room are left out."""
    sheet(server, 400, 300)
    features: list[Any] = []

    def add(geometry: Any, placement: str, text: str = "an area") -> None:
        features.append({"type": "Feature", "geometry": geometry, "properties": {"placement": placement, "text": text}})

    for index, (placement, text) in enumerate(POINT_LABELS.items()):
        add(point(80 + 120 * (index % 3), 25 + 40 * (index // 3)), placement, text)
        # The label of one beside it finds no room.
        add(point(84 + 120 * (index % 3), 27 + 40 * (index // 3)), placement, text)
    for index, (placement, text) in enumerate(LINE_LABELS.items()):
        left = 10 + 130 * index
        add(path((left, 190), (left + 30, 165), (left + 60, 155), (left + 90, 165), (left + 120, 190)), placement, text)
    ring = area(10, 200, 180, 90)
    ring["coordinates"].append(area(20, 210, 120, 70)["coordinates"][0])
    add(ring, "polygonAlwaysHorizontal")
    add(area(205, 200, 185, 40), "automatic")
    add(area(205, 250, 20, 40), "automatic", "a narrow area")
    add(path((240, 280), (390, 255)), "automatic", "a line")
    data = {"type": "FeatureCollection", "features": features, "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}}
    source = server.source.open_inline(data=data)
    server.layer.add(map="map", source=source["source"], source_layer=source["layers"][0]["name"], id="places")
    server.layer.load(layer="places")
    text = {"type": "text", "size": 11, "color": "#202020", "haloColor": "#FFFFFF", "haloWidth": 1}
    kinds = [*POINT_LABELS, *LINE_LABELS, "polygonAlwaysHorizontal", "automatic"]
    definitions: list[Any] = [
        {"expression": "text", "whereClause": f"placement = '{kind}'", "placement": kind, "symbol": text} for kind in kinds
    ]
    marker = {"type": "simpleMarker", "color": "#C62828", "size": 5}
    server.layer.update(
        layer="places", labels=definitions, labels_enabled=True, renderer={
            "type": "uniqueValue", "fields": ["placement"],
            "uniqueValues": [{"values": [kind], "symbol": marker} for kind in POINT_LABELS]
            + [{"values": [kind], "symbol": line("solid", 1, "#7090B0")} for kind in LINE_LABELS],
            "defaultSymbol": {"type": "simpleFill", "color": "#E8E0F0", "outline": {"style": "solid", "color": "#8060A0", "width": 1}},
        })
    return geomodel.picture_bytes(server.view.render(view="view"))


@needs_server
class SheetTests(unittest.TestCase):
    def test_symbols_and_labels_are_drawn_as_in_the_sheets(self) -> None:
        for name, draw in (("symbols", symbols), ("labels", labels)):
            with self.subTest(name), geomodel.launch_sync(SERVER) as server:
                drawn = draw(server)
                if WRITTEN:
                    (Path(WRITTEN) / f"{name}.png").write_bytes(drawn)
                self.assertLessEqual(pixels(drawn).differing(pixels((SHEETS / f"{name}.png").read_bytes())), TOLERANCE)

    def test_what_is_elsewhere_or_missing_is_noticed(self) -> None:
        def image(*dark: tuple[int, int]) -> Pixels:
            at = {(x + dx, y + dy) for x, y in dark for dx in range(8) for dy in range(8)}
            return Pixels(100, 100, [[(0, 0, 0) if (x, y) in at else (255, 255, 255) for x in range(100)] for y in range(100)])

        self.assertEqual(image((10, 10), (50, 50)).differing(image((11, 10), (50, 51))), 0)
        self.assertGreater(image((10, 10), (50, 50)).differing(image((10, 10))), TOLERANCE)
        self.assertGreater(image((10, 10), (50, 50)).differing(image((10, 10), (58, 50))), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
