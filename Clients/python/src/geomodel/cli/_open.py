"""Opens a document, a map package or a file, and shows what the model then holds; with --attach alone, what it holds now.

With --attach NAME the file is opened in that model, where it stays open; else in a server that ends with the command.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any, Iterator, Mapping

from . import _info, _layers, _table
from ._arguments import add_output, add_reading, add_server
from ._failures import UsageError
from ._session import Session, is_document

# The lists of the outline, and the member that has the id.
_LISTS = {"map": "maps", "scene": "scenes", "view": "views", "layer": "layers", "overlay": "overlays", "source": "sources",
          "viewModel": "viewModels"}


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="a document, a map package (.gmpk) or a file that the server reads")
    _layers.add_attach(parser)
    add_reading(parser)
    add_output(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    if options.file is None and options.attach is None:
        raise UsageError("name a file, or a server by --attach NAME", "geomodel open")
    with Session(options) as session:
        problems: list[Any] = []
        if options.file is not None:
            problems = opened(session, options, options.file).get("problems", [])
        model = {plural: session.call(f"{kind}/list", {})[plural] for kind, plural in _LISTS.items()}
        document = session.call("document/get", {})
        if options.json:
            print(json.dumps({"document": document, "problems": problems, **model}, ensure_ascii=False))
            return 0
        for problem in problems:
            session.warn(f"left out: {problem.get('message', problem)}")
        _outline(options.file or options.attach, document, model)
    return 0


def opened(session: Session, options: argparse.Namespace, file: str) -> Mapping[str, Any]:
    path = os.path.abspath(file) if "://" not in file and file != "-" else file
    method = "package/open" if path.endswith(".gmpk") else "document/open" if is_document(path) else None
    if method is None:
        return _layers.opened(session, file, options)[0] or {}
    answer: dict[str, Any] = session.call(method, {"path": path}, f"opening {os.path.basename(path)}")
    return answer


def _outline(name: str, document: Mapping[str, Any], model: Mapping[str, list[dict[str, Any]]]) -> None:
    state = ", modified" if document["isModified"] else ""
    print(f"{_table.bold(_table.text(name))}: revision {document['revision']}{state}")
    layers = {layer["layer"]: layer for layer in model["layers"]}
    overlays = {overlay["overlay"]: overlay for overlay in model["overlays"]}
    rows = [row for kind in ("map", "scene") for content in model[f"{kind}s"] for row in _content(kind, content, layers)]
    for view in model["views"]:
        shown = view.get("map") or view.get("scene")
        rows.append((0, "view", view["view"], f"of {shown}" if shown else None, f"{view['width']:g} x {view['height']:g}", None))
        for id in view["overlays"]:
            overlay = overlays[id]
            rows.append((1, "overlay", id, overlay.get("name"), None, overlay["graphicCount"]))
    for source in model["sources"]:
        path = source.get("path")
        state = "" if source["status"]["type"] == "open" else f", {source['status']['type']}"
        rows.append((0, "source", source["source"], None if path is None else os.path.basename(path), f"{source['driver']}{state}", None))
        for layer in source["layers"]:
            rows.append((1, "layer", layer["name"], None, layer.get("geometryType", "table"), layer.get("featureCount")))
    for each in model["viewModels"]:
        rows.append((0, "view model", each["viewModel"], each.get("type"), f"{len(each['values'])} values", None))
    if rows:
        print()
        _table.show(((f"{'  ' * depth}{kind}", *rest) for depth, kind, *rest in rows), ("what", "id", "name", "kind", "features"))


def _content(kind: str, content: Mapping[str, Any], layers: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """A map or scene, with its layers from top to bottom."""
    yield (0, kind, content[kind], content.get("title"), _info.reference_name(content.get("spatialReference")), None)
    basemap = content.get("basemap") or {}
    for title, ids in (
        ("reference layer", basemap.get("referenceLayers", [])), ("layer", content["operationalLayers"]),
        ("base layer", basemap.get("baseLayers", [])), ("table", content["tables"]),
    ):
        for id in reversed(ids):
            yield from _layer(1, title, id, layers)


def _layer(depth: int, title: str, id: str, layers: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    layer = layers[id]
    is_group = layer["kind"] == "group"
    hidden = "" if layer.get("isVisible", True) else ", hidden"
    status = layer["loadStatus"]["type"]
    state = hidden if is_group or status in ("loaded", "notLoaded") else f"{hidden}, {status}"
    yield (depth, "group" if is_group else title, id, layer["name"], (layer.get("geometryType") or layer["kind"]) + state, layer.get("featureCount"))
    for inner in reversed(layer.get("layers", [])):
        yield from _layer(depth + 1, "layer", inner, layers)
