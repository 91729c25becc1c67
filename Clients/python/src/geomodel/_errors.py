"""The exceptions: whatever goes wrong is a `geomodel.Error`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    # One exception an error kind: for type checkers here, at run time by `__getattr__` below, since they derive from ours.
    from ._generated.errors import *


class Error(Exception):
    """The root of everything that this package raises."""


class ServerNotFoundError(Error):
    """No server executable was found; the message lists where it was looked for."""


class ServerDiedError(Error, ConnectionError):
    """The server process ended while it was still wanted.

    `exit_status` is what the process ended with (negative: by that signal; None: not known), `stderr` the last lines
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
    """The client was closed before or during this."""


class ProtocolError(Error):
    """The server sent what the protocol does not allow."""


class EncodeError(Error, ValueError):
    """A value cannot be put into a message, and nothing was sent: a type that does not fit there, NaN outside a column,
    infinity, a lone surrogate, an integer beyond 64 bits, a name with NUL, too deep or too much for the server.
    """


class CallTimeoutError(Error, TimeoutError):
    """The client's own patience ran out; a request that was waited for has been cancelled."""


class NotificationsLostError(Error):
    """Notifications came faster than they were read, and `count` of the oldest were let go.

    Reading on gives what is still there.
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

    def __str__(self) -> str:
        where = "".join(
            f"; {label} {value}"
            for label, value in (("at", self.path), ("expected", self.expected), ("in", self.method))
            if value and str(value) not in self.message
        )
        return f"{self.kind or self.code}: {self.message}{where}"


def error_from_wire(error: Any, method: str | None = None) -> GeoModelError:
    """The exception for a JSON-RPC error object: the subclass of its kind, where there is one."""
    if not isinstance(error, Mapping):
        return GeoModelError(f"an error that is no object: {error!r}", method=method)
    data = error.get("data")
    data = data if isinstance(data, Mapping) else ({} if data is None else {"value": data})
    kind = data.get("kind")
    make = _kinds().get(kind, GeoModelError) if isinstance(kind, str) else GeoModelError
    return make(
        str(error.get("message", "")), code=error.get("code"), kind=kind if isinstance(kind, str) else None, data=data,
        method=method,
    )


def _kinds() -> Mapping[str, type[GeoModelError]]:
    # Late, since the generated classes derive from the one above.
    from ._generated.errors import KIND_TO_ERROR

    return KIND_TO_ERROR


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The generated exceptions, one an error kind, can be had from here as well."""
        if name.startswith("_"):
            raise AttributeError(name)
        from ._generated import errors as generated

        return getattr(generated, name)
