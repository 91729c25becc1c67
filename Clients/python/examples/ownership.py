"""Ownership: created once, borrowed, gone with its owner: `@StateObject` in one view, `@ObservedObject` in another.

A view owns its model; another model borrows it by its id. Observing creates nothing. When the view closes, the objects
that it owns are closed, and references to them become null.
"""

from __future__ import annotations

from typing import Any

import geomodel


def appear(server: geomodel.SyncServer) -> Any:
    """What the view does each time it is drawn."""
    return server.view_model.create(
        id="counter", owner="panel", properties=[{"name": "count", "type": "integer"}], if_exists="reuse"
    )


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    server.map.create(id="map")
    server.view.create(id="panel", map="map")
    with server.observe(["/viewModels/counter"]) as watcher:
        check(not server.view_model.list()["viewModels"], "watching creates nothing")
        appear(server)
        check(watcher.at("/viewModels/counter/count") == 0, "who watched from before sees it come")

        server.view_model.create(
            id="badge", properties=[{"name": "counter", "type": "reference"}], values={"counter": "counter"}
        )
        borrowed = server.view_model.get(view_model="badge")["values"]["counter"]
        server.view_model.set(view_model=borrowed, values={"count": 3})
        check(appear(server)["values"] == {"count": 3}, "drawn again, it is the same, with what a borrower set")

        server.view.close(view="panel")
        check(watcher.at("/viewModels/counter") is None, "with the view its model is closed, and subscribers are notified")
        check(server.view_model.get(view_model="badge")["values"] == {"counter": None}, "who borrowed it has null")
        try:
            server.view_model.set(view_model=borrowed, values={"count": 4})
            check(False, "a write to it is refused")
        except geomodel.errors.UnknownIdError as error:
            check(error.data["id"] == "counter", "a write to it is refused")
