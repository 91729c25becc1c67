"""What the generated classes of methods stand on."""

from __future__ import annotations

from typing import Any, Mapping, Protocol


class AsyncCalling(Protocol):
    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SyncCalling(Protocol):
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SupportsGeoInterface(Protocol):
    """Shapely's geometries, GeoPandas' frames, and others that say what they are in GeoJSON's words."""

    @property
    def __geo_interface__(self) -> Any: ...


class AsyncCaller:
    """A domain's methods, on a client that awaits."""

    def __init__(self, client: AsyncCalling) -> None:
        self._client = client

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._client.call(method, params)


class SyncCaller:
    """A domain's methods, on a client that blocks."""

    def __init__(self, client: SyncCalling) -> None:
        self._client = client

    def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._client.call(method, params)
