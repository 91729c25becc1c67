"""The tools that change what a map shows, and those that write files of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Mapping

from mcp_types import CallToolResult, ImageContent
from pydantic import Field

from . import _pictures
from ._answers import BYTES, fitting
from ._model import DEGREES, MANY, Misuse, any_map, bbox_of, envelope, free_id, order, present, target, where_of, without_features
from ._schemas import Area, Box, Changed, Fields, Ids, Layer, Order, Shown, Undone, Where, Written
from ._tool import Tool, answer

_COLORS = ["#1F78B4", "#33A02C", "#E31A1C", "#FF7F00", "#6A3D9A", "#B15928", "#A6CEE3", "#B2DF8A", "#FB9A99", "#FDBF6F"]


class ChangingTools(Tool):
    """Selections, layers, symbols and viewpoints; files."""

    # Changing the map

    async def select_features(
        self,
        layer: Layer,
        where: Where = None,
        bbox: Box = None,
        area: Area = None,
        ids: Ids = None,
        mode: Literal["new", "add", "subtract"] = "new",
        clear: Annotated[bool, Field(description="Selects nothing.")] = False,
        spatial_reference: Annotated[str, Field(description="Of bbox and area.")] = DEGREES,
    ) -> Annotated[CallToolResult, Changed]:
        """Selects features, which the user sees highlighted. Query them later by selected=true."""
        of = await target(self._model, layer)
        chosen = where_of(where=where, bbox=bbox, area=area, ids=[] if clear else ids, spatial_reference=spatial_reference)
        if not chosen:
            raise Misuse('say which: where, bbox, area, ids; where="TRUE" for all, or clear')
        made = await self._model.call("feature/select", {**of, **chosen, "mode": mode})
        return answer(revision=made["revision"], layer=layer, selected=made["selectedCount"])

    async def update_layer(
        self,
        layer: Layer,
        filter: Annotated[str | None, Field(description='CQL2: only these features are drawn and queried; "" removes the filter.')] = None,
        name: Annotated[str | None, Field(description="The name shown to people.")] = None,
        visible: bool | None = None,
        opacity: Annotated[float | None, Field(ge=0, le=1)] = None,
        labels: Annotated[str | None, Field(description="CQL2 for the labels' text, as a field's name; \"\" removes them.")] = None,
    ) -> Annotated[CallToolResult, Changed]:
        """Changes a layer's filter, name, visibility, opacity or labels. One step that undo takes back."""
        of = await target(self._model, layer)
        changes = present(
            name=name,
            isVisible=visible,
            opacity=opacity,
            definitionExpression=filter or None,
            **({} if labels is None else {"labels": [{"expression": labels}] if labels else [], "labelsEnabled": bool(labels)}),
        )
        if filter == "":
            changes["clear"] = ["definitionExpression"]
        if not changes:
            raise Misuse("nothing to change: give filter, name, visible, opacity or labels")
        if "layer" not in of and filter is not None:
            raise Misuse("an overlay has no filter: query it by where")
        made = await self._model.call("layer/update" if "layer" in of else "overlay/update", {**of, **changes})
        has_features = not await without_features(self._model, of)
        count = (await self._model.call("feature/queryCount", of))["count"] if has_features else None
        return answer(revision=made["revision"], layer=next(iter(of.values())), matching=count)

    async def set_renderer(
        self,
        layer: Layer,
        kind: Annotated[
            Literal["simple", "uniqueValue", "classBreaks", "none"],
            Field(description="One symbol; one for each value of a field; one for each range of numbers."),
        ],
        field: Annotated[str | None, Field(description="For uniqueValue and classBreaks.")] = None,
        colors: Annotated[list[str] | None, Field(description='As ["#FFFFB2", "#BD0026"]; for classBreaks a ramp.')] = None,
        classes: Annotated[int, Field(ge=1, le=256, description="classBreaks: number of classes.")] = 5,
        method: Annotated[
            Literal["equalInterval", "quantile", "naturalBreaks"], Field(description="classBreaks: how they are divided.")
        ] = "quantile",
        size: Annotated[float | None, Field(gt=0, description="Pixels: a marker's size or a line's width.")] = None,
    ) -> Annotated[CallToolResult, Changed]:
        """Sets how a layer is drawn; answers with its legend and counts. One step that undo takes back.
        Example: {"layer": "countries", "kind": "classBreaks", "field": "pop_est", "classes": 4}"""
        model = self._model
        of = await target(model, layer)
        if "layer" not in of:
            raise Misuse("an overlay's renderer: call('overlay/update')")
        info = await model.call("layer/get", of)
        if kind in ("uniqueValue", "classBreaks") and field is None:
            raise Misuse(f"{kind} needs field; the layer has {', '.join(each['name'] for each in info.get('fields', []))}")
        palette = colors or _COLORS
        if kind == "classBreaks":
            params = {**of, "field": field, "method": method, "classCount": classes, **present(colors=colors)}
            renderer = (await model.call("layer/classBreaks", params))["renderer"]
        elif kind == "uniqueValue":
            # The commonest values; a legend of more colours tells nobody anything.
            counted = await model.call("feature/queryDistinctValues", {**of, "fields": [field], "limit": MANY})
            common = sorted(counted["records"], key=lambda record: -record["count"])[: max(len(palette), 1)]
            values = [record["values"][field] for record in common if record["values"][field] is not None]
            renderer = {
                "type": "uniqueValue",
                "fields": [field],
                "defaultSymbol": _symbol(info, "#D3D3D3", size),
                "defaultLabel": "other",
                "uniqueValues": [
                    {"values": [value], "symbol": _symbol(info, palette[at], size), "label": str(value)} for at, value in enumerate(values)
                ],
            }
        else:
            renderer = {"type": "simple", "symbol": _symbol(info, palette[0], size)}
        change = {"clear": ["renderer"]} if kind == "none" else {"renderer": renderer}
        made = await model.call("layer/update", {**of, **change})
        legend = await model.call("layer/legend", {**of, "includeCounts": True})
        entries = [
            present(label=each.get("label"), color=each.get("symbol", {}).get("color"), count=each.get("count"))
            for each in legend["entries"]
        ]
        return answer(revision=made["revision"], layer=of["layer"], legend=fitting(entries, BYTES - 1000))

    async def set_viewpoint(
        self,
        view: Annotated[str | None, Field(description="A view's id; the only one, or a new one, when absent.")] = None,
        center: Annotated[list[float] | None, Field(description="[x, y] in spatial_reference; with scale.")] = None,
        scale: Annotated[float | None, Field(gt=0, description="Denominator: 25000 for 1:25,000.")] = None,
        bbox: Box = None,
        layer: Annotated[str | None, Field(description="A layer, by id or name, whose features are to be seen.")] = None,
        where: Annotated[str | None, Field(description="CQL2: which features of layer.")] = None,
        rotation: Annotated[float | None, Field(description="Degrees clockwise.")] = None,
        spatial_reference: Annotated[str, Field(description="Of center and bbox.")] = DEGREES,
        picture: Annotated[
            bool, Field(description="Answers with a picture (PNG) of what is seen then, too; alone, or with view, it moves nothing.")
        ] = False,
    ) -> Annotated[CallToolResult, Shown]:
        """Moves what the user sees: to a center and scale, a box, or the features of a layer; or looks at it, by picture. Undo does not
        take it back. Examples: {"layer": "countries", "where": "name = 'Chad'"}; {"picture": true} to see the map as it is"""
        model = self._model
        if center is not None and len(center) != 2:
            raise Misuse("center is [x, y]")
        if layer is not None:
            of = await target(model, layer)
            found = await without_features(model, of) if where is None else {}
            spatial_reference = found.get("spatialReference", DEGREES)
            if "extent" not in found:
                found = await model.call("feature/queryExtent", {**of, **present(whereClause=where), "outSpatialReference": DEGREES})
            if "extent" not in found:
                raise Misuse("no features match, so there is nothing to show: check where by query_features")
            bbox = bbox_of(found["extent"])
        if bbox is not None:
            to: dict[str, Any] = {
                "type": "boundingGeometry",
                "geometry": {"type": "Envelope", **envelope(bbox)},
                "spatialReference": spatial_reference,
                "padding": 20,
            }
        elif center is not None:
            to = {"type": "center", "center": {"type": "Point", "coordinates": center}, "spatialReference": spatial_reference}
            if scale is not None:
                to.update(type="centerAndScale", targetScale=scale)
        elif scale is not None:
            to = {"type": "scale", "targetScale": scale}
        elif rotation is not None:
            to = {"type": "rotation", "rotation": rotation}
        elif picture:
            to = {}
        else:
            raise Misuse("say where to: center, scale, bbox, layer or rotation; or ask for a picture of what is seen now")
        if rotation is not None and to.get("type") in ("boundingGeometry", "centerAndScale"):
            to["rotation"] = rotation
        if view is None:
            views = [each["view"] for each in (await model.call("view/list"))["views"]]
            if len(views) > 1:
                raise Misuse(f"there are several views: say which by view: {', '.join(views)}")
            view = views[0] if views else None
        if view is None:
            view = (await model.call("view/create", {"map": await any_map(model, None), **present(id=await free_id(model, "view1"))}))[
                "view"
            ]
        made = await model.call("view/setViewpoint", {"view": view, "viewpoint": to}) if to else {}
        seen = await model.call("view/getViewpoint", {"view": view})
        shown = {"view": view, "viewpoint": seen["viewpoint"], "constrained": made.get("constrained")}
        if not picture:
            return answer(**shown)
        drawn, features = await _pictures.view_picture(model, view), await _pictures.features_seen(model, view)
        result = answer(**shown, picture=_pictures.summary(drawn), features=features)
        result.content.append(ImageContent(type="image", data=drawn["data"], mime_type="image/png"))
        return result

    # Writing files

    async def export(
        self,
        layer: Layer,
        path: Annotated[str, Field(description="The file; its suffix gives the format: .geojson .gpkg .fgb .shp .csv .kml .gpx")],
        where: Where = None,
        bbox: Box = None,
        area: Area = None,
        selected: Annotated[bool | None, Field(description="Only selected features, or only others.")] = None,
        fields: Fields = None,
        order_by: Order = None,
        limit: Annotated[int | None, Field(ge=0, description="Maximum number; all when absent.")] = None,
        to_spatial_reference: Annotated[str | None, Field(description="Of the file; the layer's when absent.")] = None,
        spatial_reference: Annotated[str, Field(description="Of bbox and area.")] = DEGREES,
        overwrite: bool = False,
    ) -> Annotated[CallToolResult, Written]:
        """Writes any number of features to a file. Example: {"layer": "cities", "path": "big.gpkg", "where": "pop > 1e6"}"""
        of = await target(self._model, layer)
        made = await self._model.call(
            "feature/export",
            {
                **of,
                **where_of(where=where, bbox=bbox, area=area, selected=selected, spatial_reference=spatial_reference),
                "path": path,
                **present(properties=fields, orderBy=order(order_by), limit=limit, outSpatialReference=to_spatial_reference),
                "ifExists": "replace" if overwrite else "error",
            },
        )
        return answer(
            path=made["path"],
            count=made["count"],
            bytes=made["bytes"],
            driver=made["driver"],
            differences=fitting(made.get("differences", []), 8000) or None,
        )

    async def undo(
        self,
        steps: Annotated[int, Field(ge=1, le=1000)] = 1,
        redo: Annotated[bool, Field(description="Redoes what was undone instead.")] = False,
    ) -> Annotated[CallToolResult, Undone]:
        """Takes back the newest steps of history that this agent made, whatever others did since: the answer names them."""
        made = await self._model.call("edit/redo" if redo else "edit/undo", {"steps": steps, "own": True})
        history = await self._model.call("edit/history")
        return answer(**{"redone" if redo else "undone": made["names"]}, can_undo=history["canUndo"], can_redo=history["canRedo"])


def _symbol(layer: Mapping[str, Any], color: str, size: float | None) -> dict[str, Any]:
    """A symbol for the layer's geometries."""
    kind = str(layer.get("geometryType", "")).removeprefix("Multi")
    if kind == "LineString":
        return {"type": "simpleLine", "color": color, "width": size or 1.5}
    if kind == "Point":
        return {"type": "simpleMarker", "color": color, "size": size or 8}
    return {"type": "simpleFill", "color": color, "outline": {"color": "#808080", "width": 0.5}}
