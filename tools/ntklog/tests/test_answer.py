#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: who held the lock while others waited, and why."""

import json
import random

from answer_case import (BASE, HOLDER, LOCK, NS, OTHER, RATES, WAITER, Case, sleeping_event,
                         spin_event, stack_event_of, switch_event)
import etl_writer as etl
import tap
from tool import run_tool


class Charge(Case):
    def test_holder_of_the_whole_wait_is_charged(self):
        parts = self.parts_of_answer(spin_event(1000, 5000), spin_event(5000, 5100, 3000, WAITER))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blocker_charges(), {("my_lock", "waits_long", "holds_long"): 3000})

    def test_time_after_the_release_is_handed_over(self):
        parts = self.parts_of_answer(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
        self.assertEqual(parts, {"holder_ran": 3000, "free_handed_over": 1000})

    def test_next_owner_that_came_later_has_overtaken(self):
        parts = self.parts_of_answer(spin_event(1000, 2000), spin_event(3000, 4000, 0, OTHER),
                                     spin_event(4500, 4600, 3000, WAITER))
        self.assertEqual(parts, {"holder_ran": 1500, "free_overtaken": 1000,
                                 "free_handed_over": 500})
        self.assertEqual(self.blocker_charges(), {
            ("my_lock", "waits_long", "holds_long"): 500,
            ("my_lock", "waits_long", "(free, overtaken)"): 1000,
            ("my_lock", "waits_long", "holds_too"): 1000,
            ("my_lock", "waits_long", "(free, handed over)"): 500})

    def test_holder_whose_record_follows_that_of_the_waiter_is_charged(self):
        """The holder's CPU stopped after the release, and the waiter was faster."""
        self.assertEqual(self.parts_of_answer(spin_event(2000, 2100, 900, WAITER),
                                              spin_event(1000, 2000, late=2500)),
                         {"holder_ran": 900})

    def test_owner_that_did_not_wait_and_left_a_waiter_held_the_lock_all_along(self):
        """An interrupt came between the acquisition and its time stamp: while a waiter is in the
        lock's word, nobody acquires the lock without a wait.
        """
        blocker_only = 4 | 8
        self.assertEqual(self.parts_of_answer(spin_event(4900, 5000, rule=blocker_only),
                                              spin_event(5000, 5100, 3000, WAITER)),
                         {"holder_ran": 3000})
        self.assertEqual(self.blocker_charges(), {("my_lock", "waits_long", "holds_long"): 3000})
        self.assertEqual(self.parts_of_answer(spin_event(1000, 2500),
                                              spin_event(4900, 5000, caller=OTHER, rule=4),
                                              spin_event(5000, 5100, 3000, WAITER)),
                         {"holder_ran": 3000})

    def test_owner_of_an_rwlock_that_passed_a_waiter_is_charged_from_its_time_stamp_on(self):
        """A waiter of an rwlock is in the lock's word only at the head of the queue. A reader or a
        writer that comes before that acquires the lock at once, and leaves the waiter behind.
        """
        for mode in 2, 3:
            parts = self.parts_of_answer(
                spin_event(1000, 2500, flags=3),
                spin_event(4000, 5000, caller=OTHER, flags=mode, rule=4),
                spin_event(5000, 5100, 3000, WAITER, flags=3))
            self.assertEqual(parts, {"holder_ran": 500 + 1000, "free_overtaken": 1500})
        # In an interrupt the reader passes the writer at the head as well, which is a short wait.
        parts = self.parts_of_answer(
            spin_event(1000, 2500, flags=2, rule=4),
            spin_event(2200, 5000, 10, caller=OTHER, flags=0x82, rule=4),
            spin_event(5000, 5100, 3000, WAITER, flags=3))
        self.assertEqual(parts, {"holder_ran": 10 + 3000})
        reader, handler = "holds_long (reader)", "holds_too (interrupt)"
        self.assertEqual(self.blocker_charges(), {("my_lock", handler, reader): 10,
                                                  ("my_lock", "waits_long", reader): 500,
                                                  ("my_lock", "waits_long", handler): 2500})

    def test_owner_that_left_no_waiter_held_the_lock_from_its_time_stamp_on(self):
        self.assertEqual(self.parts_of_answer(spin_event(4900, 5000),
                                              spin_event(5000, 5100, 3000, WAITER)),
                         {"holder_ran": 100, "unknown": 2900})

    def test_wait_without_a_recorded_hold_is_unknown(self):
        self.assertEqual(self.parts_of_answer(spin_event(5000, 5100, 3000, WAITER)),
                         {"unknown": 3000})

    def test_time_before_a_holder_that_waited_too_is_handed_over(self):
        """Two waits: 500 before 2000, of which no hold is known, and 2000 before 3000."""
        parts = self.parts_of_answer(spin_event(2000, 3000, 500, OTHER),
                                     spin_event(3000, 3100, 2000, WAITER))
        self.assertEqual(parts, {"holder_ran": 1000, "free_handed_over": 500,
                                 "unknown": 500 + 500})

    def test_overlapping_readers_are_charged_once(self):
        """The reader that came first is charged for its hold."""
        parts = self.parts_of_answer(
            sleeping_event(1000, 3000, action=0x42, kind="rwsem"),
            sleeping_event(2000, 4000, action=0x42, kind="rwsem", thread=57),
            sleeping_event(4000, 4100, 3000, thread=56, kind="rwsem"))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blocker_charges("--by", "task"), {
            ("my_lock", "waiter", "holder (reader)"): 2000,
            ("my_lock", "waiter", "bystander (reader)"): 1000})

    def test_blocker_of_a_sleeping_lock_is_charged_and_stands_for_no_release(self):
        parts = self.parts_of_answer(
            etl.resource_rundown(1000, 1),
            sleeping_event(1000, 5000, action=0x442, kind="rwsem", delta=0),
            sleeping_event(5000, 5100, 3000, thread=56, kind="rwsem"))
        self.assertEqual(parts, {"holder_ran": 3000})
        self.assertEqual(self.blocker_charges("--by", "task"),
                         {("my_lock", "waiter", "holder (reader)"): 3000})
        (row,) = json.loads(self.report("--json"))["resources"]
        self.assertEqual((row["class"], row["releases"]), ("exclusive", 1))
        self.assertIn("Action=rwsem_release_shared_blocker", run_tool("dump", self.path).stdout)

    def test_caller_names_a_sleeping_holder_without_a_stack(self):
        """The caller belongs to the record with its lock, time stamp and CPU."""
        self.write_events(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000), sleeping_event(1000, 5000),
            etl.caller_event(LOCK + 64, OTHER, time_stamp=BASE + 5100),
            sleeping_event(5000, 5100, 3000, thread=56))
        held = {("my_lock", "waiter", "holder in holds_long"): 3000}
        self.assertEqual(self.blocker_charges(), held)
        self.assertEqual(self.blocker_charges("--filter", "Kind == mutex"), held)
        self.assertEqual(self.blocker_charges("--by", "task"),
                         {("my_lock", "waiter", "holder"): 3000})
        self.assertEqual(json.loads(self.report("--json"))["events"], 5)
        self.assertIn("CallerAddress=0xffffffff81000101 CallerAddressSymbol=holds_long+0x1",
                      run_tool("dump", self.path).stdout)

    def test_filter_by_caller_selects_records_of_sleeping_locks(self):
        self.write_events(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000), sleeping_event(1000, 5000),
            etl.caller_event(LOCK, OTHER, time_stamp=BASE + 5100),
            sleeping_event(5000, 5100, 3000, thread=56),
            sleeping_event(5100, 5200, 1000, thread=57))
        for expression in "caller == holds_too", "kind == mutex && caller ~ holds_too":
            report = json.loads(self.report("--json", "--filter", expression))
            self.assertEqual(round(report["answer"]["wait_total_ns"] / NS), 3000, expression)
            self.assertEqual([row["releases"] for row in report["resources"]], [1])
        lines = run_tool("dump", "--filter", "caller == holds_too && lock == my_lock",
                         self.path).stdout.splitlines()
        self.assertEqual([line.split()[2] for line in lines], ["NtklogCaller", "Resource"])
        self.assertIn("ThreadId=56", lines[1])

    def test_caller_of_a_lost_record_is_not_given_to_a_later_record(self):
        self.write_events(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 900), sleeping_event(1000, 5000),
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5100),
            sleeping_event(5000, 5100, 3000, thread=56))
        self.assertEqual(self.blocker_charges(),
                         {("my_lock", "waiter in holds_long", "holder"): 3000})

    def test_caller_of_another_cpu_is_not_given_to_a_record(self):
        caller = etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000)
        waiter = sleeping_event(5000, 5100, 3000, thread=56)
        self.write(etl.header_buffer(3) + etl.buffer([caller], processor=1) +
                   etl.buffer([*RATES, sleeping_event(1000, 5000), waiter], sequence=2, flags=0x21))
        self.assertEqual(self.blocker_charges(), {("my_lock", "waiter", "holder"): 3000})

    def test_tasks_with_the_same_caller_are_charged_separately(self):
        self.write_events(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000), sleeping_event(1000, 5000),
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5100),
            sleeping_event(5000, 5100, 3000, thread=56))
        self.assertEqual(self.blocker_charges(), {
            ("my_lock", "waiter in holds_long", "holder in holds_long"): 3000})

    def test_dropped_holders_are_reported(self):
        events = sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56)
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

    def test_steal_time_is_reported(self):
        """400 ms of the two CPUs' second."""
        def write_and_report(*steal):
            self.write_events(etl.dropped_rundown(steal=steal[0]),
                              sleeping_event(1000, 5000),
                              sleeping_event(5000, 5100, 3000, thread=56),
                              etl.dropped_rundown(end=True, steal=steal[1],
                                                  time_stamp=BASE + 6000))
            return json.loads(self.report("--json"))["steal_time_ns"], self.report()

        steal, text = write_and_report(10**9, 14 * 10**8)
        self.assertEqual(steal, 4 * 10**8)
        self.assertIn("\n=> Host stopped virtual CPUs for 400ms, 20% of their time.\n", text)
        # It is that of the whole recording, and not of the selected part.
        self.assertNotIn("Host stopped", self.report("--from", "1us"))
        # The last are of a machine that had more than two CPUs before the recording.
        for values in (0, 0), (10**9, 10**9), (None, None), (2 * 10**11, 2 * 10**11):
            steal, text = write_and_report(*values)
            self.assertEqual(steal, 0)
            self.assertNotIn("Host stopped", text)
            self.assertNotIn("DAMAGED", text)

    def test_steal_time_beyond_the_clock_is_left_out(self):
        """The event is also read where the selected time ends before it."""
        self.write_events(etl.dropped_rundown(steal=0, time_stamp=BASE), sleeping_event(1000, 5000),
                          sleeping_event(5000, 5100, 3000, thread=56),
                          etl.dropped_rundown(end=True, steal=2 ** 63, time_stamp=BASE + 6000))
        for options, damaged in ((), 1), (("--to", "2900us"), 0):
            result = run_tool("report", "--json", *options, self.path)
            report = json.loads(result.stdout)
            self.assertEqual((result.returncode, report["damaged_events"], report["steal_time_ns"]),
                             (damaged, damaged, 0))
            self.assertEqual("its times are impossible" in result.stderr, damaged == 1)

    def test_holds_of_other_locks_are_not_charged(self):
        parts = self.parts_of_answer(spin_event(1000, 5000, address=LOCK + 64),
                                     spin_event(5000, 5100, 3000, WAITER))
        self.assertEqual(parts, {"unknown": 3000})

    def test_holder_in_a_later_buffer_is_charged(self):
        """The waiter's CPU is first in the file, as in cat header cpu0 cpu1."""
        self.write(etl.header_buffer(4) + etl.buffer(RATES) +
                   etl.buffer([spin_event(5000, 5100, 3000, WAITER)], sequence=2) +
                   etl.buffer([spin_event(1000, 5000)], sequence=3, processor=1, flags=0x21))
        self.assertEqual(self.parts_of_answer(), {"holder_ran": 3000})

    def test_records_of_mode_waits_are_no_holders(self):
        """In mode waits a record tells of a wait only."""
        parts = self.parts_of_answer(etl.ntklog_rundown(2),
                                     spin_event(1500, 1500, 400, OTHER, rule=2),
                                     spin_event(5000, 5000, 4000, WAITER, rule=2))
        self.assertEqual(parts, {"unknown": 4400})

    def test_release_without_a_start_is_charged_since_the_release_before(self):
        """Two tasks release the lock in the first wait, and one in the second."""
        release = {"rule": 0x1C, "flags": 1}
        self.write_events(etl.ntklog_rundown(3, blockers=1), spin_event(1000, 1000, **release),
                          spin_event(3000, 3000, caller=OTHER, thread=57, **release),
                          spin_event(4000, 4000, 3500, WAITER, rule=2),
                          spin_event(6000, 6000, **release),
                          spin_event(6100, 6100, 1600, WAITER, rule=2))
        self.assertEqual(self.parts_of_answer(), {"holder_ran": 4000, "free_handed_over": 1100})
        self.assertEqual(self.blocker_charges(), {("my_lock", "waits_long", "holds_long"): 2000,
                                                  ("my_lock", "waits_long", "holds_too"): 2000,
                                                  ("my_lock", "waits_long",
                                                   "(free, handed over)"): 1100})

    def test_answer_of_releases_without_waits_counts_the_releases(self):
        self.write_events(etl.ntklog_rundown(3, blockers=1),
                          spin_event(3000, 3000, rule=0x1C), spin_event(4000, 4000, rule=0x1C))
        text = self.report()
        self.assertTrue(text.startswith("No recorded task waited for a lock"), text)
        self.assertIn("Releases that left a waiter: 2; no records of waits.\n", text)

    def test_release_without_a_start_counts_as_no_hold(self):
        self.write_events(etl.ntklog_rundown(1, blockers=1), spin_event(1000, 1500, rule=1),
                          spin_event(3000, 3000, caller=OTHER, rule=0x1C))
        locks, = json.loads(self.report("--json"))["locks"]
        self.assertEqual([locks[name] for name in ("acquisitions", "hold_max_ns")],
                         [1, 500 * NS])

    def test_spin_lock_at_the_address_of_a_semaphore_is_another_lock(self):
        """The first member of a semaphore is its spin lock."""
        self.write_events(spin_event(1000, 2000), spin_event(2000, 2100, 900, WAITER),
                          sleeping_event(10000, 14000, kind="semaphore"),
                          sleeping_event(14000, 14100, 4000, thread=56, kind="semaphore"))
        locks = json.loads(self.report("--json"))["answer"]["locks"]
        self.assertEqual([(lock["waits"], round(lock["wait_total_ns"] / NS)) for lock in locks],
                         [(1, 4000), (1, 900)])
        text = self.report()
        self.assertIn("   Held 100%: holder 100%\n", text)
        self.assertIn("   Held 100%: holds_long 100%\n", text)

    def test_reader_whose_record_came_first_is_charged(self):
        """Both acquired at once, and the records are in the order of the releases."""
        for first, second in ((55, 57), (57, 55)):
            parts = self.parts_of_answer(
                sleeping_event(1000, 2000, action=0x42, kind="rwsem", thread=first),
                sleeping_event(1000, 3000, action=0x42, kind="rwsem", thread=second),
                sleeping_event(3000, 3100, 2000, thread=56, kind="rwsem"))
            self.assertEqual(parts, {"holder_ran": 2000})
            names = {55: "holder", 57: "bystander"}
            self.assertEqual(self.blocker_charges("--by", "task"), {
                ("my_lock", "waiter", names[first] + " (reader)"): 1000,
                ("my_lock", "waiter", names[second] + " (reader)"): 1000})

    def test_heavy_lock_behind_many_light_ones_is_named(self):
        """More locks, tasks and names of both than the tables have."""
        light = []
        for number in range(20000):
            at = 1000 + 10 * number
            light += [sleeping_event(at, at + 5, thread=1000 + 2 * number,
                                     address=LOCK + 64 * (number + 1)),
                      sleeping_event(at + 5, at + 6, 5, thread=1001 + 2 * number,
                                     address=LOCK + 64 * (number + 1))]
        heavy = [sleeping_event(300000, 400000), sleeping_event(400000, 400100, 90000, thread=56)]
        events = [*RATES, *light, *heavy]
        self.write(etl.header_buffer(1 + len(events[::30])) + b"".join(
            etl.buffer(events[30 * i:30 * i + 30], sequence=i + 1)
            for i in range(len(events[::30]))))
        parts = self.parts_of_answer()
        self.assertEqual(parts, {"holder_ran": 20000 * 5 + 90000})
        text = self.report()
        self.assertIn("1. my_lock: 45.0ms (47%) in 1 wait", text)
        self.assertIn("waited: waiter 100%\n   Held 100%: holder 100%\n", text)
        blockers = self.blocker_charges()
        self.assertEqual(blockers[("my_lock", "waiter", "holder")], 90000)
        self.assertEqual(sum(blockers.values()), sum(parts.values()))

    def test_charges_of_random_records_add_up_to_the_parts(self):
        generator = random.Random(7)
        events = []
        for _ in range(400):
            acquire = generator.randrange(5000, 50000)
            release = acquire + generator.randrange(1, 3000)
            wait = generator.choice((0, generator.randrange(1, 5000)))
            make = generator.choice((spin_event, sleeping_event))
            events.append((release, make(acquire, release, wait, address=LOCK +
                                         64 * generator.randrange(3))))
        for number in range(200):
            at = generator.randrange(1000, 50000)
            events.append((at, switch_event(at, 55 + number % 3, 55 + (number + 1) % 3,
                                            generator.choice((1, 5)))))
        events = [event for _, event in sorted(events, key=lambda pair: pair[0])]
        self.write(etl.header_buffer(1 + len(events[::40])) + b"".join(
            etl.buffer(([*RATES] if not i else []) + events[40 * i:40 * i + 40], sequence=i + 1)
            for i in range(len(events[::40]))))
        parts = self.parts_of_answer()
        self.assertEqual(sum(self.blocker_charges().values()), sum(parts.values()))
        self.assertGreater(len(parts), 5)


