"""Splits bytes into messages and frames messages as bytes; independent of processes and JSON."""

from __future__ import annotations

from typing import Literal

from .errors import EncodeError, ProtocolError

Framing = Literal["headers", "lines"]


class HeaderDecoder:
    """The framing of LSP: `Content-Length: N`, an empty line, N bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._scanned = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with `data`."""
        messages: list[bytes] = []
        buffer = self._buffer
        buffer += data
        while True:
            if self._length is None:
                end = buffer.find(b"\r\n\r\n", max(0, self._scanned - 3))
                if end < 0:
                    self._scanned = len(buffer)
                    if self._scanned > 65536:
                        raise ProtocolError("the server wrote a header block without an end")
                    return messages
                self._length = _content_length(bytes(buffer[:end]))
                del buffer[: end + 4]
                self._scanned = 0
            if len(buffer) < self._length:
                return messages
            messages.append(bytes(memoryview(buffer)[: self._length]))
            del buffer[: self._length]
            self._length = None

    @staticmethod
    def encode(body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class LineDecoder:
    """One message per line; empty lines are ignored."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete with `data`."""
        if b"\n" not in data:
            self._buffer += data
            return []
        lines = (bytes(self._buffer) + data).split(b"\n")
        self._buffer = bytearray(lines.pop())
        return [line for line in lines if line.strip()]

    @staticmethod
    def encode(body: bytes) -> bytes:
        return body + b"\n"


Decoder = HeaderDecoder | LineDecoder


def make_decoder(framing: Framing) -> Decoder:
    if framing == "headers":
        return HeaderDecoder()
    if framing == "lines":
        return LineDecoder()
    raise EncodeError(f'framing is "headers" or "lines", not {framing!r}')


def _content_length(block: bytes) -> int:
    for line in block.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            value = value.strip()
            if value.isdigit() and len(value) < 16:
                return int(value)
    raise ProtocolError(f"the server wrote a header block without a length: {block[:200]!r}")
