"""Calls methods of the protocol by their names.

Each METHOD may be followed by its params: a JSON object, @FILE, or - for standard input. All calls go to one server, in order;
each result is a line of JSON on standard output. The first call that fails ends the run.

Examples:

  geomodel call map/create '{"id": "m1"}' map/list
  geomodel call source/open '{"path": "cities.gpkg"}'
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Sequence

from . import _failures
from ._failures import UsageError


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="PATH", help="the executable; else GEOMODEL_SERVER, PATH, the checkout's build")
    parser.add_argument("--attach", metavar="NAME", help="call a server that runs already")
    parser.add_argument("--root", metavar="DIR", help="where relative paths start; here when absent")
    parser.add_argument("--allow-dir", action="append", default=[], metavar="DIR", help="confine files to DIR")
    parser.add_argument("--allow-write", action="append", default=[], metavar="DIR", help="write files in DIR only")
    parser.add_argument("--trace-file", metavar="FILE", help="have the server write its traffic to FILE")
    parser.add_argument("--timeout", type=float, metavar="S", help="cancel a call that takes longer than S seconds")
    parser.add_argument("--progress", action="store_true", help="show progress on standard error, as lines of JSON")
    parser.add_argument("words", nargs="+", metavar="METHOD [JSON]")


def run(options: argparse.Namespace) -> int:
    from .. import launch_sync

    try:
        calls = _calls(options.words)
    except ValueError as error:
        raise UsageError(str(error), "geomodel call") from error
    progress = (lambda value: print(json.dumps(value), file=sys.stderr)) if options.progress else None
    try:
        with launch_sync(
            options.server, root_path=options.root, allow_dir=options.allow_dir, allow_write=options.allow_write,
            trace_file=options.trace_file, args=[] if options.attach is None else ["--attach", options.attach],
            client_name="geomodel-call",
        ) as server:
            for method, params in calls:
                result = server.options(timeout=options.timeout, progress=progress).call(method, params)
                print(json.dumps(result, ensure_ascii=False), flush=True)
    except TimeoutError as error:
        print(f"geomodel: {error}", file=sys.stderr)
        return _failures.REFUSED
    except Exception as error:
        # What comes out is for programs, and so are the errors.
        return _failures.report(error, as_json=True)
    return 0


def _calls(words: Sequence[str]) -> list[tuple[str, Any]]:
    """Methods with the params that follow them."""
    calls: list[tuple[str, Any]] = []
    expects_params = False
    for word in words:
        if word[:1] not in ("{", "@") and word != "-":
            calls.append((word, {}))
            expects_params = True
            continue
        if not expects_params:
            raise ValueError(f"params without a method: {word[:80]}")
        params = json.loads(_text(word))
        if not isinstance(params, dict):
            raise ValueError(f"params are a JSON object: {word[:80]}")
        calls[-1] = (calls[-1][0], params)
        expects_params = False
    return calls


def _text(word: str) -> str:
    if word == "-":
        return sys.stdin.read()
    if word.startswith("@"):
        with open(word[1:], encoding="utf-8") as file:
            return file.read()
    return word
