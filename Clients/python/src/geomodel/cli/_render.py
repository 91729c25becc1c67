"""Draws a file, a document, a map package or a view of a server that runs, as PNG, SVG or PDF; to standard output if that is no terminal.

A file is drawn with all its layers, areas below lines below points, unless --layer names one: in Web Mercator if it is in degrees, in Equal
Earth if it is of most of the world, else in its own spatial reference; so is a raster. Of a document or a package a view is drawn, or its map.

Examples:

  geomodel render countries.gpkg -o world.png --labels name --legend --scale-bar
  geomodel query cities.gpkg --where "population > 1000000" | geomodel render - --to-srs EPSG:8857 > large.png
  geomodel render --attach map --view v1 -o now.svg
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from typing import Any, Mapping, Sequence

from . import _layers
from ._arguments import add_output, add_reading, add_server, numbers
from ._failures import UsageError
from ._layers import DEGREES
from ._session import Session, is_document

FORMATS = ("png", "svg", "pdf")
_WIDTH = 800.0
_SIDES = ("xMin", "yMin", "xMax", "yMax")
_MERCATOR, _EQUAL_EARTH = "EPSG:3857", "EPSG:8857"
# Colours of areas and of their outlines, of lines, of points: for the layers of a file one after the other.
_AREAS = (("#E3EAD3", "#8A9A6B"), ("#F3E3C3", "#B3935A"), ("#DCE3EF", "#7F92B0"), ("#EFDCE4", "#B0819A"))
_LINES = ("#2B6CB0", "#8A5A2B", "#5B3A8E", "#2F7D5B")
_POINTS = ("#C0392B", "#1F5F8B", "#8E44AD", "#1E8449")


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input", nargs="?", metavar="FILE",
        help="a file that the server reads, a document or a map package (.gmpk); - is standard input; with --attach the id of a layer",
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="the picture, whose suffix says the format; standard output when absent")
    parser.add_argument("--format", choices=FORMATS, metavar="FORMAT", help="png, svg or pdf, where no suffix says it; png when absent")
    parser.add_argument("--replace", action="store_true", help="replace the file if it exists")
    _layers.add_attach(parser)
    parser.add_argument("--view", metavar="ID", help="the view, where a document or a model has several")
    group = parser.add_argument_group("what is seen")
    group.add_argument("--where", metavar="CQL2", help="only features for which this is true")
    group.add_argument("--bbox", type=numbers(4, "WEST,SOUTH,EAST,NORTH"), metavar="W,S,E,N", help="of a file: this box, in degrees")
    group.add_argument("--to-srs", metavar="CODE", help="of a file: the spatial reference of the map")
    group.add_argument("--labels", metavar="FIELD", help="of a file: the field, or CQL2, that labels features")
    group.add_argument("--color", metavar="#RRGGBB", help="of a file: the colour of its features")
    group = parser.add_argument_group("picture")
    group.add_argument("--width", type=float, metavar="PIXELS", help=f"{_WIDTH:g} when absent, or that of the view")
    group.add_argument("--height", type=float, metavar="PIXELS", help="what the features need when absent, or that of the view")
    group.add_argument("--ratio", type=float, metavar="N", help="pixels of a PNG to a pixel of the map, such as 2 for fine screens")
    group.add_argument("--background", metavar="#RRGGBB", help="the colour behind the map")
    group.add_argument("--transparent", action="store_true", help="no background")
    group.add_argument("--title", metavar="TEXT", help="a title at the top")
    group.add_argument("--attribution", metavar="TEXT", help="whose data it is, at the bottom")
    group.add_argument("--legend", action="store_true", help="explain the symbols")
    group.add_argument("--scale-bar", action="store_true", help="a bar of a round length")
    group.add_argument("--north-arrow", action="store_true", help="an arrow to true north")
    group.add_argument("--graticule", action="store_true", help="meridians and parallels")
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    form = _format(options)
    if options.input is None and options.attach is None:
        raise UsageError("name a file, or a server by --attach NAME", "geomodel render")
    with Session(options) as session:
        method, params = _asked(session, options)
        picture = session.call(method, {**params, **_given(options), "format": form}, "drawing")["picture"]
        _report(session, options, picture)
    return 0


def _format(options: argparse.Namespace) -> str:
    suffix = os.path.splitext(options.output or "")[1].lstrip(".").lower()
    form: str = options.format or suffix or "png"
    if form not in FORMATS:
        raise UsageError(f"{options.output} says no format: its suffix is .png, .svg or .pdf, or --format says it", "geomodel render")
    if options.output is None and sys.stdout.isatty():
        raise UsageError("a picture is no text for a terminal: name a file by -o PATH", "geomodel render")
    return form


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The params of the picture that the command line has."""
    layout = {
        "title": options.title, "attribution": options.attribution, "legend": options.legend or None, "scaleBar": options.scale_bar or None,
        "northArrow": options.north_arrow or None, "graticule": {} if options.graticule else None,
    }
    params = {
        "width": options.width, "height": options.height, "pixelRatio": options.ratio, "background": options.background,
        "transparent": options.transparent or None, "layout": _present(layout) or None, "replace": options.replace or None,
        "path": None if options.output is None else os.path.abspath(options.output),
    }
    return _present(params)


