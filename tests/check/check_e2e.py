#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Decode the files that the virtual machine left, and compare them with its counters and with the
output of trace-cmd.

Usage: check_e2e.py NTKLOG DIRECTORY [CASE...]

CASE is Class or Class.test.
"""

import os
import re
import struct
import subprocess
import sys
import unittest
from collections import Counter

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]
PROCESSORS = int(os.environ.get("PROCESSORS", 2))
CONTEXTS = {(0, 0): "thread", (1, 0): "dpc", (0, 1): "isr", (1, 1): "dpc|isr"}


def path_of(name):
    return os.path.join(DIRECTORY, name)


def read_bytes(name):
    with open(path_of(name), "rb") as stream:
        return stream.read()


def read_stats(name):
    """The rows by processor, and "total": generated written lost buffers unread overwritten."""
    header, *rows = read_bytes(name).decode().splitlines()
    assert header == "processor generated written lost buffers unread overwritten", header
    return {row.split()[0]: [int(n) for n in row.split()[1:]] for row in rows}


def counter_pairs(name):
    """Pairs of the counters before and after, one pair for each processor."""
    return zip(*([[int(n) for n in line.split()[1:]]
                  for line in read_bytes(name + when).decode().splitlines()[1:]]
                 for when in (".before", ".after")))


def count_events_by_processor(buffers):
    return Counter(buffer.processor for buffer in buffers for _ in buffer.events)


def parse_trace_cmd_report(name):
    """Yield (processor, record, fields as text) for each spin lock."""
    line_format = re.compile(r"\[(\d+)\] +[\d.]+: +spinlock: +(.*)")
    for line in read_bytes(name).decode().splitlines():
        match = line_format.search(line)
        if not match:
            continue
        values = dict(field.split("=", 1) for field in match.group(2).split())
        contexts = {text: bits for bits, text in CONTEXTS.items()}
        dpc, isr = contexts[values["context"]]
        yield int(match.group(1)), etl.SpinLock(
            int(values["spin_lock_address"], 16), int(values["caller_address"], 16),
            *(int(values[name]) for name in etl.SpinLock._fields[2:10]),
            {"ordinary": 0, "queued": 1}[values["acquire_mode"]], dpc, isr,
            {"nt": 0}[values["rule"]]), values


class Session(unittest.TestCase):

    def check_session(self, name, lost=False):
        """Check a session's file, in which events are lost or not. Return its buffers."""
        buffers = etl.decode(read_bytes(name + ".etl"))
        header = etl.check_file(buffers)
        rows = read_stats(name + ".stats")
        counts = count_events_by_processor(buffers[1:])
        for row, (generated, written, row_lost, finished, _, overwritten) in rows.items():
            self.assertEqual(overwritten, 0, row)
            self.assertEqual(generated, written + row_lost, row)
            if row == "total":
                self.assertEqual(written, sum(counts.values()))
                self.assertEqual(finished, len(buffers) - 1)
                self.assertEqual(header.events_lost, row_lost)
            else:
                self.assertEqual(written, counts[int(row[3:])], row)
        self.assertEqual(rows["total"][2] > 0, lost)
        self.assertEqual(header.logger_name, "NT Kernel Logger")
        self.assertEqual(header.processors, PROCESSORS)
        self.assertEqual(any(buffer.flags & 2 for buffer in buffers), lost)
        return buffers

    def test_idle_session_has_its_rundown(self):
        buffers = self.check_session("idle")
        self.assertEqual([event.hook_id for event in buffers[1].events],
                         [etl.DC_START, etl.OBSERVED, etl.OBSERVED, etl.DC_END])
        for event in buffers[1].events[1:3]:
            self.assertEqual((event.version, len(event.data)), (1, 8))
        self.assertEqual(b"".join(event.data for event in buffers[1].events[1:3]),
                         bytes.fromhex("00000120 01000000 00000120 00000000"))
        for event in buffers[1].events[0], buffers[1].events[3]:
            self.assertEqual(event.version, 3)
            words = [int.from_bytes(event.data[at:at + 4], "little")
                     for at in range(0, len(event.data), 4)]
            self.assertEqual(words, [1, 1, 1000, 1000000])

    def test_changed_group_mask_writes_rundowns(self):
        buffers = etl.decode(read_bytes("changed.etl"))
        etl.check_file(buffers)
        self.assertEqual([event.hook_id for b in buffers[1:] for event in b.events],
                         [etl.DC_START, etl.OBSERVED, etl.OBSERVED, etl.RESOURCE_DC_START,
                          etl.OBSERVED, etl.RESOURCE_DC_END, etl.OBSERVED, etl.DC_END])

    def test_group_mask_has_the_recorded_groups(self):
        event = etl.decode(read_bytes("both.etl"))[0].events[1]
        self.assertEqual((event.hook_id, event.size), (5, 0x44))
        self.assertEqual(event.data[4:8], b"\0\0\1\0")
        self.assertFalse(any(event.data[:4] + event.data[8:32]))

    def test_session_with_enough_buffers_has_all_events(self):
        buffers = self.check_session("both")
        kinds = Counter(event.hook_id for b in buffers[1:] for event in b.events)
        self.assertEqual((kinds.pop(etl.DC_START), kinds.pop(etl.DC_END)), (1, 1))
        self.assertEqual(kinds.pop(etl.OBSERVED), 2)
        self.assertEqual(list(kinds), [etl.SPINLOCK])
        self.assertGreater(kinds[etl.SPINLOCK], 500)

    def test_full_session_counts_lost_events(self):
        self.check_session("full", lost=True)
        before, after = read_stats("full.stats")["total"], read_stats("full.stats2")["total"]
        self.assertEqual(before[4], before[3])
        self.assertEqual(after[4], 0)

    def test_higher_contention_sample_rate_gives_fewer_events(self):
        for rate in 10, 100:
            contended = sum((new[1] - old[1]) % 2**32
                            for old, new in counter_pairs("rate%d" % rate))
            written = read_stats("rate%d.stats" % rate)["total"][0]
            # The number varies, because nested releases see the same count.
            self.assertLess(contended / rate / 4, written)
            self.assertLess(written, 4 * contended / rate + 4)

    def test_counters_count_without_events(self):
        self.assertEqual(read_stats("counters.stats")["total"], [0] * 6)
        for old, new in counter_pairs("counters"):
            self.assertGreater((new[0] - old[0]) % 2**32, 100)
            self.assertGreater((new[1] - old[1]) % 2**32, 0)
            self.assertGreaterEqual((new[2] - old[2]) % 2**32, (new[1] - old[1]) % 2**32)
            self.assertEqual(new[3:], old[3:])


