#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut a recording of ntklog down to a sample in buffers of 4096 bytes.

Usage: make-sample.py RECORDING SAMPLE [EVENTS_OF_A_KIND]

The script writes new buffer headers, and the new size and number of buffers into
TRACE_LOGFILE_HEADER.
"""

import struct
import sys

BUFFER_SIZE = 4096
HEADER_SIZE = 0x48
STACK = 0x1820
SWAP, SPIN_LOCK, RESOURCE = 0x0524, 0x0529, 0x052B


def events_of(buffer):
    at = HEADER_SIZE
    saved, = struct.unpack_from("<I", buffer, 4)
    while at < saved:
        size, hook = struct.unpack_from("<HH", buffer, at + 4)
        end = at + (size + 7 & ~7)
        yield hook, buffer[at:end]
        at = end


def kind_of(hook, event):
    """Spin locks differ by mode and by whether they waited, resources by action."""
    data = event[0x10:]
    if hook == SPIN_LOCK:
        return hook, data[0x32], struct.unpack_from("<I", data, 0x20)[0] > 0
    if hook == RESOURCE:
        return hook, struct.unpack_from("<I", data, 0x28)
    return (hook,)


def choose_events(buffers, most_of_kind):
    """Return {processor: [time of its last buffer, chosen events]}."""
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
                # Take all events of other hooks.
                take = with_stack = hook not in (SWAP, SPIN_LOCK, RESOURCE) or \
                    counts[kind] <= most_of_kind
            if take:
                kept[1].append(event)
    return processors


def main():
    most_of_kind = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with open(sys.argv[1], "rb") as stream:
        data = stream.read()
    old_size, = struct.unpack_from("<I", data, 0)
    first, *buffers = [bytearray(data[at:at + old_size])
                       for at in range(0, len(data), old_size)]
    new_buffers = []
    for cpu, (time, events) in sorted(choose_events(buffers, most_of_kind).items()):
        while events:
            body = b""
            while events and HEADER_SIZE + len(body) + len(events[0]) <= BUFFER_SIZE:
                body += events.pop(0)
            head = bytearray(buffers[0][:HEADER_SIZE])
            end = HEADER_SIZE + len(body)
            struct.pack_into("<III", head, 0, BUFFER_SIZE, end, end)
            struct.pack_into("<qq", head, 0x10, time, len(new_buffers) + 1)
            struct.pack_into("<H", head, 0x28, cpu)
            struct.pack_into("<IH", head, 0x30, end, 0x20)
            new_buffers.append((bytes(head) + body).ljust(BUFFER_SIZE, b"\xff"))
    new_buffers[-1] = new_buffers[-1][:0x34] + b"\x21" + new_buffers[-1][0x35:]
    # TRACE_LOGFILE_HEADER begins at 0x48 + 0x20.
    struct.pack_into("<I", first, 0, BUFFER_SIZE)
    struct.pack_into("<I", first, 0x68, BUFFER_SIZE)
    struct.pack_into("<I", first, 0x68 + 0x24, len(new_buffers) + 1)
    with open(sys.argv[2], "wb") as stream:
        stream.write(bytes(first[:BUFFER_SIZE]) + b"".join(new_buffers))


main()
