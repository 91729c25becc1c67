"""The asynchronous client: calls a server, observes it."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import Any, Callable, Coroutine, Iterable, Mapping, Sequence

from . import _bulk
from ._caller import Caller
from ._connection import Connection
from ._generated import types
from ._generated.methods_async import Domains
from ._generated.methods_async import OverlayMethods as GeneratedOverlayMethods
from ._generated.methods_async import SourceMethods as GeneratedSourceMethods
from ._options import CallOptions, Progress
from ._parts import Parts
from ._streams import Stream
from ._subscriptions import (
    DEFAULT_LIMIT,
    EntitySubscription,
    EventSubscription,
    LocationSubscription,
    Opening,
    StateSubscription,
    Subscribed,
    Subscription,
)
from .errors import GeoModelError


class OverlayMethods(GeneratedOverlayMethods):
    """Methods of overlays, and `add`, which makes as many calls as a frame needs."""

    _client: Client

    async def add(self, data: Any, *, overlay: str, keep_ids: bool = True) -> _bulk.Added:
        """Adds the rows of a GeoDataFrame, or a GeoSeries, as graphics: all of them or none, in one step of history.

        Coordinates are transformed from the frame's `crs` to the overlay's spatial reference; without a `crs` a warning says
        that they are assumed to be in it. A frame is sent in parts of a few MiB, with progress (`options`).

        Args:
            data: The frame.
            overlay: The overlay.
            keep_ids: Whether an index of integers gives the ids, unless it merely counts the rows. Any other index that does
                not merely count them becomes an attribute.
        """
        return await self._client._shown("overlay.add", lambda client: _bulk.add(client, overlay, data, keep_ids))


class SourceMethods(GeneratedSourceMethods):
    """Methods of sources, and `add`, which makes as many calls as a frame needs."""

    _client: Client

    async def add(self, data: Any, *, id: str | None = None, keep_ids: bool = True) -> types.Source:
        """Opens a source over the rows of a GeoDataFrame, or a GeoSeries: all of them or none.

        Its only layer, `inline`, has the frame's `crs`; without a `crs` a warning says that degrees are assumed. A frame is sent in
        parts of a few MiB, with progress (`options`).

        Args:
            data: The frame.
            id: The new object's id; minted when absent.
            keep_ids: As for `overlay.add`.
        """
        return await self._client._shown("source.add", lambda client: _bulk.open_frame(client, id, data, keep_ids))


class Client(Caller, Domains):
    """Calls to one server. `options` returns another client for the same server, whose calls have options."""

    @cached_property
    def overlay(self) -> OverlayMethods:
        return OverlayMethods(self)

    @cached_property
    def source(self) -> SourceMethods:
        return SourceMethods(self)

    def options(
        self,
        *,
        origin: str | None = None,
        if_revision: int | None = None,
        undo: bool | None = None,
        scope: str | None = None,
        key: str | None = None,
        task: str | None = None,
        task_timeout: float | None = None,
        progress: Progress = None,
        timeout: float | None = None,
    ) -> Client:
        """The same server, with these options for its calls:

        - `origin`: names the author of every change; observers receive it.
        - `if_revision`: refuse with `contentModified` when the object has changed since.
        - `undo`: false makes no step of history, as for live positions.
        - `scope`, `key`: the object whose closing ends the task; tasks of one scope and key replace one another.
        - `task`: the task's handle for `task.cancel`; `task_timeout`: seconds after which the server ends it.
        - `progress`: is called with each report (`{"kind", "percentage"?, ...}`); an exception that it raises, the call raises.
          In notebooks, calls that take long show a bar; "bar" shows one on terminals, too, and False none.
        - `timeout`: seconds until the call is cancelled and raises `CallTimeoutError`.
        """
        changed = self._options.merged(
            origin=origin, if_revision=if_revision, undo=undo, scope=scope, key=key, task=task,
            task_timeout=task_timeout, progress=progress, timeout=timeout,
        )
        return Client(self._connection, changed)

    def parts(self, method: str, params: Mapping[str, Any] | None = None) -> Parts:
        """The result of a method in parts, as an async iterator: results of `feature/query` and `feature/queryIds` of any size.

        `async for part in server.parts("feature/query", {"layer": "l1"}): use(part["features"])`
        """
        return Parts(self, method, params)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification, which has no answer."""
        await self._connection.notify(method, params or {})

    def notifications(self, *methods: str, limit: int = DEFAULT_LIMIT) -> Stream[Any]:
        """An async iterator over the params of a method's notifications from now on.

        Several methods may be named. Without a method, it iterates over all notifications, as `{"method", "params"}`.
        """
        return self._connection.listen(methods, limit)

    def observe(
        self,
        paths: str | Iterable[str],
        *,
        except_origin: str | None = None,
        max_rate: float | None = None,
        edits: types.EditDeltas | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Opening[StateSubscription]:
        """Observes paths of the state tree: `async with server.observe(["/views/v1/viewpoint"]) as sub:`

        - `except_origin`: omits changes of this origin.
        - `max_rate`: maximum number of deltas per second.
        - `edits`: "live" (when absent) sends the changes of an edit with each command, "deferred" as one coalesced delta at its end.
        - `limit`: maximum number of unread changes that are kept; beyond it, one with `resynced` replaces them.

        With `max_rate` and with deferred edits `state` may be behind the replies.
        """
        params = _present(
            paths=[paths] if isinstance(paths, str) else paths,
            exceptOrigin=except_origin,
            maxRate=max_rate,
            edits=edits,
        )
        return Opening(self, "state/observe", params, lambda: StateSubscription(self, limit))

    def observe_viewpoint(
        self,
        view: str,
        *,
        kinds: Sequence[str] | None = None,
        except_origin: str | None = None,
        max_rate: float | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Opening[Subscription]:
        """Observes a view's viewpoint by `view/viewpointChanged`."""
        params = _present(view=view, kinds=kinds, exceptOrigin=except_origin, maxRate=max_rate)
        return Opening(self, "view/observeViewpoint", params, lambda: Subscription(self, limit))

    def observe_taps(
        self, view: str, *, spatial_reference: str | None = None, limit: int = DEFAULT_LIMIT
    ) -> Opening[Subscription]:
        """Observes the taps on a view by `view/tapped`: `async for tap in taps`, each with its `location`."""
        params = _present(view=view, spatialReference=spatial_reference)
        return Opening(self, "view/observeTaps", params, lambda: Subscription(self, limit))

    def observe_location(
        self,
        location_source: str,
        *,
        max_rate: float | None = None,
        delivery: types.LocationDelivery | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Opening[Subscription]:
        """Observes a source; each item's `method` is `location/changed`, `location/headingChanged` or `location/statusChanged`."""
        params = _present(locationSource=location_source, maxRate=max_rate, delivery=delivery)
        return Opening(self, "location/observe", params, lambda: Subscription(self, limit))

    def observe_geotrigger(self, geotrigger: str, *, limit: int = DEFAULT_LIMIT) -> Opening[EventSubscription]:
        """Observes a monitor: `async with server.observe_geotrigger("w") as events: async for event in events: ...`"""
        return Opening(self, "geotrigger/observe", {"geotrigger": geotrigger}, lambda: EventSubscription(self, limit))

    def locations(
        self, location_source: str, *, delivery: types.LocationDelivery = "newest", limit: int = DEFAULT_LIMIT
    ) -> Opening[LocationSubscription]:
        """The locations of a source: `async with server.locations("gps") as locations: async for location in locations: ...`

        With "newest" a location that has not been read gives way to the next one, with "every" each is kept.
        """
        params = _present(locationSource=location_source, delivery=delivery)
        return Opening(self, "location/observe", params, lambda: LocationSubscription(self, limit, delivery == "newest"))

    def observe_entities(
        self,
        entity_source: str,
        *,
        notices: types.EntityNotices | None = None,
        envelope: types.Envelope | None = None,
        max_rate: float | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Opening[EntitySubscription]:
        """Observes an entity source; each item's `method` is `entity/received`, `entity/purged` or `entity/statusChanged`.

        `async for observation in sub.observations()` iterates over the observations alone: with `notices="newest"` (when absent) the
        newest of each entity, with `"every"` each.
        """
        params = _present(entitySource=entity_source, notices=notices, envelope=envelope, maxRate=max_rate)
        return Opening(self, "entity/observe", params, lambda: EntitySubscription(self, limit))


class Server(Client):
    """A server process of this client's own, started and initialized; ends with `close` or with the `async with` block.

    Of a server that was connected to (`connect`), the session alone; it has no process here (`pid` is 0).
    """

    def __init__(
        self, connection: Connection, initialized: Mapping[str, Any], greet: Callable[[], Coroutine[Any, Any, Mapping[str, Any]]]
    ) -> None:
        super().__init__(connection, CallOptions())
        self.initialized = initialized
        self._greet = greet
        self._reattaching = asyncio.Lock()

    @property
    def client_id(self) -> str:
        """The id by which changes and `client.list` name this client."""
        return str(self.initialized["client"])

    async def reattach(self) -> list[Any]:
        """Starts or attaches to the server again after it was lost (`ServerDiedError`), as it was started first.

        Open subscriptions are made anew: their iterators go on, those of state with `resynced`. Those whose object the new server
        does not have stay ended, and are returned. The model is that of the server that is there now: an unsaved one may be
        opened with `document.recover`. If this raises `ServerDiedError` the server is still lost, and it may be tried again.
        """
        connection = self._connection
        async with self._reattaching:
            await connection.restart()
            try:
                self.initialized = await self._greet()
            except BaseException:
                await connection.lose()
                raise
            lost, gone = connection.take_lost(), []
            try:
                while lost:
                    try:
                        if isinstance(lost[0], Subscribed):
                            await lost[0].renew()
                    except GeoModelError:
                        gone.append(lost[0])
                    del lost[0]
            finally:
                connection.give_back_lost(lost)
            return gone

    @property
    def server_info(self) -> dict[str, Any]:
        """The server's name and version."""
        return dict(self.initialized["serverInfo"])

    @property
    def protocol_version(self) -> str:
        return str(self.initialized["protocolVersion"])

    @property
    def capabilities(self) -> dict[str, Any]:
        """The domains it has and the largest messages it accepts."""
        return dict(self.initialized["capabilities"])

    @property
    def pid(self) -> int:
        return self._connection.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status of the process; None while it runs."""
        return self._connection.exit_status

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote to standard error."""
        return self._connection.stderr_tail

    async def close(self) -> None:
        """Shuts the server down: `shutdown`, `exit`, and after the grace period a kill. A second call does nothing."""
        await self._connection.close()


def _present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
