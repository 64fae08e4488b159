#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the inputs with which fuzzing begins: small files with many kinds of events.

Usage: make_corpus.py DIRECTORY
"""

import os
import sys

import etl_writer as etl

# Small buffers make headers and events a greater part of each file.
etl.SIZE = 0x400


def corpus_files():
    locks = [etl.spinlock_rundown(), etl.perfinfo(0x0529, etl.spin_lock()),
             etl.perfinfo(0x0529, etl.spin_lock(spins=0))]
    others = [etl.resource_rundown(), etl.perfinfo(0x052B, etl.resource_data()),
              etl.perfinfo(0x0524, etl.context_swap_data(), 4),
              etl.perfinfo(0x0524, etl.context_swap_data(1), 1),
              etl.perfinfo(0x0532, etl.ready_thread_data()),
              etl.linux_lock_event("mutex"), etl.linux_lock_event("rwsem", 0x244),
              etl.perfinfo(0x052B, etl.resource_data(action=0x80990022))]
    header = etl.header_buffer(3)
    yield header + etl.buffer(locks) + etl.buffer(others, processor=1, sequence=2)
    yield header + etl.buffer(others) + etl.buffer(locks, processor=1, sequence=2, kind=2)
    yield header + etl.buffer([etl.perfinfo(0x0529, bytes(24) + etl.spin_lock(), extended=0x82),
                           etl.perfinfo(0x1234, bytes(7))])
    yield header + etl.buffer([bytes((0x58, 0, kind, 0xC0)).ljust(0x58, b"\1")
                           for kind in (0x0A, 0x12, 0x13, 0x14, 0x15)])
    yield etl.header_buffer(2, bits=32) + \
        etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(32), bits=32),
                etl.perfinfo(0x052B, etl.resource_data(32), bits=32)])


    # Stacks, in full and by keys, with and without their events.
    time = etl.START_CLOCK + etl.PERF_FREQ
    for bits in 32, 64:
        lock = etl.perfinfo(0x0529, etl.spin_lock(bits), bits=bits)
        yield etl.header_buffer(3, bits=bits) + \
            etl.buffer([etl.stacks_rundown(7), lock,
                        etl.stack_event(time, [0x81234567, 0x80000001], bits=bits), lock,
                        etl.stack_event(time + 9, [1], bits=bits)]) + \
            etl.buffer([etl.stack_definition_event(1, [0x81234567, 3], bits=bits), lock,
                        etl.stack_event(time, [1], bits=bits, hook_id=0x1825),
                        etl.stack_event(time, [2], bits=bits, hook_id=0x1826),
                        etl.stack_definition_event(2, [5], bits=bits, hook_id=0x1824),
                        etl.stacks_rundown(0, end=True)], processor=1, sequence=2)

    for bits in 32, 64:
        base = 0x82000000 if bits == 32 else 0xFFFFF80012345000
        lock = etl.perfinfo(0x0529, etl.spin_lock(bits, base + 8), bits=bits)
        for version in range(5):
            yield etl.header_buffer(2, bits=bits) + \
                etl.buffer([etl.process_event(8, "a b.exe", version, bits),
                            etl.thread_event(55, 8, version, bits, name="w"),
                            etl.thread_event(55, 8, bits=bits, set_name=True, name="w"),
                            etl.image_event(base, 0x1000, "\\x\\a.sys", min(version, 3), bits),
                            etl.image_id_event(base, 0x1000, "b.sys", bits), lock])


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    names = b"ffffffff81234000 T caller\t[driver]\nthread 55 worker\n"
    inputs = [b"\x7fSpinCount > 3 && !(Action == release_shared || Time < 1.5)",
              b"\x7fkind == ww_mutex || kind ~ x && kind != 0x80990000",
              b'\x7fCallerAddress ~ "x" && Event != SpinLock']
    for data in corpus_files():
        inputs += [bytes((choice | pipe,)) + data for choice in range(4) for pipe in (0, 0x40)]
        inputs.append(b"\x80" + names + data)
    found = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
    for name in sorted(os.listdir(found)):
        with open(os.path.join(found, name), "rb") as stream:
            inputs.append(stream.read())
    for number, data in enumerate(inputs):
        with open(os.path.join(directory, "%03d" % number), "wb") as stream:
            stream.write(data)


if __name__ == "__main__":
    main()
