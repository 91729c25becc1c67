"""Finds messages that a server would refuse as a whole before they are sent: such a refusal names no request.

Integers beyond 64 bits are found as well: a server would keep the nearest double and say nothing.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Mapping

from .errors import EncodeError

# The server's parser counts every value, not only containers.
MAX_DEPTH = 2048
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

# Digits as zeros, all else as spaces: 19 digits in a row are then found by one search, ten times faster than by a pattern.
_DIGITS_AS_ZEROS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_RUN = b"0" * 19
_INTEGER = re.compile(rb"-?[0-9]+")
# A value, its end, or a name, which is as deep as its value.
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]|[^][{}",:\s]+')
# The characters before and after an integer.
_BEFORE, _BEHIND = (b"[", b",", b":"), (b"]", b",", b"}")
_ALL_AS_SQUARE = bytes.maketrans(b"{}", b"[]")
_PACKED = b'"data":"'
_ATTACHED = re.compile(r'"data": \{"offset": [0-9]+, "length": ([0-9]+)\}')
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'[]{},"')


@dataclass(frozen=True)
class Limits:
    """The limits of a message; None if the server has not stated them (yet)."""

    message_bytes: int | None = None
    message_values: int | None = None

    @classmethod
    def of(cls, capabilities: Any) -> Limits:
        """The limits in the answer to `initialize`."""
        stated = capabilities if isinstance(capabilities, Mapping) else {}
        sizes = (stated.get("maxMessageBytes"), stated.get("maxMessageValues"))
        return cls(*(size if isinstance(size, int) else None for size in sizes))

    def check(self, body: bytes, attached: int = 0) -> None:
        """Raises `EncodeError` for what the server would refuse, of a message to which so many bytes are attached.

        Ordinary messages are checked by a few searches, which take a small part of the time of encoding them. Duplicate names
        (of the keys 1 and "1") are left to the server, since finding them is more expensive.
        """
        if self.message_bytes is not None and len(body) + attached > self.message_bytes:
            raise _too_large(body, len(body) + attached, "bytes", self.message_bytes)
        text = _without_packed(body)
        values = self.message_values if self.message_values is not None else len(text)
        is_odd = False
        # A value takes at least two bytes, and so does a level.
        if len(text) > 2 * min(values, MAX_DEPTH - 1):
            structure = _structure(text)
            openings = structure.count(b"[")
            if openings + structure.count(b",") >= values:
                count = _count_values(text)
                if count > values:
                    raise _too_large(body, count, "values", values)
            is_odd = openings >= MAX_DEPTH and _depth(text) >= MAX_DEPTH
        if is_odd or (b"\\" in text and b"\\u0000" in text) or _has_large_integer(text):
            fault = find_fault(body.decode("utf-8"))
            if fault is not None:
                raise EncodeError(fault)


def find_fault(text: str) -> str | None:
    """The first fault of a JSON text that the server refuses, with its pointer; None when there is none."""
    try:
        root = json.loads(text, object_pairs_hook=_Members)
    except RecursionError:
        # Python's limit comes first, in some versions before the server's: what else is wrong, the server says.
        return f"values are nested deeper than {MAX_DEPTH:,} levels" if _levels(text) > MAX_DEPTH else None
    # Not recursive, since depth may be the fault. A path is the container's path and a name, joined only for a fault.
    waiting: list[tuple[Any, Any, int]] = [(root, None, 1)]
    while waiting:
        value, path, depth = waiting.pop()
        fault = _fault_of(value, depth)
        if fault is not None:
            return f"{fault} at {_pointer(path)}"
        if isinstance(value, _Members):
            waiting += [(member, (path, name), depth + 1) for name, member in reversed(value)]
        elif isinstance(value, list):
            waiting += [(value[index], (path, index), depth + 1) for index in range(len(value) - 1, -1, -1)]
    return None


class _Members(list[tuple[str, Any]]):
    """An object as written, with duplicate names."""


def _fault_of(value: Any, depth: int) -> str | None:
    if depth > MAX_DEPTH:
        return f"values are nested deeper than {MAX_DEPTH:,} levels"
    if isinstance(value, str):
        return "a lone surrogate" if _has_surrogate(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is not a JSON number,"
    if isinstance(value, _Members):
        names: set[str] = set()
        for name, _ in value:
            if "\0" in name:
                return f"the name {name!r:.80} has a NUL,"
            if _has_surrogate(name):
                return f"the name {name!r:.80} has a lone surrogate,"
            if name in names:
                return f"the name {name!r:.80} is repeated"
            names.add(name)
        return None
    if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
        return f"the integer {value!r:.80} is beyond 64 bits,"
    return None


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _pointer(path: Any) -> str:
    """A path as a JSON Pointer; of a long one, its beginning."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(str(step).replace("~", "~0").replace("/", "~1").encode("utf-8", "backslashreplace").decode("utf-8"))
    if len(steps) > 20:
        return "/" + "/".join(steps[:-21:-1]) + "/..."
    return "/" + "/".join(reversed(steps)) if steps else "the message's root"


