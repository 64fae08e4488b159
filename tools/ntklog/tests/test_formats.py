#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog dump's text, JSON and CSV, byte for byte, as Python's own means write the same events."""

import csv
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import etl_writer as etl
import tap

NTKLOG = sys.argv[1]

MODES = {0: "ordinary", 1: "queued", 2: "executive_shared", 3: "executive_exclusive",
         4: "executive_converted"}
ACTIONS = {0x10022: "release_exclusive", 0x10042: "release_shared",
           0x10024: "wait_for_exclusive", 0x10224: "wait_excessive_for_exclusive",
           0x10044: "wait_for_shared", 0x10244: "wait_excessive_for_shared",
           0x80010022: "mutex_release_exclusive", 0x80060022: "ww_mutex_release_exclusive",
           0x80050244: "percpu_rwsem_wait_excessive_for_shared"}
STATES = {0: "initialized", 1: "ready", 2: "running", 5: "waiting",
          9: "waiting_for_process_in_swap"}
REASONS = {0: "executive", 6: "user_request", 27: "wr_resource", 41: "wr_mdl_cache"}
WAIT_MODES = {0: "kernel", 1: "user"}
ADJUST_REASONS = {0: "none", 1: "unwait", 2: "boost"}

LOCK, CALLER, HEAP = 0xFFFFFFFF82000000, 0xFFFFFFFF81000000, 0xFFFF888000000000
SYMBOLS = {LOCK: "a_lock", LOCK + 0x40: "another", CALLER: "caller", CALLER + 0x1000: "in_module"}
MODULES = {CALLER + 0x1000: '[a,b"c]'}
THREADS = {1: "plain", 2: "with space", 3: 'quote " and, comma', 4: "back\\slash", 5: "tab\there",
           6: "caf\u00e9", 7: "x" * 254 + "\u00e9", 4294967295: "last"}
NAMES = "".join("%x T %s%s\n" % (address, name, "\t" + MODULES[address] if address in MODULES else "")
                for address, name in SYMBOLS.items()) + \
    "".join("thread %d %s\n" % item for item in THREADS.items())

# Late enough for the longest wait of a spin lock
LATE = etl.START_CLOCK + 2 ** 33

HEAD = ["Time", "Cpu", "Event", "HookId", "Version", "Size", "HeaderType", "Provider", "Id",
        "Opcode", "Level", "ProcessId"]


class Text(str):
    """A value that is text in JSON, too."""


class Address(Text):
    """An address, which is followed by the name of its symbol where there is one."""


class Thread(int):
    """The id of a thread, which is followed by the thread's name where there is one."""


def address_text(value):
    return Address("0x%x" % value)


def symbol_text(names, value):
    return Text(names.get(value, value))


def boundary_numbers(bits):
    """Numbers around those at which the length of the printed text changes."""
    edges = {0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1}
    edges |= {10 ** i + j for i in range(20) for j in (-1, 0, 1)}
    edges |= {16 ** i + j for i in range(16) for j in (-1, 0, 1)}
    return sorted(value for value in edges if value < 2 ** bits)


def name_of_address(value):
    found = [base for base in SYMBOLS if base <= value and value - base < 0x10000]
    if not found:
        return None
    base = max(found)
    return SYMBOLS[base] + ("+0x%x" % (value - base) if value > base else "") + \
        (" " + MODULES[base] if base in MODULES else "")


def name_of_thread(value):
    name = THREADS.get(value)
    # A name has at most 255 bytes and is cut before a character that does not fit whole.
    return name and name.encode()[:255].decode(errors="replace").replace("\ufffd", "?")


