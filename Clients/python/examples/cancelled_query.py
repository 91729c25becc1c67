"""A query started by a button, `Button("Search") { Task { ... } }`, and cancelled when the view closes.

SwiftUI leaves it to the button's author to end such a task; here it is enough to name the view as the task's scope. The query
is for heights: `feature/query` is no task but answered in its turn, so that there is nothing to cancel.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import CancelledError, UnknownIdError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
# A grid over the hills, 300 by 300: long enough a question to be closed upon.
GRID = [
    {"type": "Point", "coordinates": (-84.4 + column * 0.001, 36.46 + row * 0.0009)}
    for row in range(300)
    for column in range(300)
]


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def search(server: geomodel.Server) -> str:
    """What the button does: looks for the highest place, and shows it."""
    try:
        found = await server.options(scope="view").scene.elevation(scene="scene", points=GRID)
    except CancelledError:
        return "cancelled"
    highest = max(each["elevation"] for each in found["elevations"] if each["type"] == "value")
    await server.view_model.set(view_model="search", values={"highest": highest})
    return f"{highest:.0f} m"


async def main() -> None:
    async with geomodel.launch() as server:
        await server.scene.create(id="scene", elevation_sources=[DATA / "jacksboro_dem.tif"])
        await server.view.create(id="view", scene="scene")
        properties: list[Any] = [{"name": "highest", "type": "number", "isNullable": True}]
        await server.view_model.create(id="search", owner="view", properties=properties)

        answer = await search(server)
        print(f"    the highest of {len(GRID)} places: {answer}")
        shown = (await server.view_model.get(view_model="search"))["values"]["highest"]
        check(answer == f"{shown:.0f} m", "while the view is open, the search is answered and shown")

        answer, _ = await asyncio.gather(search(server), server.view.close(view="view"))
        check(answer == "cancelled", "closed before the answer, the view takes its search with it")
        check((await server.task.list())["tasks"] == [], "nothing runs on")
        try:
            await server.view_model.get(view_model="search")
        except UnknownIdError:
            check(True, "what the view owned is gone as well")
        else:
            raise SystemExit("The view is closed, and what it owned is still there.")


asyncio.run(main())
