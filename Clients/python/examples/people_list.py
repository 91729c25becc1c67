"""A list of people: `ForEach($people)` with `.onMove` and `.onDelete`, kept as ids in their order and a dictionary by id.

A person is edited in the dictionary, which does not change the order; sorting moves ids, which does not change the people.
A deleted person is named by id: no index can be outdated.
"""

from __future__ import annotations

from typing import Any

import geomodel

ORDER, PEOPLE = "/viewModels/list/order", "/viewModels/list/people"


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def names(people: geomodel.SyncStateSubscription) -> list[str]:
    """The list that is shown, from the observed values."""
    return [people.at(f"{PEOPLE}/{id}/name") for id in people.at(ORDER)]


def places(people: geomodel.SyncStateSubscription) -> list[str]:
    """The paths that changed since the last call."""
    return [change["path"] for delta in people.take_all() for change in delta.changes]


def delete(server: geomodel.SyncServer, id: str, left: list[str]) -> Any:
    """Removes a person from both, in one step that can be undone by its name."""
    return server.view_model.set(
        view_model="list", values={"order": left}, clear=[f"/people/{id}"], meta={"step": "Delete a person"}
    )


with geomodel.launch_sync() as server:
    server.view_model.create(
        id="list",
        properties=[{"name": "order", "type": "list"}, {"name": "people", "type": "dictionary"}],
        values={"order": ["p1", "p2"], "people": {"p1": {"name": "Cid"}, "p2": {"name": "Bob"}}},
    )
    with server.observe([ORDER, f"{PEOPLE}/*"]) as people:
        server.view_model.set(view_model="list", path="/people/p3", value={"name": "Ann"})
        server.view_model.insert_items(view_model="list", path="/order", items=["p3"], before="p2")
        check(names(people) == ["Cid", "Ann", "Bob"], "a person is put in before another")
        people.take_all()

        server.view_model.set(view_model="list", path="/people/p2/name", value="Ben")
        check(places(people) == [f"{PEOPLE}/p2"], "an edit changes one person, and not the order")
        check(names(people) == ["Cid", "Ann", "Ben"], "the list shows it")

        by_name = sorted(people.at(ORDER), key=lambda id: people.at(f"{PEOPLE}/{id}/name"))
        server.view_model.move_items(view_model="list", path="/order", ids=by_name)
        check(all(path.startswith(ORDER) for path in places(people)), "sorting changes the order, and nobody's name")
        check(names(people) == ["Ann", "Ben", "Cid"], "sorted by name")

        delete(server, "p2", [id for id in people.at(ORDER) if id != "p2"])
        check(names(people) == ["Ann", "Cid"] and people.at(f"{PEOPLE}/p2") is None, "deleted by id, from both")
        undone = server.edit.undo()
        check(undone["names"] == ["Delete a person"] and names(people) == ["Ann", "Ben", "Cid"], "undone as one step")
