# SPDX-License-Identifier: GPL-2.0-only
"""Decode the wire format of protocol buffers."""

import struct


def decode_varint(data, at):
    """Return the varint at an offset, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def decode_fields(data):
    """Yield the number and the value of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = decode_varint(data, at)
        if tag & 7 == 0:
            value, at = decode_varint(data, at)
        elif tag & 7 == 1:
            (value,) = struct.unpack_from("<Q", data, at)
            at += 8
        elif tag & 7 == 2:
            size, at = decode_varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field ends behind its message")
        else:
            raise ValueError("wire type %d" % (tag & 7))
        yield tag >> 3, value


def decode_packed_numbers(data):
    at, values = 0, []
    while at < len(data):
        value, at = decode_varint(data, at)
        values.append(value)
    return values


def last_value_by_field(data):
    """Return a dictionary of a message: number of a field: its last value."""
    return dict(decode_fields(data))


def values_by_field(data):
    values = {}
    for number, value in decode_fields(data):
        values.setdefault(number, []).append(value)
    return values
