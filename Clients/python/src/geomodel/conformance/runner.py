"""Plays one transcript against a fresh server process."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Sequence

from .._framing import Framing, make_decoder
from .._wire import loads
from .._generated.types import PROTOCOL_VERSION
from .patterns import Mismatch, fill, match, match_unordered, raw, show
from .texts import member, sent

_QUIET = ("$/logMessage", "$/logTrace")
_ENVELOPE = {"jsonrpc", "id", "method", "params", "result", "error"}
_END = object()
_IDs = tuple[str, ...]
# Becomes the command, with a limit on the size of files; the command has the default action of the signal.
_LIMITED = """
import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class CaseFailure(Exception):
    """A difference from the transcript, described in lines for people."""


class Step(dict[str, Any]):
    """A step, with its text and its line number."""

    def __init__(self, line: str, place: str = "before line 2") -> None:
        super().__init__(json.loads(line))
        self.text, self.place = line.strip(), place


class Case:
    """A transcript that has been read; its steps begin with those of its setup."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head, self.steps = _read(path, "case", "")
        self.name: str = self.head["case"]
        if setup := self.head.get("setup"):
            self.steps = [*_read(setup_file(path, setup), "setup", f" of setups/{setup}")[1], *self.steps]

    def framing(self, wanted: Framing) -> Framing:
        has_raw = any("sendRaw" in step for step in self.steps)
        return self.head.get("framing") or ("lines" if has_raw else wanted)


def setup_file(case: Path, name: str) -> Path:
    """The steps that a case begins with, from the folder beside its domain's."""
    return case.resolve().parent.parent / "setups" / f"{name}.jsonl"


def _read(path: Path, kind: str, where: str) -> tuple[Step, list[Step]]:
    """The first line and the other lines."""
    steps: list[Step] = []
    for number, line in enumerate(path.read_bytes().decode("utf-8").split("\n"), 1):
        if line.strip():
            try:
                steps.append(Step(line, f"line {number}{where}"))
            except ValueError as error:
                raise CaseFailure(f"line {number}{where} is no JSON: {error}") from error
    if not steps or kind not in steps[0]:
        raise CaseFailure(f'the first line{where} has no "{kind}"')
    return steps[0], steps[1:]