class Made:
    """Events, and for each what is expected: (hook id, version, name, size, fields)."""

    def __init__(self, bits=64):
        self.bits = bits
        self.random = random.Random(bits)
        self.events = []
        self.expected = []

    def add_event(self, hook_id, version, name, data, fields):
        time = LATE + len(self.events)
        self.events.append(etl.perfinfo(hook_id, data, version, self.bits, time))
        self.expected.append((hook_id, version, name, 0x10 + len(data), fields))

    def choose_pointer(self, choices):
        return self.random.choice(choices) & (2 ** self.bits - 1)

    def add_spin_lock(self, time, word, thread, byte):
        lock = self.choose_pointer([LOCK, LOCK + 8, LOCK + 0x45, HEAP + 64, time])
        caller = self.choose_pointer([CALLER + 0x123, CALLER + 0x1010, word])
        self.add_event(0x0529, 2, "SpinLock", struct.pack(
            "<" + ("QQ" if self.bits == 64 else "II") + "QQIIIIBBB5x", lock, caller, time, time, word, word,
            thread, word, byte, byte, byte), {
                "SpinLockAddress": address_text(lock), "CallerAddress": address_text(caller),
                "AcquireTime": time, "ReleaseTime": time, "HoldTime": 0,
                "WaitTimeInCycles": word,
                "SpinCount": word, "ThreadId": Thread(thread), "InterruptCount": word,
                "Irql": byte, "AcquireDepth": byte, "AcquireMode": symbol_text(MODES, byte & 0x3F),
                "ExecuteDpc": byte >> 6 & 1, "ExecuteIsr": byte >> 7, "Rule": "nt"})

    def add_resource(self, time, word, thread):
        resource = self.choose_pointer([LOCK, HEAP, time])
        # The tool leaves out a release, or an excessive wait, whose wait and hold, here 2 * time,
        # began before the clock.
        action = self.random.choice([action for action in [*ACTIONS, word] if 2 * time < LATE or
                                     not re.search("release|excessive", ACTIONS.get(action, ""))])
        head = struct.pack("<QQQII", time, time, time, word, thread)
        tail = struct.pack("<QII" if self.bits == 64 else "<III4x", resource, action, word)
        self.add_event(0x052B, 2, "Resource", head + tail, {
            "AcquireTime": time, "HoldTime": time, "WaitTime": time, "MaxRecursionDepth": word,
            "ThreadId": Thread(thread), "Resource": address_text(resource),
            "Action": symbol_text(ACTIONS if action in ACTIONS else {}, action),
            "ContentionDelta": word})

    def add_context_swap(self, version, word, thread, byte):
        signed = byte - 256 if byte > 127 else byte
        state = self.random.choice(list(STATES) + [byte | 64])
        reason = self.random.choice(list(REASONS) + [byte | 64])
        flags = byte & 1 if version < 3 else byte
        fields = {"NewThreadId": Thread(thread), "OldThreadId": Thread(word), "NewThreadPriority": signed,
                  "OldThreadPriority": signed}
        head = struct.pack("<IIBBBBBBBB", thread, word, byte, byte, byte, byte, reason, flags, state, byte)
        if version == 1:
            fields.update({"NewThreadQuantum": signed, "OldThreadQuantum": signed})
        else:
            fields.update({"PreviousCState": byte, "SpareByte": signed})
        fields["OldThreadWaitReason"] = symbol_text(REASONS, reason)
        fields["OldThreadWaitMode"] = symbol_text(WAIT_MODES, flags & 1)
        if version == 3:
            fields.update({"OldThreadBamEppImportant": flags >> 1 & 1,
                           "NewThreadBamEppImportant": flags >> 2 & 1})
        if version == 4:
            fields.update({"OldThreadBamQosLevel": flags >> 1 & 7,
                           "NewThreadBamQosLevel": flags >> 4 & 7})
        fields["OldThreadState"] = symbol_text(STATES, state)
        fields["OldThreadIdealProcessor"] = byte
        if version > 1:
            fields.update({"NewThreadWaitTime": word, "OldThreadRemainingQuantum":
                           word - 2 ** 32 if word >= 2 ** 31 else word})
            head += struct.pack("<II", word, word)
        self.add_event(0x0524, version, "ContextSwap", head, fields)

    def add_ready_thread(self, thread, byte):
        reason = self.random.choice(list(ADJUST_REASONS) + [byte | 64])
        self.add_event(0x0532, 2, "ReadyThread", struct.pack("<IBBBx", thread, reason, byte, byte),
                       {
            "ThreadId": Thread(thread), "AdjustReason": symbol_text(ADJUST_REASONS, reason),
            "AdjustIncrement": byte - 256 if byte > 127 else byte, "ExecutingDpc": byte & 1,
            "KernelStackNotResident": byte >> 1 & 1, "ProcessOutOfMemory": byte >> 2 & 1,
            "DirectSwitchAttempt": byte >> 3 & 1})

    def add_rundowns(self, word):
        self.add_event(0x0F4B, 3, "SpinLockDCStart", struct.pack("<IIII", *4 * (word,)), {
            "SpinThreshold": word, "ContentionSampleRate": word, "AcquireSampleRate": word,
            "HoldThreshold": word})
        self.add_event(0x0F4E, 2, "ResourceDCEnd", struct.pack("<III", *3 * (word,)), {
            "ReleaseSamplingRate": word, "ContentionSamplingRate": word,
            "NumberOfExcessiveTimeouts": word})

    def add_all(self):
        words = boundary_numbers(32)
        for number, time in enumerate(boundary_numbers(64)):
            word = words[number % len(words)]
            thread = self.random.choice(list(THREADS) + [0, word])
            byte = number % 128 if number % 2 else 255 - number
            self.add_spin_lock(time, word, thread, byte & 0xFF)
            self.add_resource(time, word, thread)
            self.add_context_swap(1 + number % 4, word, thread, byte & 0xFF)
            self.add_ready_thread(thread, byte & 0xFF)
            self.add_rundowns(word)
        return self

    def lines(self):
        for number, expected in enumerate(self.expected):
            yield "%.9f" % ((LATE - etl.START_CLOCK + number) / etl.PERF_FREQ), *expected


