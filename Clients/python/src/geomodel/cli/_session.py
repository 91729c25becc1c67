"""What commands do with a server: start it, call it with a progress bar, open files as layers."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any, Mapping

from .. import _start
from .._bars import TerminalBar, showing
from .._direct import DirectServer
from .._find import find_server
from ..errors import GeoModelError
from ._failures import UsageError
from ._table import is_terminal


class Session:
    """A server for one command."""

    def __init__(self, options: Namespace) -> None:
        flags: list[str] = []
        name = getattr(options, "attach", None)
        if name is not None:
            flags += ["--attach", name, *getattr(options, "server_flags", ())]
        if getattr(options, "allow_network", False):
            flags.append("--allow-network")
        command = [*find_server(options.server), *_start.flags((), (), options.trace_file, flags)]
        self._shows = is_terminal(sys.stderr) and not options.quiet
        self._options = options
        self._folders: list[Any] = []
        self.server = DirectServer(command, root_path=os.getcwd(), client_name="geomodel-cli")

    def call(self, method: str, params: Mapping[str, Any], title: str = "") -> Any:
        """The result of a method, with a bar if it takes long."""
        if not self._shows:
            return self.server.call(method, params)
        with showing(TerminalBar(title)) as progress:
            return self.server.call(method, params, progress)

    def open(self, path: str, options: Namespace) -> dict[str, Any]:
        """The source over a file, or over standard input (`-`)."""
        params = {
            "path": self._received(path) if path == "-" else path if "://" in path else os.path.abspath(path),
            "driver": getattr(options, "driver", None),
            "encoding": getattr(options, "encoding", None),
            "spatialReference": getattr(options, "srs", None),
            "xField": getattr(options, "x_field", None),
            "yField": getattr(options, "y_field", None),
        }
        given = {name: value for name, value in params.items() if value is not None}
        try:
            source: dict[str, Any] = self.call("source/open", given, f"reading {os.path.basename(path)}")
        except GeoModelError as error:
            if path == "-":
                error.message = error.message.replace(str(given["path"]), "standard input")
            raise
        for warning in source.get("warnings", []):
            self.warn(f"{path}: {warning}")
        return source

    def warn(self, message: str) -> None:
        if not self._options.quiet:
            print(f"geomodel: {message}", file=sys.stderr)

    def of_its_own(self) -> Session:
        """A session whose model is nobody else's, for what must not be seen in a model that is attached to."""
        return Session(Namespace(**{**vars(self._options), "attach": None}))

    def folder(self) -> str:
        """A new folder of files that are needed until the session ends."""
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="geomodel-")
        self._folders.append(folder)
        return folder.name

    def close(self) -> None:
        self.server.close()
        for folder in self._folders:
            folder.cleanup()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _received(self, path: str) -> str:
        """A file with what standard input has: the server reads files, of any size, and confines what reads them."""
        import shutil

        if sys.stdin is None:
            raise UsageError("there is no standard input", "geomodel")
        head = sys.stdin.buffer.peek(1)[:1] if hasattr(sys.stdin.buffer, "peek") else b""
        suffix = "csv" if getattr(self._options, "driver", None) == "CSV" else "geojsons" if head == b"\x1e" else "geojsonl"
        made = os.path.join(self.folder(), f"input.{suffix}")
        with open(made, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return made


def is_document(path: str) -> bool:
    """Whether a file begins as a document does; the server checks the rest."""
    try:
        with open(path, "rb") as file:
            return b'"geomodel-document"' in file.read(400)
    except OSError:
        return False  # The server says why it cannot be opened.
