"""A scene as its camera sees it: shaded ground at the Jacksboro fault, twice as high as it is, with bands of height and a way laid on it."""

from typing import Any

import geomodel

from gallery_support import DATA, label, marker, save, simple

CAMERA: Any = {"type": "camera", "longitude": -84.27, "latitude": 36.4, "altitude": 9000, "heading": 12, "pitch": 62}
BOX: geomodel.types.Envelope = {"xMin": -84.42, "yMin": 36.44, "xMax": -84.08, "yMax": 36.74}
WAY: Any = {"type": "LineString", "coordinates": [[-84.3, 36.54], [-84.27, 36.555], [-84.255, 36.58], [-84.22, 36.59], [-84.2, 36.62]]}
TINTS = {"#7FA96B66": 300, "#B9C87C66": 400, "#E4D58F66": 550, "#D9AE7466": 700, "#B9835A66": 2000}

with geomodel.launch_sync() as server:
    server.scene.create(
        id="ground", elevation_sources=[DATA / "jacksboro_dem.tif"], base_surface={"elevationExaggeration": 2}, background_color="#E9E4D8")
    bands = server.surface.contours(scene="ground", envelope=BOX, interval=75, output="polygons")
    source = server.source.open_inline(data={"type": "FeatureCollection", "features": bands["features"]})
    server.layer.add(scene="ground", source=source["source"], source_layer=source["layers"][0]["name"], id="bands")
    server.layer.load(layer="bands")
    breaks: Any = [{"maxValue": top, "symbol": {"type": "simpleFill", "color": color}} for color, top in TINTS.items()]
    renderer: Any = {"type": "classBreaks", "field": "maxElevation", "breaks": breaks, "defaultSymbol": breaks[-1]["symbol"]}
    server.layer.update(layer="bands", renderer=renderer)
    server.view.create(id="view", scene="ground", width=420, height=280, viewpoint=CAMERA)
    server.overlay.create(view="view", id="way", spatial_reference="EPSG:4326")
    ends: Any = [("Start", WAY["coordinates"][0]), ("Goal", WAY["coordinates"][-1])]
    graphics: Any = [{"geometry": WAY, "symbol": {"type": "simpleLine", "color": "#C0392B", "width": 3}}]
    graphics += [
        {"geometry": {"type": "Point", "coordinates": at}, "symbol": marker("#C0392B", 10), "attributes": {"name": name}} for name, at in ends
    ]
    server.overlay.add_graphics(overlay="way", graphics=graphics)
    server.overlay.update(overlay="way", labels=[label("name", 12)], labels_enabled=True)
    save(server.view.render(view="view"))
