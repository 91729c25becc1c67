"""A fleet and its fences, as a user of Tile38 would write it: SET fleet truck ..., and a FENCE DETECT enter,exit.

What a geofencing database leaves to the application is here, too: exits when a fence shrinks, both positions, one transition
each, a message made of feed and fence, and a log that can be queried.
"""

from __future__ import annotations

from typing import Any

import geomodel


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def zone(west: float, east: float) -> Any:
    return {"type": "Polygon", "coordinates": [[[west, 33.0], [east, 33.0], [east, 34.0], [west, 34.0], [west, 33.0]]]}


def report(truck: str, longitude: float, second: int) -> Any:
    return {
        "type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, 33.5]},
        "properties": {"truck": truck, "time": f"2026-01-01T08:00:{second:02}Z"},
    }


with geomodel.launch_sync() as server:
    server.clock.set(mode="manual")
    server.map.create(id="map")
    server.view.create(id="view", map="map")
    server.overlay.create(id="zones", view="view")
    server.overlay.add_graphics(
        overlay="zones",
        graphics=[
            {"geometry": zone(-112.5, -112.0), "attributes": {"name": "depot"}},
            {"geometry": zone(-111.5, -111.0), "attributes": {"name": "customer"}},
        ],
    )
    fields: Any = [{"name": "truck", "type": "string"}, {"name": "time", "type": "dateTime"}]
    server.entity.create(id="fleet", fields=fields, track_id_field="truck", time_field="time")
    server.entity.connect(entity_source="fleet")
    server.geotrigger.create(
        id="watch", feed="fleet", fences="zones", message="concat(feed.truck, ' ', type, 's the ', fence.name)",
        report_crossings=True,
    )
    server.geotrigger.start(geotrigger="watch")

    def log(after: int) -> list[str]:
        events = server.geotrigger.list_events(geotrigger="watch", after=after)["events"]
        for event in events:
            print(f"    {event['time'][11:19]}  {event['cause']:<12}  {event['message']}")
        return [str(event["message"]) for event in events]

    def push(*features: Any) -> None:
        server.entity.push(entity_source="fleet", features=list(features))

    push(report("truck1", -112.2, 0), report("truck2", -111.2, 0))
    check(log(0) == ["truck1 enters the depot", "truck2 enters the customer"], "what begins inside enters")
    push(report("truck1", -111.8, 20))
    check(log(2) == ["truck1 exits the depot"], "leaving is an exit")
    push(report("truck1", -110.8, 40))
    seen = log(3)
    check(seen == ["truck1 enters the customer", "truck1 exits the customer"], "a jump across a fence is both")
    server.overlay.update_graphics(overlay="zones", graphics=[{"id": 1, "geometry": zone(-111.1, -111.0)}])
    server.clock.advance(seconds=1)
    check(log(5) == ["truck2 exits the customer"], "a fence that shrinks lets go of what stands still")
    inside = server.geotrigger.list_memberships(geotrigger="watch")["memberships"]
    check(inside == [], "and nobody is inside any more")
