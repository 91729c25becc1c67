"""Two loads of one view side by side: two `.task` modifiers on one view.

Both belong to the view, and each has a key of its own, so that neither waits for the other or replaces it. Each is answered
when it is done; closing the view ends both.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import geomodel
from geomodel.errors import CancelledError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def write_big_file(path: Path) -> None:
    """A file that takes so long to open that the view can be closed meanwhile."""
    feature = '{"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [12.5, 41.5]}}'
    path.write_text('{"type": "FeatureCollection", "features": [' + ",".join([feature] * 250_000) + "]}")


async def load(server: geomodel.Server, key: str, path: Path) -> str:
    """Opens a file for the view; returns its layers."""
    try:
        source = await server.options(scope="view", key=key).source.open(path=path)
    except CancelledError:
        return "cancelled"
    return ", ".join(f"{layer['name']}: {layer['featureCount']}" for layer in source["layers"])


async def main() -> None:
    async with geomodel.launch() as server:
        await server.map.create(id="map")
        await server.view.create(id="view", map="map")

        places, shapes = await asyncio.gather(
            load(server, "places", DATA / "naturalearth_110m.gpkg"), load(server, "shapes", DATA / "cities.shp")
        )
        print(f"    places: {places}\n    shapes: {shapes}")
        check("cancelled" not in (places, shapes), "both loads are answered, neither took the other's place")
        check(len((await server.source.list())["sources"]) == 2, "both sources are there")

        with tempfile.TemporaryDirectory() as folder:
            big = Path(folder) / "big.geojson"
            write_big_file(big)
            # One after the other, without waiting: two loads, the list of tasks, and the closing.
            first, second, running, _ = await asyncio.gather(
                load(server, "places", big),
                load(server, "shapes", big),
                server.task.list(scope="view"),
                server.view.close(view="view"),
            )
            print(f"    under way: {[(task['method'], task['key']) for task in running['tasks']]}")
            check([task["key"] for task in running["tasks"]] == ["places", "shapes"], "two loads of one view run side by side")
            check((first, second) == ("cancelled", "cancelled"), "closing the view ends both")
            check(len((await server.source.list())["sources"]) == 2, "and leaves nothing half open")


asyncio.run(main())
