"""The package's modules stand on each other without a circle: each can be imported first."""

from __future__ import annotations

import ast
import subprocess
import sys
import unittest
from graphlib import TopologicalSorter

from support import SOURCE, child_environment

from geomodel import mcp

PACKAGE = SOURCE / "geomodel"
NAMES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imported(name: str) -> set[str]:
    """The package's modules that a module imports anywhere in it: in functions, and for type checkers alone, too."""
    path = NAMES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join(filter(None, [*parents, node.module]))
            found.update(f"{base}.{alias.name}" if f"{base}.{alias.name}" in NAMES else base for alias in node.names)
    return found & NAMES.keys() - {name}


class ImportTests(unittest.TestCase):
    def test_no_module_imports_itself_by_way_of_others(self) -> None:
        graph = {name: imported(name) for name in NAMES}
        self.assertIn("geomodel._connection", graph["geomodel._client"])
        TopologicalSorter(graph).prepare()  # Raises `CycleError`, which names the circle.

    def test_every_module_can_be_imported_first(self) -> None:
        # The package's own import is no help: its `__init__` is left out.
        script = (
            "import importlib, sys, types\n"
            "package = types.ModuleType('geomodel')\n"
            f"package.__path__ = [{str(PACKAGE)!r}]\n"
            "sys.modules['geomodel'] = package\n"
            "importlib.import_module(sys.argv[1])\n"
        )
        left_out = {"geomodel", "geomodel.__main__", "geomodel.conformance.__main__"}
        if not mcp.is_available():
            left_out |= {f"geomodel.mcp._{name}" for name in ("schemas", "server", "tool", "tools", "tools_asking", "tools_changing")}
        for name in NAMES.keys() - left_out:
            with self.subTest(name):
                ended = subprocess.run(
                    [sys.executable, "-c", script, name], env=child_environment(), capture_output=True, text=True
                )
                self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_the_package_has_its_names_where_type_checkers_see_them(self) -> None:
        import geomodel

        seen = {
            alias.name: node.module
            for node in ast.walk(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.level and node.module not in (None, "_generated")
            for alias in node.names
        }
        self.assertEqual(seen, geomodel._PLACES)
        self.assertEqual({*seen, "__version__", "errors", "types"}, set(geomodel.__all__))
        for name in geomodel.__all__:
            self.assertIsNotNone(getattr(geomodel, name))
        with self.assertRaises(AttributeError):
            getattr(geomodel, "nothing")


if __name__ == "__main__":
    unittest.main()
