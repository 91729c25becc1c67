"""The blocking client: the asynchronous one on its own thread, so that it works inside a running loop as well."""

from __future__ import annotations

import atexit
import inspect
import queue
import weakref
from functools import cached_property
from typing import Any, Callable, Concatenate, Coroutine, Mapping, ParamSpec, TypeVar

from ._bars import showing
from ._bulk import Added
from ._client import Client, Server
from ._generated import types
from ._generated.methods_sync import Domains
from ._generated.methods_sync import OverlayMethods as GeneratedOverlayMethods
from ._generated.methods_sync import SourceMethods as GeneratedSourceMethods
from ._launch import Launch, connect, launch
from ._notebook import bar_for, ticking
from ._options import Progress
from ._parts import SyncParts
from ._pictures import PATIENCE, drawing
from ._portal import Portal, Reports, do
from ._results import Result
from ._subscriptions import DEFAULT_LIMIT, Opening
from ._sync_streams import SyncEventSubscription, SyncStateSubscription, SyncStream, SyncSubscribed, SyncSubscription

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound=SyncSubscribed[Any])


def _twin(made: Callable[P, T], original: Callable[..., Any], name: str, result: str, *more: str) -> Callable[P, T]:
    """The blocking twin of a function, with its signature and its documentation."""
    doc = inspect.cleandoc(original.__doc__ or "").replace("async with ", "with ").replace("launch(", "launch_sync(")
    doc = doc.replace("connect(", "connect_sync(")
    made.__name__, made.__qualname__ = name.rpartition(".")[2], name
    made.__doc__ = "\n\n".join((doc, *more))
    setattr(made, "__signature__", inspect.signature(original).replace(return_annotation=result))
    return made


def _optioned(options: Callable[Concatenate[Client, P], Client]) -> Callable[Concatenate[SyncClient, P], SyncClient]:
    def twin(self: SyncClient, /, *args: P.args, **keywords: P.kwargs) -> SyncClient:
        progress: Any = keywords.pop("progress", None)
        made = SyncClient(self._portal, options(self._async, *args, **keywords))
        made._progress = self._progress if progress is None else progress
        return made

    said = "`progress` is called on the thread that waits for the call, and may call the server itself."
    return _twin(twin, options, "SyncClient.options", "SyncClient", said)


def _followed(
    observe: Callable[Concatenate[Client, P], Opening[Any]], following: Callable[[Portal, Any], S]
) -> Callable[Concatenate[SyncClient, P], S]:
    def twin(self: SyncClient, /, *args: P.args, **keywords: P.kwargs) -> S:
        opening = observe(self._async, *args, **keywords)
        return following(self._portal, self._portal.run(_opened(opening)))

    return _twin(twin, observe, f"Sync{observe.__qualname__}", following.__name__)


def _launched(launch: Callable[P, Launch]) -> Callable[P, SyncServer]:
    def twin(*args: P.args, **keywords: P.kwargs) -> SyncServer:
        starting = launch(*args, **keywords)
        portal = Portal()
        try:
            return SyncServer(portal, portal.run(_opened(starting)))
        except BaseException:
            portal.stop()
            raise

    name = f"{launch.__name__}_sync"
    said = f"Works inside a running event loop, as in Jupyter: `server = geomodel.{name}(...)` lasts until `server.close()`."
    return _twin(twin, launch, name, "SyncServer", said)


class SyncOverlayMethods(GeneratedOverlayMethods):
    """Methods of overlays, and `add`, which makes as many calls as a frame needs."""

    _client: SyncClient

    def add(self, data: Any, *, overlay: str, keep_ids: bool = True) -> Added:
        """Adds the rows of a GeoDataFrame, or a GeoSeries, as graphics; see `Client.overlay.add`."""
        return self._client._run("overlay.add", lambda client: client.overlay.add(data, overlay=overlay, keep_ids=keep_ids))


class SyncSourceMethods(GeneratedSourceMethods):
    """Methods of sources, and `add`, which makes as many calls as a frame needs."""

    _client: SyncClient

    def add(self, data: Any, *, id: str | None = None, keep_ids: bool = True) -> types.Source:
        """Opens a source over the rows of a GeoDataFrame, or a GeoSeries; see `Client.source.add`."""
        return self._client._run("source.add", lambda client: client.source.add(data, id=id, keep_ids=keep_ids))


