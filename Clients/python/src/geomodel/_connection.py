"""The JSON-RPC connection to one server: the reader, ids, waiting calls, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Protocol, Sequence

from . import _wire
from ._framing import Framing, make_decoder
from ._limits import Limits
from ._process import server_log
from ._refusals import Refusals
from ._streams import Stream
from .errors import ClosedError, Error, ProtocolError, ServerDiedError, error_from_wire

_log = logging.getLogger("geomodel")
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
# The id of `initialize`.
_FIRST_ID = 1

Progress = Callable[[dict[str, Any]], object]


class Link(Protocol):
    """What carries the bytes of both directions: a process, or a web socket."""

    @property
    def pid(self) -> int: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def stderr_tail(self) -> str: ...
    @property
    def how_it_ended(self) -> str: ...
    async def start(self) -> None: ...
    async def read(self) -> bytes: ...
    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def kill(self) -> None: ...
    async def wait(self, reader: asyncio.Task[None], grace: Callable[[], float]) -> None: ...
    async def end(self, watch: asyncio.Task[None], grace: float) -> None: ...
    async def release(self) -> None: ...


class Receiver(Protocol):
    """The receiver of a subscription's notifications."""

    def receive(self, method: str, params: Mapping[str, Any]) -> None: ...
    def end(self, failure: BaseException | None) -> None: ...


@dataclass(eq=False)
class _Pending:
    method: str
    future: asyncio.Future[Any]
    token: str | None
    on_result: Callable[[Any], None] | None
    on_orphan: Callable[[Any], None] | None


