"""Bounded queues between the reader, which never waits, and the code that iterates."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Callable, Generic, TypeVar

from .errors import CallTimeoutError, NotificationsLostError

T = TypeVar("T")


class Stream(Generic[T]):
    """The items that arrived since the stream was made, in order; an async iterator.

    It keeps at most `limit` unread items. Beyond that the oldest are dropped, and the next read raises
    `NotificationsLostError` once. It ends when it or the session is closed; when the server dies, reading raises.
    """

    def __init__(self, limit: int, on_close: Callable[[Stream[T]], None] | None = None) -> None:
        self._items: deque[T] = deque()
        self._limit = limit
        self._lost = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._ended = False
        self._failure: BaseException | None = None
        self._on_close = on_close

    async def get(self, timeout: float | None = None) -> T:
        """The next item; waits for it, at most `timeout` seconds. Raises `StopAsyncIteration` at the end."""
        deadline: float | None = None
        while not self._items and not self._lost:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                raise StopAsyncIteration
            # Only waiting needs a loop: remaining items can be read when the loop has ended.
            loop = asyncio.get_running_loop()
            if timeout is not None and deadline is None:
                deadline = loop.time() + timeout
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.append(waiter)
            try:
                await asyncio.wait_for(waiter, None if deadline is None else max(0.0, deadline - loop.time()))
            except (asyncio.TimeoutError, TimeoutError):
                raise CallTimeoutError(f"nothing came within {timeout} s") from None
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
        return self._take()

    def take_all(self) -> list[T]:
        """All unread items that have arrived, without waiting."""
        items: list[T] = []
        while self._items or self._lost:
            items.append(self._take())
        return items

    def close(self) -> None:
        """Ends the stream: waiting reads stop, and nothing more is kept."""
        self._items.clear()
        self._lost = 0
        self._end(None)

    def __aiter__(self) -> Stream[T]:
        return self

    async def __anext__(self) -> T:
        return await self.get()

    async def __aenter__(self) -> Stream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> T:
        if self._lost:
            lost, self._lost = self._lost, 0
            raise NotificationsLostError(lost)
        return self._items.popleft()

    def _push(self, item: T) -> None:
        if self._ended:
            return
        if len(self._items) >= self._limit:
            self._items.popleft()
            self._lost += 1
        self._items.append(item)
        self._wake()

    def _end(self, failure: BaseException | None) -> None:
        if self._ended:
            return
        self._ended, self._failure = True, failure
        self._wake()
        if self._on_close is not None:
            self._on_close(self)

    def _reopen(self) -> None:
        """Goes on after a failure that is mended."""
        self._ended, self._failure = False, None

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