class Runner:
    """One case, one process. Reading and writing have threads of their own, so that neither side can block the other."""

    def __init__(self, case: Case, command: Sequence[str], framing: Framing, fixtures: Path, tmp: Path, patience: float):
        self._case, self._patience = case, max(patience, case.head.get("patience", 0.0))
        self._bindings: dict[str, Any] = {"tmp": str(tmp), "fixtures": str(fixtures)}
        self._decoder = make_decoder(case.framing(framing))
        self._incoming: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # Messages that arrived and are not matched yet: late answers are searched in it, and skipped until their turn.
        self._held: list[Any] = []
        self._late = Counter(ids for step in case.steps if step.get("late") and (ids := _ids(step["expect"])))
        self._skip: list[Any] = case.head.get("skip", [])
        self._unsent: list[bytes] = []
        self._is_stopped = False
        limit = case.head.get("fileSizeLimit")
        limited = [] if limit is None else [sys.executable, "-c", _LIMITED, str(limit)]
        self._command = [*limited, *command, *fill(case.head.get("args", []), self._bindings)]

    def run(self) -> None:
        """Plays all lines; raises `CaseFailure` at the first that does not match."""
        place, steps = "line 1", self._case.steps
        files = list(itertools.takewhile(lambda step: "file" in step, steps))
        for step in files:
            self._play(step)
        self._start()
        try:
            if self._case.head.get("initialize", False):
                self._initialize()
            for step in steps[len(files) :]:
                place = step.place
                self._play(step)
            place = f"after {place}"
            if not self._is_stopped:
                self._close_input()
                self._expect_end(None)
        except Mismatch as mismatch:
            raise CaseFailure(f"{place}: {self._story(mismatch)}") from None
        except (KeyError, OSError) as error:
            raise CaseFailure(f"{place}: {error}") from error
        finally:
            self._stop()

    def _start(self) -> None:
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._write)]
        for thread in self._threads:
            thread.start()

    def _initialize(self) -> None:
        params = '{"protocolVersions": ["%s"], "rootPath": "${tmp}", "strict": true}' % PROTOCOL_VERSION
        self._play(Step('{"send": {"id": "init", "method": "initialize", "params": %s}}' % params))
        self._play(Step('{"expect": {"id": "init", "result": {"$any": true}}}'))
        self._play(Step('{"send": {"method": "initialized", "params": {}}}'))

    def _play(self, step: Step) -> None:
        if "send" in step:
            body = sent(member(step.text, "send") or "", self._bindings).encode("utf-8", "surrogatepass")
            self._unsent.append(self._decoder.encode(body))
        elif "sendText" in step:
            self._unsent.append(self._decoder.encode(raw(step["sendText"], self._bindings)))
        elif "sendRaw" in step:
            self._unsent.append(raw(step["sendRaw"], self._bindings))
        elif "expect" in step:
            late = _ids(step["expect"]) if step.get("late") else ()
            self._message = self._next([step["expect"]], step.get("skip", []), late)
            self._late.subtract([late] if late else [])
            self._bindings = match(step["expect"], self._message, self._bindings)
        elif "expectUnordered" in step:
            patterns = step["expectUnordered"]
            messages: list[Any] = []
            for _ in patterns:
                try:
                    messages.append(self._next(patterns, step.get("skip", [])))
                except Mismatch as mismatch:
                    wanted = f"{len(patterns)} messages, of which {len(messages)} came: {show(messages)}"
                    raise Mismatch("", wanted, mismatch.found) from None
            self._message = messages
            self._bindings = match_unordered(patterns, self._message, self._bindings)
        elif "closeInput" in step:
            self._close_input()
        elif "expectExit" in step:
            self._expect_end(step["expectExit"])
        elif "file" in step:
            path = Path(fill(step["file"], self._bindings))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw(step["text"], self._bindings))
        elif "stop" in step:
            self._is_stopped = True
        elif "leftOut" in step:
            raise CaseFailure(f"{step['leftOut']} steps are missing here: the trace is not whole")
        elif "note" not in step:
            raise CaseFailure(f"no such step: {show(step)}")

    def _flush(self) -> None:
        """Consecutive sends are one write, so that a cancel arrives right after its request."""
        if self._unsent:
            self._outgoing.put(b"".join(self._unsent))
        self._unsent = []

    def _close_input(self) -> None:
        self._flush()
        self._outgoing.put(None)

    def _next(self, patterns: list[Any], skip: list[Any], late: _IDs = ()) -> Any:
        """The next message; with `late` the one with those ids, whatever precedes it."""
        self._flush()
        methods = [pattern.get("method") for pattern in patterns if isinstance(pattern, dict)]
        own = [_ids(pattern) for pattern in patterns]
        deadline = time.monotonic() + self._patience
        place = 0
        while True:
            if place == len(self._held):
                self._held.append(self._receive(patterns, deadline))
            message = self._held[place]
            ids = _ids(message)
            method = message.get("method") if isinstance(message, dict) else None
            if method in _QUIET and method not in methods:
                del self._held[place]
            elif any(self._matches(pattern, message) for pattern in [*skip, *self._skip]):
                del self._held[place]
            elif ids == late if late else not self._late[ids] or ids in own:
                return self._held.pop(place)
            else:
                place += 1

    def _receive(self, patterns: list[Any], deadline: float) -> Any:
        self._message = None
        try:
            message = self._incoming.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Mismatch("", show(patterns[0]), f"nothing within {self._patience:g} s") from None
        if message is _END:
            self._incoming.put(_END)
            raise Mismatch("", show(patterns[0]), "nothing: the server ended its output")
        self._message = message
        if isinstance(message, Exception):
            raise Mismatch("", "a message", f"nothing that can be read: {message}")
        _check_envelope(message)
        return message

    def _matches(self, pattern: Any, message: Any) -> bool:
        try:
            match(pattern, message, self._bindings)
        except Mismatch:
            return False
        return True

    def _expect_end(self, status: int | None) -> None:
        try:
            message = self._next([{}], [])
        except Mismatch as mismatch:
            if mismatch.found != "nothing: the server ended its output":
                raise Mismatch("", "the end of the output", mismatch.found) from None
        else:
            raise Mismatch("", "no more messages", message)
        try:
            found = self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            raise Mismatch("", "the server's end", f"nothing: it still runs after {self._patience:g} s") from None
        if status is not None and found != status:
            raise Mismatch("", f"exit status {status}", found)

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while data := self._process.stdout.read1(1 << 18):  # type: ignore[attr-defined]
                for body, attachments in self._decoder.feed(data):
                    message = loads(body, attachments) if attachments else json.loads(str(body, "utf-8"))
                    # A record has columns as base64.
                    self._incoming.put(json.loads(json.dumps(message)) if attachments else message)
        except Exception as error:
            self._incoming.put(error)
        self._incoming.put(_END)

    def _write(self) -> None:
        assert self._process.stdin is not None
        try:
            while (data := self._outgoing.get()) is not None:
                self._process.stdin.write(data)
                self._process.stdin.flush()
        except OSError:
            pass  # The server has ended or does not read any more; the next expectation says whether that is allowed.
        try:
            self._process.stdin.close()
        except OSError:
            pass

    def _stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._outgoing.put(None)
        for thread in self._threads:
            thread.join(1.0)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._stderr.seek(0)
        self.stderr = self._stderr.read()[-2000:].decode("utf-8", "replace").strip()
        self._stderr.close()

    def _story(self, mismatch: Mismatch) -> str:
        found = mismatch.found if str(mismatch.found).startswith("nothing") else show(mismatch.found)
        lines = [f"at {mismatch.path or 'the message'}: expected {mismatch.expected}, found {found}"]
        if self._message is not None and mismatch.path:
            lines.append(f"message: {show(self._message, 1500)}")
        return "\n    ".join(lines)

    _message: Any = None
    stderr = ""


def _ids(message: Any) -> _IDs:
    """The ids that a message, or its pattern, answers, as texts in their order; none if it is not an answer."""
    while isinstance(message, dict) and ("$literal" in message or "$unordered" in message):
        message = message["$literal"] if "$literal" in message else message["$unordered"]
    answers = message if isinstance(message, list) else [message]
    ids = [one.get("id") for one in answers if isinstance(one, dict) and "method" not in one]
    plain = [one["$literal"] if isinstance(one, dict) and "$literal" in one else one for one in ids]
    return tuple(sorted(json.dumps(one) for one in plain if one is not None))


def _check_envelope(message: Any) -> None:
    for one in message if isinstance(message, list) else [message]:
        if not isinstance(one, dict):
            raise Mismatch("", "a message", one)
        if one.get("jsonrpc") != "2.0":
            raise Mismatch("/jsonrpc", '"2.0"', one.get("jsonrpc", "nothing"))
        extra = sorted(set(one) - _ENVELOPE)
        if extra:
            raise Mismatch(f"/{extra[0]}", "nothing", one[extra[0]])
