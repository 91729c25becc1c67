"""What tests of exported files have in common: a server, layers, and the packages of other readers."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import SERVER, needs_server

import geomodel

try:
    import geopandas
    import shapely
except ImportError:
    geopandas = None


GEOMETRIES: list[Any] = [
    {"type": "Point", "coordinates": [7.5, 51.25]},
    {"type": "LineString", "coordinates": [[0, 0], [1.5, 2.25], [3, 1]]},
    {"type": "Polygon", "coordinates": [
        [[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]], [[2, 2], [4, 2], [4, 4], [2, 4], [2, 2]]]},
    {"type": "MultiPoint", "coordinates": [[1, 1], [2, 2]]},
    {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]], [[2, 2], [3, 3], [4, 2]]]},
    {"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 0]]], [[[5, 5], [6, 5], [6, 6], [5, 5]]]]},
    {"type": "GeometryCollection", "geometries": [
        {"type": "Point", "coordinates": [1, 2]}, {"type": "LineString", "coordinates": [[0, 0], [5, 5]]}]},
    None,
]

PROPERTIES: list[dict[str, Any]] = [
    {"name": "Köln, \"am\" Rhein\n東京 🌍", "flag": True, "whole": 9007199254740993, "real": -0.1, "day": "2024-02-29",
     "at": "2024-02-29T10:20:30.125Z", "clock": "23:59:58", "list": [1, [2, None]], "object": {"a": {"b": "ü"}}},
    {"name": "", "flag": False, "whole": -1, "real": 1e300, "day": "1066-10-14", "at": "1969-12-31T23:59:59Z",
     "clock": "00:00:00", "list": [], "object": {}},
    {"name": None, "flag": None, "whole": None, "real": None, "day": None, "at": None, "clock": None, "list": None,
     "object": None},
]


def collection(geometries: list[Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 10 * index + 3, "geometry": geometry, "properties": PROPERTIES[index % len(PROPERTIES)]}
        for index, geometry in enumerate(geometries)]}


def shape(geometry: Any) -> Any:
    """A geometry without the direction and start of its rings."""
    return None if geometry is None else shapely.normalize(shapely.geometry.shape(geometry))


@unittest.skipIf(geopandas is None, "no geopandas")
@needs_server
class ExportCase(unittest.TestCase):
    def setUp(self) -> None:
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        self.server.map.create(id="m")
        self.count = 0

    def layer(self, source_layer: str | None = None, **source: Any) -> str:
        """A loaded layer over a source."""
        self.count += 1
        name = f"l{self.count}"
        if "data" in source:
            self.server.source.open_inline(id="s" + name, **source)
        else:
            self.server.source.open(id="s" + name, **source)
        self.server.layer.add(id=name, map="m", source="s" + name, source_layer=source_layer)
        self.server.layer.load(layer=name)
        return name

    def features(self, layer: str, **query: Any) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.server.feature.query(layer=layer, limit=100_000, **query)["features"]
        return result

    def export(self, layer: str, name: str, **params: Any) -> tuple[Any, Path]:
        path = self.folder / name
        return self.server.feature.export(layer=layer, path=str(path), **params), path

    def check_same(self, mine: list[dict[str, Any]], theirs: list[dict[str, Any]], ids: bool = True) -> None:
        self.assertEqual(len(mine), len(theirs))
        for own, other in zip(mine, theirs):
            if ids:
                self.assertEqual(own["id"], other["id"])
            self.assertEqual(own["properties"], other["properties"])
            own_shape, other_shape = shape(own["geometry"]), shape(other["geometry"])
            self.assertTrue(own_shape is other_shape is None or own_shape.equals_exact(other_shape, 0), (own, other))
