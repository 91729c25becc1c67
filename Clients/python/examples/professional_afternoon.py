"""A professional's afternoon: how much of each country of the Alps is within 60 km of a large city?

Clip, buffer, dissolve, combine, calculate and export, one after the other: each makes a source in memory with a loaded layer, from which
the next one takes its features. The buffer is measured on the ellipsoid, in a layer of longitudes and latitudes.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import geomodel

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
ALPS: Any = {"type": "Envelope", "xMin": 5, "yMin": 44, "xMax": 17, "yMax": 49}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def main() -> None:
    async with geomodel.launch() as server:
        await server.source.open(id="world", path=DATA)
        await server.map.create(id="map", title="Alps")
        for layer in ("countries", "cities"):
            await server.layer.add(id=layer, map="map", source="world", source_layer=layer)
        await server.layer.load(map="map")
        feature = server.feature

        clipped = await feature.clip(layer="countries", area=ALPS, output="source", map="map", layer_id="alps", properties=["name"])
        print(f"    {clipped['count']} countries have a part of the area")
        near = await feature.buffer(
            layer="cities", geometry=ALPS, distance=60_000, geodetic=True, max_deviation=1_000, properties=["name"],
            output="source", map="map", layer_id="near",
        )
        print(f"    {near['count']} cities, each with what is within 60 km")
        await feature.combine(
            layer="near", others={"layer": "alps"}, operation="intersection", output="source", map="map", layer_id="parts")
        parts = await feature.query(layer="parts", return_geometry=False)
        names = list(parts["features"][0]["properties"])
        print(f"    {len(parts['features'])} parts with {' and '.join(names)}")
        check(len(names) == 2, "a part has the attributes of its city and of its country")

        whole = await feature.dissolve(
            layer="parts", group_by=names[1:], statistics=[{"type": "count", "name": "cities"}],
            output="source", map="map", layer_id="regions",
        )
        await feature.calculate(
            layer="regions", computed_fields=[{"name": "km2", "expression": "round(S_AREA(geometry) / 1e6)"}],
            output="source", map="map", layer_id="result",
        )
        found = (await feature.query(layer="result", order_by=[{"field": "km2", "order": "descending"}], return_geometry=False))["features"]
        for each in found:
            print(f"    {each['properties'][names[1]]}: {each['properties']['km2']:,.0f} km² near {each['properties']['cities']} cities")
        check(all(each["properties"]["km2"] <= 11_400 * each["properties"]["cities"] for each in found), "no region is larger than its circles")

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "alps.gpkg"
            made = await feature.export(layer="result", path=path, out_spatial_reference="EPSG:3035")
            opened = await server.source.open(id="again", path=path)
            check(opened["layers"][0].get("featureCount") == made["count"] == whole["count"], "the file has every region")


if __name__ == "__main__":
    asyncio.run(main())
