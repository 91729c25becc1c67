"""The tools: what a user of a map asks an agent for, each in a call or two, and `describe` and `call` for everything else."""

from __future__ import annotations

import asyncio
import difflib
from typing import Annotated, Any, Mapping, Sequence

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from ..errors import Error, GeoModelError, UnknownFormatError
from . import _describe
from ._answers import BYTES, fitting, shortened, text_of
from ._model import DEGREES, Misuse, any_map, free_id, layer_summary, order, present
from ._schemas import Called, Described, Document, NewName, Opened
from ._tool import answer
from ._tools_asking import AskingTools
from ._tools_changing import ChangingTools

_NOT_FOR_AGENTS = frozenset(
    {"initialize", "initialized", "shutdown", "exit", "session/replayFeed", "state/unobserve", "task/acknowledgeParts"}
)

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


class Tools(AskingTools, ChangingTools):
    """Each public method is a tool; its docstring is what the agent reads."""

    # Opening and saving

    async def open_file(
        self,
        path: Annotated[str, Field(description="The file: GeoJSON, GeoPackage, Shapefile, CSV, GPX, KML, FlatGeobuf; of rasters GeoTIFF, PNG, MBTiles.")],
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
        try:
            source = await model.call("source/open", opening)
        except UnknownFormatError as unknown:
            return await self._raster(path, layers, map, unknown)
        return await self._added(source, layers, map)

    async def _raster(self, path: str, layers: Sequence[str] | None, map: str | None, unknown: UnknownFormatError) -> CallToolResult:
        """What no driver of features recognizes may be a raster."""
        model, at = self._model, await any_map(self._model, map)
        adding = present(map=at, path=path, sourceLayer=layers[0] if layers else None)
        layer = (await model.call("layer/addRaster", adding))["layer"]
        try:
            await model.call("layer/load", {"layer": layer})
        except Error as error:
            await model.call("layer/remove", {"layer": layer})
            raise unknown if isinstance(error, UnknownFormatError) else error
        return answer(map=at, layers=[layer_summary(await model.call("layer/get", {"layer": layer}))])

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
        warnings = [*source.get("warnings", ()), *(
            f"The layer {each['layer']} has latitudes beyond 90: x, the longitude, comes first." for each in infos
            if each.get("spatial_reference") == DEGREES and "extent" in each and not -90 <= each["extent"][1] <= each["extent"][3] <= 90
        )]
        return answer(
            source=source["source"], map=at, layers=kept, unopened=fitting(left, 1200) or None, warnings=warnings or None, more=more
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


def _close(name: str, names: Sequence[str]) -> str:
    """Those that have the word come first."""
    word = name.lower()
    having = sorted((each for each in names if word and word in each.lower()), key=lambda each: not each.lower().endswith(f"/{word}"))
    return ", ".join([*having, *(each for each in difflib.get_close_matches(name, names, 3, 0.5) if each not in having)][:3])
