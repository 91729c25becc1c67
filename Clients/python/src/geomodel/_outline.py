"""A live outline of the model for notebooks: maps, their layers and views, overlays, clients, the document."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import importlib
import types
from pathlib import Path
from typing import Any, Coroutine, Iterable, Iterator, Mapping, overload

from ._client import Client
from ._portal import do
from ._subscriptions import StateSubscription
from ._sync import SyncClient
from .errors import Error

# Only what is shown: graphics and selections can be many.
_PATHS = [
    "/document", "/clients/*",
    *(f"/{kind}/*/{name}" for kind in ("maps", "scenes") for name in ("title", "basemap", "operationalLayers", "tables")),
    *(f"/layers/*/{name}" for name in ("name", "isVisible", "loadStatus", "layers", "featureCount", "selectedCount")),
    *(f"/views/*/{name}" for name in ("map", "scene", "overlays", "scale")),
    *(f"/overlays/*/{name}" for name in ("name", "isVisible", "graphicCount", "selectedCount")),
]
_Node = dict[str, Any]


@overload
def outline(server: SyncClient, *, max_rate: float = 5) -> Any: ...


@overload
def outline(server: Client, *, max_rate: float = 5) -> Coroutine[Any, Any, Any]: ...


def outline(server: SyncClient | Client, *, max_rate: float = 5) -> Any:
    """A widget for notebooks that shows maps with their layers, views and overlays, the clients and the document.

    It follows the model, at most `max_rate` times a second, also while a cell runs, until `close()` or the end of the client. With an
    asynchronous client the call is awaited. Needs the extra `[jupyter]`.
    """
    if isinstance(server, Client):
        return _awaited(server, max_rate)
    portal = server._portal
    subscription, nodes = portal.run(_observed(server._async, max_rate))
    # The widget is made on this thread, whose cell it belongs to.
    widget = _widget_type()(nodes=nodes)
    portal.run(do(lambda: _follow(subscription, widget)))
    return widget


async def _awaited(client: Client, max_rate: float) -> Any:
    subscription, nodes = await _observed(client, max_rate)
    widget = _widget_type()(nodes=nodes)
    _follow(subscription, widget)
    return widget


async def _observed(client: Client, max_rate: float) -> tuple[StateSubscription, list[_Node]]:
    _widget_type()  # Nothing is observed where the package is missing.
    subscription = await client.observe(_PATHS, max_rate=max_rate)
    return subscription, nodes_of(subscription.state)


def _follow(subscription: StateSubscription, widget: Any) -> None:
    """Shows the changes from now on, until the widget is closed."""
    loop = asyncio.get_running_loop()
    # In a context of its own: notebooks would take the changes for those of the cell that made the outline, which has ended.
    task = contextvars.Context().run(loop.create_task, _following(subscription, widget))

    def changed(change: Any) -> None:
        # A closed widget has lost its channel to the page.
        if change.new is None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    widget.observe(changed, "comm")


async def _following(subscription: StateSubscription, widget: Any) -> None:
    said = "The client is closed."
    try:
        async for _ in subscription:
            subscription.take_all()
            nodes = nodes_of(subscription.state)
            if nodes != widget.nodes:
                widget.nodes = nodes
    except Error as error:
        said = str(error)
    finally:
        widget.ended = said
        with contextlib.suppress(Error):
            await subscription.close()


@functools.cache
def _widget_type() -> Any:
    """The class of the widget, made when it is needed: neither type checkers nor others need its packages."""
    try:
        traitlets, anywidget = importlib.import_module("traitlets"), importlib.import_module("anywidget")
    except ImportError as error:
        raise ImportError("an outline needs anywidget: pip install 'geomodel-server[jupyter]'") from error
    here = Path(__file__).parent
    members = {
        "_esm": (here / "_outline.js").read_text(encoding="utf-8"),
        "_css": (here / "_outline.css").read_text(encoding="utf-8"),
        "nodes": traitlets.List().tag(sync=True),
        "ended": traitlets.Unicode().tag(sync=True),
        "__doc__": "An outline of the model; see `geomodel.outline`.",
        "__module__": __name__,
        # Where no widgets are shown.
        "__repr__": lambda widget: "\n".join(_lines(widget.nodes, "")),
    }
    return types.new_class("Outline", (anywidget.AnyWidget,), exec_body=lambda namespace: namespace.update(members))


def _lines(nodes: Iterable[_Node], indent: str) -> Iterator[str]:
    for node in nodes:
        yield f"{indent}{node['kind']} {node['label']}  {node['detail']}".rstrip()
        yield from _lines(node["children"], indent + "  ")


# What is shown: a tree of nodes, a kind, a label and a detail each.


def nodes_of(state: Mapping[str, Any]) -> list[_Node]:
    """The tree of a state; what was closed has no members left."""
    # Objects of the state tree by their ids, with the members that are observed.
    model = {kind: {id: each for id, each in (state.get(kind) or {}).items() if each} for kind in _KINDS}
    document = state.get("document") or {}
    name = Path(document["path"]).name if document.get("path") else "untitled"
    details = ["modified" if document.get("isModified") else "saved", "of a recovery" if document.get("recovery") else ""]
    made = [_node("document", "", name, details)]
    for kind in ("map", "scene"):
        for id, content in model[f"{kind}s"].items():
            basemap = content.get("basemap") or {}
            inside = [_layers(model, ids, label) for ids, label in (
                (basemap.get("referenceLayers"), "reference layer"),
                (content.get("operationalLayers"), "layer"),
                (basemap.get("baseLayers"), "base layer"),
                (content.get("tables"), "table"),
            )]
            views = [_view(model, view, each) for view, each in model["views"].items() if each.get(kind) == id]
            made.append(_node(kind, id, content.get("title") or id, [], [*(node for nodes in inside for node in nodes), *views]))
    made += [_view(model, id, view) for id, view in model["views"].items() if not view.get("map") and not view.get("scene")]
    made += [_node("client", id, each.get("name") or id, _client(each)) for id, each in model["clients"].items()]
    return made


_KINDS = ("maps", "scenes", "layers", "views", "overlays", "clients")


def _layers(model: Mapping[str, Any], ids: Iterable[str] | None, kind: str) -> list[_Node]:
    """Layers as tables of contents have them, the one drawn last first."""
    made = []
    for id in reversed(list(ids or ())):
        layer = model["layers"].get(id) or {}
        status = layer.get("loadStatus") or {}
        details = [_count(layer, "featureCount", "feature"), _count(layer, "selectedCount", "selected"), status.get("type", "")]
        if isinstance(error := status.get("error"), Mapping):
            details.append(str(error.get("message", "")))
        inside = _layers(model, layer.get("layers"), kind)
        made.append(_node(kind if layer.get("layers") is None else "group", id, layer.get("name") or id, details, inside, layer))
    return made


def _view(model: Mapping[str, Any], id: str, view: Mapping[str, Any]) -> _Node:
    overlays = [(each, model["overlays"].get(each) or {}) for each in reversed(view.get("overlays") or [])]
    inside = [
        _node(
            "overlay", each, overlay.get("name") or each,
            [_count(overlay, "graphicCount", "graphic"), _count(overlay, "selectedCount", "selected")], [], overlay,
        )
        for each, overlay in overlays
    ]
    return _node("view", id, id, [f"1:{view['scale']:,.0f}" if view.get("scale") else ""], inside)


def _client(client: Mapping[str, Any]) -> list[str]:
    shows = f"shows {client['view']}" if client.get("view") else ""
    return ["edits" if client.get("isEditing") else "", "reads only" if client.get("isReadOnly") else "", shows]


def _count(members: Mapping[str, Any], name: str, word: str) -> str:
    count = members.get(name)
    if count is None or word == "selected" and not count:
        return ""
    return f"{count:,} {word}{'' if count == 1 or word == 'selected' else 's'}"


def _node(
    kind: str, id: str, label: str, details: Iterable[str], children: Iterable[_Node] = (), members: Mapping[str, Any] | None = None
) -> _Node:
    is_dimmed = (members or {}).get("isVisible") is False
    return {
        "key": f"{kind}/{id}", "kind": kind, "label": label, "detail": ", ".join(filter(None, details)),
        "isDimmed": is_dimmed, "children": list(children),
    }
