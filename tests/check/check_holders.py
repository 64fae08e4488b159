#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the releases that mode holders records, against those of mode full and those that the
kernel's event contended_release has in its own trace.

linux_pairs.ko holds a spin lock while one CPU waits for it, and then a spin lock and an rwlock
while another CPU waits in the queue of each.

Usage: check_holders.py NTKLOG DIRECTORY [CLASS...]
"""

import json
import os
import struct
import sys
import unittest
from collections import Counter, defaultdict, namedtuple

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]
# Bits of Rule: the release left a waiter behind; it was written for that reason alone; the start of
# the hold is not known.
BLOCKER, BLOCKER_ONLY, HOLD_UNKNOWN = 4, 8, 16
HOLDERS_MODE = 3
# A release in the kernel's trace, or of a record.
Release = namedtuple("Release", "thread time lock")


def read_bytes(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


def read_kernel_releases(name):
    """The events contended_release in the kernel's trace, in the order of time."""
    return sorted((Release(int(thread), int(time), int(lock, 16)) for thread, time, lock in
                   (line.split() for line in read_bytes(name).decode().splitlines())),
                  key=lambda release: release.time)


class Recording:
    def __init__(self, mode):
        self.kernel = read_kernel_releases("holders-%s.releases" % mode)
        self.buffers = etl.decode(read_bytes("holders-%s.etl" % mode))
        self.records = etl.decode_spin_locks(self.buffers)
        self.report = json.loads(read_bytes("holders-%s.json" % mode))
        self.locks, self.waits = {}, {}
        for line in read_bytes("holders-%s.truth" % mode).decode().splitlines():
            _, name, address, wait = line.split()
            self.locks[name], self.waits[name] = int(address, 0), int(wait)
        module = read_bytes("holders-%s.module" % mode).decode().split()
        self.module = range(int(module[5], 0), int(module[5], 0) + int(module[1]))

    def releases_with_waiter(self, name):
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

    def test_mode_events_have_the_mode(self):
        for hook_id in etl.NTKLOG_DC_START, etl.NTKLOG_DC_END:
            (event,) = etl.events_in_order_of_time(self.one.buffers, hook_id)
            self.assertEqual(struct.unpack("<II", event.data), (HOLDERS_MODE, 1))
        self.assertEqual(self.one.report["rates"]["linux"], {"mode": "holders"})

    def test_releases_are_the_same_as_in_mode_full(self):
        """The same code released the lock, in the same order: the owner, and the first waiter."""
        for name, count in ("first_spin", 1), ("queued_spin", 2):
            callers = [[record.caller_address - one.module.start
                        for record in one.releases_with_waiter(name)]
                       for one in (self.one, self.full)]
            self.assertEqual(len(callers[0]), count, name)
            self.assertEqual(callers[0], callers[1], name)

    def test_releases_are_the_same_as_in_the_kernels_trace(self):
        for one in self.one, self.full:
            for name in "first_spin", "queued_spin":
                self.assertEqual([record.thread_id for record in one.releases_with_waiter(name)],
                                 [release.thread for release in one.kernel
                                  if release.lock == one.locks[name]], name)

    def test_release_shows_the_first_waiter(self):
        """The first waiter does not queue, so contention_begin leaves out its wait."""
        waits = [[record for record in one.records
                  if record.spin_lock_address == one.locks["first_spin"] and record.spin_count]
                 for one in (self.one, self.full)]
        self.assertEqual([len(records) for records in waits], [0, 1])
        self.assertEqual(len(self.one.releases_with_waiter("first_spin")), 1)

    def test_release_has_task_and_no_hold(self):
        for record in self.one.releases_with_waiter("queued_spin"):
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

    def test_queue_of_an_rwlock_writes_no_release(self):
        """The first reader releases the spin lock of the queue while the second one waits for it."""
        for one in self.one, self.full:
            rwlock = one.locks["queued_read"]
            self.assertTrue(any(rwlock < release.lock < rwlock + 8 for release in one.kernel))
            self.assertFalse(any(rwlock < record.spin_lock_address < rwlock + 8
                                 for record in one.records))
        self.assertEqual(self.one.releases_with_waiter("queued_read"), [])

    def test_wait_is_charged_to_the_task_that_released_the_lock(self):
        lock = "0x%x" % self.one.locks["queued_spin"]
        rows = [row for row in self.one.report["blockers"] if row["lock"].split()[0] == lock]
        charged = sum(row["charged_total_ns"] for row in rows if not row["holder"].startswith("("))
        total = sum(row["charged_total_ns"] for row in rows)
        self.assertGreater(total, 0)
        self.assertGreater(charged, 0.9 * total, rows)


