#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut a recording of ntklog down to a sample in buffers of 4096 bytes: the header, the parameters,
and the first few events of each kind on each processor, with their stacks. Events are unchanged.

Usage: make-sample.py RECORDING SAMPLE [EVENTS_OF_A_KIND]

Documentation/examples/sample*.etl were made by this script. It writes new buffer headers, and the
size and the number of buffers into TRACE_LOGFILE_HEADER.
"""

import struct
import sys

SIZE = 4096
HEADER = 0x48
STACK = 0x1820
SWAP, SPIN_LOCK, RESOURCE = 0x0524, 0x0529, 0x052B


def events_of(buffer):
    """Yield the hook id and the bytes, with padding, of each event with a PERFINFO header."""
    at = HEADER
    saved, = struct.unpack_from("<I", buffer, 4)
    while at < saved:
        size, hook = struct.unpack_from("<HH", buffer, at + 4)
        end = at + (size + 7 & ~7)
        yield hook, buffer[at:end]
        at = end


def kind_of(hook, event):
    """Return the kind of an event. Spin locks differ by mode and by whether they waited, resources
    by action.
    """
    data = event[0x10:]
    if hook == SPIN_LOCK:
        return hook, data[0x32], struct.unpack_from("<I", data, 0x20)[0] > 0
    if hook == RESOURCE:
        return hook, struct.unpack_from("<I", data, 0x28)
    return (hook,)


def chosen(buffers, most):
    """Return, for each processor, the time of its last buffer and its chosen events."""
    counts, processors = {}, {}
    for buffer in buffers:
        time, = struct.unpack_from("<q", buffer, 0x10)
        cpu, = struct.unpack_from("<H", buffer, 0x28)
        kept = processors.setdefault(cpu, [0, []])
        kept[0] = max(kept[0], time)
        with_stack = False
        for hook, event in events_of(buffer):
            if hook == STACK:
                take = with_stack
            else:
                kind = cpu, *kind_of(hook, event)
                counts[kind] = counts.get(kind, 0) + 1
                # All events with parameters are taken, at the start and at the end.
                take = with_stack = hook not in (SWAP, SPIN_LOCK, RESOURCE) or counts[kind] <= most
            if take:
                kept[1].append(event)
    return processors


def main():
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with open(sys.argv[1], "rb") as stream:
        data = stream.read()
    old, = struct.unpack_from("<I", data, 0)
    first, *buffers = [bytearray(data[at:at + old]) for at in range(0, len(data), old)]
    made = []
    for cpu, (time, events) in sorted(chosen(buffers, most).items()):
        while events:
            body = b""
            while events and HEADER + len(body) + len(events[0]) <= SIZE:
                body += events.pop(0)
            head = bytearray(buffers[0][:HEADER])
            end = HEADER + len(body)
            struct.pack_into("<III", head, 0, SIZE, end, end)
            struct.pack_into("<qq", head, 0x10, time, len(made) + 1)
            struct.pack_into("<H", head, 0x28, cpu)
            struct.pack_into("<IH", head, 0x30, end, 0x20)
            made.append((bytes(head) + body).ljust(SIZE, b"\xff"))
    made[-1] = made[-1][:0x34] + b"\x21" + made[-1][0x35:]
    # Set the size in the header of the first buffer, and in TRACE_LOGFILE_HEADER, which begins at
    # 0x48 + 0x20.
    struct.pack_into("<I", first, 0, SIZE)
    struct.pack_into("<I", first, 0x68, SIZE)
    struct.pack_into("<I", first, 0x68 + 0x24, len(made) + 1)
    with open(sys.argv[2], "wb") as stream:
        stream.write(bytes(first[:SIZE]) + b"".join(made))


main()
