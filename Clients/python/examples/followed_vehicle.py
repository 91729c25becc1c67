"""Dynamic entities, as the originals show them: a layer over a feed with its status, tracks and purges; an identified vehicle is followed.

`DynamicEntityLayer(dataSource)` with `trackDisplayProperties`, `.onSingleTapGesture { identify(...) }`, then the view, and the camera
of a scene, go after `dynamicEntity.changes`. Here the entity is a location source like any other: what follows locations follows it.
"""

from __future__ import annotations

from typing import Any

import geomodel


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def report(vehicle: int, longitude: float, second: int) -> Any:
    return {
        "type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, 40.0, 1500]},
        "properties": {"vehicle": vehicle, "time": f"2026-01-01T08:00:{second:02}Z"},
    }


with geomodel.launch_sync() as server:
    server.clock.set(mode="manual")
    server.map.create(id="map", spatial_reference="EPSG:4326")
    here: Any = {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [-111.9, 40.0]}, "targetScale": 100_000}
    server.view.create(id="view", map="map", viewpoint=here)
    fields: Any = [{"name": "vehicle", "type": "integer"}, {"name": "time", "type": "dateTime"}]
    server.entity.create(
        id="vehicles", fields=fields, track_id_field="vehicle", time_field="time", max_observations_per_track=3)
    server.layer.add(map="map", id="layer", entity_source="vehicles")
    tracks: Any = {"showsPreviousObservations": True, "showsTrackLines": True, "maximumObservations": 3}
    server.layer.update(layer="layer", track_display=tracks)

    status, count = "/entitySources/vehicles/status/type", "/layers/layer/featureCount"
    with server.observe([status, count]) as shown:
        print(f"    {shown.at(status)}")
        server.entity.connect(entity_source="vehicles")
        for second in range(5):
            moved = [report(1, -111.9 + second / 1000, second), report(2, -111.5, second)]
            server.entity.push(entity_source="vehicles", features=moved)
        print(f"    {shown.at(status)}, {shown.at(count)} vehicles")
        check((shown.at(status), shown.at(count)) == ("connected", 2), "status and number are state")

        found = server.view.identify(view="view", screen_point={"x": 416, "y": 300}, tolerance=20)
        vehicle: Any = found["results"][0]["features"][0]["properties"]["vehicle"]
        check(vehicle == 1, "a tap identifies a vehicle")
        track = server.entity.query_observations(entity_source="vehicles", track=vehicle)
        check(len(track["observations"]) == 3, "from it its track, of which what is older was purged")

        server.location.create_tracked(id="followed", entity_source="vehicles", track=vehicle, owner="view")
        server.view.set_location_display(view="view", source="followed", auto_pan_mode="recenter", wander_extent_factor=0)
        server.location.start(location_source="followed")
        server.scene.create(id="scene")
        server.view.create(id="flight", scene="scene")
        orbit: Any = {"type": "orbit", "longitude": 0, "latitude": 0, "altitude": 0, "heading": 0, "pitch": 60, "distance": 900}
        server.view.set_camera_controller(view="flight", camera_controller=orbit)
        server.view.set_location_display(view="flight", source="followed", auto_pan_mode="recenter")

        server.entity.push(entity_source="vehicles", features=[report(1, -111.8, 9)])
        viewpoint: Any = server.view.get_viewpoint(view="view")["viewpoint"]
        check(abs(viewpoint["center"]["coordinates"][0] + 111.8) < 1e-9, "the map follows it")
        controller: Any = server.view.get(view="flight")["cameraController"]
        check((controller["longitude"], controller["altitude"]) == (-111.8, 1500), "and the camera goes around it")

        server.entity.purge(entity_source="vehicles", entities=[track["observations"][0]["entity"]])
        check(server.location.get(location_source="followed")["isStale"], "purged, its last location is outdated")
        check(shown.at(count) == 1, "and the layer has the other one")
