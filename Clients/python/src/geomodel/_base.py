"""What the generated classes of methods stand on."""

from __future__ import annotations

from typing import Any, Mapping, Protocol


class _AsyncClient(Protocol):
    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class _SyncClient(Protocol):
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class AsyncCaller:
    """A domain's methods, on a client that awaits."""

    def __init__(self, client: _AsyncClient) -> None:
        self._client = client

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._client.call(method, params)


class SyncCaller:
    """A domain's methods, on a client that blocks."""

    def __init__(self, client: _SyncClient) -> None:
        self._client = client

    def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._client.call(method, params)
