#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: who held the lock while others waited, and why."""

import json
import os
import random
import re

from answer_case import (BASE, HOLDER, LOCK, NS, OTHER, RATES, WAITER, Case, sleep, spin,
                         stack_of, switch)
import etl_writer as etl
import tap
from tool import run, undescribed


def held(at, state="held", since=1000, **changes):
    return etl.open_hold(BASE + at, state, **{"address": LOCK, "since": BASE + since, "thread": 55,
                                              "caller": HOLDER, **changes})


def waits(at, since=3000, thread=56, **changes):
    return held(at, "waits", since, thread=thread, caller=WAITER, **changes)


class OpenHolds(Case):

    def begin(self, at):
        return etl.open_hold(BASE + at)

    def lines(self, *options):
        return [line for line in self.report(*options).splitlines()
                if line.startswith("Held at the end")]

    def test_waits_that_did_not_end_are_charged_to_the_holder(self):
        parts = self.answer(self.begin(9000), held(9000), waits(9000), waits(9000, 5000, 57))
        self.assertEqual(parts, {"holder_ran": 6000 + 4000})
        self.assertEqual(self.blockers("--by", "task"), {
            ("my_lock", "waiter", "holder"): 6000, ("my_lock", "bystander", "holder"): 4000})
        self.assertEqual(self.lines(), [
            "Held at the end, since 0.001s, 2 wait: my_lock by holder in holds_long"])

    def test_time_before_the_hold_is_charged_to_earlier_holds(self):
        parts = self.answer(sleep(1000, 4000, thread=57), self.begin(9000),
                            held(9000, since=5000), waits(9000, 3000))
        self.assertEqual(parts, {"holder_ran": 1000 + 4000, "free_overtaken": 1000})

    def test_exclusive_hold_ends_older_holds(self):
        """Another task may have released the lock for a reader."""
        for kind, holders in (("rwsem", ["holder"]), ("semaphore", ["bystander (reader)", "holder"])):
            self.assertEqual(self.answer(
                self.begin(9000), held(9000, "reads", thread=57, kind=kind),
                held(9000, since=5000, kind=kind), waits(9000, 6000, kind=kind)),
                {"holder_ran": 3000})
            self.assertEqual(self.blockers("--by", "task"),
                             {("my_lock", "waiter", holders[0]): 3000})
            self.assertEqual(len(self.lines()), len(holders))

    def test_wait_before_an_open_hold_is_charged(self):
        parts = self.answer(sleep(1000, 4000, thread=57), self.begin(9000),
                            held(9000, since=4000, wait=2500))
        self.assertEqual(parts, {"holder_ran": 2500})
        self.assertEqual(self.lines(), [])

    def test_lock_that_was_acquired_before_the_recording_has_an_unknown_holder(self):
        parts = self.answer(self.begin(9000), waits(9000), waits(9000, 5000, 57))
        self.assertEqual(parts, {"unknown": 6000 + 4000})
        self.assertEqual(self.lines(), ["Held at the end by an unknown task, "
                                        "2 wait since 0.002s: my_lock"])

    def test_later_list_replaces_an_earlier_one(self):
        first = self.begin(5000), held(5000), waits(5000, 3000)
        self.assertEqual(self.answer(*first, self.begin(9000), held(9000), waits(9000, 3000)),
                         {"holder_ran": 6000})
        self.assertEqual(self.answer(*first, sleep(1000, 6000), self.begin(9000)), {})
        self.assertEqual(json.loads(self.report("--json", "--filter", "Kind == mutex"))["answer"]
                         ["open_holds"], [])

    def test_record_behind_the_list_tells_how_it_ended(self):
        parts = self.answer(self.begin(4000), held(4000), waits(4000), sleep(1000, 5000),
                            sleep(5000, 5100, 2000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2000})
        self.assertEqual(self.lines(), [])

    def test_record_of_a_long_wait_behind_the_list_does_not_end_it(self):
        parts = self.answer(self.begin(9000), held(9000), waits(9000),
                            sleep(3000, 9500, thread=56, action=0x224))
        self.assertEqual(parts, {"holder_ran": 6000})

    def test_the_oldest_holds_are_named_and_the_rest_counted(self):
        events = [self.begin(9000)]
        for number in range(5):
            events += [held(9000, since=1000 + number, address=LOCK + 64 * number),
                       waits(9000, 2000, address=LOCK + 64 * number)]
        self.write_events(*events)
        lines = self.lines()
        self.assertEqual(len(lines), 4)
        self.assertIn("my_lock by holder", lines[0])
        self.assertEqual(lines[3], "Held at the end: 2 more, in dump's NtklogOpenHold.")

    def test_other_locks_are_left_out_of_the_answer_about_one(self):
        self.write_events(self.begin(9000), held(9000), waits(9000),
                          held(9000, address=LOCK + 0x288), waits(9000, address=LOCK + 0x288))
        self.assertEqual(len(self.lines()), 2)
        answer = json.loads(self.report("--json", "--lock", "my_lock"))["answer"]
        self.assertEqual([(row["lock"], row["task"], row["waiting"], row["waiters"], row["caller"])
                          for row in answer["open_holds"]],
                         [("my_lock", "holder", False, 1, "holds_long"),
                          ("my_lock", "waiter", True, 1, "waits_long")])

    def deadlock(self, *options):
        lines = self.report(*options).split("\n\n")[0].splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertLessEqual(len(lines), 20)
        text = " ".join(map(str.strip, lines)) if "Deadlock" in "".join(lines) else ""
        answer = json.loads(self.report("--json", *options))["answer"]
        self.assertEqual(undescribed(answer, "report"), set())
        cycles = answer["deadlocks"]
        return text, [[(task["thread"], task["lock"], task["holder_thread"]) for task in cycle]
                      for cycle in cycles]

    def cycle(self, at, *threads, lock=LOCK, **changes):
        events = []
        for number, thread in enumerate(threads):
            wanted = (number + 1) % len(threads)
            events += [held(at, thread=thread, address=lock + 0x288 * number),
                       waits(at, thread=thread, address=lock + 0x288 * wanted, **changes)]
        return events

    def test_tasks_that_wait_for_each_other_are_a_deadlock(self):
        self.write_events(self.begin(9000), *self.cycle(9000, 55, 56))
        text, cycles = self.deadlock()
        self.assertTrue(text.startswith(
            "Deadlock: holder (55) waits for inner_lock, held by waiter (56), "
            "which waits for my_lock, held by holder (55) Tasks waited"), text)
        self.assertEqual(cycles, [[(55, "inner_lock", 56), (56, "my_lock", 55)]])
        (cycle,) = json.loads(self.report("--json"))["answer"]["deadlocks"]
        self.assertEqual((cycle[0]["task"], cycle[0]["holder_task"], cycle[0]["kind"],
                          round(cycle[0]["age_ns"] / NS)), ("holder", "waiter", "mutex", 6000))

    def test_chain_without_a_cycle_is_no_deadlock(self):
        self.write_events(self.begin(9000), *self.cycle(9000, 55, 56)[:-1])
        self.assertEqual(self.deadlock(), ("", []))

    def test_cycle_that_began_after_the_list_is_no_deadlock(self):
        """The list was written while tasks went on: its entries may not have existed together."""
        self.write_events(self.begin(9000), *self.cycle(9000, 55, 56, since=9001))
        self.assertEqual(self.deadlock(), ("", []))

    def test_record_behind_the_list_ends_the_deadlock(self):
        self.write_events(self.begin(9000), *self.cycle(9000, 55, 56), sleep(1000, 9500))
        self.assertEqual(self.deadlock(), ("", []))

    def test_long_deadlock_is_cut_and_others_are_counted(self):
        self.write_events(self.begin(9000), *self.cycle(9000, *range(1000, 1007)),
                          *self.cycle(9000, 55, 56, lock=LOCK + 0x10000))
        text, cycles = self.deadlock()
        self.assertIn("which is deadlocked with 4 more tasks (--json)", text)
        self.assertIn(" Deadlocks: 1 more, in --json. Tasks waited", text)
        self.assertEqual(sorted(map(len, cycles)), [2, 7])

    def test_deadlock_of_other_locks_is_left_out_of_the_answer_about_one(self):
        self.write_events(self.begin(9000), *self.cycle(9000, 55, 56), *self.cycle(
            9000, 57, 58, lock=LOCK + 0x10000))
        self.assertEqual(len(self.deadlock()[1]), 2)
        self.assertEqual(self.deadlock("--lock", "my_lock")[1],
                         [[(55, "inner_lock", 56), (56, "my_lock", 55)]])

    def test_dump_has_each_field(self):
        self.write_events(self.begin(9000), held(9000, "reads", kind="rwsem", wait=20, delta=2))
        text = run("dump", self.path).stdout
        self.assertIn("NtklogOpenHold", text)
        self.assertIn("State=begin", text)
        self.assertRegex(text, "Lock=0xffff888012345678.* Since=1001000 .*ThreadId=55.*"
                               "Kind=rwsem State=held_shared ContentionDelta=2")


