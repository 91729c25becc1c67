"""Finds the server: argument, GEOMODEL_SERVER, the one that a wheel brings, PATH, the checkout's build, in this order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Sequence

from .errors import ServerNotFoundError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "geomodel-server"


def find_server(server: str | os.PathLike[str] | Sequence[str] | None = None) -> list[str]:
    """The command that starts the server, as a list of words."""
    if server is not None:
        if not isinstance(server, (str, os.PathLike)):
            return [os.fspath(word) for word in server]
        return [_given(os.fspath(server), "the argument `server`")]
    variable = os.environ.get("GEOMODEL_SERVER")
    if variable:
        return [_given(variable, "the variable GEOMODEL_SERVER")]
    # Of the same version as this package, whatever else is on PATH.
    bundled = os.path.join(os.path.dirname(__file__), "_server", NAME)
    if _is_executable(bundled):
        return [bundled]
    # Not `shutil.which`, whose import takes longer than all else here.
    on_path = next(filter(_is_executable, (os.path.join(folder, NAME) for folder in os.get_exec_path() if folder)), None)
    if on_path:
        return [on_path]
    checkout = find_checkout()
    if checkout is None:
        builds = "this package was not installed from a checkout, so there is no build beside it"
    else:
        for configuration in ("release", "debug"):
            candidate = checkout / ".build" / configuration / NAME
            if _is_executable(candidate):
                return [str(candidate)]
        builds = f"no build in {checkout / '.build'} (`make build` there makes one)"
    raise ServerNotFoundError(
        f"{NAME} was not found: not given as `server`, GEOMODEL_SERVER is not set, no server in this package"
        f" (wheels have one, for Linux on x86-64 only, for now), not on PATH, {builds}"
    )


def find_checkout() -> Path | None:
    """The repository that contains this package's source, if any."""
    from pathlib import Path

    for folder in Path(__file__).resolve().parents:
        if (folder / "Package.swift").is_file() and (folder / "Protocol").is_dir():
            return folder
    return None


def _given(path: str, by: str) -> str:
    import shutil

    found = shutil.which(path)
    if found:
        return os.path.abspath(found) if os.sep in found else found
    expanded = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(expanded):
        raise ServerNotFoundError(f"{by} names {path!r}, which does not exist")
    if not _is_executable(expanded):
        raise ServerNotFoundError(f"{by} names {path!r}, which is no executable file")
    return expanded


def _is_executable(path: str | os.PathLike[str]) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
