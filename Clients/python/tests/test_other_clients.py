"""The server driven by other languages and by the JSON-RPC libraries of others. The latter runs with GEOMODEL_REAL_CLIENTS=1, each where its program is installed:

emacs (`apt install emacs-nox`), nvim (`apt install neovim`), pygls (`pip install pygls`).
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT, SERVER, TESTS, child_environment, needs_server

CLIENTS = TESTS / "real_clients"
EXPECTED = ["title Zürich", "error -31010", "heard state/changed", "exit 0"]


@needs_server
class FirstAnswerTests(unittest.TestCase):
    """The programs of `Protocol/clients.md`, each where its language is installed."""

    def check(self, language: str, name: str, *command: str) -> None:
        text = (ROOT / "Protocol" / "clients.md").read_text(encoding="utf-8")
        found = re.search(rf"```{language}\n(.*?)```", text, re.S)
        assert found is not None
        self.assertLessEqual(len(found[1].splitlines()), 12)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_text(found[1], encoding="utf-8")
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=60, cwd=folder,
                env={**child_environment(), "GEOMODEL_SERVER": os.path.abspath(SERVER or "")},
            )
        self.assertEqual((done.stdout, done.returncode), ("World\n", 0), done.stderr)
        self.assertNotIn("rror", done.stderr)

    @unittest.skipUnless(shutil.which("emacs"), "no emacs")
    def test_emacs(self) -> None:
        self.check("elisp", "first.el", "emacs", "--batch", "--load", "first.el")

    @unittest.skipUnless(shutil.which("nvim"), "no nvim")
    def test_neovim(self) -> None:
        self.check("lua", "first.lua", "nvim", "--headless", "-u", "NONE", "-c", "luafile first.lua", "-c", "quitall!")

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_node(self) -> None:
        self.check("js", "first.mjs", "node", "first.mjs")


@unittest.skipUnless(os.environ.get("GEOMODEL_REAL_CLIENTS") == "1", "GEOMODEL_REAL_CLIENTS is not 1")
@needs_server
class OtherClientTests(unittest.TestCase):
    def check(self, *command: str) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=60,
            env={**child_environment(), "GEOMODEL_SERVER": str(SERVER), "LC_ALL": "C.UTF-8"},
        )
        self.assertEqual(done.stdout.splitlines(), EXPECTED, done.stderr)

    @unittest.skipUnless(shutil.which("emacs"), "no emacs")
    def test_emacs(self) -> None:
        self.check("emacs", "--batch", "--load", str(CLIENTS / "emacs.el"))

    @unittest.skipUnless(shutil.which("nvim"), "no nvim")
    def test_neovim(self) -> None:
        self.check("nvim", "--headless", "-u", "NONE", "-c", f"luafile {CLIENTS / 'neovim.lua'}", "-c", "quitall!")

    @unittest.skipUnless(importlib.util.find_spec("pygls"), "no pygls")
    def test_pygls(self) -> None:
        self.check(sys.executable, str(CLIENTS / "with_pygls.py"))


if __name__ == "__main__":
    unittest.main()
