#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the virtual machine left, decoded byte by byte.

Usage: check_e2e.py NTKLOG DIRECTORY
"""

import os
import re
import subprocess
import sys
import unittest
from collections import Counter

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:3]
CONTEXTS = {(0, 0): "thread", (1, 0): "dpc", (0, 1): "isr", (1, 1): "dpc|isr"}


def path(name):
    return os.path.join(DIRECTORY, name)


def read(name):
    with open(path(name), "rb") as stream:
        return stream.read()


def stats(name):
    """Rows by processor, and the total: generated written lost buffers unread."""
    header, *rows = read(name).decode().splitlines()
    assert header == "processor generated written lost buffers unread", header
    return {row.split()[0]: [int(n) for n in row.split()[1:]] for row in rows}


def counter_changes(name):
    """The counters of each processor, before and after."""
    return zip(*([[int(n) for n in line.split()[1:]]
                  for line in read(name + when).decode().splitlines()[1:]]
                 for when in (".before", ".after")))


def event_count(buffers):
    return Counter(buffer.processor for buffer in buffers for _ in buffer.events)


def report(name):
    """The lines of trace-cmd report, as the decoder's records with their processor."""
    line_format = re.compile(r"\[(\d+)\] +[\d.]+: +spinlock: +(.*)")
    for line in read(name).decode().splitlines():
        match = line_format.search(line)
        if not match:
            continue
        values = dict(field.split("=", 1) for field in match.group(2).split())
        contexts = {text: bits for bits, text in CONTEXTS.items()}
        dpc, isr = contexts[values["context"]]
        yield int(match.group(1)), etl.SpinLock(
            int(values["spin_lock_address"], 16), int(values["caller_address"], 16),
            *(int(values[name]) for name in etl.SpinLock._fields[2:10]),
            {"ordinary": 0, "queued": 1}[values["acquire_mode"]], dpc, isr), values


class Session(unittest.TestCase):
    """A file, its statistics and what the header says must agree exactly."""

    def check(self, name, lost=False):
        buffers = etl.decode(read(name + ".etl"))
        header = etl.check_file(buffers)
        rows = stats(name + ".stats")
        counts = event_count(buffers[1:])
        for row, (generated, written, row_lost, finished, _) in rows.items():
            self.assertEqual(generated, written + row_lost, row)
            if row == "total":
                self.assertEqual(written, sum(counts.values()))
                self.assertEqual(finished, len(buffers) - 1)
                self.assertEqual(header.events_lost, row_lost)
            else:
                self.assertEqual(written, counts[int(row[3:])], row)
        self.assertEqual(rows["total"][2] > 0, lost)
        self.assertEqual(header.logger_name, "NT Kernel Logger")
        self.assertEqual(header.processors, 2)
        self.assertEqual(any(buffer.flags & 2 for buffer in buffers), lost)
        return buffers

    def test_idle_session_has_its_rundown(self):
        buffers = self.check("idle")
        self.assertEqual([event.hook_id for event in buffers[1].events],
                         [etl.DC_START, etl.DC_END])
        for event in buffers[1].events:
            self.assertEqual(event.version, 3)
            words = [int.from_bytes(event.data[at:at + 4], "little")
                     for at in range(0, len(event.data), 4)]
            self.assertEqual(words, [1, 1, 1000, 1000000])

    def test_group_mask_event(self):
        event = etl.decode(read("both.etl"))[0].events[1]
        self.assertEqual((event.hook_id, event.size), (5, 0x44))
        self.assertEqual(event.data[4:8], b"\0\0\1\0")
        self.assertFalse(any(event.data[:4] + event.data[8:32]))

    def test_all_events_of_a_session_with_room(self):
        buffers = self.check("both")
        kinds = Counter(event.hook_id for b in buffers[1:] for event in b.events)
        self.assertEqual((kinds.pop(etl.DC_START), kinds.pop(etl.DC_END)), (1, 1))
        self.assertEqual(list(kinds), [etl.SPINLOCK])
        self.assertGreater(kinds[etl.SPINLOCK], 500)

    def test_events_that_found_no_room_are_counted(self):
        self.check("full", lost=True)
        before, after = stats("full.stats")["total"], stats("full.stats2")["total"]
        self.assertEqual(before[4], before[3])
        self.assertEqual(after[4], 0)

    def test_hotplug_loses_nothing(self):
        buffers = etl.decode(read("hotplug.etl"))
        total = stats("hotplug.stats")["total"]
        self.assertEqual(total[0], total[1] + total[2])
        self.assertEqual(total[1], sum(event_count(buffers[1:]).values()))
        self.assertEqual(sorted(b.sequence for b in buffers[1:]),
                         list(range(1, len(buffers))))

    def test_drained_while_it_was_written(self):
        """Buffers come out whole, in sequence, and none is missing."""
        data = read("drained.header") + read("drained.cpu0") + read("drained.cpu1")
        buffers = etl.decode(data)
        etl.check_file(buffers)
        total = stats("drained.stats")["total"]
        self.assertEqual(total[0], total[1] + total[2])
        self.assertEqual(total[1], sum(event_count(buffers[1:]).values()))
        self.assertGreater(len(buffers), 20)

    def test_a_higher_contention_sample_rate_gives_fewer_events(self):
        often, seldom = (stats("rate%d.stats" % rate)["total"][0] for rate in (10, 1000))
        self.assertGreater(often, 5 * seldom)

    def test_counters_without_events(self):
        self.assertEqual(stats("counters.stats")["total"], [0] * 5)
        for old, new in counter_changes("counters"):
            self.assertGreater((new[0] - old[0]) % 2**32, 100)
            self.assertGreater((new[1] - old[1]) % 2**32, 0)
            self.assertGreaterEqual((new[2] - old[2]) % 2**32, (new[1] - old[1]) % 2**32)
            # Untracked, unmatched, suppressed, events: not touched.
            self.assertEqual(new[3:], old[3:])