class Connection:
    """Writes requests and passes answers and notifications to those who wait for them.

    The reader handles messages in the order of arrival and never waits: what a reply makes known (a subscription's
    handle) is known before the next message is handled.
    """

    def __init__(self, make_link: Callable[[], Link], framing: Framing = "headers", grace: float = 5.0) -> None:
        self._make_link, self._framing = make_link, framing
        self._process, self._decoder = make_link(), make_decoder(framing)
        self._grace = grace
        self._ids = itertools.count(_FIRST_ID)
        self._tokens = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._orphans: dict[int, Callable[[Any], None] | None] = {}
        self._refusals = Refusals()
        # The limits of a message, once the server has stated them.
        self.limits = Limits()
        self._progress: dict[str, tuple[int, Progress]] = {}
        self._streams: weakref.WeakSet[Stream[Any]] = weakref.WeakSet()
        self._stream_methods: weakref.WeakKeyDictionary[Stream[Any], frozenset[str]] = weakref.WeakKeyDictionary()
        self._receivers: dict[str, Receiver] = {}
        # Those that the loss of the server has ended, which may be made anew.
        self._lost: list[Receiver] = []
        self._failure: Error | None = None
        self._closing = self._is_killed = False
        self._close_task: asyncio.Task[None] | None = None

    # Start and end

    async def start(self) -> None:
        await self._process.start()
        self._begin()

    def _begin(self) -> None:
        self._reader_task = asyncio.create_task(self._read(), name="geomodel reader")
        self._watch_task = asyncio.create_task(self._watch(), name="geomodel watch")

    async def restart(self) -> None:
        """Makes the link again after it was lost. If that fails it stays lost, and this may be tried again."""
        if self._closing or not isinstance(self._failure, ServerDiedError):
            raise ClosedError("the client is closed" if self.is_closed else "the server is not lost")
        for task in (self._reader_task, self._watch_task):
            task.cancel()
        await asyncio.gather(self._reader_task, self._watch_task, return_exceptions=True)
        await self._process.release()
        link = self._make_link()
        await link.start()
        if self._closing:
            link.kill()
        self._process, self._decoder = link, make_decoder(self._framing)
        self._orphans.clear()
        self._refusals = Refusals()
        self._failure, self._is_killed = None, False
        self._begin()

    async def lose(self) -> None:
        """Ends the link as if the server had."""
        self.kill()
        await asyncio.wait({self._watch_task})

    def take_lost(self) -> list[Receiver]:
        """The subscriptions that ended with the link."""
        lost, self._lost = self._lost, []
        return lost

    def give_back_lost(self, lost: Sequence[Receiver]) -> None:
        self._lost += lost

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        return self._process.exit_status

    @property
    def stderr_tail(self) -> str:
        return self._process.stderr_tail

    @property
    def is_closed(self) -> bool:
        return self._closing or self._failure is not None

    async def close(self) -> None:
        """Sends `shutdown` and `exit`, and kills the process if it runs longer than the grace period. A second call does nothing."""
        if self._close_task is None:
            self._closing = True
            self._close_task = asyncio.create_task(self._close(), name="geomodel close")
        try:
            await asyncio.shield(self._close_task)
        except asyncio.CancelledError:
            # A cancelled close does not wait any longer, and leaves no process behind.
            if not self._close_task.done():
                self.kill()
            raise

    def kill(self) -> None:
        self._is_killed = True
        self._process.kill()

    async def _close(self) -> None:
        if self._failure is None and self._process.exit_status is None and not self._is_killed:
            with contextlib.suppress(Error, asyncio.TimeoutError, TimeoutError):
                await asyncio.wait_for(self._request("shutdown", {}), self._grace)
            self._send({"jsonrpc": "2.0", "method": "exit"})
        await self._process.end(self._watch_task, self._grace)
        self._fail(ClosedError("the client is closed"))
        for task in (self._reader_task, self._watch_task):
            task.cancel()
        await asyncio.gather(self._reader_task, self._watch_task, return_exceptions=True)
        await self._process.release()

    # Requests

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        token: str | None = None,
        on_progress: Progress | None = None,
        on_result: Callable[[Any], None] | None = None,
        on_orphan: Callable[[Any], None] | None = None,
    ) -> Any:
        """The result of a request; cancelling this cancels the request on the server.

        `on_result` sees the result before the next message is handled. `on_orphan` sees the result of a request that was
        cancelled too late, so that what it created can be closed.
        """
        self._check_open()
        return await self._request(method, params, token, on_progress, on_result, on_orphan)

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any],
        token: str | None = None,
        on_progress: Progress | None = None,
        on_result: Callable[[Any], None] | None = None,
        on_orphan: Callable[[Any], None] | None = None,
    ) -> Any:
        request_id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        data = self._decoder.encode(_wire.dumps(message, self.limits))
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = _Pending(method, future, token, on_result, on_orphan)
        if token is not None and on_progress is not None:
            self._progress[token] = (request_id, on_progress)
        try:
            self._process.write(data)
            await self._process.drain()
            return await future
        except asyncio.CancelledError:
            self._abandon(request_id)
            raise

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._check_open()
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self._process.write(self._decoder.encode(_wire.dumps(message, self.limits)))
        await self._process.drain()

    async def drain(self) -> None:
        """Waits until what is written is sent, if much is waiting."""
        await self._process.drain()

    def send_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends a small notification of the client itself, unless the session has ended."""
        if self._failure is None and not self._closing:
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def new_token(self) -> str:
        return f"progress-{next(self._tokens)}"

    def _check_open(self) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._closing:
            raise ClosedError("the client is closed")

    def _abandon(self, request_id: int) -> None:
        pending = self._pending.pop(request_id, None)
        if pending is None:
            return
        if pending.token is not None:
            self._progress.pop(pending.token, None)
        self._orphans[request_id] = pending.on_orphan
        if self._failure is None:
            self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._process.write(self._decoder.encode(_wire.dumps(message)))

    # Notifications

    def listen(self, methods: Sequence[str], limit: int) -> Stream[Any]:
        """A stream of the notifications of these methods; of all methods when none is named."""
        self._check_open()
        stream: Stream[Any] = Stream(limit, self._streams.discard)
        self._streams.add(stream)
        self._stream_methods[stream] = frozenset(methods)
        return stream

    def subscribe(self, handle: str, receiver: Receiver) -> None:
        self._receivers[handle] = receiver

    def unsubscribe(self, handle: str) -> None:
        self._receivers.pop(handle, None)

    # Reading

    async def _read(self) -> None:
        try:
            while data := await self._process.read():
                for body in self._decoder.feed(data):
                    self._receive(body)
        except ProtocolError as error:
            self._fail(error)
            self.kill()
        except Exception as error:
            _log.exception("the reader failed")
            self._fail(ProtocolError(f"the reader failed: {error!r}"))
            self.kill()

    def _receive(self, body: bytes) -> None:
        try:
            message = _wire.loads(body)
        except ValueError as error:
            raise ProtocolError(f"the server wrote what is no JSON ({error}): {body[:200]!r}") from error
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                raise ProtocolError(f"the server wrote what is no message: {body[:200]!r}")
            if "method" not in one:
                self._receive_reply(one)
            elif "id" in one:
                refusal = {"code": -32601, "message": f"the client has no method {one['method']}"}
                self._send({"jsonrpc": "2.0", "id": one["id"], "error": refusal})
            else:
                self._receive_notification(str(one["method"]), one.get("params") or {})

    def _receive_reply(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        if request_id is None and "error" in message:
            self._receive_refusal(message["error"])
            return
        refusal = self._refusals.answer(message)
        if refusal is not None:
            self._lose(request_id, refusal)
            return
        if request_id in self._orphans:
            on_orphan = self._orphans.pop(request_id)
            if on_orphan is not None and "error" not in message:
                on_orphan(message.get("result"))
            return
        pending = self._pending.pop(request_id, None) if isinstance(request_id, int) else None
        if pending is None:
            if self._refusals.is_late(request_id):
                return
            if "error" in message:
                _log.error("the server answered no request of ours: %s", error_from_wire(message["error"]))
                return
            raise ProtocolError(f"the server answered an unknown request: id {request_id!r}")
        if pending.token is not None:
            self._progress.pop(pending.token, None)
        if "error" in message:
            if not pending.future.done():
                pending.future.set_exception(error_from_wire(message["error"], pending.method))
            return
        result = message.get("result")
        if pending.on_result is not None:
            try:
                pending.on_result(result)
            except Error as error:
                if not pending.future.done():
                    pending.future.set_exception(error)
                return
        if not pending.future.done():
            pending.future.set_result(result)

    def _receive_refusal(self, error: Any) -> None:
        """Handles the refusal of a whole message: finds out whether it was a request, and which."""
        if self._refusals.is_alive(error):
            return
        _log.error("the server refused a message: %s", error_from_wire(error))
        outstanding = [*self._orphans, *self._pending]
        if len(outstanding) == 1 and outstanding[0] == _FIRST_ID:
            # Before `initialize` is answered nothing else is sent, so there is nothing to probe.
            self._lose(_FIRST_ID, error)
            return
        for question in self._refusals.add(error, sorted(outstanding)):
            self._send(question)

    def _lose(self, request_id: Any, refusal: Any) -> None:
        """Handles a probe's answer that the server does not know the request: if it was not answered either, it was refused."""
        pending = self._pending.pop(request_id, None)
        if pending is None and request_id not in self._orphans:
            return
        self._refusals.take(refusal)
        self._orphans.pop(request_id, None)
        if pending is None:
            return
        if pending.token is not None:
            self._progress.pop(pending.token, None)
        if not pending.future.done():
            pending.future.set_exception(error_from_wire(refusal, pending.method))

    def _receive_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "$/progress":
            self._receive_progress(params)
        elif method == "$/logMessage":
            server_log.log(_LEVELS.get(str(params.get("level")), logging.INFO), "%s", params.get("message"))
        handle = params.get("subscription")
        receiver = self._receivers.get(handle) if isinstance(handle, str) else None
        if receiver is not None:
            receiver.receive(method, params)
        for stream in list(self._streams):
            methods = self._stream_methods.get(stream, frozenset())
            if not methods:
                stream._push({"method": method, "params": params})
            elif method in methods:
                stream._push(params)

    def _receive_progress(self, params: Mapping[str, Any]) -> None:
        request_id, callback = self._progress.get(str(params.get("token")), (0, None))
        if callback is None:
            return
        try:
            callback(params.get("value") or {})
        except Exception as error:
            # The call raises what its progress callback raises, and the request is cancelled.
            future = self._pending[request_id].future
            self._abandon(request_id)
            if not future.done():
                future.set_exception(error)

    async def _watch(self) -> None:
        """Fails all calls and iterators when the process has ended, or closed its output."""
        await self._process.wait(self._reader_task, lambda: self._grace if self._closing else 2.0)
        if self._closing:
            self._fail(ClosedError("the client is closed"))
        else:
            self._fail(ServerDiedError(f"the server {self._process.how_it_ended}", self.exit_status, self.stderr_tail))

    def _fail(self, failure: Error) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        for pending in list(self._pending.values()):
            if not pending.future.done():
                pending.future.set_exception(failure)
                pending.future.exception()  # Marks the exception as retrieved: a waiter that was cancelled meanwhile is not a bug.
        self._pending.clear()
        self._progress.clear()
        end = None if isinstance(failure, ClosedError) else failure
        for stream in list(self._streams):
            stream._end(end)
        if end is not None:
            self._lost += self._receivers.values()
        for receiver in list(self._receivers.values()):
            receiver.end(end)
        self._receivers.clear()
