#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the events of Linux' sleeping locks against the values that sleeping_locks.ko prints.

Usage: check_sleeping.py NTKLOG DIRECTORY
"""

import json
import os
import sys
import unittest
from collections import Counter, namedtuple

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:]
Truth = namedtuple("Truth", "name lock action waited contentions before acquired releasing after "
                            "thread")
# In cycles: the default of the module's parameter.
HOLD_CYCLES = 1500000
# Numbers of acquisitions by sleeping_locks.ko: uncontended ones; holders and waiters; holders while
# a wait fails; holders while a trylock fails; holders and waiters of long waits; the writer and the
# reader of a percpu_rw_semaphore.
UNCONTENDED, CONTENDED, WAIT_FAILS, TRYLOCK_FAILS, LONG_WAITS, PERCPU = 27, 11 + 17, 10, 6, 6, 2


def read_bytes(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


def truth_lines(word, name="sleeping.truth"):
    for line in read_bytes(name).decode().splitlines():
        first, *rest = line.split()
        if first == word:
            yield rest


def function_of_label(text):
    return text.partition(" in ")[2]


def read_truths(name):
    return [Truth(name, *(int(value, 0) for value in values))
            for name, *values in truth_lines("truth", name)]


class Blockers(unittest.TestCase):
    """NT's rules sample no release at this rate."""

    @classmethod
    def setUpClass(cls):
        cls.truths = read_truths("sleeping-blockers.truth")
        locks = {truth.lock for truth in cls.truths}
        buffers = etl.decode(read_bytes("sleeping-blockers.etl"))
        cls.releases = [record for record in etl.decode_resources(buffers)
                        if record.resource in locks and not record.action & 0x200]

    def test_holders_with_waiters_are_written_and_no_others(self):
        self.assertEqual(len(self.truths), 3 * 7 + 1)
        self.assertEqual(list(truth_lines("wrong", "sleeping-blockers.truth")), [])
        self.assertEqual(Counter((record.resource, record.thread_id) for record in self.releases),
                         Counter((truth.lock, truth.thread) for truth in self.truths))

    def test_records_have_the_blocker_bit_and_contentions(self):
        for truth in self.truths:
            record, = [record for record in self.releases
                       if truth.before <= record.acquire_time <= truth.acquired
                       and truth.releasing <= record.acquire_time + record.hold_time <= truth.after
                       and record.thread_id == truth.thread]
            # If a writer of a percpu_rwsem has waited, for a grace period, NT's rules write its
            # release, which then lacks the bit.
            blocker = etl.BLOCKER if truth.name == "percpu_rwsem" else 0
            self.assertEqual((record.action & ~blocker, record.contention_delta),
                             (truth.action, truth.contentions), truth)

    def test_holders_and_waiters_are_named_by_their_callers(self):
        """Without names of tasks, because tasks that have ended may have none."""
        report = json.loads(read_bytes("sleeping-callers.json"))
        found = {lock: {(function_of_label(row["waiter"]),
                          function_of_label(row["holder"]))
                        for row in report["blockers"]
                        if row["lock"].split()[0] == lock and not row["holder"].startswith("(free")}
                 for lock in ("a_mutex", "a_rwsem", "a_semaphore")}
        self.assertEqual(found, {
            "a_mutex": {("acquire_mutex", "acquire_mutex")},
            "a_rwsem": {("acquire_write", "acquire_read (reader)"),
                        ("acquire_write", "acquire_write")},
            "a_semaphore": {("acquire_semaphore", "acquire_semaphore")}})
        self.assertEqual(report["blockers_dropped"], 0)

    def test_number_of_dropped_holders_is_in_the_file(self):
        kinds = Counter(event.hook_id for b in etl.decode(read_bytes("sleeping-blockers.etl"))[1:]
                        for event in b.events)
        self.assertEqual((kinds[etl.DROPPED_DC_START], kinds[etl.DROPPED_DC_END]), (1, 1))
        self.assertEqual(kinds[etl.CALLER], kinds[etl.RESOURCE])


class SleepingLocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.buffers = etl.decode(read_bytes("sleeping.etl"))
        cls.records = list(etl.decode_resources(cls.buffers))
        cls.releases = [record for record in cls.records if not record.action & 0x200]
        cls.truths = read_truths("sleeping.truth")

    def record_of(self, truth):
        """Without the thread, the records of readers that wake up together could fit each other's
        truth.
        """
        found = [record for record in self.releases
                 if record.resource == truth.lock and record.thread_id == truth.thread
                 and truth.before <= record.acquire_time <= truth.acquired
                 and truth.releasing <= record.acquire_time + record.hold_time <= truth.after]
        self.assertEqual(len(found), 1, (truth, found))
        return found[0]

    def test_sleeping_locks_reported_no_error(self):
        self.assertEqual(list(truth_lines("wrong")), [])
        # 8 of take_ten(), 2 of read_twice(), 1 of fire_contention_without_a_wait(), 1 of
        # take_with_context(), 2 of release_by_another_thread(), 1 of read_with_interrupts_off(),
        # and 1 of read_for_another_thread().
        self.assertEqual(len(self.truths),
                         UNCONTENDED + CONTENDED + WAIT_FAILS + TRYLOCK_FAILS + LONG_WAITS + PERCPU +
                         8 + 2 + 1 + 1 + 2 + 1 + 1)

    def test_each_hold_is_written_with_its_times_once(self):
        for truth in self.truths:
            self.record_of(truth)

    def test_locks_without_an_expected_event_have_none(self):
        """Failed and untracked acquisitions of the module's locks have no event."""
        locks = {truth.lock for truth in self.truths}
        locks |= {int(lock, 0) for _name, lock in truth_lines("none")}
        written = [record for record in self.releases if record.resource in locks]
        self.assertEqual(len(written), len(self.truths))

    def test_records_have_the_action_and_kind(self):
        for truth in self.truths:
            self.assertEqual(self.record_of(truth).action, truth.action, truth)

    def test_records_have_depth_1(self):
        for truth in self.truths:
            self.assertEqual(self.record_of(truth).max_recursion_depth, 1, truth)

    def test_waits_are_as_long_as_the_holds(self):
        for truth in self.truths:
            wait = self.record_of(truth).wait_time
            if truth.waited:
                self.assertGreaterEqual(wait, HOLD_CYCLES * 9 // 10, truth)
                self.assertLessEqual(wait, truth.acquired - truth.before, truth)
            elif not truth.name.startswith("percpu_rwsem"):
                self.assertEqual(wait, 0, truth)

    def test_times_without_a_cpu_are_within_the_hold_and_the_wait(self):
        callers = list(etl.callers_with_records(self.buffers))
        self.assertGreater(len(callers), 100)
        for caller, record in callers:
            if record.action & 0x200:
                self.assertFalse(any(caller[2:]), caller)
                continue
            self.assertLessEqual(caller.hold_ready + caller.hold_blocked, record.hold_time)
            self.assertLessEqual(caller.wait_ready + caller.wait_blocked, record.wait_time)
            self.assertLessEqual(caller.wait_last_ready, caller.wait_ready)

    def test_wait_of_a_percpu_reader_has_its_caller_and_no_hold(self):
        truth, = [truth for truth in self.truths if truth.name == "percpu_read"]
        record = self.record_of(truth)
        self.assertEqual(record.hold_time, 0)
        caller, = [caller for caller, other in etl.callers_with_records(self.buffers)
                   if other == record]
        (function,), = truth_lines("reader")
        self.assertLess(caller.caller - int(function, 0), 0x400)
        self.assertGreater(caller.caller, int(function, 0))

    def test_records_count_the_contentions(self):
        for truth in self.truths:
            self.assertEqual(self.record_of(truth).contention_delta, truth.contentions, truth)

    def test_long_waits_are_written_while_they_last(self):
        for name, lock, action, thread in truth_lines("long"):
            timeouts = [record for record in self.records if record.action == int(action, 0)
                        and record.resource == int(lock, 0) and record.thread_id == int(thread)]
            self.assertGreaterEqual(len(timeouts), 2, name)
            self.assertEqual([record.max_recursion_depth for record in timeouts],
                             list(range(1, len(timeouts) + 1)), name)
            truth, = [truth for truth in self.truths
                      if truth.thread == int(thread) and truth.lock == int(lock, 0)]
            for record in timeouts:
                self.assertTrue(truth.before <= record.wait_time <= truth.acquired, name)
                self.assertLess(record.wait_time + record.hold_time, truth.acquired, name)

    def test_generated_events_are_written_or_lost(self):
        for row in read_bytes("sleeping.stats").decode().splitlines()[1:]:
            generated, written, lost = (int(word) for word in row.split()[1:4])
            self.assertEqual(generated, written + lost, row)

    def test_rundowns_have_the_rates_once(self):
        kinds = Counter(event.hook_id for b in self.buffers[1:] for event in b.events)
        self.assertEqual((kinds[etl.RESOURCE_DC_START], kinds[etl.RESOURCE_DC_END]), (1, 1))
        self.assertEqual(kinds[etl.DC_START], 0)

    def test_record_enables_sleeping_locks_by_default(self):
        report = json.loads(read_bytes("sleeping-default.json"))
        kinds = {row["kind"] for row in report["resources"]}
        self.assertTrue(kinds & {"mutex", "rwsem"}, kinds)


if __name__ == "__main__":
    tap.main()
