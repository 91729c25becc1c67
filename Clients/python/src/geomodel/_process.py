"""The server as a process: its start, its pipes, the last lines it wrote to standard error, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections import deque
from typing import Callable, Mapping, Sequence

from ._framing import Framing, Message, make_decoder
from ._pipes import ReadEnd, WriteEnd
from .errors import EncodeError, ServerDiedError

_log = logging.getLogger("geomodel")
server_log = logging.getLogger("geomodel.server")
_READ = 1 << 18
# Maximum number of bytes that are kept until the end of the loop's turn.
_WRITE = 1 << 16


class ServerProcess:
    """The server process as a stream of messages in each direction; their meaning is unknown here."""

    def __init__(
        self, command: Sequence[str], cwd: str | os.PathLike[str] | None, env: Mapping[str, str] | None, framing: Framing = "headers"
    ) -> None:
        self._command = list(command)
        self._cwd, self._env = cwd, env
        self._stderr: deque[str] = deque(maxlen=50)
        self._decoder = make_decoder(framing)
        self._unwritten: list[memoryview | bytes] = []
        self._unwritten_size = 0

    async def start(self) -> None:
        try:
            (its_input, ours), (theirs, its_output) = os.pipe(), os.pipe()
        except OSError as error:
            raise ServerDiedError(f"the server could not be started: {error}") from error
        self._input, self._output = WriteEnd(ours), ReadEnd(theirs, self._decoder)
        try:
            env = None if self._env is None else {**os.environ, **self._env}
            self._process = await asyncio.create_subprocess_exec(
                *self._command, cwd=self._cwd, env=env, limit=_READ,
                stdin=its_input, stdout=its_output, stderr=asyncio.subprocess.PIPE,
                # Control-C in a terminal is for the client, which cancels its call; the server ends with its client.
                start_new_session=os.name == "posix",
            )
        except BaseException as error:
            self._close_pipes()
            if isinstance(error, OSError):
                raise ServerDiedError(f"the server could not be started: {' '.join(self._command)}: {error}") from error
            if isinstance(error, (TypeError, ValueError)):
                raise EncodeError(f"the server cannot be started so: {error}") from error
            raise
        finally:
            os.close(its_input)
            os.close(its_output)
        self._stderr_task = asyncio.create_task(self._read_stderr(), name="geomodel stderr")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        return self._process.returncode

    @property
    def how_it_ended(self) -> str:
        status = self.exit_status
        return f"ended by signal {-status}" if status is not None and status < 0 else f"ended with exit status {status}"

    @property
    def stderr_tail(self) -> str:
        return "\n".join(self._stderr)

    async def read(self) -> list[Message]:
        """The next messages of standard output; none at its end."""
        return await self._output.read()

    def write(self, body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> None:
        """Writes in the order of the calls; small messages of one turn of the loop are sent in one write.

        So concurrent calls, as by `asyncio.gather`, reach the server together: it has the second before the first is answered,
        and each costs less.
        """
        pieces = self._decoder.pieces(body, attachments)
        size = sum(map(len, pieces))
        if self._unwritten_size + size > _WRITE:
            self._flush()
        if size > _WRITE:
            self._input.write(pieces)
            return
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unwritten += pieces
        self._unwritten_size += size

    def _flush(self) -> None:
        if self._unwritten:
            data = b"".join(self._unwritten)
            self._unwritten, self._unwritten_size = [], 0
            self._input.write([data])

    async def drain(self) -> None:
        """Waits until the written bytes are sent, if many are waiting."""
        await self._input.drain()

    def keep(self) -> None:
        """Copies attachments that are not sent yet: their owner may change them from now on."""
        self._flush()
        self._input.keep()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        # Not by asyncio's process: it may take the exit status first, which the loop then does not get.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    async def wait(self, reader: asyncio.Task[None], grace: Callable[[], float]) -> None:
        """Waits until the process has ended; once `reader` is at the end of its output, it has `grace` seconds to end."""
        gone = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait({gone, reader}, return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                await asyncio.wait({gone}, timeout=grace())
                if not gone.done():
                    self.kill()
            await gone
            # Its last output is still in the pipes; a grandchild may keep them open for ever.
            await asyncio.wait({reader, self._stderr_task}, timeout=1.0)
        finally:
            gone.cancel()

    async def end(self, watch: asyncio.Task[None], grace: float) -> None:
        """Closes its input and kills it if `watch` is not done after the grace period."""
        self._flush()
        self._input.close()
        for force in (None, signal.SIGTERM, signal.SIGKILL):
            if force is not None and self._process.returncode is None:
                _log.warning("the server did not end within %s s of the request to", grace)
                self._signal(force)
            done, _ = await asyncio.wait({watch}, timeout=grace if force is None else 1.0)
            if done:
                break

    async def release(self) -> None:
        """Closes its pipes."""
        self._stderr_task.cancel()
        await asyncio.gather(self._stderr_task, return_exceptions=True)
        self._close_pipes()
        # The subprocess transport closes its pipes a turn of the loop later; a loop that ends before that would warn.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()
        await asyncio.sleep(0)

    def _close_pipes(self) -> None:
        self._input.abort()
        self._output.close()

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        rest = b""
        while data := await self._process.stderr.read(_READ):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-65536:]
            for line in lines:
                self._keep(line)
        if rest:
            self._keep(rest)

    def _keep(self, line: bytes) -> None:
        text = line[:2000].decode("utf-8", "replace").rstrip()
        self._stderr.append(text)
        server_log.debug("%s", text)
