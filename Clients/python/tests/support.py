"""What the tests share: the source on the path, generated code or its stand-in, the fake server."""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[2]
SOURCE = TESTS.parent / "src"
FAKE = [sys.executable, str(TESTS / "fake_server.py")]

if str(SOURCE) not in sys.path:
    sys.path.insert(0, str(SOURCE))
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


# The loop's debug mode, which the tests run in, tells of every slow step.
logging.getLogger("asyncio").setLevel(logging.ERROR)


def real_server() -> str | None:
    """The executable that the environment or the checkout's build has, for tests against the real thing."""
    given = os.environ.get("GEOMODEL_SERVER")
    if given:
        return given
    for configuration in ("release", "debug"):
        path = ROOT / ".build" / configuration / "geomodel-server"
        if path.is_file():
            return str(path)
    return None


def child_environment() -> dict[str, str]:
    """For Python processes that import the package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


if not (SOURCE / "geomodel" / "_generated" / "__init__.py").is_file():
    # Before protocol-gen has run: the same names, made of the definition, in a folder that goes away.
    import standin

    _folder = tempfile.TemporaryDirectory()
    atexit.register(_folder.cleanup)
    standin.write(Path(_folder.name) / "_generated")
    _spec = importlib.util.spec_from_file_location("geomodel", SOURCE / "geomodel" / "__init__.py")
    assert _spec is not None and _spec.submodule_search_locations is not None
    import importlib.machinery

    class _Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def]
            if name == "geomodel._generated":
                return importlib.util.spec_from_file_location(
                    name, Path(_folder.name) / "_generated" / "__init__.py",
                    submodule_search_locations=[str(Path(_folder.name) / "_generated")],
                )
            return None

    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]

import geomodel  # noqa: E402, F401
