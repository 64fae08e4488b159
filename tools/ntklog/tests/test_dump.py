#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog dump, from the outside: what it prints for which file.

Usage: test_dump.py NTKLOG
"""

import csv
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid

import etl_writer as etl
import tap

NTKLOG = sys.argv[1]


def run(*arguments):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=60)


def run_on(command, data, *options):
    with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
        stream.write(data)
        stream.flush()
        return run(command, *options, stream.name)


def dump(data, *options):
    result = run_on("dump", data, *options)
    lines = [line.split(maxsplit=3) for line in result.stdout.splitlines()]
    return result, lines


def fields(line):
    return dict(field.split("=") for field in line[3].split())


class Known(unittest.TestCase):
    def check_spin_lock(self, bits, **changes):
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(bits), bits=bits), bits=bits,
                        **changes)
        result, lines = dump(data)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[3][:3], ["1.000000000", "cpu0", "SpinLock"])
        wide = bits == 64
        self.assertEqual(fields(lines[3]), {
            "SpinLockAddress": "0xffff888012345678" if wide else "0x12345678",
            "CallerAddress": "0xffffffff81234567" if wide else "0x81234567",
            "AcquireTime": "1001", "ReleaseTime": "2002", "WaitTimeInCycles": "303",
            "SpinCount": "44", "ThreadId": "55", "InterruptCount": "6", "Irql": "2",
            "AcquireDepth": "7", "AcquireMode": "queued", "ExecuteDpc": "1",
            "ExecuteIsr": "0"})

    def test_spin_lock_of_64_bits(self):
        self.check_spin_lock(64)

    def test_spin_lock_of_32_bits(self):
        self.check_spin_lock(32)

    def test_32_bit_header_without_padding_before_boot_time(self):
        self.check_spin_lock(32, padding=False)

    def test_modes_and_contexts(self):
        names = ["ordinary", "queued", "executive_shared", "executive_exclusive",
                 "executive_converted", "5"]
        events = [etl.perfinfo(0x0529, etl.spin_lock(flags=mode | 0x80))
                  for mode in range(6)]
        _, lines = dump(etl.file(*events))
        self.assertEqual([fields(line)["AcquireMode"] for line in lines[3:]], names)
        self.assertEqual({fields(line)["ExecuteIsr"] for line in lines[3:]}, {"1"})
        self.assertEqual({fields(line)["ExecuteDpc"] for line in lines[3:]}, {"0"})

    def check_resource(self, bits, address):
        event = etl.perfinfo(0x052B, etl.resource(bits), bits=bits)
        result, lines = dump(etl.file(event, bits=bits))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines[3][2], "Resource")
        self.assertEqual(fields(lines[3]), {
            "AcquireTime": "1001", "HoldTime": "202", "WaitTime": "303",
            "MaxRecursionDepth": "44", "ThreadId": "55", "Resource": address,
            "Action": "release_exclusive", "ContentionDelta": "66"})

    def test_resource_of_64_bits(self):
        self.check_resource(64, "0xffff888012345678")

    def test_resource_of_32_bits(self):
        self.check_resource(32, "0x12345678")

    def test_actions(self):
        names = {0x10008: "initialize", 0x10018: "reinitialize",
                 0x10021: "acquire_exclusive", 0x10022: "release_exclusive",
                 0x10024: "wait_for_exclusive", 0x10031: "reacquire_exclusive",
                 0x10032: "release_reacquired_exclusive", 0x10041: "acquire_shared",
                 0x10042: "release_shared", 0x10044: "wait_for_shared",
                 0x10051: "reacquire_shared", 0x10052: "release_reacquired_shared",
                 0x10120: "owner_pointer_exclusive", 0x10140: "owner_pointer_shared",
                 0x10224: "wait_excessive_for_exclusive",
                 0x10244: "wait_excessive_for_shared", 0x20001: "131073"}
        _, lines = dump(etl.file(*(etl.perfinfo(0x052B, etl.resource(action=action))
                                   for action in names)))
        self.assertEqual([fields(line)["Action"] for line in lines[3:]],
                         list(names.values()))

    def test_context_swaps_in_all_versions(self):
        common = {"NewThreadId": "11", "OldThreadId": "22", "NewThreadPriority": "8",
                  "OldThreadPriority": "-1", "OldThreadWaitReason": "user_request",
                  "OldThreadWaitMode": "user", "OldThreadState": "waiting",
                  "OldThreadIdealProcessor": "7"}
        later = {"PreviousCState": "3", "SpareByte": "0", "NewThreadWaitTime": "99",
                 "OldThreadRemainingQuantum": "-123456"}
        own = {1: {"NewThreadQuantum": "3", "OldThreadQuantum": "0"}, 2: later,
               3: {**later, "OldThreadBamEppImportant": "0", "NewThreadBamEppImportant": "1"},
               4: {**later, "OldThreadBamQosLevel": "4", "NewThreadBamQosLevel": "3"}}
        for version in own:
            flags = {1: 1, 2: 1, 3: 0x05, 4: 0x39}[version]
            for bits in 32, 64:
                event = etl.perfinfo(0x0524, etl.context_swap(version, flags), version, bits)
                result, lines = dump(etl.file(event, bits=bits))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(lines[3][2], "ContextSwap")
                self.assertEqual(fields(lines[3]), {**common, **own[version]})

    def test_rundown_events(self):
        spin = struct.pack("<IIII", 1, 2, 3000, 4000000)
        resource = struct.pack("<III", 1000, 1, 5)
        _, lines = dump(etl.file(etl.perfinfo(0x0F4B, spin, version=3),
                                 etl.perfinfo(0x0F4C, spin, version=3),
                                 etl.perfinfo(0x0F4D, resource),
                                 etl.perfinfo(0x0F4E, resource)))
        self.assertEqual([line[2] for line in lines[3:]],
                         ["SpinLockDCStart", "SpinLockDCEnd",
                          "ResourceDCStart", "ResourceDCEnd"])
        for line in lines[3:5]:
            self.assertEqual(fields(line), {
                "SpinThreshold": "1", "ContentionSampleRate": "2",
                "AcquireSampleRate": "3000", "HoldThreshold": "4000000"})
        for line in lines[5:]:
            self.assertEqual(fields(line), {
                "ReleaseSamplingRate": "1000", "ContentionSamplingRate": "1",
                "NumberOfExcessiveTimeouts": "5"})

    def test_extended_items_are_stepped_over(self):
        # Two counters and a PEBS index stand before the data.
        event = etl.perfinfo(0x0529, bytes(24) + etl.spin_lock(), extended=0x82)
        _, lines = dump(etl.file(event))
        self.assertEqual(fields(lines[3])["AcquireTime"], "1001")


    def test_extended_items_are_shown(self):
        event = etl.perfinfo(0x0529, struct.pack("<QQQ", 7, 8, 9) + etl.spin_lock(),
                             extended=0x82)
        _, lines = dump(etl.file(event))
        shown = fields(lines[3])
        self.assertEqual((shown["Pmc0"], shown["Pmc1"], shown["PebsIndex"]), ("7", "8", "9"))

    def test_numbers_that_json_readers_have_not(self):
        """Exact all the same: as text, in JSON alone."""
        most, more = 2 ** 63 - 1, 2 ** 63
        for value in most, more, 2 ** 64 - 1:
            shown = value if value <= most else str(value)
            event = etl.perfinfo(0x0529, struct.pack("<QQ", value, value) + etl.spin_lock(),
                                 extended=0x81, time_stamp=value)
            unknown = etl.perfinfo(0x1234, struct.pack("<QQ", value, value), extended=0x81,
                                   time_stamp=value)
            data = bytearray(etl.file(event, unknown))
            # Without a start that is as late, and buffers, the time cannot be.
            for start in 0, value - 5:
                for at in (0x10, 0x48 + 0x10, etl.SIZE + 0x10) if start else ():
                    struct.pack_into("<Q", data, at, start)
                result = run_on("dump", bytes(data), "--json", "--cycles")
                for line in result.stdout.splitlines()[3:]:
                    found = json.loads(line)
                    time = "TimeStamp" if start else "WrongTimeStamp"
                    self.assertEqual((found["Pmc0"], found["PebsIndex"], found[time]),
                                     (shown, shown, shown))
                self.assertEqual(len(result.stdout.splitlines()), 5)
                text = run_on("dump", bytes(data), "--cycles").stdout
                self.assertIn(" Pmc0=%d PebsIndex=%d %s=%d\n" % (value, value, time, value), text)


class Output(unittest.TestCase):
    EVENTS = [etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + 10),
              etl.perfinfo(0x052B, etl.resource(), time_stamp=etl.START_CLOCK + 20),
              etl.perfinfo(0x1234, bytes(13), version=7, time_stamp=etl.START_CLOCK + 30)]
    NAMES = ("ffff888012345600 b the_lock\t[driver]\n"
             "ffffffff81234000 T caller\nffffffff81234567 t exactly\n"
             "ffffffff81234568 T after\nthread 55 worker/0:1\n")

    def with_names(self, *options, names=NAMES):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.etl")
            with open(path, "wb") as stream:
                stream.write(etl.file(*self.EVENTS))
            with open(path + ".names", "w") as stream:
                stream.write(names)
            return run("dump", *options, path)

    def test_cycles_on_demand(self):
        _, lines = dump(etl.file(*self.EVENTS), "--cycles")
        self.assertEqual([fields(line)["TimeStamp"] for line in lines[3:]],
                         ["1000010", "1000020", "1000030"])

    def test_processors_are_merged_by_time(self):
        def event(time):
            return etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + time)
        data = etl.header_buffer(5) + \
            etl.buffer([event(1), event(4)], processor=1) + \
            etl.buffer([event(2), event(3)], processor=0, sequence=2) + \
            etl.buffer([event(7)], processor=1, sequence=3) + \
            etl.buffer([event(5), event(6)], processor=0, sequence=4)
        result, lines = dump(data, "--cycles")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([int(fields(line)["TimeStamp"]) - etl.START_CLOCK
                          for line in lines[3:]], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual([line[1] for line in lines[3:6]], ["cpu1", "cpu0", "cpu0"])

    def test_json(self):
        result = self.with_names("--json", "--cycles")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line) for line in result.stdout.splitlines()][3:]
        self.assertEqual(events[0], {
            "Time": 5e-6, "Cpu": 0, "Event": "SpinLock",
            "SpinLockAddress": "0xffff888012345678",
            "SpinLockAddressSymbol": "the_lock+0x78 [driver]",
            "CallerAddress": "0xffffffff81234567", "CallerAddressSymbol": "exactly",
            "AcquireTime": 1001, "ReleaseTime": 2002, "WaitTimeInCycles": 303,
            "SpinCount": 44, "ThreadId": 55, "ThreadName": "worker/0:1", "InterruptCount": 6,
            "Irql": 2, "AcquireDepth": 7, "AcquireMode": "queued", "ExecuteDpc": 1,
            "ExecuteIsr": 0, "TimeStamp": 1000010})
        self.assertEqual(events[1]["Action"], "release_exclusive")
        self.assertEqual(events[2], {"Time": 1.5e-5, "Cpu": 0, "Event": "Event",
                                     "HookId": 0x1234, "Version": 7, "Size": 29,
                                     "TimeStamp": 1000030})

    def test_csv(self):
        result = self.with_names("--csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))[3:]
        self.assertEqual(rows[0]["CallerAddressSymbol"], "exactly")
        self.assertEqual(rows[0]["SpinCount"], "44")
        self.assertEqual(rows[0]["Action"], "")
        self.assertEqual(rows[1]["Action"], "release_exclusive")
        self.assertEqual(rows[1]["ResourceSymbol"], "the_lock+0x78 [driver]")
        self.assertEqual(rows[1]["AcquireTime"], "1001")
        self.assertEqual((rows[2]["Event"], rows[2]["HookId"]), ("Event", "0x1234"))
        self.assertEqual({None in row for row in rows}, {False})

    def test_text_has_symbols(self):
        line = self.with_names().stdout.splitlines()[3]
        self.assertIn(" SpinLockAddress=0xffff888012345678 "
                      "SpinLockAddressSymbol=the_lock+0x78 CallerAddress=", line)

    def test_names_of_threads(self):
        names = self.NAMES + "thread 11 a name\n"
        line = self.with_names(names=names).stdout.splitlines()[3]
        self.assertIn(" ThreadId=55 ThreadName=worker/0:1 ", line)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.etl")
            with open(path, "wb") as stream:
                stream.write(etl.file(etl.perfinfo(0x0524, etl.context_swap(), 4)))
            with open(path + ".names", "w") as stream:
                stream.write(names)
            text = run("dump", path).stdout.splitlines()[3]
            self.assertIn(" NewThreadId=11 NewThreadName=a_name OldThreadId=22 New", text)
            row = list(csv.DictReader(io.StringIO(run("dump", "--csv", path).stdout)))[3]
            self.assertEqual((row["NewThreadName"], row["OldThreadName"]), ("a name", ""))

    def test_symbols_end_with_their_module(self):
        names = "ffff888012345600 b far\t[driver]\nffffffff80000000 T caller\n"
        line = self.with_names(names=names).stdout.splitlines()[3]
        self.assertIn("far+0x78", line)
        self.assertNotIn("caller", line)

    def test_symbols_do_not_reach_over_what_is_between(self):
        """Per-CPU variables are offsets, the kernel is far above."""
        names = "000000000002d000 A __per_cpu_end\nffffffffff000000 T _text\n"
        line = self.with_names(names=names).stdout.splitlines()[3]
        self.assertNotIn("Symbol", line)

    def test_bad_names(self):
        for names in ("nonsense\n", "thread x y\n", "ffffffff81234000 T\n"):
            result = self.with_names(names="ffffffff81234000 T good\n" + names)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("a.etl.names: line 2 is neither", result.stderr)

    def count(self, expression, expected):
        result = self.with_names("--filter", expression)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), expected, expression)

    def test_filters(self):
        for expression, expected in (
                ("Event == SpinLock", 1), ("Event != SpinLock", 5), ("Event ~ ource", 1),
                ("SpinCount >= 44", 1), ("SpinCount > 44", 0), ("spincount<45", 1),
                ("Action == release_exclusive", 1), ("Action == release_shared", 0),
                ("Action == 0x10022", 1), ("ThreadId == 55 && Event == Resource", 1),
                ("!(ThreadId == 55)", 4), ("HookId == 0x1234 || SpinCount == 44", 2),
                ("SpinLockAddress == 0xffff888012345678", 1),
                ("SpinLockAddress == 0xffff888012345679", 0),
                ("SpinLockAddress == the_lock", 1), ("CallerAddress ~ \"exact\"", 1),
                ("Time > 0.000006 && Time < 1", 2), ("Cpu == 0", 6), ("Cpu == 1", 0),
                ("Event == SpinLock || Event == Resource && ThreadId == 1", 1),
                # As they are printed.
                ("SpinLockAddress == the_lock+0x78", 1),
                ("SpinLockAddress == the_lock+0x77", 0),
                ("SpinLockAddress != the_lock+0x77", 1),
                ('SpinLockAddressSymbol == "the_lock+0x78 [driver]"', 1),
                ('SpinLockAddress == "the_lock [driver]"', 1),
                ('SpinLockAddress == "the_lock [other]"', 1 - 1),
                ("CallerAddressSymbol == exactly", 1), ("Version == 7", 1),
                ("TimeStamp == 1000010", 1), ("Size == 29", 1), ("HeaderType == 0x11", 3),
                ("Pmc0 == 1", 0), ("PebsIndex >= 0", 0), ("WrongTimeStamp > 0", 0),
                # What lasts, of 2 MHz: 1001, 202 cycles; 303, 303.
                ("hold > 500us", 1), ("hold > 101us", 1), ("hold >= 101us", 2),
                ("hold > 0.5ms", 1), ("hold < 1s", 2), ("wait == 151500ns", 2),
                ("HoldTime == 202", 1), ("HoldTime == 101us", 1),
                ("WaitTimeInCycles > 0.15ms", 1), ("WaitTimeInCycles > 304", 0),
                ("time > 6us && time < 1s", 2), ("time >= 0.00001", 2),
                ("lock == the_lock", 2), ("lock == 0xffff888012345678", 2),
                ("caller == exactly", 1), ("caller != exactly", 0), ("cpu == 0", 6),
                ("thread == 55", 2), ("thread == worker/0:1", 2), ("thread ~ WORKER", 2),
                ("thread != worker/0:1", 3), ("ThreadName == worker/0:1", 2),
                ("ProcessId == 22 && thread == 11", 3), ("ThreadId == 11", 3),
                ("Event == LogFileHeader", 1), ("Event ~ group", 1), ("action == RELEASE_EXCLUSIVE", 1)):
            with self.subTest(expression):
                self.count(expression, expected)

    def test_threads_of_context_switches(self):
        data = etl.file(*(etl.perfinfo(0x0524, etl.context_swap(new=new, old=old), 4)
                          for new, old in ((1, 2), (2, 3), (3, 1))))
        for expression, expected in (("thread == 1", 2), ("thread != 1", 1 + 3),
                                     ("thread == 4", 0), ("OldThreadPriority == -1", 3),
                                     ("OldThreadPriority < 0", 3),
                                     ("NewThreadPriority > -128", 3)):
            result, lines = dump(data, "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, expected), expression)

    def test_wrong_filters(self):
        for expression, words in (
                ("", "a field's name expected"), ("SpinCount", "==, !="),
                ("SpinCount ==", "a value expected"), ("(SpinCount == 1", ") expected"),
                ("SpinCount == 1 SpinCount", "&&, || or the end"),
                ("Cpu == 0 && Frobs == 1", "no event has a field Frobs (character 13)"),
                ("!" * 100 + "Cpu == 1", "less depth"), ("Event == \"x", "a value"),
                ("SpinCount == many", '"many" is no number: SpinCount wants a whole one '
                 '(character 14)'),
                ("SpinCount == 1.5", '"1.5" is no number'),
                ("SpinCount == 100us", '"100us" is no number'),
                ("SpinCount == 012x", '"012x" is no number'), ("SpinCount > -1", "is no number"),
                ("Irql == 256", "Irql is never 256 (character 9)"),
                ("ExecuteDpc == 2", "ExecuteDpc is never 2"),
                ("OldThreadPriority == 128", "OldThreadPriority is never 128"),
                ("SpinLockAddress == 0x1ffffffffffffffff", "is never"),
                ("Action == frobs", 'Action is never "frobs", but a number or initialize'),
                ("Event == Frobs", 'no event is called "Frobs" (character 10)'),
                ("Event < SpinLock", "Event has no order"),
                ("lock > the_lock", "names have no order"),
                ("hold > 5", '"5" is no time: hold wants ns, us, ms or s behind a number'),
                ("hold > 5 us", '"5" is no time'), ("hold > 5m", "is no time"),
                ("HoldTime > 5m", "wants cycles, or a time"),
                ("time > soon", '"soon" is no time'), ("time > nan", "is no time"),
                ("SpinCount ~ 1", "SpinCount is no text"),
                ("lock == the_lock+5x", '"5x" is no offset (character 18)')):
            with self.subTest(expression):
                result = run("dump", "--filter", expression, "/nonexistent")
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)

    def test_names_that_are_none(self):
        for expression, words in (
                ("Cpu == 0 || caller == frobs", 'no symbol is called "frobs" (character 23)'),
                ("thread == frobs", 'no thread is called "frobs"')):
            result = self.with_names("--filter", expression)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("ntklog: --filter: " + words, result.stderr)
            result = run_on("dump", etl.file(), "--filter", expression)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words + ("" if "(" in words else " (character 11)") +
                          ", there are no names", result.stderr)

    def test_from_and_to(self):
        for options, expected in (((), 6), (("--from", "10us"), 2), (("--to", "0.00001"), 5),
                                  (("--from", "6us", "--to", "11us"), 1),
                                  (("--from", "6us", "--filter", "Event == SpinLock"), 0)):
            self.assertEqual(len(self.with_names(*options).stdout.splitlines()), expected,
                             options)
        for option in "--from", "--to":
            result = run("dump", option, "5m", "x")
            self.assertEqual(result.returncode, 2)
            self.assertIn(option + ': "5m" is no time', result.stderr)

    def test_pipe(self):
        result = subprocess.run([NTKLOG, "dump", "-"], input=etl.file(*self.EVENTS),
                                capture_output=True)
        self.assertEqual(len(result.stdout.splitlines()), 6)


class Windows(unittest.TestCase):
    """What Windows' files have and ours have not."""

    def test_compressed_file(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x04000001)
        for state, name in ((3, " (Xpress)"), (4, " (Xpress Huffman)"), (2, " (LZNT1)"), (1, ""),
                            (0xFFFFFFFF, "")):
            struct.pack_into("<I", data, 0x2C, state)
            result, _ = dump(bytes(data))
            self.assertEqual(result.returncode, 1)
            self.assertIn("the buffers are compressed%s: record without" % name, result.stderr)
        # What the first buffer says is not compressed.
        result = run_on("info", bytes(data), "--json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("compressed", result.stderr)
        info = json.loads(result.stdout)
        self.assertEqual((info["Header"]["LogFileMode"], info["Header"]["LoggerName"],
                          info["Events"]), ("0x04000001 sequential compressed", "Logger", {}))

    def test_compressed_buffer(self):
        data = etl.header_buffer(2) + etl.buffer([], flags=0x60)
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (1, 3))
        self.assertIn("offset 0x1000: the buffers are compressed", result.stderr)

    def test_circular_files_have_fewer_buffers_than_were_written(self):
        data = bytearray(etl.header_buffer(700) + etl.buffer([etl.perfinfo(0x1234, b"")]))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 2)
        result, lines = dump(bytes(data))
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_circular_files_are_in_the_order_of_sequence_numbers(self):
        def event(time):
            return etl.perfinfo(0x1234, b"", time_stamp=etl.START_CLOCK + time)
        data = bytearray(etl.header_buffer(9) + etl.buffer([event(30)], sequence=7) +
                         etl.buffer([event(40)], sequence=8) +
                         etl.buffer([event(10)], sequence=5) +
                         etl.buffer([event(20)], sequence=6))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 2)
        _, lines = dump(bytes(data), "--cycles")
        self.assertEqual([int(fields(line)["TimeStamp"]) - etl.START_CLOCK
                          for line in lines[3:]], [10, 20, 30, 40])

    def test_preallocated_files_end_before_their_end(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")) + bytes(5 * etl.SIZE))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x21)
        result, lines = dump(bytes(data))
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_processors_of_before_windows_8(self):
        """One byte, and an alignment of 8 in the next; no flag of the index."""
        data = etl.header_buffer(2) + \
            etl.buffer([etl.perfinfo(0x1234, b"")], processor=0x0803, flags=0)
        _, lines = dump(data)
        self.assertEqual(lines[3][1], "cpu3")

    def test_system_time_is_a_clock_of_100_ns(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x110, 2)
        _, lines = dump(bytes(data))
        self.assertEqual(lines[3][0], "0.200000000")

    def test_buffers_that_hold_no_events(self):
        data = etl.header_buffer(3) + etl.buffer([b"\0" * 64], kind=2) + \
            etl.buffer([etl.perfinfo(0x1234, b"")], sequence=2)
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (0, 4))

    def test_all_trace_headers(self):
        """Each is stepped over by its own size."""
        kinds = {1: 0x20, 2: 0x20, 3: 0x18, 4: 0x18, 0x0A: 0x30, 0x0B: 0x38, 0x0C: 0x30,
                 0x0D: 8, 0x0E: 0x30, 0x10: 0x10, 0x11: 0x10, 0x12: 0x50,
                 0x13: 0x50, 0x14: 0x30, 0x15: 0x38}
        for kind, size in kinds.items():
            at = 4 if kind in (1, 2, 3, 4, 0x10, 0x11) else 0
            event = bytearray(size + 24)
            event[2:4] = bytes((kind, 0xC0))
            struct.pack_into("<H", event, at, len(event))
            with self.subTest(kind=kind):
                result, lines = dump(etl.file(bytes(event),
                                              etl.perfinfo(0x0529, etl.spin_lock())))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(len(lines), 5)
                self.assertEqual(lines[4][2], "SpinLock")


    def test_wpp_messages(self):
        """They have no time: it is that of the event before, or of the start."""
        spin = etl.perfinfo(0x0529, etl.spin_lock())
        data = etl.header_buffer(3) + etl.buffer([spin, etl.wpp(7, data=bytes(5)), spin]) + \
            etl.buffer([etl.wpp(9)], processor=1, sequence=2)
        result, lines = dump(data)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([(line[0], line[2]) for line in lines[3:]],
                         [("0.000000000", "WppMessage"), ("1.000000000", "SpinLock"),
                          ("1.000000000", "WppMessage"), ("1.000000000", "SpinLock")])
        self.assertEqual(fields(lines[5]), {"HeaderType": "0x0f", "Size": "13", "Id": "7"})

    def test_a_type_of_wpp_messages_is_in_no_file(self):
        result, _ = dump(etl.file(struct.pack("<HBBI", 0x10, 0x0F, 0x90, 0).ljust(0x10)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("marker 0x900f0010", result.stderr)


class Unknown(unittest.TestCase):
    def test_hook_id_and_size(self):
        result, lines = dump(etl.file(etl.perfinfo(0x1234, bytes(13), version=7),
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(lines[3][2:], ["Event", "HookId=0x1234 Version=7 Size=29"])
        self.assertEqual(lines[4][2], "SpinLock")

    PROCESS = "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"
    OTHER = "12345678-9abc-def0-1234-56789abcdef0"

    def strangers(self):
        """A classic event of a known provider, a manifest one of another, and WPP's."""
        classic = struct.pack("<HBBBBHIIq16sQ", 0x30 + 5, 0x14, 0xC0, 3, 4, 2, 77, 88,
                              etl.START_CLOCK + 10, uuid.UUID(self.PROCESS).bytes_le, 0) + b"hello"
        manifest = struct.pack("<HBBHHIIq16sHBBBBHQQ16s", 0x50 + 2, 0x13, 0xC0, 0, 0, 78, 89,
                               etl.START_CLOCK + 20, uuid.UUID(self.OTHER).bytes_le, 301, 6, 1,
                               5, 9, 0, 0, 0, b"") + b"\xab\xcd"
        message = etl.wpp(7, 3, bytes(4) + uuid.UUID(self.OTHER).bytes_le)
        return etl.file(classic, manifest, message, etl.perfinfo(0x0501, b"\1\2", version=3))

    def test_times_are_rounded_as_printf_does(self):
        """Of a clock of 2 GHz each second time is half of the last decimal, nearly."""
        def at(ticks):
            return etl.perfinfo(0x1234, b"", time_stamp=etl.START_CLOCK + ticks)
        ticks = [1, 2, 3, 235, 237, 999_999_999, 1_999_999_999, 2_000_000_001, 123_456_789_017]
        _, lines = dump(etl.header_buffer(2, perf_freq=2_000_000_000, end_time=0) +
                        etl.buffer([at(t) for t in ticks], time_stamp=1 << 40))
        self.assertEqual([line[0] for line in lines[3:]], ["%.9f" % (t / 2e9) for t in ticks])

    def test_what_headers_say(self):
        _, lines = dump(self.strangers())
        self.assertEqual([line[2:] for line in lines[3:]], [
            ["Event", "HeaderType=0x14 Size=53 Provider=Process Version=2 Opcode=3 Level=4 "
             "ProcessId=88 ThreadId=77"],
            ["Event", "HeaderType=0x13 Size=82 Provider=%s Id=301 Version=6 Opcode=9 Level=5 "
             "ProcessId=89 ThreadId=78" % self.OTHER],
            ["WppMessage", "HeaderType=0x0f Size=28 Provider=%s Id=7" % self.OTHER],
            ["ThreadStart", "HookId=0x0501 Version=3 Size=18"]])
        classic, manifest, message, _ = [json.loads(line) for line in run_on(
            "dump", self.strangers(), "--json").stdout.splitlines()[3:]]
        self.assertEqual((classic["Provider"], classic["ProviderGuid"], classic["ThreadId"]),
                         ("Process", self.PROCESS, 77))
        self.assertEqual((manifest["Provider"], manifest["Id"], manifest["Opcode"],
                          manifest["Level"], manifest["ProcessId"]), (self.OTHER, 301, 9, 5, 89))
        self.assertEqual((message["Provider"], message["Id"]), (self.OTHER, 7))
        rows = list(csv.DictReader(io.StringIO(run_on("dump", self.strangers(), "--csv").stdout)))
        self.assertEqual([(row["Event"], row["Size"], row["HeaderType"], row["Provider"],
                           row["Id"], row["Opcode"], row["ProcessId"], row["ThreadId"])
                          for row in rows[3:6]],
                         [("Event", "53", "0x14", "Process", "", "3", "88", "77"),
                          ("Event", "82", "0x13", self.OTHER, "301", "9", "89", "78"),
                          ("WppMessage", "28", "0xf", self.OTHER, "7", "", "", "")])

    def test_what_headers_say_is_for_filters(self):
        for expression, count in (("Provider == Process", 1), ("Provider == " + self.OTHER, 2),
                                  ("ProviderGuid == " + self.PROCESS, 1), ("Id == 301", 1),
                                  ("Provider != Process", 2), ("Opcode == 9", 1),
                                  ("Level <= 4", 1), ("Version == 6", 1),
                                  ("ProcessId == 89", 1), ("ThreadId == 77", 1),
                                  ("thread == 78", 1), ("Event == WppMessage", 1)):
            result, lines = dump(self.strangers(), "--filter", expression)
            self.assertEqual((result.returncode, len(lines)), (0, count), expression)

    def test_what_headers_say_is_counted(self):
        events = json.loads(run_on("info", self.strangers(), "--json").stdout)["Events"]
        self.assertEqual(events, {"Process Opcode 3": 1, self.OTHER + " Id 301": 1,
                                  "WppMessage": 1, "ThreadStart": 1})
        self.assertRegex(run_on("info", self.strangers()).stdout, r"\n  Process Opcode 3 +1\n")
        # A provider of its own in each of more events than are told apart.
        event = bytearray(0x50)
        struct.pack_into("<HBB", event, 0, 0x50, 0x13, 0xC0)
        struct.pack_into("<q", event, 0x10, etl.START_CLOCK + 10)
        parts = []
        for i in range(5000):
            struct.pack_into("<I", event, 0x18, i)
            parts.append(bytes(event))
        data = etl.header_buffer(126) + b"".join(
            etl.buffer(parts[i:i + 40], sequence=1 + i // 40) for i in range(0, 5000, 40))
        events = json.loads(run_on("info", data, "--json").stdout)["Events"]
        self.assertEqual((len(events), events["HeaderType 0x13"]), (4097, 904))

    def test_data_in_hexadecimal(self):
        _, lines = dump(self.strangers(), "--hex", "--filter", "Id == 301 || Opcode == 3")
        self.assertEqual([fields(line)["Hex"] for line in lines], ["68656c6c6f", "abcd"])
        shown = json.loads(run_on("dump", self.strangers(), "--hex", "--json", "--filter",
                                  "Id == 301").stdout)
        self.assertEqual(shown["Hex"], "abcd")
        rows = list(csv.DictReader(io.StringIO(run_on("dump", self.strangers(), "--csv",
                                                      "--hex").stdout)))
        self.assertEqual([row["Hex"] for row in rows[3:5]], ["68656c6c6f", "abcd"])
        _, lines = dump(etl.file(etl.perfinfo(0x0529, etl.spin_lock())), "--hex")
        self.assertEqual(fields(lines[3])["Hex"], etl.spin_lock().hex())

    def test_loss_is_told(self):
        data = bytearray(etl.file(etl.perfinfo(0x1234, b"")))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x30, 7)
        result, _ = dump(bytes(data))
        self.assertEqual(result.returncode, 0)
        self.assertIn("7 events and 0 buffers were lost", result.stderr)
        result, _ = dump(etl.header_buffer(2) + etl.buffer([], flags=0x22))
        self.assertIn("events were lost after 1 buffers", result.stderr)

    def test_all_reasons_to_wait_have_names(self):
        _, lines = dump(etl.file(*(etl.perfinfo(0x0524, struct.pack(
            "<IIbbBBBBBBIi", 1, 2, 8, 8, 0, 0, reason, 0, 5, 0, 0, 0), 4) for reason in range(43))))
        reasons = [fields(line)["OldThreadWaitReason"] for line in lines[3:]]
        self.assertEqual((reasons[0], reasons[21], reasons[37], reasons[41], reasons[42]),
                         ("executive", "wr_keyed_event", "wr_alert_by_thread_id",
                          "wr_mdl_cache", "42"))
        self.assertFalse(any(reason.isdigit() for reason in reasons[:42]))

    def test_hook_ids_of_all_groups_have_names(self):
        names = {0x010A: "DiskRead", 0x020E: "PageFaultHard", 0x0301: "ProcessStart",
                 0x0440: "FileCreate", 0x0548: "ThreadSetName", 0x060A: "TcpIpSend",
                 0x061A: "TcpIpSendIPv6", 0x081B: "UdpIpReceiveIPv6", 0x0910: "RegQueryValue",
                 0x0B0A: "ConfigCpu", 0x0E22: "PoolFree", 0x0F2E: "SampledProfile",
                 0x0F44: "Dpc", 0x0F6D: "ShouldYieldProcessor", 0x14D5: "LdrSearchPathSecurity",
                 0x1820: "StackWalk", 0x1A25: "AlpcUnwait", 0x1A26: "Event"}
        data = etl.file(*(etl.perfinfo(hook_id, b"") for hook_id in names))
        _, lines = dump(data)
        self.assertEqual([line[2] for line in lines[3:]], list(names.values()))
        _, lines = dump(data, "--filter", "Event == dpc")
        self.assertEqual(fields(lines[0])["HookId"], "0x0f44")
        report = json.loads(run_on("info", data, "--json").stdout)
        self.assertEqual((report["Events"]["Dpc"], report["Events"]["HookId 0x1a26"]), (1, 1))

    def test_header_events(self):
        _, lines = dump(etl.file(etl.perfinfo(0x1234, b"")))
        self.assertEqual([fields(line)["HookId"] for line in lines[:3]],
                         ["0x0000", "0x0005", "0x0050"])

    def test_another_version_of_a_known_event(self):
        _, lines = dump(etl.file(etl.perfinfo(0x0529, bytes(8), version=1)))
        self.assertEqual(lines[3][2:], ["SpinLock", "HookId=0x0529 Version=1 Size=24"])

    def test_headers_without_hook_id(self):
        event_header = struct.pack("<HBB", 0x58, 0x13, 0xC0).ljust(0x58, b"\0")
        result, lines = dump(etl.file(event_header, etl.wpp(7, data=bytes(8)),
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines[3][3][:23], "HeaderType=0x13 Size=88")
        self.assertEqual(lines[4][3], "HeaderType=0x0f Size=16 Id=7")
        self.assertEqual(lines[5][2], "SpinLock")


class Info(unittest.TestCase):
    def test_header_and_contents(self):
        events = [etl.spinlock_rundown(), etl.perfinfo(0x0529, etl.spin_lock()),
                  etl.perfinfo(0x0529, etl.spin_lock()), etl.perfinfo(0x1234, b""), etl.wpp(1)]
        for bits in 64, 32:
            data = etl.file(*(events if bits == 64 else [etl.wpp(1)]), bits=bits)
            info = json.loads(run_on("info", data, "--json").stdout)
            header = info["Header"]
            self.assertEqual((header["BufferSize"], header["Version"], header["PointerSize"]),
                             (4096, "10.0.1.5", bits // 8))
            self.assertEqual((header["LogFileMode"], header["Clock"], header["PerfFreq"]),
                             ("0x00000001 sequential", "processor cycles", 2000000))
            self.assertEqual((header["StartTime"], header["LoggerName"], header["LogFileName"]),
                             ("2019-04-17 18:40:00.0000000 UTC", "Logger", "file.etl"))
            self.assertEqual(header["GroupMask"], " ".join(["0x00000000"] * 8))
            self.assertEqual(header["Groups"], "")
            at = data.index(struct.pack("<HH", 0x44, 0x0005)) + 0x1C
            masks = data[:at] + struct.pack("<II", 0x2000012, 0x10004) + data[at + 8:]
            self.assertEqual(json.loads(run_on("info", masks, "--json").stdout)["Header"]["Groups"],
                             "thread cswitch file_io contextswap spinlock")
            self.assertEqual(info["Contents"]["Buffers"], 2)
            if bits == 64:
                self.assertEqual(info["Events"], {"SpinLockDCStart": 1, "SpinLock": 2,
                                                  "HookId 0x1234": 1, "WppMessage": 1})
                self.assertEqual(info["Sampling"]["spinlock"]["acquire_sample_rate"], 1000)
        text = run_on("info", etl.file(*events)).stdout
        self.assertRegex(text, r"\n  LoggerName +Logger\n")
        self.assertRegex(text, r"\n  SpinLock +2\n")

    def test_numbers_of_strangers(self):
        for offset, kind, least, name, text in (
                (0x48, "<i", -1 << 31, "LocalTimeFromUtc", "2147483648 minutes"),
                (0xF8, "<q", -1 << 63, "BootTime", "-9223372036854775808, none"),
                (-0x10, "<q", -1 << 63, "StartClock", str(1 << 63)),
                (-0x10, "<q", (1 << 63) - 1, "StartClock", (1 << 63) - 1)):
            data = bytearray(etl.file())
            # When the buffer was flushed; what is later cannot be.
            struct.pack_into("<q", data, 0x10, least if kind == "<q" else 0)
            struct.pack_into(kind, data, 0x48 + 0x20 + offset, least)
            self.assertEqual(json.loads(run_on("info", bytes(data), "--json").stdout)["Header"]
                             [name], text)

    def test_names_of_strangers(self):
        data = etl.file().replace("file.etl".encode("utf-16-le"),
                                  "\x1b[m\x9b\ud7ff\u65e5x".encode("utf-16-le") + b"\0\xd8")
        self.assertEqual(json.loads(run_on("info", data, "--json").stdout)["Header"]
                         ["LogFileName"], "?[m??\ud7ff\u65e5x?")

    def test_damage(self):
        data = etl.header_buffer(2) + b"x" * etl.SIZE
        result = run_on("info", data)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"DamagedBuffers +1\n")


class Damaged(unittest.TestCase):
    """A message with the offset, status 1, and all that is not in a damaged buffer."""

    def damaged(self, data, offset, words, printed=None):
        result, lines = dump(data)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^ntklog: \S+\.etl: offset 0x%x: .*%s"
                         % (offset, words))
        self.assertRegex(result.stderr, r"\A[^\n]*\n(ntklog: \S+: left out: [^\n]*\n)?\Z")
        if printed is not None:
            self.assertEqual(len(lines), printed)

    def good(self):
        return bytearray(etl.file(etl.perfinfo(0x0529, etl.spin_lock()),
                                  etl.perfinfo(0x0529, etl.spin_lock())))

    def test_empty(self):
        self.damaged(b"", 0, "ends before", 0)

    def test_text(self):
        self.damaged(b"This is not an ETL file, as anybody can see from it. " * 9,
                     0, "no ETL file", 0)

    def test_first_buffer_is_no_header(self):
        data = self.good()
        self.damaged(data[etl.SIZE:], 0x36, "no ETL file", 0)

    def test_buffer_sizes(self):
        for size in (0, 8, 0x1004, 0x80000000, 0xFFFFFFFF):
            data = self.good()
            struct.pack_into("<I", data, 0, size)
            self.damaged(data, 0, "buffer size", 0)

    def test_cut_in_the_first_buffer(self):
        self.damaged(self.good()[:1000], 1000, "ends inside", 0)

    def test_cut_in_the_second_buffer(self):
        self.damaged(self.good()[:etl.SIZE + 100], etl.SIZE + 100, "ends inside", 3)

    def test_cut_between_buffers(self):
        self.damaged(self.good()[:etl.SIZE], etl.SIZE, "ends after 1 of 2 buffers", 3)

    def test_cut_between_buffers_of_a_session_that_runs(self):
        data = etl.header_buffer(7, end_time=0) + etl.buffer([etl.perfinfo(0x1234, b"")])
        self.assertEqual(dump(data)[0].returncode, 0)

    def test_cut_inside_a_buffer_of_a_session_that_runs(self):
        """What a recorder that was killed within a write has left is told, and no damage."""
        data = (etl.header_buffer(7, end_time=0) + etl.buffer([etl.perfinfo(0x1234, b"")]) +
                etl.buffer([etl.perfinfo(0x1235, b"")], sequence=2))
        for length in (1, 0x47, 0x48, 0x60, etl.SIZE - 1):
            cut = bytes(data[:2 * etl.SIZE + length])
            piped = subprocess.run([NTKLOG, "dump", "-"], input=cut, capture_output=True,
                                   timeout=60)
            result, lines = dump(cut)
            self.assertEqual((result.returncode, piped.returncode), (0, 0))
            self.assertEqual(piped.stdout.decode(), result.stdout)
            for messages in (result.stderr, piped.stderr.decode()):
                self.assertIn(": left out: %d bytes of a last buffer that has not" % length,
                              messages)
            self.assertEqual(len(lines), 4)

    def test_other_buffer_size_inside(self):
        data = self.good()
        struct.pack_into("<I", data, etl.SIZE, 8192)
        self.damaged(data, etl.SIZE, "0x2000 bytes in a file", 3)

    def test_saved_offset(self):
        for saved in (0, 0x47, 0x1001, 0xFFFFFFFF):
            data = self.good()
            struct.pack_into("<I", data, etl.SIZE + 4, saved)
            self.damaged(data, etl.SIZE + 4, "SavedOffset", 3)

    def test_saved_offset_inside_an_event(self):
        data = self.good()
        struct.pack_into("<I", data, etl.SIZE + 4, 0x48 + 0x48 + 0x10)
        self.damaged(data, etl.SIZE + 0x48 + 0x48, "0x10 fit", 4)
        struct.pack_into("<I", data, etl.SIZE + 4, 0x48 + 0x48 + 4)
        self.damaged(data, etl.SIZE + 0x48 + 0x48, "are no event", 4)

    def test_marker(self):
        data = self.good()
        data[etl.SIZE + 0x48 + 0x48 + 3] = 0x00
        self.damaged(data, etl.SIZE + 0x48 + 0x48, "no event: marker", 4)
        data[etl.SIZE + 0x48 + 0x48 + 2:etl.SIZE + 0x48 + 0x48 + 4] = b"\x77\xc0"
        self.damaged(data, etl.SIZE + 0x48 + 0x48, "no event: marker", 4)

    def test_event_sizes(self):
        for size in (0, 1, 0x0F, 0x49, 0xFFFF):
            data = self.good()
            struct.pack_into("<H", data, etl.SIZE + 0x48 + 0x48 + 4, size)
            self.damaged(data, etl.SIZE + 0x48 + 0x48, "event of 0x%x" % size, 4)

    def test_extension_beyond_the_event(self):
        self.damaged(etl.file(etl.perfinfo(0x1234, bytes(8), extended=0x07)),
                     etl.SIZE + 0x48, "extensions", 3)

    def test_data_of_the_wrong_size(self):
        for length in (0x37, 0x39, 0x30):
            self.damaged(etl.file(etl.perfinfo(0x0529, bytes(length))),
                         etl.SIZE + 0x48, "SpinLock event", 3)
        self.damaged(etl.file(etl.perfinfo(0x0F4B, bytes(12), version=3)),
                     etl.SIZE + 0x48, "SpinLockDCStart event", 3)

    def test_no_logfile_header(self):
        data = self.good()
        struct.pack_into("<H", data, 0x48 + 6, 0x0005)
        self.damaged(data, 0x48, "no TRACE_LOGFILE_HEADER", 0)
        self.damaged(etl.buffer([], kind=4), 0x48, "no TRACE_LOGFILE_HEADER", 0)

    def test_short_logfile_header(self):
        data = etl.buffer([etl.system(0, bytes(0x117))], kind=4)
        self.damaged(data, 0x48, "TRACE_LOGFILE_HEADER of 0x117", 0)

    def test_no_clock(self):
        for frequency in (0, -1):
            self.damaged(etl.file(etl.perfinfo(0x1234, b""), perf_freq=frequency),
                         0x48, "PerfFreq", 0)

    def test_pointer_size(self):
        data = self.good()
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x2C, 4)
        self.damaged(data, 0x48, "PointerSize 4", 0)

    def test_the_next_buffers_are_read(self):
        """Of three that are damaged in each way: a header, an event, an event's data."""
        def events(number):
            return [etl.perfinfo(0x0529, etl.spin_lock(spins=10 * number + i))
                    for i in range(4)]
        data = bytearray(etl.header_buffer(6) + b"".join(
            etl.buffer(events(i), sequence=i, processor=i % 2) for i in range(1, 6)))
        struct.pack_into("<I", data, 2 * etl.SIZE, 0)
        data[3 * etl.SIZE + 0x48 + 0x48 + 2] = 0x77
        struct.pack_into("<H", data, 4 * etl.SIZE + 0x48 + 4, 0x47)
        result, lines = dump(bytes(data))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(sorted(int(fields(line)["SpinCount"]) for line in lines[3:]),
                         [10, 11, 12, 13, 30, 41, 42, 43, 50, 51, 52, 53])
        self.assertIn("offset 0x2000: buffer of 0x0 bytes", result.stderr)
        self.assertIn("left out: %d bytes of 2 damaged buffers and 1 damaged events" %
                      (etl.SIZE + 3 * 0x48 + 0x47), result.stderr)
        report = run_on("report", bytes(data), "--json")
        said = json.loads(report.stdout)
        self.assertEqual((said["locks"][0]["sampled"], said["damaged_buffers"],
                          said["damaged_events"]), (12, 2, 1))
        self.assertIn("DAMAGED: 2 buffers, 1 events, 0 times",
                      run_on("report", bytes(data)).stdout)
        self.assertEqual((report.returncode, report.stderr.split(":", 2)[2]),
                         (1, result.stderr.split(":", 2)[2].replace(
                             result.stderr.split(":")[1], report.stderr.split(":")[1])))

    def test_times_that_cannot_be(self):
        """A flipped bit; the clocks of a long session may go apart by seconds."""
        hour = 3600 * etl.PERF_FREQ
        start = 132_000_000_000_000_000
        times = [hour, hour + (1 << 50), 2 * hour, 8 * hour + 2 * etl.PERF_FREQ]
        for end, wrong in ((start + 8 * 36_000_000_000, 1), (0, 4)):
            data = etl.header_buffer(2, end_time=end) + etl.buffer(
                [etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + time)
                 for time in times])
            if not end:
                # Of a session that has not ended the buffer's time counts: of 4 seconds.
                times[0] = etl.PERF_FREQ
            result, lines = dump(data)
            self.assertEqual(result.returncode, 1)
            self.assertEqual([line[0] for line in lines if "WrongTimeStamp" in line[3]],
                             ["3600.000000000"] if end else ["0.000000000"] * 4)
            self.assertRegex(result.stderr, "offset 0x%x: the time of an event cannot be; "
                             "of %d events" % (etl.SIZE + 0x48 + (0x48 if end else 0), wrong))
            report = json.loads(run_on("report", data, "--json").stdout)
            if end:
                self.assertAlmostEqual(report["seconds"], 8 * 3600 + 2)
                self.assertEqual(report["locks"][0]["sampled"], 3)
        events = [json.loads(line) for line in run_on("dump", data, "--json").stdout.splitlines()]
        self.assertEqual(events[4]["WrongTimeStamp"], etl.START_CLOCK + hour + (1 << 50))

    def test_buffers_that_are_there_twice_or_missing(self):
        def buffer(sequence):
            return etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(spins=sequence))],
                              sequence=sequence, processor=sequence % 2)
        for sequences, seen, words in (
                ((1, 2, 2, 3), [1, 2, 3], "left out: 1 buffers that are there twice"),
                ((3, 1, 2, 1), [1, 2, 3], "left out: 1 buffers that are there twice"),
                ((1, 2, 5, 6), [1, 2, 5, 6],
                 "2 buffers are missing, from sequence number 3 on")):
            data = etl.header_buffer(5) + b"".join(buffer(i) for i in sequences)
            for command in "dump", "report":
                result = run_on(command, data, "--json")
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                if command == "dump":
                    spins = [json.loads(line)["SpinCount"]
                             for line in result.stdout.splitlines()[3:]]
                    self.assertEqual(sorted(spins), seen)
                else:
                    self.assertEqual(json.loads(result.stdout)["locks"][0]["sampled"],
                                     len(seen))

    def test_buffers_that_have_the_same_numbers_in_two_sessions(self):
        data = etl.header_buffer(4) + b"".join(
            etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(spins=i))], sequence=1 + 5 * (i == 3))
            for i in range(1, 4))
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (0, 6), result.stderr)

    def test_sessions_that_overwrite_have_gaps(self):
        for mode in (0x2, 0x400):
            data = bytearray(etl.header_buffer(3) + etl.buffer([], sequence=7) +
                             etl.buffer([], sequence=9))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
            self.assertEqual(dump(bytes(data))[0].returncode, 0)

    def test_every_byte_changed_and_every_cut(self):
        """Whatever it says: no signal, and nothing but 0 or 1."""
        data = self.good()
        interesting = list(range(0x48 + 0x20 + 0x120)) + \
            list(range(etl.SIZE, etl.SIZE + 0x48 + 2 * 0x48))
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.etl")
            for at in interesting:
                changed = bytearray(data)
                changed[at] ^= 0xFF
                with open(path, "wb") as stream:
                    stream.write(changed)
                self.assertIn(run("dump", path).returncode, (0, 1), "byte 0x%x" % at)
            for length in range(0, len(data), 61):
                with open(path, "wb") as stream:
                    stream.write(data[:length])
                self.assertEqual(run("dump", path).returncode, 1, "cut at %d" % length)


