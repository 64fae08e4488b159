#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: why a hold or a wait was long, from the sums in the events before the records of
sleeping locks.
"""

import csv
import io
import itertools
import json
import random

from answer_case import (BASE, HOLDER, LOCK, NS, OTHER, RATES, WAITER, Case, sleeping_event,
                         switch_event)
import etl_writer as etl
import tap
from tool import least_cpu_seconds, run_tool

INNER = 0xFFFF888012345900
# Addresses in __schedule and in p9_client_rpc.
SCHEDULE, SLEEP = 0xFFFFFFFF81000401, 0xFFFFFFFF81000501


def caller_and_lock(caller, acquire, release, wait=0, thread=55, address=LOCK, **sums):
    return (etl.caller_event(address, caller, sums, time_stamp=BASE + release),
            sleeping_event(acquire, release, wait, thread, address=address))


def bucket(thread):
    """The bucket of bucket_of_key() that has the context switches of THREAD."""
    return thread * 0x9E3779B97F4A7C15 % 2 ** 64 >> 48


# A task that shares its bucket with task 55.
NEIGHBOUR = next(thread for thread in itertools.count(1000) if bucket(thread) == bucket(55))


class Parts(Case):
    def test_hold_is_divided_in_proportion(self):
        """The waiter came when a quarter of the hold was over."""
        parts = self.parts_of_answer(
            *caller_and_lock(HOLDER, 1000, 5000, hold_ready=1000, hold_blocked=2000),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56, wait_blocked=2900))
        self.assertEqual(parts, {"holder_ran": 750, "holder_preempted": 750,
                                 "holder_blocked": 1500})
        text = self.report()
        self.assertIn("\n   50%  the holder was blocked\n", text)
        self.assertIn("\n   Holders had no CPU 25%, blocked 50%, ran 25%\n", text)
        self.assertNotIn("why holders were slow", text)
        self.assertIn("Not recorded: where holders blocked (ntklog record --stacks).", text)

    def test_wait_for_a_whole_hold_is_divided_by_its_sums(self):
        """The waiter was woken 200 ticks after the release, and got a CPU 300 later."""
        parts = self.parts_of_answer(
            *caller_and_lock(HOLDER, 2500, 4500, hold_ready=500, hold_blocked=1200),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56, wait_ready=800, wait_last_ready=300,
                             wait_blocked=2100))
        self.assertEqual(parts, {"unknown": 500, "holder_ran": 300, "holder_preempted": 500,
                                 "holder_blocked": 1200, "free_next_owner_asleep": 200,
                                 "free_next_owner_without_cpu": 300})

    def test_waiter_that_was_never_blocked_spun(self):
        parts = self.parts_of_answer(
            *caller_and_lock(HOLDER, 1000, 4500),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56, wait_last_ready=100))
        self.assertEqual(parts, {"holder_ran": 2500, "free_handed_over": 400,
                                 "free_next_owner_without_cpu": 100})

    def test_place_of_the_longest_block_is_reported(self):
        """In 1500 of 2000 ticks the holder was blocked in that function."""
        def hold_and_wait_events(lock=LOCK, at=5000):
            return (etl.caller_event(LOCK, HOLDER, {"hold_blocked": 2000}, time_stamp=BASE + 5000),
                    etl.block_stack_event(lock, 1500, [SCHEDULE, SLEEP, HOLDER],
                                          time_stamp=BASE + at),
                    sleeping_event(1000, 5000),
                    *caller_and_lock(WAITER, 5000, 5100, 3000, 56, wait_blocked=2900))

        parts = self.parts_of_answer(*hold_and_wait_events())
        self.assertEqual(parts, {"holder_ran": 1500, "holder_blocked": 1500})
        text = self.report()
        self.assertIn("\n   Holders blocked 50% (in p9_client_rpc), ran 50%\n", text)
        self.assertNotIn("Not recorded", text)
        (wait,) = json.loads(self.report("--json"))["answer"]["longest_waits"]
        self.assertEqual([step.get("without_cpu_in") for step in wait["steps"]],
                         [None, "p9_client_rpc"])
        self.assertRegex(self.report("--table", "longest"), r"blocked in\s+p9_client_rpc\n")
        for other in (LOCK + 8, 5000), (LOCK, 4999):
            self.parts_of_answer(*hold_and_wait_events(*other))
            self.assertNotIn("p9_client_rpc", self.report())

    def test_context_switches_count_instead_of_sums(self):
        """The clock of the sums differs a little from that of the switches."""
        parts = self.parts_of_answer(
            switch_event(1500, 55, 0), switch_event(2500, 0, 55),
            *caller_and_lock(HOLDER, 1000, 5000, hold_ready=10, hold_blocked=1005),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56))
        self.assertEqual(parts, {"holder_ran": 2500, "holder_blocked": 500})
        self.assertNotIn("Not recorded: where holders blocked", self.report())

    def test_context_switches_are_found_whatever_others_the_task_has(self):
        """A search starts at the newest switch, and may skip many."""
        def switch_events(at, count):
            return [switch_event(at + i, *((0, 55) if i % 2 else (55, 0))) for i in range(count)]

        for older in 0, 1, 6, 14:
            for newer in range(0, 24, 2):
                parts = self.parts_of_answer(
                    *switch_events(100, 2 * older),
                    switch_event(2100, 55, 0), switch_event(2400, 0, 55),
                    *caller_and_lock(HOLDER, 1000, 5000),
                    *caller_and_lock(WAITER, 5000, 5100, 3000, 56),
                    *switch_events(5200, 2 * newer))
                self.assertEqual(parts, {"holder_ran": 2700, "holder_blocked": 300},
                                 (older, newer))

    def test_tasks_of_a_bucket_have_their_own_context_switches(self):
        third = next(thread for thread in itertools.count(NEIGHBOUR + 1)
                     if bucket(thread) == bucket(55))
        for seed in range(20):
            choice = random.Random(seed)
            switches, blocked = [], 0
            for at in range(2100, 4900, 100):
                task = choice.choice([55, NEIGHBOUR, third])
                switches += [switch_event(at, task, 0), switch_event(at + 50, 0, task)]
                blocked += 50 if task == 55 else 0
            parts = self.parts_of_answer(*switches, *caller_and_lock(HOLDER, 1000, 5000),
                                         *caller_and_lock(WAITER, 5000, 5100, 3000, 56))
            self.assertEqual(parts.get("holder_blocked", 0), blocked, seed)

    def test_search_for_context_switches_does_not_pass_those_of_a_busy_task(self):
        def cpu_seconds_of_report(busy):
            events = [event for at in range(0, 40000, 2)
                      for event in (switch_event(at, busy, 0), switch_event(at + 1, 0, busy))]
            for at in range(40000, 340000, 30):
                events += [sleeping_event(at, at + 8), sleeping_event(at + 8, at + 9, 7, thread=56)]
            self.write(etl.long_file([*RATES, *events]))
            return least_cpu_seconds("report", "--json", self.path)

        self.assertLess(cpu_seconds_of_report(NEIGHBOUR), 5 * cpu_seconds_of_report(NEIGHBOUR + 1))

    def test_sums_count_where_the_context_switches_of_the_task_are_missing(self):
        """A buffer was lost, or overwritten: the other switches stay."""
        others = switch_event(900, 77, 55), switch_event(2200, 0, 78), switch_event(2300, 78, 0)
        holds = (*caller_and_lock(HOLDER, 1000, 4500, hold_blocked=2800),
                 *caller_and_lock(WAITER, 5000, 5100, 3500, 56, wait_blocked=3200,
                                  wait_last_ready=100))
        expected = {"holder_ran": 600, "holder_blocked": 2400, "free_next_owner_asleep": 400,
                    "free_next_owner_without_cpu": 100}
        self.assertEqual(self.parts_of_answer(*others, *holds), expected)
        self.assertEqual(self.parts_of_answer(*others, switch_event(3800, 55, 0),
                                              switch_event(4100, 0, 55),
                                              *holds),
                         expected)
        self.assertEqual(self.parts_of_answer(*others, switch_event(4100, 0, 55), *holds), expected)

    def test_holds_with_context_switches_and_others_with_sums(self):
        """The switches of the second of two equal holds are missing."""
        def hold_with_sums(at):
            return caller_and_lock(HOLDER, at + 1000, at + 5000, hold_blocked=2000)

        parts = self.parts_of_answer(switch_event(1000, 55, 0), switch_event(3000, 0, 55),
                                     *hold_with_sums(0),
                                     *hold_with_sums(5000),
                                     *caller_and_lock(WAITER, 10000, 10100, 7000, 56))
        self.assertEqual(parts, {"holder_ran": 2000 + 2000, "holder_blocked": 2000,
                                 "free_overtaken": 1000})

    def test_sums_count_where_the_context_switches_are_not_selected(self):
        self.write_events(
            switch_event(900, 77, 55), switch_event(1200, 55, 0), switch_event(2300, 78, 0),
            switch_event(4700, 0, 55),
            *caller_and_lock(HOLDER, 1000, 5000, hold_blocked=3500),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56, wait_blocked=3000))
        for options, blocked in ((), 2700), (("--from", "0.001"), 2625):
            parts = json.loads(self.report("--json", *options))["answer"]["parts_ns"]
            self.assertEqual(round(parts["holder_blocked"] / NS), blocked)

    def test_short_event_of_an_old_file_tells_no_reason(self):
        parts = self.parts_of_answer(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000), sleeping_event(1000, 5000),
            etl.caller_event(LOCK, WAITER, time_stamp=BASE + 5100),
            sleeping_event(5000, 5100, 3000, thread=56))
        self.assertEqual(parts, {"holder_ran": 3000})
        text = self.report()
        self.assertIn("\n  100%  a task held the lock, see below\n", text)
        self.assertIn("Not recorded: why holders were slow (ntklog record -e ...,contextswap", text)
        self.assertNotIn("Holders ran", text)

    def test_lost_event_leaves_the_reason_of_its_hold_open(self):
        self.assertEqual(self.parts_of_answer(
            sleeping_event(1000, 5000), *caller_and_lock(WAITER, 5000, 5100, 3000, 56)),
                         {"holder_ran": 3000})
        self.assertIn("\n  100%  a task held the lock, see below\n", self.report())

    def test_hold_that_did_not_end_has_no_reason(self):
        """The first waiter waits for a hold with sums, the second one for one that is open."""
        self.parts_of_answer(
            *caller_and_lock(HOLDER, 1000, 4000, hold_blocked=3000),
            *caller_and_lock(WAITER, 4000, 4100, 3000, 56, wait_blocked=3000),
            etl.open_hold_event(BASE + 9000),
            etl.open_hold_event(BASE + 9000, "held", address=LOCK, since=BASE + 5000, thread=55),
            etl.open_hold_event(BASE + 9000, "waits", address=LOCK, since=BASE + 6000, thread=57))
        text = self.report()
        self.assertIn("   50%  a task held the lock, see below\n", text)
        self.assertIn("   Holders blocked 50%, not recorded 50%\n", text)
        answer = json.loads(self.report("--json"))["answer"]
        self.assertEqual(answer["undivided_ns"], answer["parts_ns"]["holder_ran"])

    def test_hold_that_did_not_end_is_divided_by_its_times(self):
        self.parts_of_answer(
            etl.open_hold_event(BASE + 9000, off_cpu=(0, 0)),
            etl.open_hold_event(BASE + 9000, "held", off_cpu=(1000, 2000), address=LOCK,
                                since=BASE + 5000, thread=55),
            etl.open_hold_event(BASE + 9000, "waits", off_cpu=(0, 2000), address=LOCK,
                                since=BASE + 7000, thread=57))
        answer = json.loads(self.report("--json"))["answer"]
        self.assertEqual({part: round(time / NS) for part, time in answer["parts_ns"].items() if time},
                         {"holder_ran": 500, "holder_preempted": 500, "holder_blocked": 1000})
        self.assertEqual(answer["undivided_ns"], 0)

    def test_parts_add_up_whatever_the_event_claims(self):
        chance = random.Random(34)
        values = (0, 1, 299, 3000, 4001, 2**53, 2**63, 2**64 - 1)
        names = "hold_ready", "hold_blocked", "wait_ready", "wait_last_ready", "wait_blocked"
        for number in range(60):
            sums = [{name: chance.choice(values) for name in names} for _ in range(2)]
            switches = [switch_event(at, *chance.sample((0, 55, 56, 57), 2))
                        for at in sorted(chance.sample(range(900, 4700), number // 8))]
            parts = self.parts_of_answer(*switches, *caller_and_lock(HOLDER, 1000, 4700, **sums[0]),
                                         *caller_and_lock(WAITER, 5000, 5100, 3000, 56, **sums[1]))
            self.assertEqual(sum(parts.values()), 3000, sums)


class Sampled(Case):
    def blocker_rows(self, events_of_a_wait):
        """Forty waits that stand for five releases each."""
        events = [event for number in range(40) for event in events_of_a_wait(10000 * number)]
        self.write(etl.long_file([etl.ntklog_rundown(0, blockers=1),
                                  etl.resource_rundown(1000, 5), *events]))
        return json.loads(self.report("--json", "--table", "blockers"))["blockers"]

    def test_states_of_one_hold_are_one_piece(self):
        def undivided_events(at):
            return sleeping_event(at + 1000, at + 4500), sleeping_event(at + 5000, at + 5100, 4000,
                                                                        56)

        def events_with_sums(at):
            return (*caller_and_lock(HOLDER, at + 1000, at + 4500, hold_ready=1000,
                                     hold_blocked=1500),
                    *caller_and_lock(HOLDER, at + 5000, at + 5100, 4000, 56, wait_blocked=3700,
                                     wait_last_ready=200))

        def events_with_switches(at):
            return (switch_event(at + 1000, 56, 0), switch_event(at + 1500, 55, 57, state=1),
                    switch_event(at + 2500, 57, 55), switch_event(at + 3000, 55, 57),
                    switch_event(at + 4500, 57, 55), *undivided_events(at)[:1],
                    switch_event(at + 4900, 0, 56),
                    *undivided_events(at)[1:])

        expected = self.blocker_rows(undivided_events)
        self.assertEqual([(row["holder"], row["pieces"], round(row["charged_total_ns"] / NS),
                           round(row["charged_max_ns"] / NS)) for row in expected],
                         [("holder", 200, 700000, 3500),
                          ("(free, handed over)", 200, 100000, 500)])
        for row in expected:
            self.assertGreater(row["charged_total_error"], 0.1)
        self.assertEqual(self.blocker_rows(events_with_switches), expected)
        for row in expected:
            row["holder"] = row["holder"].replace("holder", "holder in holds_long")
            row["waiter"] = "waiter in holds_long"
        self.assertEqual(self.blocker_rows(events_with_sums), expected)


class Reasons(Case):
    def test_lock_for_which_the_holder_waited_is_named(self):
        self.parts_of_answer(
            *caller_and_lock(OTHER, 500, 4000, thread=57, address=INNER),
            *caller_and_lock(HOLDER, 4000, 4100, 2400, address=INNER, wait_blocked=2300),
            *caller_and_lock(HOLDER, 1000, 5000, hold_blocked=2300, hold_ready=100),
            *caller_and_lock(WAITER, 5000, 5100, 4000, 56, wait_blocked=3900))
        text = self.report()
        self.assertIn("blocked 57% (waiting for inner_lock)", text)
        self.assertIn("Chain: waiting for inner_lock, held by bystander", text)
        answer = json.loads(self.report("--json"))["answer"]
        self.assertFalse(answer["context_switches"])
        self.assertEqual([link["lock"] for link in answer["longest_chain"]["waited_for"]],
                         ["my_lock", "inner_lock"])

    def test_steps_known_as_sums_begin_with_the_hold(self):
        """Pieces of which only the sums are known begin with the hold; one tells of the chain."""
        self.parts_of_answer(
            *caller_and_lock(OTHER, 500, 4000, thread=57, address=INNER),
            *caller_and_lock(HOLDER, 4000, 4100, 2400, address=INNER, wait_blocked=2300),
            *caller_and_lock(HOLDER, 1000, 5000, hold_blocked=2400, hold_ready=100),
            *caller_and_lock(WAITER, 5000, 5100, 4000, 56, wait_blocked=3900))
        wait = json.loads(self.report("--json"))["answer"]["longest_waits"][0]
        self.assertEqual([(step["part"], "waited_for" in step) for step in wait["steps"]],
                         [("holder_ran", False), ("holder_preempted", False),
                          ("holder_blocked", True)])
        self.assertEqual(len({step["at"] for step in wait["steps"]}), 1)


class Event(Case):
    def write_both_versions(self):
        self.write_events(
            etl.caller_event(LOCK, HOLDER, time_stamp=BASE + 5000), sleeping_event(1000, 5000),
            *caller_and_lock(WAITER, 5000, 5100, 3000, 56, hold_ready=1, hold_blocked=2,
                             wait_ready=3,
                             wait_last_ready=4, wait_blocked=5))

    def test_dump_prints_both_versions(self):
        self.write_both_versions()
        old, new = (line for line in run_tool("dump", "--json", self.path).stdout.splitlines()
                    if "NtklogCaller" in line)
        self.assertNotIn("HoldReadyTime", json.loads(old))
        new = json.loads(new)
        self.assertEqual([new[name] for name in (
            "HoldReadyTime", "HoldBlockedTime", "WaitReadyTime", "WaitLastReadyTime",
            "WaitBlockedTime")], [1, 2, 3, 4, 5])
        rows = list(csv.DictReader(io.StringIO(run_tool("dump", "--csv", self.path).stdout)))
        self.assertEqual([row["WaitBlockedTime"] for row in rows if row["Event"] == "NtklogCaller"],
                         ["", "5"])

    def test_filter_finds_times_of_callers(self):
        self.write_both_versions()
        result = run_tool("dump", "--filter", "WaitBlockedTime > 4", self.path)
        self.assertEqual((result.returncode, result.stdout.count("NtklogCaller")), (0, 1))

    def test_event_of_a_wrong_size_is_left_out(self):
        self.write_events(etl.perfinfo(0xA052, bytes(0x30), version=2, time_stamp=BASE + 5000),
                          sleeping_event(1000, 5000))
        self.assertIn("NtklogCaller event with 0x30 bytes of data, not 0x38",
                      run_tool("report", self.path).stderr)


tap.main()
