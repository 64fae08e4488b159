#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check recordings of planted_holders.ko against what the module prints.

Usage: check_planted.py NTKLOG DIRECTORY [CLASS...]
"""

import json
import os
import re
import struct
import subprocess
import sys
import unittest
from collections import defaultdict, namedtuple
from functools import lru_cache

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]
Hold = namedtuple("Hold", "lock address function code thread waited before acquired releasing "
                          "after")
# A time of a planted reason; function is None where the lock was free.
Planted = namedtuple("Planted", "lock function part begin end")
# Upper bound of the length of a function, in bytes.
FUNCTION_SIZE = 0x400
SPINNING = {"interrupted_lock", "undisturbed_lock", "written_lock", "read_rwlock"}
# The CPU may stall between the timer and the switch.
SLEEP_SECONDS = 0.0025


def path_of(name):
    return os.path.join(DIRECTORY, name)


def read_bytes(name):
    with open(path_of(name), "rb") as stream:
        return stream.read()


def overlap_time(begin, end, other_begin, other_end):
    return max(min(end, other_end) - max(begin, other_begin), 0)


class Recording:

    def __init__(self, name):
        self.path = path_of("planted-%s.etl" % name)
        self.buffers = etl.decode(read_bytes("planted-%s.etl" % name))
        self.ns = 1e9 / etl.logfile_header(self.buffers).perf_freq
        self.holds, self.planted = [], []
        text = read_bytes("planted-%s.truth" % name).decode().replace(" [planted_holders]", "")
        for kind, lock, *words in map(str.split, text.splitlines()):
            if kind == "hold":
                address, function, *numbers = words
                self.holds.append(Hold(lock, int(address, 0), function,
                                       *(int(number, 0) for number in numbers)))
            elif kind == "planted":
                self.planted.append(Planted(lock, *words[:2], *map(int, words[2:])))
            elif kind == "sleep":
                self.sleep = int(words[0], 0)
            else:
                self.planted.append(Planted(lock, None, "free", *map(int, words)))
        self.has_spinning = any(event.hook_id == etl.SPINLOCK for buffer in self.buffers[1:]
                                for event in buffer.events)
        self.locks = sorted({hold.lock for hold in self.holds
                             if self.has_spinning or hold.lock not in SPINNING})

    def holds_of(self, lock):
        return [hold for hold in self.holds if hold.lock == lock]

    @lru_cache(None)
    def records_by_lock(self):
        """By lock and thread: caller, begin of the wait, begin and end of the hold, and the times
        in which the task was ready without a CPU, and blocked.
        """
        found = defaultdict(list)
        for caller, record in etl.callers_with_records(self.buffers):
            if not record.action & 0x200:
                found[record.resource, record.thread_id].append(
                    (caller.caller, record.acquire_time - max(record.wait_time, 0),
                     record.acquire_time, record.acquire_time + record.hold_time,
                     caller.hold_ready, caller.hold_blocked))
        for record in etl.decode_spin_locks(self.buffers):
            found[record.spin_lock_address, record.thread_id].append(
                (record.caller_address, record.acquire_time - record.wait_time_in_cycles,
                 record.acquire_time, record.release_time, 0, 0))
        return found

    @lru_cache(None)
    def report_text(self, *options):
        text = subprocess.run([NTKLOG, "report", *options, self.path], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=600).stdout
        # The compiler may move a part of a function away from it.
        return re.sub(r"\.(cold|part|isra|constprop)(\.\d+)?", "", text)

    def answer_about(self, lock):
        """The words of the answer, without the modules and the ends of lines."""
        words = self.report_text("--lock", lock + " [planted_holders]").split("\n\n")[0]
        return " ".join(words.replace(" [planted_holders]", "").split())

    @lru_cache(None)
    def report_json(self, *options):
        return json.loads(self.report_text("--json", *options))

    def report_json_of(self, lock):
        return self.report_json("--lock", lock + " [planted_holders]")

    def waits_with_answer(self, lock):
        holds = [hold for hold in self.holds_of(lock) if hold.waited]
        told = {wait["thread"]: wait
                for wait in self.report_json_of(lock)["answer"]["longest_waits"]} if holds else {}
        return [(hold, told[hold.thread]) for hold in holds]


class Charges(unittest.TestCase):
    name = None

    @classmethod
    def setUpClass(cls):
        cls.one = Recording(cls.name)

    def overlapping_holds(self):
        for lock in self.one.locks:
            for wait, told in self.one.waits_with_answer(lock):
                for hold in self.one.holds_of(lock):
                    if hold is not wait and overlap_time(wait.before, wait.acquired, hold.acquired,
                                                         hold.releasing):
                        yield wait, told, hold

    def time_in_parts(self, told, thread, parts):
        return sum(step["for_ns"] for step in told["steps"]
                   if step["thread"] == thread and step["part"].startswith(parts))

    def is_planted(self, row):
        """A lock whose name has an offset is the spin lock of a scene's completion."""
        return "[planted_holders]" in row["lock"] and "+" not in row["lock"]

    def test_module_has_planted_all(self):
        self.assertEqual(len(self.one.holds_of("lonely_mutex")), 1)
        self.assertEqual(len([hold for hold in self.one.holds if hold.waited]), 15)
        self.assertEqual(len(self.one.planted), 13)

    def test_each_wait_is_charged_to_its_holders_and_to_no_others(self):
        expected, found = set(), set()
        for wait, told, hold in self.overlapping_holds():
            expected.add((wait.lock, wait.function, hold.function, hold.thread))
        for lock in self.one.locks:
            for wait, told in self.one.waits_with_answer(lock):
                self.assertEqual(told["place"], wait.function)
                found |= {(lock, wait.function, step["place"], step["thread"])
                          for step in told["steps"] if step["part"].startswith("holder")}
                self.assertNotIn("unknown", {step["part"] for step in told["steps"]}, told)
        self.assertEqual(found, expected)

    def test_table_of_blockers_has_the_same_holders(self):
        rows = {(row["lock"], row["waiter"], row["holder"])
                for row in self.one.report_json("--table", "blockers")["blockers"]
                if self.is_planted(row) and not row["holder"].startswith("(free")}
        self.assertEqual({tuple(re.sub(" [([].*|.* in ", "", text) for text in row) for row in rows},
                         {(wait.lock, wait.function, hold.function)
                          for wait, _, hold in self.overlapping_holds()})

    def test_parts_of_each_wait_add_up(self):
        for lock in self.one.locks:
            for wait, told in self.one.waits_with_answer(lock):
                self.assertEqual(told["other_steps"], 0)
                self.assertAlmostEqual(sum(step["for_ns"] for step in told["steps"]), told["for_ns"],
                                       places=3)
                self.assertLessEqual(told["for_ns"], (wait.acquired - wait.before) * self.one.ns)

    def test_only_locks_with_waiters_are_waited_for(self):
        found = {row["lock"].split()[0]
                 for row in self.one.report_json("--table", "waiters")["waiters"]
                 if self.is_planted(row)}
        self.assertEqual(found, {hold.lock for hold in self.one.holds
                                 if hold.waited and hold.lock in self.one.locks})

    def test_charged_times_are_those_of_the_holds(self):
        for wait, told, hold in self.overlapping_holds():
            charged = self.time_in_parts(told, hold.thread, "holder") / self.one.ns
            planted = sum(overlap_time(wait.before, wait.acquired, one.begin, one.end)
                          for one in self.one.planted
                          if (one.lock, one.function) == (hold.lock, hold.function))
            # Rounding to the nanosecond.
            self.assertGreaterEqual(charged + 10, planted, (wait, hold))
            self.assertLessEqual(charged - 10, overlap_time(wait.before, wait.acquired, hold.before,
                                                            hold.after), (wait, hold))

    def test_time_in_which_the_lock_is_handed_over_is_free(self):
        (planted,) = [one for one in self.one.planted if one.part == "free"]
        waits = self.one.waits_with_answer(planted.lock)
        self.assertEqual(len(waits), 2)
        for _, told in waits:
            free = self.time_in_parts(told, waits[0][0].thread, "free") + \
                self.time_in_parts(told, waits[1][0].thread, "free")
            self.assertGreaterEqual(free / self.one.ns + 10, planted.end - planted.begin)
        takes_over = next(hold for hold in self.one.holds_of(planted.lock)
                          if hold.function == "takes_over")
        without_cpu = self.time_in_parts(waits[0][1], takes_over.thread,
                                         "free_next_owner_without_cpu")
        self.assertGreater(without_cpu, SLEEP_SECONDS * 1e9)

    def test_chain_of_three_locks_is_reported(self):
        ((_, told),) = self.one.waits_with_answer("third_mutex")
        threads = {hold.function: hold.thread for hold in self.one.holds}
        chain = [[(link["lock"].split()[0], link.get("holder_thread"))
                  for link in step.get("waited_for", ())] for step in told["steps"]]
        self.assertIn([("second_mutex", threads["links_second"]),
                       ("first_mutex", threads["begins_chain"])], chain)

    def test_answer_names_the_holder_of_a_lock_held_at_the_end(self):
        self.assertRegex(self.one.answer_about("open_mutex"),
                         r" Held at the end, since \S+, 1 waits: open_mutex, by \S+ in keeps ")

    def test_answer_tells_of_interrupts_that_came_to_the_holder(self):
        if not self.one.has_spinning:
            self.skipTest("no spin locks are recorded")
        words = self.one.answer_about("interrupted_lock")
        self.assertRegex(words, r"% the holder ran; \d+% of this in holds with interrupts ")
        self.assertRegex(words, r" Held \d+%: is_interrupted \d+%.* "
                                r"Holders ran, \d+% of this in holds with interrupts ")
        self.assertNotIn("interrupts", self.one.answer_about("undisturbed_lock"))

    def test_answer_follows_the_chain_of_holders(self):
        threads = {hold.function: hold.thread for hold in self.one.holds}
        self.assertRegex(self.one.answer_about("third_mutex"),
                         r" Longest chain, \S+ .*: \S+ \(\d+\) waits for third_mutex, held by "
                         r"\S+ \(\d+\), which waits for second_mutex, held by \S+ \(%d\), which "
                         r"waits for first_mutex, held by \S+ \(%d\) "
                         % (threads["links_second"], threads["begins_chain"]))

    def test_answer_says_that_a_holder_was_preempted(self):
        words = self.one.answer_about("preempted_mutex")
        self.assertRegex(words, r"% the holder was preempted: ready, but without a CPU ")
        self.assertRegex(words, r" Held \d+%: \S+ in is_preempted \d+%.* Holders had no CPU \d+%")

    def test_records_have_caller_and_times(self):
        for lock in self.one.locks:
            waits = [hold for hold in self.one.holds_of(lock) if hold.waited]
            for hold in self.one.holds_of(lock):
                found = self.one.records_by_lock()[hold.address, hold.thread]
                if lock == "open_mutex" or not (waits or self.writes_all):
                    self.assertEqual(found, [])
                    continue
                if lock in SPINNING and hold.waited:
                    found = found[:1]
                self.assertEqual(len(found), 1, hold)
                caller, start, acquired, released, *_ = found[0]
                self.assertLess(hold.code, caller)
                self.assertLess(caller, hold.code + FUNCTION_SIZE)
                self.assertTrue(hold.before <= start <= acquired <= hold.acquired, (hold, found))
                self.assertTrue(hold.releasing <= released <= hold.after, (hold, found))
                if not hold.waited:
                    self.assertLessEqual(acquired - start, 3, hold)

    def test_reasons_are_those_of_the_holders(self):
        """Without context switches the times without a CPU are divided in proportion."""
        compared = 0
        for planted in self.one.planted:
            if planted.part not in ("holder_blocked", "holder_preempted"):
                continue
            (holder,) = [hold for hold in self.one.holds_of(planted.lock)
                         if hold.function == planted.function]
            ((_, _, acquired, released, ready, blocked),) = \
                self.one.records_by_lock()[holder.address, holder.thread]
            least = SLEEP_SECONDS * 1e9 / self.one.ns if planted.part == "holder_blocked" else \
                planted.end - planted.begin
            self.assertGreaterEqual(blocked if planted.part == "holder_blocked" else ready, least)
            for wait, told in self.one.waits_with_answer(planted.lock):
                if wait is holder or not overlap_time(wait.before, wait.acquired, planted.begin,
                                                      planted.end):
                    continue
                time = self.time_in_parts(told, holder.thread, planted.part) / self.one.ns
                share = overlap_time(wait.before, wait.acquired, acquired, released) / \
                    (released - acquired)
                self.assertGreaterEqual(time, least * share / 2, (planted, told))
                compared += 1
        self.assertEqual(compared, 11)


