"""The server driven by the JSON-RPC libraries of others. Runs with GEOMODEL_REAL_CLIENTS=1, each where its program is installed:

emacs (`apt install emacs-nox`), nvim (`apt install neovim`), pygls (`pip install pygls`).
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

from support import TESTS, child_environment, real_server

SERVER = real_server()
CLIENTS = TESTS / "real_clients"
EXPECTED = ["title Zürich", "error -31010", "heard state/changed", "exit 0"]


@unittest.skipUnless(os.environ.get("GEOMODEL_REAL_CLIENTS") == "1", "GEOMODEL_REAL_CLIENTS is not 1")
@unittest.skipIf(SERVER is None, "no server was built")
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
