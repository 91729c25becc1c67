"""The tools: what a user of a map asks an agent for, each in a call or two, and `describe` and `call` for everything else."""

from __future__ import annotations

import asyncio
import difflib
from typing import Annotated, Any, Literal, Mapping, Sequence

from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import Field

from ..errors import GeoModelError
from . import _describe, _pictures
from ._answers import BYTES, ROWS, fitting, how_to_narrow, shortened, size_of, text_of
from ._model import (
    DEGREES,
    MANY,
    Caller,
    Misuse,
    any_map,
    bbox_of,
    column,
    envelope,
    free_id,
    label_fields,
    layer_summary,
    order,
    present,
    row,
    rows_by_id,
    statistics,
    summary,
    target,
    where_of,
)
from ._schemas import (
    Area,
    Box,
    Called,
    Changed,
    Derived,
    Described,
    Document,
    Fields,
    Ids,
    Layer,
    LayerDescribed,
    Limit,
    Model,
    Near,
    NewName,
    Offset,
    Opened,
    Order,
    Reference,
    Relationship,
    Rows,
    Shown,
    Statistics,
    Undone,
    Where,
    Written,
)

def answer(**members: Any) -> CallToolResult:
    """The members that are there, as structured content and as the same in text for agents that read only that."""
    content = present(**members)
    return CallToolResult(content=[TextContent(type="text", text=text_of(content))], structured_content=content)


def rows_answer(rows: Sequence[Mapping[str, Any]], count: int, what: str, ways: str, *, offset: int = 0, **more: Any) -> CallToolResult:
    """As many rows as fit. Where not even one does, its longest values are cut."""
    kept = fitting(rows, BYTES - 600 - size_of(present(**more)))
    cut: list[str] = []
    if rows and not kept:
        first, cut = shortened(rows[0], BYTES - 1200)
        kept = [first] if first is not None else []
    sentence = how_to_narrow(len(kept), count, what, ways, offset)
    if cut:
        told = f"The first row is too long and was cut ({'; '.join(cut)[:300]}): name fewer fields, leave the geometry out."
        sentence = f"{told} {sentence or ''}".strip()
    return answer(count=count, shown=len(kept), rows=kept, **more, more=sentence)


