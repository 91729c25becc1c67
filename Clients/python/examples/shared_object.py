"""A shared object: `.environmentObject(user)` above, `@EnvironmentObject var user: User` far below, and nothing in between.

It is provided once, at any node, and resolved by name from any node below; nodes in between do not use it. If no node above
provides it, the answer is an error that names it, not a crash.
"""

from __future__ import annotations

import geomodel
from geomodel.errors import SharedObjectMissingError


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def user_name(server: geomodel.SyncServer, node: str) -> str:
    """What a badge drawn at this node shows: it knows only the name of the object and its own node."""
    user = server.view_model.resolve(name="user", node=node)["viewModel"]
    return str(server.view_model.get(view_model=user)["values"]["name"])


with geomodel.launch_sync() as server:
    server.map.create(id="map")
    server.view.create(id="panel", map="map")
    server.overlay.create(id="badge", view="panel")
    server.view_model.define(type="User", properties=[{"name": "name", "type": "string"}])

    try:
        user_name(server, "badge")
    except SharedObjectMissingError as missing:
        print(f"    {missing.message}")
        check((missing.data["name"], missing.data["node"]) == ("user", "badge"), "nobody shares it, the error says")
    else:
        raise SystemExit("Nobody had shared a user, and one was found.")

    server.view_model.create(id="ann", type="User", owner="map", name="user", values={"name": "Ann"})
    check(user_name(server, "badge") == "Ann", "shared at the map, it is reached through the view from the overlay")
    server.view_model.set(view_model="ann", values={"name": "Anna"})
    check(user_name(server, "badge") == "Anna", "it is the same object, not a copy")

    server.view_model.create(id="bob", type="User", owner="panel", name="user", values={"name": "Bob"})
    check(user_name(server, "badge") == "Bob", "the nearest one counts")
    server.view_model.close(view_model="bob")
    check(user_name(server, "badge") == "Anna", "when it is gone, the next above is seen again")
