"""Cutting bytes into messages."""

import unittest

import support  # noqa: F401
from geomodel import ProtocolError
from geomodel._framing import HeaderDecoder, LineDecoder, Message, make_decoder

BODIES = [b"{}", '{"a":"\u00e9\U0001f30d"}'.encode(), b"[1,\r\n\r\n2]", b"x" * 70_000]


class FramingTests(unittest.TestCase):
    def test_messages_survive_any_cut(self) -> None:
        data = b"".join(HeaderDecoder.encode(body) for body in BODIES)
        for size in (1, 2, 3, 7, 64, 4096, len(data)):
            decoder = HeaderDecoder()
            found = [m for at in range(0, len(data), size) for m in decoder.feed(data[at : at + size])]
            self.assertEqual([message.body for message in found], BODIES, f"in pieces of {size}")

    def test_lines_survive_any_cut(self) -> None:
        bodies = [body for body in BODIES if b"\n" not in body]
        data = b"\n".join([b"", *bodies, b""]) + b"\r\n"
        for size in (1, 2, 5, 1000, len(data)):
            decoder = LineDecoder()
            found = [m for at in range(0, len(data), size) for m in decoder.feed(data[at : at + size])]
            self.assertEqual([message.body for message in found], bodies, f"in pieces of {size}")

    def test_headers_are_read_liberally(self) -> None:
        decoder = HeaderDecoder()
        self.assertEqual(decoder.feed(b"X: 1\r\ncontent-LENGTH:2\r\nY: 2\r\n\r\n{}"), [Message(b"{}")])

    def test_bad_headers_are_reported(self) -> None:
        for block in (b"X: 1\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n"):
            with self.assertRaises(ProtocolError):
                HeaderDecoder().feed(block)
        with self.assertRaises(ProtocolError):
            HeaderDecoder().feed(b"x" * 70_000)

    def test_unknown_framing(self) -> None:
        with self.assertRaises(ValueError):
            make_decoder("smoke")  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
