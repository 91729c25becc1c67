"""A map that is created once, though the client redraws: SwiftUI's `@StateObject private var map = Map(...)`.

A view's body runs again and again, and the map in its state stays the same. Here each redraw creates the map and the
view with `if_exists="reuse"`, which makes them only the first time.
"""

from __future__ import annotations

from typing import Any

import geomodel


def redraw(server: geomodel.SyncServer) -> Any:
    """The body: safe to run at any time."""
    server.map.create(id="world", title="World", if_exists="reuse")
    return server.view.create(id="panel", map="world", if_exists="reuse")


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    first = redraw(server)
    zoomed = server.view.set_viewpoint(view="panel", viewpoint={"type": "scale", "targetScale": 5_000_000})
    print(f"The user zooms from 1 : {first['viewpoint']['targetScale']:,.0f} to 1 : 5,000,000, and the client redraws.")

    with server.observe(["/maps", "/views"]) as watcher:
        for _ in range(3):
            shown = redraw(server)
        changes = watcher.take_all()

    maps = server.map.list()
    check(len(maps["maps"]) == 1, "there is one map")
    check(shown["viewpoint"] == zoomed["viewpoint"], "the view is where the user left it")
    check(maps["revision"] == zoomed["revision"] and not changes, "nothing has changed, and no subscriber was notified")

    try:
        server.map.create(id="world")
        check(False, "creating another map of that id is refused")
    except geomodel.errors.IdExistsError as error:
        check(error.kind == "idExists", "creating another map of that id is refused")
