"""Elevation at a tapped point: `.task(id: tapped) { ... }` over an ArcGIS surface, with a callout that is state, not a window.

The query asks for the heights around the point too, whose range shows how steep it is there. It is a task of the view with one
key: a newer tap supersedes it, the same tap joins it, without a tap (None) there is no query. The callout is a view model that
belongs to the view; its text is derived, so that no code formats it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import CancelledError, SupersededError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
VALLEY, HILL = (-84.25, 36.6), (-84.2, 36.5)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def around(at: tuple[float, float]) -> list[tuple[float, float]]:
    """The point, and 16 at most some 300 m from it."""
    steps = (-2, -1, 1, 2)
    return [at] + [(round(at[0] + x / 1000, 4), round(at[1] + y / 1000, 4)) for x in steps for y in steps]


async def tap(server: geomodel.Server, at: tuple[float, float] | None) -> str:
    """Shows the height at a point in the callout, or nothing; returns how that went."""
    if at is None:
        await server.task.cancel(task="tap")
        await server.view_model.set(view_model="callout", clear=["point", "height"])
        return "idle"
    try:
        asking = server.options(scope="view", key="tap", task="tap")
        points: list[Any] = [{"type": "Point", "coordinates": each} for each in around(at)]
        found = await asking.scene.elevation(scene="scene", points=points)
    except SupersededError:
        return "superseded"
    except CancelledError:
        return "cancelled"
    height = found["elevations"][0]
    known = [each["elevation"] for each in found["elevations"] if each["type"] == "value"]
    print(f"    around it: {min(known, default=0):.0f} to {max(known, default=0):.0f} m")
    await server.view_model.set(
        view_model="callout",
        values={"point": at, "height": round(height["elevation"], 1) if height["type"] == "value" else None},
        clear=[] if height["type"] == "value" else ["height"],  # None among the values would leave the old height unchanged.
    )
    return "shown"


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
            await tap(server, VALLEY)
            print(f"    {shown.at('/viewModels/callout/point')}: {shown.at('/viewModels/callout/text')}")
            check(shown.at("/viewModels/callout/text") == "513 m", "a tap shows the height there")

            older, newer = await asyncio.gather(tap(server, VALLEY), tap(server, HILL))
            check((older, newer) == ("superseded", "shown"), "a newer tap supersedes the one under way")
            check(shown.at("/viewModels/callout/text") == "667 m", "and has the callout")

            first, again, running = await asyncio.gather(tap(server, VALLEY), tap(server, VALLEY), server.task.list())
            print(f"    questions under way, and how many wait for each: {[task['waiting'] for task in running['tasks']]}")
            check((first, again) == ("shown", "shown"), "the same tap joins the one under way, and both are answered")

            first, none = await asyncio.gather(tap(server, VALLEY), tap(server, None))
            check((first, none) == ("cancelled", "idle"), "no tap: the running request is cancelled")
            check(shown.at("/viewModels/callout/point") is None, "and the callout is away")
            check((await server.task.list(scope="view"))["tasks"] == [], "nothing runs")


asyncio.run(main())
