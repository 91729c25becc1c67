"""Lines with labels along them: contours of the ground at the Jacksboro fault, every fifth with its height."""

from typing import Any

import geomodel

from gallery_support import DATA, label, save

BOX: geomodel.types.Envelope = {"xMin": -84.33, "yMin": 36.56, "xMax": -84.21, "yMax": 36.63}


def line(color: str, width: float) -> Any:
    return {"type": "simpleLine", "color": color, "width": width}


with geomodel.launch_sync() as server:
    server.scene.create(id="ground", elevation_sources=[DATA / "jacksboro_dem.tif"])
    lines = server.surface.contours(scene="ground", envelope=BOX, interval=50)
    server.map.create(id="map", spatial_reference="EPSG:32616", background_color="#FBF8F0")
    source = server.source.open_inline(data={"type": "FeatureCollection", "features": lines["features"]})
    server.layer.add(map="map", source=source["source"], source_layer=source["layers"][0]["name"], id="contours")
    server.layer.load(layer="contours")
    index: Any = {"values": [True], "symbol": line("#9C6B30", 1.5)}
    server.layer.update(
        layer="contours", labels_enabled=True,
        labels=[label("elevation", 10, "#6E4A1E", placement="lineCenterAlong", whereClause="elevation % 250 = 0")],
        renderer={
            "type": "uniqueValue", "expression": "elevation % 250 = 0", "uniqueValues": [index], "defaultSymbol": line("#C9A877", 0.7),
        })
    box: Any = {"type": "boundingGeometry", "geometry": {"type": "Envelope", **BOX}, "spatialReference": "EPSG:4326"}
    server.view.create(id="view", map="map", width=400, height=300, viewpoint=box)
    save(server.view.render(view="view", layout={"scaleBar": True, "northArrow": True}))
