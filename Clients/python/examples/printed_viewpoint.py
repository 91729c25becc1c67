"""The viewpoint printed as it zooms: `.onViewpointChanged(kind: .centerAndScale) { print($0.targetScale) }`, and Zoom In and Zoom Out.

Each frame of the animation is one notification, in order; a pinch by the user ends the animation, and its answer says so.
"""

from __future__ import annotations

import asyncio
from typing import Any

import geomodel


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def scale(viewpoint: Any) -> float:
    return float(viewpoint["targetScale"])


async def main() -> None:
    async with geomodel.launch() as server:
        await server.clock.set(mode="manual", tick_rate=4)
        await server.map.create(id="map")
        start: Any = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [-117.2, 34.1]}, "targetScale": 1e6}
        await server.view.create(id="view", map="map", viewpoint=start | {"spatialReference": "EPSG:4326"})

        scales: list[float] = []
        async with server.observe("/views/view/scale") as shown:

            async def zoom(factor: float, seconds: float) -> Any:
                """Animates by a factor, and prints the scale of each frame."""
                target: Any = (await server.view.get_viewpoint(view="view"))["viewpoint"]
                target["targetScale"] = scale(target) / factor
                moving = asyncio.ensure_future(server.view.animate_viewpoint(view="view", viewpoint=target, duration=1))
                await asyncio.sleep(0)  # It is sent before the clock's advance.
                for _ in range(round(seconds * 4)):
                    await server.clock.advance(seconds=0.25)
                    scales.append(float(shown.at("/views/view/scale")))
                    print(f"    1:{scales[-1]:,.0f}")
                return moving

            zoomed = await (await zoom(4, seconds=1))
            check(zoomed["arrived"] and round(scales[-1]) == 250_000, "zooming in arrives at a quarter of the scale")
            check(len(scales) == 4 and scales == sorted(scales, reverse=True), "every frame was printed, each nearer than the last")

            moving = await zoom(1 / 4, seconds=0.5)
            pinch: Any = {"type": "pinch", "factor": 2}
            await server.view.interact(view="view", interaction=pinch)
            ended = await moving
            print(f"    interrupted by: {ended['interruptedBy']['cause']}")
            check(not ended["arrived"] and ended["interruptedBy"]["cause"] == "interaction", "a pinch interrupts zooming out, and is named")
            now = float(shown.at("/views/view/scale"))
            check(abs(now - scales[-1] / 2) < 1, "and halves the scale where it was")


asyncio.run(main())
