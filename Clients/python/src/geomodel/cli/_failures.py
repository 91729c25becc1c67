"""What a command says when it fails, and its exit status."""

from __future__ import annotations

import json
import sys
from typing import Any

from ..errors import EncodeError, Error, GeoModelError, ServerDiedError, ServerNotFoundError

OK, REFUSED, USAGE, NO_SERVER, NO_FILE, INTERRUPTED, UNREAD, TERMINATED = 0, 1, 2, 3, 4, 130, 141, 143
STATUSES = {
    OK: "all well",
    REFUSED: "the server answered with an error, whose kind begins the message",
    USAGE: "the command line is wrong",
    NO_SERVER: "there is no server, or it died",
    NO_FILE: "a file cannot be read or written here",
    INTERRUPTED: "interrupted by Control-C; the server has ended the task",
    UNREAD: "nobody reads the output any more",
    TERMINATED: "ended by SIGTERM; what was half written is gone",
}


class UsageError(Exception):
    """The command line is wrong."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


_LOST = "run the command again; --trace-file records what was asked"
# What helps, by the kind of error; for others, what the server says is expected.
_NEXT = {
    "fileNotFound": "check the path, which is relative to this folder",
    "pathRefused": "the server was started with --allow-dir or --allow-write, which do not include it",
    "notAFile": "name a file, not a folder or a device",
    "fileExists": "name another file, or give --replace, which replaces the whole of it; export and convert add to a GeoPackage by --add-layer",
    "unknownFormat": "check that it is a file of features; info, open, render and preview take rasters, too; --driver names its format",
    "unknownField": "`geomodel info FILE` lists the fields; names with spaces or capitals go in double quotes",
    "unknownSourceLayer": "`geomodel info FILE` lists the layers",
    "expressionSyntax": "--where takes CQL2, such as \"population > 1000 AND name LIKE 'B%'\"; quote it for the shell",
    "expressionType": "compare numbers with numbers and texts, in single quotes, with texts; `geomodel info FILE` has the types",
    "unknownSpatialReference": "name it by a code such as EPSG:4326",
    "transformFailed": "name another spatial reference, or the file's by --srs",
    "noGeometry": "this layer is a table: leave out the options about places",
    "openFailed": "check that the file is whole and of the format that its suffix says; --driver names another",
    "invalidGeometry": "mend the geometry first",
    "libraryMissing": "install the library that is named, or the wheel, which has them",
    "readerFailed": "the file may be damaged or too large; the server's --reader-memory says how much a reader may use",
    "serverLost": _LOST,
    "unknownId": "`geomodel open --attach NAME` lists the objects of a model",
}


def explain(error: BaseException) -> tuple[int, dict[str, Any]]:
    """The exit status, and what is said: `kind`, `message` and what to do `next`, beside the error's own members."""
    if isinstance(error, UsageError):
        return USAGE, {"kind": "usage", "message": str(error), "next": f"`{error.prog} --help` lists the arguments"}
    if isinstance(error, GeoModelError):
        said: dict[str, Any] = {"kind": error.kind, "code": error.code, "message": error.message, "data": error.data}
        if error.method:
            said["method"] = error.method
        expected = f"expected: {error.expected}" if error.expected and error.expected not in error.message else None
        if error.kind == "unknownFormat" and error.expected:
            return REFUSED, {**said, "next": f"formats are {error.expected}"}
        # A server that others use, too, may end while the one that forwards to it answers.
        status = NO_SERVER if error.kind == "serverLost" else REFUSED
        return status, {**said, "next": _NEXT.get(error.kind) or expected}
    if isinstance(error, EncodeError):
        return USAGE, {"kind": "usage", "message": str(error), "next": "arguments are UTF-8"}
    if isinstance(error, ServerNotFoundError):
        return NO_SERVER, {"kind": "serverNotFound", "message": str(error), "next": "install it, or name it by --server PATH"}
    if isinstance(error, Error):
        # It says itself why it does not start.
        is_start = isinstance(error, ServerDiedError) and error.exit_status in (64, 66, 69, 71, 73)
        return NO_SERVER, {"kind": "serverLost", "message": str(error), "next": None if is_start else _LOST}
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return NO_FILE, {"kind": "system", "message": f"{place}{error.strerror or error}", "next": None}
    raise error


def report(error: BaseException, as_json: bool) -> int:
    """Says on standard error what went wrong, in one line, and gives the exit status."""
    status, said = explain(error)
    if as_json:
        line = json.dumps({name: value for name, value in said.items() if value is not None}, ensure_ascii=False)
    else:
        message = " ".join(f"{said['kind']}: {said['message']}".split()).removesuffix(".")
        line = f"geomodel: {message}" + (f"; {said['next']}" if said["next"] else "")
    print(line.encode("utf-8", "backslashreplace").decode("utf-8"), file=sys.stderr)
    return status
