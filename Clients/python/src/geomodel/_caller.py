"""Calls a server: the connection and the options of its calls. The base of everything that makes calls."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from typing import Any, Callable, Mapping

from . import _wire
from ._connection import Connection
from ._options import CallOptions
from ._results import shown
from .errors import CallTimeoutError


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
        if "shapely" not in sys.modules:
            return shown(await self._request(method, params))
        from . import _shapes

        with _wire.encoding(method):
            batch = _shapes.batch(method, params or {})
        if batch is None:
            return shown(await self._request(method, params))
        return shown(batch.result(await asyncio.gather(*(self._request(method, each) for each in batch.requests))))

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        on_result: Callable[[Any], None] | None = None,
        on_orphan: Callable[[Any], None] | None = None,
    ) -> Any:
        options, connection = self._options, self._connection
        token = connection.new_token() if options.progress is not None else None
        with _wire.encoding(method):
            wire = _wire.prepare(method, options.with_meta(params or {}, token), connection.limits)
            token = str(wire["meta"]["progressToken"]) if token is not None else None
            timeout = None if options.timeout is None else float(options.timeout)
        request = connection.request(
            method, wire, token=token, on_progress=options.progress, on_result=on_result, on_orphan=on_orphan
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
        if not self._connection.is_closed:
            params = {"subscription": result["subscription"]}
            task = asyncio.ensure_future(self._connection.request("state/unobserve", params))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
