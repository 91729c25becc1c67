"""The blocking client: the asynchronous one on a thread of its own, so that it works inside a running loop as well."""

from __future__ import annotations

import atexit
import os
import queue
import weakref
from functools import cached_property
from typing import Any, Callable, Coroutine, Iterable, Mapping, Sequence, TypeVar

from ._bulk import Added
from ._client import Client, Server, launch
from ._framing import Framing
from ._generated import types
from ._generated.methods_sync import Domains
from ._generated.methods_sync import OverlayMethods as GeneratedOverlayMethods
from ._generated.methods_sync import SourceMethods as GeneratedSourceMethods
from ._parts import SyncParts
from ._portal import Portal, Reports, do
from ._subscriptions import DEFAULT_LIMIT
from ._sync_streams import SyncStateSubscription, SyncStream, SyncSubscription

T = TypeVar("T")


class SyncOverlayMethods(GeneratedOverlayMethods):
    """Methods of overlays, and `add`, which makes as many calls as a frame needs."""

    _client: SyncClient

    def add(self, data: Any, *, overlay: str, keep_ids: bool = True) -> Added:
        """Adds the rows of a GeoDataFrame, or a GeoSeries, as graphics; see `Client.overlay.add`."""
        return self._client._run(lambda client: client.overlay.add(data, overlay=overlay, keep_ids=keep_ids))


class SyncSourceMethods(GeneratedSourceMethods):
    """Methods of sources, and `add`, which makes as many calls as a frame needs."""

    _client: SyncClient

    def add(self, data: Any, *, id: str | None = None, keep_ids: bool = True) -> types.Source:
        """Opens a source over the rows of a GeoDataFrame, or a GeoSeries; see `Client.source.add`."""
        return self._client._run(lambda client: client.source.add(data, id=id, keep_ids=keep_ids))


class SyncClient(Domains):
    """Calls that block; see `Client`."""

    def __init__(self, portal: Portal, client: Client) -> None:
        self._portal = portal
        self._async = client
        self._progress: Callable[[dict[str, Any]], object] | None = None

    @cached_property
    def overlay(self) -> SyncOverlayMethods:
        return SyncOverlayMethods(self)

    @cached_property
    def source(self) -> SyncSourceMethods:
        return SyncSourceMethods(self)

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
        progress: Callable[[dict[str, Any]], object] | None = None,
        timeout: float | None = None,
    ) -> SyncClient:
        """The same server, with calls that carry these besides; see `Client.options`.

        `progress` is called on the thread that waits for the call, and may call the server itself.
        """
        made = SyncClient(
            self._portal,
            self._async.options(
                origin=origin, if_revision=if_revision, undo=undo, scope=scope, key=key, task=task,
                task_timeout=task_timeout, timeout=timeout,
            ),
        )
        made._progress = progress or self._progress
        return made

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The result of any method by its name on the wire. Control-C cancels the request."""
        return self._run(lambda client: client.call(method, params))

    def _run(self, action: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """What an action of the asynchronous client comes to, with its progress on this thread.

        An action that is interrupted has ended, and taken back what it has to, when this raises.
        """
        if self._progress is None:
            return self._portal.run(action(self._async))
        reports: Reports = queue.SimpleQueue()
        return self._portal.run(action(self._async.options(progress=reports.put)), reports, self._progress)

    def parts(self, method: str, params: Mapping[str, Any] | None = None) -> SyncParts:
        """The result of a method in parts, as an iterator; see `Client.parts`."""
        return SyncParts(self._portal.run, self._async.parts(method, params))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification: nothing comes back."""
        self._portal.run(self._async.notify(method, params))

    def notifications(self, *methods: str, limit: int = DEFAULT_LIMIT) -> SyncStream[Any]:
        """An iterator over the params of a method's notifications from now on; see `Client.notifications`."""
        return SyncStream(self._portal, self._portal.run(do(lambda: self._async.notifications(*methods, limit=limit))))

    def observe(
        self,
        paths: str | Iterable[str],
        *,
        except_origin: str | None = None,
        max_rate: float | None = None,
        edits: types.EditDeltas | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> SyncStateSubscription:
        """Follows paths of the state tree: `with server.observe(["/views/v1/viewpoint"]) as sub:`; see `Client.observe`."""
        opening = self._async.observe(
            paths, except_origin=except_origin, max_rate=max_rate, edits=edits, limit=limit
        )
        return SyncStateSubscription(self._portal, self._portal.run(_opened(opening)))

    def observe_viewpoint(
        self,
        view: str,
        *,
        kinds: Sequence[str] | None = None,
        except_origin: str | None = None,
        max_rate: float | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> SyncSubscription:
        """Observes a view's viewpoint by `view/viewpointChanged`."""
        opening = self._async.observe_viewpoint(
            view, kinds=kinds, except_origin=except_origin, max_rate=max_rate, limit=limit
        )
        return SyncSubscription(self._portal, self._portal.run(_opened(opening)))

    def observe_location(
        self, location_source: str, *, max_rate: float | None = None, limit: int = DEFAULT_LIMIT
    ) -> SyncSubscription:
        """Observes a location source; each item's `method` is `location/changed` or `location/statusChanged`."""
        opening = self._async.observe_location(location_source, max_rate=max_rate, limit=limit)
        return SyncSubscription(self._portal, self._portal.run(_opened(opening)))


class SyncServer(SyncClient):
    """A server process of one's own; ends with `close`, with the `with` block, or with the interpreter."""

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
        """The domains it has and the largest messages it takes."""
        return self._async.capabilities

    @property
    def pid(self) -> int:
        return self._async.pid

    @property
    def exit_status(self) -> int | None:
        """What the process ended with; None while it runs."""
        return self._async.exit_status

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote to standard error."""
        return self._async.stderr_tail

    def close(self) -> None:
        """Shuts the server down. Twice is harmless."""
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


def launch_sync(
    server: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    allow_dir: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    trace_file: str | os.PathLike[str] | None = None,
    args: Iterable[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    root_path: str | os.PathLike[str] | None = None,
    framing: Framing = "headers",
    client_name: str = "geomodel-python",
    start_timeout: float = 30.0,
    grace: float = 5.0,
) -> SyncServer:
    """Starts a server of one's own: `with geomodel.launch_sync() as server:`; see `launch` for the options.

    Works inside a running event loop, as in Jupyter, where `server = geomodel.launch_sync()` lasts until `server.close()`.
    """
    starting = launch(
        server, allow_dir=allow_dir, trace_file=trace_file, args=args, cwd=cwd, env=env, root_path=root_path,
        framing=framing, client_name=client_name, start_timeout=start_timeout, grace=grace,
    )
    portal = Portal()
    try:
        return SyncServer(portal, portal.run(_opened(starting)))
    except BaseException:
        portal.stop()
        raise


_open_servers: weakref.WeakSet[SyncServer] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for server in list(_open_servers):
        server.close()


async def _opened(opening: Any) -> Any:
    return await opening
