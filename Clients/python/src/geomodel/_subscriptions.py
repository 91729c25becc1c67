"""Subscriptions: the state tree with its replica, a view's viewpoint, a source's locations, a monitor's events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, AsyncIterator, Callable, Generator, Generic, Mapping, TypeVar

from ._caller import Caller
from ._replica import Replica
from ._streams import Stream
from .errors import ClosedError, ProtocolError, misfit

DEFAULT_LIMIT = 10_000

T = TypeVar("T")
S = TypeVar("S", bound="Subscribed[Any]")


@dataclass(frozen=True)
class StateChange:
    """What changed between two revisions.

    `resynced` says that deltas were dropped, by the server, or by the client because they were not read: `changes` is then empty,
    and the subscription's `state` has their result.
    """

    base: int
    revision: int
    origins: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    resynced: bool = False


class Subscribed(Stream[T]):
    """Notifications of one handle, from its reply on; an async iterator. `first` is from the reply.

    It ends when the observed object is closed; `reason` then says why: `{"reason": "closed", "object": "v1", ...}`.
    """

    def __init__(self, client: Caller, limit: int) -> None:
        super().__init__(limit)
        self._client = client
        self.handle = ""
        self.first: dict[str, Any] = {}
        self.reason: dict[str, Any] | None = None
        # What it was opened with.
        self._asked: tuple[str, Mapping[str, Any]] = ("", {})

    async def close(self) -> None:  # type: ignore[override]
        """Ends it here and on the server. A second call does nothing."""
        if self.handle and not self._ended:
            self._detach()
            try:
                await self._client.call("state/unobserve", {"subscription": self.handle})
            except (ClosedError, ConnectionError):
                pass  # It ended with the session.
        self._detach()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def receive(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "state/ended":
            # The server has forgotten the handle; items that arrived before can still be read.
            self._client._connection.unsubscribe(self.handle)
            self.reason = dict(params)
            self.end(None)
            return
        try:
            self._received(method, params)
        except Exception as error:
            self.end(misfit(method, error))

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        """Takes a notification. What this raises ends the subscription."""
        raise NotImplementedError

    def end(self, failure: BaseException | None) -> None:
        self._end(failure)

    def _detach(self) -> None:
        self._client._connection.unsubscribe(self.handle)
        super().close()

    def _opened(self, result: Any) -> None:
        handle = result["subscription"]
        if not isinstance(handle, str):
            raise ProtocolError(f"the server made a subscription without a handle: {handle!r:.200}")
        self.first, self.handle = result, handle
        self._client._connection.subscribe(self.handle, self)

    async def _ready(self) -> None:
        """Waits until the subscription can be used."""

    async def renew(self) -> None:
        """Makes it anew on a server that was attached to again."""
        method, params = self._asked
        self._reopen()
        try:
            await self._client._request(method, params, on_result=self._opened)
        except BaseException as error:
            self._end(error)
            raise


class Subscription(Subscribed[dict[str, Any]]):
    """Observes a view or a location source; each item has a notification's params and, as `method`, its method."""

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        self._push({"method": method, **params})


class EventSubscription(Subscribed[dict[str, Any]]):
    """Observes a geotrigger; each item is one event. `status` and `warnings` are the monitor's.

    Reading raises `NotificationsLostError` once for events that the server left out because they were not read.
    """

    status: dict[str, Any] = {}
    warnings: list[str] = []

    def _opened(self, result: Any) -> None:
        super()._opened(result)
        self.status = result["status"]

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "geotrigger/statusChanged":
            self.status, self.warnings = params["status"], params["warnings"]
            return
        self._lost += params.get("missed", 0)
        for event in params["events"]:
            self._push(event)


class LocationSubscription(Subscribed[dict[str, Any]]):
    """The locations of a source: every one, or the newest that has not been read."""

    def __init__(self, client: Caller, limit: int, newest: bool) -> None:
        super().__init__(client, limit)
        self._newest = newest

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "location/changed":
            if self._newest:
                self._items.clear()
            self._push(params["location"])


class EntitySubscription(Subscription):
    """Observes an entity source."""

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "entity/received":
            params = {**params, "omitted": int(params["omitted"]), "observations": list(params["observations"])}
        super()._received(method, params)

    async def observations(self) -> AsyncIterator[dict[str, Any]]:
        """The observations received, one by one; other notifications are skipped. `left_out` counts those that were not sent."""
        async for item in self:
            if item["method"] == "entity/received":
                self.left_out += item["omitted"]
                for observation in item["observations"]:
                    yield observation

    left_out = 0


