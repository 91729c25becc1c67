"""Short texts of values, which say how many more there are."""

from __future__ import annotations

import reprlib
from typing import Any


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


def short(value: Any) -> str:
    """A short text of any value."""
    # reprlib goes by the name of the type, and does not know those that are dictionaries too.
    return _short.repr_dict(value, _short.maxlevel) if isinstance(value, dict) else _short.repr(value)