class Tools:
    """Each public method is a tool; its docstring is what the agent reads."""

    def __init__(self, model: Caller, definition: Any) -> None:
        self._model = model
        # Fetches the definition of the protocol once for each server.
        self._definition = definition

    # Opening and saving

    async def open_file(
        self,
        path: Annotated[str, Field(description="The file: GeoJSON, GeoPackage, Shapefile, CSV, GPX, KML, FlatGeobuf.")],
        layers: Annotated[list[str] | None, Field(description="Names of the file's layers; all of up to 8 when absent.")] = None,
        map: Annotated[str | None, Field(description="The map that gets them; the only one, or a new one, when absent.")] = None,
        x_field: Annotated[str | None, Field(description="CSV: the column of longitudes or eastings.")] = None,
        y_field: Annotated[str | None, Field(description="CSV: the column of latitudes or northings.")] = None,
        spatial_reference: Annotated[str | None, Field(description="Of a file that states none (CSV: EPSG:4326 when absent).")] = None,
    ) -> Annotated[CallToolResult, Opened]:
        """Opens a data file and adds its layers to a map, loaded. Answers with the layers' ids, fields, counts and extents.
        Example: {"path": "naturalearth.gpkg", "layers": ["cities"]}"""
        model = self._model
        opening = present(path=path, xField=x_field, yField=y_field, spatialReference=spatial_reference)
        return await self._added(await model.call("source/open", opening), layers, map)

    async def add_features(
        self,
        geojson: Annotated[dict[str, Any], Field(description="A GeoJSON FeatureCollection, Feature or geometry.")],
        name: NewName = None,
        map: Annotated[str | None, Field(description="The map that gets the layer; the only one, or a new one, when absent.")] = None,
        spatial_reference: Annotated[str, Field(description="Of the coordinates.")] = DEGREES,
    ) -> Annotated[CallToolResult, Opened]:
        """Adds features that the agent has, as a new layer on top of a map.
        Example: {"name": "sites", "geojson": {"type": "Point", "coordinates": [7.45, 46.95]}}"""
        source = await self._model.call("source/openInline", {"data": geojson, "spatialReference": spatial_reference})
        return await self._added(source, None, map, name)

    async def _added(
        self, source: Mapping[str, Any], wanted: Sequence[str] | None, map: str | None, name: str | None = None
    ) -> CallToolResult:
        model, inside = self._model, {layer["name"]: layer for layer in source["layers"]}
        names = list(wanted) if wanted is not None else list(inside) if len(inside) <= 8 else []
        try:
            if unknown := [each for each in names if each not in inside]:
                raise Misuse(f"the file has no layer {unknown[0]!r}; there are {', '.join(inside)}")
            at = await any_map(model, map)
        except Exception:
            await model.call("source/close", {"source": source["source"]})
            raise
        infos = []
        for each in names:
            method = "layer/add" if inside[each].get("geometryType") else "layer/addTable"
            params = present(map=at, source=source["source"], sourceLayer=each, id=await free_id(model, name or each), name=name)
            layer = (await model.call(method, params))["layer"]
            await model.call("layer/load", {"layer": layer})
            infos.append(layer_summary(await model.call("layer/get", {"layer": layer})))
        left = [each for each in inside if each not in names]
        kept = fitting(infos, BYTES - 2000)
        more = None if len(kept) == len(infos) else f"{len(kept)} of {len(infos)} layers are described: call describe_layer for each other"
        if left and wanted is None:
            more = f"The file has {len(inside)} layers: call open_file again with the names of those that are wanted"
        return answer(
            source=source["source"], map=at, layers=kept, unopened=fitting(left, 1200) or None, warnings=source.get("warnings"), more=more
        )

    async def open_document(
        self, path: Annotated[str, Field(description="A document that save_document wrote, or a package (.zip).")]
    ) -> Annotated[CallToolResult, Document]:
        """Opens a saved document in place of the whole model: what is unsaved is lost, so ask the user first. Layers load when a
        tool needs them."""
        model = self._model
        try:
            opened = await model.call("document/open", {"path": path})
        except GeoModelError as error:
            if error.kind != "invalidDocument":
                raise
            try:
                opened = await model.call("package/open", {"path": path})
            except GeoModelError as second:
                # No archive at all: what the first attempt says is nearer to it.
                raise (error if second.data.get("fault") == "damaged" else second) from None
        return await self._document(opened)

    async def save_document(
        self, path: Annotated[str | None, Field(description="A new file; the document's own when absent.")] = None
    ) -> Annotated[CallToolResult, Document]:
        """Saves the model (maps, layers, views, styles; paths of data files, not their features) as a document."""
        if path is None:
            return await self._document(await self._model.call("document/save"))
        return await self._document(await self._model.call("document/saveAs", {"path": path}))

    async def _document(self, state: Mapping[str, Any]) -> CallToolResult:
        maps, layers = await asyncio.gather(self._model.call("map/list"), self._model.call("layer/list"))
        ids = [each["layer"] for each in layers["layers"]]
        kept = fitting(ids, 8000)
        return answer(
            path=state.get("path"),
            modified=state.get("isModified"),
            problems=fitting(state.get("problems") or [], 8000) or None,
            maps=fitting([each["map"] for each in maps["maps"]], 2000),
            layers=kept,
            more=None if len(kept) == len(ids) else f"{len(kept)} of {len(ids)} layers are named: describe_model has the others",
        )

    # Looking

    async def describe_model(self) -> Annotated[CallToolResult, Model]:
        """What there is: document, maps, views, layers (without fields), overlays, sources, each with its id. Call this first on a
        live map, and after an unknownId error."""
        model = self._model
        names = ("map", "view", "layer", "overlay", "source")
        document, status, *lists = await asyncio.gather(
            model.call("document/get"), model.call("session/status"), *(model.call(f"{name}/list") for name in names)
        )
        parts = {f"{name}s": [summary(name, each) for each in found[f"{name}s"]] for name, found in zip(names, lists)}
        kept = {name: fitting(rows, BYTES // (2 if name == "layers" else 10) - 200) for name, rows in parts.items()}
        left = [f"{len(kept[name])} of {len(rows)} {name}" for name, rows in parts.items() if len(kept[name]) < len(rows)]
        more = f"Shown are {', '.join(left)}: call('layer/list', {{'map': id}}) and its like have the rest" if left else None
        other = {name: count for name, count in status["model"].items() if count and name not in parts}
        return answer(
            revision=document["revision"], document=present(path=document.get("path"), modified=document["isModified"]), **kept,
            other=other or None, more=more,
        )

    async def describe_layer(
        self, layer: Layer, sample: Annotated[int, Field(ge=0, le=20, description="Number of sample rows.")] = 3
    ) -> Annotated[CallToolResult, LayerDescribed]:
        """A layer's fields and their types, geometry type, spatial reference, extent, filter, count, and some sample rows. Call it
        before writing a where clause."""
        model = self._model
        of = await target(model, layer)
        count, found = await asyncio.gather(
            model.call("feature/queryCount", of), model.call("feature/query", {**of, "limit": sample, "returnGeometry": False})
        )
        if "layer" in of:
            info = layer_summary(await model.call("layer/get", of))
        else:
            overlay = await model.call("overlay/get", of)
            info = present(
                layer=overlay["overlay"], name=overlay.get("name"), kind="overlay", spatial_reference=overlay.get("spatialReference")
            )
        more = None
        if "fields_count" in info:
            more = f"{len(info['fields'])} of {info['fields_count']} fields are named: call('layer/get') has the others"
        rows = fitting([row(feature) for feature in found["features"]], BYTES - 400 - size_of(info))
        return answer(**info, matching=count["count"], sample=rows, more=more)

    async def query_features(
        self,
        layer: Layer,
        where: Where = None,
        bbox: Box = None,
        near: Annotated[Near | None, Field(description="Nearest first, with `distance` in metres (the ellipsoid's).")] = None,
        area: Area = None,
        relationship: Annotated[
            Relationship, Field(description="Relation of area to the features: within finds those that contain the area.")
        ] = "intersects",
        ids: Ids = None,
        selected: Annotated[bool | None, Field(description="Only selected features, or only others.")] = None,
        fields: Fields = None,
        order_by: Order = None,
        limit: Limit = ROWS,
        offset: Offset = 0,
        geometry: Annotated[bool, Field(description="Whether to return GeoJSON geometries; they are long.")] = False,
        simplify: Annotated[
            float | None,
            Field(ge=0, description="With geometry: leaves out positions that move a line by no more, in units of spatial_reference."),
        ] = None,
        spatial_reference: Reference = DEGREES,
    ) -> Annotated[CallToolResult, Rows]:
        """Features of a layer by attributes, box, area or distance: the count of all that match, and rows {id, fields...}.
        Examples: {"layer": "countries", "where": "continent = 'Asia'", "order_by": ["pop_est desc"], "limit": 5};
        {"layer": "cities", "near": {"x": 8, "y": 47, "max_distance": 200000}} for what is within 200 km, nearest first."""
        model = self._model
        of = await target(model, layer)
        chosen = where_of(
            where=where, bbox=bbox, area=area, relationship=relationship, ids=ids, selected=selected, spatial_reference=spatial_reference
        )
        shape: dict[str, Any] = {
            "returnGeometry": geometry,
            **(present(outSpatialReference=spatial_reference, maxAllowableOffset=simplify) if geometry else {}),
        }
        ways = "where, bbox, near, fewer fields, no geometry; statistics summarizes, export writes all to a file"
        reference = spatial_reference if geometry else None
        if near is not None:
            if order_by:
                raise Misuse("near sorts by distance: leave order_by out")
            place = {"type": "Point", "coordinates": [near.x, near.y]}
            asked = {**of, **chosen, "locations": place, "spatialReference": spatial_reference}
            reach = MANY if near.max_distance is not None else min(max(offset + limit, 1), MANY)
            found, all_ = await asyncio.gather(
                model.call("feature/nearest", {**asked, **present(maxDistance=near.max_distance), "limit": reach}),
                model.call("feature/queryCount", {**of, **chosen}),
            )
            count = found["counts"][0] if near.max_distance is not None else all_["count"]
            pairs = list(zip(found["ids"], found["distances"]))[offset : offset + min(limit, 1000)]
            rows = await rows_by_id(model, of, [id for id, _ in pairs], fields, **shape)
            near_rows = [{"distance": round(distance, 3), **rows[id]} for id, distance in pairs if id in rows]
            return rows_answer(near_rows, count, "features", ways, offset=offset, spatial_reference=reference)
        asked = {
            **of,
            **chosen,
            **shape,
            **present(properties=fields, orderBy=order(order_by)),
            "offset": offset,
            "limit": min(limit, 100_000),
            # The server stops where no answer has room for more; geometries are longer there than rows without them here.
            "maxBytes": 4 * BYTES if not geometry else 8_000_000,
        }
        found, all_ = await asyncio.gather(model.call("feature/query", asked), model.call("feature/queryCount", {**of, **chosen}))
        rows_ = [row(feature, geometry) for feature in found["features"]]
        return rows_answer(rows_, all_["count"], "features", ways, offset=offset, spatial_reference=reference)

    async def statistics(
        self,
        layer: Layer,
        statistics: Statistics = None,
        group_by: Annotated[list[str] | None, Field(description="Fields; alone they give the distinct values with their counts.")] = None,
        where: Where = None,
        bbox: Box = None,
        area: Area = None,
        order_by: Annotated[
            list[str] | None,
            Field(description='Group fields or names as "sum_pop desc"; by default the largest count first, else by group.'),
        ] = None,
        limit: Limit = ROWS,
        offset: Offset = 0,
        spatial_reference: Annotated[str, Field(description="Of bbox and area.")] = DEGREES,
    ) -> Annotated[CallToolResult, Rows]:
        """Statistics of features, as a whole or by groups. A statistic is called sum_pop unless "sum(pop) as total" names it.
        Example: {"layer": "countries", "statistics": ["sum(pop_est)"], "group_by": ["continent"], "order_by": ["sum_pop_est desc"]}"""
        model = self._model
        of = await target(model, layer)
        if not statistics and not order_by and group_by:
            order_by = ["count desc"]
        found = await model.call(
            "feature/queryStatistics",
            {
                **of,
                **where_of(where=where, bbox=bbox, area=area, spatial_reference=spatial_reference),
                **present(groupBy=group_by or None, orderBy=order(order_by)),
                "statistics": _statistics(statistics) or [{"type": "count"}],
                "limit": MANY,
            },
        )
        rows = [{**record["group"], **record["statistics"]} for record in found["records"]]
        return rows_answer(
            rows[offset : offset + limit],
            len(rows),
            f"groups{' (of more)' if found['exceededLimit'] else ''}",
            "where, bbox, a field with fewer values",
            offset=offset,
        )

    async def join(
        self,
        layer: Layer,
        with_layer: Annotated[str, Field(description="The other layer, by id or name.")],
        relationship: Annotated[
            Literal["intersects", "within", "contains", "crosses", "overlaps", "touches", "equals", "nearest", "withinDistance"],
            Field(description="Of layer's features to the others: within, for points in polygons."),
        ] = "intersects",
        output: Annotated[
            Literal["counts", "pairs"], Field(description="counts: each feature with how many others; pairs: each with each.")
        ] = "counts",
        max_distance: Annotated[float | None, Field(ge=0, description="Metres; for withinDistance and nearest.")] = None,
        nearest_count: Annotated[int | None, Field(ge=1, description="For nearest: how many; 1 when absent.")] = None,
        where: Where = None,
        with_where: Annotated[str | None, Field(description="CQL2 for the other layer.")] = None,
        fields: Annotated[
            list[str] | None, Field(description="Fields of layer in the rows; the one that names features when absent.")
        ] = None,
        with_fields: Annotated[
            list[str] | None, Field(description="pairs: fields of the other; the one that names features when absent.")
        ] = None,
        statistics: Annotated[list[str] | None, Field(description='counts: of the joined features, as ["sum(pop)"].')] = None,
        limit: Limit = ROWS,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, Rows]:
        """Joins the features of two layers by place or distance. Rows of counts have `joined`, most first; rows of pairs have
        `with` (the other's id and fields) and `distance` in metres.
        Example: {"layer": "countries", "with_layer": "cities", "relationship": "contains"} counts cities by country."""
        model = self._model
        of, other = await target(model, layer), await target(model, with_layer)
        if output == "pairs" and with_fields is None:
            with_fields = await label_fields(model, other)
        if fields is None:
            fields = await label_fields(model, of)
        made = await model.call(
            "feature/join",
            {
                **of,
                **where_of(where=where),
                "join": {**other, **present(whereClause=with_where)},
                "relationship": relationship,
                "output": output,
                **present(maxDistance=max_distance, nearestCount=nearest_count, aggregates=_statistics(statistics)),
                **({"limit": 1_000_000} if output == "counts" else {"offset": offset, "limit": min(limit, 1000)}),
            },
        )
        ids, ways = column(made["ids"]), "where, with_where, max_distance, fewer fields"
        if output == "counts":
            columns = {"joined": column(made["counts"]), **{name: column(values) for name, values in made.get("aggregates", {}).items()}}
            # Equal counts stay in the order of the layer.
            best = sorted(range(len(ids)), key=lambda at: -columns["joined"][at])[offset : offset + min(limit, 1000)]
            own = await rows_by_id(model, of, [ids[at] for at in best], fields)
            rows = [{**own[ids[at]], **{name: values[at] for name, values in columns.items()}} for at in best]
            return rows_answer(rows, len(ids), "features", ways, offset=offset)
        others = column(made["joinedIds"])
        distances = column(made["distances"]) if "distances" in made else None
        own, theirs = await asyncio.gather(rows_by_id(model, of, ids, fields), rows_by_id(model, other, others, with_fields))
        rows = [
            {**own[id], "with": theirs[others[at]], **({} if distances is None else {"distance": round(distances[at], 3)})}
            for at, id in enumerate(ids)
        ]
        return rows_answer(rows, made["pairCount"], "pairs", ways, offset=offset)

    # New layers

    async def buffer(
        self,
        layer: Layer,
        distance: Annotated[float, Field(description="Metres on the ellipsoid.")],
        where: Where = None,
        together: Annotated[bool, Field(description="Whether overlapping areas are united to one.")] = False,
        name: NewName = None,
    ) -> Annotated[CallToolResult, Derived]:
        """Areas within a distance of features, as a new layer. Example: {"layer": "cities", "distance": 50000, "where": "name = 'Bern'"}"""
        return await self._derived("feature/buffer", layer, name, {"distance": distance, "geodetic": True, "together": together}, where)

    async def clip(
        self,
        layer: Layer,
        bbox: Box = None,
        area: Area = None,
        area_layer: Annotated[str | None, Field(description="A layer of polygons, by id or name, in place of bbox and area.")] = None,
        area_where: Annotated[str | None, Field(description="CQL2: which polygons of area_layer.")] = None,
        where: Where = None,
        spatial_reference: Annotated[str, Field(description="Of bbox and area.")] = DEGREES,
        name: NewName = None,
    ) -> Annotated[CallToolResult, Derived]:
        """The parts of features inside a box, an area or the polygons of another layer, as a new layer.
        Example: {"layer": "countries", "bbox": [0, 40, 20, 55]}"""
        if sum(each is not None for each in (bbox, area, area_layer)) != 1:
            raise Misuse("give one of bbox, area and area_layer")
        if area_layer is not None:
            inside: dict[str, Any] = {"areaFeatures": {**await target(self._model, area_layer), **present(whereClause=area_where)}}
        else:
            shape = area if area is not None else {"type": "Envelope", **envelope(bbox or ())}
            inside = {"area": shape, "spatialReference": spatial_reference}
        return await self._derived("feature/clip", layer, name, inside, where)

    async def dissolve(
        self,
        layer: Layer,
        group_by: Annotated[
            list[str] | None, Field(description="Features with equal values become one; all become one when absent.")
        ] = None,
        statistics: Statistics = None,
        where: Where = None,
        name: NewName = None,
    ) -> Annotated[CallToolResult, Derived]:
        """Unites features that have field values in common, as a new layer with these values and statistics.
        Example: {"layer": "countries", "group_by": ["continent"], "statistics": ["sum(pop_est)"]}"""
        return await self._derived(
            "feature/dissolve", layer, name, present(groupBy=group_by or None, statistics=_statistics(statistics)), where
        )

    async def _derived(self, method: str, layer: str, name: str | None, params: Mapping[str, Any], where: str | None) -> CallToolResult:
        model = self._model
        of = await target(model, layer)
        if "layer" in of:
            owner = await model.call("layer/get", of)
            at = present(map=owner.get("map"), scene=owner.get("scene"))
        else:
            view = await model.call("view/get", {"view": (await model.call("overlay/get", of))["view"]})
            at = present(map=view.get("map"), scene=view.get("scene"))
        name = name or f"{layer} {method.rpartition('/')[2]}"
        made = await model.call(
            method,
            {
                **of,
                **present(whereClause=where),
                **params,
                **at,
                "output": "source",
                "layerName": name,
                "mend": True,
                **present(layerId=await free_id(model, name)),
            },
        )
        info = layer_summary(await model.call("layer/get", {"layer": made["layer"]}))
        return answer(**info, failed=made.get("failedCount"), failures=fitting(made.get("failed", [])[:5], 2000) or None)

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
        count = await self._model.call("feature/queryCount", of)
        return answer(revision=made["revision"], layer=next(iter(of.values())), matching=count["count"])

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
            found = await model.call("feature/queryExtent", {**of, **present(whereClause=where), "outSpatialReference": DEGREES})
            if "extent" not in found:
                raise Misuse("no features match, so there is nothing to show: check where by query_features")
            bbox, spatial_reference = bbox_of(found["extent"]), DEGREES
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
        result = answer(**shown, picture=_pictures.told(drawn), features=features)
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

    # Everything else

    async def describe(
        self,
        name: Annotated[
            str | None,
            Field(
                description="A domain (geometry), a method (geometry/buffer), a type (Renderer) or 'expressions'; all domains when absent."
            ),
        ] = None,
    ) -> Annotated[CallToolResult, Described]:
        """The definition of the server's methods, for `call`: the params of one method with an example, or the methods of a domain."""
        if name == "expressions":
            language = (await self._model.call("session/describe"))["expressions"]
            return answer(description=_describe.expressions(language))
        definition = await self._definition()
        found = _describe.described(definition, name)
        if found is None:
            close = _close(name or "", _describe.names(definition))
            raise Misuse(f"there is no domain, method or type {name!r}{f'; near it are {close}' if close else ''}")
        return answer(description=found)

    async def call(
        self,
        method: Annotated[str, Field(description="As describe lists them: geometry/geodeticDistance.")],
        params: Annotated[dict[str, Any] | None, Field(description="By name, as describe says.")] = None,
    ) -> Annotated[CallToolResult, Called]:
        """Calls any method of the server, for what no other tool does: measuring, geometry, clusters, surfaces, scenes, entities.
        Example: {"method": "geometry/geodeticDistance", "params": {"first": ..., "second": ...}}: see describe first."""
        if method in _NOT_FOR_AGENTS or "/observe" in method or "/follow" in method:
            raise Misuse(f"{method} is of the connection, which is not the agent's: read resources geomodel:///..., or call state/get")
        if "partialResultToken" in ((params or {}).get("meta") or {}):
            raise Misuse("results in parts are not for agents: ask for less, or export to a file")
        if method.endswith("/render") and "path" not in (params or {}):
            raise Misuse("a picture is no text: give path, for a file; set_viewpoint with picture answers with what a view shows")
        result, cut = shortened(await self._model.call(method, params or {}), BYTES - 1500)
        cut = fitting(cut, 800)
        more = (
            "The result was cut to 20 KB: ask for less by limit, offset, properties or a filter (describe has the params)" if cut else None
        )
        return (
            answer(result=result, cut=cut or None, more=more)
            if result is not None
            else CallToolResult(
                content=[TextContent(type="text", text=text_of(present(result=None, more=more) | {"result": None}))],
                structured_content=present(more=more) | {"result": None},
            )
        )


_NOT_FOR_AGENTS = frozenset(
    {"initialize", "initialized", "shutdown", "exit", "session/replayFeed", "state/unobserve", "task/acknowledgeParts"}
)
_COLORS = ["#1F78B4", "#33A02C", "#E31A1C", "#FF7F00", "#6A3D9A", "#B15928", "#A6CEE3", "#B2DF8A", "#FB9A99", "#FDBF6F"]
# Read and written in this order: look, ask, derive, change, save, everything else.
NAMES: dict[str, dict[str, bool]] = {
    "open_file": {},
    "add_features": {},
    "open_document": {"destructive": True},
    "save_document": {"destructive": True},
    "describe_model": {"read_only": True},
    "describe_layer": {"read_only": True},
    "query_features": {"read_only": True},
    "statistics": {"read_only": True},
    "join": {"read_only": True},
    "buffer": {},
    "clip": {},
    "dissolve": {},
    "select_features": {"idempotent": True},
    "update_layer": {"idempotent": True},
    "set_renderer": {"idempotent": True},
    "set_viewpoint": {"idempotent": True},
    "export": {"destructive": True},
    "undo": {"destructive": True},
    "describe": {"read_only": True},
    "call": {"destructive": True},
}


def _statistics(words: Sequence[str] | None) -> list[dict[str, Any]] | None:
    return statistics(words) if words else None


def _symbol(layer: Mapping[str, Any], color: str, size: float | None) -> dict[str, Any]:
    """A symbol for the layer's geometries."""
    kind = str(layer.get("geometryType", "")).removeprefix("Multi")
    if kind == "LineString":
        return {"type": "simpleLine", "color": color, "width": size or 1.5}
    if kind == "Point":
        return {"type": "simpleMarker", "color": color, "size": size or 8}
    return {"type": "simpleFill", "color": color, "outline": {"color": "#808080", "width": 0.5}}


def _close(name: str, names: Sequence[str]) -> str:
    return ", ".join(difflib.get_close_matches(name, names, 3, 0.5))
