"""Splits bytes into messages and frames messages as bytes; independent of processes and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Sequence

from .errors import EncodeError, ProtocolError

if TYPE_CHECKING:
    from mmap import mmap

    Storage = bytearray | mmap

Framing = Literal["headers", "lines"]

_READ = 1 << 18
_MAX_HEAD = 1 << 16
# Storage of so many bytes is mapped: pages of 2 MiB are got in a third of the time of those of 4 KiB.
_MAPPED = 1 << 22


class Message(NamedTuple):
    """A message's JSON, and the bytes attached to it."""

    body: bytes | Storage
    attachments: memoryview | None = None


class Decoder:
    """Bytes are fed, or are read into `room`: what is missing of a message is read to where it stays."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._chunk = bytearray()

    def feed(self, data: bytes | bytearray) -> list[Message]:
        """The messages that are complete with `data`."""
        raise NotImplementedError

    def room(self) -> list[memoryview]:
        """Where the next bytes are to be read to, in order."""
        if not self._chunk:
            self._chunk = bytearray(_READ)
        return [memoryview(self._chunk)]

    def filled(self, count: int) -> list[Message]:
        """The messages that are complete with so many bytes in `room`."""
        return self.feed(self._chunk[:count])

    @staticmethod
    def pieces(body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> list[memoryview | bytes]:
        """What is to be written for a message."""
        raise NotImplementedError

    @classmethod
    def encode(cls, body: bytes) -> bytes:
        return b"".join(cls.pieces(body))


class HeaderDecoder(Decoder):
    """The framing of LSP: `Content-Length: N`, an empty line, N bytes. With `Attachment-Length: M` the last M of them are attachments."""

    def __init__(self) -> None:
        super().__init__()
        self._message: Message | None = None
        # The parts of the message that are not there yet.
        self._missing: list[memoryview] = []

    def feed(self, data: bytes | bytearray) -> list[Message]:
        messages: list[Message] = []
        at = 0
        with memoryview(data) as view:
            while at < len(data):
                if self._message is None:
                    at = self._read_head(data, at)
                else:
                    part = self._missing[0]
                    count = min(len(part), len(data) - at)
                    part[:count] = view[at : at + count]
                    self._advance(count)
                    at += count
                messages += self._finished()
        return messages

    def room(self) -> list[memoryview]:
        return self._missing or super().room()

    def filled(self, count: int) -> list[Message]:
        if not self._missing:
            return super().filled(count)
        self._advance(count)
        return self._finished()

    def _advance(self, count: int) -> None:
        while count:
            part = self._missing.pop(0)
            if count < len(part):
                self._missing.insert(0, part[count:])
            count -= min(count, len(part))

    def _finished(self) -> list[Message]:
        if self._message is None or self._missing:
            return []
        message, self._message = self._message, None
        return [message]

    def _read_head(self, data: bytes | bytearray, at: int) -> int:
        """Reads a header block, or a part of it; its end."""
        before = len(self._buffer)
        stop = -1 if before else data.find(b"\r\n\r\n", at)
        if stop < 0:
            self._buffer += data[at:]
            found = self._buffer.find(b"\r\n\r\n", max(0, before - 3))
            if found < 0:
                if len(self._buffer) > _MAX_HEAD:
                    raise ProtocolError("the server wrote a header block without an end")
                return len(data)
            block, stop = bytes(self._buffer[:found]), at + found - before
            self._buffer.clear()
        else:
            block = bytes(data[at:stop])
        length, attached = _lengths(block)
        end = stop + 4 + length
        if not attached and end <= len(data):
            self._message = Message(bytes(data[stop + 4 : end]))
            return end
        body, attachments = _storage(length - attached), _storage(attached) if attached else None
        self._message = Message(body, None if attachments is None else memoryview(attachments))
        self._missing = [memoryview(each) for each in (body, attachments) if each]
        return stop + 4

    @staticmethod
    def pieces(body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> list[memoryview | bytes]:
        size = sum(map(len, attachments))
        more = b"Attachment-Length: %d\r\n" % size if size else b""
        return [b"Content-Length: %d\r\n%b\r\n" % (len(body) + size, more), body, *attachments]


class LineDecoder(Decoder):
    """One message per line; empty lines are ignored. A line has no attachments."""

    def feed(self, data: bytes | bytearray) -> list[Message]:
        if b"\n" not in data:
            self._buffer += data
            return []
        lines = (bytes(self._buffer) + data).split(b"\n")
        self._buffer = bytearray(lines.pop())
        return [Message(line) for line in lines if line.strip()]

    @staticmethod
    def pieces(body: bytes, attachments: Sequence[memoryview | bytes] = ()) -> list[memoryview | bytes]:
        return [body, b"\n"]


def make_decoder(framing: Framing) -> Decoder:
    if framing == "headers":
        return HeaderDecoder()
    if framing == "lines":
        return LineDecoder()
    raise EncodeError(f'framing is "headers" or "lines", not {framing!r}')


def _lengths(block: bytes) -> tuple[int, int]:
    """The number of all bytes of a message, and that of its attachments."""
    if len(block) < 32 and block.startswith(b"Content-Length: ") and block[16:].isdigit():
        return int(block[16:]), 0
    found = {b"content-length": -1, b"attachment-length": 0}
    for line in block.split(b"\r\n"):
        name, _, value = line.partition(b":")
        name, value = name.strip().lower(), value.strip()
        if name in found and value.isdigit() and len(value) < 16:
            found[name] = int(value)
    length, attached = found.values()
    if length < attached:
        raise ProtocolError(f"the server wrote a header block without a length: {block[:200]!r}")
    return length, attached


def _storage(size: int) -> Storage:
    if size < _MAPPED:
        return bytearray(size)
    import mmap

    try:
        mapped = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise ProtocolError(f"the server announced a message of {size:,} bytes: {error}") from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        mapped.madvise(mmap.MADV_HUGEPAGE)
    return mapped
