#!/usr/bin/env python3
"""Measures the project's bars for speed and memory in one run: the server against small C programs on the same machine.

README.md beside this file says what each measure is. Standard library only; needs a C compiler and libjansson-dev.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import statistics
import sys
import time
from pathlib import Path

from measures import MEASURES, Measure
from programs import Failed, compile_programs
from runs import Bench


def busy_seconds(processor: int) -> float:
    """Busy time of this processor since boot, of all processes."""
    line = next(s for s in Path("/proc/stat").read_text().splitlines() if s.startswith(f"cpu{processor} "))
    user, nice, system, _, _, irq, soft, *_ = (int(n) for n in line.split()[1:])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this program and the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def rows_of(measures: list[Measure], samples: dict, notes: dict) -> list[dict]:
    medians = {key: statistics.median(values) for key, values in samples.items()}
    rows = []
    for measure in measures:
        failed = next((n for s in ("floor", "server") if (n := notes.get((measure.group, s)))), None)
        floor = medians.get((measure.group, "floor", measure.floor_key or measure.key))
        value = medians.get((measure.group, "server", measure.key)) if failed is None else None
        base = medians.get((measure.group, "server", measure.own_key)) if measure.own_key else floor
        ratio = value / base if value is not None and base else None
        passed = measure.passes(value, ratio) if value is not None else None
        result = "" if passed is None else "pass" if passed else "FAIL"
        if failed and measure.bar:
            result = "FAIL" if isinstance(failed, Failed) else "skipped"
        elif value is not None and passed is None and measure.bar:
            result = "skipped"  # The peer is not installed.
        rows.append({
            "measure": measure.name, "unit": measure.unit, "floor": floor, "server": value, "ratio": ratio,
            "against": "itself" if measure.own_key else "floor", "bar": measure.bar, "result": result,
            "note": str(failed) if failed else ""})
    return rows


def shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def print_table(rows: list[dict], with_bars: bool) -> None:
    cells = [["measure", "unit", "floor", "server", "ratio", *(["bar", "result"] if with_bars else [])]]
    for row in rows:
        own = "" if row["against"] == "floor" else " *"
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}{own}"
        cells.append([row["measure"], row["unit"], shown(row["floor"]), shown(row["server"]), ratio,
                      *([row["bar"], row["result"]] if with_bars else [])])
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        padded = (c.rjust(w) if 2 <= i <= 4 else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths)))
        print("  ".join(padded).rstrip())
    for note in dict.fromkeys(row["note"] for row in rows if row["note"]):
        print(f"{', '.join(r['measure'] for r in rows if r['note'] == note)}: {note}")


def processor_name() -> str:
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The server against C floors on this machine, and the project's bars.")
    add = parser.add_argument
    add("--server", metavar="COMMAND", help="the server to measure; without it the C floor against itself")
    add("--tests", metavar="PATH", help="the Swift test binary for `index`, when it is not in .build/release")
    add("--only", metavar="NAME", action="append", help="only measures whose name has NAME in it (repeatable)")
    add("--runs", type=int, metavar="N", help="runs to take the median of (5, quick: 1)")
    add("--quick", action="store_true", help="a tenth of the points and requests, one run: the bars mean little")
    add("--unpinned", action="store_true", help="afterwards the same on all processors, for information")
    add("--json", metavar="FILE", help="write rows and all samples there")
    add("--no-fail", action="store_true", help="exit 0 even if a bar is missed")
    return parser.parse_args(arguments)


def main() -> int:
    options = options_of()
    measures = [m for m in MEASURES if not options.only or any(name in m.name for name in options.only)]
    if not measures:
        sys.exit(f"bench: no such measure; there are {', '.join(m.name for m in MEASURES)}")
    compile_programs()
    groups = list(dict.fromkeys(m.group for m in measures))
    runs = options.runs or (1 if options.quick else 5)
    processors = os.sched_getaffinity(0)
    report = {"processor": processor_name(), "processors": len(processors), "quick": options.quick, "passes": []}
    failed = False
    for pinned in (True, False) if options.unpinned else (True,):
        os.sched_setaffinity(0, {max(processors)} if pinned else processors)
        before = busy_seconds(max(processors)) - own_seconds(), time.monotonic()
        samples, notes = Bench(options).samples(groups, runs)
        others = (busy_seconds(max(processors)) - own_seconds() - before[0]) / (time.monotonic() - before[1])
        rows = rows_of(measures, samples, notes)
        where = "pinned to one processor" if pinned else f"\nnot pinned ({len(processors)} processors), for information"
        also = (", quick" if options.quick else "") + ("" if options.server else "; the C server on both sides")
        print(f"{where}; {report['processor']}; median of {runs}{also}")
        print_table(rows, with_bars=pinned)
        if pinned and others > 0.03:
            print(f"Others used {others:.0%} of this processor meanwhile: repeat it on a quiet machine.")
        failed |= pinned and any(row["result"] == "FAIL" for row in rows)
        report["passes"].append({
            "pinned": pinned, "runs": runs, "rows": rows, **({"usedByOthers": round(others, 3)} if pinned else {}),
            "samples": {"/".join(key): values for key, values in samples.items()}})
    if any(m.own_key for m in measures):
        print("* against the server's own figure: before the move, of the delete, with one subscription, in one bulk call")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return 1 if failed and not options.no_fail else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
