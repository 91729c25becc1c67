"""Features as commands print them: a table, GeoJSON in its three forms, CSV."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Iterable, Iterator, Mapping, Sequence

from . import _layers, _table
from ._failures import UsageError
from ._layers import DEGREES
from ._session import Session

Feature = Mapping[str, Any]

FORMATS = {
    "table": "aligned columns for people",
    "geojsonl": "a GeoJSON feature a line",
    "geojsonseq": "a GeoJSON text sequence with record separators (RFC 8142)",
    "geojson": "a GeoJSON FeatureCollection, as --json",
    "csv": "comma-separated values with a header, as the server exports them",
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Rows of a table unless --limit says more.
ROWS = 50


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, metavar="FORMAT",
        help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()) + ". When absent, table on a terminal and geojsonl elsewhere",
    )


def format_of(options: argparse.Namespace) -> str:
    """A table is for eyes: in a pipe features are what the next command reads."""
    if options.json:
        return "geojson"
    return options.format or ("table" if sys.stdout.isatty() else "geojsonl")


def check_reference(options: argparse.Namespace, form: str) -> None:
    """Sequences cannot say their spatial reference, so they are in degrees, as their RFC has it."""
    if options.to_srs not in (None, DEGREES) and form in ("geojsonl", "geojsonseq"):
        raise UsageError(f"{form} is in {DEGREES} only; --json, --format csv and `geomodel convert` take --to-srs", "geomodel query")


def write(features: Iterable[Feature], form: str, heads: Sequence[str], reference: str | None) -> None:
    """Prints features as they come; `reference` is that of a FeatureCollection that is not in degrees."""
    if form == "table":
        rows = list(features)
        _table.show(_rows(rows, heads), ["id", *heads, "geometry"])
    elif form == "geojson":
        _collection(features, reference)
    else:
        before = "\x1e" if form == "geojsonseq" else ""
        for feature in features:
            sys.stdout.write(f"{before}{dumps(feature)}\n")


def dumps(value: Any) -> str:
    return _ENCODER.encode(value)


def copy_csv(session: Session, params: Mapping[str, Any]) -> None:
    """Has the server write CSV, and prints it: what it holds of geometries and types is the server's to say."""
    import shutil

    path = os.path.join(session.folder(), "output.csv")
    session.call("feature/export", {**params, "path": path}, "writing")
    with open(path, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_made(session: Session, features: Iterable[Feature], form: str, heads: Sequence[str], reference: str | None) -> None:
    """Prints features that were made here, also as CSV."""
    if form != "csv":
        write(features, form, heads, reference)
        return
    path = os.path.join(session.folder(), "features.geojsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{dumps(feature)}\n" for feature in features)
    with session.of_its_own() as own:
        layer = _layers.of_source(own, own.call("source/open", {"path": path}), path, None)
        copy_csv(own, {"layer": layer.id})


def print_lines(session: Session, layer: _layers.Layer, params: dict[str, Any], form: str) -> None:
    """Prints the features of a query as GeoJSON."""
    reference = geojson_reference(session, layer)
    write(queried(session, params if reference is None else {**params, "outSpatialReference": reference}), form, [], reference)


def geojson_reference(session: Session, layer: _layers.Layer) -> str | None:
    """Degrees, as GeoJSON has it, where the layer can be transformed to them."""
    if layer.has_places:
        return DEGREES
    if layer.geometry is not None:
        session.warn("the spatial reference is unknown, so coordinates are printed as they are; --srs says it")
    return None


def queried(session: Session, params: Mapping[str, Any]) -> Iterator[Feature]:
    """The features of a query of any size, as they arrive."""
    reply: list[Any] = []
    failed = 0
    for part in session.server.parts("feature/query", params, reply):
        yield from part["features"]
        failed += len(part.get("failed", ()))
    if failed:
        session.warn(f"{failed} features have no place in the spatial reference that was asked for, and come without geometry")


def _rows(features: Iterable[Feature], heads: Sequence[str]) -> Iterator[list[Any]]:
    for feature in features:
        properties = feature["properties"]
        yield [feature.get("id"), *(properties.get(head) for head in heads), place(feature["geometry"])]


def place(geometry: Any) -> str | None:
    """A geometry in a cell: a point by its coordinates, others by their type."""
    if geometry is None:
        return None
    if geometry["type"] == "Point":
        return " ".join(f"{number:.9g}" for number in geometry["coordinates"])
    return str(geometry["type"])


def _collection(features: Iterable[Feature], reference: str | None) -> None:
    crs = "" if reference in (None, DEGREES) else f'"crs":{dumps({"type": "name", "properties": {"name": reference}})},'
    # Written with the first feature: a query that is refused prints nothing.
    before = f'{{"type":"FeatureCollection",{crs}"features":['
    comma = "\n"
    for feature in features:
        sys.stdout.write(before + comma + dumps(feature))
        before, comma = "", ",\n"
    sys.stdout.write(before + "\n]}\n")