class Records(unittest.TestCase):
    def setUp(self):
        self.buffers = etl.decode(read("both.etl"))
        self.records = etl.spin_locks(self.buffers)

    def test_trace_cmd_has_the_same_events(self):
        """Each once, on the same processor, field for field."""
        ours = Counter((buffer.processor, etl.spin_lock(event))
                       for buffer in self.buffers[1:] for event in buffer.events
                       if event.hook_id == etl.SPINLOCK)
        theirs = Counter((cpu, record) for cpu, record, _ in report("both.report"))
        self.assertEqual(ours - theirs, Counter())
        self.assertEqual(theirs - ours, Counter())

    def test_tracepoint_alone_names_callers(self):
        records = list(report("alone.report"))
        self.assertGreater(len(records), 50)
        for _, _, values in records:
            self.assertRegex(values["caller"], r"^(in_stack|torture)_release\+0x[0-9a-f]+")

    def test_ntklog_dump_prints_the_same(self):
        output = subprocess.run([NTKLOG, "dump", path("both.etl")], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        lines = [line for line in output.splitlines() if " SpinLock " in line]
        self.assertEqual(len(lines), len(self.records))
        for line, record in zip(lines, self.records):
            values = dict(field.split("=") for field in line.split()[3:])
            self.assertEqual(etl.SpinLock(
                int(values["SpinLockAddress"], 16), int(values["CallerAddress"], 16),
                *(int(values[name]) for name in (
                    "AcquireTime", "ReleaseTime", "WaitTimeInCycles", "SpinCount", "ThreadId",
                    "InterruptCount", "Irql", "AcquireDepth")),
                {"queued": 1}[values["AcquireMode"]], int(values["ExecuteDpc"]),
                int(values["ExecuteIsr"])), record)

    def test_contended_ones_are_sampled_by_the_rate(self):
        """One of 40: not exactly, for nested releases see the same count."""
        for cpu, (old, new) in enumerate(counter_changes("both")):
            contentions = (new[1] - old[1]) % 2**32
            sampled = sum(1 for buffer in self.buffers[1:] if buffer.processor == cpu
                          for event in buffer.events if event.hook_id == etl.SPINLOCK
                          and etl.spin_lock(event).spin_count)
            self.assertGreater(contentions, 2000)
            self.assertGreater(sampled, contentions / 40 / 3)
            self.assertLess(sampled, contentions / 40 * 3)

    def test_every_event_is_counted(self):
        """The counters' last column is what the session has, rundown apart."""
        events = sum(new[6] - old[6] for old, new in counter_changes("both"))
        self.assertEqual(events, len(self.records))

    def test_fields_are_real(self):
        records = self.records
        self.assertEqual({r.acquire_mode for r in records}, {1})
        self.assertTrue(all(r.irql in (2, 12) for r in records))
        self.assertTrue(all(1 <= r.acquire_depth <= 8 for r in records))
        self.assertGreaterEqual(max(r.acquire_depth for r in records), 7)
        self.assertTrue(all(r.release_time >= r.acquire_time for r in records))
        self.assertTrue(all(r.spin_lock_address >> 47 == 0x1FFFF for r in records))
        self.assertGreater(len({r.spin_lock_address for r in records}), 8)
        self.assertGreater(len({r.thread_id for r in records}), 3)
        # Waiting without a spin takes no longer than the query and the exchange
        # do, unless an interrupt or the host comes between.
        waits = sorted(r.wait_time_in_cycles for r in records if r.spin_count)
        self.assertGreater(waits[len(waits) // 2], 0)
        self.assertTrue(any(r.execute_dpc for r in records))
        self.assertTrue(any(r.execute_isr for r in records))
        self.assertTrue(any(r.interrupt_count for r in records))

    def test_records_are_inside_the_session(self):
        header = etl.logfile_header(self.buffers)
        start = self.buffers[0].events[0].time_stamp
        end = start + (header.end_time - header.start_time) * header.perf_freq // 10**7
        for buffer in self.buffers[1:]:
            for event in buffer.events:
                self.assertGreaterEqual(event.time_stamp, start)
                # The clock is calibrated to some parts in 10,000.
                self.assertLess(event.time_stamp, end + header.perf_freq // 100)


ACTIONS = {"initialize": 0x10008, "reinitialize": 0x10018, "release_exclusive": 0x10022,
           "release_shared": 0x10042, "owner_pointer_exclusive": 0x10120,
           "owner_pointer_shared": 0x10140, "wait_excessive_for_exclusive": 0x10224,
           "wait_excessive_for_shared": 0x10244}


def resource_report(name):
    """The lines of trace-cmd report, as the decoder's records with their processor."""
    line_format = re.compile(r"\[(\d+)\] +[\d.]+: +resource: +(.*)")
    for line in read(name).decode().splitlines():
        match = line_format.search(line)
        if not match:
            continue
        values = dict(field.split("=", 1) for field in match.group(2).split())
        yield int(match.group(1)), etl.Resource(
            *(int(values[name]) for name in etl.Resource._fields[:5]),
            int(values["resource"], 16), ACTIONS[values["action"]],
            int(values["contention_delta"]))


class Resources(unittest.TestCase):
    def setUp(self):
        self.buffers = etl.decode(read("resources.etl"))
        self.records = etl.resources(self.buffers)
        self.actions = Counter(record.action for record in self.records)

    def test_nothing_is_lost_and_the_file_is_right(self):
        header = etl.check_file(self.buffers)
        total = stats("resources.stats")["total"]
        self.assertEqual(total[2], 0)
        self.assertEqual(header.events_lost, 0)
        self.assertEqual(total[1], sum(event_count(self.buffers[1:]).values()))

    def test_trace_cmd_has_the_same_events(self):
        """Each once, on the same processor, field for field."""
        ours = Counter((buffer.processor, etl.resource(event))
                       for buffer in self.buffers[1:] for event in buffer.events
                       if event.hook_id == etl.RESOURCE)
        theirs = Counter(resource_report("resources.report"))
        self.assertEqual(ours - theirs, Counter())
        self.assertEqual(theirs - ours, Counter())

    def test_tracepoint_alone(self):
        self.assertGreater(len(list(resource_report("resource-alone.report"))), 50)

    def test_ntklog_dump_prints_the_same(self):
        output = subprocess.run([NTKLOG, "dump", path("resources.etl")], text=True,
                                check=True, stdout=subprocess.PIPE).stdout
        lines = [line for line in output.splitlines() if " Resource " in line]
        self.assertEqual(len(lines), len(self.records))
        for line, record in zip(lines, self.records):
            values = dict(field.split("=") for field in line.split()[3:])
            self.assertEqual(etl.Resource(
                *(int(values[name]) for name in (
                    "AcquireTime", "HoldTime", "WaitTime", "MaxRecursionDepth", "ThreadId")),
                int(values["Resource"], 16), ACTIONS[values["Action"]],
                int(values["ContentionDelta"])), record)

    def test_only_the_actions_that_are_written(self):
        self.assertLessEqual(set(self.actions), set(ACTIONS.values()))
        for action in ACTIONS.values():
            self.assertGreater(self.actions[action], 0, "no 0x%x" % action)

    def test_every_event_is_counted(self):
        events = sum(new[12] - old[12] for old, new in counter_changes("resources"))
        self.assertEqual(events, len(self.records))

    def test_fields_are_real(self):
        for r in self.records:
            self.assertEqual(r.resource >> 47, 0x1FFFF)
            if r.action in (0x10022, 0x10042):
                self.assertTrue(r.acquire_time == 2 or r.acquire_time > 10**6, r)
                self.assertGreaterEqual(r.max_recursion_depth, 1)
                self.assertTrue(r.acquire_time > 2 or (r.hold_time, r.wait_time) == (0, 1), r)
            elif r.action in (0x10224, 0x10244):
                self.assertGreaterEqual(r.max_recursion_depth, 1)
                self.assertGreater(r.wait_time, 10**6)
                self.assertEqual((r.acquire_time, r.contention_delta), (0, 0))
            else:
                self.assertEqual((r.acquire_time, r.hold_time, r.wait_time), (0, 0, 0))
        releases = [r for r in self.records if r.action in (0x10022, 0x10042)]
        self.assertGreater(max(r.max_recursion_depth for r in releases), 5)
        self.assertTrue(any(r.contention_delta for r in releases))
        self.assertTrue(any(r.wait_time > 1 for r in releases))
        self.assertTrue(any(r.hold_time for r in releases))
        self.assertGreater(len({r.resource for r in releases}), 10)
        # Softirqs release in the name of who is interrupted, also an idle one: 0.
        self.assertGreater(len({r.thread_id for r in releases}), 5)

    def test_the_rundown(self):
        for hook_id, times in ((etl.RESOURCE_DC_START, 1), (etl.RESOURCE_DC_END, 1)):
            found = [event for buffer in self.buffers[1:] for event in buffer.events
                     if event.hook_id == hook_id]
            self.assertEqual(len(found), times)
            self.assertEqual(found[0].version, 2)
            self.assertEqual(found[0].data, b"\x0a\0\0\0\1\0\0\0\1\0\0\0")

    def test_the_list_while_it_was_worked_with(self):
        names, *lines = read("resources.locks").decode().splitlines()
        self.assertEqual(names.split()[:10], [
            "Address", "Type", "CreatorBackTraceIndex", "OwningThread", "LockCount",
            "ContentionCount", "EntryCount", "RecursionCount", "NumberOfWaitingShared",
            "NumberOfWaitingExclusive"])
        self.assertGreaterEqual(len(lines), 12)
        addresses = {record.resource for record in self.records}
        for line in lines:
            fields = line.split()
            values = [int(field, 0) for field in fields[:10]]
            self.assertIn(values[0], addresses)
            self.assertEqual(values[1:3], [1, 0])
            owners, entries, recursion = values[4], values[6], values[7]
            self.assertGreaterEqual(entries, owners)
            self.assertIn(recursion, (0, entries))
            self.assertRegex(fields[11], r"^torture_(start_resources|renew)\+0x")

    def test_what_is_not_sampled_is_not_written(self):
        buffers = etl.decode(read("unsampled.etl"))
        etl.check_file(buffers)
        actions = {record.action for record in etl.resources(buffers)}
        self.assertLessEqual(actions, {0x10008, 0x10018, 0x10120, 0x10140})
        self.assertIn(0x10008, actions)
        self.assertFalse(any(event.hook_id in (etl.SPINLOCK, etl.DC_START)
                             for b in buffers[1:] for event in b.events))


class Locks(unittest.TestCase):
    def test_the_binary_list_says_the_same(self):
        _, line = read("locks.txt").decode().splitlines()
        found, = etl.locks(read("locks.bin"))
        self.assertEqual(list(found), [int(field, 0) for field in line.split()[:10]])


if __name__ == "__main__":
    tap.main()
