"""The base classes of the generated classes of methods."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, Mapping, Protocol


class AsyncCalling(Protocol):
    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SyncCalling(Protocol):
    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class SupportsGeoInterface(Protocol):
    """A value that describes itself as GeoJSON: geometries of Shapely, frames of GeoPandas, and others."""

    @property
    def __geo_interface__(self) -> Any: ...


def _misspelt(method: Any) -> Any:
    """The method, with the nearest argument named where one does not exist."""
    # Not `inspect.signature`, which takes a good part of the import for some hundred methods.
    code = method.__code__
    names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]

    @functools.wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in names:
                snake = re.sub("([A-Z])", r"_\1", name).lower()
                near = [snake] if snake in names else [each for each in names if f"_{snake}" in f"_{each}"][:1]
                near = near or difflib.get_close_matches(snake, names, 1, 0.6)
                end = f"; did you mean {near[0]!r}?" if near else f": it has {', '.join(names)}"
                raise TypeError(f"{method.__qualname__}() has no argument {name!r}{end}") from None
        return method(*args, **kwargs)

    return checked


class _Caller:
    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, _misspelt(method))


    if not TYPE_CHECKING:  # For which any name would be a method.

        def __getattr__(self, name: str) -> Any:
            names = [each for each in dir(type(self)) if not each.startswith("_")]
            raise AttributeError(f"{type(self).__name__} has no method {name!r}: it has {', '.join(names)}", name=name, obj=self)


class AsyncCaller(_Caller):
    """The methods of a domain, on an asynchronous client."""

    def __init__(self, client: AsyncCalling) -> None:
        self._client = client

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._client.call(method, params)


class SyncCaller(_Caller):
    """The methods of a domain, on a blocking client."""

    def __init__(self, client: SyncCalling) -> None:
        self._client = client

    def _call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self._client.call(method, params)
