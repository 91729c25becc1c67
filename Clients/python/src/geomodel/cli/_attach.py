"""Connects standard input and output to a server that others use too; it is started if it does not run yet.

Examples:

  geomodel attach map                what an editor's configuration has for a language server
"""

from __future__ import annotations

import argparse

from . import _serve

PASSES_ON = True


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of the server; the server's default when absent")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="more flags of geomodel-server")


def run(options: argparse.Namespace) -> int:
    _serve.become(["--attach", *([] if options.name is None else [options.name]), *options.flags])
