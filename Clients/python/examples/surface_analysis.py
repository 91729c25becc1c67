"""Line of sight and viewshed from a tapped point: `ExploratoryViewshed` and `ExploratoryLineOfSight` of an ArcGIS scene, as state.

A tap asks what is seen from there, and whether a tower sees the place: two tasks of the view, each with a key, so that a newer tap
supersedes both. What they find are graphics of an overlay, replaced in one step, and a text that is derived from state.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import NoGroundError, SupersededError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
TOWER, VALLEY, HILL, BEYOND = (-84.2, 36.5), (-84.25, 36.6), (-84.215, 36.505), (-84.05, 36.5)


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def point(at: tuple[float, float]) -> dict[str, Any]:
    return {"type": "Point", "coordinates": at}


async def tap(server: geomodel.Server, at: tuple[float, float]) -> str:
    """Shows what is seen from a point and whether the tower sees it; returns how that went."""
    found: Any = await asyncio.gather(
        server.options(scope="view", key="viewshed").surface.viewshed(scene="scene", observer=point(at), max_distance=800),
        server.options(scope="view", key="sight").surface.line_of_sight(
            scene="scene", observers=[point(TOWER)], targets=[point(at)], observer_height=30, target_height=2),
        return_exceptions=True,
    )
    if any(isinstance(each, SupersededError) for each in found):
        return "superseded"
    if isinstance(found[0], NoGroundError):
        await server.overlay.replace_graphics(overlay="analysis", graphics=[])
        await server.view_model.set(view_model="result", values={"area": 0, "sight": "unknown"})
        return "no ground"
    for each in found:
        if isinstance(each, BaseException):
            raise each
    seen, sight = found
    line = sight["lines"][0]
    graphics: list[Any] = [{"geometry": seen["geometry"], "attributes": {"what": "viewshed"}}]
    ends = [(TOWER, at)] if line["state"] == "visible" else [(TOWER, tuple(line["obstruction"]["location"]["coordinates"][:2]))]
    graphics += [{"geometry": {"type": "LineString", "coordinates": each}, "attributes": {"what": "sight"}} for each in ends]
    await server.overlay.replace_graphics(overlay="analysis", graphics=graphics)
    await server.view_model.set(view_model="result", values={"area": round(seen["visibleArea"] / 1e4, 1), "sight": line["state"]})
    return "shown"


async def main() -> None:
    async with geomodel.launch() as server:
        await server.scene.create(id="scene", elevation_sources=[DATA / "jacksboro_dem.tif"])
        await server.view.create(id="view", scene="scene")
        await server.overlay.create(id="analysis", view="view")
        properties: list[Any] = [
            {"name": "area", "type": "number", "defaultValue": 0},
            {"name": "sight", "type": "string", "defaultValue": "unknown"},
            {"name": "text", "type": "string", "derived": {"expression": "format('%.1f ha seen, tower %s', area, sight)"}},
        ]
        await server.view_model.create(id="result", owner="view", properties=properties)

        async with server.observe("/viewModels/result/*") as shown:
            check(await tap(server, HILL) == "shown", "a tap is analysed")
            print(f"    {shown.at('/viewModels/result/text')}")
            check(shown.at("/viewModels/result/sight") == "visible", "the tower sees the hill")

            older, newer = await asyncio.gather(tap(server, HILL), tap(server, VALLEY))
            check((older, newer) == ("superseded", "shown"), "a newer tap supersedes the one under way")
            print(f"    {shown.at('/viewModels/result/text')}")
            check(shown.at("/viewModels/result/sight") == "hidden", "the valley lies behind a ridge")
            found = await server.feature.query(overlay="analysis")
            check([each["properties"]["what"] for each in found["features"]] == ["viewshed", "sight"], "the overlay has what was found")

            check(await tap(server, BEYOND) == "no ground", "where the ground has no height there is nothing to see")
            check((await server.feature.query_count(overlay="analysis"))["count"] == 0, "and nothing is shown")


asyncio.run(main())
