"""Proportional symbols: a disc in each country whose area grows with its population."""

from typing import Any

from gallery_support import marker, save, simple, world

with world("countries") as server:
    made = server.feature.centroid(layer="countries", where_clause="pop_est > 1000000", output="source", map="map", layer_id="people")
    assert made["layer"] == "people"
    # The area of a disc is as the square of its width.
    stops: Any = [{"value": people * 1e6, "size": 40 * (people / 1400) ** 0.5} for people in (1, 10, 50, 100, 200, 400, 700, 1000, 1400)]
    grown: Any = {"type": "size", "field": "pop_est", "stops": stops}
    server.layer.update(layer="people", name="Population", renderer=simple(marker("#C0392BB0"), visualVariables=[grown]))
    save(server.view.render(view="view", layout={"title": "Where people live"}))
