"""Progress bars for calls that take long; those of terminals."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import time
from typing import Any, Iterator, Mapping

# Seconds before a bar is shown, and between two drawings while the server says nothing: what is quicker needs none.
PATIENCE = 0.5
_WIDTH = 24


class Bar:
    """Shows how far a call is: `progress` of the call, called without a report while there is none.

    It appears after a while. `end` says how the call ended.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._begun = time.monotonic()
        self._share: float | None = None
        self._is_shown = False
        # Reports arrive in the context of the client's reader, and notebooks show things below the cell of the context.
        self._context = contextvars.copy_context()

    def __call__(self, report: Mapping[str, Any] | None = None) -> None:
        if report is not None:
            self._title = self._title or str(report.get("title", ""))
            self._share = report.get("percentage", self._share)
        if self._seconds >= PATIENCE:
            self._is_shown = True
            self._context.run(self._draw)

    def end(self, failure: BaseException | None = None) -> None:
        if self._is_shown:
            self._context.run(self._finish, failure)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _draw(self) -> None:
        raise NotImplementedError

    def _finish(self, failure: BaseException | None) -> None:
        raise NotImplementedError


class TerminalBar(Bar):
    """A line on standard error, which is gone when the call has ended."""

    def _draw(self) -> None:
        share = self._share or 0
        full = int(share * _WIDTH / 100)
        sys.stderr.write(f"\r\x1b[K{self._title} [{'#' * full}{'.' * (_WIDTH - full)}] {share:3.0f} %")
        sys.stderr.flush()

    def _finish(self, failure: BaseException | None) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


@contextlib.contextmanager
def showing(bar: Bar) -> Iterator[Bar]:
    """Ends the bar with the block."""
    try:
        yield bar
    except BaseException as failure:
        bar.end(failure)
        raise
    bar.end()
