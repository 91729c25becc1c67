"""Shows what files have: their layers with geometry type, number of features, spatial reference and extent, and their fields; of rasters size and bands."""

from __future__ import annotations

import argparse
import json
from typing import Any, Mapping

from ..errors import GeoModelError
from . import _layers, _table
from ._arguments import add_output, add_reading, add_server
from ._failures import UsageError, report
from ._session import Session, is_document


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file that the server reads; - is standard input")
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    status = 0
    with Session(options) as session:
        for number, file in enumerate(options.files):
            if number and not options.json:
                print(flush=True)
            try:
                _one(session, file, options)
            except (GeoModelError, UsageError) as error:
                # The other files can be read all the same.
                status = report(error, options.json)
    return status


def _one(session: Session, file: str, options: argparse.Namespace) -> None:
    if is_document(file):
        raise UsageError(f"{file} is a document: `geomodel open` shows what it holds", "geomodel open")
    source, raster = _layers.opened(session, file, options)
    if source is None:
        _raster(file, raster, options)
        return
    if options.layer is not None:
        source["layers"] = [layer for layer in source["layers"] if layer["name"] == options.layer]
    if options.json:
        print(json.dumps({"file": file, "driver": source["driver"], "layers": source["layers"]}, ensure_ascii=False), flush=True)
    else:
        show(file, source)


def _raster(file: str, layer: Mapping[str, Any], options: argparse.Namespace) -> None:
    """The pixels of a raster: how many, where, and the type of the numbers in each band."""
    shown, raster = {name: layer[name] for name in ("spatialReference", "extent", "raster")}, layer["raster"]
    if options.json:
        print(json.dumps({"file": file, **shown}, ensure_ascii=False), flush=True)
        return
    size = f"{raster['width']:,} x {raster['height']:,} pixels"
    print(f"{_table.bold(_table.text(file))}: raster, {size}, {reference_name(layer['spatialReference'])}, {extent_text(layer['extent'])}\n", flush=True)
    bands = ((number, band["type"], band.get("noData"), "yes" if band["hasColors"] else "no") for number, band in enumerate(raster["bands"]))
    _table.show(bands, ("band", "type", "no data", "colours"))


def show(file: str, source: Mapping[str, Any]) -> None:
    """The layers of a source as a table, and their fields as another."""
    layers = source["layers"]
    print(f"{_table.bold(_table.text(file))}: {source['driver']}, {len(layers)} layer{'s' * (len(layers) != 1)}\n", flush=True)
    if not layers:
        return
    _table.show(
        (
            (
                layer["name"], layer.get("geometryType", "none"), layer.get("featureCount"),
                reference_name(layer.get("spatialReference")), extent_text(layer.get("extent")),
            )
            for layer in layers
        ),
        ("layer", "geometry", "features", "reference", "extent"),
    )
    fields = [(layer["name"], field["name"], field["type"]) for layer in layers for field in layer["fields"]]
    if fields:
        print()
        _table.show(fields, ("layer", "field", "type"))


def extent_text(extent: Mapping[str, float] | None) -> str:
    """West, south, east, north, as `--bbox` takes them."""
    return "" if extent is None else ",".join(f"{extent[name]:.10g}" for name in ("xMin", "yMin", "xMax", "yMax"))


def reference_name(reference: str | None) -> str:
    """A code, or the name in well-known text."""
    if reference is None:
        return "unknown"
    return reference.split('"')[1] if "[" in reference and '"' in reference else reference