class CommandLine(unittest.TestCase):
    def test_no_command(self):
        self.assertEqual(run().returncode, 2)

    def test_unknown_command(self):
        result = run("frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("unknown command: frobnicate", result.stderr)

    def test_no_file(self):
        self.assertEqual(run("dump").returncode, 2)

    def test_one_format(self):
        result = run("dump", "--json", "--csv", "x")
        self.assertEqual(result.returncode, 2)
        self.assertIn("one of --json and --csv", result.stderr)

    def test_two_files(self):
        self.assertEqual(run("dump", "a", "b").returncode, 2)

    def test_unknown_option(self):
        self.assertEqual(run("dump", "--frobnicate", "a").returncode, 2)

    def test_help(self):
        for arguments in (("--help",), ("dump", "--help")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Usage: ntklog", result.stdout)

    def test_file_that_is_not_there(self):
        result = run("dump", "/nonexistent.etl")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr,
                         "ntklog: /nonexistent.etl: No such file or directory\n")

    def test_directory(self):
        result = run("dump", "/")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Is a directory", result.stderr)

    def test_full_device(self):
        with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
            stream.write(etl.file(etl.perfinfo(0x1234, b"")))
            stream.flush()
            with open("/dev/full", "w") as full:
                result = subprocess.run([NTKLOG, "dump", stream.name], stdout=full,
                                        stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write: No space left on device", result.stderr)


if __name__ == "__main__":
    tap.main()
