#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog dump, from the outside: what it prints for which file.

Usage: test_dump.py NTKLOG
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

import etl_writer as etl
import tap

NTKLOG = sys.argv[1]


def run(*arguments):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=60)


def dump(data):
    with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
        stream.write(data)
        stream.flush()
        result = run("dump", stream.name)
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
            "ExecuteIsr": "0", "TimeStamp": "3000000"})

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
            "Action": "release_exclusive", "ContentionDelta": "66", "TimeStamp": "3000000"})

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
                  "OldThreadIdealProcessor": "7", "TimeStamp": "3000000"}
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
                "AcquireSampleRate": "3000", "HoldThreshold": "4000000",
                "TimeStamp": "3000000"})
        for line in lines[5:]:
            self.assertEqual(fields(line), {
                "ReleaseSamplingRate": "1000", "ContentionSamplingRate": "1",
                "NumberOfExcessiveTimeouts": "5", "TimeStamp": "3000000"})

    def test_extended_items_are_stepped_over(self):
        # Two counters and a PEBS index stand before the data.
        event = etl.perfinfo(0x0529, bytes(24) + etl.spin_lock(), extended=0x82)
        _, lines = dump(etl.file(event))
        self.assertEqual(fields(lines[3])["AcquireTime"], "1001")


class Unknown(unittest.TestCase):
    def test_hook_id_and_size(self):
        result, lines = dump(etl.file(etl.perfinfo(0x1234, bytes(13), version=7),
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(lines[3][2:], ["Event", "HookId=0x1234 Version=7 Size=29"])
        self.assertEqual(lines[4][2], "SpinLock")

    def test_header_events(self):
        _, lines = dump(etl.file(etl.perfinfo(0x1234, b"")))
        self.assertEqual([fields(line)["HookId"] for line in lines[:3]],
                         ["0x0000", "0x0005", "0x0050"])

    def test_another_version_of_a_known_event(self):
        _, lines = dump(etl.file(etl.perfinfo(0x0529, bytes(8), version=1)))
        self.assertEqual(lines[3][2:], ["Event", "HookId=0x0529 Version=1 Size=24"])

    def test_headers_without_hook_id(self):
        event_header = struct.pack("<HBB", 0x58, 0x13, 0xC0).ljust(0x58, b"\1")
        message = struct.pack("<HBBI", 0x10, 0x0F, 0x90, 0).ljust(0x10, b"\1")
        result, lines = dump(etl.file(event_header, message,
                                      etl.perfinfo(0x0529, etl.spin_lock())))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(lines[3][3], "HeaderType=0x13 Size=88")
        self.assertEqual(lines[4][3], "HeaderType=0x0f Size=16")
        self.assertEqual(lines[5][2], "SpinLock")


class Damaged(unittest.TestCase):
    """A message with the offset, status 1, and what came before is printed."""

    def damaged(self, data, offset, words, printed=None):
        result, lines = dump(data)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^ntklog: \S+\.etl: offset 0x%x: .*%s"
                         % (offset, words))
        self.assertEqual(result.stderr.count("\n"), 1)
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
