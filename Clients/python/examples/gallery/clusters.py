"""Clusters: cities that would cover each other are drawn as one disc with their number."""

from typing import Any

from gallery_support import label, marker, save, simple, world

with world("countries", "cities", reference="EPSG:3857", scale=90e6, center=(25, 40)) as server:
    count: Any = {**label("cluster_count", 11, "#FFFFFF"), "placement": "pointCenterCenter"}
    count["symbol"].update(haloWidth=0, fontWeight="bold")
    server.layer.update(
        layer="cities", renderer=simple(marker("#1F5F8B", 8)),
        feature_reduction={
            "radius": 40, "minSymbolSize": 18, "maxSymbolSize": 44, "renderer": simple(marker("#D35400", 18)), "labels": [count],
            "labelsEnabled": True,
        })
    save(server.view.render(view="view"))
