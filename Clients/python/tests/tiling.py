"""What the tests of vector tiles share: a server with layers, and tiles read by decoders that are not ours."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import math
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import SERVER, needs_server

import geomodel

REACH = 6378137 * math.pi
# The denominator of zoom 0 with tiles of 512 pixels of 96 dpi.
SCALE = 2 * REACH / 512 / (0.0254 / 96)


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def decoded(data: str | bytes) -> dict[str, Any]:
    """The layers of a tile, y southwards as they are stored."""
    raw = base64.b64decode(data) if isinstance(data, str) else data
    layers: dict[str, Any] = importlib.import_module("mapbox_vector_tile").decode(raw, default_options={"y_coord_down": True})
    return layers


def area(ring: list[list[int]]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) / 2


def faults(layer: dict[str, Any]) -> list[tuple[int, str]]:
    """The polygons of a layer of a tile that are not valid, or whose rings wind the wrong way."""
    shapely, validation = importlib.import_module("shapely.geometry"), importlib.import_module("shapely.validation")
    found = []
    for each in layer["features"]:
        kind, coordinates = each["geometry"]["type"], each["geometry"]["coordinates"]
        if "Polygon" not in kind:
            continue
        shape = shapely.shape(each["geometry"])
        if not shape.is_valid:
            found.append((each["id"], validation.explain_validity(shape)))
        for shell, *holes in [coordinates] if kind == "Polygon" else coordinates:
            if area(shell) <= 0 or any(area(hole) >= 0 for hole in holes):
                found.append((each["id"], "winding"))
    return found


def feature(number: int, geometry: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "id": number, "geometry": geometry, "properties": properties}


def rectangle(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


@needs_server
class TilesCase(unittest.TestCase):
    """A server with a map of inline layers."""

    def setUp(self) -> None:
        assert SERVER is not None
        self.server = geomodel.launch_sync(SERVER)
        self.addCleanup(self.server.close)
        self.server.call("map/create", {"id": "m1", "title": "A <map>"})

    def load(self, features: list[dict[str, Any]], reference: str = "EPSG:4326", name: str = "l1") -> None:
        data = {"type": "FeatureCollection", "features": features}
        self.server.call("source/openInline", {"id": f"s-{name}", "data": data, "spatialReference": reference})
        self.server.call("layer/add", {"map": "m1", "source": f"s-{name}", "id": name})
        self.server.call("layer/load", {"layer": name})

    def tile(self, z: int, x: int, y: int, **params: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        answer = self.server.call("layer/tile", {"layer": "l1", "z": z, "x": x, "y": y, **params})
        layers = decoded(answer["data"]) if answer["data"] else {}
        self.assertEqual(set(layers) - {"l1"}, set())
        return answer, layers["l1"]["features"] if layers else []


class PublishCase(TilesCase):
    """A map of a layer, and a folder for what is published of it."""
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.inputs = Path(folder.name) / "out", Path(folder.name) / "in"
        self.folder.mkdir()
        self.inputs.mkdir()
        shapes = [feature(n, {"type": "Point", "coordinates": [n % 60 * 2.5 - 75, n // 60 * 2 - 40]}, n=n, text="</script>") for n in range(2400)]
        self.load([*shapes, feature(5000, {"type": "Polygon", "coordinates": [rectangle(-100, -50, 100, 50)]}, n=-1)])
