"""Turns Python values into message bodies: paths, `__geo_interface__`, numpy and pandas, times."""

from __future__ import annotations

import array
import base64
import datetime
import json
import math
import os
import struct
import sys
from contextlib import contextmanager
from typing import Any, Iterator, Mapping

from ._limits import Limits, find_fault
from .errors import EncodeError, Error

# Which params are columns, by method; a test holds it against the definition.
COLUMNS: dict[str, tuple[str, ...]] = {
    "overlay/addColumns": ("x", "y", "z", "ids"),
    "overlay/updateColumns": ("x", "y", "z", "ids"),
    "overlay/removeGraphics": ("ids",),
    "overlay/select": ("ids",),
}
COLUMN_MAPS: dict[str, tuple[str, ...]] = {
    "overlay/addColumns": ("attributes",),
    "overlay/updateColumns": ("attributes",),
}
_GEOMETRY_TYPES = frozenset(
    ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection", "WKT", "WKB",
     "Envelope")
)

# As packed columns have them: to look for their bytes needs no numpy.
_INFINITIES = (struct.pack("<d", math.inf), struct.pack("<d", -math.inf))

# What values raise that were taken for something they are not.
_ODD = (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError)


def dumps(message: Any, limits: Limits = Limits()) -> bytes:
    """A message's body in UTF-8, which the server will not refuse as a whole."""
    try:
        body = _text(message).encode("utf-8")
    except EncodeError:
        raise
    except _ODD as error:
        raise EncodeError(f"cannot be put into a message: {_fault(message, error)}") from error
    limits.check(body)
    return body


def _text(message: Any, allow_nan: bool = False) -> str:
    return json.dumps(message, default=_to_json, ensure_ascii=False, allow_nan=allow_nan, separators=(",", ":"))


def _fault(message: Any, error: Exception) -> str:
    """The fault and its pointer, as far as the text that can be made of the value shows them."""
    if isinstance(error, ValueError):
        try:
            return find_fault(_text(message, allow_nan=True)) or str(error)
        except Exception:  # It is the first error that counts.
            pass
    return str(error)


@contextmanager
def encoding(what: str) -> Iterator[None]:
    """Values of types that do not fit raise `EncodeError`, whatever Python makes of them."""
    try:
        yield
    except Error:
        raise
    except _ODD as error:
        raise EncodeError(f"{what}: {type(error).__name__}: {error}") from error


