"""Matches messages against patterns, and replaces names in sent values."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Mapping

Bindings = dict[str, Any]
_ABSENT = object()
_NAME = re.compile(r"\$\{([A-Za-z0-9_]+)\}")
_MATCHERS = {"$any", "$type", "$absent", "$exact", "$approx", "$unordered", "$bind", "$ref", "$repeat", "$literal"}


@dataclass(eq=False)  # Not frozen: `with` statements write the traceback of exceptions that they pass on.
class Mismatch(Exception):
    """The place of the first difference of a message from a pattern."""

    path: str
    expected: str
    found: Any

    @property
    def depth(self) -> int:
        return self.path.count("/")


def fill(value: Any, bindings: Bindings) -> Any:
    """A value with names replaced and repetitions expanded."""
    if isinstance(value, str):
        return _NAME.sub(lambda name: _text(bindings, name), value) if "${" in value else value
    if isinstance(value, list):
        return [fill(element, bindings) for element in value]
    if not isinstance(value, dict):
        return value
    if "$literal" in value:
        return value["$literal"]
    if "$ref" in value:
        if value["$ref"] not in bindings:
            raise KeyError(f"nothing is bound to {value['$ref']!r}")
        return bindings[value["$ref"]]
    if "$repeat" in value:
        one = fill(value["$repeat"], bindings)
        return one * value["count"] if isinstance(one, str) else [one] * value["count"]
    return {key: fill(member, bindings) for key, member in value.items()}


def raw(value: Any, bindings: Bindings) -> bytes:
    """The bytes of a `sendText`, a `sendRaw` or a `file`."""
    if isinstance(value, list):
        return b"".join(raw(part, bindings) for part in value)
    if isinstance(value, dict) and "$base64" in value:
        return base64.b64decode(value["$base64"])
    return str(fill(value, bindings)).encode("utf-8")


def match(pattern: Any, found: Any, bindings: Bindings, path: str = "") -> Bindings:
    """The bindings, with those that this pattern adds; raises `Mismatch`."""
    if isinstance(pattern, dict):
        if _MATCHERS.isdisjoint(pattern):
            return _match_object(pattern, found, bindings, path)
        return _match_special(pattern, found, bindings, path)
    if found is _ABSENT:
        raise Mismatch(path, show(pattern), "nothing")
    if isinstance(pattern, list):
        if not isinstance(found, list):
            raise Mismatch(path, "an array", found)
        if len(found) != len(pattern):
            raise Mismatch(path, f"{len(pattern)} elements", f"{len(found)}: {show(found)}")
        for index, element in enumerate(pattern):
            bindings = match(element, found[index], bindings, f"{path}/{index}")
        return bindings
    wanted = fill(pattern, bindings)
    if not same(wanted, found):
        raise Mismatch(path, show(wanted), found)
    return bindings


def match_unordered(patterns: list[Any], found: list[Any], bindings: Bindings, path: str = "") -> Bindings:
    """Like `match`, with elements and patterns in any order."""
    if len(patterns) != len(found):
        raise Mismatch(path, f"{len(patterns)} elements", f"{len(found)}: {show(found)}")
    if not patterns:
        return bindings
    deepest: Mismatch | None = None
    for index, element in enumerate(found):
        try:
            inner = match(patterns[0], element, bindings, f"{path}/{index}")
            return match_unordered(patterns[1:], found[:index] + found[index + 1 :], inner, path)
        except Mismatch as mismatch:
            # The pattern that matched furthest is taken as the intended one.
            if deepest is None or mismatch.depth > deepest.depth:
                deepest = mismatch
    assert deepest is not None
    raise deepest


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        # Beyond 64 bits a trace has the nearest double of an integer.
        return one == other or max(abs(one), abs(other)) >= 2**63 and float(one) == float(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def show(value: Any, limit: int = 400) -> str:
    """JSON text, cut if it is long."""
    import json

    text = value if isinstance(value, str) and value.startswith("nothing") else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]} ... ({len(text)} characters)"


def _match_object(pattern: Mapping[str, Any], found: Any, bindings: Bindings, path: str) -> Bindings:
    if not isinstance(found, dict):
        raise Mismatch(path, show(pattern), "nothing" if found is _ABSENT else found)
    for key, member in pattern.items():
        bindings = match(member, found.get(key, _ABSENT), bindings, f"{path}/{_step(key)}")
    return bindings


def _match_literal(wanted: Any, found: Any, path: str) -> None:
    """Like `match`, without matchers."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, member in wanted.items():
            _match_literal(member, found.get(key, _ABSENT), f"{path}/{_step(key)}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, element in enumerate(wanted):
            _match_literal(element, found[index], f"{path}/{index}")
    elif not same(wanted, found):
        raise Mismatch(path, show(wanted), "nothing" if found is _ABSENT else found)


def _match_special(pattern: Mapping[str, Any], found: Any, bindings: Bindings, path: str) -> Bindings:
    if "$absent" in pattern:
        if found is not _ABSENT:
            raise Mismatch(path, "nothing", found)
        return bindings
    if found is _ABSENT:
        raise Mismatch(path, show(dict(pattern)), "nothing")
    if "$literal" in pattern:
        _match_literal(pattern["$literal"], found, path)
        return bindings
    if "$any" in pattern:
        return bindings
    if "$bind" in pattern:
        if "to" in pattern:
            bindings = match(pattern["to"], found, bindings, path)
        return {**bindings, pattern["$bind"]: found}
    if "$type" in pattern:
        if not _has_type(found, pattern["$type"]):
            raise Mismatch(path, f"of type {pattern['$type']}", found)
        return bindings
    if "$approx" in pattern:
        within = pattern.get("within", 1e-9)
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        if not is_number or not abs(found - pattern["$approx"]) <= within:
            raise Mismatch(path, f"{pattern['$approx']} within {within}", found)
        return bindings
    if "$exact" in pattern:
        inner = pattern["$exact"]
        bindings = match(inner, found, bindings, path)
        extra = sorted(set(found) - set(inner)) if isinstance(found, dict) else []
        if extra:
            raise Mismatch(f"{path}/{extra[0]}", "nothing", found[extra[0]])
        return bindings
    if "$unordered" in pattern:
        if not isinstance(found, list):
            raise Mismatch(path, "an array", found)
        return match_unordered(pattern["$unordered"], found, bindings, path)
    wanted = fill(dict(pattern), bindings)
    if not same(wanted, found):
        raise Mismatch(path, show(wanted), found)
    return bindings


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, (int, float)):
        return name == "number" or (name == "integer" and value == int(value))
    return name == {str: "string", dict: "object", list: "array", type(None): "null"}[type(value)]


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _text(bindings: Bindings, name: re.Match[str]) -> str:
    value = bindings.get(name[1], name[0])
    return value if isinstance(value, str) else str(value)
