"""Cutting bytes into messages."""

import json
import unittest

import support  # noqa: F401
from geomodel import ProtocolError
from geomodel._framing import HeaderDecoder, LineDecoder, Message, make_decoder
from geomodel._wire import loads

BODIES = [b"{}", '{"a":"\u00e9\U0001f30d"}'.encode(), b"[1,\r\n\r\n2]", b"x" * 70_000]


class FramingTests(unittest.TestCase):
    def test_messages_survive_any_cut(self) -> None:
        data = b"".join(HeaderDecoder.encode(body) for body in BODIES)
        for size in (1, 2, 3, 7, 64, 4096, len(data)):
            decoder = HeaderDecoder()
            found = [m for at in range(0, len(data), size) for m in decoder.feed(data[at : at + size])]
            self.assertEqual([message.body for message in found], BODIES, f"in pieces of {size}")

    def test_attachments_survive_any_cut(self) -> None:
        parts = [(b"{}", []), (b"[1]", [b"abcdefgh", memoryview(b"12")]), (b"", [b"x" * 70_000]), *((body, []) for body in BODIES)]
        data = b"".join(piece for body, attachments in parts for piece in HeaderDecoder.pieces(body, attachments))
        expected = [(body, b"".join(attachments) or None) for body, attachments in parts]
        for size in (1, 3, 64, 4096, len(data)):
            decoder = HeaderDecoder()
            found = [m for at in range(0, len(data), size) for m in decoder.feed(data[at : at + size])]
            self.assertEqual(found, expected, f"in pieces of {size}")
            found, at = [], 0
            while at < len(data):
                room = decoder.room()
                start = at
                for part in room:
                    count = min(len(part), size - (at - start), len(data) - at)
                    part[:count] = data[at : at + count]
                    at += count
                found += decoder.filled(at - start)
            self.assertEqual(found, expected, f"read in pieces of {size}")

    def test_large_messages_have_storage_of_their_own(self) -> None:
        body, attachment = b'"' + b"x" * (9 << 20) + b'"', bytes(range(256)) * (5 << 12)
        decoder = HeaderDecoder()
        [message] = decoder.feed(b"".join(HeaderDecoder.pieces(body, [attachment])))
        self.assertEqual((loads(message.body), message.attachments), (json.loads(body), attachment))
        self.assertEqual(decoder.feed(HeaderDecoder.encode(b"{}")), [Message(b"{}")])

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
        for block in (b"X: 1\r\n\r\n", b"Content-Length: 2\r\nAttachment-Length: 3\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n"):
            with self.assertRaises(ProtocolError):
                HeaderDecoder().feed(block)
        with self.assertRaises(ProtocolError):
            HeaderDecoder().feed(b"x" * 70_000)

    def test_unknown_framing(self) -> None:
        with self.assertRaises(ValueError):
            make_decoder("smoke")  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
