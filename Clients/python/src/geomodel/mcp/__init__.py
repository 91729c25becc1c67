"""Serves an agent by the Model Context Protocol, over standard input and output, on a server of its own or on a live map.

Needs the extra `[mcp]`. Clients/agents of the project has the configuration of several agents.
"""

# What imports the package `mcp` is loaded by `run` alone, so that everything else works without it.

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


def define(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    parser.add_argument("--attach", metavar="NAME", help="use the live map NAME; without it the agent has a model of its own")
    parser.add_argument("--server", metavar="PATH", help="the executable; else GEOMODEL_SERVER, PATH, the checkout's build")
    parser.add_argument("--root", metavar="DIR", help="where relative paths start; here when absent")
    parser.add_argument("--allow-dir", action="append", default=[], metavar="DIR", help="confine files to DIR")
    parser.add_argument("--allow-write", action="append", default=[], metavar="DIR", help="write files in DIR only")
    parser.add_argument("--trace-file", metavar="FILE", help="have the server write its traffic to FILE")


def run(options: argparse.Namespace) -> int:
    """Serves one agent until it closes standard input; the exit status."""
    if options.attach is not None and (options.allow_dir or options.allow_write or options.trace_file):
        print("geomodel mcp: --allow-dir, --allow-write and --trace-file are for a server of its own, not with --attach", file=sys.stderr)
        return 2
    if not is_available():
        print(NEEDS, file=sys.stderr)
        return 3
    # Not an import statement: type checkers without the package do not follow it.
    server: Any = importlib.import_module("geomodel.mcp._server")
    server.serve(options)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line by itself: `python -m geomodel.mcp`."""
    parser = argparse.ArgumentParser(
        prog="geomodel mcp", description="A geo model for agents, by the Model Context Protocol.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"geomodel {__version__}")
    define(parser)
    return run(parser.parse_args(argv))


def is_available() -> bool:
    """Whether the package `mcp` is there, in version 2."""
    return all(importlib.util.find_spec(name) is not None for name in ("mcp", "mcp_types"))
