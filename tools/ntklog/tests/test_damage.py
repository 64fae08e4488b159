#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damaged files: the tool reports a damage with its offset, and goes on reading."""

import gzip
import lzma
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
import unittest.mock

import etl_writer as etl
import tap
from tool import NO_LEAK_CHECK, NTKLOG, dump, fields_of_line, run_tool, run_tool_on


class Damaged(unittest.TestCase):
    def check_damage(self, data, offset, words, printed=None):
        result, lines = dump(data)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^ntklog: \S+\.etl: offset 0x%x: .*%s"
                         % (offset, words))
        self.assertRegex(result.stderr, r"\A[^\n]*\n(ntklog: \S+: (left out: |1 buffers are missing)[^\n]*\n)?\Z")
        if printed is not None:
            self.assertEqual(len(lines), printed)

    def undamaged_file(self):
        return bytearray(etl.file(etl.perfinfo(0x0529, etl.spin_lock()),
                                  etl.perfinfo(0x0529, etl.spin_lock())))

    def test_empty_file_is_refused(self):
        self.check_damage(b"", 0, "the file is empty", 0)
        self.check_damage(bytes(7), 7, "ends before", 0)

    def test_gzip_file_is_named(self):
        self.check_damage(gzip.compress(self.undamaged_file()), 0, "a gzip file: unpack it", 0)

    def test_other_files_are_named(self):
        self.check_damage(lzma.compress(self.undamaged_file()), 0, "an xz file: unpack it", 0)
        self.check_damage(b"boot 0123-4567 1\nffffffff81000000 T f\n" * 9, 0,
                          "the names of one: give the file without .names", 0)

    def test_directory_is_refused_without_an_offset(self):
        with tempfile.TemporaryDirectory() as directory:
            result = run_tool("info", directory)
            self.assertEqual(result.stderr,
                             "ntklog: %s: a directory: give one of its files\n" % directory)

    def test_text_file_is_refused(self):
        self.check_damage(b"This is not an ETL file, as anybody can see from it. " * 9,
                          0, "not an ETL file", 0)

    def test_file_without_its_first_buffer_is_refused(self):
        data = self.undamaged_file()
        self.check_damage(data[etl.SIZE:], 0x36, "not an ETL file", 0)

    def test_impossible_buffer_sizes_are_refused(self):
        for size in (0, 8, 0x1004, 0x80000000, 0xFFFFFFFF):
            data = self.undamaged_file()
            struct.pack_into("<I", data, 0, size)
            self.check_damage(data, 0, "buffer size", 0)

    def test_cut_inside_the_first_buffer_is_reported(self):
        self.check_damage(self.undamaged_file()[:1000], 1000, "ends inside", 0)

    def test_cut_inside_the_second_buffer_is_reported(self):
        self.check_damage(self.undamaged_file()[:etl.SIZE + 100], etl.SIZE + 100, "ends inside", 3)

    def test_cut_between_buffers_is_reported(self):
        self.check_damage(self.undamaged_file()[:etl.SIZE], etl.SIZE, "ends after 1 of 2 buffers",
                          3)

    def test_report_tells_of_a_tail_that_is_missing(self):
        data = etl.header_buffer(5) + etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())])
        words = "offset 0x2000: the file ends after 2 of 5 buffers"
        report = json.loads(run_tool_on("report", data, "--json").stdout)
        self.assertEqual((report["buffers_missing"], report["damage"]), (3, words))
        text = run_tool_on("report", data).stdout
        self.assertIn("\nDAMAGED: %s\n" % words, text)
        self.assertIn("\nDAMAGED: 0 buffers are in the file twice, 3 are missing\n", text)
        self.assertIn(words, run_tool_on("report", data, "--html=-").stdout)
        line = json.loads(run_tool_on("report", data, "--ndjson").stdout.splitlines()[0])
        self.assertEqual((line["buffers_missing"], line["damage"]), (3, words))
        self.assertEqual(json.loads(run_tool_on("info", data, "--json").stdout)
                         ["Contents"]["BuffersMissing"], 3)

    def test_cut_between_buffers_of_a_running_session_is_no_damage(self):
        data = etl.header_buffer(7, end_time=0) + etl.buffer([etl.perfinfo(0x1234, b"")])
        self.assertEqual(dump(data)[0].returncode, 0)

    def test_cut_inside_a_buffer_of_a_running_session_is_no_damage(self):
        """A recorder that was killed during a write leaves a part of a buffer."""
        data = (etl.header_buffer(7, end_time=0) + etl.buffer([etl.perfinfo(0x1234, b"")]) +
                etl.buffer([etl.perfinfo(0x1235, b"")], sequence=2))
        for length in (1, 0x47, 0x48, 0x60, etl.SIZE - 1):
            cut = bytes(data[:2 * etl.SIZE + length])
            piped = subprocess.run([NTKLOG, "dump", "-"], input=cut, capture_output=True,
                                   timeout=600)
            result, lines = dump(cut)
            self.assertEqual((result.returncode, piped.returncode), (0, 0))
            self.assertEqual(piped.stdout.decode(), result.stdout)
            for messages in (result.stderr, piped.stderr.decode()):
                self.assertIn(": left out: %d bytes of the last buffer, which is not" % length,
                              messages)
            self.assertEqual(len(lines), 4)

    def test_buffer_of_another_size_is_reported(self):
        data = self.undamaged_file()
        struct.pack_into("<I", data, etl.SIZE, 8192)
        self.check_damage(data, etl.SIZE, "0x2000 bytes in a file", 3)

    def test_impossible_saved_offset_is_reported(self):
        for saved in (0, 0x47, 0x1001, 0xFFFFFFFF):
            data = self.undamaged_file()
            struct.pack_into("<I", data, etl.SIZE + 4, saved)
            self.check_damage(data, etl.SIZE + 4, "SavedOffset", 3)

    def test_saved_offset_inside_an_event_is_reported(self):
        data = self.undamaged_file()
        struct.pack_into("<I", data, etl.SIZE + 4, 0x48 + 0x48 + 0x10)
        self.check_damage(data, etl.SIZE + 0x48 + 0x48, "0x10 fit", 4)
        struct.pack_into("<I", data, etl.SIZE + 4, 0x48 + 0x48 + 4)
        self.check_damage(data, etl.SIZE + 0x48 + 0x48, "are no event", 4)

    def test_unknown_marker_is_reported(self):
        data = self.undamaged_file()
        data[etl.SIZE + 0x48 + 0x48 + 3] = 0x00
        self.check_damage(data, etl.SIZE + 0x48 + 0x48, "no event: marker", 4)
        data[etl.SIZE + 0x48 + 0x48 + 2:etl.SIZE + 0x48 + 0x48 + 4] = b"\x77\xc0"
        self.check_damage(data, etl.SIZE + 0x48 + 0x48, "no event: marker", 4)

    def test_impossible_event_sizes_are_reported(self):
        for size in (0, 1, 0x0F, 0x49, 0xFFFF):
            data = self.undamaged_file()
            struct.pack_into("<H", data, etl.SIZE + 0x48 + 0x48 + 4, size)
            self.check_damage(data, etl.SIZE + 0x48 + 0x48, "event of 0x%x" % size, 4)

    def test_extension_beyond_its_event_is_reported(self):
        self.check_damage(etl.file(etl.perfinfo(0x1234, bytes(8), extended=0x07)),
                          etl.SIZE + 0x48, "extensions", 3)

    def test_data_of_the_wrong_size_is_reported(self):
        for length in (0x37, 0x39, 0x30):
            self.check_damage(etl.file(etl.perfinfo(0x0529, bytes(length))),
                              etl.SIZE + 0x48, "SpinLock event", 3)
        self.check_damage(etl.file(etl.perfinfo(0x0F4B, bytes(12), version=3)),
                          etl.SIZE + 0x48, "SpinLockDCStart event", 3)

    def test_missing_logfile_header_is_refused(self):
        data = self.undamaged_file()
        struct.pack_into("<H", data, 0x48 + 6, 0x0005)
        self.check_damage(data, 0x48, "no TRACE_LOGFILE_HEADER", 0)
        self.check_damage(etl.buffer([], kind=4), 0x48, "no TRACE_LOGFILE_HEADER", 0)

    def test_short_logfile_header_is_refused(self):
        data = etl.buffer([etl.system_event(0, bytes(0x117))], kind=4)
        self.check_damage(data, 0x48, "TRACE_LOGFILE_HEADER of 0x117", 0)

    def test_impossible_clock_frequency_is_refused(self):
        for frequency in (0, -1):
            self.check_damage(etl.file(etl.perfinfo(0x1234, b""), perf_freq=frequency),
                              0x48, "PerfFreq", 0)

    def test_unknown_pointer_size_is_refused(self):
        data = self.undamaged_file()
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x2C, 4)
        self.check_damage(data, 0x48, "PointerSize 4", 0)

    def test_buffers_after_damage_are_read(self):
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
        self.assertEqual(sorted(int(fields_of_line(line)["SpinCount"]) for line in lines[3:]),
                         [10, 11, 12, 13, 30, 41, 42, 43, 50, 51, 52, 53])
        self.assertIn("offset 0x2000: buffer of 0x0 bytes", result.stderr)
        self.assertIn("left out: %d bytes of 2 damaged buffers and 1 damaged events" %
                      (etl.SIZE + 3 * 0x48 + 0x47), result.stderr)
        report = run_tool_on("report", bytes(data), "--json")
        said = json.loads(report.stdout)
        self.assertEqual((said["locks"][0]["sampled"], said["damaged_buffers"],
                          said["damaged_events"]), (12, 2, 1))
        self.assertIn("DAMAGED: 2 buffers, 1 events, 0 times",
                      run_tool_on("report", bytes(data)).stdout)
        self.assertEqual((report.returncode, report.stderr.split(":", 2)[2]),
                         (1, result.stderr.split(":", 2)[2].replace(
                             result.stderr.split(":")[1], report.stderr.split(":")[1])))

    def test_impossible_times_are_left_out(self):
        """The clocks of CPUs may drift apart by seconds in a long session."""
        hour = 3600 * etl.PERF_FREQ
        start = 132_000_000_000_000_000
        times = [hour, hour + (1 << 50), 2 * hour, 8 * hour + 2 * etl.PERF_FREQ]
        # Without an end time, the time of the buffer is the limit: 4 seconds.
        for end, wrong in ((start + 8 * 36_000_000_000, 1), (0, 4)):
            data = etl.header_buffer(2, end_time=end) + etl.buffer(
                [etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + time)
                 for time in times])
            result, lines = dump(data)
            self.assertEqual(result.returncode, 1)
            self.assertEqual([line[0] for line in lines if "WrongTimeStamp" in line[3]],
                             ["3600.000000000"] if end else ["0.000000000"] * 4)
            self.assertRegex(result.stderr, "offset 0x%x: the time of an event is impossible; "
                             "%d such events are left out of all sums" % (etl.SIZE + 0x48 + (0x48 if end else 0), wrong))
            report = json.loads(run_tool_on("report", data, "--json").stdout)
            if end:
                self.assertAlmostEqual(report["seconds"], 8 * 3600 + 2)
                self.assertEqual(report["locks"][0]["sampled"], 3)
        events = [json.loads(line) for line in run_tool_on("dump", data,
                                                           "--json").stdout.splitlines()]
        self.assertEqual(events[4]["WrongTimeStamp"], etl.START_CLOCK + hour + (1 << 50))

    def test_repeated_and_missing_buffers_are_reported(self):
        def buffer(sequence):
            return etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(spins=sequence))],
                              sequence=sequence, processor=sequence % 2)
        for sequences, seen, words in (
                ((1, 2, 2, 3), [1, 2, 3], "left out: 1 buffers that are in the file twice"),
                ((3, 1, 2, 1), [1, 2, 3], "left out: 1 buffers that are in the file twice"),
                ((1, 2, 5, 6), [1, 2, 5, 6],
                 "2 buffers are missing, from sequence number 3 on")):
            data = etl.header_buffer(5) + b"".join(buffer(i) for i in sequences)
            for command in "dump", "report":
                result = run_tool_on(command, data, "--json")
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                if command == "dump":
                    spins = [json.loads(line)["SpinCount"]
                             for line in result.stdout.splitlines()[3:]]
                    self.assertEqual(sorted(spins), seen)
                else:
                    self.assertEqual(json.loads(result.stdout)["locks"][0]["sampled"],
                                     len(seen))

    def test_all_commands_leave_out_records_of_impossible_times(self):
        """Waits and holds that began before the clock."""
        good = etl.perfinfo(0x0529, etl.spin_lock(wait=20))
        now = etl.START_CLOCK + etl.PERF_FREQ
        for impossible in (
                *(etl.perfinfo(0x0529, etl.spin_lock(acquire=1000, release=1000 + time))
                  for time in (2 ** 40, 2 ** 62, 2 ** 63, 2 ** 64 - 1001)),
                etl.perfinfo(0x0529, etl.spin_lock(acquire=1, release=now, wait=2)),
                etl.perfinfo(0x052B, etl.resource_data(hold=now, wait=2)),
                etl.perfinfo(0x052B, etl.resource_data(hold=2 ** 64 - 2, wait=4)),
                # An excessive wait, which HoldTime has
                etl.perfinfo(0x052B, etl.resource_data(action=0x10224, hold=now + 1, wait=0)),
                etl.open_hold_event(now, "held", since=1, wait=now + 2),
                # Times that are later than the event
                etl.open_hold_event(now ^ 1 << 40, "waits", since=1, time_stamp=now),
                etl.open_hold_event(now, "waits", since=now ^ 1 << 40)):
            data = etl.file(etl.spinlock_rundown(acquire=1), good, impossible)
            for command in (("dump", "--filter", "wait > 1ns"), ("report", "--json"), ("info",),
                            ("convert", "--pprof=/dev/null"), ("convert", "--perfetto=/dev/null")):
                result = run_tool_on(*command[:1], data, *command[1:])
                self.assertRegex(result.stderr,
                                 r"offset 0x10b0: .*: its times are impossible\n"
                                 r".*left out: \d+ bytes of 0 damaged buffers and 1 damaged events\n")
                self.assertEqual(result.returncode, 1)
                if command[0] == "dump":
                    self.assertEqual(len(result.stdout.splitlines()), 1)
                if command[0] != "info":
                    # Only damage of the selected time counts.
                    early = run_tool_on(*command[:1], data, *command[1:], "--to", "0.5")
                    self.assertEqual((early.returncode, early.stderr.count("damaged")), (0, 0))
                if command[0] == "report":
                    report = json.loads(result.stdout)
                    self.assertEqual((report["locks"][0]["wait_total_ns"], report["blockers"][0]
                                      ["charged_total_ns"]), (10000, 10000))

    def dump_at(self, now, event, status):
        """The session has started a little before NOW, ticks."""
        with unittest.mock.patch.object(etl, "START_CLOCK", now - 1000):
            header = bytearray(etl.header_buffer(2))
        struct.pack_into("<q", header, 0x10, now)
        result = run_tool_on("dump", bytes(header) + etl.buffer([event], time_stamp=now))
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual("its times are impossible" in result.stderr, status == 1)

    def test_times_of_a_high_clock_are_exact(self):
        """A double is a multiple of 2 from 2 ** 53 on."""
        now = 2 ** 53 + 5
        for hold, status in (2, 0), (3, 1):
            self.dump_at(now, etl.perfinfo(
                0x052B, etl.resource_data(action=0x10224, hold=hold, wait=2 ** 53 + 3),
                time_stamp=now), status)

    def test_list_of_open_holds_before_the_session_is_left_out(self):
        now = 2 ** 40
        for list_time, status in (now - 5, 0), (now ^ 1 << 40, 1):
            self.dump_at(now, etl.open_hold_event(list_time, "waits", since=7, time_stamp=now),
                         status)

    def test_answer_has_a_wait_whose_record_acquires_too_early(self):
        """By AcquireTime the wait began before the clock; by the time of the event it did not."""
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(acquire=1000, release=1100, wait=5000)))
        report = json.loads(run_tool_on("report", data, "--json").stdout)
        self.assertEqual((report["locks"][0]["wait_total_ns"], report["blockers"][0]
                          ["charged_total_ns"]), (2500000, 2500000))

    def test_release_before_its_acquisition_is_a_hold_of_0(self):
        for step in 5, 2 ** 62, 2 ** 63 + 5:
            data = etl.file(etl.perfinfo(0x0529, etl.spin_lock(acquire=100 + step, release=100,
                                                               wait=20)))
            report = json.loads(run_tool_on("report", data, "--json").stdout)
            self.assertEqual((report["locks"][0]["hold_max_ns"], report["locks"][0]["wait_total_ns"],
                              report["blockers"][0]["charged_total_ns"]), (0, 10000, 10000))
            self.assertIn("1 acquisitions end before they begin", run_tool_on("report", data).stdout)
            self.assertEqual(run_tool_on("dump", data, "--filter", "hold > 0ns").stdout, "")

    def test_a_second_recording_is_left_out(self):
        """The second recording of `cat one.etl two.etl` has another clock and other rates."""
        one = etl.file(etl.spinlock_rundown(acquire=1000), etl.perfinfo(0x0529, etl.spin_lock()))
        two = etl.file(etl.spinlock_rundown(acquire=5000), *2 * [etl.perfinfo(
            0x0529, etl.spin_lock())])
        for command in "dump", "report", "info":
            alone = run_tool_on(command, one, "--json")
            for result in (run_tool_on(command, one + two, "--json"), subprocess.run(
                    [NTKLOG, command, "--json", "-"], input=one + two, capture_output=True,
                    timeout=600)):
                self.assertEqual(result.returncode, 1)
                self.assertIn("offset 0x%x: a second recording begins" % len(one),
                              str(result.stderr))
            self.assertEqual(alone.returncode, 0)
            if command != "info":
                both = run_tool_on(command, one + two, "--json").stdout
                self.assertEqual(re.sub('"damage": "offset .* begins here.*"', '"damage": null', both),
                                 alone.stdout)

    def test_clock_that_goes_back_is_reported(self):
        def buffer(*times, sequence=1, processor=0):
            return etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + time)
                               for time in times], sequence=sequence, processor=processor)
        for command in "dump", "report":
            for parts, offset in (([buffer(5, 3, 7, 6)], 1), ([buffer(5, 6), buffer(
                    1, 2, sequence=2, processor=1)], None)):
                result = run_tool_on(command, etl.header_buffer(1 + len(parts)) + b"".join(parts))
                self.assertEqual(result.returncode, 0)
                if offset:
                    self.assertIn("offset 0x%x: the clock goes back; 2 events" %
                                  (etl.SIZE + 0x48 + 0x48), result.stderr)
                else:
                    self.assertEqual(result.stderr, "")
        result = run_tool_on("dump", etl.header_buffer(3) + buffer(5, 6) + buffer(2, 3, sequence=2))
        self.assertIn("the clock goes back; 1 events", result.stderr)

    def test_extreme_sequence_numbers_do_not_overflow(self):
        """With UBSan, the tool would fail at an overflow in the difference of two numbers."""
        data = etl.header_buffer(4) + b"".join(
            etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())], sequence=sequence)
            for sequence in (-2**63, 2**63 - 1, 5))
        for result in (run_tool_on("dump", data),
                       subprocess.run([NTKLOG, "dump", "-"], input=data, capture_output=True,
                                      timeout=600)):
            self.assertEqual(result.returncode, 1)
            self.assertNotIn("runtime error", str(result.stderr))

    def test_different_buffers_with_one_number_are_all_read(self):
        data = etl.header_buffer(4) + b"".join(
            etl.buffer([etl.perfinfo(0x0529, etl.spin_lock(spins=i))], sequence=1 + 5 * (i == 3))
            for i in range(1, 4))
        result, lines = dump(data)
        self.assertEqual((result.returncode, len(lines)), (0, 6), result.stderr)

    def test_missing_buffers_of_sessions_that_overwrite_are_no_damage(self):
        for mode in (0x2, 0x400):
            data = bytearray(etl.header_buffer(3) + etl.buffer([], sequence=7) +
                             etl.buffer([], sequence=9))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
            self.assertEqual(dump(bytes(data))[0].returncode, 0)

    def test_changed_byte_or_cut_anywhere_does_not_crash(self):
        data = self.undamaged_file()
        interesting = list(range(0x48 + 0x20 + 0x120)) + \
            list(range(etl.SIZE, etl.SIZE + 0x48 + 2 * 0x48))
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.etl")
            for at in interesting:
                changed = bytearray(data)
                changed[at] ^= 0xFF
                with open(path, "wb") as stream:
                    stream.write(changed)
                self.assertIn(run_tool("dump", path, env=NO_LEAK_CHECK).returncode, (0, 1),
                              "byte 0x%x" % at)
            for length in range(0, len(data), 61):
                with open(path, "wb") as stream:
                    stream.write(data[:length])
                self.assertEqual(run_tool("dump", path, env=NO_LEAK_CHECK).returncode, 1,
                                 "cut at %d" % length)


if __name__ == "__main__":
    tap.main()
