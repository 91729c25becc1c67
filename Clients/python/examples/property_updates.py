"""An observable object with updates by property: `@Observable class Person { var name; var age }`.

A subscription to one property gets only its changes. Replacing the whole object notifies only subscribers whose value differs.
"""

from __future__ import annotations

import geomodel


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


with geomodel.launch_sync() as server:
    server.view_model.create(
        id="person",
        properties=[{"name": "name", "type": "string"}, {"name": "age", "type": "integer"}],
        values={"name": "Ann", "age": 30},
    )
    with server.observe(["/viewModels/person/name"]) as title, server.observe(["/viewModels/person/age"]) as badge:
        print("A birthday.")
        server.view_model.set(view_model="person", values={"age": 31})
        check(badge.at("/viewModels/person/age") == 31, "who shows the age has it before the call returns")
        check(len(badge.take_all()) == 1 and not title.take_all(), "who shows the name was not woken")

        print("Everything is set anew, and just the name differs.")
        server.view_model.set(view_model="person", values={"name": "Anna", "age": 31})
        check(len(title.take_all()) == 1 and not badge.take_all(), "who shows the age was not woken")

        print("Everything is set to what it is.")
        before = server.view_model.get(view_model="person")["revision"]
        same = server.view_model.set(view_model="person", values={"name": "Anna", "age": 31})
        check(same["revision"] == before, "that is no change")
        check(not title.take_all() and not badge.take_all(), "nobody was woken")

        print("Both change at once.")
        both = server.view_model.set(view_model="person", values={"name": "Bea", "age": 7})
        deltas = title.take_all() + badge.take_all()
        check([delta.revision for delta in deltas] == [both["revision"]] * 2, "each was notified once, in one revision")
