"""A server process that keeps account: every request is answered once, every delta is applied to the replicas it is for."""

from __future__ import annotations

import collections
import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from geomodel._framing import Framing, make_decoder
from geomodel._replica import Replica

_END = object()


class Broken(Exception):
    """What the server did wrong."""


class Observed:
    """The replica of one subscription, from messages alone."""

    def __init__(self, params: dict[str, Any], result: dict[str, Any]) -> None:
        self.paths, self.handle = params["paths"], result["subscription"]
        # Whether it is sent every change at once.
        self.is_complete = "maxRate" not in params and "exceptOrigin" not in params
        self.replica, self.revision = Replica(), result["revision"]
        self.is_whole = "snapshot" in result
        self._changes: list[dict[str, Any]] = []
        self.replica.place(result.get("snapshot") or [])

    def receive(self, method: str, params: dict[str, Any]) -> None:
        if method == "state/changed":
            if params["base"] != self.revision:
                raise Broken(f"{self.handle}: a delta from {params['base']} came after revision {self.revision}")
            self._changes += params["changes"]
            self.is_whole = params.get("isLast") is not False
            if self.is_whole:
                changes, self._changes = self._changes, []
                self.replica.apply(changes)
                self.revision = params["revision"]
        elif method == "state/resynced":
            self.replica.clear()
            self._changes = []
            self.revision, self.is_whole = params["revision"], "snapshot" in params
            self.replica.place(params.get("snapshot") or [])
        elif method == "state/snapshotPart":
            self.replica.place(params["values"])
            self.is_whole = params["isLast"]
            self.revision = params["revision"]


class Wire:
    """Writes and reads on threads of their own; what came is handled in its order, by whoever waits."""

    patience = 60.0

    def __init__(self, command: list[str], cwd: Path, framing: Framing) -> None:
        self._decoder = make_decoder(framing)
        self._stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        self._incoming: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._may_read = threading.Event()
        self._may_read.set()
        self._next_id = 0
        self.recent: collections.deque[str] = collections.deque(maxlen=20)
        # Requests that are not answered, by the JSON of their id.
        self.pending: dict[str, str] = {}
        # Answers that a damaged message may get: nobody knows its id.
        self.damaged = 0
        self.observed: dict[str, Observed] = {}
        # Subscriptions whose objects were closed.
        self.ended: set[str] = set()
        self._observing: dict[str, dict[str, Any]] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        for body in (self._read, self._write):
            threading.Thread(target=body, daemon=True).start()

    # Sending

    def send(self, method: str, params: Any) -> str:
        """Sends a request; its id as JSON."""
        self._next_id += 1
        id = self._next_id if self._next_id % 5 else f"r{self._next_id}"
        self.pending[json.dumps(id)] = method
        self.recent.append(json.dumps(id))
        if method == "state/observe" and isinstance(params, dict):
            self._observing[json.dumps(id)] = params
        self.write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return json.dumps(id)

    def notify(self, method: str, params: Any) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message: Any) -> None:
        self.write_body(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    def write_body(self, body: bytes) -> None:
        """Any bytes as one message."""
        self._outgoing.put(self._decoder.encode(body))

    def read_slowly(self, is_slow: bool) -> None:
        """Stops reading, so that the server's output stays where it is."""
        if is_slow:
            self._may_read.clear()
        else:
            self._may_read.set()

    # Receiving

    def call(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        id = self.send(method, params)
        return self.pump(until=id)

    def result(self, method: str, params: Any) -> Any:
        answer = self.call(method, params)
        if "error" in answer:
            raise Broken(f"{method} {json.dumps(params)[:300]} is refused: {json.dumps(answer['error'])[:600]}")
        return answer["result"]

    def pump(self, until: str | None = None) -> Any:
        """Handles what has come, or waits until a request is answered and handles nothing behind its answer."""
        deadline = time.monotonic() + self.patience
        while until is None or until in self.pending:
            try:
                message = self._incoming.get(timeout=max(0.0, deadline - time.monotonic()) if until else 0)
            except queue.Empty:
                if until is None:
                    return None
                raise Broken(f"{self.pending[until]} ({until}) is not answered within {self.patience:g} s") from None
            if message is _END:
                raise Broken(f"the server ended with {self.process.wait()}; {self.stderr()}")
            if isinstance(message, ValueError):
                raise Broken(f"the server wrote what cannot be read: {message}")
            answers = message if isinstance(message, list) else [message]
            found = [answer for answer in answers if self._take(answer) == until]
            if until is not None and found:
                return found[0]
        raise Broken(f"{until} was answered before")

    def _take(self, message: Any) -> str | None:
        """Handles one message; the id that it answers."""
        if "method" in message:
            self.counts[message["method"]] += 1
            params = message.get("params", {})
            if message["method"].startswith("state/"):
                self._receive(message["method"], params)
            return None
        id = json.dumps(message.get("id"))
        method = self.pending.pop(id, None)
        if method is None:
            if self.damaged == 0:
                raise Broken(f"an answer to {id}, which nobody waits for: {json.dumps(message)[:400]}")
            self.damaged -= 1
            return None
        error = message.get("error")
        self.counts[error.get("data", {}).get("kind", "?") if error else "result"] += 1
        if error and error["code"] == -32603:
            raise Broken(f"{method} met an internal error: {json.dumps(error)[:600]}")
        params = self._observing.pop(id, None)
        if params is not None and not error:
            observed = Observed(params, message["result"])
            self.observed[observed.handle] = observed
        return id

    def _receive(self, method: str, params: dict[str, Any]) -> None:
        handle = params["subscription"]
        if handle in self.ended:
            raise Broken(f"{method} came to {handle} after its end")
        if method == "state/ended":
            self.ended.add(handle)
            self.observed.pop(handle, None)
        elif handle in self.observed:
            self.observed[handle].receive(method, params)

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while data := self.process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
                for message in self._decoder.feed(data):
                    self._incoming.put(json.loads(bytes(message.body)))
                self._may_read.wait()
        except ValueError as error:
            self._incoming.put(error)
        self._incoming.put(_END)

    def _write(self) -> None:
        assert self.process.stdin is not None
        try:
            while (data := self._outgoing.get()) is not None:
                self.process.stdin.write(data)
                self.process.stdin.flush()
            self.process.stdin.close()
        except OSError:
            pass

    # The process

    def resident(self) -> int:
        """Resident memory in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def readers(self) -> list[int]:
        """The processes that the server has started."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(") ", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(path.parent.name))
        return found

    def end(self) -> None:
        """Closes the input, and sees that the server ends by itself and leaves nothing behind."""
        readers = self.readers()
        self._outgoing.put(None)
        try:
            status = self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise Broken("the server does not end with its input") from None
        deadline = time.monotonic() + 10
        while left := [reader for reader in readers if Path(f"/proc/{reader}/cmdline").exists()]:
            if time.monotonic() > deadline:
                raise Broken(f"readers are left: {left}")
            # They are the server's children, so there is nothing to wait for.
            time.sleep(0.01)
        while (message := self._incoming.get(timeout=self.patience)) is not _END:
            for answer in message if isinstance(message, list) else [message]:
                self._take(answer)
        if self.pending:
            raise Broken(f"never answered: {self.pending}")
        if status not in (0, 1):
            raise Broken(f"the server ended with {status}; {self.stderr()}")

    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()[-3000:].decode("utf-8", "replace").strip()

    def abandon(self) -> None:
        """Ends the server however it is, once its trace is written if it still does that."""
        self._may_read.set()
        self._outgoing.put(None)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
