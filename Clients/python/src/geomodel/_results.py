"""Results as they are shown: in the shell by a short text, in notebooks by a table or a picture. They are dictionaries otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ._packed import pack
from ._short import short

if TYPE_CHECKING:
    from ._pictures import Draw


class Result(dict[str, Any]):
    """The result of a call: a dictionary with a short `repr`, and in notebooks a table, with a picture of what can be drawn."""

    def __init__(self, members: Mapping[str, Any], method: str = "", draw: Draw | None = None) -> None:
        super().__init__(members)
        self._method = method
        self._draw = draw

    def __repr__(self) -> str:
        return short(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy, or one that was kept in a file, has no server to draw it.
        return Result, (dict(self), self._method)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """All forms by one drawing: a notebook keeps them and shows the best that it can."""
        from . import _pictures

        if (picture := _pictures.bundle(self)) is not None:
            return picture
        drawn = self._drawn()
        return {"text/html": self._markup(drawn), **({} if drawn is None else {"image/png": drawn})}

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def _repr_png_(self) -> str | None:
        from . import _pictures

        return (_pictures.bundle(self) or {}).get("image/png") or self._drawn()

    def _repr_svg_(self) -> str | None:
        from . import _pictures

        return (_pictures.bundle(self) or {}).get("image/svg+xml")

    def _drawn(self) -> str | None:
        drawn = None if self._draw is None else self._draw()
        if drawn is None:
            # Notebooks ask for each form: what cannot be drawn is tried once.
            self._draw = None
        return drawn

    def _markup(self, drawn: str | None) -> str:
        from . import _pictures
        from ._tables import table

        shown = table(self, self._method)
        return shown if drawn is None else f"{_pictures.image(drawn, self._method)}\n{shown}"


def shown(result: Any, method: str) -> Any:
    """The result of a call as a `Result`, if it is a dictionary."""
    return Result(pack(result), method) if type(result) is dict else result
