"""The thread on which the blocking client's loop runs, and calls into it from other threads."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from concurrent.futures import CancelledError
from typing import Any, Callable, Coroutine, Generic, TypeVar

from .errors import ClosedError

T = TypeVar("T")

# Seconds. The system may deliver an interrupt to any thread; Python then raises KeyboardInterrupt in the main thread once that runs.
_INTERRUPT_CHECK = 0.1


class _End:
    """Follows the last report of a call."""


_END = _End()
Reports = queue.SimpleQueue[Any]


class Portal:
    """An event loop on a thread; coroutines go in, results come out."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._calls: set[_Call[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name="geomodel", daemon=True)
        self._thread.start()

    def run(
        self,
        coroutine: Coroutine[Any, Any, T],
        reports: Reports | None = None,
        on_report: Callable[[Any], object] | None = None,
    ) -> T:
        """The result of a coroutine. Items that it puts into `reports` meanwhile are passed to `on_report` on this thread.

        When this is interrupted (KeyboardInterrupt), or `on_report` raises, the coroutine is cancelled, and this raises after it
        has ended; a second interrupt does not wait for the end.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a blocking call from the client's own thread would wait for itself")
        call = _Call(coroutine, reports, self._calls.discard)
        try:
            self._calls.add(call)
            self._submit(call.begin)
            return call.wait(on_report)
        except BaseException:
            if not call.has_ended:
                self._submit(call.cancel)
                call.wait_for_end()
            raise

    def read(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Like `run`, for coroutines that wait for nothing once the client is closed: they run after the closing, too."""
        if self._thread.is_alive():
            return self.run(coroutine)
        try:
            coroutine.send(None)
        except StopIteration as ended:
            result: T = ended.value
            return result
        coroutine.close()
        raise ClosedError("the client is closed")

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _submit(self, action: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(action)
        except RuntimeError:  # The loop is closed.
            self._fail_calls()

    def _fail_calls(self) -> None:
        for call in list(self._calls):
            call.fail(ClosedError("the client is closed"))

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            try:
                self._fail_calls()
                if tasks := asyncio.all_tasks(self._loop):
                    for task in tasks:
                        task.cancel()
                    self._loop.run_until_complete(asyncio.wait(tasks))
                self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            finally:
                self._loop.close()
                # Calls that were added in between.
                self._fail_calls()


class _Call(Generic[T]):
    """A coroutine on the loop's thread, and the thread that waits for it.

    An interrupt may arrive between any two instructions of the waiting thread. So the two threads share no lock of Python's:
    a `SimpleQueue`, and what is handed to the loop, are written in one instruction each.
    """

    def __init__(
        self, coroutine: Coroutine[Any, Any, T], reports: Reports | None, on_end: Callable[[_Call[Any]], object]
    ) -> None:
        self._coroutine, self._on_end = coroutine, on_end
        self._reports: Reports = queue.SimpleQueue() if reports is None else reports
        self._task: asyncio.Task[T] | None = None
        self._failure: BaseException | None = None
        self.has_ended = False

    # On the loop's thread

    def begin(self) -> None:
        if not self.has_ended:
            self._task = asyncio.get_running_loop().create_task(self._coroutine)
            self._task.add_done_callback(lambda _: self._end())

    def cancel(self) -> None:
        if self._task is None:
            self.fail(CancelledError())
        else:
            self._task.cancel()

    def fail(self, failure: BaseException) -> None:
        """Ends the wait with an error, whatever the coroutine does."""
        if self.has_ended:
            return
        self._failure = failure
        if self._task is None:
            self._coroutine.close()
        self._end()

    def _end(self) -> None:
        if not self.has_ended:
            self.has_ended = True
            self._on_end(self)
            self._reports.put(_END)

    # On the waiting thread

    def wait(self, on_report: Callable[[Any], object] | None) -> T:
        while (report := self._next()) is not _END:
            if on_report is not None:
                on_report(report)
        if self._failure is not None:
            raise self._failure
        assert self._task is not None
        if self._task.cancelled():
            # asyncio's CancelledError would look like the cancellation of the caller's own task.
            raise CancelledError
        return self._task.result()

    def wait_for_end(self) -> None:
        while self._next() is not _END:
            pass

    def _next(self) -> Any:
        while True:
            with contextlib.suppress(queue.Empty):
                return self._reports.get(timeout=_INTERRUPT_CHECK)


async def do(action: Callable[[], T]) -> T:
    """Makes a coroutine of a function that does not wait."""
    return action()
