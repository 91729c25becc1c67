"""One value for each row, as the protocol's `Column`: lists, `array.array`, numpy, pandas; and the reverse."""

from __future__ import annotations

import array
import base64
import datetime
import decimal
import math
import os
import struct
import sys
import uuid
from typing import Any, Iterable, Mapping

from ._packed import PackedColumn, data_of
from .errors import EncodeError, misfit

# Their bytes in packed columns: numpy is not needed to search for them.
_INFINITIES = (struct.pack("<d", math.inf), struct.pack("<d", -math.inf))

# Types that are the same in JSON.
_PLAIN = frozenset((str, int, bool, type(None)))


def column(values: Any, place: str = "a column", *, takes_gaps: bool = True) -> Any:
    """One value for each row, as the protocol's `Column`; errors name the `place`, and the row.

    Arrays of numbers (numpy, pandas, `array.array`) are packed: they read ten times faster than digits. Lists stay lists,
    with NaN as null. Masked values are null as well, but an error if the column does not allow gaps.
    """
    if isinstance(values, Mapping):
        return values
    if isinstance(values, array.array):
        return _of_array(values, place)
    if hasattr(values, "to_numpy"):
        values = _of_pandas(values, place)
    if hasattr(values, "dtype") and hasattr(values, "astype"):
        if getattr(values, "ndim", 1) != 1:
            raise EncodeError(f"{place}: a column has one dimension, not {values.ndim}")
        return _of_numpy(values, place, takes_gaps)
    return _rows(list(values), place)


def unpacked(values: Any) -> list[Any]:
    """The values of a `Column` by row; NaN is None. Those of a `GeometryColumn` are well-known binary."""
    if not isinstance(values, Mapping):
        return list(values)
    if values["type"] == "WKB":
        data, ends = bytes(data_of(values)), unpacked(values["offsets"])
        return [data[start:end] if end > start else None for start, end in zip(ends, ends[1:])]
    numbers = array.array("d" if values["type"] == "float64" else "q", bytes(data_of(values)))
    if sys.byteorder == "big":
        numbers.byteswap()
    return [None if number != number else number for number in numbers]


def value(given: Any) -> Any:
    """The JSON value for a value that JSON does not have: times, durations, decimals, bytes, paths."""
    if is_missing(given):
        return None
    if _is_numpy_time(given):
        return _texts(given.reshape(1), "a time")[0]
    if isinstance(given, datetime.datetime):
        # Without a zone it is UTC, as numpy's times are.
        text = given.isoformat() if given.tzinfo else given.isoformat() + "Z"
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(given, (datetime.date, datetime.time)):
        return given.isoformat()
    if isinstance(given, datetime.timedelta):
        return _duration(given)
    if isinstance(given, decimal.Decimal):
        return float(given)
    if isinstance(given, uuid.UUID):
        return str(given)
    if isinstance(given, (bytes, bytearray)):
        return base64.b64encode(given).decode("ascii")
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    return given


def to_json(given: Any) -> Any:
    """Converts values that `json` does not support."""
    geo = getattr(given, "__geo_interface__", None)
    if geo is not None:
        return geo
    plain = value(given)
    if plain is not given:
        return plain
    if isinstance(given, Mapping):
        return dict(given)
    if hasattr(given, "tolist"):
        return given.tolist()
    if isinstance(given, (set, frozenset)) or hasattr(given, "__iter__"):
        return list(given)
    raise EncodeError(f"{type(given).__name__} cannot be put into a message: {given!r:.80}")


def is_missing(given: Any) -> bool:
    if isinstance(given, float):
        return math.isnan(given)
    pandas = sys.modules.get("pandas")
    return pandas is not None and (given is pandas.NA or given is pandas.NaT)


def _is_numpy_time(given: Any) -> bool:
    return type(given).__module__ == "numpy" and type(given).__name__ in ("datetime64", "timedelta64")


def _of_array(values: Any, place: str) -> Any:
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


def _of_pandas(values: Any, place: str) -> Any:
    """A numpy array, or a list if an array would lose something."""
    kind = type(values.dtype).__name__
    if kind == "DatetimeTZDtype":
        # In its own unit: what nanoseconds cannot hold, numpy would turn into other times.
        return values.to_numpy(dtype=f"datetime64[{values.dtype.unit}]")
    if kind == "PeriodDtype":
        return [None if is_missing(period) else str(period) for period in values.tolist()]
    if type(values.dtype).__module__.startswith("numpy") or not bool(values.isna().any()):
        return values.to_numpy()
    if kind in ("Float64Dtype", "Float32Dtype"):
        return values.to_numpy(dtype="float64", na_value=math.nan)
    # A nullable integer column with gaps would become floats, and lose what is beyond 2^53.
    return values.tolist()


