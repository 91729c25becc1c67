"""An overview map that follows a main view: one link between the centers of two views.

A view has `/views/v/center`, `scale` and `rotation` for any kind of viewpoint: a link to them remains while a
bounding geometry is set, and during an animation.
"""

from __future__ import annotations

import asyncio
from typing import Any

import geomodel


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def main() -> None:
    async with geomodel.launch() as server:
        await server.clock.set(mode="manual", tick_rate=10)
        await server.map.create(id="map")
        await server.view.create(id="main", map="map")
        await server.view.create(id="overview", map="map", width=200, height=150)
        await server.view.set_viewpoint(view="overview", viewpoint={"type": "scale", "targetScale": 50_000_000})
        await server.binding.link(first="/views/main/center", second="/views/overview/center", direction="firstToSecond")

        async def centers() -> list[list[float]]:
            values = (await server.state.get(path="/views/*/center/coordinates"))["values"]
            return [[round(number, 6) for number in each["value"]] for each in values]

        print("The main view goes to an extent.")
        alps = {"type": "Polygon", "coordinates": [[[5, 44], [16, 44], [16, 48], [5, 48], [5, 44]]]}
        area: Any = {"type": "boundingGeometry", "geometry": alps, "spatialReference": "EPSG:4326"}
        await server.view.set_viewpoint(view="main", viewpoint=area)
        large, small = await centers()
        check(large == small, f"the overview has its center, {large}")
        scale = (await server.state.get(path="/views/overview/scale"))["values"][0]["value"]
        check(scale == 50_000_000, "and a scale of its own")

        print("The main view flies to Reykjavik.")
        async with server.observe(["/views/overview/center"]) as seen:
            target: Any = {"type": "center", "center": {"type": "Point", "coordinates": [-21.94, 64.15]}}
            flight, _ = await asyncio.gather(
                server.view.animate_viewpoint(view="main", viewpoint=target, duration=0.5),
                server.clock.advance(seconds=0.5),
            )
            check(flight["arrived"], "it has arrived")
            check(seen.at("/views/overview/center/coordinates") == [-21.94, 64.15], "the overview has come along")


asyncio.run(main())
