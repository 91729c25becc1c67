"""A derived score and a read-only binding: `var score: Int { right.count * 10 - wrong.count }`, and `let score` for the view
that shows it.

The score counts the questions in two lists and follows them, in the same revision; nobody can set it. A read-only
binding gives a value to code that must not write it, though its owner may.
"""

from __future__ import annotations

from typing import Any, Callable

import geomodel
from geomodel.errors import ReadOnlyError


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"Not so: {claim}.")
    print(f"  {claim}")


def is_refused(write: Callable[[], Any]) -> bool:
    try:
        write()
    except ReadOnlyError:
        return True
    return False


with geomodel.launch_sync() as server:
    server.view_model.define(
        type="Quiz",
        properties=[
            {"name": "right", "type": "list"},
            {"name": "wrong", "type": "list"},
            {"name": "score", "type": "integer", "derived": {"expression": "count(right) * 10 - count(wrong)"}},
        ],
    )
    server.view_model.create(id="quiz", type="Quiz")
    server.binding.create(id="scoreboard", path="/viewModels/quiz/score", access="readOnly")
    server.binding.create(id="mirror", path="/viewModels/quiz/right", access="readOnly")

    with server.observe(["/viewModels/quiz/score"]) as shown:
        answers = {"right": ["Paris", "Rome", "Oslo"], "wrong": ["Bern", "Riga"]}
        answered = server.view_model.set(view_model="quiz", values=answers)
        print(f"    3 right, 2 wrong: {shown.at('/viewModels/quiz/score')} points")
        check(answered["values"]["score"] == shown.at("/viewModels/quiz/score") == 28, "the score counts the lists")
        check(len(shown.take_all()) == 1, "two lists changed, with one notification")
        server.view_model.insert_items(view_model="quiz", path="/right", items=["Wien"], before="Rome")
        check([change.changes[0]["value"] for change in shown.take_all()] == [38], "and follows an item")
        server.view_model.move_items(view_model="quiz", path="/right", ids=["Oslo"], before="Paris")
        check(not shown.take_all(), "a score that comes out the same wakes nobody")

    check(server.binding.get(binding="scoreboard")["value"] == 38, "who was lent the score can read it")
    check(is_refused(lambda: server.binding.set(binding="scoreboard", value=100)), "but not set it")
    check(is_refused(lambda: server.view_model.set(view_model="quiz", values={"score": 100})), "nor can its owner")
    check(is_refused(lambda: server.binding.set(binding="mirror", value=[])), "what was lent for reading is not written")
    server.view_model.remove_items(view_model="quiz", path="/right", ids=["Wien", "Oslo"])
    check(server.binding.get(binding="mirror")["value"] == ["Paris", "Rome"], "its owner writes it, and who was lent it sees that")
