"""The preview page of a server that clients share: where its files are, and at which address it is."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import subprocess
from typing import Any, Sequence

from ._find import find_server
from .errors import Error

# What draws the map, and is not part of this project.
DRAWING = "maplibre-gl.js"


def folders(command: Sequence[str]) -> list[str]:
    """Where the server finds the page's files: this package's own, and MapLibre GL, if it is anywhere.

    That is in the folder of the variable GEOMODEL_MAPLIBRE, beside the server, or in the installed package `maplibre`.
    """
    found = [os.path.join(os.path.dirname(__file__), "_preview")]
    places = [os.environ.get("GEOMODEL_MAPLIBRE"), os.path.join(os.path.dirname(os.path.realpath(command[0])), "geomodel-preview")]
    package = importlib.util.find_spec("maplibre")
    places += [os.path.join(folder, "srcjs") for folder in (package and package.submodule_search_locations) or ()]
    return found + [place for place in places if place and os.path.isfile(os.path.join(place, DRAWING))][:1]


def flags(command: Sequence[str]) -> list[str]:
    """What a server needs to serve the page."""
    return [word for folder in folders(command) for word in ("--preview", folder)]


def address(command: Sequence[str], name: str) -> str | None:
    """The address of the page of a running server, with the token; nothing where the server has none."""
    listed = subprocess.run([*command, "--list", "--json"], capture_output=True, text=True, check=False)
    for line in listed.stdout.splitlines():
        server: dict[str, Any] = json.loads(line)
        if server["name"] == name:
            found: str | None = server.get("preview")
            return found
    return None


class Preview:
    """A preview page in a notebook."""

    def __init__(self, url: str, height: int) -> None:
        self.url = url
        self._height = height

    def _repr_html_(self) -> str:
        return f'<iframe src="{html.escape(self.url)}" style="width: 100%; height: {self._height}px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"Preview({self.url!r})"


def preview(name: str = "default", *, view: str | None = None, height: int = 480, server: str | os.PathLike[str] | None = None) -> Preview:
    """The live preview of a server that clients share, for notebooks: a page beneath the cell, with `url` for a browser.

    The server runs already, with the page: `geomodel preview NAME` in a shell starts it, or
    `launch_sync(attach=NAME, args=geomodel.preview_flags())`.
    """
    url = address(find_server(server), name)
    if url is None:
        raise Error(f"no server {name!r} has a preview: start it by `geomodel preview {name}`")
    return Preview(url if view is None else f"{url}#{view}", height)


def preview_flags(server: str | os.PathLike[str] | None = None) -> list[str]:
    """The flags with which a server that clients share serves its preview, for the `args` of `launch`."""
    return flags(find_server(server))
