"""What the tests of the command line have in common: running `geomodel` as people and scripts do."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from support import FIXTURES, SERVER, child_environment

WORLD, CITIES = "naturalearth_110m.gpkg", "cities.fgb"
COMMAND = [sys.executable, "-m", "geomodel"]
# A shell lets what it starts in the background ignore Control-C, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def environment(**more: str) -> dict[str, str]:
    clean = {name: value for name, value in child_environment().items() if name not in ("NO_COLOR", "TERM")}
    return {**clean, "TERM": "xterm", "GEOMODEL_SERVER": str(SERVER), **more}


class Done:
    """What a command did."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line.lstrip("\x1e")) for line in self.out.split("\n")[:-1]]


def run(*words: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
    return Done(subprocess.run(
        [*COMMAND, *map(str, words)], input=stdin.encode(), capture_output=True, cwd=FIXTURES, timeout=120, env=env or environment()
    ))


def names(features: list[Any]) -> list[str]:
    return [feature["properties"]["name"] for feature in features]


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def good(self, *words: str | Path, stdin: str = "") -> Done:
        done = run(*words, stdin=stdin)
        self.assertEqual((done.status, done.err), (0, ""), words)
        return done

    def refused(self, status: int, *words: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> str:
        """What a command says that fails: a line without a traceback, and the same as an object."""
        done = run(*words, stdin=stdin, env=env)
        self.assertEqual((done.status, done.out), (status, ""), done.err)
        self.assertRegex(done.err, r"\Ageomodel: [^\n]+\n\Z")
        with_json = run(*words, "--json", stdin=stdin, env=env)
        said = json.loads(with_json.err)
        self.assertEqual((with_json.status, with_json.out), (status, ""))
        self.assertIn(f"{said['kind']}: ", done.err)
        if "next" in said:
            self.assertIn(said["next"], done.err)
        return done.err

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)
