"""`python3 -m geomodel.conformance [options] [DIR or FILES...] -- COMMAND [ARGS]`"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator, Sequence

from .._find import find_checkout
from .runner import Case, Runner


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    command: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    parser = argparse.ArgumentParser(
        prog="python3 -m geomodel.conformance",
        usage="%(prog)s [options] [DIR or FILES...] -- COMMAND [ARGS]",
        description="Runs transcripts, each against a fresh process of COMMAND; exits with 1 when one fails.",
    )
    parser.add_argument("paths", nargs="*", metavar="DIR or FILE", help="the checkout's Protocol/conformance when absent")
    parser.add_argument("--framing", choices=("lines", "headers"), default="headers", help="headers when absent")
    parser.add_argument("--filter", default="*", metavar="GLOB", help="only cases of such names, as 'overlay/*'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="cases at a time")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="how long to wait for a message; 10 s")
    parser.add_argument("--fixtures", type=Path, metavar="DIR", help="what ${fixtures} stands for")
    parser.add_argument("--quiet", action="store_true", help="only failures and the sum")
    options = parser.parse_args(words)
    if not command:
        parser.error("no COMMAND after --")
    # A relative executable is relative to this working directory.
    found = shutil.which(command[0])
    if found is None:
        parser.error(f"no such command: {command[0]}")
    command[0] = os.path.abspath(found)
    files = _files(options.paths, parser)
    fixtures = (options.fixtures or _fixtures(files)).resolve()

    def run(path: Path) -> tuple[str, str | None, float] | None:
        begin = time.monotonic()
        name, stderr = str(path), ""
        try:
            case = Case(path)
            name = case.name
            if not fnmatch.fnmatch(name, options.filter):
                return None
            tmp = Path(tempfile.mkdtemp(prefix="conformance-")).resolve()
            try:
                runner = Runner(case, command, options.framing, fixtures, tmp, options.timeout)
                try:
                    runner.run()
                finally:
                    stderr = runner.stderr
            finally:
                shutil.rmtree(tmp, ignore_errors=True)
        except Exception as failure:  # A case that cannot be run counts as failed, and the others are run.
            said = f"\n    stderr: {stderr}" if stderr else ""
            return name, f"{path}: {failure or repr(failure)}{said}", time.monotonic() - begin
        return name, None, time.monotonic() - begin

    passed = failed = 0
    with _deep_recursion(), ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for outcome in pool.map(run, files):
            if outcome is None:
                continue
            name, failure, seconds = outcome
            if failure is None:
                passed += 1
                if not options.quiet:
                    print(f"ok    {name}  {seconds * 1000:.0f} ms", flush=True)
            else:
                failed += 1
                print(f"FAIL  {name}  {seconds * 1000:.0f} ms\n    {failure}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    """Messages may be nested as deeply as a server reads them: Python's own limit would come first."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _files(paths: Sequence[str], parser: argparse.ArgumentParser) -> list[Path]:
    if not paths:
        checkout = find_checkout()
        if checkout is None:
            parser.error("no DIR or FILES, and no checkout around this package")
        paths = [str(checkout / "Protocol" / "conformance")]
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(file for file in path.rglob("*.jsonl") if file.parent.name != "setups")
        elif path.is_file():
            files.append(path)
        else:
            parser.error(f"no such file or folder: {path}")
    return files


def _fixtures(files: Sequence[Path]) -> Path:
    """`fixtures` beside the transcripts, else the checkout's `Tests/Fixtures`."""
    for file in files[:1]:
        for folder in file.resolve().parents:
            for candidate in (folder / "fixtures", folder / "Tests" / "Fixtures"):
                if candidate.is_dir():
                    return candidate
    checkout = find_checkout()
    return checkout / "Tests" / "Fixtures" if checkout is not None else Path.cwd()


if __name__ == "__main__":
    sys.exit(main())
