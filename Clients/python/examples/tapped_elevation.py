"""Elevation at a tapped point: `.task(id: tapped) { ... }` over an ArcGIS surface, with a callout that is state, not a window.

The question is a task of the view with one key: a newer tap supersedes it, the same tap joins it, no tap (None) idles. The callout is
a view model that belongs to the view; its text is derived, so that no code formats it.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import CancelledError, ContentModifiedError, SupersededError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
HILL = (-84.25, 36.6)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")

async def tap(server: geomodel.Server, at: tuple[float, float] | None) -> float | None:
    """Moves the callout to a longitude and latitude, or away; answers the height in metres, None when it gave way."""
    if at is None:
        await server.task.cancel(task="tap")
        await server.view_model.set(view_model="callout", clear=["point", "height"])
        return None
    point = {"type": "Point", "coordinates": at}
    moved = await server.view_model.set(view_model="callout", values={"point": point}, clear=["height"])
    try:
        asking = server.options(scope="view", key="tap", task="tap")
        found = (await asking.scene.elevation(scene="scene", points=[point]))["elevations"][0]
    except (SupersededError, CancelledError):
        return None
    height = found["elevation"] if found["type"] == "value" else None
    with contextlib.suppress(ContentModifiedError):  # Then another tap has been at the callout since, and it counts.
        await server.options(if_revision=moved["revision"]).view_model.set(view_model="callout", values={"height": height})
    return height


async def main() -> None:
    async with geomodel.launch() as server:
        await server.scene.create(id="scene", elevation_sources=[DATA / "jacksboro_dem.tif"])
        await server.view.create(id="view", scene="scene")
        properties: list[Any] = [
            {"name": "point", "type": "json"},
            {"name": "height", "type": "number", "isNullable": True},
            {"name": "text", "type": "string", "derived": {"expression": "format('%.0f m', height)"}},
        ]
        await server.view_model.create(id="callout", owner="view", properties=properties)

        async with server.observe("/viewModels/callout/*") as shown:
            check(shown.at("/viewModels/callout/point") is None, "before a tap there is no callout")
            check(await tap(server, HILL) is not None, "a tap asks for the height there")
            print(f"    {shown.at('/viewModels/callout/point/coordinates')}: {shown.at('/viewModels/callout/text')}")
            check(shown.at("/viewModels/callout/text") == "513 m", "the callout shows it")

            drag = [(-84.35 + n * 0.01, 36.55) for n in range(20)]
            heights = await asyncio.gather(*(tap(server, at) for at in drag))
            print(f"    20 taps in one go: {heights.count(None)} gave way to a newer one")
            last = shown.at("/viewModels/callout")
            check(last["point"]["coordinates"] == list(drag[-1]), "of many taps in one go the newest has the callout")
            check(heights[-1] is not None and last["height"] == heights[-1], "with its own height")

            before = (await server.session.status())["tasks"]["started"]
            first, second = await asyncio.gather(tap(server, HILL), tap(server, HILL))
            asked = (await server.session.status())["tasks"]["started"] - before
            print(f"    the same tap twice: asked {'once' if asked == 1 else 'twice, the first was answered already'}")
            check(first == second and shown.at("/viewModels/callout/text") == "513 m", "the same tap joins: both are answered")

            _, none = await asyncio.gather(tap(server, HILL), tap(server, None))
            values = [shown.at(f"/viewModels/callout/{name}") for name in ("point", "height", "text")]
            check(none is None and values == [None, None, None], "no tap: the callout is away")
            check((await server.task.list(scope="view"))["tasks"] == [], "and nothing runs")


asyncio.run(main())
