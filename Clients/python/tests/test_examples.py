"""Every example runs, holds what it claims, and sends what its conformance case says."""

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

from support import ROOT, TESTS, child_environment, real_server

SERVER = real_server()
CASES = ROOT / "Protocol" / "conformance" / "examples"
# The demonstration is no rebuilt original, and `make demo` runs it: it writes 100 MB.
EXAMPLES = sorted(path for path in (TESTS.parent / "examples").glob("*.py") if not path.stem.startswith("demo"))
LIFECYCLE = {"initialize", "initialized", "shutdown", "exit"}


def sends(step: dict[str, Any]) -> bool:
    return "send" in step or "sendText" in step


def long_message(parts: list[Any]) -> Any:
    """A message that a case gives as text with parts that repeat."""
    texts = [part if isinstance(part, str) else part["$repeat"] * part["count"] for part in parts]
    return json.loads("".join(texts))


def methods_sent(transcript: Path) -> list[str]:
    """The methods of a case or a trace, in order, without what begins and ends each session.

    A case sends in one batch what an example sends at once: then no machine is so fast that the first is answered before the second.
    """
    steps = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
    sent = [step["send"] if "send" in step else long_message(step["sendText"]) for step in steps if sends(step)]
    calls = [call for message in sent for call in (message if isinstance(message, list) else [message])]
    return [call["method"] for call in calls if call["method"] not in LIFECYCLE]


class ExampleTests(unittest.TestCase):
    def test_every_example_has_a_case_and_every_case_an_example(self) -> None:
        self.assertEqual([path.stem for path in EXAMPLES], sorted(path.stem for path in CASES.glob("*.jsonl")))

    @unittest.skipIf(SERVER is None, "no server: build it, or set GEOMODEL_SERVER")
    def test_every_example_runs_and_sends_what_its_case_says(self) -> None:
        for example in EXAMPLES:
            with self.subTest(example.stem), tempfile.TemporaryDirectory() as folder:
                trace = Path(folder) / "trace.jsonl"
                ended = self.run_traced(example, trace)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertNotEqual(ended.stdout, "", "a reader should see something")
                self.assertEqual(methods_sent(trace), methods_sent(CASES / f"{example.stem}.jsonl"))

    def run_traced(self, example: Path, trace: Path) -> subprocess.CompletedProcess[str]:
        # An example finds the server by the variable; that names a script which adds the flag.
        launcher = trace.with_name("geomodel-server")
        words = shlex.join([os.path.abspath(SERVER or ""), "--trace-file", str(trace)])
        launcher.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        environment = {**child_environment(), "GEOMODEL_SERVER": str(launcher)}
        return subprocess.run(
            [sys.executable, str(example)], env=environment, capture_output=True, text=True, timeout=120
        )


if __name__ == "__main__":
    unittest.main()
