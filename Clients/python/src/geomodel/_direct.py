"""A server for the commands of the shell: one call at a time, without a loop or a thread.

`asyncio` alone takes longer to import than `geomodel info` may take of its 150 ms; so whatever observes or runs calls side by
side uses the other clients, and a command that asks and prints uses this. Framing, errors, flags and greeting are theirs.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import _start
from ._framing import HeaderDecoder
from .errors import EncodeError, ProtocolError, ServerDiedError, error_from_wire, misfit

_READ = 1 << 18
# Parts of a result that the server sends before one has been used.
_WINDOW = 4
_GRACE = 5.0
# Seconds without a message after which `progress` is called without a report.
_TICK = 0.3

Progress = Callable[[Mapping[str, Any] | None], object]


class DirectServer:
    """A server process of this one's own, initialized; `close` or the `with` block ends it."""

    def __init__(self, command: Sequence[str], *, root_path: str | None = None, client_name: str) -> None:
        self._decoder = HeaderDecoder()
        self._messages: list[Any] = []
        self._id = 0
        self._progress: Progress | None = None
        self._log = _log_file()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, bufsize=0,
                # Control-C in a terminal is for this process, which cancels its call.
                start_new_session=True,
            )
        except OSError as error:
            raise ServerDiedError(f"the server could not be started: {command[0]}: {error.strerror}") from error
        try:
            self.initialized = _start.check(self.call("initialize", _start.greeting(client_name, root_path)))
            self._send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
        except BaseException:
            self._process.kill()
            self.close()
            raise

    def call(self, method: str, params: Mapping[str, Any], progress: Progress | None = None) -> Any:
        """The result of a method. Control-C cancels it.

        `progress` is called with each report, and without one while the server says nothing.
        """
        reply: list[Any] = []
        self._progress = progress
        try:
            for report in self._exchange(method, params, {"progressToken": "p"} if progress else {}, reply):
                if progress is not None:
                    progress(report)
        finally:
            self._progress = None
        return reply[0]

    def parts(self, method: str, params: Mapping[str, Any], reply: list[Any]) -> Iterator[Mapping[str, Any]]:
        """The result of a method in parts, as they arrive; `reply` gets the answer. Leaving the loop cancels the call."""
        for part in self._exchange(method, params, {"partialResultToken": "p", "partialResultWindow": _WINDOW}, reply):
            yield part
            self._send({"jsonrpc": "2.0", "method": "task/acknowledgeParts", "params": {"token": "p"}})

    def close(self) -> None:
        """Ends the connection, and the process with it. A second call does nothing."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if self._process.stdin.closed:
            return
        try:
            self._send({"jsonrpc": "2.0", "id": 0, "method": "shutdown"})
            self._send({"jsonrpc": "2.0", "method": "exit"})
        except ServerDiedError:
            pass
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        if self._log is not None:
            os.close(self._log)
            self._log = None

    def __enter__(self) -> DirectServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(
        self, method: str, params: Mapping[str, Any], meta: Mapping[str, Any], reply: list[Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Sends a request and gives the values of its `$/progress`; `reply` gets the result."""
        self._id += 1
        sent = {**params, "meta": {**params.get("meta", {}), **meta}} if meta else params
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": sent})
        try:
            while True:
                message = self._next()
                if message.get("method") == "$/progress":
                    said = message.get("params")
                    if not isinstance(said, dict) or not isinstance(said.get("value"), dict):
                        raise ProtocolError(f"the server wrote what is no progress: {message!r:.200}")
                    yield said["value"]
                elif "method" not in message and message.get("id") in (self._id, None):
                    break
        except (GeneratorExit, KeyboardInterrupt, SystemExit):
            self._cancel()
            raise
        if "error" in message:
            raise error_from_wire(message["error"], method)
        reply.append(message.get("result"))

    def _cancel(self) -> None:
        """Cancels the running call and waits until the server has ended it."""
        self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self._id}})
        while True:
            message = self._next()
            if "method" not in message and message.get("id") == self._id:
                return

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            body = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        except ValueError as error:
            raise EncodeError(f"cannot be put into a message: {error}") from error
        assert self._process.stdin is not None
        data = memoryview(HeaderDecoder.encode(body))
        try:
            while data:
                data = data[self._process.stdin.write(data):]
        except OSError as error:
            raise self._death() from error

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while not self._messages:
            output = self._process.stdout.fileno()
            while self._progress is not None and not select.select([output], [], [], _TICK)[0]:
                self._progress(None)
            data = os.read(output, _READ)
            if not data:
                raise self._death()
            for body, _ in self._decoder.feed(data):
                try:
                    message = json.loads(str(body, "utf-8"))
                except (ValueError, RecursionError) as error:
                    raise misfit("a message", error)
                self._messages += message if isinstance(message, list) else [message]
        message = self._messages.pop(0)
        if not isinstance(message, dict):
            raise ProtocolError(f"the server wrote what is no message: {message!r:.200}")
        return message

    def _death(self) -> ServerDiedError:
        try:
            status: int | None = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            status = None
        said = ""
        if self._log is not None:
            said = os.pread(self._log, 4000, max(0, os.fstat(self._log).st_size - 4000)).decode("utf-8", "replace").strip()
        ended = "" if status is None else f" with status {status}" if status >= 0 else f" by signal {-status}"
        return ServerDiedError(f"the server ended{ended}", status, said)


def _log_file() -> int | None:
    """A file in memory for what the server says on standard error: nobody reads a pipe meanwhile, and it would fill."""
    make = getattr(os, "memfd_create", None)
    return None if make is None else make("geomodel-server")
