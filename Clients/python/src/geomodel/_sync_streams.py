"""Blocking iterators over notifications and the deltas of subscriptions."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Generic, TypeVar

from ._portal import Portal, do
from ._replica import copied
from ._streams import Stream
from ._subscriptions import EventSubscription, StateChange, StateSubscription, Subscribed
from .errors import ClosedError

T = TypeVar("T")
Self = TypeVar("Self", bound="SyncStream[Any]")


class SyncStream(Generic[T]):
    """A blocking iterator over arriving items; see `Stream`."""

    def __init__(self, portal: Portal, stream: Stream[T]) -> None:
        self._portal, self._stream = portal, stream

    def get(self, timeout: float | None = None) -> T:
        """The next item; waits for it, at most `timeout` seconds. Raises `StopIteration` at the end."""
        # A coroutine must not raise StopIteration, and a future does not carry StopAsyncIteration through.
        found = self._portal.read(_next(self._stream, timeout))
        if not found:
            raise StopIteration
        return found[0]

    def take_all(self) -> list[T]:
        """All unread items that have arrived, without waiting."""
        return self._portal.read(do(self._stream.take_all))

    def close(self) -> None:
        """Ends the iterator: nothing more is kept."""
        with contextlib.suppress(ClosedError):
            self._portal.run(do(self._stream.close))

    def __iter__(self) -> SyncStream[T]:
        return self

    def __next__(self) -> T:
        return self.get()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SyncSubscribed(SyncStream[T]):
    """Notifications of one handle; `first` is from the reply."""

    _stream: Subscribed[T]

    @property
    def handle(self) -> str:
        return self._stream.handle

    @property
    def reason(self) -> dict[str, Any] | None:
        """Why the server ended it; None if it did not."""
        return self._stream.reason

    @property
    def first(self) -> dict[str, Any]:
        return self._stream.first

    def close(self) -> None:
        """Ends it here and on the server. A second call does nothing."""
        with contextlib.suppress(ClosedError):
            self._portal.run(self._stream.close())


class SyncSubscription(SyncSubscribed[dict[str, Any]]):
    """Observes a view or a location source; see `Subscription`."""


class SyncEventSubscription(SyncSubscribed[dict[str, Any]]):
    """Observes a geotrigger; see `EventSubscription`."""

    _stream: EventSubscription  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def status(self) -> dict[str, Any]:
        return self._stream.status

    @property
    def warnings(self) -> list[str]:
        return self._stream.warnings


class SyncStateSubscription(SyncSubscribed[StateChange]):
    """Observes paths of the state tree; see `StateSubscription`."""

    _stream: StateSubscription  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def snapshot(self) -> list[dict[str, Any]]:
        return self._stream.snapshot

    @property
    def revision(self) -> int:
        return self._stream.revision

    @property
    def state(self) -> Any:
        """A copy of the observed values as they are now."""
        return self._portal.read(do(lambda: copied(self._stream.state)))

    def at(self, path: str, default: Any = None) -> Any:
        """A copy of the value at a JSON Pointer; `default` when there is none."""
        return self._portal.read(do(lambda: copied(self._stream.at(path, default))))


async def _next(stream: Stream[T], timeout: float | None) -> list[T]:
    try:
        return [await stream.get(timeout)]
    except StopAsyncIteration:
        return []