def prepare(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params with columns packed and graphics made of whatever has a `__geo_interface__`."""
    out = dict(params)
    for name in COLUMNS.get(method, ()):
        if out.get(name) is not None:
            out[name] = column(out[name], f"/params/{name}", takes_gaps=False)
    for name in COLUMN_MAPS.get(method, ()):
        if out.get(name) is not None:
            columns = dict(out[name])
            out[name] = {str(key): column(values, f"/params/{name}/{key}") for key, values in columns.items()}
    if method == "overlay/addGraphics" and out.get("graphics") is not None:
        out["graphics"] = graphics(out["graphics"])
    return out


def column(values: Any, place: str = "a column", *, takes_gaps: bool = True) -> Any:
    """One value for each row, as the protocol's `Column`; errors name the `place`.

    Arrays of numbers (numpy, pandas, `array.array`) are packed: they read ten times faster than digits. Lists stay lists,
    with NaN as null. Masked values are null as well, but an error where the column does not take gaps.
    """
    if isinstance(values, Mapping):
        return values
    if isinstance(values, array.array):
        code = "d" if values.typecode in "fd" else "q"
        if values.typecode == "u":
            return list(values)
        try:
            packed = values if values.typecode == code else array.array(code, values)
        except OverflowError as error:
            raise EncodeError(f"{place}: a column holds integers beyond 64 bits") from error
        if sys.byteorder == "big":
            packed = array.array(code, packed)
            packed.byteswap()
        return _packed(code == "d", packed.tobytes(), place)
    if hasattr(values, "to_numpy"):
        # A nullable integer column with gaps would become floats, and lose what is beyond 2^53.
        is_nullable = not type(values.dtype).__module__.startswith("numpy") and bool(values.isna().any())
        values = values.tolist() if is_nullable else values.to_numpy()
    if hasattr(values, "dtype") and hasattr(values, "astype"):
        if getattr(values, "ndim", 1) != 1:
            raise EncodeError(f"{place}: a column has one dimension, not {values.ndim}")
        return _array(values, place, takes_gaps)
    return [None if value is None or _is_missing(value) else value for value in values]


def _array(values: Any, place: str, takes_gaps: bool) -> Any:
    """A column of a numpy array of one dimension."""
    gaps = _masked_rows(values)
    if gaps and not takes_gaps:
        raise EncodeError(f"{place}/{gaps[0]} is masked: only attributes may have gaps")
    kind = values.dtype.kind
    if hasattr(values, "filled"):
        # What stands under a mask is no data, and may not even be a number: anything does as well.
        values = values.filled(0) if kind in "iuf" else values.filled()
    if kind == "f":
        numbers = values.astype("<f8")
        if gaps:
            numbers[gaps] = math.nan
        return _packed(True, numbers.tobytes(), place)
    if kind in "iu" and not gaps:
        if kind == "u" and len(values) and int(values.max()) >= 2**63:
            raise EncodeError(f"{place}: a column holds integers beyond 64 bits")
        return _packed(False, values.astype("<i8").tobytes(), place)
    if kind == "M":
        rows = [None if text == "NaT" else text + "Z" for text in values.astype("datetime64[ms]").astype(str).tolist()]
    elif kind == "S":
        rows = [_utf8(value, place, row) for row, value in enumerate(values.tolist())]
    else:
        rows = [None if value is None or _is_missing(value) else value for value in values.tolist()]
    for row in gaps:
        rows[row] = None
    return rows


def _masked_rows(values: Any) -> list[int]:
    """The rows that a numpy masked array masks."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(values, numpy.ma.MaskedArray):
        return []
    rows: list[int] = numpy.ma.getmaskarray(values).nonzero()[0].tolist()
    return rows


def _utf8(value: bytes, place: str, row: int) -> str:
    """numpy's dtype `S` is how it keeps text in bytes, while `bytes` elsewhere are binary."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EncodeError(f"{place}/{row}: the bytes are no UTF-8: {value!r:.80}") from error


def graphics(values: Any) -> list[Any]:
    """Graphics out of a FeatureCollection, a feature, a geometry, or a list of such things."""
    values = _geo(values)
    if isinstance(values, Mapping):
        values = values["features"] if values.get("type") == "FeatureCollection" else [values]
    return [_graphic(_geo(value)) for value in values]


def _graphic(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _GEOMETRY_TYPES:
        return {"geometry": value}
    # GeoPandas names rows by strings; a graphic's id is an integer, and is minted where there is none.
    if value.get("type") == "Feature" and isinstance(value.get("id"), str):
        return {key: member for key, member in value.items() if key != "id"}
    return value


def _geo(value: Any) -> Any:
    return value if isinstance(value, (Mapping, list, tuple)) else getattr(value, "__geo_interface__", value)


def _packed(is_float: bool, data: bytes, place: str) -> dict[str, str]:
    for infinity in _INFINITIES if is_float else ():
        at = data.find(infinity)
        while at >= 0:
            if at % 8 == 0:
                raise EncodeError(f"{place}/{at // 8} is infinite, which is not a JSON number")
            at = data.find(infinity, at + 1)
    return {"type": "float64" if is_float else "int64", "data": base64.b64encode(data).decode("ascii")}


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _to_json(value: Any) -> Any:
    """What `json` does not know by itself."""
    geo = getattr(value, "__geo_interface__", None)
    if geo is not None:
        return geo
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if _is_missing(value):
        return None
    if isinstance(value, datetime.datetime):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)) or hasattr(value, "__iter__"):
        return list(value)
    raise EncodeError(f"{type(value).__name__} cannot be put into a message: {value!r:.80}")
