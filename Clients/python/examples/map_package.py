"""A map package shown in a view: `.task { try await package.load(); map = package.maps.first }`, and an alert when it fails.

The package is one file with a map and its data. Loading it is a task of the view, so that closing the view ends it; how it goes is
a value that the view shows: loading, shown with a title, or failed with the reason. The map comes into the open model, with other
ids where its own are in use.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import GeoModelError, UnknownIdError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
STATUS = "/viewModels/screen/status"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def write_package(server: geomodel.Server, path: Path) -> None:
    """The world and its cities as a package; the model is empty afterwards."""
    await server.source.open(id="world", path=DATA)
    await server.map.create(id="map", title="Cities of the world")
    await server.layer.add(id="cities", map="map", source="world", source_layer="cities")
    await server.package.export(path=path, title="The world")
    await server.document.new()


async def show(server: geomodel.Server, path: Path) -> str:
    """Shows the first map of a package in the view; returns how that went, or `gone` when the view was closed meanwhile."""

    async def tell(status: dict[str, Any]) -> str:
        await server.view_model.set(view_model="screen", values={"status": status})
        return str(status["type"])

    try:
        await tell({"type": "loading"})
        try:
            loading = server.options(scope="view", key="package")
            first = (await loading.package.describe(path=path))["index"]["maps"][0]
            opened = await loading.package.open(path=path, map=first["map"])
        except GeoModelError as error:
            return await tell({"type": "failed", "error": {"kind": error.kind, "message": error.message}})
        await server.view.set_content(view="view", map=opened["maps"][0])
        return await tell({"type": "shown", "title": first.get("title")})
    except UnknownIdError:
        return "gone"


async def main() -> None:
    async with geomodel.launch() as server:
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "world.gmpk"
            await write_package(server, package)
            about = await server.package.describe(path=package)
            print(f"    {about['index'].get('title')}: {[each.get('title') for each in about['index']['maps']]}")

            await server.map.create(id="map")
            await server.view.create(id="view", map="map")
            await server.view_model.create(id="screen", owner="view", properties=[{"name": "status", "type": "json"}])
            async with server.observe(STATUS) as shown:
                check(await show(server, DATA) == "failed", "a file that is no package is a failure")
                print(f"    {shown.at(STATUS + '/error/message')}".replace(str(DATA), DATA.name))
                check(shown.at(STATUS + "/error/kind") == "packageRefused", "which the view shows")

                check(await show(server, package) == "shown", "a package is shown")
                check(shown.at(STATUS + "/title") == "Cities of the world", "with the title of its map")
                view = await server.view.get(view="view")
                check(view.get("map") == "map-2", "the view has the package's map, under an id that was free")
                loaded = await server.layer.load(map="map-2")
                check(loaded["featureCount"] == 243, "and the data come from within the package")

                showing, _ = await asyncio.gather(show(server, package), server.view.close(view="view"))
                check(showing == "gone", "closing the view ends the loading")
                check(len((await server.map.list())["maps"]) == 2, "and leaves nothing half open")


asyncio.run(main())
