"""Becomes the server, on standard input and output; its flags follow.

Examples:

  geomodel serve --allow-dir /data
  geomodel serve --list              which servers others can attach to
  geomodel serve --help-flags        lists all flags
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import NoReturn, Sequence

from .._find import find_server

# All arguments are the server's.
PASSES_ON = True


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="flags of geomodel-server")


def run(options: argparse.Namespace) -> int:
    become(["--help" if flag == "--help-flags" else flag for flag in options.flags])


def become(flags: Sequence[str]) -> NoReturn:
    """Runs the server in the place of this process."""
    command = [*find_server(), *flags]
    sys.stdout.flush()
    # Python ignores it, and what is ignored stays so.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(command[0], command)
