"""What is asked about: a layer of a file, of standard input, or of the model of a server that runs already; and the filters."""

from __future__ import annotations

import argparse
import os
from typing import Any, Iterator, Mapping, NamedTuple

from ..errors import GeoModelError
from ._arguments import names, numbers, whole
from ._failures import UsageError
from ._session import Session

# Spatial reference of what is given on the command line, and of GeoJSON.
DEGREES = "EPSG:4326"


class Layer(NamedTuple):
    """A loaded layer."""

    id: str
    name: str
    fields: list[Mapping[str, Any]]
    reference: str | None
    geometry: str | None

    @property
    def has_places(self) -> bool:
        """Whether it has geometries that can be related to degrees."""
        return self.geometry is not None and self.reference not in (None, "unknown")

    def names(self, wanted: list[str] | None) -> list[str]:
        """The fields that are shown, in order."""
        return [field["name"] for field in self.fields] if wanted is None else wanted


def add_input(parser: argparse.ArgumentParser, name: str, what: str = "a file that the server reads") -> None:
    parser.add_argument(name, metavar=name.upper(), help=f"{what}; - is standard input; with --attach the id of a layer")


def add_attach(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--attach", metavar="NAME", help="ask about the model of a server that runs already")


def load(session: Session, path: str, options: argparse.Namespace, id: str = "layer", flag: str = "--layer") -> Layer:
    """The layer of a file, which `flag` names; of the model if the session is attached to one."""
    if options.attach is not None:
        return _loaded(session, path, path)
    return of_source(session, session.open(path, options), path, options.layer, id, flag)


def of_source(
    session: Session, source: Mapping[str, Any], path: str, name: str | None, id: str = "layer", flag: str = "--layer"
) -> Layer:
    """The source's layer of that name, or its only one."""
    layers = source["layers"]
    found: list[Mapping[str, Any]] = [layer for layer in layers if name in (None, layer["name"])]
    if len(found) == 1:
        return add(session, source, found[0], id)
    there = ", ".join(layer["name"] for layer in layers) or "none"
    if name is None and layers:
        raise UsageError(f"{path} has several layers; give one by {flag}: {there}", "geomodel join" if id == "joined" else "geomodel query")
    raise UsageError(f"{path} has no layer{'' if name is None else ' ' + repr(name)}; it has: {there}", "geomodel info")


def add(session: Session, source: Mapping[str, Any], layer: Mapping[str, Any], id: str, reference: str | None = None) -> Layer:
    """A layer of a source, loaded, on the map; `reference` is the map's if it is to be drawn."""
    params = {} if reference is None else {"spatialReference": reference}
    session.call("map/create", {"id": "map", "ifExists": "reuse", **params})
    method = "layer/add" if layer.get("geometryType") else "layer/addTable"
    session.call(method, {"map": "map", "source": source["source"], "sourceLayer": layer["name"], "id": id})
    return _loaded(session, id, layer["name"])


def _loaded(session: Session, id: str, title: str) -> Layer:
    session.call("layer/load", {"layer": id}, f"loading {title}")
    layer = session.call("layer/get", {"layer": id})
    return Layer(id, layer["name"], layer["fields"], layer.get("spatialReference"), layer.get("geometryType"))


def opened(session: Session, path: str, options: argparse.Namespace) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The source over a file, and no layer; or none, and the loaded layer of a raster, on the map."""
    try:
        return session.open(path, options), {}
    except GeoModelError as error:
        if error.kind != "unknownFormat" or path == "-" or options.driver is not None:
            raise
        unknown = error
    session.call("map/create", {"id": "map", "ifExists": "reuse"})
    whole = path if "://" in path else os.path.abspath(path)
    id = session.call("layer/addRaster", {"map": "map", "path": whole, **({} if options.layer is None else {"sourceLayer": options.layer})})["layer"]
    try:
        session.call("layer/load", {"layer": id}, f"loading {os.path.basename(path)}")
    except GeoModelError as error:
        session.call("layer/remove", {"layer": id})
        raise unknown if error.kind == "unknownFormat" else error
    layer: dict[str, Any] = session.call("layer/get", {"layer": id})
    return None, layer


def extents(session: Session, id: str, reference: str) -> Iterator[dict[str, float]]:
    """The box of all features of a layer, or of its raster, in the reference; of a group those of its layers."""
    layer = session.call("layer/get", {"layer": id})
    if layer["kind"] == "group":
        for each in layer["layers"]:
            yield from extents(session, each, reference)
    elif layer["kind"] == "raster":
        yield projected(session, layer["extent"], layer["spatialReference"], reference)
    elif box := session.call("feature/queryExtent", {"layer": id, "outSpatialReference": reference}).get("extent"):
        yield box


def projected(session: Session, box: Mapping[str, float], of: str, to: str) -> dict[str, float]:
    """The box of a box in another reference."""
    params = {"geometry": {"type": "Envelope", **box}, "spatialReference": of, "outSpatialReference": to}
    ring = session.call("geometry/project", params)["geometry"]["coordinates"][0]
    xs, ys = [each[0] for each in ring], [each[1] for each in ring]
    return {"xMin": min(xs), "yMin": min(ys), "xMax": max(xs), "yMax": max(ys)}


def add_filter(parser: argparse.ArgumentParser, *, sorts: bool = True) -> None:
    """Which features, and how much of each."""
    group = parser.add_argument_group("features")
    group.add_argument("--where", metavar="CQL2", help="only features for which this is true, such as \"population > 1000\"")
    group.add_argument(
        "--bbox", type=numbers(4, "WEST,SOUTH,EAST,NORTH"), metavar="W,S,E,N", help="only features that meet this box, in degrees"
    )
    group.add_argument("--fields", type=names, metavar="A,B", help="only these fields; --fields '' for none")
    if sorts:
        group.add_argument("--sort", type=names, metavar="A,B:desc", help="sort by fields, with :desc from the largest")
    group.add_argument("--limit", type=whole, metavar="N", help="at most so many")


def filters(options: argparse.Namespace, layer: Layer) -> dict[str, Any]:
    """The params that say which features match."""
    params: dict[str, Any] = {"layer": layer.id}
    if options.where is not None:
        params["whereClause"] = options.where
    if options.bbox is not None:
        params["envelope"] = dict(zip(("xMin", "yMin", "xMax", "yMax"), options.bbox))
        if layer.has_places:
            params["spatialReference"] = DEGREES
    return params


def selection(options: argparse.Namespace, layer: Layer) -> dict[str, Any]:
    """The params that say which features come, in which order, and how much of each."""
    params = filters(options, layer)
    if options.fields is not None:
        params["properties"] = options.fields
    if options.sort:
        params["orderBy"] = [
            {"field": name.removesuffix(":desc"), "order": "descending" if name.endswith(":desc") else "ascending"}
            for name in options.sort
        ]
    if options.limit is not None:
        params["limit"] = options.limit
    return params
