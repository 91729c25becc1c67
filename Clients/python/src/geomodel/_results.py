"""Results as they are shown: in the shell by a short text, in notebooks by a table. They are dictionaries otherwise."""

from __future__ import annotations

import reprlib
from typing import Any, Iterable, Mapping

from ._values import unpacked


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxdict, self.maxlist, self.maxlevel = 40, 3, 8
        self.maxstring = self.maxother = 120

    def repr_list(self, x: list[Any], level: int) -> str:
        text = super().repr_list(x, level)
        return text if len(x) <= self.maxlist else f"{text[:-1]} {len(x):,} in all]"

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        # In the order of the members, which reprlib sorts.
        if level <= 0:
            return "{...}"
        shown = [f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in list(x.items())[: self.maxdict]]
        return "{" + ", ".join(shown + ["..."] * (len(x) > self.maxdict)) + "}"


_short = _Short()


class Result(dict[str, Any]):
    """The result of a call: a dictionary with a short `repr`, and a table in notebooks."""

    def __init__(self, members: Mapping[str, Any], method: str = "") -> None:
        super().__init__(members)
        self._method = method

    def __repr__(self) -> str:
        return _short.repr_dict(self, _short.maxlevel)

    def _repr_html_(self) -> str:
        from ._tables import table

        return table(self, self._method)


def decode_column(column: Any) -> list[Any]:
    """The values of a column of a result by row: numbers, texts; of a geometry column, well-known binary as `bytes`.

    None stands for null.
    """
    return unpacked(column)


def decode_columns(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The attributes of an answer of `feature.query(format="columns")`, or of a part of one: lists by name, in the fields' order."""
    attributes = answer["columns"].get("attributes", {})
    fields: Iterable[Mapping[str, Any]] = answer.get("fields") or [{"name": name} for name in attributes]
    return {field["name"]: unpacked(attributes[field["name"]]) for field in fields}


def short(value: Any) -> str:
    """A short text of any value."""
    return _short.repr(value)


def shown(result: Any, method: str) -> Any:
    """The result of a call as a `Result`, if it is a dictionary."""
    return Result(result, method) if type(result) is dict else result
