"""A flight round the world: `proxy.setViewpoint(_:duration:)` with the path of van Wijk and Nuij, over the antimeridian.

The viewpoint is printed as it zooms. Half a minute of flying passes at once, because the clock is the client's.
"""

from __future__ import annotations

import asyncio
from typing import Any

import geomodel

STOPS = {"Paris": (2.35, 48.86), "Tokyo": (139.69, 35.69), "Honolulu": (-157.86, 21.31), "Lima": (-77.03, -12.05)}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def place(name: str) -> Any:
    center = {"type": "Point", "coordinates": list(STOPS[name])}
    return {"type": "centerAndScale", "center": center, "targetScale": 100_000, "spatialReference": "EPSG:4326"}


async def main() -> None:
    async with geomodel.launch() as server:
        await server.clock.set(mode="manual")
        await server.map.create(id="map")
        await server.view.create(id="view", map="map", viewpoint=place("Paris"))

        async def now() -> tuple[float, float]:
            found: Any = await server.view.get_viewpoint(view="view", spatial_reference="EPSG:4326")
            return found["viewpoint"]["center"]["coordinates"][0], found["viewpoint"]["targetScale"]

        for name in [*STOPS][1:]:
            print(f"To {name}:")
            flying = asyncio.ensure_future(
                server.view.animate_viewpoint(view="view", viewpoint=place(name), easing="flight", duration=8)
            )
            await asyncio.sleep(0)  # It is sent before the clock moves.
            seen = []
            for _ in range(4):
                await server.clock.advance(seconds=2)
                seen.append(await now())
                print(f"    longitude {seen[-1][0]:8.2f}, scale 1:{seen[-1][1]:,.0f}")
            check((await flying)["arrived"], "it has arrived")
            check(seen[1][1] > 20_000_000, "on the way the whole region was in sight")
            if name == "Honolulu":
                check(all(abs(longitude) > 139 for longitude, _ in seen), "over the antimeridian, by the shorter way")


asyncio.run(main())