class Charge(Case):
    def test_holder_of_the_whole_wait_is_charged(self):
        parts = self.answer(spin(1000, 5000), spin(5000, 5100, 3000, WAITER))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blockers(), {("my_lock", "waits_long", "holds_long"): 3000})

    def test_time_after_the_release_is_handed_over(self):
        parts = self.answer(spin(1000, 5000), spin(6000, 6100, 4000, WAITER))
        self.assertEqual(parts, {"holder_ran": 3000, "free_handed_over": 1000})

    def test_next_owner_that_came_later_has_overtaken(self):
        parts = self.answer(spin(1000, 2000), spin(3000, 4000, 0, OTHER),
                            spin(4500, 4600, 3000, WAITER))
        self.assertEqual(parts, {"holder_ran": 1500, "free_overtaken": 1000,
                                 "free_handed_over": 500})
        self.assertEqual(self.blockers(), {
            ("my_lock", "waits_long", "holds_long"): 500,
            ("my_lock", "waits_long", "(free, overtaken)"): 1000,
            ("my_lock", "waits_long", "holds_too"): 1000,
            ("my_lock", "waits_long", "(free, handed over)"): 500})

    def test_record_that_was_written_after_the_waiters_own_has_the_holder(self):
        """The holder's CPU stopped after the release, and the waiter was faster."""
        self.assertEqual(self.answer(spin(2000, 2100, 900, WAITER),
                                     spin(1000, 2000, late=2500)), {"holder_ran": 900})

    def test_wait_without_a_recorded_hold_is_unknown(self):
        self.assertEqual(self.answer(spin(5000, 5100, 3000, WAITER)), {"unknown": 3000})

    def test_time_before_a_holder_that_waited_too_is_handed_over(self):
        """Two waits: 500 before 2000, of which no hold is known, and 2000 before 3000."""
        parts = self.answer(spin(2000, 3000, 500, OTHER), spin(3000, 3100, 2000, WAITER))
        self.assertEqual(parts, {"holder_ran": 1000, "free_handed_over": 500,
                                 "unknown": 500 + 500})

    def test_overlapping_readers_are_charged_once(self):
        """The reader that came first is charged for its hold."""
        parts = self.answer(
            sleep(1000, 3000, action=0x42, kind="rwsem"),
            sleep(2000, 4000, action=0x42, kind="rwsem", thread=57),
            sleep(4000, 4100, 3000, thread=56, kind="rwsem"))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blockers("--by", "task"), {
            ("my_lock", "waiter", "holder (reader)"): 2000,
            ("my_lock", "waiter", "bystander (reader)"): 1000})

    def test_blocker_of_a_sleeping_lock_is_charged_and_stands_for_no_release(self):
        parts = self.answer(
            etl.resource_rundown(1000, 1),
            sleep(1000, 5000, action=0x442, kind="rwsem", delta=0),
            sleep(5000, 5100, 3000, thread=56, kind="rwsem"))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blockers("--by", "task"),
                         {("my_lock", "waiter", "holder (reader)"): 3000})
        (row,) = json.loads(self.report("--json"))["resources"]
        self.assertEqual((row["class"], row["releases"]), ("exclusive", 1))
        self.assertIn("Action=rwsem_release_shared_blocker", run("dump", self.path).stdout)

    def test_caller_names_a_sleeping_holder_without_a_stack(self):
        """The caller belongs to the record with its lock, time stamp and CPU."""
        self.write_events(
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 5000), sleep(1000, 5000),
            etl.caller(LOCK + 64, OTHER, time_stamp=BASE + 5100), sleep(5000, 5100, 3000, thread=56))
        held = {("my_lock", "waiter", "holder in holds_long"): 3000}
        self.assertEqual(self.blockers(), held)
        self.assertEqual(self.blockers("--filter", "Kind == mutex"), held)
        self.assertEqual(self.blockers("--by", "task"), {("my_lock", "waiter", "holder"): 3000})
        self.assertEqual(json.loads(self.report("--json"))["events"], 5)
        self.assertIn("CallerAddress=0xffffffff81000101 CallerAddressSymbol=holds_long+0x1",
                      run("dump", self.path).stdout)

    def test_caller_of_a_lost_record_is_not_given_to_a_later_record(self):
        self.write_events(
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 900), sleep(1000, 5000),
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 5100), sleep(5000, 5100, 3000, thread=56))
        self.assertEqual(self.blockers(), {("my_lock", "waiter in holds_long", "holder"): 3000})

    def test_caller_of_another_cpu_is_not_given_to_a_record(self):
        caller = etl.caller(LOCK, HOLDER, time_stamp=BASE + 5000)
        waiter = sleep(5000, 5100, 3000, thread=56)
        self.write(etl.header_buffer(3) + etl.buffer([caller], processor=1) +
                   etl.buffer([*RATES, sleep(1000, 5000), waiter], sequence=2, flags=0x21))
        self.assertEqual(self.blockers(), {("my_lock", "waiter", "holder"): 3000})

    def test_tasks_with_the_same_caller_are_told_apart(self):
        self.write_events(
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 5000), sleep(1000, 5000),
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 5100), sleep(5000, 5100, 3000, thread=56))
        self.assertEqual(self.blockers(), {
            ("my_lock", "waiter in holds_long", "holder in holds_long"): 3000})

    def test_dropped_holders_are_told(self):
        events = sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56)
        self.write_events(etl.dropped_rundown(7, 10), *events,
                          etl.dropped_rundown(9, 15, end=True, time_stamp=BASE + 6000))
        self.assertEqual(json.loads(self.report("--json"))["blockers_dropped"], 7)
        text = self.report()
        self.assertIn("LOST: 7 holders, beyond 10,000 a second and CPU", text)
        self.assertIn("Not recorded: 7 holders of what is free or unknown.", text)
        self.write_events(*events, etl.dropped_rundown(9, 15, end=True, time_stamp=BASE + 6000))
        self.assertIn("LOST: at most 24 holders", self.report())
        self.write_events(etl.dropped_rundown(7, 10), *events,
                          etl.dropped_rundown(7, 10, end=True, time_stamp=BASE + 6000))
        self.assertNotIn("LOST", self.report())

    def test_steal_time_is_told(self):
        """400 ms of the two CPUs' second."""
        def write(*steal):
            self.write_events(etl.dropped_rundown(steal=steal[0]),
                              sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56),
                              etl.dropped_rundown(end=True, steal=steal[1],
                                                  time_stamp=BASE + 6000))
            return json.loads(self.report("--json"))["steal_time"], self.report()

        steal, text = write(10**9, 14 * 10**8)
        self.assertEqual(steal, 4 * 10**8)
        self.assertIn("\n=> Host stopped virtual CPUs for 400ms, 20% of their time.\n", text)
        # It is that of the whole recording, and not of the selected part.
        self.assertNotIn("Host stopped", self.report("--from", "1us"))
        for values in (0, 0), (10**9, 10**9), (None, None):
            steal, text = write(*values)
            self.assertEqual(steal, 0)
            self.assertNotIn("Host stopped", text)

    def test_other_locks_are_not_charged(self):
        parts = self.answer(spin(1000, 5000, address=LOCK + 64), spin(5000, 5100, 3000, WAITER))
        self.assertEqual(parts, {"unknown": 3000})

    def test_holder_in_a_later_buffer_is_charged(self):
        """The waiter's CPU is first in the file, as in cat header cpu0 cpu1."""
        self.write(etl.header_buffer(4) + etl.buffer(RATES) +
                   etl.buffer([spin(5000, 5100, 3000, WAITER)], sequence=2) +
                   etl.buffer([spin(1000, 5000)], sequence=3, processor=1, flags=0x21))
        self.assertEqual(self.answer(), {"holder_ran": 3000})

    def test_wait_alone_is_no_hold(self):
        """In mode waits a record tells of a wait only."""
        parts = self.answer(etl.ntklog_rundown(2), spin(1500, 1500, 400, OTHER, rule=2),
                            spin(5000, 5000, 4000, WAITER, rule=2))
        self.assertEqual(parts, {"unknown": 4400})

    def test_release_without_a_start_is_charged_since_the_release_before(self):
        """Two tasks release the lock in the first wait, and one in the second."""
        release = {"rule": 0x1C, "flags": 1}
        self.write_events(etl.ntklog_rundown(3, blockers=1), spin(1000, 1000, **release),
                          spin(3000, 3000, caller=OTHER, thread=57, **release),
                          spin(4000, 4000, 3500, WAITER, rule=2), spin(6000, 6000, **release),
                          spin(6100, 6100, 1600, WAITER, rule=2))
        self.assertEqual(self.answer(), {"holder_ran": 4000, "free_handed_over": 1100})
        self.assertEqual(self.blockers(), {("my_lock", "waits_long", "holds_long"): 2000,
                                           ("my_lock", "waits_long", "holds_too"): 2000,
                                           ("my_lock", "waits_long", "(free, handed over)"): 1100})

    def test_file_of_releases_alone_has_locks(self):
        self.write_events(etl.ntklog_rundown(3, blockers=1),
                          spin(3000, 3000, rule=0x1C), spin(4000, 4000, rule=0x1C))
        text = self.report()
        self.assertTrue(text.startswith("No recorded task waited for a lock"), text)
        self.assertIn("Releases that left a waiter: 2; no records of waits.\n", text)

    def test_release_without_a_start_counts_as_no_hold(self):
        self.write_events(etl.ntklog_rundown(1, blockers=1), spin(1000, 1500, rule=1),
                          spin(3000, 3000, caller=OTHER, rule=0x1C))
        locks, = json.loads(self.report("--json"))["locks"]
        self.assertEqual([locks[name] for name in ("acquisitions", "hold_max_ns")],
                         [1, 500 * NS])

    def test_spin_lock_at_the_address_of_a_semaphore_is_another_lock(self):
        """The first member of a semaphore is its spin lock."""
        self.write_events(spin(1000, 2000), spin(2000, 2100, 900, WAITER),
                          sleep(10000, 14000, kind="semaphore"),
                          sleep(14000, 14100, 4000, thread=56, kind="semaphore"))
        locks = json.loads(self.report("--json"))["answer"]["locks"]
        self.assertEqual([(lock["waits"], round(lock["wait_total"] / NS)) for lock in locks],
                         [(1, 4000), (1, 900)])
        text = self.report()
        self.assertIn("   Held 100%: holder 100%\n", text)
        self.assertIn("   Held 100%: holds_long 100%\n", text)

    def test_reader_whose_record_came_first_is_charged(self):
        """Both acquired at once, and the records are in the order of the releases."""
        for first, second in ((55, 57), (57, 55)):
            parts = self.answer(
                sleep(1000, 2000, action=0x42, kind="rwsem", thread=first),
                sleep(1000, 3000, action=0x42, kind="rwsem", thread=second),
                sleep(3000, 3100, 2000, thread=56, kind="rwsem"))
            self.assertEqual(parts, {"holder_ran": 2000})
            names = {55: "holder", 57: "bystander"}
            self.assertEqual(self.blockers("--by", "task"), {
                ("my_lock", "waiter", names[first] + " (reader)"): 1000,
                ("my_lock", "waiter", names[second] + " (reader)"): 1000})

    def test_heavy_lock_behind_many_light_ones_is_named(self):
        """More locks, tasks and names of both than the tables have."""
        light = []
        for number in range(20000):
            at = 1000 + 10 * number
            light += [sleep(at, at + 5, thread=1000 + 2 * number, address=LOCK + 64 * (number + 1)),
                      sleep(at + 5, at + 6, 5, thread=1001 + 2 * number,
                            address=LOCK + 64 * (number + 1))]
        heavy = [sleep(300000, 400000), sleep(400000, 400100, 90000, thread=56)]
        events = [*RATES, *light, *heavy]
        self.write(etl.header_buffer(1 + len(events[::30])) + b"".join(
            etl.buffer(events[30 * i:30 * i + 30], sequence=i + 1)
            for i in range(len(events[::30]))))
        parts = self.answer()
        self.assertEqual(parts, {"holder_ran": 20000 * 5 + 90000})
        text = self.report()
        self.assertIn("1. my_lock: 45.0ms (47%) in 1 wait", text)
        self.assertIn("waited: waiter 100%\n   Held 100%: holder 100%\n", text)
        blockers = self.blockers()
        self.assertEqual(blockers[("my_lock", "waiter", "holder")], 90000)
        self.assertEqual(sum(blockers.values()), sum(parts.values()))

    def test_random_records_add_up(self):
        generator = random.Random(7)
        events = []
        for _ in range(400):
            acquire = generator.randrange(5000, 50000)
            release = acquire + generator.randrange(1, 3000)
            wait = generator.choice((0, generator.randrange(1, 5000)))
            make = generator.choice((spin, sleep))
            events.append((release, make(acquire, release, wait, address=LOCK +
                                         64 * generator.randrange(3))))
        for number in range(200):
            at = generator.randrange(1000, 50000)
            events.append((at, switch(at, 55 + number % 3, 55 + (number + 1) % 3,
                                      generator.choice((1, 5)))))
        events = [event for _, event in sorted(events, key=lambda pair: pair[0])]
        self.write(etl.header_buffer(1 + len(events[::40])) + b"".join(
            etl.buffer(([*RATES] if not i else []) + events[40 * i:40 * i + 40], sequence=i + 1)
            for i in range(len(events[::40]))))
        parts = self.answer()
        self.assertEqual(sum(self.blockers().values()), sum(parts.values()))
        self.assertGreater(len(parts), 5)


