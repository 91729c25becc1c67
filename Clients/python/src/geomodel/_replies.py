"""The requests of a connection that wait for their replies, and what becomes of those that nobody waits for."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from ._refusals import Refusals
from .errors import Error, ProtocolError, error_from_wire, misfit

_log = logging.getLogger("geomodel")
# The id of `initialize`.
FIRST_ID = 1

Progress = Callable[[dict[str, Any]], object]


@dataclass(eq=False)
class _Pending:
    method: str
    future: asyncio.Future[Any]
    token: str | None
    on_result: Callable[[Any], None] | None
    on_orphan: Callable[[Any], None] | None


class Replies:
    """Finds the request of each reply and progress report. `send` sends a message of the client itself."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None]) -> None:
        self._send = send
        self._pending: dict[int, _Pending] = {}
        self._orphans: dict[int, Callable[[Any], None] | None] = {}
        self._refusals = Refusals()
        self._progress: dict[str, tuple[int, Progress]] = {}

    def add(
        self,
        request_id: int,
        method: str,
        token: str | None = None,
        on_progress: Progress | None = None,
        on_result: Callable[[Any], None] | None = None,
        on_orphan: Callable[[Any], None] | None = None,
    ) -> asyncio.Future[Any]:
        """What gets the result of a request that is to be sent."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = _Pending(method, future, token, on_result, on_orphan)
        if token is not None and on_progress is not None:
            self._progress[token] = (request_id, on_progress)
        return future

    def fail(self, failure: Error) -> None:
        """Ends all waiting: no replies come any more."""
        for pending in list(self._pending.values()):
            if not pending.future.done():
                pending.future.set_exception(failure)
                pending.future.exception()  # Marks the exception as retrieved: a waiter that was cancelled meanwhile is not a bug.
        self._pending.clear()
        self._progress.clear()

    def abandon(self, request_id: int) -> None:
        """Cancels a request that nobody waits for any more."""
        pending = self._pending.pop(request_id, None)
        if pending is None:
            return
        if pending.token is not None:
            self._progress.pop(pending.token, None)
        self._orphans[request_id] = pending.on_orphan
        self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}})

    def receive(self, message: dict[str, Any]) -> None:
        """Handles a reply."""
        request_id = message.get("id")
        if request_id is None and "error" in message:
            self._receive_refusal(message["error"])
            return
        if not isinstance(request_id, int):
            self._unknown(message)
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
        pending = self._pending.pop(request_id, None)
        if pending is None:
            if not self._refusals.is_late(request_id):
                self._unknown(message)
            return
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
            except Exception as error:
                if not pending.future.done():
                    pending.future.set_exception(misfit(f"the answer to {pending.method}", error))
                return
        if not pending.future.done():
            pending.future.set_result(result)

    def _unknown(self, message: dict[str, Any]) -> None:
        if "error" not in message:
            raise ProtocolError(f"the server answered an unknown request: id {message.get('id')!r}")
        _log.error("the server answered no request of ours: %s", error_from_wire(message["error"]))

    def _receive_refusal(self, error: Any) -> None:
        """Handles the refusal of a whole message: finds out whether it was a request, and which."""
        if self._refusals.is_alive(error):
            return
        _log.error("the server refused a message: %s", error_from_wire(error))
        outstanding = [*self._orphans, *self._pending]
        if len(outstanding) == 1 and outstanding[0] == FIRST_ID:
            # Before `initialize` is answered nothing else is sent, so there is nothing to probe.
            self._lose(FIRST_ID, error)
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

    def receive_progress(self, params: Mapping[str, Any]) -> None:
        request_id, callback = self._progress.get(str(params.get("token")), (0, None))
        if callback is None:
            return
        value = params.get("value")
        if not isinstance(value, dict):
            raise ProtocolError(f"the server wrote a progress report that is no object: {value!r:.200}")
        try:
            callback(value)
        except Exception as error:
            # The call raises what its progress callback raises, and the request is cancelled.
            future = self._pending[request_id].future
            self.abandon(request_id)
            if not future.done():
                future.set_exception(error)
