"""Features as GeoDataFrames, from a server or from an answer."""

from __future__ import annotations

from typing import Any, Coroutine, Mapping, overload

from ._bulk import fetch
from ._client import Client
from ._features import frame_of
from ._sync import SyncClient


@overload
def to_geodataframe(source: SyncClient | Mapping[str, Any], **query: Any) -> Any: ...


@overload
def to_geodataframe(source: Client, **query: Any) -> Coroutine[Any, Any, Any]: ...


def to_geodataframe(source: Any, **query: Any) -> Any:
    """A GeoDataFrame of features, with their ids as its index.

    From a server, with the params of `feature.query`: `to_geodataframe(server, layer="l1", where_clause="pop > 1000")`. All
    features that match are read (`limit` has no bound and no default), in parts of one revision, with progress (`options`); with an
    asynchronous client the call is awaited. Or from an answer of `feature.query`: `to_geodataframe(server.feature.query(layer="l1"))`.

    Attributes have the types of the layer's fields: integers and booleans with gaps have the nullable types of pandas, times are in UTC.
    Without geometry (`return_geometry=False`) it is a DataFrame. Needs GeoPandas.
    """
    if isinstance(source, SyncClient):
        return source._run("to_geodataframe", lambda client: fetch(client, query))
    if isinstance(source, Client):
        return source._shown("to_geodataframe", lambda client: fetch(client, query))
    return frame_of(source)