class Holders(Charges):
    """Only holders whose release leaves a waiter, and waiters, are written."""

    name, writes_all = "holders", False

    def test_lock_held_at_the_end_is_reported(self):
        threads = {hold.function: hold.thread for hold in self.one.holds_of("open_mutex")}
        told = self.one.report_json_of("open_mutex")["answer"]["open_holds"]
        self.assertEqual([(one["caller"], one["waiting"], one["thread"]) for one in told],
                         [("keeps", False, threads["keeps"]),
                          ("waits_in_vain", True, threads["waits_in_vain"])])

    def test_interrupts_are_counted_in_the_holds_in_which_they_came(self):
        if not self.one.has_spinning:
            self.skipTest("spin locks cannot be redirected on this architecture")
        counts = {record.spin_lock_address: record.interrupt_count
                  for record in etl.decode_spin_locks(self.one.buffers)
                  if not record.wait_time_in_cycles}
        self.assertGreaterEqual(counts[self.one.holds_of("interrupted_lock")[0].address], 1)
        self.assertEqual(counts[self.one.holds_of("undisturbed_lock")[0].address], 0)


class Switches(Charges):
    """All releases and all context switches are written."""

    name, writes_all = "switches", True

    def test_times_without_a_cpu_are_those_of_the_context_switches(self):
        """Two probes of a switch read the clock, one after the other; the host may stop the virtual CPU
        between them.
        """
        absences, begins = defaultdict(list), {}
        self.assertEqual(etl.logfile_header(self.one.buffers).events_lost, 0)
        # The first three times begin the observation of a group each, the next three end it.
        observed = [event.time_stamp
                    for event in etl.events_in_order_of_time(self.one.buffers, etl.OBSERVED)]
        for event in etl.events_in_order_of_time(self.one.buffers, etl.CONTEXTSWAP):
            swap = etl.decode_context_swap(event)
            begins[swap.old_thread_id] = event.time_stamp
            if swap.new_thread_id in begins:
                absences[swap.new_thread_id].append((begins.pop(swap.new_thread_id),
                                                     event.time_stamp))
        compared = [
            (ready + blocked, sum(overlap_time(acquired, released, *absence)
                                  for absence in absences[thread]))
            for (_, thread), records in self.one.records_by_lock().items()
            for _, _, acquired, released, ready, blocked in records
            if observed[2] < acquired and released < observed[3]]
        self.assertGreater(len([times for times in compared if times[1]]), 10)
        tolerance = etl.logfile_header(self.one.buffers).perf_freq // 1000
        wrong = [times for times in compared if abs(times[0] - times[1]) > tolerance]
        self.assertLessEqual(len(wrong), 1 + len(compared) // 100, wrong)


class Stacks(Charges):
    """With stacks, the file tells where a holder was blocked for longest."""

    name, writes_all = "stacks", False

    def test_blocked_holders_were_blocked_in_planted_sleep(self):
        steps = [step for lock in self.one.locks for _, told in self.one.waits_with_answer(lock)
                 for step in told["steps"] if step["part"] == "holder_blocked"]
        self.assertEqual({step["without_cpu_in"] for step in steps if "without_cpu_in" in step},
                         {"msleep"})
        self.assertLessEqual({one.function for one in self.one.planted
                              if one.part == "holder_blocked"},
                             {step["place"] for step in steps if "without_cpu_in" in step})

    def test_events_have_the_stacks_of_planted_blocks(self):
        stacks = {}
        for event in etl.events_in_order_of_time(self.one.buffers, etl.BLOCK_STACK):
            lock, _since, blocked, *frames = struct.unpack("<15Q", event.data)
            stacks.setdefault(lock, []).append((blocked, frames))
        for planted in self.one.planted:
            if planted.part != "holder_blocked":
                continue
            (address,) = {hold.address for hold in self.one.holds_of(planted.lock)}
            for blocked, frames in stacks[address]:
                self.assertGreater(blocked * self.one.ns, SLEEP_SECONDS * 1e9)
                self.assertTrue(any(0 < frame - self.one.sleep < FUNCTION_SIZE
                                    for frame in frames), (planted, frames))


del Charges


if __name__ == "__main__":
    tap.main(CLASSES)
