"""The asynchronous client: launches a server, calls it, observes it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from functools import cached_property
from typing import Any, Callable, Coroutine, Generator, Iterable, Mapping, Sequence

from . import _bulk, _start, _wire
from ._caller import Caller
from ._connection import Connection
from ._find import find_server
from ._framing import Framing
from ._generated import types
from ._generated.methods_async import Domains
from ._generated.methods_async import OverlayMethods as GeneratedOverlayMethods
from ._generated.methods_async import SourceMethods as GeneratedSourceMethods
from ._options import CallOptions, Progress
from ._parts import Parts
from ._process import ServerProcess
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
from ._web import WebSocket
from .errors import ClosedError, GeoModelError, ServerDiedError


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


class Launch:
    """A server that is not started yet: `await` starts it, `async with` also ends it."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Server]]) -> None:
        self._start = start
        self._server: Server | None = None

    def __await__(self) -> Generator[Any, None, Server]:
        return self._start().__await__()

    async def __aenter__(self) -> Server:
        self._server = await self._start()
        return self._server

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await self._server.close()


def launch(
    server: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    allow_dir: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    allow_write: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    trace_file: str | os.PathLike[str] | None = None,
    attach: str | None = None,
    read_only: bool = False,
    args: Iterable[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    root_path: str | os.PathLike[str] | None = None,
    framing: Framing = "headers",
    client_name: str = "geomodel-python",
    start_timeout: float = 30.0,
    grace: float = 5.0,
) -> Launch:
    """Starts a server for this client: `async with geomodel.launch() as server:`

    With `attach="name"` this is one of several clients of the server of that name, which is started if there is none; `close` then
    ends this client alone. `read_only`: this client does not change the model.

    - `server`: an executable, or a command as a list; else GEOMODEL_SERVER, the one of a wheel, PATH, the checkout's build, in this order.
    - `allow_dir`: the server opens only files in these folders. `allow_write`: it writes only files in these, and
      `allow_dir` is then about reading alone. `trace_file`: the file to which it writes its traffic.
    - `args`: more arguments for it. `cwd`: its working directory. `env`: variables besides those of this process.
    - `root_path`: the folder of relative paths; its working directory when absent.
    - `framing`: "headers" (as LSP has it) or "lines" (one message per line).
    - `start_timeout`, `grace`: seconds to wait for it to start, and to end.
    """
    with _wire.encoding("launch"):
        flags = _start.flags(allow_dir, allow_write, trace_file, args)
        if attach is not None:
            flags += [f"--attach={attach}"]
        params = _start.greeting(client_name, root_path)
        if read_only:
            params["readOnly"] = True
        if framing == "headers":
            params["attachments"] = True

    def connection() -> Connection:
        with _wire.encoding("launch"):
            command = [*find_server(server), *flags]
        return Connection(lambda: ServerProcess(command, cwd, env, framing), grace)

    return Launch(lambda: _start_session(connection, params, start_timeout))


def connect(
    url: str,
    *,
    read_only: bool = False,
    root_path: str | os.PathLike[str] | None = None,
    client_name: str = "geomodel-python",
    start_timeout: float = 30.0,
    grace: float = 5.0,
) -> Launch:
    """Becomes a client of a server that listens for web sockets: `async with geomodel.connect(url) as server:`

    - `url`: the address with its token, `ws://127.0.0.1:PORT/?token=...`, as `geomodel-server --list` shows it.
    - `read_only`: this client does not change the model.
    - `root_path`: the folder of relative paths; that of the server when absent.
    - `start_timeout`, `grace`: seconds to wait for its answer, and for the end. `close` ends this client alone.
    """
    with _wire.encoding("connect"):
        params = _start.greeting(client_name, root_path)
        del params["processId"]
        if read_only:
            params["readOnly"] = True
    WebSocket(url)
    return Launch(lambda: _start_session(lambda: Connection(lambda: WebSocket(url), grace), params, start_timeout))


async def _start_session(make: Callable[[], Connection], params: Mapping[str, Any], start_timeout: float) -> Server:
    connection = make()
    try:
        await asyncio.wait_for(connection.start(), start_timeout)
    except (asyncio.TimeoutError, TimeoutError) as error:
        raise ServerDiedError(f"the server did not answer within {start_timeout} s", None, "") from error

    async def greet() -> Mapping[str, Any]:
        try:
            result = _start.check(await asyncio.wait_for(connection.request("initialize", params), start_timeout))
            connection.adapt(result.get("capabilities"), "attachments" in params)
            await connection.notify("initialized", {})
            return result
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise ServerDiedError(
                f"the server did not answer initialize within {start_timeout} s", None, connection.stderr_tail
            ) from error

    try:
        return Server(connection, await greet(), greet)
    except BaseException:
        connection.kill()
        with contextlib.suppress(ClosedError):
            await connection.close()
        raise


def _present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
