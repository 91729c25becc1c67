"""GeoDataFrames and GeoSeries as features in columns, in parts that fit messages. GeoPandas is imported only when it is needed."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from ._packed import PackedColumn
from ._values import column, to_json, unpacked
from .errors import EncodeError

# All ids are less than this.
_ID_LIMIT = 10**14
# Bytes of a number in a packed column.
_NUMBER = 8


def needed(name: str) -> Any:
    """Imports a library that is needed only for frames."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs {name}: pip install 'geomodel-server[geopandas]'") from error


@dataclass(frozen=True)
class Part:
    """Rows of a frame as `FeatureColumns`."""

    first: int
    count: int
    columns: dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """Features in columns."""

    # GeoDataFrame or GeoSeries.
    kind: str
    # The spatial reference of the coordinates; None if the frame does not state one.
    reference: str | None
    # Shapely's geometries, None where a row has none.
    shapes: Any
    # Integers; None if they are to be minted.
    ids: Any
    # Columns of whole frames, as `Column`.
    attributes: dict[str, Any]
    # Types of attributes that cannot be seen from the values, such as times; empty for others.
    types: dict[str, str]

    def __len__(self) -> int:
        return len(self.shapes)

    def warn(self, container: str) -> None:
        """Warns what is assumed if the frame does not state a spatial reference."""
        if self.reference is None and len(self):
            warnings.warn(
                f"the {self.kind} has no crs: its coordinates are assumed to be in the spatial reference of {container}",
                stacklevel=2,
            )

    def fields(self) -> list[dict[str, str]]:
        """The fields of a layer, in the order of the columns."""
        return [{"name": name, "type": kind or _type_of(self.attributes[name])} for name, kind in self.types.items()]

    def without_ids(self) -> Frame:
        return dataclasses.replace(self, ids=None)

    def graphics(self, container: str) -> list[dict[str, Any]]:
        """A graphic for each row; for few rows."""
        self.warn(container)
        columns = {name: unpacked(values) for name, values in self.attributes.items()}
        made = []
        for row, shape in enumerate(self.shapes):
            graphic: dict[str, Any] = {
                "geometry": shape, "attributes": {name: values[row] for name, values in columns.items()}
            }
            if self.reference is not None:
                graphic["spatialReference"] = self.reference
            if self.ids is not None:
                graphic["id"] = int(self.ids[row])
            made.append(graphic)
        return made

    def parts(self, size: int) -> Iterator[Part]:
        """The rows in order, in parts of about `size` bytes before base64; a part of a few large rows may be larger."""
        numpy = needed("numpy")
        place = _coordinates(self.shapes)
        shapes = None if place else _Shapes.of(self.shapes)
        numbers = {name: column(values, f"data/geometry/{name}") for name, values in (place or {}).items()}
        if self.ids is not None:
            numbers["ids"] = column(self.ids, "ids")
        ends = numpy.cumsum(self._sizes(shapes, len(numbers)))
        first = 0
        while first < len(self) or first == 0:
            before = ends[first - 1] if first else 0
            end = min(max(int(numpy.searchsorted(ends, before + size, side="right")), first + 1), len(self))
            columns = {name: _cut(values, first, end) for name, values in numbers.items()}
            if shapes is not None:
                columns["geometry"] = shapes.cut(first, end)
            if self.attributes:
                columns["attributes"] = {name: _cut(values, first, end) for name, values in self.attributes.items()}
            yield Part(first, end - first, columns)
            first = end
            if not len(self):
                return

    def _sizes(self, shapes: _Shapes | None, numbers: int) -> Any:
        """The bytes of each row, before base64."""
        numpy = needed("numpy")
        sizes = numpy.full(len(self), numbers * _NUMBER)
        if shapes is not None:
            sizes += numpy.diff(shapes.offsets) + _NUMBER
        for values in self.attributes.values():
            sizes += _NUMBER if isinstance(values, PackedColumn) else _text_sizes(values)
        return sizes