class Reasons(Case):
    def test_holder_without_a_cpu_was_preempted(self):
        parts = self.answer(switch(2000, 55, 57, state=1), switch(3500, 57, 55),
                            sleep(1000, 5000), sleep(5000, 5100, 4000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2500, "holder_preempted": 1500})
        self.assertIn("   Holders had no CPU 38%, ran 62%\n", self.report())

    def test_blocked_holder_is_said_where(self):
        parts = self.answer(
            switch(2000, 55, 57), stack_of(2000, 0xFFFFFFFF81000401, 0xFFFFFFFF81000501),
            switch(4000, 57, 55), sleep(1000, 5000), sleep(5000, 5100, 4000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2000, "holder_blocked": 2000})
        self.assertIn("blocked 50% (in p9_client_rpc)", self.report())

    def test_holder_that_waits_for_another_lock_is_said_for_which(self):
        self.write_events(
            switch(2000, 55, 57), switch(4000, 57, 55),
            sleep(4000, 4500, 2500, address=LOCK + 0x288), sleep(1000, 5000),
            sleep(5000, 5100, 4000, thread=56))
        self.assertRegex(self.report(), r"blocked \d+% \(waiting for inner_lock\)")

    def test_chain_of_holders_is_followed_to_its_end(self):
        """55 has my_lock and waits for inner_lock, which 57 has while it is blocked in a function."""
        self.write_events(
            switch(1500, 57, 0), stack_of(1500, 0xFFFFFFFF81000401, 0xFFFFFFFF81000501, thread=57),
            switch(2000, 55, 0), switch(3900, 0, 57),
            sleep(1000, 4000, thread=57, address=LOCK + 0x288), switch(4000, 57, 55),
            sleep(4000, 4500, 2000, address=LOCK + 0x288), sleep(1000, 5000),
            sleep(5000, 5100, 4000, thread=56))
        self.assertRegex(self.report(), r"blocked 50% \(waiting for inner_lock\), ran 50%\n"
                         r"   Chain: waiting for inner_lock, held by bystander in p9_client_rpc\n")

    def test_chain_of_a_holder_that_runs_ends_with_it(self):
        self.write_events(
            switch(2000, 55, 57), sleep(1000, 4000, thread=57, address=LOCK + 0x288),
            switch(4000, 57, 55), sleep(4000, 4500, 2000, address=LOCK + 0x288), sleep(1000, 5000),
            sleep(5000, 5100, 4000, thread=56))
        self.assertIn("   Chain: waiting for inner_lock, held by bystander\n", self.report())

    def test_next_owner_without_a_cpu_is_want_of_cpus(self):
        """The lock is free from 2000 on; its next owner is woken at once, and runs at 5000."""
        parts = self.answer(switch(1500, 56, 57), sleep(1000, 2000),
                            switch(5000, 57, 56, state=5, wait_time=1),
                            sleep(5000, 5100, 3600, thread=56))
        self.assertEqual(sum(parts.values()), 3600)
        self.assertEqual(parts["holder_ran"], 600)
        self.assertEqual(parts.get("free_next_owner_without_cpu", 0) +
                         parts.get("free_next_owner_asleep", 0), 3000)

    def test_want_of_cpus_is_the_first_thing_said(self):
        self.write_events(switch(1500, 55, 57, state=1), switch(4500, 57, 55),
                          sleep(1000, 5000), sleep(5000, 5100, 4000, thread=56))
        self.assertIn("=> 75% of the waiting is want of CPUs, not of locks.", self.report())

    def test_free_lock_that_is_not_taken_is_a_stopped_virtual_cpu(self):
        self.write_events(spin(1000, 2000), spin(20000, 20100, 18500, WAITER))
        self.assertIn("=> Host stopped virtual CPUs: for 9.00ms of 9.25ms the lock was free.",
                      self.report())


