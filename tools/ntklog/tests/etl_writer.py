# SPDX-License-Identifier: GPL-2.0-only
"""Small ETL files for the tests, laid out by hand, for both pointer sizes."""

import struct

SIZE = 4096
START_CLOCK = 1_000_000
PERF_FREQ = 2_000_000


def padded(event):
    return event + bytes(-len(event) % 8)


def perfinfo(hook_id, data, version=2, bits=64, time_stamp=START_CLOCK + PERF_FREQ,
             extended=0):
    header_type = 0x11 if bits == 64 else 0x10
    return struct.pack("<BBBBHHQ", version, extended, header_type, 0xC0,
                       0x10 + len(data), hook_id, time_stamp) + data


def system(hook_id, data, bits=64, version=2):
    return struct.pack("<HBBHHIIqII", version, 2 if bits == 64 else 1, 0xC0,
                       0x20 + len(data), hook_id, 11, 22, START_CLOCK, 0, 0) + data


def buffer(events, size=SIZE, sequence=1, processor=0, flags=0x20, kind=0, **changes):
    body = b"".join(padded(event) for event in events)
    saved = changes.get("saved_offset", 0x48 + len(body))
    header = struct.pack("<IIIiqqQHHIIHHqq", changes.get("buffer_size", size), saved, saved,
                         0, 9_000_000, sequence, 3 | PERF_FREQ << 3, processor, 0, 3,
                         saved, flags, kind, 0, 0)
    return (header + body).ljust(size, b"\xff")


def logfile_header(buffers, bits=64, padding=True, end_time=2, perf_freq=PERF_FREQ):
    pointer = "Q" if bits == 64 else "I"
    names = "Logger\0file.etl\0".encode("utf-16-le")
    return struct.pack("<IIIIqIIIIIIII" + pointer * 2, SIZE, 0x0501000A, 1, 2, end_time, 0,
                       0, 1, buffers, 1, bits // 8, 0, 2000, 0, 0) + \
        bytes(0xAC) + bytes(4 if padding else 0) + \
        struct.pack("<qqqII", 1, perf_freq, 132_000_000_000_000_000, 3, 0) + names


def header_buffer(buffers, **changes):
    bits = changes.get("bits", 64)
    return buffer([system(0x0000, logfile_header(buffers, **changes), bits),
                   system(0x0005, bytes(0x24), bits),
                   system(0x0050, bytes(0x30), bits)], flags=0x21, kind=4, sequence=0)


def spin_lock(bits=64, address=0xFFFF888012345678, caller=0xFFFFFFFF81234567, flags=0x41):
    if bits == 32:
        address, caller = address & 0xFFFFFFFF, caller & 0xFFFFFFFF
    pointer = "Q" if bits == 64 else "I"
    return struct.pack("<" + pointer * 2 + "QQIIIIBBB5x", address, caller, 1001, 2002, 303,
                       44, 55, 6, 2, 7, flags)


def resource(bits=64, address=0xFFFF888012345678, action=0x10022):
    if bits == 32:
        return struct.pack("<QQQIIIII4x", 1001, 202, 303, 44, 55, address & 0xFFFFFFFF,
                           action, 66)
    return struct.pack("<QQQIIQII", 1001, 202, 303, 44, 55, address, action, 66)


def context_swap(version=4, flags=0x39):
    head = struct.pack("<IIbbBBBBBB", 11, 22, 8, -1, 3, 0, 6, flags, 5, 7)
    return head if version == 1 else head + struct.pack("<Ii", 99, -123456)


def file(*events, bits=64, **changes):
    """A file of a header buffer and one buffer with these events."""
    return header_buffer(2, bits=bits, **changes) + buffer(events, flags=0x21)