def last_release(releases, start, end):
    """The last release in a span of time, or None."""
    return max((release for release in releases if start <= release.time <= end),
               key=lambda release: release.time, default=None)


@unittest.skipUnless(os.path.exists(os.path.join(DIRECTORY, "traced-spinning.releases")),
                     "the kernel has no tracepoint contended_release")
class Both(unittest.TestCase):
    """A mixed load, in mode full, and the kernel's event contended_release at the same time.

    A waiter that comes between ntklog's test and the kernel's is seen by the kernel only. Such a
    wait is short, so the share of the waiting time is compared. A waiter that spins for a lock that
    sleeps is seen by ntklog only, so the records are compared with the kernel's last release.
    """

    def compare_releases(self, family, waits, holds):
        """Compare the kernel's last release within each wait with the recorded hold that ended
        last until then. Return the kernel's releases by lock.
        """
        traced, recorded = defaultdict(list), defaultdict(list)
        for release in read_kernel_releases("traced-%s.releases" % family):
            traced[release.lock].append(release)
        for release in holds:
            recorded[release.lock].append(release)
        same, other, missed = Counter(), Counter(), Counter()
        for lock, start, end in waits:
            by_kernel = last_release(traced[lock], start, end)
            by_record = last_release(recorded[lock], start, by_kernel.time) if by_kernel else None
            if by_kernel:
                (missed if not by_record else
                 same if by_record.thread == by_kernel.thread else other).update(
                     waits=1, cycles=end - start)
        print("# last release of a wait, in the records and in the kernel's trace: the same task",
              "in %d waits, another one in %d, not recorded in %d (%.1f %% of the time)" % (
                  same["waits"], other["waits"], missed["waits"],
                  100 * missed["cycles"] / max(1, (same + other + missed)["cycles"])))
        self.assertGreater(same["waits"], 5)
        self.assertGreaterEqual(same["waits"], 0.95 * (same + other)["waits"])
        self.assertLessEqual(missed["cycles"], 0.05 * (same + other + missed)["cycles"])
        return traced

    def test_releases_of_spin_locks_agree_with_the_kernels_trace(self):
        records = etl.decode_spin_locks(etl.decode(read_bytes("traced-spinning.etl")))
        holds = [(record, Release(record.thread_id, record.release_time, record.spin_lock_address))
                 for record in records if record.acquire_mode == 1]
        traced = self.compare_releases(
            "spinning",
            [(record.spin_lock_address, record.acquire_time - record.wait_time_in_cycles,
              record.acquire_time) for record, _ in holds if record.spin_count],
            [hold for _, hold in holds])
        blockers = [hold for record, hold in holds if record.rule & BLOCKER]
        invented = [hold for hold in blockers
                    if hold.thread not in {release.thread for release in traced[hold.lock]}]
        self.assertLessEqual(len(invented), 0.05 * len(blockers), invented[:5])

    def test_releases_of_locks_that_sleep_agree_with_the_kernels_trace(self):
        records = etl.decode_resources(etl.decode(read_bytes("traced-sleeping.etl")))
        holds = [(record, Release(record.thread_id, record.acquire_time + record.hold_time,
                                  record.resource))
                 for record in records if not record.action & 0x200]
        self.compare_releases("sleeping",
                              [(record.resource, record.acquire_time - record.wait_time,
                                record.acquire_time)
                               for record, _ in holds if record.wait_time],
                              [hold for _, hold in holds])


class Crowd(unittest.TestCase):

    def part_shares(self, family):
        answer = json.loads(read_bytes("crowd-%s.json" % family))["answer"]
        self.assertAlmostEqual(sum(answer["parts_ns"].values()) / answer["wait_total_ns"], 1)
        self.assertGreater(answer["waits"], 5)
        return {part: time / answer["wait_total_ns"] for part, time in answer["parts_ns"].items()}

    def test_at_most_a_twentieth_of_the_spinning_is_unknown(self):
        self.assertLessEqual(self.part_shares("spinning")["unknown"], 0.05)

    def test_at_most_a_twentieth_of_the_sleeping_is_unknown(self):
        self.assertLessEqual(self.part_shares("sleeping")["unknown"], 0.05)


if __name__ == "__main__":
    tap.main(CLASSES)
