"""Prints the manual page, which is made of the arguments that the commands define.

Examples:

  geomodel man | man -l -
"""

from __future__ import annotations

import argparse
import sys
from typing import Iterator

from ._failures import STATUSES

_HEAD = """\
.SH NAME
geomodel \\- geographic files and live maps from the shell
.SH SYNOPSIS
.B geomodel
.I COMMAND
.RI [ ARGUMENTS ]
.SH DESCRIPTION
Asks a geomodel\\-server, which every command starts for itself unless
.B \\-\\-attach
names one that runs already, and prints tables for people, GeoJSON for pipes and JSON for programs.
Features come in by
.B \\-
as a GeoJSON text sequence (RFC 8142), as a feature a line, or as a FeatureCollection.
Progress and colours are shown on terminals only.
"""
_FOOT = """\
.SH ENVIRONMENT
.TP
.B GEOMODEL_SERVER
The server's executable; else it is found in PATH.
.TP
.B NO_COLOR
If it is not empty, nothing is coloured.
"""


def define(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> int:
    sys.stdout.write(page())
    return 0


def page() -> str:
    """The page geomodel(1)."""
    from ._commands import COMMANDS

    parts = ['.TH GEOMODEL 1 "" geomodel\n', _HEAD, ".SH COMMANDS\n"]
    for name in COMMANDS:
        parts += _command(name)
    parts.append(".SH EXIT STATUS\n")
    parts += [f".TP\n.B {status}\n{_escaped(meaning)}.\n" for status, meaning in STATUSES.items()]
    return "".join([*parts, _FOOT])


def _command(name: str) -> Iterator[str]:
    from ._commands import parser_of

    parser = parser_of(name)
    places = [action for action in parser._actions if not action.option_strings]
    words = " ".join(f"\\fI{_escaped(_metavar(action))}\\fR{'...' if action.nargs in ('+', '*') else ''}" for action in places)
    yield f".SS geomodel {name} {words}\n".replace(" \n", "\n")
    yield from _description(parser.description or "")
    for action in [*places, *(action for action in parser._actions if action.option_strings)]:
        if action.dest == "help" or not (action.help or action.option_strings):
            continue
        if action.option_strings:
            takes = "" if action.nargs == 0 else f" \\fI{_escaped(_metavar(action))}\\fR"
            label = ", ".join(f"\\fB{_escaped(word)}\\fR{takes}" for word in action.option_strings)
        else:
            label = f"\\fI{_escaped(_metavar(action))}\\fR"
        yield f".TP\n{label}\n{_escaped(_sentence(action.help or ''))}\n"


def _description(text: str) -> Iterator[str]:
    """Paragraphs; indented lines are examples."""
    for paragraph in text.strip().split("\n\n"):
        lines = paragraph.splitlines()
        if lines[0].startswith("  "):
            yield ".PP\n.nf\n" + "".join(f"{_escaped(line)}\n" for line in lines) + ".fi\n"
        else:
            yield ".PP\n" + _escaped(" ".join(lines)) + "\n"


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(map(str, action.choices)) if action.choices is not None else action.dest.upper()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else text


def _escaped(text: str) -> str:
    """Text for roff: hyphens that can be copied, and no line that begins with a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text
