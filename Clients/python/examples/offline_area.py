"""An offline area: `let job = task.makeGenerateOfflineMapJob(...); job.start()`, with its progress, pause and cancel.

The job is an object with a status that any client observes; it belongs to the view that shows it. What it makes is a package: the
map cut to an area and a range of scales. A job that is cancelled leaves no file, and one that is saved amid its work is paused when
the document is opened again.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import geomodel
from geomodel.errors import FileNotFoundError, JobStatusError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
ALPS = {"type": "Polygon", "coordinates": [[[5, 44], [17, 44], [17, 49], [5, 49], [5, 44]]]}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def ended(jobs: geomodel.StateSubscription, job: str) -> dict[str, Any]:
    """The status with which a job ends."""
    path = f"/jobs/{job}/status"
    while (status := jobs.at(path))["type"] not in ("succeeded", "failed"):
        await anext(jobs)
    return dict(status)


async def main() -> None:
    async with geomodel.launch() as server:
        await server.clock.set(mode="manual")
        await server.source.open(id="world", path=DATA)
        await server.map.create(id="map", title="Europe")
        for layer in ("countries", "cities"):
            await server.layer.add(id=layer, map="map", source="world", source_layer=layer)
        await server.layer.add(id="detail", map="map", source="world", source_layer="cities")
        await server.layer.update(layer="detail", min_scale=10_000)
        await server.layer.load(map="map")
        await server.view.create(id="view", map="map")

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "alps.gmpk"
            params = {"path": str(path), "title": "Alps", "map": "map", "area": ALPS, "maxScale": 100_000}
            async with server.observe("/jobs/*/status") as jobs:
                await server.job.create(id="alps", owner="view", method="package/export", params=params)
                await asyncio.gather(server.job.start(job="alps"), server.job.pause(job="alps"))
                check(jobs.at("/jobs/alps/status/type") == "paused", "a job is paused amid its work")
                await server.document.save_as(path=Path(folder) / "europe.json")
                await server.job.resume(job="alps")
                made = (await ended(jobs, "alps"))["result"]
                for table in made["tables"]:
                    print(f"    {table['sourceLayer']}: {table['count']}")
                check([table["count"] for table in made["tables"]] == [11, 6], "what intersects the area is in the package, once")
                check(made["leftOut"] == [{"layer": "detail", "reason": "outOfScale"}], "what does not show there is left out")
                said = [message["text"] for message in (await server.job.get(job="alps"))["messages"]]
                check(said == ["started", "paused", "resumed", "succeeded"], "and the job says how it went")
                try:
                    await server.job.pause(job="alps")
                    check(False, "one that has ended is not paused")
                except JobStatusError:
                    check(True, "one that has ended is not paused")

                other = str(Path(folder) / "other.gmpk")
                await server.job.create(id="other", method="package/export", params={**params, "path": other})
                await asyncio.gather(server.job.start(job="other"), server.job.cancel(job="other"))
                check((await ended(jobs, "other"))["error"]["kind"] == "cancelled", "a job is cancelled")
                try:
                    await server.package.describe(path=other)
                    check(False, "and leaves no file")
                except FileNotFoundError:
                    check(True, "and leaves no file")

                await server.document.open(path=Path(folder) / "europe.json")
                check(jobs.at("/jobs/alps/status/type") == "paused", "the document that was saved meanwhile has it paused")
                await server.view.close(view="view")
                check(jobs.at("/jobs/alps/status") is None, "and the view takes its job along")


asyncio.run(main())
