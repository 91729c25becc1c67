"""The way in: finds the command, runs it, and turns whatever happens into a line on standard error and an exit status."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import NoReturn, Sequence

from . import _failures
from ._commands import COMMANDS, run

_HEAD = """\
usage: geomodel COMMAND [ARGUMENTS]
       geomodel COMMAND --help

Geographic files and live maps from the shell.
"""

def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:
        # Closed by whoever started this.
        sys.stdout = open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Files and pipes have UTF-8, whatever the locale; a terminal shows what it cannot show escaped.
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        status = _dispatch(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return _unread()
    except KeyboardInterrupt:
        return _failures.INTERRUPTED
    except Exception as error:
        status = _failures.report(error, "--json" in words)
        try:
            sys.stdout.flush()
        except OSError:
            _forget_output()
        return status


def overview() -> str:
    """The list of the commands."""
    width = max(map(len, COMMANDS))
    lines = "".join(f"  {name:{width}}  {command.summary}\n" for name, command in COMMANDS.items())
    statuses = "".join(f"  {status:<{width}}  {meaning}\n" for status, meaning in _failures.STATUSES.items())
    return f"{_HEAD}\ncommands:\n{lines}\nexit status:\n{statuses}"


def _dispatch(words: list[str]) -> int:
    name = words[0] if words else "--help"
    if name in COMMANDS:
        return run(name, words[1:])
    if name in ("--help", "-h", "help"):
        sys.stdout.write(overview())
        return _failures.OK if words else _failures.USAGE
    if name == "--version":
        from .._generated import __version__

        print(f"geomodel {__version__}")
        return _failures.OK
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise _failures.UsageError(f"there is no {'option' if name.startswith('-') else 'command'} {name!r}{meant}", "geomodel")


def _terminate(*_: object) -> NoReturn:
    """Ends the server and removes unfinished files, as Control-C does."""
    raise SystemExit(_failures.TERMINATED)


def _forget_output() -> None:
    """What is still buffered would raise again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unread() -> int:
    """Ends as SIGPIPE ends a process: the shell sees 141, and nothing is said."""
    _forget_output()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    return _failures.UNREAD
