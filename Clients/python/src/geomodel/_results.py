"""Results as they are shown: in the shell by a short text, in notebooks by a table. They are dictionaries otherwise."""

from __future__ import annotations

from typing import Any, Mapping

from ._short import short


class Result(dict[str, Any]):
    """The result of a call: a dictionary with a short `repr`, and a table in notebooks."""

    def __init__(self, members: Mapping[str, Any], method: str = "") -> None:
        super().__init__(members)
        self._method = method

    def __repr__(self) -> str:
        return short(self)

    def _repr_html_(self) -> str:
        from ._tables import table

        return table(self, self._method)


def shown(result: Any, method: str) -> Any:
    """The result of a call as a `Result`, if it is a dictionary."""
    return Result(result, method) if type(result) is dict else result