class StateSubscription(Subscribed[StateChange]):
    """Observes paths of the state tree; iterating gives `StateChange`s.

    `state` is a tree with only the observed paths. It is brought up to date when deltas arrive, not when they are read: when
    a command has returned, its changes are in it.
    """

    def __init__(self, client: Caller, limit: int) -> None:
        super().__init__(client, limit)
        self._replica = Replica()
        self._complete = asyncio.Event()
        self._revision = 0
        self._parts: list[dict[str, Any]] = []
        self._resyncing = False
        self.snapshot: list[dict[str, Any]] = []

    @property
    def state(self) -> Any:
        """The observed values as a tree: `sub.state["views"]["v1"]["viewpoint"]`. It must not be changed."""
        return self._replica.root

    @property
    def revision(self) -> int:
        """The revision that `state` is of."""
        return self._revision

    def at(self, path: str, default: Any = None) -> Any:
        """The value at a JSON Pointer; `default` when there is none."""
        return self._replica.get(path, default)

    def _received(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "state/changed":
            self._changed(params)
        elif method == "state/resynced":
            self._resyncing = True
            self._replica.clear()
            self._parts = []
            self._snapshot_came(params["revision"], params.get("snapshot"))
        elif method == "state/snapshotPart":
            self._replica.place(params["values"])
            if params["isLast"]:
                self._snapshot_complete(params["revision"])

    def end(self, failure: BaseException | None) -> None:
        super().end(failure)
        self._complete.set()

    def _opened(self, result: Any) -> None:
        super()._opened(result)
        self._snapshot_came(result["revision"], result.get("snapshot"))

    def _reopen(self) -> None:
        # What follows is the state of another server.
        super()._reopen()
        self._resyncing = True
        self._replica.clear()
        self._parts = []

    async def _ready(self) -> None:
        await self._complete.wait()
        if self._failure is not None:
            raise self._failure

    def _snapshot_came(self, revision: int, snapshot: list[dict[str, Any]] | None) -> None:
        self._revision = revision
        if snapshot is not None:
            self._replica.place(snapshot)
            if not self._resyncing:
                self.snapshot = snapshot
            self._snapshot_complete(revision)

    def _snapshot_complete(self, revision: int) -> None:
        self._revision = revision
        self._complete.set()
        if self._resyncing:
            self._resyncing = False
            self._push(StateChange(base=revision, revision=revision, resynced=True))

    def _changed(self, params: Mapping[str, Any]) -> None:
        if params["base"] != self._revision:
            raise ProtocolError(f"a delta from revision {params['base']} came after revision {self._revision}")
        self._parts += params["changes"]
        if params.get("isLast") is False:
            return
        changes, self._parts = self._parts, []
        self._replica.apply(changes)
        self._revision = params["revision"]
        self._push(StateChange(params["base"], params["revision"], params.get("origins") or [], changes))

    def _push(self, item: StateChange) -> None:
        if len(self._items) >= self._limit:
            # The replica is complete, so one item that says that deltas were dropped is enough, as for a resync by the server.
            self._items.clear()
            item = StateChange(base=self._revision, revision=self._revision, resynced=True)
        super()._push(item)


class Opening(Generic[S]):
    """A subscription that is not made yet: `await` makes it, `async with` also ends it."""

    def __init__(self, client: Caller, method: str, params: Mapping[str, Any], make: Callable[[], S]) -> None:
        self._client, self._method, self._params, self._make = client, method, params, make
        self._made: S | None = None

    def __await__(self) -> Generator[Any, None, S]:
        return self._open().__await__()

    async def __aenter__(self) -> S:
        self._made = await self._open()
        return self._made

    async def __aexit__(self, *_: object) -> None:
        assert self._made is not None
        await self._made.close()

    async def _open(self) -> S:
        subscription, client = self._make(), self._client
        subscription._asked = self._method, self._params
        try:
            await client._request(
                self._method, self._params, on_result=subscription._opened, on_orphan=client._give_back_subscription
            )
            await subscription._ready()
        except BaseException:
            if subscription.handle:
                subscription._detach()
                client._give_back_subscription({"subscription": subscription.handle})
            raise
        return subscription
