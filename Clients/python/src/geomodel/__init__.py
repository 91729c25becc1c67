"""Drives a geomodel-server: maps, scenes, views, overlays and layers, from scripts, notebooks and agents.

    async with geomodel.launch() as server:
        await server.map.create(id="m1", title="World")

    with geomodel.launch_sync() as server:
        server.map.create(id="m1", title="World")

Names are imported when they are first used: a command of the shell would wait longer for all of them than for its answer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._generated import __version__

if TYPE_CHECKING:
    from . import errors
    from ._client import Client, Server
    from ._find import find_server
    from ._generated import types
    from ._geopandas import to_geodataframe
    from ._launch import Launch, connect, launch
    from ._outline import outline
    from ._page import Preview, preview, preview_flags
    from ._parts import Parts, SyncParts
    from ._pictures import picture_bytes
    from ._streams import Stream
    from ._subscriptions import (
        EntitySubscription,
        EventSubscription,
        LocationSubscription,
        StateChange,
        StateSubscription,
        Subscription,
    )
    from ._sync import SyncClient, SyncServer, connect_sync, launch_sync
    from ._sync_streams import SyncEventSubscription, SyncStateSubscription, SyncStream, SyncSubscription
    from ._values import decode_column, decode_columns
    from .errors import (
        CallTimeoutError,
        ClosedError,
        EncodeError,
        Error,
        GeoModelError,
        NotificationsLostError,
        ProtocolError,
        ServerDiedError,
        ServerNotFoundError,
    )

# The names by the module that has them; a test compares them with those above.
_MODULES = {
    "_client": ("Client", "Server"),
    "_find": ("find_server",),
    "_geopandas": ("to_geodataframe",),
    "_launch": ("Launch", "connect", "launch"),
    "_outline": ("outline",),
    "_page": ("Preview", "preview", "preview_flags"),
    "_parts": ("Parts", "SyncParts"),
    "_pictures": ("picture_bytes",),
    "_streams": ("Stream",),
    "_subscriptions": (
        "EntitySubscription", "EventSubscription", "LocationSubscription", "StateChange", "StateSubscription", "Subscription",
    ),
    "_sync": ("SyncClient", "SyncServer", "connect_sync", "launch_sync"),
    "_sync_streams": ("SyncEventSubscription", "SyncStateSubscription", "SyncStream", "SyncSubscription"),
    "_values": ("decode_column", "decode_columns"),
    "errors": (
        "CallTimeoutError", "ClosedError", "EncodeError", "Error", "GeoModelError", "NotificationsLostError", "ProtocolError",
        "ServerDiedError", "ServerNotFoundError",
    ),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "__version__",
    "CallTimeoutError",
    "Client",
    "ClosedError",
    "EncodeError",
    "EntitySubscription",
    "Error",
    "EventSubscription",
    "GeoModelError",
    "Launch",
    "LocationSubscription",
    "NotificationsLostError",
    "Parts",
    "Preview",
    "ProtocolError",
    "Server",
    "ServerDiedError",
    "ServerNotFoundError",
    "StateChange",
    "StateSubscription",
    "Stream",
    "Subscription",
    "SyncClient",
    "SyncEventSubscription",
    "SyncParts",
    "SyncServer",
    "SyncStateSubscription",
    "SyncStream",
    "SyncSubscription",
    "connect",
    "connect_sync",
    "decode_column",
    "decode_columns",
    "errors",
    "find_server",
    "launch",
    "launch_sync",
    "outline",
    "preview",
    "preview_flags",
    "picture_bytes",
    "to_geodataframe",
    "types",
]

# Type checkers would take any name of a module that has this.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "errors":
            value = importlib.import_module(".errors", __name__)
        elif name == "types":
            value = importlib.import_module("._generated.types", __name__)
        elif name in _PLACES:
            value = getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
