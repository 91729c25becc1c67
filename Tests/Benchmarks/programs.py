"""The programs that runs start: C floors, compiled when they are missing, and what they print."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / ".build" / "benchmarks"
PROGRAMS = {
    "drive": ("drive.c", ["-ljansson", "-lm"]),
    "server": ("floors/server.c", ["-ljansson", "-lm"]),
    "parse": ("floors/parse.c", ["-ljansson", "-lm"]),
    "notify": ("floors/notify.c", ["-ljansson"]),
    "hilbert_rtree": ("floors/hilbert_rtree.c", []),
    "clusters": ("floors/clusters.c", ["-lm"]),
    "features": ("floors/features.c", ["-lgdal"]),
    "scan": ("floors/scan.c", []),
    "profile": ("floors/profile.c", ["-I/usr/include/gdal", "-lgdal", "-lproj", "-lm"]),
}
Figures = dict[str, float]
# Figures that have to be equal on both sides, which shows that both did the same work.
SAME = re.compile(r"hits|checksum")


class Failed(Exception):
    """A program failed before it printed its figures; the message says why."""


class Skipped(Exception):
    """A measure that is not possible here; the message says why."""


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def all_processors() -> Iterator[None]:
    """For what does not run on one processor alone."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def compile_programs() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in HERE.rglob("*.[ch]"))
    for name, (source, libraries) in PROGRAMS.items():
        program = BUILD / name
        if program.exists() and program.stat().st_mtime > newest:
            continue
        compiler = shlex.split(os.environ.get("CC", "cc"))
        command = [*compiler, "-O2", "-D_GNU_SOURCE", "-o", str(program), str(HERE / source), *libraries]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as problem:
            sys.exit(f"bench: no C compiler: {problem}")
        if done.returncode:
            sys.exit(f"bench: {source} does not compile (are a C compiler and libjansson-dev there?)\n{done.stderr}")


def output_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    whole = {**os.environ, **(environment or {})}
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=whole)
    except OSError as problem:
        raise Failed(str(problem)) from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()
        raise Failed(lines[-1][:400])
    return done.stdout


def figures_of(text: str) -> tuple[Figures, dict[str, str]]:
    """The numbers, and separately the figures that have to be equal on both sides."""
    figures: Figures = {}
    same: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if SAME.search(key):
            same[key] = value
        else:
            figures[key] = float(value)
    return figures, same
