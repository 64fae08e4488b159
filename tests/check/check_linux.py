#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the events of Linux' spinning locks against the values that linux_locks.ko prints.

Usage: check_linux.py NTKLOG DIRECTORY
"""

import json
import os
import sys
import unittest
from collections import Counter, namedtuple

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:]
Truth = namedtuple("Truth", "name lock mode depth waited before acquired releasing after thread "
                            "least most")
# In cycles: the default of the module's parameter.
HOLD_CYCLES = 1500000


def read_bytes(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


def read_truths():
    for line in read_bytes("linux.truth").decode().splitlines():
        word, name, *values = line.split()
        if word == "truth":
            yield Truth(name, *(int(value, 0) for value in values))


def read_counter(name, when):
    header, *rows = read_bytes("linux." + when).decode().splitlines()
    at = header.split().index(name)
    return sum(int(row.split()[at]) for row in rows)


class LinuxLocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.buffers = etl.decode(read_bytes("linux.etl"))
        cls.records = list(etl.decode_spin_locks(cls.buffers))
        cls.truths = list(read_truths())

    def record_of(self, truth):
        """The one record whose times are within those of the truth."""
        found = [record for record in self.records
                 if record.spin_lock_address == truth.lock
                 and truth.before <= record.acquire_time <= truth.acquired
                 and truth.releasing <= record.release_time <= truth.after]
        self.assertEqual(len(found), 1, (truth, found))
        return found[0]

    def test_linux_locks_reported_no_error(self):
        text = read_bytes("linux.truth").decode()
        self.assertNotIn("wrong", text)
        self.assertEqual(len(self.truths), 17 + 3 + 3)

    def test_each_hold_is_written_with_its_times_once(self):
        for truth in self.truths:
            self.record_of(truth)

    def test_records_have_the_mode_of_the_lock(self):
        for truth in self.truths:
            self.assertEqual(self.record_of(truth).acquire_mode, truth.mode, truth)

    def test_nested_locks_released_out_of_order_have_their_depth(self):
        for truth in self.truths:
            if truth.name == "nested":
                self.assertEqual(self.record_of(truth).acquire_depth, truth.depth, truth)

    def test_records_have_the_thread(self):
        for truth in self.truths:
            self.assertEqual(self.record_of(truth).thread_id, truth.thread, truth)

    def test_interrupts_during_a_hold_are_counted(self):
        for truth in self.truths:
            self.assertGreaterEqual(self.record_of(truth).interrupt_count, truth.least, truth)
            self.assertLessEqual(self.record_of(truth).interrupt_count, truth.most, truth)
        # At least eight holds had interrupts enabled: irq_work and the scheduler interrupted them.
        self.assertGreaterEqual([truth.least >= 2 for truth in self.truths].count(True), 8)

    def test_waits_are_as_long_as_the_holds(self):
        for truth in self.truths:
            record = self.record_of(truth)
            if truth.waited:
                self.assertGreaterEqual(record.spin_count, 1, truth)
                self.assertGreaterEqual(record.wait_time_in_cycles, HOLD_CYCLES * 9 // 10, truth)
                self.assertLessEqual(record.wait_time_in_cycles,
                                     truth.acquired - truth.before, truth)
            else:
                self.assertEqual((record.spin_count, record.wait_time_in_cycles), (0, 0), truth)

    def test_callers_are_the_callers_of_the_lock_functions(self):
        """All callers are near each other."""
        callers = {self.record_of(truth).caller_address for truth in self.truths}
        self.assertLess(max(callers) - min(callers), 1 << 14)
        self.assertGreaterEqual(len(callers), 17)

    def test_generated_events_are_written_or_lost(self):
        for row in read_bytes("linux.stats").decode().splitlines()[1:]:
            generated, written, lost = (int(word) for word in row.split()[1:4])
            self.assertEqual(generated, written + lost, row)

    def test_rundowns_are_written(self):
        kinds = Counter(event.hook_id for b in self.buffers[1:] for event in b.events)
        self.assertGreaterEqual(kinds[etl.DC_START], 1)
        self.assertGreaterEqual(kinds[etl.DC_END], 1)

    def test_no_release_is_unmatched_and_no_slot_stays_in_use(self):
        self.assertEqual(read_counter("Unmatched", "after"), read_counter("Unmatched", "before"))
        self.assertEqual(read_counter("InUse", "after"), 0)

    def test_record_enables_linux_locks_by_default(self):
        report = json.loads(read_bytes("linux-default.json"))
        self.assertGreater(len(report["locks"]), 10)

    def test_kernel_locks_are_sampled_by_the_rate(self):
        acquired = (read_counter("SpinLockAcquireCount", "after") -
                    read_counter("SpinLockAcquireCount", "before"))
        self.assertGreater(acquired, 2000)
        by_count = [record for record in self.records if not record.spin_count and
                    record.release_time - record.acquire_time <= 1000000]
        self.assertGreaterEqual(len(by_count), acquired // 4000)
        self.assertLessEqual(len(by_count), acquired // 500)

    def test_holders_have_irql_2_or_3(self):
        self.assertEqual({record.irql for record in self.records} - {2, 3}, set())


if __name__ == "__main__":
    tap.main()
