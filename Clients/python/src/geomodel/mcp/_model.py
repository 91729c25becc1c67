"""What several tools do with the model: find the layer that is meant, ask for its features, describe it."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Mapping, Protocol, Sequence

from .._values import decode_column
from ..errors import GeoModelError
from ._answers import fitting

DEGREES = "EPSG:4326"
_STATISTIC = re.compile(r"^\s*(\w+)\s*(?:\(\s*(.*?)\s*\))?\s*(?:as\s+(\S+)\s*)?$", re.IGNORECASE)
_NAMES = ("name", "title", "label", "id")
# The most features whose distances are counted, and groups that are.
MANY = 10_000
# Members of objects, by the names that agents see.
_SUMMARY = {
    "map": {"title": "title", "spatial_reference": "spatialReference", "layers": "operationalLayers", "tables": "tables"},
    "view": {"map": "map", "scene": "scene", "scale": "scale", "overlays": "overlays"},
    "overlay": {"view": "view", "name": "name", "count": "graphicCount", "spatial_reference": "spatialReference"},
    "source": {"driver": "driver", "path": "path", "layers": "layers"},
}


class Caller(Protocol):
    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...


class Misuse(Exception):
    """An argument that no schema refuses: its message is for the agent."""


def present(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


async def target(model: Caller, name: str) -> dict[str, str]:
    """The layer or overlay that is meant, by its id or a layer's name if only one has it; a layer that is not loaded is loaded."""
    found = (await model.call("state/get", {"path": "/layers/*/name"}))["values"]
    named = {value["path"].split("/")[2]: value["value"] for value in found}
    same = [id for id, each in named.items() if each == name]
    layer = name if name in named else same[0] if len(same) == 1 else None
    if layer is None:
        try:
            await model.call("overlay/get", {"overlay": name})
        except GeoModelError as error:
            if error.kind != "unknownId":
                raise
            # The answer names the layers that there are.
            await model.call("layer/get", {"layer": name})
        return {"overlay": name}
    status = (await model.call("state/get", {"path": f"/layers/{layer}/loadStatus"}))["values"][0]["value"]
    if status["type"] == "notLoaded":
        await model.call("layer/load", {"layer": layer})
    return {"layer": layer}


async def without_features(model: Caller, of: Mapping[str, str]) -> Mapping[str, Any]:
    """A raster or a group of layers; empty for what has features."""
    layer: Mapping[str, Any] = await model.call("layer/get", of) if "layer" in of else {}
    return {} if layer.get("kind") in ("feature", "table") else layer


def where_of(
    *,
    where: str | None = None,
    bbox: Sequence[float] | None = None,
    area: Mapping[str, Any] | None = None,
    relationship: str | None = None,
    ids: Sequence[Any] | None = None,
    selected: bool | None = None,
    spatial_reference: str | None = None,
) -> dict[str, Any]:
    """The params by which features are chosen."""
    made = present(whereClause=where, geometry=area, ids=ids, isSelected=selected)
    if area is not None and relationship is not None:
        made["spatialRelationship"] = relationship
    if bbox is not None:
        made["envelope"] = envelope(bbox)
    if bbox is not None or area is not None:
        made["spatialReference"] = spatial_reference or DEGREES
    return made


def envelope(bbox: Sequence[float]) -> dict[str, float]:
    if len(bbox) != 4:
        raise Misuse(f"bbox has 4 numbers, [west, south, east, north], not {len(bbox)}")
    return dict(zip(("xMin", "yMin", "xMax", "yMax"), bbox))


def order(keys: Sequence[str] | None) -> list[dict[str, str]] | None:
    """Sort keys as `name` or `name desc`."""
    if not keys:
        return None
    made = []
    for key in keys:
        field, _, direction = key.rpartition(" ")
        if field and direction.lower() in ("asc", "desc", "ascending", "descending"):
            made.append({"field": field, "order": "descending" if direction.lower().startswith("desc") else "ascending"})
        else:
            made.append({"field": key, "order": "ascending"})
    return made


def statistics(words: Sequence[str]) -> list[dict[str, Any]]:
    """Statistics as `count`, `sum(field)`, `percentile(field, 90)`, each with `as name` if wanted."""
    made = []
    for word in words:
        found = _STATISTIC.match(word)
        if found is None:
            raise Misuse(f"a statistic is written as count, sum(field), mean(field) or percentile(field, 90), not {word!r}")
        kind, inside, name = found.groups()
        each: dict[str, Any] = present(type={"standarddeviation": "standardDeviation"}.get(kind.lower(), kind.lower()), name=name)
        if inside:
            if each["type"] == "percentile":
                inside, _, percent = inside.rpartition(",")
                try:
                    each["percentile"] = float(percent)
                except ValueError:
                    raise Misuse(f"percentile takes a field and a number from 0 to 100, as percentile(field, 90), not {word!r}") from None
            each["field"] = inside.strip().strip('"')
        made.append(each)
    return made


