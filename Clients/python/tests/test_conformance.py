"""The transcripts' patterns and runner, and that the transcripts cover the protocol."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support
from geomodel.conformance.__main__ import main
from geomodel.conformance.patterns import Mismatch, fill, match, raw
from geomodel.conformance.runner import Case
from geomodel.conformance.texts import member, sent

TRANSCRIPTS = support.ROOT / "Protocol" / "conformance"
# What no client can bring about by messages alone.
OUT_OF_REACH = {"internalError", "serverBusy", "limitReached", "tooManyGroups", "libraryMissing", "readerFailed", "writerFailed", "serverLost", "undoConflict", "painterFailed"}


class PatternTests(unittest.TestCase):
    def fits(self, pattern: Any, found: Any, **bindings: Any) -> bool:
        try:
            match(pattern, found, bindings)
        except Mismatch:
            return False
        return True

    def test_what_fits(self) -> None:
        for pattern, found in (
            ({"a": 1}, {"a": 1.0, "b": 2}), ([1, {"x": None}], [1, {"x": None, "y": 0}]), ({}, {}), ("x", "x"),
            ({"$any": True}, None), ({"a": {"$absent": True}}, {}), ({"$type": "integer"}, 2.0), ({"$type": "null"}, None),
            ({"$approx": 1, "within": 0.1}, 1.05), ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}}),
            ({"$unordered": [{"a": {"$any": True}}, {"a": 1}]}, [{"a": 1}, {"a": 2}]),
            ([{"$bind": "n", "to": {"$type": "string"}}, {"$ref": "n"}, "v${n}"], ["x", "x", "vx"]),
            ({"$repeat": "ab", "count": 2}, "abab"), ({"$repeat": 1, "count": 2}, [1, 1]), (2**53 + 1, 2**53 + 1),
            ({"a": {"$literal": {"$ref": "x", "b": [{"$any": True}, "${n}"]}}}, {"a": {"$ref": "x", "b": [{"$any": True}, "${n}"], "c": 1}}),
        ):
            self.assertTrue(self.fits(pattern, found), (pattern, found))

    def test_what_does_not(self) -> None:
        for pattern, found in (
            (1, "1"), (1, True), (True, 1), ({"a": 1}, {}), ({"a": {"$any": True}}, {}), ({"a": {"$absent": True}}, {"a": None}),
            ([1], [1, 2]), ({}, []), ({"$type": "integer"}, 1.5), ({"$type": "number"}, True), ({"$approx": 1}, 1.1),
            ({"$approx": 1}, None), ({"$exact": {"a": 1}}, {"a": 1, "b": 2}), ({"$unordered": [1, 1]}, [1, 2]), (None, False),
            ([{"$bind": "n"}, {"$ref": "n"}], [1, 2]), (2**53 + 1, 2**53), ({"$bind": "n", "to": 1}, 2),
            ({"$literal": {"$any": True}}, 1), ({"$literal": [1]}, [1, 2]), ({"$literal": {"a": 1}}, {}), ({"$literal": None}, {}),
        ):
            self.assertFalse(self.fits(pattern, found), (pattern, found))

    def test_a_mismatch_says_where(self) -> None:
        with self.assertRaises(Mismatch) as caught:
            match({"a": [{"b/c": 1}]}, {"a": [{"b/c": 2}]}, {})
        self.assertEqual((caught.exception.path, caught.exception.expected, caught.exception.found), ("/a/0/b~1c", "1", 2))

    def test_filling(self) -> None:
        bindings = {"tmp": "/t", "n": 7}
        self.assertEqual(
            fill({"a": "${tmp}/${n}${other}", "b": {"$ref": "n"}, "c": {"$repeat": {"d": "${n}"}, "count": 2}}, bindings),
            {"a": "/t/7${other}", "b": 7, "c": [{"d": "7"}, {"d": "7"}]},
        )
        self.assertEqual(raw(["a", {"$repeat": "b", "count": 2}, {"$base64": "/w=="}, "${n}"], bindings), b"abb\xff7")
        literal = {"$literal": {"$ref": "n", "v": ["${n}", {"$literal": 1}]}}
        self.assertEqual(fill([literal, "${n}"], bindings), [literal["$literal"], "7"])
        self.assertEqual(raw(["${n}", {"$literal": "${n}"}], bindings), b"7${n}")
        with self.assertRaises(KeyError):
            fill({"$ref": "nothing"}, {})


class SentTests(unittest.TestCase):
    def test_the_text_of_the_line_is_sent(self) -> None:
        for line in (support.ROOT / "Tests" / "Fixtures" / "sent.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            with self.subTest(case["line"]):
                self.assertEqual(sent(member(case["line"].strip(), "send") or "", case.get("bindings", {})), case["sent"])


class RunnerTests(unittest.TestCase):
    def run_cases(self, *cases: list[dict[str, Any]], options: tuple[str, ...] = ()) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            for index, lines in enumerate(cases):
                head = {"case": f"t/{index}", "doc": "", "initialize": True}
                text = "\n".join(json.dumps(line) for line in [{**head, **lines[0]}, *lines[1:]])
                (Path(folder) / f"{index}.jsonl").write_text(text)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = main(["--timeout", "2", *options, folder, "--", *support.FAKE])
        return status, out.getvalue()

    def test_cases_that_pass(self) -> None:
        echo = {"send": {"id": 1, "method": "session/echo", "params": {"v": "${tmp}"}}}
        cases: list[list[dict[str, Any]]] = [
            [{}, echo, {"expect": {"id": 1, "result": {"v": "${tmp}"}}}],
            [{}, {"send": {"id": 1, "method": "shutdown"}}, {"expect": {"id": 1}}, {"send": {"method": "exit"}}, {"expectExit": 0}],
            [{}, echo, {"closeInput": True}, {"expect": {"id": 1}}, {"expectExit": 0}],
            [{"initialize": False}, {"sendText": ['{"jsonrpc":"2.0",', '"id":2,"method":"session/echo"}']}, {"expect": {"id": 2}}],
            [{"initialize": False}, {"sendRaw": '{"jsonrpc":"2.0","id":2,"method":"session/echo"}\n'}, {"expect": {"id": 2}}],
            [{}, {"send": {"id": 3, "method": "test/notify", "params": {"count": 3}}},
             {"expect": {"params": {"n": 1}}, "skip": [{"params": {"n": 0}}]},
             {"expectUnordered": [{"id": 3}, {"params": {"n": 2}}]}],
            [{}, {"file": "${tmp}/a/b", "text": "x"}, echo, {"expect": {"id": {"$bind": "id"}}},
             {"send": {"id": 9, "method": "session/echo", "params": {"id": {"$ref": "id"}}}}, {"expect": {"result": {"id": 1}}}],
            # Late: 2 comes before 1 and behind 3, and what is strict keeps its order.
            [{"skip": [{"params": {"n": 1}}]}, echo, {"send": {"id": 2, "method": "session/echo"}}, {"send": {"id": 3, "method": "test/notify",
             "params": {"count": 3}}}, {"expect": {"id": 2}, "late": True}, {"note": {"a": "remark"}}, {"expect": {"id": 1}, "late": True},
             {"expect": {"params": {"n": 0}}}, {"expect": {"params": {"n": 2}}}, {"expect": {"id": 3}}],
            [{}, echo, echo, {"send": {"id": 2, "method": "session/echo"}}, {"expect": {"id": 1}}, {"expect": {"id": 2}},
             {"expect": {"id": 1}, "late": True}],
            [{}, echo, {"stop": True}],
        ]
        for framing in ("headers", "lines"):
            status, out = self.run_cases(*cases, options=("--framing", framing))
            self.assertEqual((status, out.splitlines()[-1]), (0, f"{len(cases)} passed, 0 failed"), out)

    def test_a_limit_on_files_is_the_servers_own(self) -> None:
        ask = {"send": {"id": 1, "method": "test/fileSizeLimit"}}
        status, out = self.run_cases([{"fileSizeLimit": 5000}, ask, {"expect": {"id": 1, "result": {"bytes": 5000}}}])
        self.assertEqual(status, 0, out)
        status, out = self.run_cases([{}, ask, {"expect": {"id": 1, "result": {"bytes": 5000}}}])
        self.assertIn("at /result/bytes: expected 5000", out)

    def test_failures_say_what_and_where(self) -> None:
        ask = {"send": {"id": 1, "method": "session/echo", "params": {"v": 1}}}
        for lines, wanted in (
            ([{}, ask, {"expect": {"id": 1, "result": {"v": 2}}}], "line 3: at /result/v: expected 2, found 1"),
            ([{}, ask], "expected no more messages"),
            ([{}, {"expect": {}}], "found nothing within 2 s"),
            ([{}, {"closeInput": True}, {"expect": {}}], "nothing: the server ended its output"),
            ([{}, {"send": {"id": 1, "method": "test/die"}}, {"expectExit": 0}], "expected exit status 0, found 3"),
            ([{}, {"bad": 1}], "no such step"),
            ([{}, {"send": {"$ref": "nothing"}}], "nothing is bound"),
            ([{}, {"leftOut": 3}], "3 steps are missing"),
            ([{}, ask, {"send": {"id": 2, "method": "session/echo"}}, {"expect": {"id": 2}}, {"expect": {"id": 1}}], "at /id: expected 2, found 1"),
            ([{}, ask, {"expect": {"id": 2}, "late": True}], "nothing within 2 s"),
        ):
            status, out = self.run_cases(lines)
            self.assertEqual(status, 1)
            self.assertIn(wanted, out)
            self.assertEqual(out.splitlines()[-1], "0 passed, 1 failed")

    def test_filter_and_nothing_to_run(self) -> None:
        self.assertEqual(self.run_cases([{}], [{}], options=("--filter", "t/1"))[1].splitlines()[-1], "1 passed, 0 failed")
        self.assertEqual(self.run_cases([{}], options=("--filter", "u/*"))[0], 1)


class CoverageTests(unittest.TestCase):
    cases: list[Case]

    @classmethod
    def setUpClass(cls) -> None:
        cls.cases = [Case(path) for path in sorted(TRANSCRIPTS.rglob("*.jsonl")) if path.parent.name != "setups"]

    def test_names_are_paths_and_heads_are_whole(self) -> None:
        for case in self.cases:
            self.assertEqual(case.name, str(case.path.relative_to(TRANSCRIPTS).with_suffix("")))
            self.assertTrue(case.head.get("doc"), case.name)
            self.assertIsInstance(case.head["initialize"], bool, case.name)

    def test_every_method_is_sent(self) -> None:
        defined = {
            method["name"]
            for path in (support.ROOT / "Protocol" / "domains").glob("*.json")
            for method in json.loads(path.read_text()).get("methods", [])
        }
        sent = {"initialize"}
        for case in self.cases:
            sent.update(case.head.get("methods", []))
            for step in case.steps:
                messages = step.get("send", [])
                messages = messages if isinstance(messages, list) else [messages]
                sent.update(message["method"] for message in messages if "method" in message)
        self.assertEqual(defined - sent, set())

    def test_every_error_is_expected(self) -> None:
        defined = {error["kind"] for error in json.loads((support.ROOT / "Protocol" / "errors.json").read_text())["errors"]}
        text = "".join(case.path.read_text(encoding="utf-8") for case in self.cases)
        missing = {kind for kind in defined if f'"kind": "{kind}"' not in text}
        self.assertEqual(missing, OUT_OF_REACH)


if __name__ == "__main__":
    unittest.main()
