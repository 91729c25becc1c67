"""Answers of `feature/query` as GeoDataFrames."""

from __future__ import annotations

from typing import Any, Mapping

from ._frames import needed
from ._packed import data_of
from ._values import unpacked
from .errors import EncodeError

# A point in well-known binary, of little-endian x and y.
_POINT_BYTES = 21
_POINT = bytes((1, 1, 0, 0, 0))


class Features:
    """Collects answers and makes one frame of them."""

    def __init__(self) -> None:
        self._ids: list[Any] = []
        self._shapes: list[Any] = []
        self._columns: dict[str, list[Any]] = {}
        self._types: dict[str, str] = {}
        self._reference: str | None = None

    def append(self, answer: Mapping[str, Any]) -> None:
        if "columns" not in answer:
            return self._append_rows(answer)
        columns, ids = answer["columns"], ids_of(answer)
        self._ids.append(ids)
        self._reference = answer["spatialReference"]
        if "geometry" in columns:
            self._shapes.append(_shapes(columns["geometry"]))
        for field in answer["fields"]:
            name = field["name"]
            self._types[name] = field["type"]
            self._columns.setdefault(name, []).append(columns["attributes"][name])

    def _append_rows(self, answer: Mapping[str, Any]) -> None:
        """Features of GeoJSON."""
        numpy = needed("numpy")
        rows = answer["features"]
        self._ids.append(numpy.array([row.get("id", number) for number, row in enumerate(rows)], dtype=None if rows else "i8"))
        self._reference = answer.get("spatialReference")
        shapes = numpy.empty(len(rows), dtype=object)
        shapes[:] = [shape_of(row["geometry"]) if row.get("geometry") else None for row in rows]
        self._shapes.append(shapes)
        properties = [row.get("properties") or {} for row in rows]
        fields = answer.get("fields")
        names = [each["name"] for each in fields] if fields is not None else list(dict.fromkeys(name for row in properties for name in row))
        for number, name in enumerate(names):
            values = [row.get(name) for row in properties]
            self._types[name] = fields[number]["type"] if fields is not None else _type_of(values)
            self._columns[name] = [values]

    def frame(self) -> Any:
        numpy, pandas = needed("numpy"), needed("pandas")
        ids = numpy.concatenate(self._ids) if self._ids else numpy.zeros(0, dtype="i8")
        data = {name: _values(parts, self._types[name]) for name, parts in self._columns.items()}
        table = pandas.DataFrame(data, index=pandas.Index(ids))
        if not self._shapes:
            return table
        geopandas = needed("geopandas")
        name = "geometry"
        while name in data:
            name += "_"
        shapes = numpy.concatenate(self._shapes)
        return geopandas.GeoDataFrame(table.assign(**{name: shapes}), geometry=name, crs=self._reference)


def ids_of(answer: Mapping[str, Any]) -> Any:
    """The ids of an answer in columns, an array of numpy."""
    return _numbers(answer["columns"]["ids"])


def frame_of(answer: Mapping[str, Any]) -> Any:
    """The frame of one answer, in columns or in GeoJSON."""
    if "features" not in answer and not ("columns" in answer and "fields" in answer):
        raise EncodeError(
            f"answer: it has no features with their fields, as one of `feature.query` has, but {', '.join(map(str, answer))}; "
            "`to_geodataframe(server, layer=..., ids=...)` reads the features of ids")
    features = Features()
    features.append(answer)
    return features.frame()


def shape_of(geometry: Mapping[str, Any]) -> Any:
    """The geometry of Shapely for one of GeoJSON, or with M of well-known text."""
    if geometry["type"] == "WKT":
        return needed("shapely").from_wkt(geometry["text"])
    return needed("shapely.geometry").shape(geometry)


def _type_of(values: list[Any]) -> str:
    """The field type of values that no field states; empty where pandas has to see it."""
    kinds = {type(value) for value in values if value is not None}
    return {bool: "boolean", int: "integer", float: "double"}.get(kinds.pop(), "") if len(kinds) == 1 else ""


def _numbers(values: Any) -> Any:
    numpy = needed("numpy")
    if isinstance(values, Mapping):
        kind = "<f8" if values["type"] == "float64" else "<i8"
        return numpy.frombuffer(data_of(values), dtype=kind)
    return numpy.asarray(values)


def _shapes(values: Mapping[str, Any]) -> Any:
    """Shapely's geometries, None where a row has none."""
    numpy, shapely = needed("numpy"), needed("shapely")
    data, offsets = data_of(values), _numbers(values["offsets"])
    count = len(offsets) - 1
    if len(data) == count * _POINT_BYTES and bool((numpy.diff(offsets) == _POINT_BYTES).all()):
        rows = numpy.frombuffer(data, dtype=numpy.dtype([("head", "V5"), ("x", "<f8"), ("y", "<f8")]))
        # An empty point has NaN.
        if data[:5] == _POINT and rows["head"].tobytes() == _POINT * count and not bool(numpy.isnan(rows["x"]).any()):
            return shapely.points(rows["x"], rows["y"])
    ends = offsets.tolist()
    rows, wkb = numpy.empty(count, dtype=object), bytes(data)
    rows[:] = [wkb[start:end] if end > start else None for start, end in zip(ends, ends[1:])]
    return shapely.from_wkb(rows)


def _values(parts: list[Any], kind: str) -> Any:
    """A column made of its parts, with the type that its field states."""
    numpy, pandas = needed("numpy"), needed("pandas")
    types = {part["type"] if isinstance(part, Mapping) else "array" for part in parts}
    if len(types) == 1 and types != {"array"}:
        return numpy.concatenate([_numbers(part) for part in parts])
    values = [value for part in parts for value in unpacked(part)]
    if kind == "double":
        return numpy.array([numpy.nan if value is None else value for value in values], dtype="f8")
    if kind == "integer":
        return pandas.array(values, dtype="Int64") if None in values else numpy.array(values, dtype="i8")
    if kind == "boolean":
        return pandas.array(values, dtype="boolean") if None in values else numpy.array(values, dtype=bool)
    if kind == "dateTime":
        try:
            return pandas.to_datetime(pandas.Series(values, dtype=object), utc=True, format="ISO8601").array
        except (ValueError, OverflowError):
            # Values that pandas cannot hold stay text.
            return pandas.array(values, dtype=object)
    # An empty list would be a column of numbers.
    return values or numpy.empty(0, dtype=object)
