"""The base classes of the generated classes of methods."""

from __future__ import annotations

from typing import Any, Mapping, Protocol


class AsyncCalling(Protocol):
    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SyncCalling(Protocol):
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SupportsGeoInterface(Protocol):
    """A value that describes itself as GeoJSON: geometries of Shapely, frames of GeoPandas, and others."""

    @property
    def __geo_interface__(self) -> Any: ...


class AsyncCaller:
    """The methods of a domain, on an asynchronous client."""

    def __init__(self, client: AsyncCalling) -> None:
        self._client = client

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._client.call(method, params)


class SyncCaller:
    """The methods of a domain, on a blocking client."""

    def __init__(self, client: SyncCalling) -> None:
        self._client = client

    def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._client.call(method, params)
