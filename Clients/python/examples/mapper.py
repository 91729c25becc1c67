"""The Mapper app: a map with a feature layer, the user's location kept in the middle, and its coordinates as text.

The user does not allow the device to tell its location at first: starting it fails, as `.alert` would say, until it is allowed.

`MapView(map).locationDisplay(...)` with `Text(model.coordinates)` below it and `.onDisappear { stop() }`. The text is
a derived property: it follows the location, and no code updates it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import geomodel

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
X, Y = (f"/locationSources/gps/location/position/coordinates/{index}" for index in (0, 1))
TEXT = "/viewModels/mapper/coordinates"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    server.clock.set(mode="manual")
    server.source.open(id="world", path=DATA / "naturalearth_110m.gpkg")
    server.map.create(id="map", title="Mapper")
    server.layer.add(map="map", source="world", source_layer="countries", id="countries")
    server.layer.load(layer="countries")
    server.view.create(id="view", map="map")
    # .onDisappear: objects that the view owns are closed with it.
    server.location.create_external(id="gps", authorization="denied", owner="view")
    server.view.set_location_display(view="view", source="gps", auto_pan_mode="recenter", wander_extent_factor=0)
    server.view_model.create(
        id="mapper",
        owner="view",
        properties=[
            {
                "name": "coordinates",
                "type": "string",
                "derived": {
                    "expression": "coalesce(format('x: %.5f, y: %.5f', x, y), 'No location update.')",
                    "inputs": {"x": X, "y": Y},
                },
            }
        ],
    )

    with server.observe([TEXT]) as label:
        print(f"    {label.at(TEXT)}")
        check(label.at(TEXT) == "No location update.", "before the first location the text says so")

        try:
            server.location.start(location_source="gps")
        except geomodel.GeoModelError as error:
            print(f"    {error}")
            check(error.kind == "locationDenied", "a device that is not allowed fails to start")
        status = server.location.get(location_source="gps")["status"]
        check(status["type"] == "failedToStart", "and its state says so")
        check(label.at(TEXT) == "No location update.", "the text still waits")

        server.location.set_authorization(location_source="gps", authorization="granted")
        server.location.start(location_source="gps")
        for step in range(3):
            server.clock.advance(seconds=1)
            here: Any = {"type": "Point", "coordinates": [step / 1024, 0]}
            server.location.push(location_source="gps", locations=[{"position": here, "horizontalAccuracy": 5}])
            print(f"    {label.at(TEXT)}")
        x, y = server.location.get(location_source="gps")["location"]["position"]["coordinates"]
        viewpoint: Any = server.view.get_viewpoint(view="view", spatial_reference="EPSG:4326")["viewpoint"]
        center = viewpoint["center"]["coordinates"]
        check(label.at(TEXT) == f"x: {x:.5f}, y: {y:.5f}", "the text is the location's")
        check(abs(center[0] - x) < 1e-9 and abs(center[1] - y) < 1e-9, "the map is centered on it")
        check(viewpoint["targetScale"] == 10_000, "at the scale for a first location")

        server.view.close(view="view")
        check(server.location.list()["locationSources"] == [], "with the view the location stops")
        check(label.at(TEXT) is None, "and what the view owned is gone")
