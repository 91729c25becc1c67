"""A query started by a button, `Button("Search") { Task { ... } }`, and cancelled when the view closes.

SwiftUI leaves it to the button's author to end such a task; here it is enough to name the view as the task's scope.
"""

from __future__ import annotations

import asyncio
from typing import Any

import geomodel
from geomodel.errors import CancelledError, UnknownIdError

# So many that a search of their names takes a while: short queries are answered before anyone could close a view.
COUNT = 200_000
# Three at the end of the lane, and all others in one house.
NUMBERS = [101, 103, 102] + [1] * (COUNT - 3)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def search(server: geomodel.Server, text: str) -> str:
    """What the button does: looks for addresses, and shows the first ones."""
    try:
        found = await server.options(scope="view").feature.query(
            overlay="addresses",
            where_clause=f"street LIKE '%{text}%'",
            order_by=[{"field": "number", "order": "descending"}],
            out_spatial_reference="EPSG:3857",
            limit=3,
        )
    except CancelledError:
        return "cancelled"
    numbers = [feature["properties"]["number"] for feature in found["features"]]
    await server.view_model.set(view_model="search", values={"found": numbers})
    return f"{numbers}, and {'more' if found['exceededLimit'] else 'no more'}"


async def main() -> None:
    async with geomodel.launch() as server:
        await server.map.create(id="map")
        await server.view.create(id="view", map="map")
        await server.overlay.create(id="addresses", view="view")
        await server.overlay.add_columns(
            overlay="addresses",
            x=[8.5] * COUNT,
            y=[47.3] * COUNT,
            attributes={"street": ["Old Gate Lane"] * COUNT, "number": NUMBERS},
        )
        properties: list[Any] = [{"name": "found", "type": "list"}]
        await server.view_model.create(id="search", owner="view", properties=properties)

        answer = await search(server, "Gate")
        print(f"    the highest of {COUNT} addresses in a street with a gate: {answer}")
        shown = (await server.view_model.get(view_model="search"))["values"]["found"]
        check(shown == [103, 102, 101], "while the view is open, the search is answered and shown")

        answer, _ = await asyncio.gather(search(server, "Gate"), server.view.close(view="view"))
        check(answer == "cancelled", "closed before the answer, the view takes its search with it")
        check((await server.task.list())["tasks"] == [], "nothing runs on")
        try:
            await server.view_model.get(view_model="search")
        except UnknownIdError:
            check(True, "what the view owned is gone as well")
        else:
            raise SystemExit("The view is closed, and what it owned is still there.")


asyncio.run(main())
