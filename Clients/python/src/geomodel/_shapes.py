"""Geometries of Shapely and GeoPandas for the methods `geometry.*`, which give back what they take."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Callable, Mapping

from ._features import _numbers, _shapes, shape_of
from ._frames import _reference, as_frame, needed, one_reference, shapes_column
from .errors import EncodeError

# About the bytes of geometries in one request, so that answers that are some times as large fit a message.
_SIZE = 1 << 22
# Lists with one entry for each geometry, and lists whose entries state its index.
_ROWS = ("values", "matrices", "related", "texts")
_INDEXED = ("failures", "places", "pieces", "circles", "faults")
# Methods whose result is of all geometries together.
_TOGETHER = frozenset(("geometry/union", "geometry/combineExtents", "geometry/autoComplete"))
_EMPTY = {"type": "GeometryCollection", "geometries": []}


class Batch:
    """A call of `geometry.*` with values of Shapely: its requests, and the result made of their answers.

    Each request is made when it is to be sent, and each answer read when it comes: the server works meanwhile.
    """

    def __init__(self, requests: list[Callable[[], dict[str, Any]]], starts: list[int], made: Callable[[Any], Any]) -> None:
        self.requests = requests
        self._starts = starts
        self._made = made

    def read(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**answer, "columns": _decoded(answer["columns"])} if "columns" in answer else answer

    def result(self, answers: list[Mapping[str, Any]]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for start, answer in zip(self._starts, answers):
            for name, value in answer.items():
                if name in _INDEXED:
                    merged.setdefault(name, []).extend({**each, "index": each["index"] + start} for each in value)
                elif name in _ROWS:
                    merged.setdefault(name, []).extend(value)
                elif name == "columns":
                    merged.setdefault(name, []).append(value)
                elif name == "isSimple":
                    merged[name] = merged.get(name, True) and value
                else:
                    merged[name] = value
        if "columns" in merged:
            merged["geometries"] = self._made(needed("numpy").concatenate(merged.pop("columns")))
        for name in _INDEXED:
            for each in merged.get(name, ()):
                for member in ("geometry", "point", "center"):
                    if member in each:
                        each[member] = shape_of(each[member])
        if "geometry" in merged:
            merged["geometry"] = shape_of(merged["geometry"])
        return merged


def batch(method: str, params: Mapping[str, Any]) -> Batch | None:
    """The requests of a call whose geometries are Shapely's; None for any other call."""
    shapely = sys.modules.get("shapely")
    if shapely is None or not method.startswith("geometry/"):
        return None
    # The geometries themselves are sent as columns.
    out = {name: value if name == "geometries" else _sent(value) for name, value in params.items()}
    reference = one_reference(params)
    if reference is not None:
        out["spatialReference"] = reference
    values = params.get("geometries")
    if isinstance(params.get("geometry"), shapely.Geometry):
        return Batch([lambda: out], [0], lambda shapes: shapes)
    frame = as_frame(values, "/params/geometries") if values is not None else None
    if frame is not None:
        shapes = frame.shapes
    elif values is not None and _are_shapes(values, shapely):
        shapes = needed("numpy").empty(len(values), dtype=object)
        shapes[:] = values
    else:
        return None
    for name in ("others", "distances"):
        given = out.get(name)
        if given is not None and (not hasattr(given, "__len__") or isinstance(given, Mapping)):
            raise EncodeError(f"/params/{name}: expected a list, with one for each geometry")
        if given is not None and len(given) != len(shapes):
            raise EncodeError(f"/params/{name}: there are {len(given)} for {len(shapes)} geometries")
    if out.get("others") is not None and any(other is None for other in out["others"]):
        # As with one that is none in `geometries`, nothing is made of the pair.
        shapes = shapes.copy()
        shapes[[other is None for other in out["others"]]] = None
        out["others"] = [_EMPTY if other is None else other for other in out["others"]]
    del out["geometries"]
    reference = out.get("outSpatialReference", reference)
    starts = _starts(method, out, shapes)

    def request(start: int, end: int) -> dict[str, Any]:
        parts = {name: out[name][start:end] for name in ("others", "distances") if out.get(name) is not None}
        return {**out, **parts, "columns": {"geometry": shapes_column(shapes[start:end])}}

    requests: list[Callable[[], dict[str, Any]]] = [partial(request, start, end) for start, end in zip(starts, starts[1:])]
    return Batch(requests, starts, lambda made: _like(values, made, reference))


def _are_shapes(values: Any, shapely: Any) -> bool:
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__") or not len(values):
        return False
    return all(each is None or isinstance(each, shapely.Geometry) for each in values)


def _starts(method: str, params: Mapping[str, Any], shapes: Any) -> list[int]:
    """Where the geometries of each request begin, and the end."""
    count = len(shapes)
    if method in _TOGETHER or params.get("together") or (method in ("geometry/rotate", "geometry/scale") and "anchor" not in params):
        return [0, count]
    positions = needed("shapely").get_num_coordinates(shapes)
    ends = needed("numpy").cumsum(positions * 16 + 256)
    starts = [0]
    while starts[-1] < count:
        before = ends[starts[-1] - 1] if starts[-1] else 0
        found = int(needed("numpy").searchsorted(ends, before + _SIZE, side="right"))
        starts.append(max(found, starts[-1] + 1))
    return starts if count else [0, 0]


def _sent(value: Any) -> Any:
    """A geometry as well-known binary, which keeps M; a series or list of them as a list."""
    shapely = needed("shapely")
    if isinstance(value, shapely.Geometry):
        import base64

        return {"type": "WKB", "data": base64.b64encode(shapely.to_wkb(value, include_srid=False, flavor="iso")).decode("ascii")}
    geopandas = sys.modules.get("geopandas")
    if geopandas is not None and isinstance(value, (geopandas.GeoSeries, geopandas.GeoDataFrame)):
        return [_sent(each) for each in value.geometry]
    if isinstance(value, (list, tuple)) and any(isinstance(each, shapely.Geometry) for each in value):
        return [_sent(each) for each in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    """A spatial reference of pyproj as its code; numbers of numpy as a list."""
    if hasattr(value, "to_authority"):
        return _reference(value)
    return value.tolist() if hasattr(value, "tolist") and hasattr(value, "dtype") else value


def _decoded(columns: Mapping[str, Any]) -> Any:
    shapely = needed("shapely")
    if "geometry" in columns:
        return _shapes(columns["geometry"])
    if "z" in columns:
        return shapely.points(_numbers(columns["x"]), _numbers(columns["y"]), _numbers(columns["z"]))
    return shapely.points(_numbers(columns["x"]), _numbers(columns["y"]))


def _like(given: Any, made: Any, reference: str | None) -> Any:
    """What was given, with other geometries; a series or list where their number has changed."""
    geopandas = sys.modules.get("geopandas")
    if geopandas is not None and isinstance(given, (geopandas.GeoSeries, geopandas.GeoDataFrame)):
        if len(made) != len(given):
            return geopandas.GeoSeries(made, crs=reference)
        series = geopandas.GeoSeries(made, index=given.index, crs=reference)
        return given.set_geometry(series) if isinstance(given, geopandas.GeoDataFrame) else series
    return list(made)
