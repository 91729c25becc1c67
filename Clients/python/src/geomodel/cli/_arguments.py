"""Arguments: a parser whose errors say in one line what to do next, and the options that commands share.

`argparse` suffices: what it lacks, completion and manual pages, is made of its definitions by `_completion` and `_man`.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ._failures import UsageError


_NUMERIC = tuple(".0123456789")


class Parser(argparse.ArgumentParser):
    def __init__(self, *, prog: str, description: str | None, summary: str) -> None:
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        self.summary = summary

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        # West of Greenwich a value begins like an option, which argparse takes it for.
        words: list[str] = []
        for word in args or ():
            if words and words[-1].startswith("--") and "=" not in words[-1] and word[:1] == "-" and word[1:2] in _NUMERIC:
                words[-1] += f"={word}"
            else:
                words.append(word)
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.prog)


def add_server(parser: argparse.ArgumentParser, *, files: bool = True) -> None:
    """Which server the command asks."""
    group = parser.add_argument_group("server")
    group.add_argument("--server", metavar="PATH", help="the executable; else GEOMODEL_SERVER, PATH, the checkout's build")
    if files:
        group.add_argument("--allow-network", action="store_true", help="open https:// and http:// addresses too")
    group.add_argument("--trace-file", metavar="FILE", help="have the server write its traffic to FILE")


def add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print JSON, and errors as a JSON object")
    group.add_argument("-q", "--quiet", action="store_true", help="show no progress and no warnings")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How a file is read that does not say it itself."""
    group = parser.add_argument_group("reading")
    group.add_argument("--layer", metavar="NAME", help="the layer, where the file has several")
    group.add_argument("--srs", metavar="CODE", help="the spatial reference of a file that does not state one, such as EPSG:25832")
    group.add_argument("--driver", metavar="NAME", help="read the file by this driver of GDAL only")
    group.add_argument("--encoding", metavar="NAME", help="the encoding of texts in CSV files and shapefiles")
    group.add_argument("--x-field", metavar="FIELD", help="CSV: the column of eastings or longitudes")
    group.add_argument("--y-field", metavar="FIELD", help="CSV: the column of northings or latitudes")


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(count: int, form: str) -> Any:
    """The type of an argument that is numbers with commas between them."""

    def parse(text: str) -> list[float]:
        try:
            values = [float(word) for word in text.split(",")]
        except ValueError:
            values = []
        if len(values) != count or any(value != value or abs(value) == float("inf") for value in values):
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return values

    return parse


def whole(text: str) -> int:
    """A number of things."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
