"""Turns Python values into message bodies: paths, `__geo_interface__`, numpy and pandas, times."""

from __future__ import annotations

import base64
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping

from ._frames import as_frame, geometry_column
from ._limits import Limits, find_fault
from ._packed import Attachments, PackedColumn, attached
from ._values import column, to_json
from .errors import EncodeError, Error, ProtocolError

if TYPE_CHECKING:
    from ._framing import Storage

# Which params are columns, by method; a test compares this with the definition.
COLUMNS: dict[str, tuple[str, ...]] = {
    "entity/pushColumns": ("x", "y", "z"),
    "overlay/addColumns": ("x", "y", "z", "ids"),
    "overlay/updateColumns": ("x", "y", "z", "ids"),
    "overlay/removeGraphics": ("ids",),
    "overlay/select": ("ids",),
}
COLUMN_MAPS: dict[str, tuple[str, ...]] = {
    "entity/pushColumns": ("attributes",),
    "overlay/addColumns": ("attributes",),
    "overlay/updateColumns": ("attributes",),
}
# Which params are features in columns.
COLUMN_SETS: dict[str, str] = {"source/openInline": "columns", "source/addColumns": "columns"}
# Which params are graphics.
_GRAPHICS = frozenset(("overlay/addGraphics", "overlay/replaceGraphics"))
_GEOMETRY_TYPES = frozenset(
    ("Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection", "WKT", "WKB",
     "Envelope")
)

# Texts of at least so many bytes are cut out of messages.
_LONG = 1 << 14
# Columns of at least so many bytes are attached.
_ATTACHED = 1 << 10

# Exceptions of values that are not what they were taken for.
_ODD = (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError)


def dumps(message: Any, limits: Limits = Limits(), attachments: Attachments | None = None) -> bytes:
    """A message's JSON in UTF-8, which the server will not refuse as a whole. Columns go into the attachments if there are some."""
    try:
        texts: list[bytes] = []
        mark = os.urandom(16).hex()
        body = _text(_cut(message, mark, texts, attachments)).encode("utf-8")
        if texts:
            rest = body.split(b'"%b"' % mark.encode())
            body = b'"'.join(piece for pair in zip(rest, texts) for piece in pair) + b'"' + rest[-1]
    except EncodeError:
        raise
    except _ODD as error:
        raise EncodeError(f"cannot be put into a message: {_fault(message, error)}") from error
    limits.check(body, 0 if attachments is None else attachments.size)
    return body


def _cut(value: Any, mark: str, texts: list[bytes], attachments: Attachments | None, depth: int = 0) -> Any:
    """The value with columns attached, or with a mark in place of long base64: `json` takes three times as long for it as encoding."""
    if type(value) is dict and depth < 8:
        return {name: _cut(member, mark, texts, attachments, depth + 1) for name, member in value.items()}
    if type(value) is not PackedColumn:
        return value
    data: Any = value.buffer
    if attachments is not None and len(data) >= _ATTACHED:
        data = attachments.add(data)
    elif len(data) >= _LONG:
        texts.append(base64.b64encode(data))
        data = mark
    else:
        data = value["data"]
    return {name: data if name == "data" else _cut(value[name], mark, texts, attachments, depth + 1) for name in value}


def loads(body: bytes | Storage, attachments: memoryview | None = None) -> Any:
    """A message's value. Raises `ProtocolError` for what is none."""
    try:
        return _loads(body, attachments)
    except ProtocolError:
        raise
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the server wrote what is no JSON, or is nested too deeply ({error}): {bytes(body[:200])!r}") from error


def _loads(body: bytes | Storage, attachments: memoryview | None) -> Any:
    """Long strings without escapes, such as base64, are cut out: `json` looks at each of their characters."""
    texts: dict[str, str] = {}
    rest: list[bytes] = []
    mark = os.urandom(16).hex() if len(body) >= 2 * _LONG else ""
    start = copied = 0
    while start + _LONG <= len(body):
        if body.find(b'"', start, start + _LONG) >= 0:
            start += _LONG
            continue
        begin, end = body.rfind(b'"', copied, start) + 1, body.find(b'"', start + _LONG)
        if end < 0:
            break
        # Between strings no letter or digit follows a quote.
        if begin > 0 and body[begin : begin + 1].isalnum() and body.find(b"\\", begin, end) < 0:
            texts[f"{mark}{len(texts)}"] = str(memoryview(body)[begin:end], "utf-8")
            rest += bytes(body[copied:begin]), f"{mark}{len(texts) - 1}".encode()
            copied = end
        start = end + 1
    if not texts and attachments is None:
        return json.loads(str(body, "utf-8"))
    found = 0

    def restored(members: dict[str, Any]) -> dict[str, Any]:
        nonlocal found
        for name, value in members.items():
            if type(value) is str and value in texts:
                members[name] = texts[value]
                found += 1
        return members if attachments is None else attached(members, attachments)

    value = json.loads(b"".join((*rest, body[copied:])), object_hook=restored)
    if found == len(texts):
        return value
    return json.loads(str(body, "utf-8"), object_hook=None if attachments is None else lambda members: attached(members, attachments))


