"""The ends of a server's pipes in an event loop: large messages are written from, and read to, where they stay."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from itertools import islice
from typing import Iterable

from ._framing import Decoder, Message

# Bytes that wait to be written, beyond and below which writers wait and go on.
_HIGH, _LOW = 1 << 16, 1 << 14
# Pieces of one write; systems take at least 16.
_PIECES = 16
# The pipe of a server with large messages: it takes fewer turns of the loop. A user has a limit for all pipes.
_PIPE_SIZE = 1 << 20
# What fills a pipe as it is made.
_LARGE = 1 << 16


class _End:
    def __init__(self, descriptor: int, mode: str) -> None:
        # A file is closed, with a warning, if it is forgotten.
        self._file = open(descriptor, mode, buffering=0)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiters: list[asyncio.Future[None]] = []
        self._is_wide = False
        os.set_blocking(descriptor, False)

    def _widen(self) -> None:
        if not self._is_wide:
            self._is_wide = True
            import fcntl

            try:
                fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
            except (AttributeError, OSError):
                pass  # Only Linux has it, and not beyond a user's limit.

    async def _wait(self) -> None:
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class ReadEnd(_End):
    """The messages that arrive. They are read as they come: whoever calls `read` has to do so again at once."""

    def __init__(self, descriptor: int, decoder: Decoder) -> None:
        super().__init__(descriptor, "rb")
        self._decoder = decoder
        self._messages: list[Message] = []
        self._failure: Exception | None = None
        self._is_at_end = False
        self._loop.add_reader(descriptor, self._read)

    async def read(self) -> list[Message]:
        """The next messages; none at the end."""
        while not self._messages:
            if self._failure is not None:
                raise self._failure
            if self._is_at_end:
                return []
            await self._wait()
        messages, self._messages = self._messages, []
        return messages

    def _read(self) -> None:
        room = self._decoder.room()
        try:
            count = os.readv(self._descriptor, room)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        try:
            self._messages += self._decoder.filled(count)
        except Exception as error:
            self._failure = error
        if not count or self._failure is not None:
            self._is_at_end = True
            self._loop.remove_reader(self._descriptor)
        elif count >= _LARGE:
            self._widen()
        if self._messages or self._is_at_end:
            self._wake()

    def close(self) -> None:
        if not self._file.closed:
            self._loop.remove_reader(self._descriptor)
            self._file.close()
        self._is_at_end = True
        self._wake()


class WriteEnd(_End):
    """Writes in the order of the calls. The pipe of an ended process takes everything: others see that it has ended."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb")
        self._unsent: deque[memoryview] = deque()
        self._size = 0
        self._is_watched = self._is_closing = False

    def write(self, pieces: Iterable[memoryview | bytes]) -> None:
        """Writes what may not change until it is written, or until `keep`."""
        if self._is_closing:
            return
        added = [memoryview(piece) for piece in pieces if piece]
        size = sum(map(len, added))
        self._size += size
        self._unsent += added
        if size > _LARGE:
            self._widen()
        if not self._is_watched:
            self._send()

    async def drain(self) -> None:
        """Waits until the written bytes are sent, if many are waiting."""
        if self._size > _HIGH:
            await self._wait()

    def keep(self) -> None:
        """Copies what is not sent yet: it may change from now on."""
        self._unsent = deque(memoryview(bytes(piece)) for piece in self._unsent)

    def close(self) -> None:
        """Closes the end once all is sent."""
        self._is_closing = True
        if not self._unsent:
            self.abort()

    def abort(self) -> None:
        """Closes the end at once."""
        self._is_closing = True
        self._unsent.clear()
        self._size = 0
        if not self._file.closed:
            self._loop.remove_writer(self._descriptor)
            self._file.close()
        self._wake()

    def _send(self) -> None:
        try:
            count = os.writev(self._descriptor, list(islice(self._unsent, _PIECES)))
        except BlockingIOError:
            count = 0
        except OSError:
            self.abort()
            return
        self._size -= count
        while count:
            piece = self._unsent.popleft()
            if count < len(piece):
                self._unsent.appendleft(piece[count:])
            count -= min(count, len(piece))
        if bool(self._unsent) != self._is_watched:
            self._is_watched = not self._is_watched
            if self._is_watched:
                self._loop.add_writer(self._descriptor, self._send)
            else:
                self._loop.remove_writer(self._descriptor)
        if self._size <= _LOW:
            self._wake()
        if self._is_closing and not self._unsent:
            self.abort()
