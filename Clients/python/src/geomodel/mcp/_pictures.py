"""Pictures of views for agents: of a size that they read, with the numbers of what is seen."""

from __future__ import annotations

from typing import Any, Mapping

from ..errors import GeoModelError
from ._model import DEGREES, Caller, present

# Bytes of a picture, and pixels of its longer side: more than this agents scale down themselves.
_BYTES, _SIDE = 1_000_000, 1024
_LAYERS = 20


async def view_picture(model: Caller, view: str) -> Mapping[str, Any]:
    """The picture of what a view shows, scaled down until it fits."""
    size = await model.call("view/get", {"view": view})
    ratio = min(1.0, _SIDE / max(size["width"], size["height"]))
    while True:
        drawn: Mapping[str, Any] = (await model.call("view/render", {"view": view, "pixelRatio": max(ratio, 0.1)}))["picture"]
        if drawn["bytes"] <= _BYTES or ratio <= 0.1:
            return drawn
        ratio *= 0.7


def summary(picture: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a picture beside it."""
    failed = [each.get("layer") or each.get("overlay") for each in picture.get("failed", ())]
    return present(
        width=picture["width"], height=picture["height"], labels=picture["labelCount"], labels_without_room=picture["omittedLabelCount"] or None,
        not_drawn=failed or None,
    )


async def features_seen(model: Caller, view: str) -> dict[str, int] | None:
    """The number of features within the visible area, by layer and overlay, from the top; None where it has no area in degrees."""
    try:
        box = (await model.call("view/getVisibleArea", {"view": view, "spatialReference": DEGREES}))["envelope"]
    except GeoModelError:
        return None
    states, info = await model.call("view/layerViewStates", {"view": view}), await model.call("view/get", {"view": view})
    drawn = [{"overlay": id} for id in reversed(info["overlays"])]
    drawn += [{"layer": each["layer"]} for each in reversed(states["layers"]) if each["flags"] == ["active"]]
    seen: dict[str, int] = {}
    for of in drawn[:_LAYERS]:
        try:
            count = (await model.call("feature/queryCount", {**of, "envelope": box, "spatialReference": DEGREES}))["count"]
        except GeoModelError:
            continue  # A group, or what has no place in degrees.
        seen[next(iter(of.values()))] = count
    return seen
