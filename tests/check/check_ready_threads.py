#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Decode the recording of wake-ups and context switches.

Usage: check_ready_threads.py NTKLOG DIRECTORY
"""

import json
import os
import struct
import subprocess
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:]
PATH = os.path.join(DIRECTORY, "ready.etl")
GROUPS = 0x20000004, 0x20000200
WAITING, USER_REQUEST = 5, 6
UNWAIT, EXECUTING_DPC = 1, 1


def observed_span(buffers):
    """The time in which both groups are observed, as a pair."""
    times = {struct.unpack("<II", event.data): event.time_stamp
             for event in etl.events_in_order_of_time(buffers, etl.OBSERVED)}
    return max(times[group, 1] for group in GROUPS), min(times[group, 0] for group in GROUPS)


class ReadyThreads(unittest.TestCase):
    def setUp(self):
        with open(PATH, "rb") as stream:
            buffers = etl.decode(stream.read())
        with open(os.path.join(DIRECTORY, "ready.threads")) as stream:
            self.shell, self.sleeper = map(int, stream.read().split())
        self.assertEqual(etl.logfile_header(buffers).events_lost, 0)
        self.begin, self.end = observed_span(buffers)
        self.events = sorted(((event.time_stamp, buffer.processor, event)
                              for buffer in buffers[1:] for event in buffer.events
                              if event.hook_id in (etl.CONTEXTSWAP, etl.READY_THREAD)),
                             key=lambda item: item[0])
        self.ready = [(time, processor, etl.decode_ready_thread(event))
                      for time, processor, event in self.events
                      if event.hook_id == etl.READY_THREAD]
        self.swaps = [(time, processor, etl.decode_context_swap(event))
                      for time, processor, event in self.events if event.hook_id == etl.CONTEXTSWAP]

    def find_waits(self):
        """The waker may write its record before the thread has switched. A process that has a
        signal when it begins an interruptible sleep does not wait: of these, only the sleeper's
        are taken.
        """
        ran, left = {}, {}
        for time, _, swap in self.swaps:
            old, new = swap.old_thread_id, swap.new_thread_id
            if new in left and time < self.end:
                since, away = left[new]
                yield away, [record for at, _, record in self.ready
                             if since <= at < time and record.thread_id == new]
            left.pop(new, None)
            ran[new] = time
            if old and self.begin < ran.get(old, 0) and swap.old_thread_state == WAITING and \
                    (swap.old_thread_wait_reason != USER_REQUEST or old == self.sleeper):
                left[old] = ran[old], swap

    def test_each_wait_ends_after_a_ready_thread_event(self):
        count = 0
        for away, records in self.find_waits():
            self.assertTrue(records, away)
            count += 1
        self.assertGreater(count, 20)

    def test_timer_readies_the_sleeper_in_a_dpc(self):
        records, = [records for away, records in self.find_waits()
                    if (away.old_thread_id, away.old_thread_wait_reason) == (self.sleeper, USER_REQUEST)]
        self.assertEqual(records[-1], (self.sleeper, UNWAIT, 0, EXECUTING_DPC))

    def test_new_thread_is_made_ready_by_its_parent(self):
        time, cpu, record = next(item for item in self.ready if item[2].thread_id == self.sleeper)
        self.assertEqual(record, (self.sleeper, 0, 0, 0))
        running = [swap.new_thread_id for at, processor, swap in self.swaps
                   if processor == cpu and at < time]
        self.assertEqual(running[-1], self.shell)

    def test_fields_have_possible_values(self):
        for _, _, record in self.ready:
            self.assertGreater(record.thread_id, 0)
            self.assertIn((record.adjust_reason, record.adjust_increment, record.flag),
                          ((0, 0, 0), (UNWAIT, 0, 0), (UNWAIT, 0, EXECUTING_DPC)))

    def test_dump_prints_the_same_records(self):
        lines = subprocess.run([NTKLOG, "dump", "--json", "--filter", "Event == ReadyThread", PATH],
                               check=True, stdout=subprocess.PIPE, timeout=600).stdout.splitlines()
        printed = [(fields["Cpu"], fields["ThreadId"], fields["AdjustReason"],
                    fields["AdjustIncrement"], fields["ExecutingDpc"])
                   for fields in map(json.loads, lines)]
        reasons = "none", "unwait"
        self.assertEqual(sorted(printed), sorted(
            (processor, record.thread_id, reasons[record.adjust_reason], record.adjust_increment,
             record.flag) for _, processor, record in self.ready))


if __name__ == "__main__":
    tap.main()
