"""Times a painter: a million markers in a picture of 1920 x 1080 pixels, and the encoding of such a picture.

    python3 pictures.py make FILE                  the markers' positions
    python3 pictures.py server FILE -- COMMAND     what the painter of the server takes for them

prints figures, one per line, as the C programs beside it do. The painter is started as the server starts it and gets the list that the
server would send; times are those from the request to the answer, the least of five. Drawn twice, the markers make the same picture: what that
takes more is the time without encoding.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

WIDTH, HEIGHT, POINTS, ROUNDS = 1920, 1080, 1_000_000, 5
F_ADD_SEALS, SEALS = 1033, 15


def make(path: str) -> None:
    numbers = random.Random(42)
    with open(path, "wb") as file:
        array.array("f", [numbers.random() * (HEIGHT if index % 2 else WIDTH) for index in range(2 * POINTS)]).tofile(file)


class Painter:
    def __init__(self, server: str) -> None:
        self.channel, theirs = socket.socketpair()
        # The server gives it the channel as descriptor 3.
        shell = f'exec 3<&{theirs.fileno()}; exec "$0" --painter 4294967296'
        self.process = subprocess.Popen(["/bin/sh", "-c", shell, server], pass_fds=[theirs.fileno()])
        theirs.close()

    def bytes_of(self, picture: str, words: bytes) -> int:
        """Paints, and returns the number of bytes of the answer."""
        file = os.memfd_create("words", os.MFD_ALLOW_SEALING)
        view = memoryview(words)
        while view:
            view = view[os.write(file, view):]
        fcntl.fcntl(file, F_ADD_SEALS, SEALS)
        text = json.dumps(
            {"type": "paint", "format": picture, "sizes": [WIDTH, HEIGHT, 1], "background": 0xFFFFFFFF, "isFirst": True, "isLast": True}).encode()
        socket.send_fds(self.channel, [struct.pack("<I", len(text)) + text], [file])
        os.close(file)
        answer, files, _, _ = socket.recv_fds(self.channel, 1 << 16, 4)
        if b'"painted"' not in answer:
            sys.exit(f"pictures: {answer[4:].decode()}")
        length = os.fstat(files[0]).st_size
        os.close(files[0])
        return length

    def best(self, picture: str, words: bytes) -> tuple[float, int]:
        length, times = self.bytes_of(picture, words), []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            length = self.bytes_of(picture, words)
            times.append((time.perf_counter() - start) * 1e3)
        return min(times), length

    def end(self) -> None:
        self.channel.close()
        self.process.wait()


def measure(path: str, server: str) -> None:
    # A circle of 8 pixels with an outline of one, then the points: the words of PictureWriter.
    style = struct.pack("<IIIffffIIIf", 0, 0, 0xFF8000FF, 8, 0, 0, 0, 1, 0, 0x000000FF, 1)
    with open(path, "rb") as file:
        words = style + struct.pack("<II", 5, POINTS) + file.read()
    painter = Painter(server)
    once, length = painter.best("png", words)
    twice, _ = painter.best("png", words + words)
    painter.end()
    print(f"markers_milliseconds {once:.2f}\nencoded_milliseconds {2 * once - twice:.2f}\nencoded_bytes {length}")


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "make":
        make(words[1])
    elif len(words) == 4 and words[0] == "server" and words[2] == "--":
        measure(words[1], words[3])
    else:
        sys.exit(__doc__)
