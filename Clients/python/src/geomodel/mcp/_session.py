"""The model behind the tools: a server of its own or a live map, started when it is first needed and again after it was lost."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Awaitable, Callable, Mapping

from .._client import Server
from .._launch import Launch
from .._subscriptions import Opening, StateSubscription
from ..errors import Error, GeoModelError, ServerDiedError, ServerNotFoundError

Report = Callable[[float, str | None], Awaitable[None]]
# Every change carries it, so that people who share the map see who made it.
ORIGIN = "agent"


class Session:
    """Calls to the model, which may be lost between any two of them: the agent is told once, then there is a new one."""

    def __init__(self, start: Callable[[], Launch], *, is_attached: bool) -> None:
        self._start = start
        self.is_attached = is_attached
        self._server: Server | None = None
        self._lock = asyncio.Lock()
        # The definition of the protocol, which a new server may have another of.
        self.definition: Mapping[str, Any] | None = None

    @property
    def after_loss(self) -> str:
        """What an agent does next once the server is gone."""
        if self.is_attached:
            return "repeat the call: it attaches again; call describe_model first, as the live map may have been started anew"
        return "the model is gone, but for what was saved: the next call starts an empty one, so open the document or the files again"

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, report: Report | None = None) -> Any:
        """The result of a method; cancelling this cancels the task in the server."""
        server = await self._connected()
        try:
            if report is None:
                return await server.options(origin=ORIGIN).call(method, params)
            return await self._reported(server, method, params, report)
        except (ServerDiedError, GeoModelError) as error:
            # It has been said: the next call starts anew.
            if server.exit_status is not None or isinstance(error, ServerDiedError) or error.kind == "serverLost":
                await self._forget(server)
            raise

    async def _reported(self, server: Server, method: str, params: Mapping[str, Any] | None, report: Report) -> Any:
        """Reports may arrive faster than the agent reads them: only the newest waits."""
        newest: dict[str, Any] | None = None
        arrived = asyncio.Event()

        def keep(value: dict[str, Any]) -> None:
            nonlocal newest
            newest = value
            arrived.set()

        async def tell() -> None:
            nonlocal newest
            arrived.clear()
            value, newest = newest, None
            if value is not None:
                await report(float(value.get("percentage") or 0), value.get("message") or value.get("title"))

        async def forward() -> None:
            while await arrived.wait():
                await tell()

        forwarding = asyncio.ensure_future(forward())
        try:
            result = await server.options(origin=ORIGIN, progress=keep).call(method, params)
        finally:
            forwarding.cancel()
            await asyncio.wait({forwarding})
            if not forwarding.cancelled():
                # The agent does not listen any more; the result says so better.
                forwarding.exception()
        await tell()
        return result

    async def _connected(self) -> Server:
        async with self._lock:
            if self._server is not None and self._server.exit_status is not None:
                lost, self._server = self._server, None
                with contextlib.suppress(Error):
                    await lost.close()
                raise ServerDiedError("the server has ended since the last call", lost.exit_status, lost.stderr_tail)
            if self._server is None:
                self.definition = None
                try:
                    self._server = await self._start()
                except ServerDiedError as error:
                    # It says itself why it does not start; repeating the call alone would not help.
                    reason = error.stderr.strip().rpartition("\n")[2] or error.message
                    raise ServerNotFoundError(f"the server cannot be started: {reason}") from error
            return self._server

    async def _forget(self, server: Server) -> None:
        if self._server is server:
            self._server = None
        with contextlib.suppress(Error):
            await server.close()

    async def observe(self, path: str) -> Opening[StateSubscription]:
        """Observes a path of the state tree, slowly enough for an agent."""
        return (await self._connected()).observe(path, max_rate=4, limit=1)

    async def close(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.close()