def _text(message: Any, allow_nan: bool = False) -> str:
    return json.dumps(message, default=to_json, ensure_ascii=False, allow_nan=allow_nan, separators=(",", ":"))


def _fault(message: Any, error: Exception) -> str:
    """The fault and its pointer, as far as the value can be converted to text."""
    if isinstance(error, ValueError):
        try:
            return find_fault(_text(message, allow_nan=True)) or str(error)
        except Exception:  # It is the first error that counts.
            pass
    return str(error)


@contextmanager
def encoding(what: str) -> Iterator[None]:
    """Raises `EncodeError` for values of a wrong type, whatever exception Python raises."""
    try:
        yield
    except Error:
        raise
    except _ODD as error:
        raise EncodeError(f"{what}: {type(error).__name__}: {error}") from error


def prepare(method: str, params: Mapping[str, Any], limits: Limits = Limits()) -> dict[str, Any]:
    """The params with columns packed and graphics made of values with a `__geo_interface__`."""
    out = _packed(params, COLUMNS.get(method, ()), COLUMN_MAPS.get(method, ()), "/params")
    if method == "overlay/addColumns" and out.get("geometry") is not None:
        out["geometry"] = geometry_column(out["geometry"], "/params/geometry")
    name = "columns" if method.startswith("geometry/") else COLUMN_SETS.get(method)
    if name is not None and isinstance(out.get(name), Mapping):
        out[name] = _packed(out[name], COLUMNS["overlay/addColumns"], ("attributes",), f"/params/{name}")
        if out[name].get("geometry") is not None:
            out[name]["geometry"] = geometry_column(out[name]["geometry"], f"/params/{name}/geometry")
    if method in _GRAPHICS and out.get("graphics") is not None:
        _check_count(out["graphics"], limits)
        out["graphics"] = graphics(out["graphics"], replaces=method == "overlay/replaceGraphics")
    return out


def _packed(params: Mapping[str, Any], columns: Iterable[str], maps: Iterable[str], place: str) -> dict[str, Any]:
    """Params with these as columns."""
    out = dict(params)
    for name in columns:
        if out.get(name) is not None:
            out[name] = column(out[name], f"{place}/{name}", takes_gaps=False)
    for name in maps:
        if out.get(name) is not None:
            out[name] = {str(key): column(values, f"{place}/{name}/{key}") for key, values in dict(out[name]).items()}
    return out


def _check_count(values: Any, limits: Limits) -> None:
    """Raises for so many graphics that one message cannot have them, before time is spent on them."""
    count, most = len(values) if hasattr(values, "__len__") and not isinstance(values, Mapping) else 0, limits.message_values
    # The graphic, its geometry with type and coordinates, x and y.
    if most is not None and count * 6 > most:
        raise EncodeError(
            f"/params/graphics: {count:,} graphics have more than the {most:,} values of a message: `overlay.add` takes a"
            " GeoDataFrame of any length, `overlay.add_columns` takes x and y"
        )


def graphics(values: Any, *, replaces: bool = False) -> list[Any]:
    """Graphics from a GeoDataFrame, a FeatureCollection, a feature, a geometry, or a list of these."""
    frame = as_frame(values, "/params/graphics", ranges=replaces)
    if frame is not None:
        return frame.graphics("the overlay")
    values = _geo(values)
    reference = None
    if isinstance(values, Mapping):
        reference = _stated_reference(values)
        values = values["features"] if values.get("type") == "FeatureCollection" else [values]
    made = [_graphic(_geo(value)) for value in values]
    if reference is None:
        return made
    return [{"spatialReference": reference, **each} if isinstance(each, Mapping) else each for each in made]


def _stated_reference(values: Mapping[str, Any]) -> str | None:
    """The spatial reference that a `crs` member (GeoJSON 2008) names."""
    crs = values.get("crs")
    name = crs["properties"].get("name") if isinstance(crs, Mapping) and isinstance(crs.get("properties"), Mapping) else None
    return name if isinstance(name, str) else None


def _graphic(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _GEOMETRY_TYPES:
        return {"geometry": value}
    # GeoJSON names features by strings too; a graphic's id is an integer, and is minted if there is none.
    if value.get("type") == "Feature" and isinstance(value.get("id"), str):
        return {key: member for key, member in value.items() if key != "id"}
    return value


def _geo(value: Any) -> Any:
    return value if isinstance(value, (Mapping, list, tuple)) else getattr(value, "__geo_interface__", value)
