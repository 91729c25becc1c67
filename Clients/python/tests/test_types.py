"""The client as type checkers see it: mypy --strict finds nothing in the package, the examples, or in what the README promises.

Skipped where mypy is not installed.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import ROOT, SOURCE, child_environment

from geomodel import mcp

EXAMPLES = SOURCE.parent / "examples"
PROMISED = '''
import pathlib
from typing import Any
import geomodel
from geomodel import types
from geomodel.errors import UnknownIdError

class Shape:
    @property
    def __geo_interface__(self) -> dict[str, Any]:
        return {}

def use(server: geomodel.SyncServer, shape: Shape, collection: dict[str, Any]) -> None:
    source: types.Source = server.source.open(path=pathlib.Path("cities.gpkg"))
    server.source.open(path="cities.gpkg")
    server.scene.create(elevation_sources=[pathlib.Path("a.tif"), "b.tif"])
    server.document.save_as(path=pathlib.Path("world.json"))
    server.overlay.add_graphics(overlay="o1", graphics=[{"geometry": shape}])
    server.overlay.add_graphics(overlay="o1", graphics=[shape])
    server.overlay.add_graphics(overlay="o1", graphics=shape)
    server.overlay.add_graphics(overlay="o1", graphics=collection)
    server.overlay.add_columns(overlay="o1", x=[1.0], y=[2.0], attributes={"name": ["a"]})
    reveal_type(source["layers"][0]["name"])

async def use_async(server: geomodel.Server) -> str:
    opened = await server.source.open(path=pathlib.Path("cities.gpkg"))
    try:
        await server.map.get(map="m1")
    except UnknownIdError as error:
        reveal_type(error.kind)
    async with server.observe("/maps", edits="deferred") as sub:
        async for change in sub:
            reveal_type(change.revision)
    return opened["driver"]

def follow(server: geomodel.SyncServer) -> None:
    with server.observe("/maps") as sub, server.observe_viewpoint("v1") as seen:
        for change in sub:
            reveal_type(change)
        reveal_type(next(seen))
'''
REFUSED = '''
import geomodel
from geomodel.errors import UnknwonIdError

def misuse(server: geomodel.SyncServer) -> None:
    server.source.open(path=5)
    server.observe("/maps", edits="later")
'''


@unittest.skipIf(importlib.util.find_spec("mypy") is None, "no mypy")
class TypeTests(unittest.TestCase):
    def mypy(self, *what: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", self.cache, *what],
            capture_output=True, text=True, timeout=300,
            env={**child_environment(), "MYPYPATH": f"{SOURCE}:{EXAMPLES}:{EXAMPLES / 'gallery'}"},
        )
        return done.returncode, done.stdout + done.stderr

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def test_the_package(self) -> None:
        # What imports PyPI's `mcp` can be checked only beside it.
        left_out = [] if mcp.is_available() else ["--exclude", r"geomodel/mcp/_(schemas|server|tool|tools\w*)\.py$"]
        self.assertEqual(self.mypy("-p", "geomodel", *left_out), (0, ""))

    def test_the_examples(self) -> None:
        for example in sorted(EXAMPLES.glob("**/*.py")):
            with self.subTest(example.name):
                self.assertEqual(self.mypy(str(example)), (0, ""))

    def test_what_the_readme_promises(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            promised, refused = Path(folder) / "promised.py", Path(folder) / "refused.py"
            promised.write_text(PROMISED)
            refused.write_text(REFUSED)
            status, said = self.mypy(str(promised))
            revealed = [line.split('Revealed type is "')[1][:-1].replace("builtins.", "") for line in said.splitlines()]
            change = "geomodel._subscriptions.StateChange"
            self.assertEqual((status, revealed), (0, ["str", "str", "int", change, "dict[str, Any]"]), said)
            status, said = self.mypy(str(refused))
            self.assertEqual((status, len(said.splitlines())), (1, 3), said)
            for wrong in ('has no attribute "UnknwonIdError"', '"path" to "open"', '"edits" has incompatible type'):
                self.assertIn(wrong, said)


@unittest.skipUnless(shutil.which("pyright"), "no pyright")
class PyrightTests(unittest.TestCase):
    """The programs of the READMEs, as Pyright and with it Pylance see them."""

    def test_the_programs_of_the_readmes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("python", SOURCE.parent / "README.md"), ("root", ROOT / "README.md")):
                for number, code in enumerate(re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.S)):
                    if "launch" not in code:
                        # A fragment has a server.
                        kind = ("async ", "Server") if "await" in code else ("", "SyncServer")
                        code = (
                            f"import geomodel\nfrom typing import Any\n{kind[0]}def use(server: geomodel.{kind[1]}, p: Any) -> None:\n"
                            + textwrap.indent(code, "    ")
                        )
                    (Path(folder) / f"{name}{number}.py").write_text(code, encoding="utf-8")
            settings = {"extraPaths": [str(SOURCE)], "reportMissingImports": False, "reportMissingModuleSource": False}
            (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
            done = subprocess.run(["pyright", "-p", folder], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
