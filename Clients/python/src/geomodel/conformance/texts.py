"""Makes the text of a `send`: that of the line, byte for byte, except for replacements."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterator

from .patterns import Bindings, fill

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


def member(text: str, name: str) -> str | None:
    """The text of an object's member."""
    return next((text[start:end] for key, start, end in _values(text) if key == name), None)


def sent(text: str, bindings: Bindings) -> str:
    """A message, or a batch, as it is sent."""
    return filled(_with_version(text), bindings)


def filled(text: str, bindings: Bindings) -> str:
    """Like `fill`, on the text of a value."""
    if "$" not in text and "\\u" not in text:
        return text
    if text[0] == '"':
        value = json.loads(text)
        done = fill(value, bindings)
        return text if done == value else _text(done)
    members = _members(text)
    if "$literal" in members:
        return members["$literal"]
    if "$ref" in members:
        return _text(fill(json.loads(text), bindings))
    if "$repeat" in members:
        one, count = filled(members["$repeat"], bindings), json.loads(members["count"])
        return f'"{one[1:-1] * count}"' if one[0] == '"' else f"[{','.join([one] * count)}]"
    return _rewritten(text, lambda name, value: filled(value, bindings))


def _with_version(text: str) -> str:
    if text[0] == "[":
        return _rewritten(text, lambda name, value: _with_version(value))
    members = _members(text)
    if "$repeat" in members:
        return _rewritten(text, lambda name, value: _with_version(value) if name == "$repeat" else value)
    return '{"jsonrpc": "2.0", ' + text[1:] if "method" in members and "jsonrpc" not in members else text


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _members(text: str) -> dict[str, str]:
    return {name: text[start:end] for name, start, end in _values(text)} if text[0] == "{" else {}


def _rewritten(text: str, change: Callable[[str, str], str]) -> str:
    pieces: list[str] = []
    last = 0
    for name, start, end in _values(text):
        pieces += text[last:start], change(name, text[start:end])
        last = end
    return "".join(pieces) + text[last:]


def _values(text: str) -> Iterator[tuple[str, int, int]]:
    """The ranges of the members or elements in a text of valid JSON, and the names of members; empty for a scalar."""
    at = _skip(text, 1) if text[0] in "[{" else len(text)
    while at < len(text) and text[at] not in "]}":
        name = ""
        if text[0] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield name, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
