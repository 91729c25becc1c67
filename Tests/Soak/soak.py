#!/usr/bin/env python3
"""Random sessions with the built server, one after the other, until the time is over or one fails.

A session is determined by its seed, but for the order in which tasks end. One that fails leaves its trace, which the conformance runner
replays, and its folder.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Clients" / "python" / "src"))

from session import Session  # noqa: E402
from wire import Broken, Wire  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=str(ROOT / ".build" / "release" / "geomodel-server"))
    parser.add_argument("--seconds", type=float, default=300, help="no session begins after that")
    parser.add_argument("--sessions", type=int, default=1_000_000, help="at the most")
    parser.add_argument("--bursts", type=int, default=12, help="of requests in a session")
    parser.add_argument("--seed", default=str(random.randrange(10**9)), help="of the first session")
    parser.add_argument("--methods", default="*", help="that most requests are of, such as 'geometry/*'")
    parser.add_argument("--folder", default=str(ROOT / ".build-soak"), help="where sessions work; one that fails leaves its trace")
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    definition = json.loads((ROOT / "Protocol" / "openrpc.json").read_text(encoding="utf-8"))
    deadline = time.monotonic() + options.seconds
    counts: collections.Counter[str] = collections.Counter()
    for number in range(options.sessions):
        if time.monotonic() > deadline:
            break
        seed = f"{options.seed}.{number}" if "." not in options.seed else options.seed
        folder = Path(options.folder).resolve() / seed
        try:
            wire = play(seed, folder, definition, options)
        except Broken as broken:
            # The trace is replayed where it was made, from what was there before.
            (folder / "work").rename(folder / "after")
            prepare(folder)
            print(f"seed {seed}: {broken}\nIts trace: {folder}/trace.jsonl. Again: Tests/Soak/soak.py --seed {seed} --methods '{options.methods}' --sessions 1")
            return 1
        shutil.rmtree(folder)
        counts += wire.counts
        counts["sessions"] += 1
    print(f"seeds {options.seed}.0 and on: {counts.pop('sessions', 0)} sessions, {counts.pop('result', 0)} results")
    print(", ".join(f"{name} {count}" for name, count in counts.most_common()))
    return 0


def prepare(folder: Path) -> Path:
    """A folder for a session, with the fixtures."""
    work = folder / "work"
    work.mkdir(parents=True)
    for path in (ROOT / "Tests" / "Fixtures").iterdir():
        if path.is_file():
            shutil.copy(path, work)
    os.mkfifo(work / "fifo")
    return work


def play(seed: str, folder: Path, definition: dict[str, Any], options: argparse.Namespace) -> Wire:
    rng = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    work = prepare(folder)
    command = [str(Path(options.server).resolve()), "--trace-file", str(folder / "trace.jsonl"), "--allow-dir", str(work)]
    wire = Wire(command, work, rng.choice(["lines", "headers"]))
    try:
        Session(definition, wire, work, rng, options.methods).run(options.bursts)
    finally:
        wire.abandon()
    return wire


if __name__ == "__main__":
    sys.exit(main())
