"""Holds what a server's trace says of a session against a conformance case, message by message."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import support  # noqa: F401  It puts the package on the path.
from geomodel.conformance.patterns import Mismatch, fill, match, match_unordered, raw, same
from geomodel.conformance.runner import Case

# Every case begins and ends a session, and leaves both to the runner.
LIFECYCLE = ("initialize", "initialized", "shutdown", "exit")
HANDLE = re.compile(r"#([0-9]+)")


@dataclass
class Traced:
    """A message of a trace, and where it stood there."""

    place: int
    message: Any


class Comparison:
    """A trace against a case: sent messages are equal, received ones match, complete and in order.

    What the case sends before it expects an answer may have been sent before or after the answers to each other: a case sends
    in one batch, or in a row, what an example sends at once. Ids are the client's own; they, and the handles `#id` of tasks
    made from them, are read as the case's. So are folders that the example made in `temporary`, as `${tmp}`.
    """

    def __init__(self, case: Case, trace: Path, fixtures: Path, temporary: Path) -> None:
        self._case = case
        self._bindings: dict[str, Any] = {"fixtures": str(fixtures)}
        self._made = re.compile(re.escape(str(temporary)) + "/[^/\"]+")
        self._ids: dict[Any, Any] = {}
        self._sent: list[Traced] = []
        self._received: list[Traced] = []
        self._sort(trace)
        # The last place of the steps before, and those of the steps that belong together now.
        self._before, self._together = -1, [-1]
        self._answering = False

    def run(self) -> None:
        """Raises `AssertionError` where the two part."""
        for step in self._case.steps:
            try:
                self._step(step)
            except Mismatch as mismatch:
                where = f"{self._case.name}, {step.place}, at {mismatch.path or 'the message'}"
                raise AssertionError(f"{where}: the case has {mismatch.expected}, the example {mismatch.found}") from None
        for left, does in ((self._sent, "sends"), (self._received, "receives")):
            if left:
                raise AssertionError(f"{self._case.name}: the example {does} more: {json.dumps(left[0].message)[:500]}")

    def _sort(self, trace: Path) -> None:
        text = self._made.sub("${tmp}", trace.read_text(encoding="utf-8"))
        steps = [json.loads(line) for line in text.split("\n") if line]
        answered_apart = set()
        for place, step in enumerate(steps[1:]):
            if "send" in step or "sendText" in step:
                message = fill(step["send"], {}) if "send" in step else json.loads(raw(step["sendText"], {}))
                # Steps of real time are the trace's, not the client's.
                if message["method"] in LIFECYCLE or str(message.get("id")).startswith("real time "):
                    answered_apart.add(message.get("id"))
                else:
                    self._sent.append(Traced(place, message))
            elif "expect" in step:
                message = fill(step["expect"], {})
                if message.get("id", "notification") not in answered_apart:
                    self._received.append(Traced(place, message))

    def _step(self, step: dict[str, Any]) -> None:
        if "file" in step:
            return  # The example has removed its own by now; what the server says of it is compared.
        if "send" in step or "sendText" in step:
            if self._answering:
                self._before, self._together, self._answering = max(self._together), [], False
            message = fill(step["send"], self._bindings) if "send" in step else json.loads(raw(step["sendText"], self._bindings))
            for call in message if isinstance(message, list) else [message]:
                self._send(call)
            return
        self._answering = True
        if "expectUnordered" in step or "$unordered" in step["expect"]:
            patterns = step.get("expectUnordered") or step["expect"]["$unordered"]
            self._bindings = match_unordered(patterns, [self._next(self._received) for _ in patterns], self._bindings)
        else:
            self._bindings = match(step["expect"], self._next(self._received), self._bindings)

    def _send(self, call: dict[str, Any]) -> None:
        found = self._next(self._sent)
        if "id" in call:
            self._ids[found["id"]] = call["id"]
        found = {"method": found["method"], "params": found.get("params", {})}
        wanted = {"method": call["method"], "params": call.get("params", {})}
        match(wanted, found, {})  # It knows where they part; what is there besides is for the next line.
        if not same(wanted, found):
            raise Mismatch("", json.dumps(wanted)[:1000], json.dumps(found)[:1000])

    def _next(self, traced: list[Traced]) -> Any:
        if not traced:
            raise Mismatch("", "one more message", "no more")
        next = traced.pop(0)
        if next.place < self._before:
            raise Mismatch("", "a message after the steps before", f"it earlier: {json.dumps(next.message)[:500]}")
        self._together.append(next.place)
        return self._with_ids_of_the_case(next.message)

    def _with_ids_of_the_case(self, message: Any) -> Any:
        message = self._with_handles_of_the_case(message)
        if "method" not in message:
            message["id"] = self._ids.get(message.get("id"), message.get("id"))
        return message

    def _with_handles_of_the_case(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._with_handles_of_the_case(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._with_handles_of_the_case(element) for element in value]
        handle = HANDLE.fullmatch(value) if isinstance(value, str) else None
        return f"#{self._ids.get(int(handle[1]), handle[1])}" if handle else value