def fields_with_names(fields, names):
    """Yield the fields, each followed by its name if it can have one, which may be None."""
    for name, value in fields.items():
        yield name, value, None
        if names and isinstance(value, Address):
            yield name + "Symbol", name_of_address(int(value, 16)), value
        elif names and isinstance(value, Thread):
            yield name[:-2] + "Name", name_of_thread(value), value


def duration_text(cycles):
    """A duration with three decimals in the unit that makes it less than 1000."""
    ns = cycles * (1e9 / etl.PERF_FREQ)
    if ns < 999.5:
        return "%dns" % (ns + .5)
    for unit, size in ("us", 1e3), ("ms", 1e6), ("s", 1e9):
        thousandths = int(ns / size * 1000 + .5)
        if thousandths < 1000000 or unit == "s":
            return "%d.%03d%s" % (*divmod(min(thousandths, 2 ** 64 - 1), 1000), unit)


DURATIONS = ("HoldTime", "WaitTime", "WaitTimeInCycles", "HoldThreshold")


def is_no_duration(name, value, fields):
    """WaitTime is a clock in an excessive wait, and 1 where it is not known."""
    return name == "WaitTime" and (value == 1 or "excessive" in str(fields["Action"]))


def text_lines(made, names):
    for time, _, _, event, _, fields in made.lines():
        line = "%14s cpu0 %s" % (time, event)
        for name, value, named in fields_with_names(fields, names):
            if value is None:
                continue
            if name in DURATIONS and not is_no_duration(name, value, fields):
                value = duration_text(value)
                name = name.removesuffix("InCycles")
            if named is not None:
                value = value.replace(" ", "_").replace("\t", "_")
            line += " %s=%s" % (name, value)
        yield line + "\n"


def json_lines(made, names):
    for time, _, _, event, _, fields in made.lines():
        line = '{"Time":%s,"Cpu":0,"Event":"%s"' % (time.rstrip("0") + "0" * time.endswith(".000000000"),
                                                    event)
        for name, value, _ in fields_with_names(fields, names):
            if value is None:
                continue
            if not isinstance(value, str) and value >= 2 ** 63:
                value = str(value)
            line += ',"%s":%s' % (name, json.dumps(value, ensure_ascii=False))
        yield line + "}\n"


def csv_lines(made, names, header):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for time, hook_id, version, event, size, fields in made.lines():
        row = dict(zip(HEAD, (time, 0, event, "0x%04x" % hook_id, version, size,
                              "0x11" if made.bits == 64 else "0x10")))
        row.update((name, value) for name, value, _ in fields_with_names(fields, names)
                   if value is not None)
        assert set(row) <= set(header)
        writer.writerow([row.get(name, "") for name in header])
    return stream.getvalue().splitlines(keepends=True)


class Formats(unittest.TestCase):
    def check_formats(self, bits, names):
        made = Made(bits).add_all()
        # All buffers are of one processor, with 20 events each.
        parts = [made.events[at:at + 20] for at in range(0, len(made.events), 20)]
        data = etl.header_buffer(len(parts) + 1, bits=bits) + b"".join(
            etl.buffer(part, sequence=number + 1, time_stamp=2 * LATE) for number, part in enumerate(parts))
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.etl")
            with open(path, "wb") as stream:
                stream.write(data)
            if names:
                with open(path + ".names", "w", encoding="utf-8") as stream:
                    stream.write(NAMES)
            outputs = {option: subprocess.run([NTKLOG, "dump", *option, path], check=True,
                                              stdout=subprocess.PIPE, timeout=600).stdout.decode()
                       .splitlines(keepends=True) for option in ((), ("--json",), ("--csv",))}
        # The events of the file's header are not compared.
        header = outputs["--csv",].pop(0).rstrip("\n").split(",")
        for option, expected in (((), text_lines(made, names)),
                                 (("--json",), json_lines(made, names)),
                                 (("--csv",), csv_lines(made, names, header))):
            self.maxDiff = 2000
            for line, wanted in zip(outputs[option][3:], expected):
                self.assertEqual(line, wanted, option)
            self.assertEqual(len(outputs[option]) - 3, len(made.events))

    def test_all_types_of_a_64_bit_trace_are_printed(self):
        self.check_formats(64, False)

    def test_all_types_of_a_64_bit_trace_are_printed_with_names(self):
        self.check_formats(64, True)

    def test_all_types_of_a_32_bit_trace_are_printed(self):
        self.check_formats(32, False)

    def test_all_types_of_a_32_bit_trace_are_printed_with_names(self):
        self.check_formats(32, True)


if __name__ == "__main__":
    tap.main()
