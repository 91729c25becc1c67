"""Drives a geomodel-server: maps, scenes, views, overlays and layers, from scripts, notebooks and agents.

    async with geomodel.launch() as server:
        await server.map.create(id="m1", title="World")

    with geomodel.launch_sync() as server:
        server.map.create(id="m1", title="World")
"""

from ._client import Client, Launch, Server, launch
from ._find import find_server
from ._geopandas import to_geodataframe
from ._generated import __version__, types
from ._results import decode_column, decode_columns
from ._parts import Parts, SyncParts
from ._streams import Stream
from ._subscriptions import EntitySubscription, EventSubscription, LocationSubscription, StateChange, StateSubscription, Subscription
from ._sync import SyncClient, SyncServer, launch_sync
from ._sync_streams import SyncEventSubscription, SyncStateSubscription, SyncStream, SyncSubscription
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
    "decode_column",
    "decode_columns",
    "find_server",
    "launch",
    "launch_sync",
    "to_geodataframe",
    "types",
]
