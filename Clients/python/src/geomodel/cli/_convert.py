"""Writes a file in another format, which the suffix of OUT says, with all its layers where the format has several.

Examples:

  geomodel convert cities.shp cities.gpkg
  geomodel convert parcels.gpkg parcels.fgb --layer parcels --to-srs EPSG:25832
  geomodel query cities.gpkg --where "population > 1000000" | geomodel convert - large.geojson
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Mapping

from ..errors import GeoModelError
from . import _features, _layers
from ._arguments import add_output, add_reading, add_server
from ._failures import UsageError
from ._session import Session


def define(parser: argparse.ArgumentParser) -> None:
    _layers.add_input(parser, "in")
    add_target(parser)
    _layers.add_attach(parser)
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="the file; - prints a GeoJSON feature a line")
    parser.add_argument("--to", metavar="DRIVER", help="the format by GDAL's short name, where the suffix does not say it")
    parser.add_argument("--to-srs", metavar="CODE", help="the spatial reference of the file")
    parser.add_argument("--name", metavar="NAME", help="the name of the layer in the file")
    parser.add_argument("--replace", action="store_true", help="replace the file if it exists; it is, when all is written")
    parser.add_argument("--add-layer", action="store_true", help="GeoPackage: add the layer to the file, if it exists")


def run(options: argparse.Namespace) -> int:
    with Session(options) as session:
        if options.attach is not None:
            return export(session, options, _layers.load(session, getattr(options, "in"), options), {})
        source = session.open(getattr(options, "in"), options)
        if options.layer is None and len(source["layers"]) > 1 and options.out != "-":
            return _convert_all(session, options, source)
        return export(session, options, _layers.of_source(session, source, getattr(options, "in"), options.layer), {})


def export(session: Session, options: argparse.Namespace, layer: _layers.Layer, selection: Mapping[str, Any]) -> int:
    """Writes the features of a layer that match, and says what was written."""
    params = {"layer": layer.id, **selection}
    if options.out == "-":
        _features.print_lines(session, layer, params, "geojsonl")
        return 0
    if options.replace and options.add_layer:
        raise UsageError("--replace and --add-layer exclude each other", "geomodel convert")
    params["ifExists"] = "replace" if options.replace else "addLayer" if options.add_layer else "error"
    _report(session, options, _write(session, options, {**params, "path": os.path.abspath(options.out)}, options.name))
    return 0


def _write(session: Session, options: argparse.Namespace, params: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    given = {"driver": options.to, "outSpatialReference": options.to_srs, "layerName": name}
    params = {**params, **{name: value for name, value in given.items() if value is not None}}
    written: dict[str, Any] = session.call("feature/export", params, f"writing {os.path.basename(options.out)}")
    return written


def _convert_all(session: Session, options: argparse.Namespace, source: Mapping[str, Any]) -> int:
    """Writes all layers into a file beside OUT, which gets the name when all are written."""
    if os.path.lexists(options.out) and not options.replace:
        raise FileExistsError(17, "there is such a file already; --replace replaces it", options.out)
    if options.name is not None:
        raise UsageError("--name needs --layer: the layers keep their names", "geomodel convert")
    stem, suffix = os.path.splitext(os.path.abspath(options.out))
    part = f"{stem}.{os.getpid()}.part{suffix}"
    written = []
    try:
        for number, layer in enumerate(source["layers"]):
            made = _layers.add(session, source, layer, f"layer{number}")
            # The server refuses formats that have but one layer before it writes anything.
            params = {"layer": made.id, "path": part, "ifExists": "addLayer"}
            written.append(_write(session, options, params, layer["name"]))
        os.replace(part, options.out)
    except BaseException as error:
        if os.path.exists(part):
            os.unlink(part)
        if isinstance(error, GeoModelError) and error.path == "/params/ifExists":
            there = ", ".join(layer["name"] for layer in source["layers"])
            raise UsageError(f"a file of that format has one layer; give it by --layer: {there}", "geomodel convert") from None
        raise
    for each in written:
        _report(session, options, {**each, "path": os.path.abspath(options.out)})
    return 0


def _report(session: Session, options: argparse.Namespace, written: Mapping[str, Any]) -> None:
    if options.json:
        print(json.dumps(written, ensure_ascii=False))
        return
    if differences := [_difference(each) for each in written.get("differences", ())]:
        session.warn(f"{options.out} differs from the features: {', '.join(differences)}")
    for warning in written.get("warnings", ()):
        session.warn(warning)
    if written.get("failedCount"):
        session.warn(f"{written['failedCount']} features have no place in that spatial reference, and no geometry in the file")
    if not options.quiet:
        layer = f", layer {written['layerName']}" if "layerName" in written else ""
        print(f"{options.out}: {written['count']:,} features, {written['bytes']:,} bytes, {written['driver']}{layer}")


def _difference(difference: Mapping[str, Any]) -> str:
    """Such as `fieldType (kind, string)`."""
    more = [str(value) for name, value in difference.items() if name != "kind"]
    return f"{difference['kind']} ({', '.join(more)})" if more else str(difference["kind"])
