"""The base exceptions; `errors` has all exceptions."""

from __future__ import annotations

import os
from typing import Any, Mapping


class Error(Exception):
    """The base of all exceptions of this package."""


class ServerNotFoundError(Error):
    """No server executable was found; the message lists the places that were searched."""


class ServerDiedError(Error, ConnectionError):
    """The server process ended while it was in use.

    `exit_status` is the exit status of the process (negative: the signal that ended it; None: not known), `stderr` the last lines
    that it wrote to standard error.
    """

    def __init__(self, message: str, exit_status: int | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_status = exit_status
        self.stderr = stderr

    def __str__(self) -> str:
        return f"{self.message}\n{self.stderr}" if self.stderr else self.message


class ClosedError(Error, ConnectionError):
    """The client was closed before or during the call."""


class ProtocolError(Error):
    """The server sent what the protocol does not allow, or what Python cannot read, such as values nested beyond its recursion limit."""


class EncodeError(Error, ValueError):
    """A value cannot be put into a message, and nothing was sent: a type that is not valid there, NaN outside a column,
    infinity, a lone surrogate, an integer beyond 64 bits, a name with NUL, deeper nesting or more text than the server accepts.
    """


class CallTimeoutError(Error, TimeoutError):
    """The `timeout` of the call has elapsed; the request has been cancelled."""


class NotificationsLostError(Error):
    """Notifications arrived faster than they were read, and the oldest `count` were dropped.

    Further reads return the remaining ones.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} notifications were not read in time and are lost")
        self.count = count


class GeoModelError(Error):
    """The server answered with an error.

    `kind` is for programs, `message` for people. `path` is a JSON Pointer into the request (or a file), `expected` what is
    valid there, `data` all data of the server's error.
    """

    kind: str = ""
    code: int = 0

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        kind: str | None = None,
        data: Mapping[str, Any] | None = None,
        method: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        if kind is not None:
            self.kind = kind
        self.data: dict[str, Any] = dict(data or {})
        self.path: str | None = self.data.get("path")
        self.expected: str | None = self.data.get("expected")
        self.method = method

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: the caller's line and the error, without the frames of this package and of asyncio."""
        import asyncio
        import threading
        import traceback

        inner = (os.path.dirname(__file__), os.path.dirname(asyncio.__file__), os.path.dirname(threading.__file__))
        frames = traceback.extract_tb(self.__traceback__)
        outer = [frame for frame in frames if not frame.filename.startswith(inner)]
        lines = traceback.format_list(outer[-1:])
        return [*"".join(lines).splitlines(), f"{type(self).__name__}: {self}"]

    def __str__(self) -> str:
        where = "".join(
            f"; {label} {value}"
            for label, value in (("at", self.path), ("expected", self.expected), ("in", self.method))
            if value and str(value) not in self.message
        )
        return f"{self.kind or self.code}: {self.message}{where}"
