"""Results in parts, of `feature/query` and others: the server sends them while they are read."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Callable, Coroutine, Iterator, Mapping

from . import _wire
from ._caller import Caller
from ._packed import pack


class Parts:
    """The parts of one result: `async for part in server.parts("feature/query", {"layer": "l1"}):`

    The method's reference defines a part; `result` is the reply, which follows the last part. Leaving the loop early does not end the
    request: `aclose` does, and so does `async with`. At most four unread parts wait in memory, mostly of 1 MiB: the server sends no
    more. Other calls are answered meanwhile.
    """

    _WINDOW = 4

    def __init__(self, client: Caller, method: str, params: Mapping[str, Any] | None) -> None:
        self.result: dict[str, Any] | None = None
        """The reply, once all parts have been read."""
        self._call = (client, method, params)
        self._arrived: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._request: asyncio.Future[Any] | None = None
        self._token = ""

    def _begun(self, client: Caller, method: str, params: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        connection = client._connection
        token = self._token = connection.new_token()
        with _wire.encoding(method):
            wire = _wire.prepare(method, client._options.with_meta(params or {}, None))
            meta = {**wire.get("meta", {}), "partialResultToken": token, "partialResultWindow": self._WINDOW}
            wire = {**wire, "meta": meta}
        request = asyncio.ensure_future(
            connection.request(method, wire, token=token, on_progress=self._arrived.put_nowait)
        )
        request.add_done_callback(lambda _: self._arrived.put_nowait(None))
        return request

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        return self

    async def __anext__(self) -> dict[str, Any]:
        if self._request is None:
            self._request = self._begun(*self._call)
        if self.result is None:
            try:
                part = await self._arrived.get()
            except asyncio.CancelledError:
                self._request.cancel()
                raise
            if part is not None:
                self._call[0]._connection.send_notification("task/acknowledgeParts", {"token": self._token})
                return dict(pack(part))
            self.result = await self._request
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Cancels the request, unless it has been answered."""
        if self._request is not None:
            self._request.cancel()
            await asyncio.wait({self._request})

    async def __aenter__(self) -> Parts:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SyncParts:
    """The parts of one result, for the blocking client: `for part in server.parts("feature/query", {"layer": "l1"}):`"""

    def __init__(self, run: Callable[[Coroutine[Any, Any, Any]], Any], parts: Parts) -> None:
        self._run, self._parts = run, parts

    @property
    def result(self) -> dict[str, Any] | None:
        """The reply, once all parts have been read."""
        return self._parts.result

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        part = self._run(_next(self._parts))
        if part is None:
            raise StopIteration
        return dict(part)

    def close(self) -> None:
        """Cancels the request, unless it has been answered."""
        self._run(self._parts.aclose())

    def __enter__(self) -> SyncParts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _next(parts: Parts) -> dict[str, Any] | None:
    async for part in parts:
        return part
    return None
