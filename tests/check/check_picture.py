#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that a picture shows a light or dark page with text and pictures on it.

Usage: check_picture.py PNG light|dark
"""

import struct
import sys
import zlib
from collections import Counter


def decode_rows(data):
    """Yield each eighth row of a PNG of 8 bits, RGB or RGBA: a list of (red, green, blue)."""
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
    bytes_per_pixel = 3 if colour == 2 else 4
    unpacked, row_above = zlib.decompress(packed), bytearray(width * bytes_per_pixel)
    # The first byte of a row is the type of its filter.
    row_size = 1 + width * bytes_per_pixel
    for y in range(height):
        row = bytearray(unpacked[y * row_size:(y + 1) * row_size])
        filter_type, row = row[0], row[1:]
        for i in range(len(row)):
            left = row[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            up = row_above[i]
            corner = row_above[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            if filter_type == 1:
                prediction = left
            elif filter_type == 2:
                prediction = up
            elif filter_type == 3:
                prediction = (left + up) // 2
            elif filter_type == 4:
                guess = left + up - corner
                prediction = min((left, up, corner), key=lambda value: abs(guess - value))
            else:
                prediction = 0
            row[i] = (row[i] + prediction) & 0xFF
        row_above = row
        if y % 8 == 0:
            yield [tuple(row[i:i + 3]) for i in range(0, len(row), bytes_per_pixel)]


def main():
    path, mode = sys.argv[1:3]
    with open(path, "rb") as stream:
        colours = Counter(pixel for row in decode_rows(stream.read()) for pixel in row)
    total = sum(colours.values())
    (page, count), = colours.most_common(1)
    print("%d colours, the page's is %s on %.0f%%" % (len(colours), page, 100 * count / total))
    assert (min(page) > 200) == (mode == "light") and (max(page) < 60) == (mode == "dark"), page
    # Text and pictures cover some of the page, but not most of it.
    assert .3 < count / total < .98
    # The pictures have the colours of waits and of holds.
    waits, holds = (((0xC2, 0x41, 0x0C), (0x1D, 0x64, 0xB4)) if mode == "light" else
                    ((0xF5, 0x8A, 0x4B), (0x6C, 0xAB, 0xF0)))
    assert colours[waits] > 200 and colours[holds] > 200, (colours[waits], colours[holds])


if __name__ == "__main__":
    main()
