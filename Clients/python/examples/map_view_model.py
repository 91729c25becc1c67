"""A view model: `class MapModel: ObservableObject { let map: Map; let cities: FeatureLayer; @Published var location }`.

The model holds references to the map and the layer, which stay the same, and a location that follows a source.
A view that shows the location observes only that property.
"""

from __future__ import annotations

from pathlib import Path

import geomodel

DATA = Path(__file__).resolve().parents[3] / "Tests" / "Fixtures"
ROAD = {"type": "LineString", "coordinates": [[0, 0], [1, 0]]}


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    server.clock.set(mode="manual")  # Manual time: no waiting, and the same result each time.
    server.source.open(id="world", path=DATA / "naturalearth_110m.gpkg")
    server.map.create(id="map")
    server.layer.add(map="map", source="world", source_layer="cities", id="cities")
    server.location.create_simulated(id="walk", line=ROAD)

    server.view_model.define(
        type="MapModel",
        doc="What the main panel shows.",
        properties=[
            {"name": "map", "type": "reference"},
            {"name": "cities", "type": "reference"},
            {"name": "location", "type": "json", "doc": "The last location; null before the first."},
        ],
    )
    model = server.view_model.create(id="model", type="MapModel", values={"map": "map", "cities": "cities"})
    parts = {"map": "map", "cities": "cities", "location": None}
    check(model["values"] == parts, "the model has its parts, and no location yet")
    server.binding.link(
        first="/locationSources/walk/location", second="/viewModels/model/location", direction="firstToSecond"
    )

    with server.observe(["/viewModels/model/location"]) as label, server.observe(["/viewModels/model/map"]) as canvas:
        server.location.start(location_source="walk")
        for _ in range(3):
            server.clock.advance(seconds=1)
            longitude, latitude = label.at("/viewModels/model/location/position/coordinates")
            print(f"    {longitude:.5f}, {latitude:.5f}")
        check(longitude > 0, "the location follows its source, east along the equator")
        check(not canvas.take_all(), "who watches the map was not woken by it")

        server.map.close(map="map")
        check(canvas.at("/viewModels/model/map", "?") is None, "a map that is closed leaves null, not a dangling id")
