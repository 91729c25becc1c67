"""The exceptions: all derive from `geomodel.Error`, and each kind of server error has its class."""

from __future__ import annotations

from typing import Any, Mapping

from ._errors import (
    CallTimeoutError as CallTimeoutError,
    ClosedError as ClosedError,
    EncodeError as EncodeError,
    Error as Error,
    GeoModelError as GeoModelError,
    NotificationsLostError as NotificationsLostError,
    ProtocolError as ProtocolError,
    ServerDiedError as ServerDiedError,
    ServerNotFoundError as ServerNotFoundError,
)
from ._generated.errors import *
from ._generated.errors import KIND_TO_ERROR


def misfit(what: str, error: Exception) -> Error:
    """The exception for an error in reading what the server wrote: of the package's own, that error."""
    if isinstance(error, Error):
        return error
    made = ProtocolError(f"{what} of the server does not fit: {error!r}")
    made.__cause__ = error
    return made


def error_from_wire(error: Any, method: str | None = None) -> GeoModelError:
    """The exception for a JSON-RPC error object: the subclass of its kind, if there is one."""
    if not isinstance(error, Mapping):
        return GeoModelError(f"an error that is no object: {error!r}", method=method)
    data = error.get("data")
    data = data if isinstance(data, Mapping) else ({} if data is None else {"value": data})
    kind = data.get("kind")
    make = KIND_TO_ERROR.get(kind, GeoModelError) if isinstance(kind, str) else GeoModelError
    return make(
        str(error.get("message", "")), code=error.get("code"), kind=kind if isinstance(kind, str) else None, data=data,
        method=method,
    )
