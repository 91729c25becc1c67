"""Half of the globe as it is seen from above Africa: countries cut at the horizon, in an orthographic projection."""

from typing import Any

from gallery_support import SEA, fill, save, simple, world

AT: Any = {"type": "Point", "coordinates": [15, 20]}
GLOBE = "+proj=ortho +lat_0=20 +lon_0=15 +type=crs"

with world("countries", reference=GLOBE, width=400, height=400, scale=128e6, center=(15, 20)) as server:
    # Beyond the horizon nothing has a place in this projection.
    seen = server.geometry.geodetic_buffer(geometry=AT, spatial_reference="EPSG:4326", distance=9_900_000)["geometry"]
    server.feature.clip(layer="countries", area=seen, spatial_reference="EPSG:4326", output="source", map="map", layer_id="land")
    server.layer.update(layer="countries", is_visible=False)
    server.layer.update(layer="land", renderer=simple(fill("#B7D3A8", "#5E7F50")))
    server.layer.add(map="map", source=server.source.open_inline(data=seen)["source"], source_layer="inline", id="sea", index=0)
    server.layer.load(layer="sea")
    server.layer.update(layer="sea", renderer=simple(fill(SEA, "#6D8CA3", 1)))
    layout: Any = {"graticule": {"interval": 15, "color": "#6D8CA3"}}
    save(server.view.render(view="view", layout=layout, background="#FFFFFF"))