def as_frame(values: Any, place: str, *, ranges: bool = False) -> Frame | None:
    """A GeoDataFrame or a GeoSeries in columns; None for anything else.

    Its index gives the ids if it has integers that can be ids; an index that merely counts the rows gives them only with `ranges`.
    Another index becomes an attribute.
    """
    geopandas = sys.modules.get("geopandas")
    if geopandas is None or not isinstance(values, (geopandas.GeoDataFrame, geopandas.GeoSeries)):
        return None
    kind = type(values).__name__
    attributes: dict[str, Any] = {}
    types: dict[str, str] = {}
    if isinstance(values, geopandas.GeoDataFrame):
        if values.active_geometry_name is None:
            raise EncodeError(f"{place}: the GeoDataFrame has no active geometry: `set_geometry` sets it")
        for number, name in enumerate(values.columns):
            if name == values.active_geometry_name:
                continue
            if str(name) in attributes:
                raise EncodeError(f"{place}: two columns are named {str(name)!r}")
            attributes[str(name)] = column(values.iloc[:, number], f"{place}/{name}")
            types[str(name)] = _field_type(values.dtypes.iloc[number])
        series = values.geometry
    else:
        series = values
    ids = _ids(values.index, ranges)
    if ids is None and not _counts(values.index):
        _add_index(values.index, attributes, types, place)
    return Frame(kind, _reference(series.crs), series.to_numpy(), ids, attributes, types)


def geometry_column(values: Any, place: str) -> Any:
    """Geometries as the protocol's `GeometryColumn`: of Shapely, or well-known binary; None where a row has none."""
    if isinstance(values, Mapping):
        return values
    rows = list(values)
    if all(row is None or isinstance(row, (bytes, bytearray)) for row in rows):
        numpy = needed("numpy")
        return _Shapes(numpy, [bytes(row or b"") for row in rows]).cut(0, len(rows))
    shapely = needed("shapely")
    for row, each in enumerate(rows):
        if each is not None and not isinstance(each, shapely.Geometry):
            raise EncodeError(f"{place}/{row}: {type(each).__name__} is no geometry of Shapely, nor bytes: {each!r:.80}")
    return shapes_column(rows)


def shapes_column(shapes: Any) -> PackedColumn:
    """Shapely's geometries as a `GeometryColumn`."""
    return _Shapes.of(shapes).cut(0, len(shapes))


class _Shapes:
    """Well-known binary of geometries, and where each row begins."""

    def __init__(self, numpy: Any, rows: list[bytes]) -> None:
        self.rows = rows
        self.offsets = numpy.zeros(len(rows) + 1, dtype="<i8")
        numpy.cumsum(numpy.fromiter(map(len, rows), dtype="i8", count=len(rows)), out=self.offsets[1:])

    @classmethod
    def of(cls, shapes: Any) -> _Shapes:
        numpy, shapely = needed("numpy"), needed("shapely")
        array = numpy.empty(len(shapes), dtype=object)
        array[:] = shapes
        return cls(numpy, [each or b"" for each in shapely.to_wkb(array, include_srid=False, flavor="iso").tolist()])

    def cut(self, first: int, end: int) -> PackedColumn:
        offsets = column(self.offsets[first : end + 1] - self.offsets[first], "offsets")
        return PackedColumn("WKB", b"".join(self.rows[first:end]), offsets=offsets)


def _coordinates(shapes: Any) -> dict[str, Any] | None:
    """x and y, and possibly z, if each row is a point, all with z or all without."""
    shapely = needed("shapely")
    if not len(shapes) or not bool((shapely.get_type_id(shapes) == 0).all()) or bool(shapely.is_empty(shapes).any()):
        return None
    if hasattr(shapely, "has_m") and shapely.geos_version >= (3, 12, 0) and bool(shapely.has_m(shapes).any()):
        return None
    has_z = shapely.has_z(shapes)
    if bool(has_z.any()) and not bool(has_z.all()):
        return None
    place = {"x": shapely.get_x(shapes), "y": shapely.get_y(shapes)}
    return {**place, "z": shapely.get_z(shapes)} if bool(has_z.any()) else place


