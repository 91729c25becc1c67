"""The world in the Equal Earth projection: countries in soft colours by continent, the names of the largest, meridians and parallels."""

from typing import Any

from gallery_support import fill, label, save, world

COLORS = {
    "Africa": "#F6D9A8", "Asia": "#F2C5B5", "Europe": "#CFE0B8", "North America": "#F3E6A4", "South America": "#D9CBE6",
    "Oceania": "#F4CFDD", "Antarctica": "#F7F7F7",
}

with world("countries", width=720, height=360, scale=200e6) as server:
    values: Any = [{"values": [name], "symbol": fill(color, "#8C8577")} for name, color in COLORS.items()]
    server.layer.update(
        layer="countries", renderer={"type": "uniqueValue", "fields": ["continent"], "uniqueValues": values},
        labels=[label("upper(name)", 9, whereClause="pop_est > 100000000")], labels_enabled=True)
    layout: Any = {"graticule": {"interval": 30, "color": "#9DB4C4"}, "attribution": "Natural Earth"}
    save(server.view.render(view="view", layout=layout))