class Sampled(Case):
    def test_charges_of_a_sample_have_an_error(self):
        """Forty waits that stand for ten each; the greatest part counts seven times."""
        events = []
        for number in range(40):
            at = 10000 * (number + 1)
            events += [spin(at, at + 2000), spin(at + 2000, at + 2100, 1000, WAITER)]
        events = [etl.spinlock_rundown(1, 10, 1, 0), etl.ntklog_rundown(0, blockers=1), *events]
        self.write(etl.header_buffer(4) + b"".join(
            etl.buffer(events[40 * i:40 * i + 40], sequence=i + 1) for i in range(3)))
        for table, column in ("blockers", "charged_total"), ("waiters", "wait_total"):
            (row,) = json.loads(self.report("--json", "--table", table))[table]
            self.assertEqual(round(row[column + "_ns"] / NS), 40 * 10 * 1000)
            self.assertAlmostEqual(row[column + "_error"],
                                   ((40 + 6) * 10 * 9) ** .5 * 1000 / (40 * 10 * 1000))
            self.assertIn("ms+-16%", self.report("--table", table))

    def test_charges_of_all_waits_have_none(self):
        self.write_events(spin(1000, 5000), spin(5000, 5100, 3000, WAITER))
        (row,) = json.loads(self.report("--json"))["blockers"]
        self.assertEqual(row["charged_total_error"], 0)


