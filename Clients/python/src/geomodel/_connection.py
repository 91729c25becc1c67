"""The JSON-RPC connection to one server: the reader, ids, waiting calls, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import weakref
from typing import TYPE_CHECKING, Any, Callable, Mapping, Protocol, Sequence

from . import _wire
from ._framing import Message
from ._limits import Limits
from ._packed import Attachments
from ._process import server_log
from ._replies import FIRST_ID, Progress, Replies
from ._streams import Stream
from .errors import ClosedError, Error, ProtocolError, ServerDiedError, misfit

if TYPE_CHECKING:
    from ._framing import Storage

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


class Link(Protocol):
    """What carries the messages of both directions: a process, or a web socket."""

    @property
    def pid(self) -> int: ...
    @property
    def exit_status(self) -> int | None: ...
    @property
    def stderr_tail(self) -> str: ...
    @property
    def how_it_ended(self) -> str: ...
    async def start(self) -> None: ...
    async def read(self) -> list[Message]: ...
    def write(self, body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> None: ...
    async def drain(self) -> None: ...
    def keep(self) -> None: ...
    def kill(self) -> None: ...
    async def wait(self, reader: asyncio.Task[None], grace: Callable[[], float]) -> None: ...
    async def end(self, watch: asyncio.Task[None], grace: float) -> None: ...
    async def release(self) -> None: ...


class Receiver(Protocol):
    """The receiver of a subscription's notifications."""

    def receive(self, method: str, params: Mapping[str, Any]) -> None: ...
    def end(self, failure: BaseException | None) -> None: ...


class Connection:
    """Writes requests and passes answers and notifications to those who wait for them.

    The reader handles messages in the order of arrival and never waits: what a reply makes known (a subscription's
    handle) is known before the next message is handled.
    """

    def __init__(self, make_link: Callable[[], Link], grace: float = 5.0) -> None:
        self._make_link, self._process = make_link, make_link()
        self._grace = grace
        self._ids = itertools.count(FIRST_ID)
        self._tokens = itertools.count(1)
        self._replies = Replies(self._send)
        # The limits of a message, and whether it may have attachments, once the server has stated them.
        self.limits = Limits()
        self.attaches = False
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
        self._process, self._replies, self.attaches = link, Replies(self._send), False
        self._failure, self._is_killed = None, False
        self._begin()

    def adapt(self, capabilities: Any, may_attach: bool) -> None:
        """Keeps to what the server has stated in its answer to `initialize`."""
        self.limits = Limits.of(capabilities)
        self.attaches = may_attach and isinstance(capabilities, Mapping) and capabilities.get("attachments") is True

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
        body, attachments = self._encoded(message)
        future = self._replies.add(request_id, method, token, on_progress, on_result, on_orphan)
        try:
            self._process.write(body, attachments)
            await self._process.drain()
            return await future
        except asyncio.CancelledError:
            self._process.keep()
            self._replies.abandon(request_id)
            raise

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._check_open()
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self._process.write(*self._encoded(message))
        await self._process.drain()
        self._process.keep()

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

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._failure is None:
            self._process.write(_wire.dumps(message))

    def _encoded(self, message: Mapping[str, Any]) -> tuple[bytes, list[memoryview | bytes]]:
        attachments = Attachments()
        body = _wire.dumps(message, self.limits, attachments if self.attaches else None)
        return body, attachments.pieces

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
            while messages := await self._process.read():
                for message in messages:
                    self._receive(*message)
        except Exception as error:
            self._fail(misfit("a message", error))
            self.kill()

    def _receive(self, body: bytes | Storage, attachments: memoryview | None) -> None:
        message = _wire.loads(body, attachments)
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                raise ProtocolError(f"the server wrote what is no message: {bytes(body[:200])!r}")
            if "method" not in one:
                self._replies.receive(one)
            elif "id" in one:
                refusal = {"code": -32601, "message": f"the client has no method {one['method']}"}
                self._send({"jsonrpc": "2.0", "id": one["id"], "error": refusal})
            else:
                params = one.get("params") or {}
                if not isinstance(params, dict):
                    raise ProtocolError(f"the server wrote a notification whose params are no object: {bytes(body[:200])!r}")
                self._receive_notification(str(one["method"]), params)

    def _receive_notification(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "$/progress":
            self._replies.receive_progress(params)
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
        self._replies.fail(failure)
        end = None if isinstance(failure, ClosedError) else failure
        for stream in list(self._streams):
            stream._end(end)
        if end is not None:
            self._lost += self._receivers.values()
        for receiver in list(self._receivers.values()):
            receiver.end(end)
        self._receivers.clear()
