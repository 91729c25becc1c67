r"""Environment values: `@Environment(\.questionsPerSession)` with a default, and `.environment(_:_:)` at two levels.

A key is registered with its default. Views inherit the value of their map, unless they have their own. A subscription to the
value of a node gets only its changes.
"""

from __future__ import annotations

from typing import Any

import geomodel

KEY = "questionsPerSession"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def seen_by(server: geomodel.SyncServer, node: str | None, key: str = KEY) -> Any:
    """The value of a key for a node; None for the session."""
    found = server.environment.get(node=node, key=key)["values"][0]
    print(f"    {node or 'the session'} sees {key} {found['value']}, set at {found['source']}")
    return found["value"]


with geomodel.launch_sync() as server:
    server.map.create(id="school")
    server.view.create(id="beginners", map="school")
    server.view.create(id="experts", map="school")

    check(seen_by(server, "beginners", "units") == "metric", "some keys are there from the start, with their defaults")
    server.environment.register(key=KEY, type="integer", default_value=5, doc="Questions per session.")
    server.environment.register(key=KEY, type="integer", default_value=5, doc="Questions per session.")
    check(seen_by(server, "beginners") == 5, "a key of one's own has its default; who says it twice changes nothing")

    with server.observe(f"/views/beginners/environment/{KEY}") as beginners:
        server.environment.set(key=KEY, value=10, node="school")
        check(seen_by(server, None) == 5, "what is set at the map is not seen above it")
        check(seen_by(server, "beginners") == 10, "its views see it")
        server.environment.set(key=KEY, value=20, node="experts")
        check(seen_by(server, "experts") == 20, "the nearest that is set counts")
        values = [change.changes[0]["value"] for change in beginners.take_all()]
        check(values == [10], "the other view got the map's value only")

        server.environment.clear(keys=[KEY], node="school")
        check(beginners.at(f"/views/beginners/environment/{KEY}") == 5, "cleared at the map, the default is seen again")
        check(seen_by(server, "experts") == 20, "the view with its own keeps it")
