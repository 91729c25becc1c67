"""The commands by name: where each is, and what it does in one line.

A command is a module with `define(parser)`, which adds its arguments, and `run(options) -> int`, which gives the exit status. It
becomes one by a line here; help, completion and the manual page follow from the line and the arguments.
"""

from __future__ import annotations

import importlib
from typing import NamedTuple

from ._arguments import Parser


class Command(NamedTuple):
    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "info": Command("geomodel.cli._info", "show the layers of files: geometry, count, extent, reference, fields"),
    "query": Command("geomodel.cli._query", "print the features of a file that match"),
    "call": Command("geomodel.cli._call", "call methods of the protocol by their names"),
}


def parser_of(name: str) -> Parser:
    """The parser of a command, with all its arguments."""
    module = importlib.import_module(COMMANDS[name].module)
    parser = Parser(prog=f"geomodel {name}", description=module.__doc__, summary=COMMANDS[name].summary)
    module.define(parser)
    return parser


def run(name: str, arguments: list[str]) -> int:
    """The exit status of a command."""
    options = parser_of(name).parse_args(arguments)
    status: int = importlib.import_module(COMMANDS[name].module).run(options)
    return status
