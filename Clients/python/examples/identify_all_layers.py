"""What is under a tap, by layer: `identifyLayers(screenPoint:tolerance:)`, and an alert that counts what was found.

A group's count is that of its layers. The search is a task of the view: of quick taps only the newest is answered, and closing
the view ends it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import geomodel

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
TOLERANCE = 12
PARIS, BISCAY = (2.35, 48.86), (-5, 45.5)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def count(result: Any) -> int:
    """The features found in a layer, or in the layers of a group."""
    return len(result.get("features", [])) + sum(map(count, result["sublayerResults"]))


async def tap(server: geomodel.Server, at: tuple[float, float]) -> None:
    """Shows how many features are at a place of the map, layer by layer, top to bottom."""
    point: Any = {"type": "Point", "coordinates": at}
    place = (await server.view.to_screen(view="view", locations=[point]))["points"][0]
    found = await server.options(scope="view", key="tap").view.identify(
        view="view",
        screen_point={"x": round(place["x"]), "y": round(place["y"])},
        tolerance=TOLERANCE,
        maximum_results=10,
        return_geometry=False,
    )
    lines = [f"{result['name']}: {count(result)}" for result in found["results"]]
    await server.view_model.set(view_model="alert", values={"message": ", ".join(lines) or "nothing"})


async def main() -> None:
    async with geomodel.launch() as server:
        await server.map.create(id="map")
        source = await server.source.open(id="world", path=DATA)
        check(len(source["layers"]) == 2, "a file of cities and countries")
        await server.layer.add(map="map", source="world", source_layer="countries", id="countries", name="Countries")
        await server.layer.add_group(map="map", id="places", name="Places")
        await server.layer.add(
            map="map", source="world", source_layer="cities", id="cities", name="Cities", group="places"
        )
        await server.layer.load(map="map")
        center: Any = {"type": "Point", "coordinates": PARIS}
        viewpoint: Any = {"type": "centerAndScale", "center": center, "targetScale": 20_000_000}
        await server.view.create(id="view", map="map", viewpoint=viewpoint)
        await server.overlay.create(
            id="pins",
            view="view",
            name="Pins",
            renderer={"type": "simple", "symbol": {"type": "simpleMarker", "size": 10}},
        )
        await server.overlay.add_graphics(overlay="pins", graphics=[{"geometry": center}, {"geometry": center}])
        properties: list[Any] = [{"name": "message", "type": "string"}]
        await server.view_model.create(id="alert", owner="view", properties=properties)

        async with server.observe("/viewModels/alert/message") as alert:

            def shown() -> Any:
                return alert.at("/viewModels/alert/message")

            await tap(server, PARIS)
            print(f"    {shown()}")
            check(shown() == "Pins: 2, Places: 1, Countries: 1", "a tap counts what is there, top to bottom")
            await tap(server, BISCAY)
            check(shown() == "nothing", "in the sea there is nothing")

            await server.layer.update(layer="places", is_visible=False)
            await server.overlay.update(overlay="pins", is_visible=False)
            await tap(server, PARIS)
            check(shown() == "Countries: 1", "what is hidden is not found")


asyncio.run(main())
