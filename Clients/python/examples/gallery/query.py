"""The result of a query as a picture, without a view: the cities within 1,500 km of Nairobi, fitted into the picture."""

from typing import Any

from gallery_support import label, marker, save, simple, world

NAIROBI: Any = {"type": "Point", "coordinates": [36.82, -1.29]}

with world("cities") as server:
    near = server.feature.nearest(layer="cities", locations=NAIROBI, spatial_reference="EPSG:4326", max_distance=1_500_000, limit=100)
    server.layer.update(layer="cities", renderer=simple(marker("#8E44AD", 10)), labels=[label("name", 12)], labels_enabled=True)
    drawn = server.feature.render(
        layer="cities", ids=near["ids"], width=480, height=360, background="#FFFFFF", layout={"scaleBar": True})
    assert drawn["count"] == len(near["ids"])
    save(drawn)
