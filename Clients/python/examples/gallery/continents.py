"""Unique values: a colour and a legend entry for each continent, in a conic projection of Europe and its neighbours."""

from typing import Any

from gallery_support import fill, label, marker, save, simple, world

COLORS = {"Europe": "#8DA0CB", "Asia": "#FC8D62", "Africa": "#FFD92F"}
LAMBERT = "EPSG:3034"  # Conformal, for Europe.

with world("countries", "cities", reference=LAMBERT, scale=32e6, center=(17, 49), height=420) as server:
    values: Any = [{"values": [name], "symbol": fill(color, "#FFFFFF", 1), "label": name} for name, color in COLORS.items()]
    server.layer.update(
        layer="countries", name="Continent", renderer={"type": "uniqueValue", "fields": ["continent"], "uniqueValues": values})
    server.layer.update(
        layer="cities", name="Capitals and large cities", renderer=simple(marker("#222222", 5)), labels=[label("name", 10)],
        labels_enabled=True)
    layout: Any = {"legend": True, "graticule": {"interval": 10, "color": "#7F95A6"}, "scaleBar": True, "northArrow": True}
    save(server.view.render(view="view", layout=layout))