def _reference(crs: Any) -> str | None:
    """The authority code if one denotes exactly this reference, else WKT."""
    if crs is None:
        return None
    authority = crs.to_authority(min_confidence=100)
    return ":".join(authority) if authority else str(crs.to_wkt())


def one_reference(params: Mapping[str, Any]) -> str | None:
    """The spatial reference of a call: the one that it states, and that of its frames, which have to be the same."""
    geopandas = sys.modules.get("geopandas")
    stated = params.get("spatialReference")
    found, where = (_reference(stated) if hasattr(stated, "to_authority") else stated), "the call's spatial reference"
    for name, values in params.items():
        if geopandas is None or not isinstance(values, (geopandas.GeoSeries, geopandas.GeoDataFrame)):
            continue
        own = _reference(getattr(values, "crs", None))
        if found is None:
            found, where = own, f"the crs of `{name}`"
        elif own is not None and _differ(own, found):
            raise EncodeError(
                f"/params/{name}: its crs is {_short(own)}, {where} is {_short(found)}: `to_crs` brings it there")
    return found


def _differ(one: str, other: str) -> bool:
    """Whether two references differ in more than their names and the order of their axes."""
    if one == other:
        return False
    pyproj = needed("pyproj")
    try:
        return not pyproj.CRS.from_user_input(one).equals(pyproj.CRS.from_user_input(other), ignore_axis_order=True)
    except pyproj.exceptions.CRSError:
        # What PROJ does not know here is for the server to judge.
        return False


def _short(reference: str) -> str:
    return reference if len(reference) <= 40 else f"{reference[:40]}..."


def _field_type(dtype: Any) -> str:
    """The field type of a pandas column; empty if it follows from the values."""
    kind = getattr(dtype, "kind", "O")
    return {"M": "dateTime", "i": "integer", "u": "integer", "f": "double", "b": "boolean"}.get(kind, "")


def _type_of(values: Any) -> str:
    """The field type that values have, as the server sees it."""
    if isinstance(values, PackedColumn):
        return "double" if values["type"] == "float64" else "integer"
    kinds = {type(value) for value in values if value is not None}
    for name, types in (("boolean", {bool}), ("integer", {int}), ("double", {int, float}), ("json", {dict, list})):
        if kinds and kinds <= types:
            return name
    return "string"


def _counts(index: Any) -> bool:
    """Whether an index merely counts the rows."""
    pandas = sys.modules["pandas"]
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1


def _ids(index: Any, ranges: bool) -> Any:
    if _counts(index):
        return index.to_numpy() if ranges else None
    if index.nlevels != 1 or index.dtype.kind not in "iu" or not index.is_unique or not len(index):
        return None
    return index.to_numpy() if index.min() >= 0 and index.max() < _ID_LIMIT else None


def _add_index(index: Any, attributes: dict[str, Any], types: dict[str, str], place: str) -> None:
    for level in range(index.nlevels):
        values = index.get_level_values(level)
        name = str(values.name) if values.name is not None else "index" if index.nlevels == 1 else f"level_{level}"
        if name in attributes:
            raise EncodeError(f"{place}: the index is named as the column {name!r}: `reset_index` or `rename_axis` helps")
        attributes[name] = column(values, f"{place}/{name}")
        types[name] = _field_type(values.dtype)


def _cut(values: Any, first: int, end: int) -> Any:
    """Rows of a `Column`."""
    if isinstance(values, PackedColumn):
        return PackedColumn(values["type"], values.buffer[first * _NUMBER : end * _NUMBER])
    return values[first:end]


def _text_sizes(values: list[Any]) -> Any:
    numpy = needed("numpy")
    # The JSON text has line breaks only between the elements, as long as no element has elements of its own.
    rows = json.dumps(values, ensure_ascii=False, default=to_json, separators=("\n", ":"))[1:-1].encode("utf-8").split(b"\n")
    if len(rows) != len(values):
        rows = [json.dumps(each, ensure_ascii=False, default=to_json).encode("utf-8") for each in values]
    return numpy.fromiter(map(len, rows), dtype="i8", count=len(values)) + 1