def _of_numpy(values: Any, place: str, takes_gaps: bool) -> Any:
    """A column of a numpy array of one dimension."""
    gaps = _masked_rows(values)
    if gaps and not takes_gaps:
        raise EncodeError(f"{place}/{gaps[0]} is masked: only attributes may have gaps")
    kind = values.dtype.kind
    if hasattr(values, "filled"):
        # A masked element is not data, and may not even be a number: any value may replace it.
        values = values.filled(0) if kind in "iuf" else values.filled()
    if kind == "f":
        numbers = values.astype("<f8", copy=bool(gaps))
        if gaps:
            numbers[gaps] = math.nan
        return _packed(True, _bytes(numbers), place)
    if kind in "iu" and not gaps:
        if kind == "u" and len(values) and int(values.max()) >= 2**63:
            raise EncodeError(f"{place}: a column holds integers beyond 64 bits")
        return _packed(False, _bytes(values.astype("<i8", copy=False)), place)
    rows = _texts(values, place) if kind in "MmS" else values.tolist()
    for row in gaps:
        rows[row] = None
    return rows if kind in "iubUMmS" else _rows(rows, place)


def _texts(values: Any, place: str) -> list[Any]:
    """Times and durations, whose numbers do not state zone and unit, and bytes."""
    kind = values.dtype.kind
    if kind == "S":
        return [_utf8(value, place, row) for row, value in enumerate(values.tolist())]
    if kind == "m":
        return [None if each is None else _duration(each) for each in values.astype("timedelta64[us]").tolist()]
    fine = values.astype("datetime64[us]")
    unit = "us" if bool((fine.astype("i8") % 1000).any()) and not _are_whole(fine) else "ms"
    texts = fine.astype(f"datetime64[{unit}]").astype(str).tolist()
    return [None if text == "NaT" else text + "Z" for text in texts]


def _are_whole(times: Any) -> bool:
    """Whether all times that are not missing are whole milliseconds."""
    numpy = sys.modules["numpy"]
    return not bool((times[~numpy.isnat(times)].astype("i8") % 1000).any())


def _rows(values: list[Any], place: str) -> list[Any]:
    """Values of any type, each in its JSON form."""
    odd = set(map(type, values)) - _PLAIN
    if not odd:
        return values
    if odd == {float}:
        return [None if each != each else each for each in values]
    return [each if type(each) in _PLAIN else _row(each, place, row) for row, each in enumerate(values)]


def _row(given: Any, place: str, row: int) -> Any:
    if type(given).__module__ == "numpy" and getattr(given, "ndim", None) == 0 and not _is_numpy_time(given):
        given = given.item()
    found = value(given)
    if isinstance(found, (str, int, float, bool, type(None), Mapping, list, tuple, set, frozenset)):
        return found
    if hasattr(found, "__geo_interface__") or hasattr(found, "tolist"):
        return found
    raise EncodeError(f"{place}/{row}: {type(given).__name__} is no value of an attribute: {given!r:.80}")


def _duration(given: datetime.timedelta) -> str:
    """The duration by ISO 8601: P1DT2H3M4.5S."""
    sign, given = ("-", -given) if given < datetime.timedelta() else ("", given)
    minutes, seconds = divmod(given.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{given.microseconds:06}".rstrip("0") if given.microseconds else ""
    return f"{sign}P{given.days}DT{hours}H{minutes}M{seconds}{fraction}S"


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


def _bytes(numbers: Any) -> Any:
    """The memory of an array if it is one piece, as `bytes` where numbers may be infinite."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(numbers) is not numpy.ndarray or not numbers.flags.c_contiguous or bool(numpy.isinf(numbers).any()):
        return numbers.tobytes()
    return numbers.view("u1").data


def _packed(is_float: bool, data: Any, place: str) -> PackedColumn:
    for infinity in _INFINITIES if is_float and isinstance(data, bytes) else ():
        at = data.find(infinity)
        while at >= 0:
            if at % 8 == 0:
                raise EncodeError(f"{place}/{at // 8} is infinite, which is not a JSON number")
            at = data.find(infinity, at + 1)
    return PackedColumn("float64" if is_float else "int64", data)


def decode_column(column: Any) -> list[Any]:
    """The values of a column of a result by row: numbers, texts; of a geometry column, well-known binary as `bytes`.

    None stands for null. `numpy.asarray(column)` has numbers without a copy.
    """
    try:
        return unpacked(column)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise misfit("a column", error)


def decode_columns(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The attributes of an answer of `feature.query(format="columns")`, or of a part of one: lists by name, in the fields' order."""
    attributes = answer["columns"].get("attributes", {})
    fields: Iterable[Mapping[str, Any]] = answer.get("fields") or [{"name": name} for name in attributes]
    return {field["name"]: decode_column(attributes[field["name"]]) for field in fields}