class Text(Case):
    def test_answer_fits_the_smallest_terminal(self):
        events = []
        for number in range(12):
            at = 1000 + 10000 * number
            events += [spin(at, at + 4000, address=LOCK + 64 * number),
                       spin(at + 4000, at + 4100, 3000, WAITER, address=LOCK + 64 * number)]
        self.write_events(*events, sleep(200000, 205000), sleep(205000, 205100, 4000, thread=56))
        lines = self.report().split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 20)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"^Tasks waited \d\S* for locks in .* of 2 CPUs: 13 waits\.$")
        self.assertRegex("\n".join(lines), r"(?m)^1\. ")

    def test_command_names_the_whole_path_or_none(self):
        command = "More: ntklog report --table blockers"
        room = 80 - len(command + " " + self.directory.name + "/")
        for name, shown in (("a" * room, True), ("a" * (room + 1), False), ("a b", False)):
            path = os.path.join(self.directory.name, name)
            self.write_events(spin(1000, 5000), spin(6000, 6100, 4000, WAITER))
            os.rename(self.path, path)
            self.assertIn("\n%s%s\n" % (command, " " + path if shown else
                                        ", with the path of this file"),
                          run("report", path).stdout)

    def test_lock_says_who_waited_and_who_held(self):
        self.write_events(spin(1000, 5000), spin(6000, 6100, 4000, WAITER))
        text = self.report()
        self.assertIn("1. my_lock: 2.00ms (100%) in 1 wait\n"
                      "   Longest 2.00ms at 0.001s; waited: waits_long 100%\n"
                      "   Held 75%: holds_long 75%; free 25%\n", text)
        self.assertIn("2.00ms of waiting = 1.50ms held + 500us free + 0ns unknown", text)

    def test_file_without_waits_has_one_line(self):
        self.write_events(spin(1000, 5000))
        self.assertRegex(self.report(), r"^No recorded task waited for a lock in .* s of 2 CPUs\.\n\n")

    def test_file_without_locks_has_one_line(self):
        self.write(etl.file(switch(1000, 55, 56)))
        self.assertTrue(self.report().startswith("This file has no events of locks.\n\n"))

    def test_locks_outside_the_selection_are_not_denied(self):
        self.write_events(spin(1000, 5000), spin(6000, 6100, 4000, WAITER))
        for options in ("--from", "100"), ("--to", "0"), ("--filter", "Event == ContextSwap"):
            self.assertTrue(self.report(*options).startswith(
                "No event of a lock is selected (--filter, --from, --to).\n"
                "Events are written at the end of holds and of their waits.\n\n"))
            result = run("report", "--lock", "my_lock", *options, self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn('no selected event is of a lock "my_lock"', result.stderr)

    def test_what_was_not_recorded_is_named_with_its_option(self):
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0),
                            etl.resource_rundown(1, 1), spin(5000, 5100, 3000, WAITER),
                            sleep(1000, 6000), sleep(6000, 6100, 3000, thread=56)))
        text = self.report()
        self.assertIn("Not recorded: who held spin locks (record without --no-blockers).\n", text)
        self.assertIn("Not recorded: why holders were slow (-e contextswap), and where (--stacks).\n",
                      text)

    def test_sampled_waits_are_an_estimate(self):
        self.write(etl.file(etl.spinlock_rundown(1, 10, 1000, 0), spin(5000, 5100, 3000, WAITER)))
        self.assertTrue(self.report().startswith("Tasks waited about 15.0ms"))

    def test_names_cannot_control_a_terminal(self):
        with open(self.path + ".names", "a", encoding="latin-1") as stream:
            stream.write("thread 99 \x1b[31mred\x07\n")
        self.write_events(sleep(1000, 5000), sleep(5000, 5100, 4000, thread=99))
        answer = self.report().split("\n\n")[0]
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", answer), answer)

    def test_one_table_alone_has_no_answer(self):
        self.write_events(spin(1000, 5000), spin(6000, 6100, 4000, WAITER))
        self.assertNotIn("Tasks waited", self.report("--table", "locks"))

    def test_unknown_by_is_refused(self):
        self.write_events(spin(1000, 5000))
        result = run("report", "--by", "moon", self.path)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('"moon" is not caller, function, task, stack, thread, process, cgroup, cpu or irql',
                      result.stderr)

    def test_stack_of_the_holder_tells_the_function(self):
        self.write_events(sleep(1000, 5000),
                          stack_of(5000, 0xFFFFFFFF81000701, 0xFFFFFFFF81000601),
                          sleep(5000, 5100, 4000, thread=56))
        self.assertIn(("my_lock", "waiter", "holder in walks_pages"), self.blockers())
        self.assertIn(("my_lock", "waiter", "up_write < walks_pages"),
                      self.blockers("--by", "stack"))


if __name__ == "__main__":
    tap.main()