def _too_large(body: bytes, size: int, unit: str, limit: int) -> EncodeError:
    """The error for a message over a limit; it names the largest of the params."""
    heaviest = ""
    try:
        params = json.loads(body).get("params") or {}
        sizes = {name: _size(json.dumps(value, ensure_ascii=False)) for name, value in params.items()}
        if sizes:
            heaviest = f"; most of it is at /params/{max(sizes, key=lambda name: sizes[name])}"
    except (RecursionError, AttributeError):
        pass
    return EncodeError(f"the message has {size:,} {unit}, and the server takes {limit:,}{heaviest}")


def _size(text: str) -> int:
    """The size of a value with the attachments of its columns."""
    return len(text) + sum(map(int, _ATTACHED.findall(text)))


def _without_packed(body: bytes) -> bytes:
    """The text without that of packed columns, which is long and has nothing to find."""
    pieces, end = [], 0
    while (start := body.find(_PACKED, end)) >= 0:
        close = body.find(b'"', start + len(_PACKED))
        # Other text under that name may have escapes.
        if close < 0 or body.find(b"\\", start, close) >= 0:
            return body
        pieces.append(body[end : start + len(_PACKED)])
        end = close
    return b"".join(pieces) + body[end:] if pieces else body


def _structure(body: bytes) -> bytes:
    """The brackets, all as square ones, the commas and the quotes, including those in strings."""
    return body.translate(_ALL_AS_SQUARE, _NOT_STRUCTURE)


def _outside_strings(body: bytes) -> bytes:
    """The brackets, all as square ones, and the commas that stand outside strings."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Most strings have neither; their pairs of quotes are removed, which does not change what is inside which string.
    structure = _structure(body).replace(b'""', b"")
    return re.sub(rb'"[^"]*"', b"", structure) if b'"' in structure else structure


def _count_values(body: bytes) -> int:
    """The number of values as the server counts them: commas and opening brackets outside strings, plus one."""
    structure = _outside_strings(body)
    return structure.count(b",") + structure.count(b"[") + 1


def _depth(body: bytes) -> int:
    """How deep containers are nested; a lower bound if that is far from too deep."""
    brackets = _outside_strings(body).translate(None, b",")
    # The innermost brackets are removed first: wide and flat text is done in a few passes.
    for turn in range(16):
        if len(brackets) <= 2 * (MAX_DEPTH - 1 - turn):
            return turn
        brackets = brackets.replace(b"[]", b"")
    return 16 + max(accumulate(1 if bracket == 0x5B else -1 for bracket in brackets), default=0)


def _levels(text: str) -> int:
    """How deep values are nested, as the server counts them."""
    depth = most = 0
    for value in _VALUE.finditer(text):
        if value[0] in ("]", "}"):
            depth -= 1
        else:
            most = max(most, depth + 1)
            depth += value[0] in ("[", "{")
    return most


def _has_large_integer(body: bytes) -> bool:
    zeros = body.translate(_DIGITS_AS_ZEROS)
    at = zeros.find(_LONG_RUN)
    while at >= 0:
        number = _INTEGER.match(body, at - 1 if body[at - 1 : at] == b"-" else at)
        assert number is not None
        start, end = number.span()
        # Text in a string may look the same, and have more digits than Python parses.
        if body[start - 1 : start] in _BEFORE and body[end : end + 1] in _BEHIND:
            if end - start > 20 or not _MIN_INTEGER <= int(number[0]) <= _MAX_INTEGER:
                return True
        at = zeros.find(_LONG_RUN, end)
    return False