class Reasons(Case):
    def test_holder_without_a_cpu_was_preempted(self):
        parts = self.parts_of_answer(switch_event(2000, 55, 57, state=1),
                                     switch_event(3500, 57, 55),
                                     sleeping_event(1000, 5000),
                                     sleeping_event(5000, 5100, 4000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2500, "holder_preempted": 1500})
        self.assertIn("   Holders had no CPU 38%, ran 62%\n", self.report())

    def test_answer_says_where_the_holder_was_blocked(self):
        parts = self.parts_of_answer(
            switch_event(2000, 55, 57), stack_event_of(2000, 0xFFFFFFFF81000401,
                                                       0xFFFFFFFF81000501),
            switch_event(4000, 57, 55), sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2000, "holder_blocked": 2000})
        self.assertIn("blocked 50% (in p9_client_rpc)", self.report())

    def test_answer_names_the_lock_a_holder_waits_for(self):
        self.write_events(
            switch_event(2000, 55, 57), switch_event(4000, 57, 55),
            sleeping_event(4000, 4500, 2500, address=LOCK + 0x288), sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56))
        self.assertRegex(self.report(), r"blocked \d+% \(waiting for inner_lock\)")

    def test_chain_of_holders_is_followed_to_its_end(self):
        """55 has my_lock and waits for inner_lock, which 57 has while it is blocked in a function."""
        self.write_events(
            switch_event(1500, 57, 0),
            stack_event_of(1500, 0xFFFFFFFF81000401, 0xFFFFFFFF81000501, thread=57),
            switch_event(2000, 55, 0), switch_event(3900, 0, 57),
            sleeping_event(1000, 4000, thread=57, address=LOCK + 0x288), switch_event(4000, 57, 55),
            sleeping_event(4000, 4500, 2000, address=LOCK + 0x288), sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56))
        self.assertRegex(self.report(), r"blocked 50% \(waiting for inner_lock\), ran 50%\n"
                         r"   Chain: waiting for inner_lock, held by bystander in p9_client_rpc\n")

    def test_chain_of_a_holder_that_runs_ends_with_it(self):
        self.write_events(
            switch_event(2000, 55, 57), sleeping_event(1000, 4000, thread=57, address=LOCK + 0x288),
            switch_event(4000, 57, 55), sleeping_event(4000, 4500, 2000, address=LOCK + 0x288),
            sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56))
        self.assertIn("   Chain: waiting for inner_lock, held by bystander\n", self.report())

    def test_wait_for_a_next_owner_without_a_cpu_is_charged_to_no_holder(self):
        """The lock is free from 2000 on; its next owner is woken at once, and runs at 5000."""
        parts = self.parts_of_answer(switch_event(1500, 56, 57), sleeping_event(1000, 2000),
                                     switch_event(5000, 57, 56, state=5, wait_time=1),
                                     sleeping_event(5000, 5100, 3600, thread=56))
        self.assertEqual(sum(parts.values()), 3600)
        self.assertEqual(parts["holder_ran"], 600)
        self.assertEqual(parts.get("free_next_owner_without_cpu", 0) +
                         parts.get("free_next_owner_asleep", 0), 3000)

    def test_most_waiting_without_a_cpu_is_called_want_of_cpus(self):
        self.write_events(switch_event(1500, 55, 57, state=1), switch_event(4500, 57, 55),
                          sleeping_event(1000, 5000), sleeping_event(5000, 5100, 4000, thread=56))
        self.assertIn("=> 75% of the waiting is want of CPUs, not of locks.", self.report())

    def test_half_of_the_waiting_is_not_called_most_of_it(self):
        self.write_events(switch_event(2000, 55, 57, state=1), switch_event(4000, 57, 55),
                          sleeping_event(1000, 5000), sleeping_event(5000, 5100, 4000, thread=56))
        self.assertNotIn("want of CPUs", self.report())

    def test_free_lock_that_is_not_taken_looks_like_a_stopped_virtual_cpu(self):
        events = spin_event(1000, 2000), spin_event(20000, 20100, 18500, WAITER)
        self.write_events(*events)
        self.assertIn("\n=> 97% of spinning: locks free for over 1ms, as when a host stops virtual CPUs.\n",
                      self.report())
        self.write_events(etl.dropped_rundown(steal=0), *events,
                          etl.dropped_rundown(end=True, steal=10**7, time_stamp=BASE + 21000))
        self.assertIn("\n=> 97% of spinning: locks free for over 1ms: the host stopped virtual CPUs.\n",
                      self.report())

    def test_interrupts_of_a_holder_that_spins_are_reported(self):
        """Half of the time in which the lock was held."""
        self.write_events(spin_event(1000, 3000, interrupts=3), spin_event(3000, 5000),
                          spin_event(5000, 5100, 4000, WAITER))
        text = self.report()
        self.assertIn("\n  100%  the holder ran; 50% of this in holds with interrupts\n", text)
        self.assertIn("\n   Holders ran, 50% of this in holds with interrupts\n", text)
        answer = json.loads(self.report("--json"))["answer"]
        self.assertEqual([round(one["interrupted_ns"] / NS)
                          for one in (answer, *answer["locks"])], [2000, 2000])
        self.write_events(spin_event(1000, 5000), spin_event(5000, 5100, 4000, WAITER))
        self.assertNotIn("in holds with interrupts", self.report())