def _present(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _asked(session: Session, options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The method that draws what is asked for, with its params but for those of the picture."""
    if options.attach is not None and options.input is not None:
        _refuse(options, "a layer of a model", "bbox", "labels", "color", "view")
        layer = _layers.load(session, options.input, options)
        return "feature/render", {"layer": layer.id, **_present({"whereClause": options.where, "outSpatialReference": options.to_srs})}
    of_view = ("where", "bbox", "to_srs", "labels", "color")
    if options.attach is not None:
        _refuse(options, "a view", *of_view)
        return "view/render", {"view": _view(session, options)}
    path = options.input
    is_package = path.endswith(".gmpk")
    if is_package or is_document(path):
        _refuse(options, "a document", *of_view)
        method = "package/open" if is_package else "document/open"
        for problem in session.call(method, {"path": os.path.abspath(path)}, f"opening {os.path.basename(path)}").get("problems", ()):
            session.warn(f"left out: {problem.get('message', problem)}")
        for layer in session.call("layer/list", {})["layers"]:
            if layer["kind"] != "group" and layer["loadStatus"]["type"] == "notLoaded":
                session.call("layer/load", {"layer": layer["layer"]}, f"loading {layer['name']}")
        return "view/render", {"view": _view(session, options)}
    _refuse(options, "a file", "view")
    source, raster = _layers.opened(session, path, options)
    return ("view/render", {"view": _drawn(session, options, source)}) if source else ("layer/render", _raster(session, options, raster))


def _refuse(options: argparse.Namespace, what: str, *names: str) -> None:
    """What would be ignored is an error."""
    for name in names:
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is not for {what}", "geomodel render")


def _view(session: Session, options: argparse.Namespace) -> str:
    """The view that is asked for, or the only one; of a document without views, one of its only map."""
    if options.view is not None:
        return str(options.view)
    views = [each["view"] for each in session.call("view/list", {})["views"]]
    if len(views) == 1:
        return str(views[0])
    if views:
        raise UsageError(f"there are several views; name one by --view: {', '.join(views)}", "geomodel render")
    maps = session.call("map/list", {})["maps"]
    if options.attach is not None or len(maps) != 1:
        raise UsageError("there is no view", "geomodel open")
    layers = maps[0]["operationalLayers"]
    if not layers:
        raise UsageError("there is no view, and no layer", "geomodel open")
    return _made(session, options, maps[0]["map"], maps[0]["spatialReference"], layers)


# Files


def _drawn(session: Session, options: argparse.Namespace, source: Mapping[str, Any]) -> str:
    """The view of a map of a file's layers, drawn in colours that differ."""
    found = [layer for layer in source["layers"] if options.layer in (None, layer["name"]) and layer.get("geometryType")]
    if not found:
        there = ", ".join(layer["name"] for layer in source["layers"]) or "none"
        raise UsageError(f"{options.input} has no layer{f' {options.layer!r}' if options.layer else ''} with geometries; it has: {there}", "geomodel info")
    found.sort(key=lambda layer: ("Polygon" not in layer["geometryType"], "Point" in layer["geometryType"]))
    reference = options.to_srs or _reference(found)
    for number, layer in enumerate(found):
        made = _layers.add(session, source, layer, f"layer{number}", reference)
        changes = {"name": layer["name"], "renderer": _renderer(layer, number, options.color), "definitionExpression": options.where}
        session.call("layer/update", {"layer": made.id, **_present(changes), **_labels(made, options.labels)})
    return _made(session, options, "map", reference, [f"layer{number}" for number in range(len(found))])


def _raster(session: Session, options: argparse.Namespace, layer: Mapping[str, Any]) -> dict[str, Any]:
    """The params that draw a raster, or the box of it that is asked for."""
    _refuse(options, "a raster", "where", "labels", "color")
    reference = options.to_srs or _reference([layer])
    box, of = (layer["extent"], layer["spatialReference"]) if options.bbox is None else (dict(zip(_SIDES, options.bbox)), DEGREES)
    box = _layers.projected(session, box, of, reference)
    width = options.width or _WIDTH
    return {"layer": layer["layer"], "spatialReference": reference, "extent": box, "width": width, "height": options.height or _height(width, box)}


def _reference(layers: Sequence[Mapping[str, Any]]) -> str:
    """In degrees distances look wrong: another reference for maps that have these."""
    reference = layers[0].get("spatialReference") or DEGREES
    boxes = [layer["extent"] for layer in layers if layer.get("spatialReference") == DEGREES and "extent" in layer]
    if reference != DEGREES or not boxes:
        return str(reference)
    is_wide = any(box["xMax"] - box["xMin"] > 180 or box["yMin"] < -80 or box["yMax"] > 80 for box in boxes)
    return _EQUAL_EARTH if is_wide else _MERCATOR


def _renderer(layer: Mapping[str, Any], number: int, color: str | None) -> dict[str, Any]:
    kind = str(layer["geometryType"])
    if "Polygon" in kind:
        fill, edge = _AREAS[number % len(_AREAS)]
        symbol: dict[str, Any] = {"type": "simpleFill", "color": color or fill, "outline": {"color": edge, "width": 0.75}}
    elif "Line" in kind:
        symbol = {"type": "simpleLine", "color": color or _LINES[number % len(_LINES)], "width": 1.5}
    else:
        # Many points would cover each other.
        size = 8 if (layer.get("featureCount") or 0) <= 1000 else 4
        outline = {"color": "#FFFFFF", "width": 1 if size > 4 else 0.5}
        symbol = {"type": "simpleMarker", "color": color or _POINTS[number % len(_POINTS)], "size": size, "outline": outline}
    return {"type": "simple", "symbol": symbol}


def _labels(layer: _layers.Layer, field: str | None) -> dict[str, Any]:
    """Labels of a layer that has the field; text that names no field is CQL2."""
    if field is None:
        return {}
    is_field = any(each["name"] == field for each in layer.fields)
    quoted = '"' + field.replace('"', '""') + '"'
    text = {"type": "text", "size": 11, "color": "#333333", "haloColor": "#FFFFFF", "haloWidth": 1.5}
    if not is_field and field.isidentifier():
        return {}
    return {"labels": [{"expression": quoted if is_field else field, "symbol": text}], "labelsEnabled": True}


def _made(session: Session, options: argparse.Namespace, map: str, reference: str, layers: Sequence[str]) -> str:
    """A view that shows the layers, or the box that is asked for."""
    box, of = _extent(session, options, reference, layers), reference
    if options.bbox is not None:
        box, of = dict(zip(_SIDES, options.bbox)), DEGREES
    width = options.width or _WIDTH
    seen = box if of == reference else None
    height = options.height or (_height(width, seen) if seen else width * 0.75)
    view = str(session.call("view/create", {"map": map, "width": width, "height": height})["view"])
    if box is not None:
        to = {"type": "boundingGeometry", "geometry": {"type": "Envelope", **box}, "spatialReference": of, "padding": 0.04 * min(width, height)}
        session.call("view/setViewpoint", {"view": view, "viewpoint": to})
    return view


def _extent(session: Session, options: argparse.Namespace, reference: str, layers: Sequence[str]) -> dict[str, float] | None:
    """The box of all layers, in the reference of the map."""
    boxes = [box for id in layers for box in _layers.extents(session, id, reference)]
    if not boxes:
        return None
    return {name: (min if name.endswith("Min") else max)(box[name] for box in boxes) for name in _SIDES}


def _height(width: float, box: Mapping[str, float]) -> float:
    wide, high = box["xMax"] - box["xMin"], box["yMax"] - box["yMin"]
    return round(min(max(width * high / wide if wide > 0 else width, width * 0.4), width * 1.4))


# What was drawn


def _report(session: Session, options: argparse.Namespace, picture: dict[str, Any]) -> None:
    for each in picture.get("failed", ()):
        session.warn(f"{each.get('layer') or each.get('overlay')} is not drawn: {each['error']['message']}")
    if picture["missingGlyphCount"]:
        session.warn(f"{picture['missingGlyphCount']} characters are in no font, and drawn as boxes")
    if options.output is None:
        sys.stdout.buffer.write(base64.b64decode(picture["data"]))
        sys.stdout.buffer.flush()
    elif options.json:
        print(json.dumps(picture, ensure_ascii=False))
    elif not options.quiet:
        left = picture["omittedLabelCount"]
        labels = f", {picture['labelCount']:,} labels" + (f", no room for {left:,}" if left else "") if picture["labelCount"] or left else ""
        print(f"{options.output}: {picture['width']:,} x {picture['height']:,}, {picture['bytes']:,} bytes, {picture['format'].upper()}{labels}")
