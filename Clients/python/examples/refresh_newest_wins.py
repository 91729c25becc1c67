"""A refresh where the newest wins, and `enum Status { case processing, empty, idle([Item]), failed(Error) }`.

State and data are one value, so that there is never a list beside an error. Refreshes are tasks of one scope and key: a
newer one supersedes the running one, which leaves the status to the newer. Closing the model cancels the running
refresh, ends the observers' streams, and is no error of a refresh: no view is left that would show it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import GeoModelError, SupersededError, UnknownIdError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
STATUS = "/viewModels/catalogue/status"


async def refresh(server: geomodel.Server, path: Path) -> str:
    """Lists the layers of a file; returns how it went, or `gone` when the model was closed meanwhile."""
    try:
        return await refreshed(server, path)
    except UnknownIdError:
        return "gone"


async def refreshed(server: geomodel.Server, path: Path) -> str:
    async def show(status: dict[str, Any]) -> str:
        await server.view_model.set(view_model="catalogue", values={"status": status})
        return str(status["type"])

    await show({"type": "processing"})
    try:
        source = await server.options(scope="catalogue", key="refresh").source.open(path=path)
    except SupersededError:
        return "superseded"
    except GeoModelError as error:
        # Of a cancelled refresh, too: while the model exists, nothing stays under way.
        return await show({"type": "failed", "error": {"kind": error.kind, "message": error.message}})
    items = [layer["name"] for layer in source["layers"]]
    return await show({"type": "idle", "items": items} if items else {"type": "empty"})


def write_big_file(path: Path) -> None:
    point = {"type": "Point", "coordinates": [12.5, 41.5]}
    feature = json.dumps({"type": "Feature", "properties": {}, "geometry": point})
    path.write_text('{"type": "FeatureCollection", "features": [' + ",".join([feature] * 250_000) + "]}")


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.geojson"
        write_big_file(big)
        async with geomodel.launch() as server:
            await server.view_model.create(id="catalogue", properties=[{"name": "status", "type": "status"}])
            async with server.observe([STATUS]) as shown:
                check(shown.at(STATUS) == {"type": "empty"}, "at first there is nothing")
                first = asyncio.create_task(refresh(server, big))
                second = asyncio.create_task(refresh(server, DATA / "naturalearth_110m.gpkg"))
                check(await second == "idle", "the newer refresh has an answer")
                check(await first == "superseded", "the older one was superseded")
                seen = [change.changes[0]["value"] for change in shown.take_all()]
                print(f"    {seen}")
                steps = [status["type"] for status in seen]
                check(steps == ["processing", "idle"], "who watches saw it under way, then done")
                check(set(seen[-1]["items"]) == {"cities", "countries"}, "with its items, in one value")

                check(await refresh(server, DATA / "none.gpkg") == "failed", "a file that is not there fails")
                print(f"    {shown.at(STATUS)}")
                check(shown.at(STATUS + "/error/kind") == "fileNotFound", "the status has its error, and no items")

                cancelled = asyncio.create_task(refresh(server, big))
                await asyncio.sleep(0)  # Lets the refresh begin first.
                await server.view_model.get(view_model="catalogue")
                tasks = (await server.task.list())["tasks"]
                await server.task.cancel(task=tasks[0]["task"])
                check(await cancelled == "failed", "one that is cancelled by its handle fails")
                check(shown.at(STATUS + "/error/kind") == "cancelled", "and nothing stays under way")

                last = asyncio.create_task(refresh(server, big))
                await asyncio.sleep(0)  # Lets the refresh begin first.
                await server.view_model.get(view_model="catalogue")
                shown.take_all()
                await server.view_model.close(view_model="catalogue")
                check(await last == "gone", "a refresh survives the closing of its model")
                check(await refresh(server, big) == "gone", "and so does one that begins afterwards")
                rest = [change.changes[0]["op"] async for change in shown]
                check(rest == ["remove"], "who watches sees it go, and the stream ends")
                check(shown.reason is not None and shown.reason["reason"] == "closed", "with the reason")


asyncio.run(main())
