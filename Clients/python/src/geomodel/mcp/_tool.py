"""What all tools have in common: the model that they work on, and answers of a size that an agent can read."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from mcp_types import CallToolResult, TextContent

from ._answers import BYTES, fitting, how_to_narrow, shortened, size_of, text_of
from ._model import Caller, present


class Tool:
    """Tools; the docstring of each is what the agent reads."""

    def __init__(self, model: Caller, definition: Any) -> None:
        self._model = model
        # Fetches the definition of the protocol once for each server.
        self._definition = definition


def answer(**members: Any) -> CallToolResult:
    """The members that are there, as structured content and as the same in text for agents that read only that."""
    content = present(**members)
    return CallToolResult(content=[TextContent(type="text", text=text_of(content))], structured_content=content)


def rows_answer(rows: Sequence[Mapping[str, Any]], count: int, what: str, ways: str, *, offset: int = 0, **more: Any) -> CallToolResult:
    """As many rows as fit. Where not even one does, its longest values are cut."""
    kept = fitting(rows, BYTES - 600 - size_of(present(**more)))
    cut: list[str] = []
    if rows and not kept:
        first, cut = shortened(rows[0], BYTES - 1200)
        kept = [first] if first is not None else []
    sentence = how_to_narrow(len(kept), count, what, ways, offset)
    if cut:
        shortening = f"The first row is too long and was cut ({'; '.join(cut)[:300]}): name fewer fields, leave the geometry out."
        sentence = f"{shortening} {sentence or ''}".strip()
    return answer(count=count, shown=len(kept), rows=kept, **more, more=sentence)
