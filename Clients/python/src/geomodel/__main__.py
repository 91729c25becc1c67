"""The command line: `python -m geomodel call METHOD JSON`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Sequence

from . import Error, GeoModelError, __version__, launch_sync

_EPILOG = """\
Each METHOD may be followed by its params: a JSON object, @FILE, or - for standard input. All calls go to one server, in order;
each result is a line of JSON on standard output. The first call that fails ends the run; its error is a line of JSON on standard error.

  python -m geomodel call map/create '{"id": "m1"}' map/list
  python -m geomodel call source/open '{"path": "cities.gpkg"}'

exit status: 0 all well, 1 the server answered with an error, 2 the command line is wrong, 3 no server, or it died.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m geomodel", description="Calls a geomodel-server from the shell.")
    parser.add_argument("--version", action="version", version=f"geomodel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    call = commands.add_parser(
        "call", help="call methods of a server started for it", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    call.add_argument("--server", metavar="PATH", help="the executable; else GEOMODEL_SERVER, PATH, the checkout's build")
    call.add_argument("--root", metavar="DIR", help="where relative paths start; here when absent")
    call.add_argument("--allow-dir", action="append", default=[], metavar="DIR", help="confine files to DIR")
    call.add_argument("--allow-write", action="append", default=[], metavar="DIR", help="write files in DIR only")
    call.add_argument("--trace-file", metavar="FILE", help="have the server write its traffic to FILE")
    call.add_argument("--timeout", type=float, metavar="S", help="cancel a call that takes longer than S seconds")
    call.add_argument("--progress", action="store_true", help="show progress on standard error")
    call.add_argument("words", nargs="+", metavar="METHOD [JSON]")
    options = parser.parse_args(arguments)
    try:
        calls = _calls(options.words)
    except (OSError, ValueError) as error:
        call.error(str(error))
    progress = (lambda value: print(json.dumps(value), file=sys.stderr)) if options.progress else None
    try:
        with launch_sync(
            options.server, root_path=options.root, allow_dir=options.allow_dir,
            allow_write=options.allow_write, trace_file=options.trace_file, client_name="geomodel-call",
        ) as server:
            for method, params in calls:
                result = server.options(timeout=options.timeout, progress=progress).call(method, params)
                print(json.dumps(result, ensure_ascii=False), flush=True)
    except GeoModelError as error:
        shown = {"code": error.code, "message": error.message, "data": error.data, "method": error.method}
        print(json.dumps(shown, ensure_ascii=False), file=sys.stderr)
        return 1
    except Error as error:
        print(f"geomodel: {error}", file=sys.stderr)
        return 1 if isinstance(error, TimeoutError) else 3
    except KeyboardInterrupt:
        return 130
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


if __name__ == "__main__":
    sys.exit(main())
