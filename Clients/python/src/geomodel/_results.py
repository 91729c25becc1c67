"""Results as they are shown: in the shell by a short text, in notebooks by a table. They are dictionaries otherwise."""

from __future__ import annotations

import reprlib
from typing import Any, Iterable, Mapping

from ._values import unpacked

_ROWS = 10
_LISTS = ("features", "records", "clusters", "results", "groups", "layers")


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

    def __repr__(self) -> str:
        return _short.repr_dict(self, _short.maxlevel)

    def _repr_html_(self) -> str:
        members = {name: value for name, value in self.items() if not isinstance(value, (list, dict))}
        lines = [f"<p>{_cell(', '.join(f'{name} {value}' for name, value in members.items()))}</p>"]
        rows, count = _rows_of(self)
        if rows:
            names = list(dict.fromkeys(name for row in rows for name in row))
            lines.append("<table><tr>" + "".join(f"<th>{_cell(name)}</th>" for name in names) + "</tr>")
            lines += ["<tr>" + "".join(f"<td>{_cell(row.get(name, ''))}</td>" for name in names) + "</tr>" for row in rows]
            lines.append("</table>" + (f"<p>{len(rows)} of {count:,} rows</p>" if count > len(rows) else ""))
        return "\n".join(lines)


def _rows_of(result: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """The first rows of a result's list, and their number; other results have a row for each member."""
    columns = result.get("columns")
    if isinstance(columns, Mapping) and "ids" in columns:
        ids, named = unpacked(columns["ids"]), decode_columns(result)
        head = {name: values[:_ROWS] for name, values in named.items()}
        return [{"id": id, **{name: head[name][row] for name in head}} for row, id in enumerate(ids[:_ROWS])], len(ids)
    for name in _LISTS:
        values = result.get(name)
        if isinstance(values, list) and values and isinstance(values[0], Mapping):
            return [_flat(value) for value in values[:_ROWS]], len(values)
    rows = [{"member": name, "value": value} for name, value in result.items() if isinstance(value, (list, dict))]
    return rows, len(rows)


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """A row: attributes beside the other members, a geometry by its type."""
    row: dict[str, Any] = {}
    for name, member in value.items():
        if name in ("properties", "attributes", "group", "statistics", "values") and isinstance(member, Mapping):
            row.update(member)
        elif name == "geometry" and isinstance(member, Mapping):
            row[name] = member.get("type")
        elif (name, member) != ("type", "Feature"):
            row[name] = member
    return row


def _cell(value: Any) -> str:
    import html

    return html.escape(value if isinstance(value, str) else _short.repr(value))


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


def shown(result: Any) -> Any:
    """The result of a call as a `Result`, if it is a dictionary."""
    return Result(result) if type(result) is dict else result
