"""A server at the other end of a web socket (RFC 6455), with the standard library alone: what `ServerProcess` is for a process."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import os
import struct
from typing import Callable, NoReturn, Sequence
from urllib.parse import SplitResult, urlsplit

from ._framing import Message
from .errors import EncodeError, ProtocolError, ServerDiedError

_READ = 1 << 18
_CONTINUATION, _TEXT, _CLOSE, _PING, _PONG = 0, 1, 8, 9, 10
# What a server appends to the key of a handshake before it hashes it.
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class WebSocket:
    """Messages in each direction; each is a frame on the wire."""

    # No process of this client's own.
    pid = 0
    exit_status: int | None = None
    stderr_tail = ""

    def __init__(self, url: str) -> None:
        self._url = _checked(url)
        self._drain_lock = asyncio.Lock()
        self._text: list[bytes] | None = None
        self._closed_with: int | None = None

    async def start(self) -> None:
        host, port = self._url.hostname or "", self._url.port or 80
        try:
            self._reader, self._writer = await asyncio.open_connection(host, port, limit=_READ)
        except OSError as error:
            raise ServerDiedError(f"there is no server at {host}:{port}: {error}") from error
        try:
            await self._shake_hands(f"{host}:{port}")
        except BaseException as error:
            self.kill()
            if isinstance(error, (OSError, EOFError, ValueError, asyncio.LimitOverrunError)):
                raise ServerDiedError(f"the server at {host}:{port} accepts no web socket: {error}") from error
            raise

    async def _shake_hands(self, host: str) -> None:
        key = base64.b64encode(os.urandom(16))
        target = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        fields = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        self._writer.write("\r\n".join(lines).encode() + b"\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
        head = await self._reader.readuntil(b"\r\n\r\n")
        status, *rest = head.decode("latin-1").split("\r\n")
        answered = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        code = (status.split(" ") + [""])[1]
        if code != "101":
            advice = {"401": ": the token is wrong", "503": ": it has too many clients"}.get(code, "")
            raise ValueError((status.partition(" ")[2] or f"{status!r:.100}") + advice)
        accept = base64.b64encode(hashlib.sha1(key + _MAGIC, usedforsecurity=False).digest()).decode()
        if answered.get("sec-websocket-accept") != accept:
            raise ValueError("its handshake is another's")

    @property
    def how_it_ended(self) -> str:
        return "closed the web socket" + ("" if self._closed_with is None else f" with {self._closed_with}")

    # Reading

    async def read(self) -> list[Message]:
        """The next message; none at the end."""
        while True:
            try:
                head, size = await self._reader.readexactly(2), 0
                opcode, is_last, size = head[0] & 0x0F, head[0] & 0x80 != 0, head[1]
                if head[0] & 0x70 or size & 0x80 or opcode >= _CLOSE and (size > 125 or not is_last):
                    raise ProtocolError(f"the server wrote no frame of a web socket: {head!r}")
                if size > 125:
                    size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
                data = await self._reader.readexactly(size)
            except (OSError, EOFError):
                return []
            if opcode == _PING:
                self._send(_PONG, data)
            elif opcode == _CLOSE:
                self._closed_with = int.from_bytes(data[:2], "big") if len(data) > 1 else None
                self._send(_CLOSE, data[:2])
                return []
            elif opcode in (_TEXT, _CONTINUATION) and (opcode == _TEXT) == (self._text is None):
                self._text = [*(self._text or ()), data]
                if is_last:
                    text, self._text = b"".join(self._text), None
                    if text.strip():
                        return [Message(text)]
            elif opcode != _PONG:
                raise ProtocolError(f"the server wrote a frame that has no place: opcode {opcode}")

    # Writing

    def write(self, body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> None:
        """Writes a message; its server has not stated that it takes attachments."""
        self._send(_TEXT, body)

    def keep(self) -> None:
        """All that was written is a copy."""

    def _send(self, opcode: int, data: bytes) -> None:
        size = len(data)
        length = bytes([size | 0x80]) if size < 126 else struct.pack("!BH", 0xFE, size) if size < 1 << 16 else struct.pack("!BQ", 0xFF, size)
        mask = os.urandom(4)
        # As one number each: by far the fastest way without a library.
        masked = int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        # A connection that has ended is noticed by its reader.
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.write(bytes([opcode | 0x80]) + length + mask + masked.to_bytes(size, "big"))

    async def drain(self) -> None:
        """Waits until the written bytes are sent, if many are waiting."""
        if not self._writer.transport.get_write_buffer_size():
            return
        # Python before 3.12 allows one waiter in drain().
        async with self._drain_lock:
            with contextlib.suppress(OSError, RuntimeError):
                await self._writer.drain()

    # The end

    def kill(self) -> None:
        self._writer.transport.abort()

    async def wait(self, reader: asyncio.Task[None], grace: Callable[[], float]) -> None:
        """Waits for the end of the connection, which `reader` sees."""
        await asyncio.wait({reader})

    async def end(self, watch: asyncio.Task[None], grace: float) -> None:
        """Closes the connection, at once if `watch` is not done after the grace period."""
        done, _ = await asyncio.wait({watch}, timeout=grace)
        if not done:
            self.kill()
            await asyncio.wait({watch}, timeout=1.0)

    async def release(self) -> None:
        with contextlib.suppress(OSError, RuntimeError, asyncio.TimeoutError, TimeoutError):
            self._writer.close()
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)


def _checked(url: str) -> SplitResult:
    def refuse(reason: object) -> NoReturn:
        raise EncodeError(f"connect: {reason}; it has to be like ws://127.0.0.1:8000/?token=..., as geomodel-server --list shows it")

    if not isinstance(url, str) or not url.isascii() or any(character <= " " for character in url):
        refuse("that is no address")
    try:
        parts = urlsplit(url)
        parts.port
    except ValueError as error:
        refuse(error)
    if parts.scheme != "ws" or not parts.hostname:
        refuse("that is no address of a web socket")
    return parts
