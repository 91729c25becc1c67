"""How a server is started and greeted: its flags and `initialize`, the same for every kind of client."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

from ._generated import PROTOCOL_VERSION, __version__
from .errors import ProtocolError

PROTOCOL_VERSIONS = (PROTOCOL_VERSION,)


def flags(
    allow_dir: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    allow_write: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    trace_file: str | os.PathLike[str] | None,
    args: Iterable[str],
) -> list[str]:
    """The server's flags."""
    made: list[str] = []
    for flag, given in (("--allow-dir", allow_dir), ("--allow-write", allow_write)):
        for folder in [given] if isinstance(given, (str, os.PathLike)) else given:
            made += [flag, os.fspath(folder)]
    if trace_file is not None:
        made += ["--trace-file", os.fspath(trace_file)]
    return made + [os.fspath(word) for word in args]


def greeting(client_name: str, root_path: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The params of `initialize`."""
    params = {
        "processId": os.getpid(),
        "clientInfo": {"name": client_name, "version": __version__},
        "protocolVersions": list(PROTOCOL_VERSIONS),
        "strict": True,
    }
    return params if root_path is None else {**params, "rootPath": os.path.abspath(root_path)}


def check(result: Any) -> Mapping[str, Any]:
    """The answer to `initialize`, if the server speaks this protocol."""
    if not isinstance(result, Mapping) or result.get("protocolVersion") not in PROTOCOL_VERSIONS:
        raise ProtocolError(f"the server speaks another protocol: {result!r:.200}")
    if not all(isinstance(result.get(name), Mapping) for name in ("serverInfo", "capabilities")):
        raise ProtocolError(f"the server's answer to initialize does not fit: {result!r:.200}")
    return result
