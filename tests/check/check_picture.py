#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is this a picture of a page, light or dark, with something on it?

Usage: check_picture.py PNG light|dark
"""

import struct
import sys
import zlib
from collections import Counter


def pixels(data):
    """The rows of (red, green, blue) in a PNG as browsers write it: 8 bits, RGB or RGBA."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed, width = 8, b"", 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", data, at + 8)
            assert (depth, colour) in ((8, 2), (8, 6)), "depth %d, colour %d" % (depth, colour)
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    size = 3 if colour == 2 else 4
    raw, before = zlib.decompress(packed), bytearray(width * size)
    for y in range(height):
        row = bytearray(raw[y * (width * size + 1):(y + 1) * (width * size + 1)])
        how, row = row[0], row[1:]
        for i in range(len(row)):
            left = row[i - size] if i >= size else 0
            up = before[i]
            corner = before[i - size] if i >= size else 0
            if how == 1:
                add = left
            elif how == 2:
                add = up
            elif how == 3:
                add = (left + up) // 2
            elif how == 4:
                guess = left + up - corner
                add = min((left, up, corner), key=lambda value: abs(guess - value))
            else:
                add = 0
            row[i] = (row[i] + add) & 0xFF
        before = row
        if y % 8 == 0:
            yield [tuple(row[i:i + 3]) for i in range(0, len(row), size)]


def main():
    path, mode = sys.argv[1:3]
    with open(path, "rb") as stream:
        colours = Counter(pixel for row in pixels(stream.read()) for pixel in row)
    total = sum(colours.values())
    (page, count), = colours.most_common(1)
    print("%d colours, the page's is %s on %.0f%%" % (len(colours), page, 100 * count / total))
    assert (min(page) > 200) == (mode == "light") and (max(page) < 60) == (mode == "dark"), page
    # Text and pictures take some of the page, but not most of it.
    assert .3 < count / total < .98
    # The colours of waits and holds are among them.
    waits, holds = (((0xC2, 0x41, 0x0C), (0x1D, 0x64, 0xB4)) if mode == "light" else
                    ((0xF5, 0x8A, 0x4B), (0x6C, 0xAB, 0xF0)))
    assert colours[waits] > 200 and colours[holds] > 200, (colours[waits], colours[holds])


if __name__ == "__main__":
    main()
