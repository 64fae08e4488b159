#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the events of Linux' spinning locks in each mode against the counts that linux_pairs.ko
prints.

Usage: check_modes.py NTKLOG DIRECTORY [CLASS...]
"""

import json
import os
import struct
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]
# One of RATE acquisitions is sampled.
RATE = 1000
# The prefixes of the recordings' files, and the number of the mode of each.
MODES = {"full": 0, "sampled": 1, "sampled-queue": 1, "waits": 2, "blockers": 0,
         "sampled-blockers": 1}
# Bits of Rule: the release left a waiter behind; it was written for that reason alone.
BLOCKER, BLOCKER_ONLY = 4, 8
# The start of the hold is not known: its acquisition was not sampled.
HOLD_UNKNOWN = 16
# In cycles: the default of linux_pairs.ko.
HOLD_CYCLES = 1500000


def read_bytes(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


def counter_growth(prefix, name):
    """The growth of a counter during a recording, summed over all CPUs."""
    def sum_over_cpus(when):
        header, *rows = read_bytes("%s.%s" % (prefix, when)).decode().splitlines()
        column = header.split().index(name)
        return sum(int(row.split()[column]) for row in rows)
    return sum_over_cpus("after") - sum_over_cpus("before")


class Recording:
    """pairs, waits: by name of the lock: (address, number of pairs or cycles of the wait)
    module: the addresses of linux_pairs.ko
    """

    def __init__(self, prefix):
        self.buffers = etl.decode(read_bytes(prefix + ".etl"))
        self.records = etl.decode_spin_locks(self.buffers)
        self.report = json.loads(read_bytes(prefix + ".json"))
        self.redirected = int(read_bytes(prefix + ".redirected"))
        self.pairs, self.waits = {}, {}
        self.truth = read_bytes(prefix + ".truth").decode()
        for line in self.truth.splitlines():
            word, name, address, count = line.split()
            (self.pairs if word == "pairs" else self.waits)[name] = int(address, 0), int(count)
        module = read_bytes(prefix + ".module").decode().split()
        self.module = range(int(module[5], 0), int(module[5], 0) + int(module[1]))

    def records_of(self, name):
        address, _ = (self.pairs | self.waits)[name]
        return [record for record in self.records if record.spin_lock_address == address]

    def report_row_of(self, name):
        address, _ = (self.pairs | self.waits)[name]
        return next(row for row in self.report["locks"]
                    if row["lock"].split()[0] == "0x%x" % address)


class Modes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = {prefix: Recording(prefix) for prefix in MODES}

    def test_mode_events_have_the_mode(self):
        for prefix, mode in MODES.items():
            for hook_id in etl.NTKLOG_DC_START, etl.NTKLOG_DC_END:
                (event,) = etl.events_in_order_of_time(self.all[prefix].buffers, hook_id)
                self.assertEqual(struct.unpack("<II", event.data),
                                 (mode, int("blockers" in prefix)), prefix)

    def test_report_and_info_print_the_mode(self):
        for prefix in MODES:
            name = prefix.split("-")[0].replace("blockers", "full")
            self.assertEqual(self.all[prefix].report["rates"]["linux"], {"mode": name})
            info = json.loads(read_bytes(prefix + ".info.json"))
            self.assertEqual(info["Sampling"]["linux"], {"mode": name})
            text = read_bytes(prefix + ".report.txt").decode()
            self.assertEqual('mode "%s"' % name in text, name != "full", text[:2000])

    def test_mode_redirects_its_functions(self):
        self.assertEqual({prefix: one.redirected for prefix, one in self.all.items()},
                         {"full": 29, "sampled": 29, "sampled-queue": 29, "waits": 0,
                          "blockers": 29, "sampled-blockers": 29})

    def test_each_record_has_the_rule_of_its_mode(self):
        for prefix, mode in MODES.items():
            rules = {record.rule for record in self.all[prefix].records}
            if prefix == "blockers":
                self.assertLessEqual(rules, {0, BLOCKER, BLOCKER | BLOCKER_ONLY})
            elif prefix == "sampled-blockers":
                self.assertLessEqual(rules, {mode, mode | BLOCKER,
                                             BLOCKER | BLOCKER_ONLY | HOLD_UNKNOWN})
            else:
                self.assertEqual(rules, {mode}, prefix)

    def test_no_event_is_lost_and_no_hold_untracked(self):
        for prefix in MODES:
            for row in read_bytes(prefix + ".stats").decode().splitlines()[1:]:
                generated, written, lost = (int(word) for word in row.split()[1:4])
                self.assertEqual((generated, lost), (written, 0), row)
            self.assertEqual(counter_growth(prefix, "Unmatched"), 0, prefix)
            self.assertEqual(counter_growth(prefix, "Untracked"), 0, prefix)

    def test_only_mode_full_has_depths(self):
        for prefix in MODES:
            depths = {record.acquire_depth for record in self.all[prefix].records}
            if prefix in ("full", "blockers"):
                self.assertLessEqual(depths, set(range(1, 9)))
            else:
                self.assertEqual(depths, {0}, prefix)

    def test_linux_pairs_reported_no_error(self):
        for prefix in MODES:
            self.assertNotIn("wrong", self.all[prefix].truth)


class Sampled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one = Recording("sampled")

    def test_lock_held_alone_is_sampled_once_in_a_thousand(self):
        """Acquisitions of other locks come in between."""
        self.assertAlmostEqual(len(self.one.records_of("alone")), 100, delta=15)

    def test_locks_in_step_with_the_rate_are_sampled_equally(self):
        """A sampler that takes each thousandth acquisition would sample one lock and not the other.
        """
        for pair in ("outer", "inner"), ("read", "write"):
            counts = [len(self.one.records_of(name)) for name in pair]
            self.assertAlmostEqual(sum(counts), 200, delta=25)
            for count in counts:
                self.assertAlmostEqual(count, 100, delta=42)

    def test_samples_stand_for_all_acquisitions(self):
        waited = counter_growth("sampled", "SpinLockContentionCount")
        acquired = counter_growth("sampled", "SpinLockAcquireCount") - waited
        self.assertGreaterEqual(acquired, 5 * 100000 + 4000)
        sampled = sum(not record.spin_count for record in self.one.records)
        # An interval that has begun may or may not have had its sample.
        self.assertAlmostEqual(sampled, acquired / RATE, delta=16)
        self.assertLessEqual(sum(bool(record.spin_count) for record in self.one.records), waited)

    def test_long_hold_stands_for_as_many_as_a_short_one(self):
        row = self.one.report_row_of("long")
        # Acquisitions of timer ticks shift the count.
        self.assertTrue(1 <= row["sampled"] <= 40, row)
        self.assertEqual(row["acquisitions"], RATE * row["sampled"])
        self.assertGreaterEqual(min(record.release_time - record.acquire_time
                                    for record in self.one.records_of("long")), HOLD_CYCLES)

    def test_report_estimates_the_true_numbers(self):
        for name, delta in ("alone", 15000), ("inner", 42000), ("write", 42000):
            self.assertAlmostEqual(self.one.report_row_of(name)["acquisitions"], 100000,
                                   delta=delta)

    def test_records_have_the_mode_of_the_lock(self):
        for name, mode in ("alone", 1), ("read", 2), ("write", 3):
            self.assertEqual({record.acquire_mode for record in self.one.records_of(name)}, {mode})

    def test_callers_are_those_of_the_lock_functions(self):
        for name in "alone", "outer", "inner", "read", "write":
            for record in self.one.records_of(name):
                self.assertIn(record.caller_address, self.one.module)


class WaitsAlone(unittest.TestCase):
    """The cases of mode waits, which also run on kernels whose functions cannot be redirected."""

    prefixes = ("waits",)

    @classmethod
    def setUpClass(cls):
        cls.all = {prefix: Recording(prefix) for prefix in cls.prefixes}

    def test_wait_in_the_queue_is_recorded(self):
        for prefix, one in self.all.items():
            for name, mode in ("queued_spin", 1), ("queued_read", 2):
                longest = max(one.records_of(name), key=lambda record: record.wait_time_in_cycles)
                # The host may have stopped the guest's CPU for part of the wait.
                self.assertGreaterEqual(longest.wait_time_in_cycles, HOLD_CYCLES, (prefix, name))
                self.assertEqual(longest.acquire_mode, mode, (prefix, name))
                self.assertGreaterEqual(longest.spin_count, 1)

    def test_records_of_mode_waits_have_no_hold(self):
        for record in self.all["waits"].records:
            self.assertEqual(record.acquire_time, record.release_time)
            self.assertGreaterEqual(record.spin_count, 1)

    def test_caller_of_a_wait_is_the_caller_of_the_lock_function(self):
        one = self.all["waits"]
        for name in "queued_spin", "queued_read":
            for record in one.records_of(name):
                self.assertIn(record.caller_address, one.module)

    def test_queue_lock_of_an_rwlock_is_not_reported(self):
        one = self.all["waits"]
        address, _ = one.waits["queued_read"]
        self.assertEqual([record for record in one.records
                          if address < record.spin_lock_address < address + 8], [])

    def test_queue_lock_of_an_rwlock_is_not_reported_without_rwlocks(self):
        records = etl.decode_spin_locks(etl.decode(read_bytes("waits-spin.etl")))
        lines = read_bytes("waits-spin.truth").decode().split("\n")
        address = {line.split()[1]: int(line.split()[2], 0) for line in lines if line}
        spin, rwlock = address["queued_spin"], address["queued_read"]
        self.assertIn(spin, [record.spin_lock_address for record in records])
        self.assertEqual([record for record in records
                          if rwlock <= record.spin_lock_address < rwlock + 8], [])

    def test_report_does_not_invent_holds(self):
        row = self.all["waits"].report_row_of("queued_spin")
        for column in "hold_total_ns", "hold_mean_ns", "acquisitions", "depth":
            self.assertIsNone(row[column])
        self.assertGreater(row["wait_total_ns"], 0)


class Waits(WaitsAlone):

    prefixes = ("full", "sampled-queue", "waits")


class Blockers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one = Recording("blockers")

    def test_holder_that_others_waited_for_is_written(self):
        """The owner, for which the queued CPU waited, is written; for the spin lock the first
        waiter is, too, because the queued CPU waits behind it.
        """
        for name, at_least in ("queued_spin", 2), ("queued_read", 1):
            blockers = [record for record in self.one.records_of(name) if record.rule & BLOCKER]
            self.assertGreaterEqual(len(blockers), at_least, name)
            longest = max(record.release_time - record.acquire_time for record in blockers)
            self.assertGreaterEqual(longest, self.one.waits[name][1], name)
            for record in blockers:
                self.assertIn(record.caller_address, self.one.module)

    def test_last_owner_of_a_queue_is_no_blocker(self):
        for name in "queued_spin", "queued_read":
            last = max(self.one.records_of(name), key=lambda record: record.release_time)
            self.assertFalse(last.rule & BLOCKER, last)

    def test_locks_of_one_cpu_have_no_waiter(self):
        for name in self.one.pairs:
            self.assertFalse(any(record.rule for record in self.one.records_of(name)), name)

    def test_counter_includes_all_blocker_records(self):
        marked = sum(bool(record.rule & BLOCKER) for record in self.one.records)
        self.assertLessEqual(marked, counter_growth("blockers", "Blockers"))
        self.assertEqual(counter_growth("full", "Blockers"), 0)

    def test_wait_is_charged_to_its_blocker(self):
        address, _ = self.one.waits["queued_read"]
        charged = sum(row["charged_total_ns"] for row in self.one.report["blockers"]
                      if row["lock"].split()[0] == "0x%x" % address and
                      not row["holder"].startswith("("))
        self.assertGreater(charged, 0)

    def test_report_counts_blockers_separately(self):
        sampled = sum(row["sampled"] for row in self.one.report["locks"])
        self.assertEqual(sampled, sum(not record.rule & BLOCKER_ONLY
                                      for record in self.one.records))
        self.assertEqual(self.one.report["rates"]["blockers"], 1)

    def test_holder_is_written_in_mode_sampled_too(self):
        one = Recording("sampled-blockers")
        for name, at_least in ("queued_spin", 2), ("queued_read", 1):
            blockers = [record for record in one.records_of(name) if record.rule & BLOCKER]
            self.assertGreaterEqual(len(blockers), at_least, name)
            for record in blockers:
                self.assertIn(record.caller_address, one.module)
                self.assertGreater(record.thread_id, 0)
                self.assertEqual(record.acquire_time == record.release_time,
                                 bool(record.rule & HOLD_UNKNOWN))
        for name in one.pairs:
            self.assertFalse(any(record.rule & BLOCKER for record in one.records_of(name)), name)

    def test_wait_in_mode_sampled_is_charged_to_its_blocker(self):
        one = Recording("sampled-blockers")
        for name in "queued_spin", "queued_read":
            address, _ = one.waits[name]
            rows = [row for row in one.report["blockers"]
                    if row["lock"].split()[0] == "0x%x" % address]
            self.assertGreater(sum(row["charged_total_ns"] for row in rows
                                   if not row["holder"].startswith("(")), 0, rows)

    def test_session_of_nts_locks_has_the_blocker_rate(self):
        buffers = etl.decode(read_bytes("blockers-nt.etl"))
        for hook_id in etl.NTKLOG_DC_START, etl.NTKLOG_DC_END:
            (event,) = etl.events_in_order_of_time(buffers, hook_id)
            self.assertEqual(struct.unpack("<II", event.data), (0, 2))

    def test_session_of_nts_locks_has_mode_full(self):
        buffers = etl.decode(read_bytes("blockers-waits.etl"))
        for hook_id in etl.NTKLOG_DC_START, etl.NTKLOG_DC_END:
            (event,) = etl.events_in_order_of_time(buffers, hook_id)
            self.assertEqual(struct.unpack("<II", event.data), (0, 5))


if __name__ == "__main__":
    tap.main(CLASSES)
