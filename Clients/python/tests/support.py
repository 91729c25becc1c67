"""What the tests share: the source on the path, the fake server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import unittest
from pathlib import Path
from typing import Iterator

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[2]
SOURCE = TESTS.parent / "src"
FAKE = [sys.executable, str(TESTS / "fake_server.py")]

if str(SOURCE) not in sys.path:
    sys.path.insert(0, str(SOURCE))
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


# The loop's debug mode, which the tests use, logs every slow step.
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


SERVER = real_server()
FIXTURES = ROOT / "Tests" / "Fixtures"
needs_server = unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")


def child_environment() -> dict[str, str]:
    """For Python processes that import the package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """Lets Python write what is nested deeply: before 3.12 its own limit comes first."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


import geomodel  # noqa: E402


async def arrived(server: geomodel.Client, method: str) -> None:
    """Until the fake server has seen a message of that method."""
    while method not in [message.get("method") for message in (await server.call("test/log"))["log"]]:
        # Lets others run; the server's answer is what is waited for.
        await asyncio.sleep(0)
