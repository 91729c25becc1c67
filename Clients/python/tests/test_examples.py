"""Every example runs, its claims hold, and its messages are those of its conformance case."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from comparison import Comparison
from support import ROOT, SERVER, TESTS, child_environment

from geomodel.conformance.runner import Case

CASES = ROOT / "Protocol" / "conformance" / "examples"
# The demonstration is no rebuilt original, and `make demo` runs it: it writes 100 MB.
EXAMPLES = sorted(path for path in (TESTS.parent / "examples").glob("*.py") if not path.stem.startswith("demo"))
class ExampleTests(unittest.TestCase):
    def test_every_example_has_a_case_and_every_case_an_example(self) -> None:
        self.assertEqual([path.stem for path in EXAMPLES], sorted(path.stem for path in CASES.glob("*.jsonl")))

    @unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
    def test_every_example_runs_and_sends_and_receives_the_messages_of_its_case(self) -> None:
        for example in EXAMPLES:
            with self.subTest(example.stem), tempfile.TemporaryDirectory() as folder:
                trace, temporary = Path(folder).resolve() / "trace.jsonl", Path(folder).resolve() / "temporary"
                temporary.mkdir()
                ended = self.run_traced(example, trace, temporary)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertNotEqual(ended.stdout, "", "a reader should see something")
                case = Case(CASES / f"{example.stem}.jsonl")
                Comparison(case, trace, ROOT / "Tests" / "Fixtures", temporary).run()

    def run_traced(self, example: Path, trace: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
        # An example finds the server by the variable; that names a script which adds the flag.
        launcher = trace.with_name("geomodel-server")
        words = shlex.join([os.path.abspath(SERVER or ""), "--trace-file", str(trace)])
        launcher.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        environment = {**child_environment(), "GEOMODEL_SERVER": str(launcher), "TMPDIR": str(temporary)}
        return subprocess.run(
            [sys.executable, str(example)], env=environment, capture_output=True, text=True, timeout=120
        )


class ComparisonTests(unittest.TestCase):
    """That the comparison finds what drifts, on a session of two calls at once and one after them."""

    CASE = """{"case": "examples/small", "doc": "", "initialize": true}
        {"send": [{"id": 1, "method": "map/create", "params": {"id": "m"}}, {"id": 2, "method": "task/list", "params": {}}]}
        {"expect": {"$unordered": [{"id": 2, "result": {"tasks": [{"task": "#1"}]}}, {"id": 1, "result": {"map": "m"}}]}}
        {"send": {"id": 3, "method": "source/open", "params": {"path": "${tmp}/a"}}}
        {"expect": {"method": "state/changed", "params": {"subscription": {"$bind": "sub"}}}}
        {"expect": {"id": 3, "result": {"source": {"$type": "string"}}}}"""
    TRACE = [
        {"case": "trace"},
        {"send": {"id": 1, "method": "initialize"}}, {"expect": {"id": 1, "result": {}}}, {"send": {"method": "initialized"}},
        {"send": {"id": 7, "method": "map/create", "params": {"id": "m"}}},
        {"expect": {"id": 7, "result": {"map": "m", "revision": 1}}},
        {"send": {"id": 8, "method": "task/list"}}, {"expect": {"id": 8, "result": {"tasks": [{"task": "#7"}]}}},
        {"send": {"id": 9, "method": "source/open", "params": {"path": "/temporary/x/a"}}},
        {"expect": {"method": "state/changed", "params": {"subscription": "sub1"}}},
        {"expect": {"id": 9, "result": {"source": "source1"}}},
        {"send": {"id": 10, "method": "shutdown"}}, {"expect": {"id": 10, "result": {}}}, {"send": {"method": "exit"}},
    ]  # fmt: skip

    def compare(self, trace: list[dict[str, Any]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            case, traced = Path(folder) / "small.jsonl", Path(folder) / "trace.jsonl"
            case.write_text(self.CASE, encoding="utf-8")
            traced.write_text("\n".join(map(json.dumps, trace)), encoding="utf-8")
            Comparison(Case(case), traced, Path("/fixtures"), Path("/temporary")).run()

    def test_what_agrees(self) -> None:
        self.compare(self.TRACE)

    def test_what_drifts(self) -> None:
        def without(place: int) -> list[dict[str, Any]]:
            return self.TRACE[:place] + self.TRACE[place + 1 :]

        def but(place: int, old: str, new: str) -> list[dict[str, Any]]:
            changed = json.loads(json.dumps(self.TRACE[place]).replace(old, new))
            return [*self.TRACE[:place], changed, *self.TRACE[place + 1 :]]

        for trace, said in (
            (but(4, '"m"', '"n"'), 'line 2, at /params/id: the case has "m", the example n'),
            (but(4, '"m"', '"m", "title": "M"'), "line 2, at the message"),
            (but(6, "task/list", "task/get"), "line 2, at /method"),
            (but(8, "/x/a", "/x/b"), "line 4, at /params/path"),
            (but(5, '"map": "m"', '"map": "n"'), "line 3"),
            (but(7, "#7", "#8"), "line 3"),
            (without(9), "line 5, at /method"),
            (without(10), "line 6, at the message: the case has one more message"),
            ([*self.TRACE[:10], self.TRACE[9], *self.TRACE[10:]], "line 6"),
            ([*self.TRACE, self.TRACE[9]], "receives more"),
            ([*self.TRACE, self.TRACE[6]], "sends more"),
            ([*self.TRACE[:7], self.TRACE[8], self.TRACE[7], *self.TRACE[9:]], "line 4, at the message: the case has a message after"),
        ):
            with self.assertRaises(AssertionError) as caught:
                self.compare(trace)
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
