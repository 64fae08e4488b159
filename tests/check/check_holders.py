#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the releases that mode holders records, against those of mode full.

Usage: check_holders.py NTKLOG DIRECTORY [CLASS...]
"""

import json
import os
import struct
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]
# Bits of Rule: the release left a waiter behind; it was written for that reason alone; the start of
# the hold is not known.
BLOCKER, BLOCKER_ONLY, HOLD_UNKNOWN = 4, 8, 16
MODE = 3


def read(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


class Recording:
    def __init__(self, mode):
        self.buffers = etl.decode(read("holders-%s.etl" % mode))
        self.records = etl.spin_locks(self.buffers)
        self.report = json.loads(read("holders-%s.json" % mode))
        self.locks, self.waits = {}, {}
        for line in read("holders-%s.truth" % mode).decode().splitlines():
            _, name, address, wait = line.split()
            self.locks[name], self.waits[name] = int(address, 0), int(wait)
        module = read("holders-%s.module" % mode).decode().split()
        self.module = range(int(module[5], 0), int(module[5], 0) + int(module[1]))

    def releases(self, name):
        """The releases that left a waiter behind, in the order of time."""
        return sorted((record for record in self.records
                       if record.spin_lock_address == self.locks[name] and record.rule & BLOCKER),
                      key=lambda record: record.release_time)


@unittest.skipUnless(os.path.exists(os.path.join(DIRECTORY, "holders-holders.etl")),
                     "the kernel has no tracepoint contended_release")
class Holders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one, cls.full = Recording("holders"), Recording("full")

    def test_file_has_the_mode(self):
        for hook_id in etl.NTKLOG_DC_START, etl.NTKLOG_DC_END:
            (event,) = etl.in_time(self.one.buffers, hook_id)
            self.assertEqual(struct.unpack("<II", event.data), (MODE, 1))
        self.assertEqual(self.one.report["rates"]["linux"], {"mode": "holders"})

    def test_same_releases_as_in_mode_full(self):
        """The same code released the lock, in the same order: the owner, and the first waiter."""
        callers = [[record.caller_address - one.module.start for record in one.releases("queued_spin")]
                   for one in (self.one, self.full)]
        self.assertGreaterEqual(len(callers[0]), 2)
        self.assertEqual(callers[0], callers[1])

    def test_release_has_task_and_no_hold(self):
        for record in self.one.releases("queued_spin"):
            self.assertEqual(record.rule, BLOCKER | BLOCKER_ONLY | HOLD_UNKNOWN)
            self.assertEqual(record.acquire_time, record.release_time)
            self.assertEqual((record.spin_count, record.wait_time_in_cycles), (0, 0))
            self.assertIn(record.caller_address, self.one.module)
            self.assertGreater(record.thread_id, 0)
            self.assertEqual(record.acquire_mode, 1)

    def test_locks_that_sleep_write_no_release(self):
        """Locks that sleep call the same tracepoint as spin locks."""
        self.assertLessEqual({record.rule for record in self.one.records},
                             {2, BLOCKER | BLOCKER_ONLY | HOLD_UNKNOWN})
        address = self.one.locks["queued_read"]
        self.assertFalse(any(record.rule & BLOCKER for record in self.one.records
                             if address <= record.spin_lock_address < address + 8))

    def test_wait_is_charged_to_who_released_the_lock(self):
        lock = "0x%x" % self.one.locks["queued_spin"]
        rows = [row for row in self.one.report["blockers"] if row["lock"].split()[0] == lock]
        charged = sum(row["charged_total_ns"] for row in rows if not row["holder"].startswith("("))
        total = sum(row["charged_total_ns"] for row in rows)
        self.assertGreater(total, 0)
        self.assertGreater(charged, 0.9 * total, rows)


class Crowd(unittest.TestCase):

    def parts(self, family):
        answer = json.loads(read("crowd-%s.json" % family))["answer"]
        self.assertAlmostEqual(sum(answer["parts"].values()) / answer["wait_total"], 1)
        self.assertGreater(answer["waits"], 5)
        return {part: time / answer["wait_total"] for part, time in answer["parts"].items()}

    def test_at_most_a_twentieth_of_the_spinning_is_unknown(self):
        self.assertLessEqual(self.parts("spinning")["unknown"], 0.05)

    def test_at_most_a_twentieth_of_the_sleeping_is_unknown(self):
        self.assertLessEqual(self.parts("sleeping")["unknown"], 0.05)


if __name__ == "__main__":
    tap.main(CLASSES)
