"""Two observers of one colour set: an `@Observable class ColorSet`; one view reads the foreground, another the background.

Each is notified only of what it reads. Setting all colours at once does not notify an observer whose colour is unchanged.
"""

from __future__ import annotations

import geomodel

COLORS = "/viewModels/colors"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def woken(watcher: geomodel.SyncStateSubscription) -> list[str]:
    """The colours sent to a subscriber since the last call."""
    return [change["value"] for delta in watcher.take_all() for change in delta.changes]


with geomodel.launch_sync() as server:
    server.view_model.create(
        id="colors",
        properties=[
            {"name": "foreground", "type": "string", "defaultValue": "#000000"},
            {"name": "background", "type": "string", "defaultValue": "#ffffff"},
        ],
    )
    with server.observe(f"{COLORS}/foreground") as title, server.observe(f"{COLORS}/background") as page:
        server.view_model.set(view_model="colors", values={"background": "#fff8e0"})
        check((woken(title), woken(page)) == ([], ["#fff8e0"]), "another background wakes the page, not the title")
        server.view_model.set(view_model="colors", values={"foreground": "#203040"})
        check((woken(title), woken(page)) == (["#203040"], []), "another foreground wakes the title, not the page")

        server.view_model.set(view_model="colors", values={"foreground": "#203040", "background": "#fff8e0"})
        check((woken(title), woken(page)) == ([], []), "the same set again wakes nobody")
        server.view_model.set(view_model="colors", values={"foreground": "#203040", "background": "#000000"})
        check((woken(title), woken(page)) == ([], ["#000000"]), "a set with one other colour wakes one")
        server.view_model.set(view_model="colors", clear=["foreground", "background"])
        check((woken(title), woken(page)) == (["#000000"], ["#ffffff"]), "both set back wake both, once each")
