"""Pixels of PNG files, for tests of pictures: 8 bits a channel or a palette, not interlaced."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from typing import NamedTuple

Color = tuple[int, int, int]


class Pixels(NamedTuple):
    width: int
    height: int
    rows: list[list[Color]]

    def count(self, color: str, near: int = 3) -> int:
        """The number of pixels of a colour (`#RRGGBB`), or nearly so."""
        wanted = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
        counted = Counter(pixel for row in self.rows for pixel in row)
        return sum(number for pixel, number in counted.items() if all(abs(one - other) <= near for one, other in zip(pixel, wanted)))

    def differing(self, other: Pixels, most: int = 40) -> float:
        """The share of the pixels that differ, in a channel by more than `most`, from each pixel at or beside their place in the other.

        Where an edge or a letter is a fraction of a pixel away, as among the versions of FreeType and Cairo in use, none does. The larger of the
        shares of both.
        """
        return max(self._missing_in(other, most), other._missing_in(self, most))

    def _missing_in(self, other: Pixels, most: int) -> float:
        def near(one: Color, two: Color) -> bool:
            return abs(one[0] - two[0]) <= most and abs(one[1] - two[1]) <= most and abs(one[2] - two[2]) <= most

        count = 0
        for y, (row, theirs) in enumerate(zip(self.rows, other.rows)):
            for x, pixel in enumerate(row):
                if pixel == theirs[x] or near(pixel, theirs[x]):
                    continue
                beside = (each for line in other.rows[max(y - 1, 0) : y + 2] for each in line[max(x - 1, 0) : x + 2])
                count += not any(near(pixel, each) for each in beside)
        return count / (self.width * self.height)


def pixels(data: bytes) -> Pixels:
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, packed, palette = 8, b"", b""
    width = height = kind = 0
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + size]
        if name == b"IHDR":
            width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and interlace == 0 and kind in (2, 3, 6), (depth, interlace, kind)
        elif name == b"PLTE":
            palette = body
        elif name == b"IDAT":
            packed += body
        at += size + 12
    step = {2: 3, 3: 1, 6: 4}[kind]
    return Pixels(width, height, [_colors(line, step, palette) for line in _lines(zlib.decompress(packed), width * step, step)])


def _colors(line: bytearray, step: int, palette: bytes) -> list[Color]:
    if step == 1:
        return [(palette[3 * each], palette[3 * each + 1], palette[3 * each + 2]) for each in line]
    return list(zip(line[0::step], line[1::step], line[2::step]))


def _lines(data: bytes, length: int, step: int) -> list[bytearray]:
    """The bytes of each row, without their filters."""
    lines: list[bytearray] = []
    before = bytearray(length)
    for start in range(0, len(data), length + 1):
        kind, line = data[start], bytearray(data[start + 1 : start + 1 + length])
        for at in range(length) if kind else ():
            left, up, corner = (line[at - step], before[at], before[at - step]) if at >= step else (0, before[at], 0)
            if kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            else:
                near = (0, left, up, (left + up) // 2)[kind]
            line[at] = (line[at] + near) & 255
        lines.append(line)
        before = line
    return lines
