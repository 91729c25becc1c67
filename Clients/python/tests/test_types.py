"""The client as type checkers see it: mypy --strict finds nothing in the package, the examples, or in what the README promises.

Skipped where mypy is not installed.
"""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE, child_environment

EXAMPLES = SOURCE.parent / "examples"
PROMISED = '''
import pathlib
from typing import Any
import geomodel
from geomodel import types

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
    return opened["driver"]
'''
REFUSED = '''
import geomodel

def misuse(server: geomodel.SyncServer) -> None:
    server.source.open(path=5)
'''


@unittest.skipIf(importlib.util.find_spec("mypy") is None, "no mypy")
class TypeTests(unittest.TestCase):
    def mypy(self, *what: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", self.cache, *what],
            capture_output=True, text=True, timeout=300,
            env={**child_environment(), "MYPYPATH": f"{SOURCE}:{EXAMPLES}"},
        )
        return done.returncode, done.stdout + done.stderr

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def test_the_package(self) -> None:
        self.assertEqual(self.mypy("-p", "geomodel"), (0, ""))

    def test_the_examples(self) -> None:
        for example in sorted(EXAMPLES.glob("*.py")):
            with self.subTest(example.name):
                self.assertEqual(self.mypy(str(example)), (0, ""))

    def test_what_the_readme_promises(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            promised, refused = Path(folder) / "promised.py", Path(folder) / "refused.py"
            promised.write_text(PROMISED)
            refused.write_text(REFUSED)
            status, said = self.mypy(str(promised))
            self.assertEqual((status, len(said.splitlines())), (0, 1), said)
            self.assertIn('Revealed type is "str"', said.replace("builtins.", ""))
            status, said = self.mypy(str(refused))
            self.assertEqual(status, 1, said)
            self.assertIn("incompatible type", said)


if __name__ == "__main__":
    unittest.main()
