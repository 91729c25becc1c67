"""Results as tables of notebooks: any result of any method, with what the protocol says of its members."""

from __future__ import annotations

import ast
import functools
import html
import importlib
import inspect
import itertools
import re
from typing import Any, Iterable, Mapping, NamedTuple

from . import _generated
from ._short import short
from ._values import decode_columns, unpacked

_ROWS = 10
_ITEMS = 10
# With fewer members beside it, a list is the whole of a result.
_FEW = 6
# Longest mapping that is shown in one line, longest text.
_LINE, _LONGEST = 160, 500

_LEFT = ' style="text-align: left"'


class _Member(NamedTuple):
    type: str
    doc: str


def table(result: Mapping[str, Any], method: str) -> str:
    """A row for each member, and below it a table for each list of objects; what a member is, is shown on hovering."""
    name = _result_type(method)
    known = _members(name)
    lists = _tables_in(result)
    lines = [f"<b>{_text(method if name.endswith('Result') else name)}</b>"] if name else []
    alone = {member: value for member, value in result.items() if member not in lists}
    if "properties" in lists and "value" in lists["properties"][0][0]:
        del alone["values"]
    is_list = [type(result[member]) for member in lists] == [list] and len(alone) < _FEW
    is_list = is_list and not any(isinstance(value, (list, dict)) for value in alone.values())
    if is_list:
        lines.append(f"<p>{_text(_said(alone))}</p>")
    elif alone:
        rows_alone = [_row([_head(member, known, _LEFT), f"<td{_LEFT}>{_text(_said(value))}</td>"]) for member, value in alone.items()]
        lines += ["<table>", *rows_alone, "</table>"]
    for member, (rows, count) in lists.items():
        if not is_list:
            lines.append(f"<p>{_text(member)}</p>")
        lines += _listed(rows, _members(known[member].type if member in known else ""))
        if count > len(rows):
            lines.append(f"<p>{len(rows)} of {count:,} rows</p>")
    return "\n".join(lines)


def _tables_in(result: Mapping[str, Any]) -> dict[str, tuple[list[dict[str, Any]], int]]:
    """The members that are tables: their first rows, and the number of all."""
    found: dict[str, tuple[list[dict[str, Any]], int]] = {}
    for name, value in result.items():
        if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value[:_ROWS]):
            found[name] = [_flat(each) for each in value[:_ROWS]], len(value)
        elif name == "columns" and isinstance(value, Mapping) and "ids" in value:
            ids, named = unpacked(value["ids"]), decode_columns(result)
            head = {column: values[:_ROWS] for column, values in named.items()}
            found[name] = [{"id": id, **{column: head[column][row] for column in head}} for row, id in enumerate(ids[:_ROWS])], len(ids)
        elif isinstance(value, Mapping) and len(_said(value)) > _LINE:
            found[name] = [{"name": member, "value": part} for member, part in list(value.items())[:_ROWS]], len(value)
    values, properties = result.get("values"), found.get("properties")
    if isinstance(values, Mapping) and properties is not None and {row.get("name") for row in properties[0]} <= values.keys():
        # A view model's values stand beside the definitions of its properties.
        rows = [{"name": row["name"], "value": values[row["name"]], **row} for row in properties[0]]
        found["properties"] = rows, properties[1]
    return found


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


def _listed(rows: list[dict[str, Any]], known: Mapping[str, _Member]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    body = (_row(f"<td>{_text(_said(row[name])) if name in row else ''}</td>" for name in names) for row in rows)
    return ["<table>" + _row(_head(name, known) for name in names), *body, "</table>"]


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _head(name: str, known: Mapping[str, _Member], style: str = "") -> str:
    doc = f' title="{_text(known[name].doc)}"' if name in known else ""
    return f"<th{style}{doc}>{_text(name)}</th>"


def _said(value: Any) -> str:
    """A value as a text of one line."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + " ..."
    if isinstance(value, Mapping) and value.keys() == {"type"}:
        return str(value["type"])
    if isinstance(value, Mapping) and value and not any(isinstance(each, (list, Mapping)) for each in value.values()):
        return ", ".join(f"{name} {_said(each)}" for name, each in itertools.islice(value.items(), _LINE))
    if isinstance(value, list) and value and all(isinstance(each, Mapping) and "name" in each for each in value[:_ITEMS]):
        value = [each.get("name") for each in value]
    if isinstance(value, list) and value and not any(isinstance(each, (list, Mapping)) for each in value[:_ITEMS]):
        more = f" ... {len(value):,} in all" if len(value) > _ITEMS else ""
        return ", ".join(map(_said, value[:_ITEMS])) + more
    return short(value)


def _text(value: str) -> str:
    return html.escape(value)


# What the protocol says: the generated types and the text that follows each of their members.


def _result_type(method: str) -> str:
    """The name of the type of a method's results; empty if that is not known."""
    from ._generated import methods_sync

    domain, _, name = method.partition("/")
    methods = getattr(methods_sync, f"{domain[:1].upper()}{domain[1:]}Methods", None)
    function = getattr(methods, re.sub("([A-Z])", r"_\1", name).lower(), None)
    returned = getattr(function, "__annotations__", {}).get("return", "")
    return str(returned).removeprefix("t.") if str(returned).startswith("t.") else ""


@functools.cache
def _source() -> str:
    return inspect.getsource(importlib.import_module(f"{_generated.__name__}.types"))


@functools.cache
def _members(type: str) -> dict[str, _Member]:
    """The members of a type by name: the types of their elements or values, and what is said of them."""
    found = re.search(rf"^class {re.escape(type)}\(.*?(?=^\S|\Z)", _source(), re.M | re.S) if type else None
    body = [] if found is None else next(node.body for node in ast.walk(ast.parse(found[0])) if isinstance(node, ast.ClassDef))
    members: dict[str, _Member] = {}
    for node, after in zip(body, body[1:]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
            doc = ast.literal_eval(after.value) if isinstance(after.value, ast.Constant) else ""
            inner = re.sub(r"^(NotRequired\[)?(list\[)?|\]*$", "", ast.unparse(node.annotation))
            members[node.target.id] = _Member(inner, " ".join(str(doc).split()))
    return members
