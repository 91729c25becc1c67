"""Prints the changes of a model as lines of JSON, as they happen: first the values at the paths, then each change.

Examples:

  geomodel watch --attach map /views/v1/viewpoint
  geomodel watch --attach map '/layers/*/loadStatus' | jq -c .changes

A PATH is a JSON Pointer into the state, in which * stands for any one name. After `resynced`, `state` has all values anew.
"""

from __future__ import annotations

import argparse
import sys

from . import _layers
from ._arguments import add_server, whole
from ._failures import INTERRUPTED, TERMINATED, UNREAD, UsageError
from ._features import dumps


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="what is watched")
    _layers.add_attach(parser)
    parser.add_argument("--open", metavar="DOCUMENT", help="watch this document, in a server of its own, in place of --attach")
    parser.add_argument("--max-rate", type=float, metavar="N", help="at most so many lines a second")
    parser.add_argument("--edits", choices=("live", "deferred"), help="whether an edit is told by its steps or at its end")
    parser.add_argument("--limit", type=whole, metavar="N", help="end after so many changes")
    parser.add_argument("--json", action="store_true", help="print errors as a JSON object, too")
    add_server(parser, files=False)


def run(options: argparse.Namespace) -> int:
    import asyncio
    import os
    import signal
    import stat

    if (options.attach is None) == (options.open is None):
        raise UsageError("name a server by --attach NAME, or a document by --open", "geomodel watch")

    async def interruptible() -> int:
        task = asyncio.ensure_future(_watch(options))
        loop, cause = asyncio.get_running_loop(), 0
        is_pipe = stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)

        def end(status: int) -> None:
            nonlocal cause
            if is_pipe:
                # It stays readable, and the end is not to be cancelled.
                loop.remove_reader(sys.stdout.fileno())
            cause = status
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)
        loop.add_signal_handler(signal.SIGTERM, end, TERMINATED)
        # A pipe becomes readable at its writing end when nobody reads it any more; else the next change would show it.
        if is_pipe:
            loop.add_reader(sys.stdout.fileno(), end, UNREAD)
        try:
            await task
        except asyncio.CancelledError:
            if cause == UNREAD:
                raise BrokenPipeError from None
            return cause or INTERRUPTED
        finally:
            if is_pipe:
                loop.remove_reader(sys.stdout.fileno())
        return 0

    return asyncio.run(interruptible())


async def _watch(options: argparse.Namespace) -> None:
    import os

    from .. import launch

    flags = [] if options.attach is None else ["--attach", options.attach]
    async with launch(
        options.server, args=flags, trace_file=options.trace_file, root_path=os.getcwd(), client_name="geomodel-watch"
    ) as server:
        if options.open is not None:
            await server.document.open(path=os.path.abspath(options.open))
        async with server.observe(options.paths, max_rate=options.max_rate, edits=options.edits) as changes:
            # `state` is as new as what has arrived, so changes that it has already are left out.
            known = changes.revision
            _print({"revision": known, "state": changes.state})
            seen = 0
            while options.limit is None or seen < options.limit:
                async for change in changes:
                    break
                else:
                    return
                if change.revision <= known and not change.resynced:
                    continue
                seen += 1
                if change.resynced:
                    known = changes.revision
                    _print({"revision": known, "resynced": True, "state": changes.state})
                else:
                    _print({
                        "base": change.base, "revision": change.revision, "origins": change.origins, "changes": change.changes,
                    })


def _print(line: object) -> None:
    sys.stdout.write(dumps(line) + "\n")
    sys.stdout.flush()
