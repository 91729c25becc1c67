"""A search started by a button, `Button("Query City") { ... }`, in the two ways of SwiftUI.

`Task { }`: the search belongs to no view, continues when the view is closed, and is cancelled by the handle that the button keeps.
`.task { }`: the search belongs to the view, whose closing cancels it. Here it only names the view as its scope.
"""

from __future__ import annotations

import asyncio
from typing import Any

import geomodel
from geomodel.errors import CancelledError

# So many that the first search, which makes an index of the names, takes a while.
COUNT = 200_000
NAMES = ["Berlin", "Bern", "Bergen", "Bremen"] + ["Neustadt"] * (COUNT - 4)
POPULATION = [3_770_000, 134_000, 286_000, 577_000] + [1_000] * (COUNT - 4)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def query_city(server: geomodel.Server, text: str, **task: Any) -> str:
    """What the button does: looks for cities, the largest first; returns their names, or that it was cancelled."""
    try:
        found = await server.options(**task).locator.geocode(
            overlay="cities", search_text=text, field="name", weight_field="population", max_results=3
        )
    except CancelledError:
        return "cancelled"
    return ", ".join(result["label"] for result in found["results"])


async def main() -> None:
    async with geomodel.launch() as server:

        async def open_view() -> None:
            await server.view.create(id="view", map="map")

        async def close_view() -> None:
            await server.view.close(view="view")

        await server.map.create(id="map")
        await server.view.create(id="main", map="map")
        await server.overlay.create(id="cities", view="main")
        attributes: Any = {"name": NAMES, "population": POPULATION}
        await server.overlay.add_columns(overlay="cities", x=[10.0] * COUNT, y=[50.0] * COUNT, attributes=attributes)

        await open_view()
        answer, _, running, _ = await asyncio.gather(
            query_city(server, "ber", task="city"),
            close_view(),
            server.task.list(),
            server.task.cancel(task="city"),
        )
        check([task["task"] for task in running["tasks"]] == ["city"], "a search of nobody's lives on when the view closes")
        check(answer == "cancelled", "and its handle cancels it")

        await open_view()
        answer, _ = await asyncio.gather(query_city(server, "ber", scope="view"), close_view())
        check(answer == "cancelled", "a search of the view's ends with the view")
        check((await server.task.list())["tasks"] == [], "nothing runs on")

        await open_view()
        answer, _ = await asyncio.gather(query_city(server, "ber"), close_view())
        print(f"    {answer}")
        check(answer == "Berlin, Bergen, Bern", "left alone, the first one is answered after the view is closed")
        await open_view()
        answer = await query_city(server, "brem", scope="view")
        check(answer == "Bremen", "and the second one while it is open")


asyncio.run(main())
