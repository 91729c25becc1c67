"""Prints the features of a layer that match: a table on a terminal, GeoJSON for the next command in a pipe.

Examples:

  geomodel query cities.gpkg --where "population > 1000000" --fields name,population --sort population:desc
  geomodel query cities.gpkg --near 7.44,46.95 --limit 5
  geomodel query cities.gpkg --bbox 5,45,11,48 | geomodel join - countries.gpkg --predicate within
"""

from __future__ import annotations

import argparse
from typing import Any

from . import _features, _layers
from ._arguments import add_output, add_reading, add_server, numbers
from ._failures import UsageError
from ._session import Session


def define(parser: argparse.ArgumentParser) -> None:
    _layers.add_input(parser, "input")
    _layers.add_filter(parser)
    parser.add_argument(
        "--near", type=numbers(2, "LON,LAT"), metavar="LON,LAT",
        help="the features nearest to this place, 10 unless --limit says more, with their distance in metres",
    )
    parser.add_argument("--within", type=float, metavar="METRES", help="with --near: only features that are no further away")
    parser.add_argument("--count", action="store_true", help="print only how many match")
    parser.add_argument("--to-srs", metavar="CODE", help="the spatial reference of the geometries; EPSG:4326 for GeoJSON when absent")
    _features.add_format(parser)
    _layers.add_attach(parser)
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    form = _features.format_of(options)
    _features.check_reference(options, form)
    if options.within is not None and options.near is None:
        raise UsageError("--within needs --near", "geomodel query")
    with Session(options) as session:
        layer = _layers.load(session, options.input, options)
        if options.count:
            count = session.call("feature/queryCount", _layers.filters(options, layer))["count"]
            print(_features.dumps({"count": count}) if options.json else count)
            return 0
        params = _layers.selection(options, layer)
        reference = options.to_srs
        if form.startswith("geojson") and reference is None:
            reference = _features.geojson_reference(session, layer)
        if reference is not None:
            params["outSpatialReference"] = reference
        heads = layer.names(options.fields)
        if options.near is not None:
            _near(session, layer, options, params, heads, form)
        elif form == "csv":
            _features.copy_csv(session, params)
        else:
            if form == "table" and options.limit is None:
                params["limit"] = _features.ROWS
            _features.write(_features.queried(session, params), form, heads, reference)
            if form == "table" and options.limit is None:
                _say_rest(session, options, layer)
    return 0


def _say_rest(session: Session, options: argparse.Namespace, layer: _layers.Layer) -> None:
    count = session.call("feature/queryCount", _layers.filters(options, layer))["count"]
    if count > _features.ROWS:
        session.warn(f"{_features.ROWS} of {count:,} features; --limit {count} shows all")


def _near(
    session: Session, layer: _layers.Layer, options: argparse.Namespace, params: dict[str, Any], heads: list[str], form: str
) -> None:
    """Prints the nearest features, nearest first."""
    place = {
        **_layers.filters(options, layer), "locations": {"type": "Point", "coordinates": options.near},
        "limit": options.limit or 10,
    }
    if layer.has_places:
        place["spatialReference"] = _layers.DEGREES
    if options.within is not None:
        place["maxDistance"] = options.within
    found = session.call("feature/nearest", place, "searching")
    wanted = {name: value for name, value in params.items() if name not in ("orderBy", "limit", "envelope", "spatialReference")}
    by_id = {each["id"]: each for each in _features.queried(session, {**wanted, "ids": found["ids"]})} if found["ids"] else {}
    name = "distance" if "distance" not in heads else "distance_m"
    made = [
        {**by_id[id], "properties": {**by_id[id]["properties"], name: round(distance, 3)}}
        for id, distance in zip(found["ids"], found["distances"])
    ]
    _features.write_made(session, made, form, [*heads, name], options.to_srs)
