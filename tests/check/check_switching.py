#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the files that switching.sh left.

Usage: check_switching.py DIRECTORY
"""

import glob
import os
import re
import sys
import unittest

import etl_decoder as etl
import tap

DIRECTORY = sys.argv.pop(1)
# The greatest number of locks that the torture holds at once on a CPU.
NESTING_DEPTH = 4
# AcquireMode of an executive spin lock that is acquired shared.
SHARED_MODE = 2


def read_text(name):
    with open(os.path.join(DIRECTORY, name)) as stream:
        return stream.read()


def counter_growths():
    sums = []
    for name in ("counters.before", "counters.after"):
        names, *rows = [line.split() for line in read_text(name).splitlines()]
        sums.append({title: sum(int(row[i]) for row in rows)
                     for i, title in enumerate(names) if i})
    return {title: sums[1][title] - sums[0][title] for title in sums[0]}


class Switching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sessions = []
        for name in sorted(glob.glob(os.path.join(DIRECTORY, "rounds", "*.etl"))):
            with open(name, "rb") as stream:
                buffers = etl.decode(stream.read())
            start = buffers[0].events[0].time_stamp
            cls.sessions.append((os.path.basename(name), start, buffers))

    def assert_no_record(self, records, is_wrong):
        found = ["%s: %s" % (name, record) for name, start, buffers in self.sessions
                 for record in records(buffers) if is_wrong(start, record)]
        total = sum(len(records(buffers)) for _, _, buffers in self.sessions)
        self.assertGreater(total, 100)
        self.assertFalse(found, "%d of %d, such as %s" % (len(found), total, found[:1]))

    def test_all_rounds_left_their_file(self):
        """Each fourth round uses the tracepoint alone and leaves no file; ntklog record leaves one.
        """
        self.assertEqual(len(self.sessions), 100 * 3 // 4 + 1)

    def test_no_lock_was_acquired_before_the_session(self):
        self.assert_no_record(etl.decode_spin_locks,
                              lambda start, record: record.acquire_time < start)

    def test_no_lock_was_acquired_after_its_release(self):
        self.assert_no_record(etl.decode_spin_locks,
                              lambda start, record: record.acquire_time > record.release_time)

    def test_no_wait_began_before_the_session(self):
        self.assert_no_record(etl.decode_spin_locks, lambda start, record:
                              record.acquire_time - record.wait_time_in_cycles < start)

    def test_no_lock_is_deeper_than_the_nesting(self):
        self.assert_no_record(etl.decode_spin_locks,
                              lambda start, record: record.acquire_depth > NESTING_DEPTH)

    def test_exclusive_holds_of_a_lock_do_not_overlap(self):
        """A hold with a wrong, too early beginning would overlap with the hold before it."""
        for name, _, buffers in self.sessions:
            last_records = {}
            for record in sorted(etl.decode_spin_locks(buffers), key=lambda r: r.release_time):
                if record.acquire_mode == SHARED_MODE:
                    continue
                before = last_records.get(record.spin_lock_address)
                self.assertFalse(before and record.acquire_time < before.release_time,
                                 "%s: %s, %s" % (name, before, record))
                last_records[record.spin_lock_address] = record

    def test_no_spin_lock_is_untracked(self):
        self.assertEqual(counter_growths()["Untracked"], 0)

    def test_every_release_finds_its_acquisition(self):
        self.assertEqual(counter_growths()["Unmatched"], 0)

    def test_no_resource_was_acquired_or_waited_for_before_the_session(self):
        self.assert_no_record(etl.decode_resources, lambda start, record:
                              2 < record.acquire_time < start + max(record.wait_time, 2) - 2)

    def test_no_resource_is_untracked(self):
        self.assertEqual(counter_growths()["ResourceUntracked"], 0)

    def test_tracepoints_pass_no_wrong_record(self):
        """The filter of the tracepoints passes only wrong records, so nothing must have passed."""
        lines = [line for line in read_text("trace.txt").splitlines() if not line.startswith("#")]
        self.assertEqual(lines[:1], [])
        self.assertGreater(counter_growths()["Events"], 1000)
        self.assertFalse(re.findall(r"^overrun: [1-9]", read_text("trace.stats"), re.M))

    def test_kernel_log_has_no_report(self):
        self.assertNotRegex(read_text("dmesg.log"), "BUG|WARNING|Oops|INFO:|Call Trace")


if __name__ == "__main__":
    tap.main()