class Races(unittest.TestCase):
    def test_cpu_hotplug_loses_no_event(self):
        buffers = etl.decode(read_bytes("hotplug.etl"))
        total = read_stats("hotplug.stats")["total"]
        self.assertEqual(total[0], total[1] + total[2])
        self.assertEqual(total[1], sum(count_events_by_processor(buffers[1:]).values()))
        self.assertEqual(sorted(b.sequence for b in buffers[1:]),
                         list(range(1, len(buffers))))

    def test_buffers_drained_during_the_session_are_whole(self):
        data = (read_bytes("drained.header") + read_bytes("drained.cpu0") +
                read_bytes("drained.cpu1"))
        buffers = etl.decode(data)
        etl.check_file(buffers)
        total = read_stats("drained.stats")["total"]
        self.assertEqual(total[0], total[1] + total[2])
        self.assertEqual(total[1], sum(count_events_by_processor(buffers[1:]).values()))
        self.assertGreater(len(buffers), 20)


class Records(unittest.TestCase):
    def setUp(self):
        self.buffers = etl.decode(read_bytes("both.etl"))
        self.records = etl.decode_spin_locks(self.buffers)

    def test_trace_cmd_has_the_same_events(self):
        ours = Counter((buffer.processor, etl.decode_spin_lock(event))
                       for buffer in self.buffers[1:] for event in buffer.events
                       if event.hook_id == etl.SPINLOCK)
        theirs = Counter((cpu, record) for cpu, record, _ in parse_trace_cmd_report("both.report"))
        self.assertEqual(ours - theirs, Counter())
        self.assertEqual(theirs - ours, Counter())

    def test_tracepoint_alone_names_callers(self):
        records = list(parse_trace_cmd_report("alone.report"))
        self.assertGreater(len(records), 50)
        for _, _, values in records:
            self.assertRegex(values["caller"], r"^(in_stack|torture)_release\+0x[0-9a-f]+")

    def test_ntklog_dump_prints_the_decoded_records(self):
        output = subprocess.run([NTKLOG, "dump", "--cycles", path_of("both.etl")], text=True,
                                check=True, stdout=subprocess.PIPE).stdout
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
                int(values["ExecuteIsr"]), {"nt": 0}[values["Rule"]]), record)

    def test_contended_acquisitions_are_sampled_by_the_rate(self):
        """The number varies, because nested releases see the same count."""
        for cpu, (old, new) in enumerate(counter_pairs("both")):
            contentions = (new[1] - old[1]) % 2**32
            sampled = sum(1 for buffer in self.buffers[1:] if buffer.processor == cpu
                          for event in buffer.events if event.hook_id == etl.SPINLOCK
                          and etl.decode_spin_lock(event).spin_count)
            self.assertGreater(contentions, 4000)
            self.assertGreater(sampled, contentions / 20 / 3)
            self.assertLess(sampled, contentions / 20 * 3)

    def test_every_event_is_counted(self):
        """The last column of the counters does not count the rundown."""
        events = sum(new[6] - old[6] for old, new in counter_pairs("both"))
        self.assertEqual(events, len(self.records))

    def test_spin_lock_fields_have_possible_values(self):
        records = self.records
        self.assertEqual({r.acquire_mode for r in records}, {1})
        self.assertTrue(all(r.irql in (2, 12) for r in records))
        self.assertTrue(all(1 <= r.acquire_depth <= 8 for r in records))
        self.assertGreaterEqual(max(r.acquire_depth for r in records), 7)
        self.assertTrue(all(r.release_time >= r.acquire_time for r in records))
        self.assertTrue(all(r.spin_lock_address >= etl.KERNEL for r in records))
        self.assertGreater(len({r.spin_lock_address for r in records}), 8)
        self.assertGreater(len({r.thread_id for r in records}), 3)
        # A wait that ends with the first test may seem to take no time, so check the median.
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
                # The frequency of the clock is known to some parts in 10,000 only.
                self.assertLess(event.time_stamp, end + (end - start) // 1000)


ACTIONS = {"initialize": 0x10008, "reinitialize": 0x10018, "release_exclusive": 0x10022,
           "release_shared": 0x10042, "owner_pointer_exclusive": 0x10120,
           "owner_pointer_shared": 0x10140, "wait_excessive_for_exclusive": 0x10224,
           "wait_excessive_for_shared": 0x10244}


def read_trace_cmd_resources(name):
    """Yield (processor, record) for each resource."""
    line_format = re.compile(r"\[(\d+)\] +[\d.]+: +resource: +(.*)")
    for line in read_bytes(name).decode().splitlines():
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
        self.buffers = etl.decode(read_bytes("resources.etl"))
        self.records = etl.decode_resources(self.buffers)
        self.actions = Counter(record.action for record in self.records)

    def test_no_event_is_lost_and_the_file_is_right(self):
        header = etl.check_file(self.buffers)
        total = read_stats("resources.stats")["total"]
        self.assertEqual(total[2], 0)
        self.assertEqual(header.events_lost, 0)
        self.assertEqual(total[1], sum(count_events_by_processor(self.buffers[1:]).values()))

    def test_trace_cmd_has_the_same_events(self):
        ours = Counter((buffer.processor, etl.decode_resource(event))
                       for buffer in self.buffers[1:] for event in buffer.events
                       if event.hook_id == etl.RESOURCE)
        theirs = Counter(read_trace_cmd_resources("resources.report"))
        self.assertEqual(ours - theirs, Counter())
        self.assertEqual(theirs - ours, Counter())

    def test_tracepoint_alone_gets_records(self):
        self.assertGreater(len(list(read_trace_cmd_resources("resource-alone.report"))), 50)

    def test_ntklog_dump_prints_the_decoded_records(self):
        output = subprocess.run([NTKLOG, "dump", "--cycles", path_of("resources.etl")], text=True,
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

    def test_each_action_is_written_and_no_other(self):
        self.assertLessEqual(set(self.actions), set(ACTIONS.values()))
        for action in ACTIONS.values():
            self.assertGreater(self.actions[action], 0, "no 0x%x" % action)

    def test_every_event_is_counted(self):
        events = sum(new[12] - old[12] for old, new in counter_pairs("resources"))
        self.assertEqual(events, len(self.records))

    def test_resource_fields_have_possible_values(self):
        for r in self.records:
            self.assertGreaterEqual(r.resource, etl.KERNEL)
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
        # A release in a softirq has the thread id of the interrupted thread, which is 0 for the
        # idle thread.
        self.assertGreater(len({r.thread_id for r in releases}), 5)

    def test_rundown_has_the_rates_once(self):
        for hook_id, times in ((etl.RESOURCE_DC_START, 1), (etl.RESOURCE_DC_END, 1)):
            found = [event for buffer in self.buffers[1:] for event in buffer.events
                     if event.hook_id == hook_id]
            self.assertEqual(len(found), times)
            self.assertEqual(found[0].version, 2)
            self.assertEqual(found[0].data, b"\x0a\0\0\0\1\0\0\0\1\0\0\0")

    def test_list_of_resources_during_the_workload_is_consistent(self):
        names, *lines = read_bytes("resources.locks").decode().splitlines()
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

    def test_events_that_are_not_sampled_are_not_written(self):
        buffers = etl.decode(read_bytes("unsampled.etl"))
        etl.check_file(buffers)
        actions = {record.action for record in etl.decode_resources(buffers)}
        self.assertLessEqual(actions, {0x10008, 0x10018, 0x10120, 0x10140})
        self.assertIn(0x10008, actions)
        self.assertFalse(any(event.hook_id in (etl.SPINLOCK, etl.DC_START)
                             for b in buffers[1:] for event in b.events))


class ManySessions(unittest.TestCase):
    """Sessions 0 and 1 record spin locks, 2 and 3 resources, 4 and 5 context switches, 6 all."""

    @classmethod
    def setUpClass(cls):
        cls.files = [etl.decode(read_bytes("many%d.etl" % i)) for i in range(8)]

    def events_of_session(self, i):
        return [(buffer.processor, event) for buffer in self.files[i][1:]
                for event in buffer.events]

    def test_each_file_is_right(self):
        for i, buffers in enumerate(self.files):
            header = etl.check_file(buffers, recorder=i == 7)
            self.assertEqual(header.logger_name, "System Logger %d" % i if i else
                             "NT Kernel Logger")
            self.assertEqual({b.logger_id for b in buffers}, {i})
            total = read_stats("many%d.stats" % i)["total"]
            self.assertEqual(total[0], total[1] + total[2])
            self.assertEqual(header.events_lost, total[2])
            if i != 7:
                self.assertEqual(total[1], len(self.events_of_session(i)))

    def test_each_session_has_the_events_of_its_groups(self):
        wanted = {0: {0x0529}, 1: {0x0529}, 2: {0x052B}, 3: {0x052B}, 4: {0x0524},
                  5: {0x0524}, 6: {0x0529, 0x052B, 0x0524}}
        rundown = {0x0529: {0x0F4B, 0x0F4C}, 0x052B: {0x0F4D, 0x0F4E}, 0x0524: set()}
        for i, hook_ids in wanted.items():
            found = {event.hook_id for _, event in self.events_of_session(i)}
            self.assertEqual(found, hook_ids.union({etl.OBSERVED},
                                                   *(rundown[h] for h in hook_ids)), i)

    def test_two_sessions_have_the_same_events_and_times(self):
        """The sessions differ before the later one started and after the earlier one stopped."""
        for one, other in ((0, 1), (2, 3), (1, 6), (3, 6)):
            if read_stats("many%d.stats" % one)["total"][2] or \
                    read_stats("many%d.stats" % other)["total"][2]:
                continue
            hook_id = 0x0529 if one < 2 else 0x052B
            ours, theirs = ({(cpu, e.time_stamp, e.data) for cpu, e in self.events_of_session(i)
                             if e.hook_id == hook_id} for i in (one, other))
            # The session with the greater number, "other", started later and stopped earlier.
            self.assertLessEqual(theirs, ours)
            self.assertGreater(len(theirs), 100)
            self.assertLess(len(ours - theirs), 50)

    def test_event_has_the_version_of_each_session(self):
        new = {(cpu, e.time_stamp): etl.decode_context_swap(e)
               for cpu, e in self.events_of_session(4)
               if e.hook_id == 0x0524 and e.version == 4}
        old = {(cpu, e.time_stamp): etl.decode_context_swap(e)
               for cpu, e in self.events_of_session(5)
               if e.hook_id == 0x0524 and e.version == 1}
        both = new.keys() & old.keys()
        self.assertGreater(len(both), 100)
        for key in both:
            self.assertEqual(old[key][:4], new[key][:4])
            self.assertEqual(old[key][6:10], new[key][6:10])
            self.assertEqual(old[key][4:6], (0, 0))

    def test_snapshots_have_the_last_buffers(self):
        one, two = (etl.decode(read_bytes("snapshot%d.etl" % i)) for i in (1, 2))
        for buffers in one, two:
            header = etl.check_file(buffers, recorder=True)
            self.assertGreater(header.buffers_lost, 0)
            self.assertLessEqual(len(buffers), 1 + 2 * 4 + 1)
            self.assertEqual([b.sequence for b in buffers[1:]],
                             sorted(b.sequence for b in buffers[1:]))
            # The last buffer has the rundown (the parameters at the end) alone.
            self.assertEqual([event.hook_id for event in buffers[-1].events], [0x0F4C])
            self.assertEqual(struct.unpack("<IIII", buffers[-1].events[0].data)[:3],
                             (1, 100, 1000))
        # The recorder continued between the two snapshots.
        self.assertGreater(two[1].sequence, one[-2].sequence)
        self.assertGreater(read_stats("many7.stats")["total"][5], 10)


class ContextSwaps(unittest.TestCase):
    def setUp(self):
        self.buffers = etl.decode(read_bytes("swaps.etl"))
        self.swaps = [(buffer.processor, event.time_stamp, etl.decode_context_swap(event))
                      for buffer in self.buffers[1:] for event in buffer.events
                      if event.hook_id == etl.CONTEXTSWAP]

    def test_each_swap_continues_the_one_before(self):
        etl.check_file(self.buffers)
        self.assertGreater(len(self.swaps), 100)
        for processor in (0, 1):
            own = [swap for cpu, _, swap in self.swaps if cpu == processor]
            for before, after in zip(own, own[1:]):
                self.assertEqual(after.old_thread_id, before.new_thread_id)

    def test_swaps_are_those_of_sched_switch(self):
        line_format = re.compile(r"\[(\d+)\] +[\d.]+: +sched_switch: .* prev_pid=(\d+) "
                                 r"prev_prio=(\d+) prev_state=(\S+) ==> .* next_pid=(\d+) "
                                 r"next_prio=(\d+)")
        switches = {0: [], 1: []}
        for line in read_bytes("swaps.report").decode(errors="replace").splitlines():
            match = line_format.search(line)
            if match:
                cpu, old, old_prio, state, new, new_prio = match.groups()
                switches[int(cpu)].append((int(old), int(new), int(old_prio), int(new_prio),
                                           state))
        for processor in (0, 1):
            own = [swap for cpu, _, swap in self.swaps if cpu == processor]
            theirs = switches[processor]
            pairs = [(s[0], s[1]) for s in theirs]
            ours = [(s.old_thread_id, s.new_thread_id) for s in own]
            # trace-cmd began to record before the session did, and ended after it.
            start = next(i for i in range(len(pairs)) if pairs[i:i + len(ours)] == ours)
            for swap, (_, _, old_prio, new_prio, state) in zip(own, theirs[start:]):
                for thread, prio, priority in (
                        (swap.old_thread_id, old_prio, swap.old_thread_priority),
                        (swap.new_thread_id, new_prio, swap.new_thread_priority)):
                    if not thread:
                        self.assertEqual(priority, 0)
                    elif prio >= 100:
                        self.assertEqual(priority, 15 - (prio - 100) * 15 // 40)
                    else:
                        self.assertEqual(priority, 31 - max(prio, 0) * 16 // 100)
                expected = {"R": 1, "R+": 1, "X": 4, "Z": 4, "I": 5, "S": 5, "D": 5}
                if not swap.old_thread_id:
                    self.assertEqual(swap.old_thread_state, 2)
                elif state in expected:
                    self.assertEqual(swap.old_thread_state, expected[state], state)

    def test_context_swap_fields_have_possible_values(self):
        swaps = [swap for _, _, swap in self.swaps]
        for swap in swaps:
            self.assertIn(swap.old_thread_wait_reason, (0, 5, 6, 15, 32, 33))
            self.assertIn(swap.old_thread_state, (1, 4, 5) if swap.old_thread_id else (2,))
            self.assertEqual(swap.spare_byte, 0)
            self.assertEqual(swap.flags, int(swap.old_thread_wait_reason == 6))
            self.assertLess(swap.old_thread_ideal_processor, 2)
            if swap.old_thread_id:
                self.assertEqual(swap.previous_c_state, 0)
        self.assertTrue(any(swap.old_thread_wait_reason == 6 for swap in swaps))
        self.assertTrue(any(swap.new_thread_priority == 1 for swap in swaps))
        self.assertTrue(any(swap.previous_c_state for swap in swaps))

    def test_tracepoint_has_the_same_swaps(self):
        lines = [line for line in read_bytes("swaps.report").decode(errors="replace").splitlines()
                 if " contextswap: " in line]
        theirs = Counter()
        for line in lines:
            values = dict(field.split("=") for field in line.split("contextswap:")[1].split())
            theirs[tuple(int(values[name]) for name in (
                "new_thread_id", "old_thread_id", "new_thread_priority",
                "old_thread_priority", "previous_c_state", "old_thread_ideal_processor",
                "new_thread_wait_time", "old_thread_remaining_quantum"))] += 1
        ours = Counter((s.new_thread_id, s.old_thread_id, s.new_thread_priority,
                        s.old_thread_priority, s.previous_c_state,
                        s.old_thread_ideal_processor, s.new_thread_wait_time,
                        s.old_thread_remaining_quantum) for _, _, s in self.swaps)
        self.assertEqual(ours - theirs, Counter())


class RealTime(unittest.TestCase):
    def test_a_reader_that_keeps_up_loses_nothing(self):
        data = (read_bytes("realtime.header") + read_bytes("realtime.cpu0") +
                read_bytes("realtime.cpu1"))
        buffers = etl.decode(data)
        header = etl.check_file(buffers)
        total = read_stats("realtime.stats")["total"]
        self.assertEqual(total[2], 0, "lost")
        self.assertEqual(header.events_lost, 0)
        self.assertEqual(total[0], sum(count_events_by_processor(buffers[1:]).values()))
        self.assertEqual(total[3:], [len(buffers) - 1, 0, 0])
        self.assertGreater(total[0], 10000)


class Addresses(unittest.TestCase):
    def read_spin_locks(self, name):
        return etl.decode_spin_locks(etl.decode(read_bytes(name + ".etl")))

    def test_hashed_addresses_have_32_bits_and_differ(self):
        records = self.read_spin_locks("hashed")
        addresses = {r.spin_lock_address for r in records}
        self.assertTrue(all(0 < r.spin_lock_address < 2**32 for r in records))
        self.assertTrue(all(0 < r.caller_address < 2**32 for r in records))
        self.assertGreaterEqual(len(addresses), 6)
        self.assertLess(len(addresses), 30)
        _, line = read_bytes("locks-hashed.txt").decode().splitlines()
        address, *_, symbol, _, creator = line.split()
        self.assertLess(int(address, 16), 2**32)
        self.assertTrue(symbol.startswith("settings_resource+0x0/"), symbol)
        self.assertFalse(creator.startswith("0x"), creator)

    def test_hidden_addresses_are_zero(self):
        records = self.read_spin_locks("zero")
        self.assertGreater(len(records), 100)
        self.assertEqual({(r.spin_lock_address, r.caller_address) for r in records}, {(0, 0)})
        self.assertRegex(read_bytes("locks-zero.txt").decode(), r"\n0x0 1 0 .* - -\n")


class Locks(unittest.TestCase):
    def test_binary_list_equals_the_text_list(self):
        _, line = read_bytes("locks.txt").decode().splitlines()
        found, = etl.decode_lock_list(read_bytes("locks.bin"))
        self.assertEqual(list(found), [int(field, 0) for field in line.split()[:10]])


if __name__ == "__main__":
    tap.main(CLASSES)
