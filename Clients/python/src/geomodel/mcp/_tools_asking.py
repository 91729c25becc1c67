"""The tools that look at the model and ask it, and those that make new layers of what they find."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, Mapping, Sequence

from mcp_types import CallToolResult
from pydantic import Field

from ._answers import BYTES, ROWS, fitting, size_of
from ._model import (
    DEGREES,
    MANY,
    Misuse,
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
    without_features,
)
from ._schemas import (
    Area,
    Box,
    Derived,
    Fields,
    Ids,
    Layer,
    LayerDescribed,
    Limit,
    Model,
    Near,
    NewName,
    Offset,
    Order,
    Reference,
    Relationship,
    Rows,
    Statistics,
    Where,
)
from ._tool import Tool, answer, rows_answer


class AskingTools(Tool):
    """Layers and their features: described, found, counted, joined, and derived from."""

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
        if bare := await without_features(model, of):
            return answer(**layer_summary(bare), sample=[])
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
        near: Annotated[Near | None, Field(description="As {x: 7.4, y: 46.9}: nearest first, with `distance` in metres (the ellipsoid's).")] = None,
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


def _statistics(words: Sequence[str] | None) -> list[dict[str, Any]] | None:
    return statistics(words) if words else None
