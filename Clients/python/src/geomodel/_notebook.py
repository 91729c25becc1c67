"""Progress bars in notebooks, and which bar a call shows."""

from __future__ import annotations

import asyncio
import html
import importlib
import sys
import uuid
from typing import Any, Callable, Coroutine, TypeVar

from ._bars import PATIENCE, Bar, TerminalBar
from ._options import Progress

T = TypeVar("T")


class NotebookBar(Bar):
    """An output of the cell, which is updated in place and says in the end how long the call took.

    Calls of one cell, one after the other, share one output.
    """

    # The output of the last bar that has ended, and its cell.
    _free: tuple[Any, str] | None = None

    def __init__(self, title: str, kernel: Any) -> None:
        super().__init__(title)
        self._kernel = kernel
        self._cell: Any = None
        # Made before it is shown, so that an interrupt meanwhile leaves no second one.
        self._output = ""

    def _draw(self) -> None:
        share = self._share
        number = "" if share is None else f' value="{share:.0f}"'
        done = f"{self._seconds:.1f} s" if share is None else f"{share:.0f} %"
        bar = f'<progress max="100"{number} style="vertical-align: middle"></progress>'
        self._show(f"{self._title}: {done}", f"{html.escape(self._title)} {bar} {done}")

    def _finish(self, failure: BaseException | None) -> None:
        is_interrupted = isinstance(failure, (KeyboardInterrupt, asyncio.CancelledError))
        how = "" if failure is None else "interrupted after " if is_interrupted else "failed after "
        said = f"{self._title}: {how}{self._seconds:.1f} s"
        self._show(said, html.escape(said))
        NotebookBar._free = (self._cell, self._output)

    def _show(self, text: str, markup: str) -> None:
        # Not an import statement: type checkers without IPython do not follow it.
        display: Any = importlib.import_module("IPython.display").display
        is_new = False
        if not self._output:
            self._cell = (self._kernel.get_parent().get("header") or {}).get("msg_id")
            free, NotebookBar._free = NotebookBar._free, None
            is_new = free is None or free[0] != self._cell
            self._output = uuid.uuid4().hex if free is None or is_new else free[1]
        display({"text/plain": text, "text/html": markup}, raw=True, display_id=self._output, update=not is_new)


def bar_for(progress: Progress, title: str) -> Bar | None:
    """The bar of a call with this option; None if it shows none."""
    if progress is None or progress == "bar":
        ipython = sys.modules.get("IPython")
        shell = getattr(ipython, "get_ipython", lambda: None)()
        # Only notebooks and their like have a kernel.
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            return NotebookBar(title, kernel)
        if progress == "bar" and sys.stderr.isatty():
            return TerminalBar(title)
    return None


async def ticking(action: Callable[[], Coroutine[Any, Any, T]], tick: Callable[[], object]) -> T:
    """The result of an action; calls `tick` every now and then while it runs, since not every call has reports."""

    async def ticked() -> None:
        while True:
            await asyncio.sleep(PATIENCE)
            tick()

    ticker = asyncio.create_task(ticked())
    try:
        return await action()
    finally:
        ticker.cancel()
