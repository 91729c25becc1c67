"""What the tests of the preview page share: a server that clients share, with the page."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import tempfile
import unittest
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from support import ROOT, SERVER

import geomodel
from geomodel import _page


class Shared(unittest.TestCase):
    """A server that clients share, with the page."""

    def setUp(self) -> None:
        # The address of a socket has at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="gm", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        patch = mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": self.folder})
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(self.stop)

    def stop(self) -> None:
        subprocess.run([str(SERVER), "--stop", "t"], capture_output=True, timeout=90)

    def start(self, *more: str) -> Any:
        server = geomodel.launch_sync(SERVER, attach="t", args=[*_page.flags([str(SERVER)]), *more], root_path=str(ROOT / "Tests" / "Fixtures"))
        self.addCleanup(server.close)
        self.url = _page.address([str(SERVER)], "t") or ""
        return server

    def get(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        port = urlsplit(self.url).port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse()
