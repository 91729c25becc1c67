"""A viewpoint as two-way state of two panels: `@State var viewpoint`, and `MapView(viewpoint: $viewpoint)` twice.

Each panel's view is linked to the shared value, so when the user moves one, the other follows within the same
revision. A panel that omits its own origin does not receive its own changes.
"""

from __future__ import annotations

from typing import Any

import geomodel


def place(longitude: float, latitude: float, scale: float) -> Any:
    center = {"type": "Point", "coordinates": [longitude, latitude]}
    return {"type": "centerAndScale", "center": center, "targetScale": scale, "spatialReference": "EPSG:4326"}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    server.map.create(id="map")
    server.view.create(id="left", map="map", viewpoint=place(0, 0, 1_000_000))
    server.view.create(id="right", map="map")
    server.view_model.create(id="shared", properties=[{"name": "viewpoint", "type": "json"}])
    # The first link fills the shared value from the left panel, the second the right panel from the shared value.
    server.binding.link(first="/views/left/viewpoint", second="/viewModels/shared/viewpoint")
    server.binding.link(first="/viewModels/shared/viewpoint", second="/views/right/viewpoint")

    left, right = server.options(origin="left"), server.options(origin="right")
    with (
        server.observe(["/views/left/viewpoint"], except_origin="left") as left_changes,
        server.observe(["/views/right/viewpoint"], except_origin="right") as right_changes,
    ):
        print("The user moves the left panel.")
        moved = left.view.set_viewpoint(view="left", viewpoint=place(2.35, 48.86, 25_000))
        check(right_changes.at("/views/right/viewpoint") == moved["viewpoint"], "the right panel is there, too")
        check(right_changes.revision == moved["revision"], "in the same revision")
        check(len(right_changes.take_all()) == 1, "it was notified once")
        check(not left_changes.take_all(), "the left panel got no echo")

        print("The user scales the right panel.")
        right.view.set_viewpoint(view="right", viewpoint={"type": "scale", "targetScale": 50_000})
        check(left_changes.at("/views/left/viewpoint/targetScale") == 50_000, "the left panel has the scale")
        check(len(left_changes.take_all()) == 1 and not right_changes.take_all(), "it was notified once, and got no echo")

        print("Something sets the shared value.")
        server.view_model.set(view_model="shared", values={"viewpoint": place(-21.94, 64.15, 10_000)})
        both = server.state.get(path="/views/*/viewpoint/center/coordinates")["values"]
        check([each["value"] for each in both] == [[-21.94, 64.15]] * 2, "both panels show it")
