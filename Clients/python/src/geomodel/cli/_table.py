"""Tables for people: aligned columns, the same on terminals and in pipes, with colours and clipped cells on terminals alone."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterable, Sequence, TextIO

# Longest cell on a terminal.
_CELL = 48


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """Whether colours are shown: only on terminals, and not if NO_COLOR says so (no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def bold(text: str, stream: TextIO | None = None) -> str:
    return f"\x1b[1m{text}\x1b[0m" if has_colours(stream or sys.stdout) else text


def show(rows: Iterable[Sequence[Any]], heads: Sequence[str], *, indent: str = "") -> None:
    """Prints rows below heads; columns of numbers are aligned to the right."""
    made = [list(row) for row in rows]
    clipped = is_terminal(sys.stdout)
    cells = [[_clip(text(value)) if clipped else text(value) for value in row] for row in made]
    right = [
        any(_is_number(row[index]) for row in made) and all(_is_number(row[index]) or row[index] is None for row in made)
        for index in range(len(heads))
    ]
    widths = [max(map(width, [head, *(row[index] for row in cells)])) for index, head in enumerate(heads)]
    lines = [_line(row, widths, right) for row in [list(heads), *cells]]
    sys.stdout.write(indent + bold(lines[0]) + "\n")
    sys.stdout.writelines(f"{indent}{line}\n" for line in lines[1:])


def text(value: Any) -> str:
    """A value as one line: control characters, which a terminal would obey, are escaped."""
    if value is None:
        return ""
    if isinstance(value, str):
        said = value
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif isinstance(value, float):
        said = repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    elif isinstance(value, (dict, list)):
        import json

        said = json.dumps(value, ensure_ascii=False)
    else:
        said = str(value)
    if said.isprintable():
        return said
    return "".join(each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode() for each in said)


def width(cell: str) -> int:
    """The columns that a text takes on a terminal."""
    if cell.isascii():
        return len(cell)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in cell)


def _clip(cell: str) -> str:
    return cell if len(cell) <= _CELL else cell[: _CELL - 1] + "…"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    filled = []
    for cell, size, to_right in zip(cells, widths, right):
        gap = " " * (size - width(cell))
        filled.append(gap + cell if to_right else cell + gap)
    return "  ".join(filled).rstrip()
