"""Calls a server: the connection and the options of its calls. The base of everything that makes calls."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from typing import Any, Callable, Coroutine, Mapping, TypeVar

from . import _notebook, _wire
from ._bars import showing
from ._connection import Connection
from ._options import CallOptions
from ._results import shown
from .errors import CallTimeoutError


T = TypeVar("T")


class Caller:
    def __init__(self, connection: Connection, options: CallOptions) -> None:
        self._connection = connection
        self._options = options

    def _with(self, **changes: Any) -> Caller:
        return Caller(self._connection, dataclasses.replace(self._options, **changes))

    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The result of any method by its name on the wire.

        Cancelling the task that waits here cancels the request on the server; an answer that still comes is dropped.
        """
        return await self._shown(method, lambda client: client._call(method, params))

    async def _shown(self, title: str, action: Callable[[Caller], Coroutine[Any, Any, T]]) -> T:
        """The result of an action of this caller, with a bar where one is to be shown."""
        bar = _notebook.bar_for(self._options.progress, title)
        if bar is None:
            return await action(self)
        with showing(bar):
            client = self._with(progress=bar)
            return await _notebook.ticking(lambda: action(client), bar)

    async def _call(self, method: str, params: Mapping[str, Any] | None) -> Any:
        if "shapely" not in sys.modules:
            return shown(await self._request(method, params), method)
        from . import _shapes

        with _wire.encoding(method):
            batch = _shapes.batch(method, params or {})
        if batch is None:
            return shown(await self._request(method, params), method)

        turn = asyncio.Lock()

        async def answered(made: Callable[[], dict[str, Any]]) -> Mapping[str, Any]:
            async with turn:
                # The server has the request before, and works, while this one is made.
                await self._connection.drain()
                with _wire.encoding(method):
                    request = made()
            return batch.read(await self._request(method, request))

        return shown(batch.result(await asyncio.gather(*map(answered, batch.requests))), method)

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        on_result: Callable[[Any], None] | None = None,
        on_orphan: Callable[[Any], None] | None = None,
    ) -> Any:
        options, connection = self._options, self._connection
        token = connection.new_token() if options.on_report is not None else None
        with _wire.encoding(method):
            wire = _wire.prepare(method, options.with_meta(params or {}, token), connection.limits)
            token = str(wire["meta"]["progressToken"]) if token is not None else None
            timeout = None if options.timeout is None else float(options.timeout)
        request = connection.request(
            method, wire, token=token, on_progress=options.on_report, on_result=on_result, on_orphan=on_orphan
        )
        if timeout is None:
            return await request
        # Not wait_for: a TimeoutError that a progress callback raises would look like a timeout of the call.
        task = asyncio.ensure_future(request)
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is None:
            return task.result()
        raise CallTimeoutError(f"{method} was not answered within {timeout} s")

    def _give_back_subscription(self, result: Any) -> None:
        """Ends a subscription whose caller was cancelled."""
        if not self._connection.is_closed and isinstance(result, dict):
            params = {"subscription": result.get("subscription")}
            task = asyncio.ensure_future(self._connection.request("state/unobserve", params))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