class SyncClient(Domains):
    """Calls that block; see `Client`."""

    def __init__(self, portal: Portal, client: Client) -> None:
        self._portal = portal
        self._async = client
        self._progress: Progress = None

    @cached_property
    def overlay(self) -> SyncOverlayMethods:
        return SyncOverlayMethods(self)

    @cached_property
    def source(self) -> SyncSourceMethods:
        return SyncSourceMethods(self)

    @cached_property
    def _silent(self) -> Client:
        # A bar of the asynchronous client would be shown from the wrong thread.
        return self._async.options(progress=False)

    options = _optioned(Client.options)

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The result of any method by its name on the wire. Control-C cancels the request."""
        result = self._run(method, lambda client: client.call(method, params))
        if isinstance(result, Result):
            result._draw = drawing(lambda *asked: self.options(progress=False, timeout=PATIENCE).call(*asked), method, params or {}, result)
        return result

    def _run(self, title: str, action: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """The result of an action of the asynchronous client, with its progress on this thread.

        When this raises, an interrupted action has ended and has undone what it has to.
        """
        progress, bar = self._progress, bar_for(self._progress, title)
        reports: Reports = queue.SimpleQueue()
        if bar is not None:
            client = self._async.options(progress=reports.put)
            with showing(bar):
                return self._portal.run(ticking(lambda: action(client), lambda: reports.put(None)), reports, bar)
        if callable(progress):
            return self._portal.run(action(self._async.options(progress=reports.put)), reports, progress)
        return self._portal.run(action(self._silent))

    def parts(self, method: str, params: Mapping[str, Any] | None = None) -> SyncParts:
        """The result of a method in parts, as an iterator; see `Client.parts`."""
        return SyncParts(self._portal.run, self._async.parts(method, params))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification, which has no answer."""
        self._portal.run(self._async.notify(method, params))

    def notifications(self, *methods: str, limit: int = DEFAULT_LIMIT) -> SyncStream[Any]:
        """An iterator over the params of a method's notifications from now on; see `Client.notifications`."""
        return SyncStream(self._portal, self._portal.run(do(lambda: self._async.notifications(*methods, limit=limit))))

    observe = _followed(Client.observe, SyncStateSubscription)
    observe_viewpoint = _followed(Client.observe_viewpoint, SyncSubscription)
    observe_taps = _followed(Client.observe_taps, SyncSubscription)
    observe_location = _followed(Client.observe_location, SyncSubscription)
    observe_geotrigger = _followed(Client.observe_geotrigger, SyncEventSubscription)
    locations = _followed(Client.locations, SyncSubscription)
    observe_entities = _followed(Client.observe_entities, SyncSubscription)


class SyncServer(SyncClient):
    """A server process of this client's own; ends with `close`, with the `with` block, or with the interpreter."""

    _async: Server

    def __init__(self, portal: Portal, server: Server) -> None:
        super().__init__(portal, server)
        self._closed = False
        _open_servers.add(self)

    @property
    def server_info(self) -> dict[str, Any]:
        """The server's name and version."""
        return self._async.server_info

    @property
    def protocol_version(self) -> str:
        return self._async.protocol_version

    @property
    def capabilities(self) -> dict[str, Any]:
        """The domains it has and the largest messages it accepts."""
        return self._async.capabilities

    @property
    def pid(self) -> int:
        return self._async.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status of the process; None while it runs."""
        return self._async.exit_status

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote to standard error."""
        return self._async.stderr_tail

    @property
    def client_id(self) -> str:
        """The id by which changes and `client.list` name this client."""
        return self._async.client_id

    def reattach(self) -> list[Any]:
        """Starts or attaches to the server again after it was lost; see `Server.reattach`."""
        return self._portal.run(self._async.reattach())

    def close(self) -> None:
        """Shuts the server down. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self._portal.run(self._async.close())
        finally:
            self._portal.stop()

    def __enter__(self) -> SyncServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


launch_sync = _launched(launch)
connect_sync = _launched(connect)

_open_servers: weakref.WeakSet[SyncServer] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for server in list(_open_servers):
        server.close()


async def _opened(opening: Any) -> Any:
    return await opening
