"""What moves: ships with their tracks, and where the device itself is, with the circle of its accuracy and its direction."""

from typing import Any

from gallery_support import label, marker, save, simple, world


def report(ship: str, x: float, y: float, minute: int) -> Any:
    attributes = {"ship": ship, "time": f"2026-05-01T08:{minute:02}:00Z"}
    return {"geometry": {"type": "Point", "coordinates": [x, y]}, "attributes": attributes}


with world("countries", reference="EPSG:3857", center=(11, 56.5), scale=9e6, width=480, height=400) as server:
    fields: Any = [{"name": "ship", "type": "string"}, {"name": "time", "type": "dateTime"}]
    server.entity.create(id="ships", fields=fields, track_id_field="ship", time_field="time")
    server.layer.add(map="map", id="traffic", entity_source="ships")
    tracks: Any = {
        "showsPreviousObservations": True, "showsTrackLines": True, "maximumObservations": 9,
        "previousObservationRenderer": simple(marker("#5DADE2", 5)),
        "trackLineRenderer": simple({"type": "simpleLine", "color": "#2E86C1", "width": 2, "style": "dash"}),
    }
    server.layer.update(
        layer="traffic", renderer=simple(marker("#1B4F72", 12)), track_display=tracks, labels=[label("ship", 12)], labels_enabled=True)
    server.entity.connect(entity_source="ships")
    for step in range(8):
        server.entity.push(entity_source="ships", features=[
            report("Skagen", 8.5 + step * 0.25, 57.9 + (step % 4) * 0.06, step),
            report("Fyn", 11.1 + step * 0.02, 54.8 + step * 0.28, step),
        ])
    server.location.create_external(id="gps")
    server.location.start(location_source="gps")
    server.view.set_location_display(view="view", source="gps")
    server.location.push(location_source="gps", locations=[{
        "position": {"type": "Point", "coordinates": [7.2, 56.2]}, "horizontalAccuracy": 40_000, "timestamp": "2026-05-01T08:08:00Z",
        "course": 60, "speed": 8,
    }])
    save(server.view.render(view="view", layout={"scaleBar": True}))
