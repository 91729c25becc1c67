"""What the programs of the gallery share: the world as a map, and where their pictures are written."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any, Iterator

import geomodel

DATA = Path(__file__).resolve().parents[4] / "Tests" / "Fixtures"  # Their provenance is in README.md there.
SEA, LAND, COAST = "#DCE9F2", "#F4F1E8", "#A9A295"
EQUAL_EARTH = "EPSG:8857"


def fill(color: str, outline: str = COAST, width: float = 0.5) -> Any:
    return {"type": "simpleFill", "color": color, "outline": {"color": outline, "width": width}}


def marker(color: str, size: float = 8, outline: str = "#FFFFFF", style: str = "circle") -> Any:
    return {"type": "simpleMarker", "color": color, "size": size, "style": style, "outline": {"color": outline, "width": 1}}


def simple(symbol: Any, **more: Any) -> Any:
    return {"type": "simple", "symbol": symbol, **more}


def label(expression: str, size: float = 10, color: str = "#333333", **more: Any) -> Any:
    text = {"type": "text", "size": size, "color": color, "haloColor": "#FFFFFF", "haloWidth": 1.5}
    return {"expression": expression, "symbol": text, **more}


@contextlib.contextmanager
def world(*layers: str, reference: str = EQUAL_EARTH, width: int = 640, height: int = 320, scale: float = 220e6,
          center: tuple[float, float] = (0, 5)) -> Iterator[geomodel.SyncServer]:
    """A server with a map of the world and its view; land is drawn in its colour until the layer has a renderer."""
    with geomodel.launch_sync() as server:
        server.map.create(id="map", spatial_reference=reference, background_color=SEA)
        server.source.open(id="world", path=DATA / "naturalearth_110m.gpkg")
        for name in layers:
            server.layer.add(map="map", source="world", source_layer=name, id=name)
            server.layer.load(layer=name)
            server.layer.update(layer=name, renderer=simple(fill(LAND) if name == "countries" else marker("#B03A2E", 6)))
        to: Any = {
            "type": "centerAndScale", "center": {"type": "Point", "coordinates": center}, "spatialReference": "EPSG:4326",
            "targetScale": scale,
        }
        server.view.create(id="view", map="map", width=width, height=height, viewpoint=to)
        yield server


def save(result: Any) -> None:
    """Writes the picture as PROGRAM.png into the folder that the command line names; beside the program when it names none."""
    program = Path(sys.argv[0]).resolve()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else program.parent
    path = folder / f"{program.stem}.png"
    path.write_bytes(geomodel.picture_bytes(result))
    print(f"{path}: {result['picture']['bytes']:,} bytes, {result['picture']['labelCount']} labels")
