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
    "open": Command("geomodel.cli._open", "open a document or a file and show what the model holds"),
    "info": Command("geomodel.cli._info", "show the layers of files: geometry, count, extent, reference, fields"),
    "query": Command("geomodel.cli._query", "print the features that match"),
    "join": Command("geomodel.cli._join", "join the features of two files by place"),
    "export": Command("geomodel.cli._export", "write the features that match to a file"),
    "convert": Command("geomodel.cli._convert", "write a file in another format"),
    "render": Command("geomodel.cli._render", "draw a file, a document or a view as a picture"),
    "watch": Command("geomodel.cli._watch", "print the changes of a model as they happen"),
    "preview": Command("geomodel.cli._preview", "show a model in a browser, live"),
    "serve": Command("geomodel.cli._serve", "be the server on standard input and output"),
    "attach": Command("geomodel.cli._attach", "connect standard input and output to a server that runs"),
    "mcp": Command("geomodel.mcp", "serve an agent by the Model Context Protocol"),
    "call": Command("geomodel.cli._call", "call methods of the protocol by their names"),
    "completion": Command("geomodel.cli._completion", "print the completion for bash, zsh or fish"),
    "man": Command("geomodel.cli._man", "print the manual page"),
}


def parser_of(name: str) -> Parser:
    """The parser of a command, with all its arguments."""
    module = importlib.import_module(COMMANDS[name].module)
    parser = Parser(prog=f"geomodel {name}", description=module.__doc__, summary=COMMANDS[name].summary)
    module.define(parser)
    return parser


def run(name: str, arguments: list[str]) -> int:
    """The exit status of a command."""
    module = importlib.import_module(COMMANDS[name].module)
    if getattr(module, "PASSES_ON", False) and arguments[:1] not in (["--help"], ["-h"]):
        # What looks like an option is another program's.
        arguments = ["--", *arguments]
    status: int = module.run(parser_of(name).parse_args(arguments))
    return status
