"""Short answers: what an agent reads is at most 20 KB of JSON, and says how to ask for less when something was left out."""

from __future__ import annotations

import json
from typing import Any, Sequence

# Rows of an answer when no limit is given.
ROWS = 20
# Maximum number of bytes of an answer as JSON in UTF-8. It is sent twice, as text and as structured content.
BYTES = 20_000


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size_of(value: Any) -> int:
    return len(text_of(value).encode("utf-8", "surrogatepass"))


def fitting(rows: Sequence[Any], budget: int) -> list[Any]:
    """The first rows, as many as the budget has room for."""
    kept: list[Any] = []
    for row in rows:
        budget -= size_of(row) + 1
        if budget < 0:
            break
        kept.append(row)
    return kept


def how_to_narrow(shown: int, count: int, what: str, ways: str, offset: int = 0) -> str | None:
    """The sentence for an answer that leaves rows out; none when it has all."""
    if offset + shown >= count:
        return None
    return f"{shown} of {count} {what} are shown. The next begin at offset={offset + shown}. To narrow: {ways}."


def shortened(value: Any, budget: int = BYTES) -> tuple[Any, list[str]]:
    """The value with its longest lists and texts cut until it fits, and what was cut, as JSON Pointers with the numbers."""
    cuts: dict[str, tuple[int, int, str]] = {}
    while (excess := size_of(value) - budget) > 0:
        found = _largest(value)
        if found is None:
            return None, ["everything: the answer has too many members"]
        pointer, part = found
        room = size_of(part) - excess
        kept = _beginning(part, room) if isinstance(part, str) else fitting(part, room)
        kept = kept or part[:1]
        unit = "characters" if isinstance(part, str) else "items"
        cuts[pointer] = (cuts[pointer][0] if pointer in cuts else len(part), len(kept), unit)
        value = _replaced(value, pointer, kept)
    # What lies in a list's end that was cut off later needs no mention.
    return value, [
        f"{pointer or 'the answer'}: {kept} of {had} {unit}" for pointer, (had, kept, unit) in cuts.items() if _exists(value, pointer)
    ]


def _beginning(text: str, budget: int) -> str:
    """At most that many bytes of a text, as JSON."""
    while text and size_of(text) > budget:
        text = text[: min(len(text) - 1, len(text) * max(budget, 0) // size_of(text))]
    return text


def _largest(value: Any) -> tuple[str, Any] | None:
    """The list or text to cut: on the way down to the largest part, the outermost that has several items."""
    pointer = ""
    while True:
        if isinstance(value, (list, str)) and len(value) > 1:
            return pointer, value
        if isinstance(value, dict) and value:
            at: Any = max(value, key=lambda name: size_of(value[name]))
        elif isinstance(value, list) and value:
            at = 0
        else:
            return None
        pointer = f"{pointer}/{_escaped(str(at))}"
        value = value[at]


def _replaced(value: Any, pointer: str, part: Any) -> Any:
    """A copy of the value with another part at a pointer: the answer itself is left as it is."""
    if not pointer:
        return part
    head, _, rest = pointer[1:].partition("/")
    rest = f"/{rest}" if rest else ""
    if isinstance(value, list):
        at = int(head)
        return [*value[:at], _replaced(value[at], rest, part), *value[at + 1 :]]
    name = head.replace("~1", "/").replace("~0", "~")
    return {**value, name: _replaced(value[name], rest, part)}


def _exists(value: Any, pointer: str) -> bool:
    for segment in pointer.split("/")[1:]:
        if isinstance(value, list):
            if int(segment) >= len(value):
                return False
            value = value[int(segment)]
        else:
            value = value[segment.replace("~1", "/").replace("~0", "~")]
    return True


def _escaped(segment: str) -> str:
    return segment.replace("~", "~0").replace("/", "~1")