class Sampled(Case):
    def test_charges_of_sampled_waits_have_a_sampling_error(self):
        """Forty waits that stand for ten each; the greatest part counts seven times."""
        events = []
        for number in range(40):
            at = 10000 * (number + 1)
            events += [spin_event(at, at + 2000), spin_event(at + 2000, at + 2100, 1000, WAITER)]
        events = [etl.spinlock_rundown(1, 10, 1, 0), etl.ntklog_rundown(0, blockers=1), *events]
        self.write(etl.header_buffer(4) + b"".join(
            etl.buffer(events[40 * i:40 * i + 40], sequence=i + 1) for i in range(3)))
        for table, column in ("blockers", "charged_total"), ("waiters", "wait_total"):
            (row,) = json.loads(self.report("--json", "--table", table))[table]
            self.assertEqual(round(row[column + "_ns"] / NS), 40 * 10 * 1000)
            self.assertAlmostEqual(row[column + "_error"],
                                   ((40 + 6) * 10 * 9) ** .5 * 1000 / (40 * 10 * 1000))
            self.assertIn("ms+-16%", self.report("--table", table))

    def test_charges_of_unsampled_waits_have_no_sampling_error(self):
        self.write_events(spin_event(1000, 5000), spin_event(5000, 5100, 3000, WAITER))
        (row,) = json.loads(self.report("--json"))["blockers"]
        self.assertEqual(row["charged_total_error"], 0)


if __name__ == "__main__":
    tap.main()
