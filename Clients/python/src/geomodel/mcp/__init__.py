"""`geomodel mcp`: an MCP server for agents, over standard input and output, on a server of its own or on a live map.

Needs the extra `[mcp]`; what imports that package is loaded by `main` alone, so that everything else works without it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from typing import Any, Sequence

from .._generated import __version__

NEEDS = "geomodel mcp needs PyPI's `mcp`, version 2: pip install 'geomodel-server[mcp]'"
_EPILOG = """\
It speaks MCP over standard input and output, so an agent starts it: Clients/agents/ of the project has the configuration of several.

exit status: 0 the agent closed the input, 2 the command line is wrong, 3 the package `mcp` is missing.
"""


def parser(program: str = "geomodel mcp") -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog=program, description="A geo model for agents, by the Model Context Protocol.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"geomodel {__version__}")
    made.add_argument("--attach", metavar="NAME", help="use the live map NAME; without it the agent has a model of its own")
    made.add_argument("--server", metavar="PATH", help="the executable; else GEOMODEL_SERVER, PATH, the checkout's build")
    made.add_argument("--root", metavar="DIR", help="where relative paths start; here when absent")
    made.add_argument("--allow-dir", action="append", default=[], metavar="DIR", help="confine files to DIR")
    made.add_argument("--allow-write", action="append", default=[], metavar="DIR", help="write files in DIR only")
    made.add_argument("--trace-file", metavar="FILE", help="have the server write its traffic to FILE")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Serves one agent until it closes standard input."""
    commands = parser()
    options = commands.parse_args(argv)
    if options.attach is not None and (options.allow_dir or options.allow_write or options.trace_file):
        commands.error("--allow-dir, --allow-write and --trace-file are for a server of its own, not with --attach")
    if not is_available():
        print(NEEDS, file=sys.stderr)
        return 3
    # Not an import statement: type checkers without the package do not follow it.
    server: Any = importlib.import_module("geomodel.mcp._server")
    server.serve(options)
    return 0


def is_available() -> bool:
    """Whether the package `mcp` is there, in version 2."""
    return all(importlib.util.find_spec(name) is not None for name in ("mcp", "mcp_types"))
