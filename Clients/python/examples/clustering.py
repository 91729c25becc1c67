"""Clustering switched on and off, with the features of a cluster listed: `FeatureReduction`, `AggregateGeoElement.geoElements`.

Clusters keep their ids as long as their features are the same; at the scale that a cluster names (`expansionScale`) it splits.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import geomodel

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures" / "naturalearth_110m.gpkg"
NAMED: Any = {"name": "named", "type": "count", "field": "name"}
REDUCTION: Any = {"radius": 60, "aggregateFields": [NAMED]}
OFF: Any = {**REDUCTION, "isEnabled": False}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


async def main() -> None:
    async with geomodel.launch() as server:
        await server.map.create(id="map", spatial_reference="EPSG:3857")
        await server.source.open(id="world", path=DATA)
        await server.layer.add(map="map", source="world", source_layer="cities", id="cities")
        await server.layer.load(layer="cities")
        await server.view.create(id="view", map="map", width=1200, height=800)

        async def shown() -> list[Any]:
            return (await server.cluster.query(layer="cities", view="view"))["clusters"]

        singles = await shown()
        check(all(each["count"] == 1 for each in singles), "without clustering every city is drawn by itself")

        await server.layer.update(layer="cities", feature_reduction=REDUCTION)
        clusters = await shown()
        check(len(clusters) < len(singles), f"{len(singles)} cities are drawn as {len(clusters)} symbols")
        check(sum(each["count"] for each in clusters) == len(singles), "no city is lost")
        largest = max(clusters, key=lambda each: each["count"])
        check(12 <= largest["symbolSize"] <= 70, f"the largest has {largest['count']}, {largest['symbolSize']:.0f} wide")

        members = await server.cluster.members(layer="cities", cluster=largest["cluster"])
        found = await server.feature.query(layer="cities", ids=members["ids"], return_geometry=False)
        names = [feature["properties"]["name"] for feature in found["features"]]
        check(len(names) == largest["count"] == largest["attributes"]["named"], f"its features: {', '.join(names[:4])} ...")

        await server.view.set_viewpoint(
            view="view",
            viewpoint={
                "type": "centerAndScale",
                "center": largest["geometry"],
                "targetScale": largest["expansionScale"],
                "spatialReference": "EPSG:4326",
            },
        )
        check(largest["cluster"] not in [each.get("cluster") for each in await shown()], "closer it falls apart")
        await server.layer.update(layer="cities", feature_reduction=OFF)
        check(all(each["count"] == 1 for each in await shown()), "switched off, every city is drawn by itself again")


if __name__ == "__main__":
    asyncio.run(main())
