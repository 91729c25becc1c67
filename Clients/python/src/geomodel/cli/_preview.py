"""Shows a model in a browser: a page with a map that follows a view, and in which one pans, clicks and undoes as in any client.

The server is one that clients share, and is started if it does not run yet: scripts join it by --attach NAME, and what they change is
seen at once. Prints the page's address, which has a token in it: who knows it may use the server. The page needs MapLibre GL, which
wheels bring; elsewhere from `pip install maplibre`, or a folder with maplibre-gl.js and maplibre-gl.css in GEOMODEL_MAPLIBRE.

Examples:

  geomodel preview roads.gpkg --open
  geomodel preview map                 the server map, with the model that it has
  geomodel serve --stop map            ends it
"""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from typing import Any

from .. import _page
from .._find import find_server
from . import _layers, _open
from ._arguments import add_reading, add_server
from ._failures import UsageError
from ._session import Session, is_document
from ._table import is_terminal

_MAP, _VIEW = "map", "view"
# The only reference of maps that the page draws.
_MERCATOR = "EPSG:3857"


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", metavar="FILE|NAME", help="a file to open in the model, or the name of a server; the server's default when absent")
    parser.add_argument("--attach", metavar="NAME", help="the server, where a file is opened; else the one named default")
    parser.add_argument("--view", metavar="ID", help="the view that the page shows at first; else the first one")
    parser.add_argument("--open", action="store_true", help="open the page in a browser, if standard output is a terminal")
    parser.add_argument("--json", action="store_true", help="print the address as a JSON object, and errors, too")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress and no warnings")
    add_reading(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    file, name = _meant(options)
    command = find_server(options.server)
    flags = _page.flags(command)
    with Session(Namespace(**{**vars(options), "attach": name, "server_flags": flags})) as session:
        url = _page.address(command, name)
        if url is None:
            raise UsageError(
                f"the server {name} was started without a page; end it by `geomodel serve --stop {name}`, or name another", "geomodel preview"
            )
        if len(flags) < 4:
            session.warn("there is no MapLibre GL, so the page draws nothing: pip install maplibre, then start the server anew")
        if file is not None:
            _opened(session, file, options)
        _shown(session)
    if options.view is not None:
        url += f"#{options.view}"
    if options.json:
        import json

        print(json.dumps({"name": name, "url": url}))
    else:
        print(url)
    if options.open and is_terminal(sys.stdout):
        import webbrowser

        webbrowser.open(url)
    return 0


def _meant(options: argparse.Namespace) -> tuple[str | None, str]:
    """The file, if one is meant, and the name of the server."""
    what: str | None = options.what
    if what is None or not (what == "-" or "." in what or os.sep in what or os.path.exists(what)):
        if what is not None and options.attach is not None:
            raise UsageError(f"there is no file {what}", "geomodel preview")
        return None, what or options.attach or "default"
    return what, options.attach or "default"


def _opened(session: Session, path: str, options: argparse.Namespace) -> None:
    """A document or a package as it is; of other files each layer, in a map and a view of their own, which shows where they are."""
    if path.endswith(".gmpk") or is_document(path):
        _open.opened(session, options, path)
        return
    source, raster = _layers.opened(session, path, options)
    if source is None:
        _seen(session, [_layers.projected(session, raster["extent"], raster["spatialReference"], _MERCATOR)])
        return
    chosen = [layer for layer in source["layers"] if layer.get("geometryType") and options.layer in (None, layer["name"])]
    if not chosen:
        raise UsageError(f"{path} has no such layer with geometries", "geomodel info")
    # Areas below lines below points.
    chosen.sort(key=lambda layer: ("Polygon" in layer["geometryType"], "Line" in layer["geometryType"]), reverse=True)
    session.call("map/create", {"id": _MAP, "ifExists": "reuse"})
    extents = []
    for each in chosen:
        layer = session.call("layer/add", {"map": _MAP, "source": source["source"], "sourceLayer": each["name"]})["layer"]
        session.call("layer/load", {"layer": layer}, f"loading {each['name']}")
        if session.call("layer/get", {"layer": layer}).get("extent") is not None:
            found = session.call("feature/queryExtent", {"layer": layer, "outSpatialReference": _MERCATOR})
            extents += [found["extent"]] if found.get("extent") else []
    _seen(session, extents)


def _seen(session: Session, extents: list[dict[str, float]]) -> None:
    """The view of the map, moved to where the boxes are."""
    view = session.call("view/create", {"map": _MAP, "id": _VIEW, "ifExists": "reuse"})["view"]
    if extents:
        session.call("view/setViewpoint", {"view": view, "viewpoint": _around(extents)})


def _around(extents: list[dict[str, float]]) -> dict[str, Any]:
    """A viewpoint with all boxes, and some room around them; of one place a scale at which its surroundings are seen."""
    west, south = (min(box[name] for box in extents) for name in ("xMin", "yMin"))
    east, north = (max(box[name] for box in extents) for name in ("xMax", "yMax"))
    if west == east and south == north:
        return {"type": "centerAndScale", "center": {"type": "Point", "coordinates": [west, south]}, "targetScale": 25_000, "spatialReference": _MERCATOR}
    # Of points alone, those of a whole world would be as near to each other across the antimeridian.
    line = {"type": "LineString", "coordinates": [[west, south], [(west + east) / 2, (south + north) / 2], [east, north]]}
    return {
        "type": "boundingGeometry", "geometry": line,
        "spatialReference": _MERCATOR, "padding": 40,
    }


def _shown(session: Session) -> None:
    """A model without a view gets one, so that the page has something to show."""
    if session.call("view/list", {})["views"]:
        return
    maps = session.call("map/list", {})["maps"]
    shown = maps[0]["map"] if maps else session.call("map/create", {"id": _MAP})["map"]
    session.call("view/create", {"map": shown, "id": _VIEW})
