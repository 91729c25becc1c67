"""The way in from the shell, and how the server is found."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import FAKE, TESTS, child_environment

import geomodel
from geomodel import _find


class ServerOnDisk(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Path(folder.name).resolve() / "geomodel-server"
        self.server.write_text(f"#!/bin/sh\nexec {FAKE[0]} {FAKE[1]} \"$@\"\n")
        self.server.chmod(self.server.stat().st_mode | stat.S_IXUSR)


class ShellTests(ServerOnDisk):
    def call(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-c", "import support, sys, geomodel.__main__ as m; sys.exit(m.main())", "call", *words],
            input=stdin, capture_output=True, text=True, cwd=TESTS, timeout=30,
            env={**child_environment(), "GEOMODEL_SERVER": str(self.server)},
        )
        return done.returncode, done.stdout, done.stderr

    def test_several_calls_of_one_session(self) -> None:
        self.assertEqual(
            self.call("session/echo", '{"value": "\u00e9"}', "session/echo", "session/echo", "-", stdin='{"value": 2}'),
            (0, '{"value": "\u00e9"}\n{}\n{"value": 2}\n', ""),
        )

    def test_exit_statuses(self) -> None:
        status, out, err = self.call("view/get", '{"view": "v9"}', "session/echo")
        self.assertEqual((status, out, json.loads(err)["data"]["kind"]), (1, "", "unknownId"))
        self.assertEqual(self.call("{}")[0], 2)
        self.assertEqual(self.call("session/echo", "{")[0], 2)
        self.assertEqual(self.call("test/die")[0], 3)
        self.assertEqual(self.call("--server", "/nowhere", "session/echo")[0], 3)
        self.assertEqual(self.call("--timeout", "0.1", "test/slow")[0], 1)


class FindTests(ServerOnDisk):
    def test_argument_variable_path_build(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            checkout = Path(folder).resolve()
            build = checkout / ".build" / "debug" / "geomodel-server"
            build.parent.mkdir(parents=True)
            clean = {"PATH": "/nonexistent"}
            with mock.patch.object(_find, "find_checkout", return_value=checkout):
                with mock.patch.dict(os.environ, clean, clear=True), self.assertRaises(geomodel.ServerNotFoundError) as caught:
                    geomodel.find_server()
                self.assertIn("GEOMODEL_SERVER", str(caught.exception))
                self.assertIn(".build", str(caught.exception))
                build.write_text("")
                build.chmod(0o755)
                with mock.patch.dict(os.environ, clean, clear=True):
                    self.assertEqual(geomodel.find_server(), [str(build)])
                with mock.patch.dict(os.environ, {"PATH": str(self.server.parent)}, clear=True):
                    self.assertEqual(geomodel.find_server(), [str(self.server)])
                with mock.patch.dict(os.environ, {"GEOMODEL_SERVER": str(build), "PATH": str(self.server.parent)}):
                    self.assertEqual(geomodel.find_server(), [str(build)])
                    self.assertEqual(geomodel.find_server(self.server), [str(self.server)])
                    self.assertEqual(geomodel.find_server(["a", Path("b")]), ["a", "b"])
                build.chmod(0o644)
                with self.assertRaises(geomodel.ServerNotFoundError):
                    geomodel.find_server(build)

    def test_a_wheel_s_own_server_comes_before_those_on_the_path(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            bundled = Path(folder) / "_server" / "geomodel-server"
            bundled.parent.mkdir()
            bundled.write_text("")
            bundled.chmod(0o755)
            with mock.patch.object(_find, "__file__", str(Path(folder) / "_find.py")):
                with mock.patch.dict(os.environ, {"PATH": str(self.server.parent)}, clear=True):
                    self.assertEqual(geomodel.find_server(), [str(bundled)])
                    self.assertEqual(geomodel.find_server(self.server), [str(self.server)])
                with mock.patch.dict(os.environ, {"GEOMODEL_SERVER": str(self.server)}):
                    self.assertEqual(geomodel.find_server(), [str(self.server)])

    def test_no_checkout(self) -> None:
        with mock.patch.object(_find, "find_checkout", return_value=None):
            with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}, clear=True):
                with self.assertRaises(geomodel.ServerNotFoundError):
                    geomodel.find_server()


if __name__ == "__main__":
    unittest.main()