def row(feature: Mapping[str, Any], with_geometry: bool = False) -> dict[str, Any]:
    """A feature as a flat row. An attribute that is called `id` is kept as `id_`."""
    made = {"id": feature["id"]}
    for name, value in feature["properties"].items():
        made[f"{name}_" if name in ("id", "geometry") else name] = value
    if with_geometry:
        made["geometry"] = feature.get("geometry")
    return made


async def rows_by_id(
    model: Caller, of: Mapping[str, str], ids: Sequence[Any], fields: Sequence[str] | None, **more: Any
) -> dict[Any, dict[str, Any]]:
    """The features with these ids as rows."""
    if not ids:
        return {}
    wanted = list(dict.fromkeys(ids))
    asked = {**of, "ids": wanted, "limit": len(wanted), "returnGeometry": False, **present(properties=fields), **more}
    found = await model.call("feature/query", asked)
    return {feature["id"]: row(feature, bool(asked["returnGeometry"])) for feature in found["features"]}


async def label_fields(model: Caller, of: Mapping[str, str]) -> list[str] | None:
    """The field that names features to people: one that is called so, else the first text. None where fields are not declared."""
    if "layer" not in of:
        return None
    fields = (await model.call("layer/get", of)).get("fields", [])
    by_name = {field["name"].lower(): field["name"] for field in fields}
    texts = [field["name"] for field in fields if field["type"] == "string"]
    return [next((by_name[name] for name in _NAMES if name in by_name), texts[0] if texts else fields[0]["name"])] if fields else []


def column(values: Any) -> list[Any]:
    """The values of a column of an answer."""
    return list(decode_column(values))


def layer_summary(layer: Mapping[str, Any], *, with_fields: bool = True) -> dict[str, Any]:
    """What an agent needs to know of a layer."""
    fields = layer.get("fields") if with_fields else None
    named = None if fields is None else dict(fitting([(field["name"], field["type"]) for field in fields], 6000))
    only = layer.get("definitionExpression")
    return present(
        layer=layer["layer"],
        name=layer.get("name"),
        map=layer.get("map"),
        scene=layer.get("scene"),
        source=layer.get("source"),
        kind=layer["kind"],
        geometry_type=layer.get("geometryType"),
        count=layer.get("featureCount"),
        spatial_reference=layer.get("spatialReference"),
        extent=bbox_of(layer.get("extent")),
        status=layer["loadStatus"]["type"],
        visible=layer.get("isVisible"),
        filter=only[:500] if isinstance(only, str) else only,
        selected=layer.get("selectedCount") or None,
        renderer=layer["renderer"]["type"] if layer.get("renderer") else None,
        fields=named,
        fields_count=len(fields or ()) if len(named or ()) < len(fields or ()) else None,
    )


def summary(kind: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent needs to know of an object, in about a hundred bytes."""
    if kind == "layer":
        return layer_summary(found, with_fields=False)
    made = present(**{kind: found[kind]}, **{name: found.get(member) for name, member in _SUMMARY[kind].items()})
    for name, value in list(made.items()):
        if isinstance(value, list):
            ids = [each["name"] if isinstance(each, Mapping) else each for each in value]
            made[name] = fitting(ids, 600)
            if len(made[name]) < len(ids):
                made[f"{name}_count"] = len(ids)
    return made


def bbox_of(extent: Mapping[str, float] | None) -> list[float] | None:
    return None if extent is None else [extent["xMin"], extent["yMin"], extent["xMax"], extent["yMax"]]


async def any_map(model: Caller, wanted: str | None) -> str:
    """The map that is meant: the named one, the only one, or a new one where there is none."""
    if wanted is not None:
        return str((await model.call("map/get", {"map": wanted}))["map"])
    maps = [each["map"] for each in (await model.call("map/list"))["maps"]]
    if len(maps) > 1:
        raise Misuse(f"there are several maps: say which by map: {', '.join(maps)}")
    return str(maps[0] if maps else (await model.call("map/create", {"id": await free_id(model, "map1")}))["map"])


async def free_id(model: Caller, wanted: str) -> str | None:
    """The id, made of letters that ids may have, if no object has it; None otherwise: the server mints one."""
    tidy = re.sub(r"[^A-Za-z0-9_.-]+", "_", wanted).strip("_")[:64]
    if not tidy:
        return None
    paths = [f"/{collection}/{tidy}" for collection in ("layers", "maps", "sources", "views", "overlays", "scenes")]
    found = await asyncio.gather(*(model.call("state/get", {"path": path}) for path in paths))
    return None if any(each["values"] for each in found) else tidy
