"""Pictures: the bytes of one that was drawn, and the one that a notebook shows of a view, a layer, an overlay or a query's result."""

from __future__ import annotations

import base64
import html
from pathlib import Path
from typing import Any, Callable, Mapping

from ._values import unpacked
from .errors import Error

# Base64 of a PNG; None where there is no picture.
Draw = Callable[[], "str | None"]

# Seconds, and features of a query, above which a notebook shows the table alone: a picture is no reason to wait for long.
PATIENCE = 5.0
_MOST = 20_000
_WIDTH, _HEIGHT = 640, 480
_TYPES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}


def picture_bytes(result: Mapping[str, Any]) -> bytes:
    """The file of a picture: `geomodel.picture_bytes(server.view.render(view="v1"))`. That of a `path` is read from there."""
    picture: Mapping[str, Any] = result.get("picture", result)
    if "data" in picture:
        return base64.b64decode(str(picture["data"]))
    if "path" in picture:
        return Path(picture["path"]).read_bytes()
    raise ValueError("there is no picture in this: it is the result of view.render, layer.render, overlay.render or feature.render")


def bundle(result: Mapping[str, Any]) -> dict[str, str] | None:
    """What a notebook shows of a picture that came with a result."""
    picture = result.get("picture")
    if not isinstance(picture, Mapping) or "data" not in picture or picture.get("format") not in _TYPES:
        return None
    kind = _TYPES[picture["format"]]
    return {kind: base64.b64decode(picture["data"]).decode() if kind == "image/svg+xml" else picture["data"]}


def image(data: str, alt: str) -> str:
    """A PNG as an element of HTML."""
    return f'<img alt="{html.escape(alt)}" style="max-width: 100%" src="data:image/png;base64,{data}">'


def drawing(call: Callable[[str, Mapping[str, Any]], Any], method: str, params: Mapping[str, Any], result: Any) -> Draw | None:
    """How that is drawn which a result describes, as it is when it is shown; None where there is nothing to draw."""
    found = _asked(method, params, result) if isinstance(result, Mapping) else None
    if found is None:
        return None
    drawn_by, asked = found

    def draw() -> str | None:
        try:
            drawn = call(drawn_by, asked)
        except (Error, OSError, RuntimeError):
            return None
        data: str | None = drawn["picture"].get("data")
        return data

    return draw


def _asked(method: str, params: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    if method == "view/get" and ("map" in result or "scene" in result):
        return "view/render", {"view": result["view"]}
    if method == "layer/get" and "geometryType" in result and result["loadStatus"]["type"] == "loaded":
        return "layer/render", {"layer": result["layer"], **_size(result.get("extent"))}
    if method == "overlay/get" and result["graphicCount"]:
        return "overlay/render", {"overlay": result["overlay"], **_size(None)}
    if method == "feature/query" and params.get("returnGeometry") is not False:
        return _found(params, result)
    return None


def _found(params: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Exactly the features that a query has answered, which may be a part of those that match."""
    columns = result.get("columns", {})
    ids = unpacked(columns["ids"]) if "ids" in columns else [feature.get("id") for feature in result.get("features", ())]
    if not 0 < len(ids) <= _MOST:
        return None
    of = {name: params[name] for name in ("layer", "overlay", "entitySource", "entityFeatures") if name in params}
    return "feature/render", {**of, "ids": ids, **_size(None)}


def _size(extent: Mapping[str, float] | None) -> dict[str, float]:
    """As high as it has to be for that extent."""
    wide = extent["xMax"] - extent["xMin"] if extent else 0
    high = wide and extent and (extent["yMax"] - extent["yMin"]) / wide * _WIDTH
    return {"width": _WIDTH, "height": min(max(high or _HEIGHT, _HEIGHT / 3), _HEIGHT)}
