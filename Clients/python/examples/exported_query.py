"""The features of a query are written to a file, which can be opened like any other.

The file appears under its name when it is complete; an existing file is replaced only on request.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import geomodel
from geomodel.errors import FileExistsError

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def main() -> None:
    async with geomodel.launch() as server:
        await server.source.open(id="world", path=DATA)
        await server.map.create(id="map")
        await server.layer.add(id="cities", map="map", source="world", source_layer="cities")
        await server.layer.load(layer="cities")

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cities.gpkg"
            made = await server.feature.export(
                layer="cities", path=path, where_clause="name LIKE 'B%'", out_spatial_reference="EPSG:3857"
            )
            print(f"    {made['count']} cities in {made['driver']}, {made['spatialReference']}")
            opened = await server.source.open(id="export", path=path)
            check(opened["layers"][0].get("featureCount") == made["count"], "the file has what the query matches")
            try:
                await server.feature.export(layer="cities", path=path)
                check(False, "an earlier file is not replaced")
            except FileExistsError:
                check(True, "an earlier file is not replaced")
            made = await server.feature.export(layer="cities", path=path, if_exists="replace")
            check(made["count"] == 243, "unless that is asked for")

            made = await server.feature.export(layer="cities", path=Path(folder) / "cities.csv")
            lost = [difference["kind"] for difference in made.get("differences", [])]
            print(f"    CSV holds no {' and no '.join(lost)}")
            check(lost == ["ids", "spatialReference"], "what a format does not hold is reported")


if __name__ == "__main__":
    asyncio.run(main())
