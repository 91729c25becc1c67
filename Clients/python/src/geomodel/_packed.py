"""Packed columns: numbers or well-known binary as bytes, which become base64 only where they are read as text."""

from __future__ import annotations

import base64
import sys
from typing import Any, Callable, Iterator, Mapping, TypeVar

from .errors import ProtocolError

_KINDS = ("float64", "int64", "WKB")
# How deep in a result columns may be: /columns/attributes/NAME.
_DEPTH = 3

T = TypeVar("T")


class PackedColumn(dict[str, Any]):
    """A column as the protocol defines it, `{"type", "data"}`, whose `data` is base64.

    `numpy.asarray(column)` are its values without a copy: numbers, or well-known binary by row. The text of `column["data"]` is made
    when it is first read.
    """

    def __init__(self, kind: str, data: Any, **more: Any) -> None:
        """A column of a text of base64, or of a buffer of bytes, which is not copied."""
        self._bytes: memoryview | None = None
        self._has_text = isinstance(data, str)
        if not self._has_text:
            view = memoryview(data)
            self._bytes = view.cast("B").toreadonly() if view.nbytes else memoryview(b"")
        # What reads the dictionary in C without its methods finds bytes, which are no JSON, rather than no data.
        super().__init__(type=kind, data=data if self._has_text else self._bytes, **more)

    @property
    def buffer(self) -> memoryview:
        """The bytes, little-endian; not to be written."""
        if self._bytes is None:
            self._bytes = _decoded(super().__getitem__("data"))
        return self._bytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        # It is numpy that calls this.
        numpy = sys.modules["numpy"]
        if self["type"] == "WKB":
            ends = numpy.asarray(self["offsets"]).tolist()
            rows = numpy.empty(len(ends) - 1, dtype=object)
            rows[:] = [bytes(self.buffer[start:end]) if end > start else None for start, end in zip(ends, ends[1:])]
            return rows if dtype is None else rows.astype(dtype, copy=False)
        numbers = numpy.frombuffer(self.buffer, dtype="<f8" if self["type"] == "float64" else "<i8")
        if dtype is not None and numbers.dtype != dtype:
            if copy is False:
                raise ValueError(f"a column of {self['type']} is not one of {dtype} without a copy")
            return numbers.astype(dtype)
        return numbers.copy() if copy else numbers

    def _fill(self) -> None:
        if not self._has_text:
            super().__setitem__("data", base64.b64encode(self.buffer).decode("ascii"))
            self._has_text = True

    def _change(self) -> None:
        """Before a change of the dictionary, which is then what counts."""
        self._fill()
        self._bytes = None

    # A dictionary's methods in C would read the text before it is there.

    def __getitem__(self, name: str) -> Any:
        if name == "data":
            self._fill()
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    # With its own iterator, `dict(column)` and `{**column}` use `keys` and `__getitem__`.
    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def __repr__(self) -> str:
        rows = self["offsets"] if self["type"] == "WKB" else self
        count = len(data_of(rows)) // 8 if isinstance(rows, Mapping) else len(rows)
        return f"<{self['type']} column of {count if rows is self else count - 1:,} rows>"

    def __reduce__(self) -> tuple[Any, ...]:
        members = {name: self[name] for name in self if name != "data"}
        return _made, ({**members, "data": self["data"] if self._bytes is None else bytes(self._bytes)},)

    def __eq__(self, other: object) -> bool:
        return self.copy() == (other.copy() if isinstance(other, PackedColumn) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def copy(self) -> dict[str, Any]:
        """The plain dictionary."""
        return dict(self)


def _made(members: dict[str, Any]) -> PackedColumn:
    return PackedColumn(members.pop("type"), members.pop("data"), **members)


def _after(prepare: Callable[[PackedColumn], None], method: Callable[..., T]) -> Callable[..., T]:
    def prepared(self: PackedColumn, *args: Any, **keywords: Any) -> T:
        prepare(self)
        return method(self, *args, **keywords)

    return prepared


for _name in ("items", "values"):
    setattr(PackedColumn, _name, _after(PackedColumn._fill, getattr(dict, _name)))
for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(PackedColumn, _name, _after(PackedColumn._change, getattr(dict, _name)))


def data_of(column: Mapping[str, Any]) -> memoryview:
    """The bytes of a packed column, however it came."""
    return column.buffer if isinstance(column, PackedColumn) else _decoded(column["data"])


def _decoded(text: Any) -> memoryview:
    try:
        return memoryview(base64.b64decode(text))
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"a column whose data is no base64 ({error}): {text!r:.100}") from error


def pack(value: Any, depth: int = 0) -> Any:
    """A result, changed so that its packed columns are `PackedColumn`."""
    if type(value) is not dict:
        return value
    data = value.get("data")
    if type(data) is str and value.get("type") in _KINDS and _fits(value):
        return _made({name: pack(member) for name, member in value.items()})
    for name, member in value.items() if depth < _DEPTH else ():
        if type(member) is dict:
            value[name] = pack(member, depth + 1)
    return value


def _fits(members: Mapping[str, Any]) -> bool:
    """Whether a column has offsets if it needs them; a single geometry as well-known binary has none."""
    return isinstance(members.get("offsets"), (dict, list)) if members["type"] == "WKB" else "offsets" not in members


class Attachments:
    """The bytes that follow a message's JSON, in place of base64."""

    def __init__(self) -> None:
        self.pieces: list[memoryview | bytes] = []
        self.size = 0

    def add(self, buffer: memoryview) -> dict[str, int]:
        """What stands for the bytes in the JSON. Each begins at a multiple of 8."""
        place = {"offset": self.size, "length": len(buffer)}
        padding = bytes(-len(buffer) % 8)
        self.pieces += (buffer, padding) if padding else (buffer,)
        self.size += len(buffer) + len(padding)
        return place


def attached(members: dict[str, Any], attachments: memoryview) -> dict[str, Any]:
    """An object of a message, as a column of its attachments if it is one."""
    place = members.get("data")
    if type(place) is not dict or place.keys() != {"offset", "length"} or members.get("type") not in _KINDS:
        return members
    start, length = place["offset"], place["length"]
    if not _fits(members):
        raise ProtocolError(f"the server wrote what is no column: {members!r:.200}")
    if type(start) is not int or type(length) is not int or not 0 <= start <= start + length <= len(attachments):
        raise ProtocolError(f"the server wrote a column of bytes that it did not attach: {place!r:.200} of {len(attachments):,}")
    if members["type"] != "WKB" and length % 8:
        raise ProtocolError(f"the server wrote a column of numbers in {length:,} bytes")
    return _made({**members, "data": attachments[start : start + length]})
