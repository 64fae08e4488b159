#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: who held the lock while others waited, and why; files with planted truth.

Usage: test_answer.py NTKLOG
"""

import json
import os
import random
import re

import etl_writer as etl
import tap
import tool
from tool import run

# Nanoseconds of a tick: the cycles of these files are the ticks of their clock.
NS = 1e9 / etl.PERF_FREQ
BASE = etl.START_CLOCK

LOCK = 0xFFFF888012345678
HOLDER = 0xFFFFFFFF81000101
OTHER = 0xFFFFFFFF81000201
WAITER = 0xFFFFFFFF81000301

NAMES = """\
ffffffff81000100 t holds_long
ffffffff81000200 t holds_too
ffffffff81000300 t waits_long
ffffffff81000400 T schedule
ffffffff81000500 t p9_client_rpc
ffffffff81000600 t walks_pages
ffffffff81000700 T up_write
ffff888012345678 d my_lock
ffff888012345900 d inner_lock
thread 55 holder
thread 56 waiter
thread 57 bystander
"""


def spin(acquire, release, wait=0, caller=HOLDER, **changes):
    """A spin lock's record; times are ticks from BASE on."""
    return etl.perfinfo(0x0529, etl.spin_lock(
        **{"address": LOCK, "caller": caller, "acquire": BASE + acquire, "release": BASE + release,
           "wait": wait, "spins": 1 if wait else 0, "flags": 1, "interrupts": 0, **changes}),
        time_stamp=BASE + release)


def sleep(acquire, release, wait=0, thread=55, kind="mutex", action=0x22, **changes):
    return etl.linux_lock(kind, action, time_stamp=BASE + release, **{
        "address": LOCK, "acquire": BASE + acquire, "hold": release - acquire, "wait": wait,
        "thread": thread, "delta": 1, **changes})


def switch(at, old, new, state=5, wait_time=0):
    return etl.perfinfo(0x0524, etl.context_swap(new=new, old=old, state=state,
                                                 wait_time=wait_time),
                        version=4, time_stamp=BASE + at)


def stack_of(event_at, *addresses, thread=55):
    return etl.stack(BASE + event_at, addresses, thread=thread)


RATES = (etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0, blockers=1),
         etl.resource_rundown(1, 1))


class Case(tool.Case):
    def setUp(self):
        super().setUp()
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(NAMES)

    def write_events(self, *events):
        self.write(etl.file(*RATES, *events))

    def report(self, *options):
        result = run("report", *options, self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def answer(self, *events):
        """The parts of the waiting, in ticks, without those that are zero."""
        if events:
            self.write_events(*events)
        answer = json.loads(self.report("--json"))["answer"]
        parts = {name: round(ns / NS) for name, ns in answer["parts"].items() if ns}
        self.assertEqual(sum(parts.values()), round(answer["wait_total"] / NS))
        return parts

    def blockers(self, *options):
        rows = json.loads(self.report("--json", *options))["blockers"]
        return {(row["lock"], row["waiter"], row["holder"]): round(row["charged_total_ns"] / NS)
                for row in rows}


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

    def test_wait_without_a_recorded_hold_is_unknown(self):
        self.assertEqual(self.answer(spin(5000, 5100, 3000, WAITER)), {"unknown": 3000})

    def test_time_before_a_holder_that_waited_too_is_handed_over(self):
        """Two waits: 500 before 2000, of which no hold is known, and 2000 before 3000."""
        parts = self.answer(spin(2000, 3000, 500, OTHER), spin(3000, 3100, 2000, WAITER))
        self.assertEqual(parts, {"holder_ran": 1000, "free_handed_over": 500,
                                 "unknown": 500 + 500})

    def test_overlapping_readers_are_charged_once(self):
        """The reader that came first is charged, and the other one for what is left."""
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
        """The caller belongs to the next record of its lock by the same CPU, whatever the filter."""
        self.write_events(
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 4999), sleep(1000, 5000),
            etl.caller(LOCK + 64, OTHER, time_stamp=BASE + 5098), sleep(5000, 5100, 3000, thread=56))
        held = {("my_lock", "waiter", "holder in holds_long"): 3000}
        self.assertEqual(self.blockers(), held)
        self.assertEqual(self.blockers("--filter", "Kind == mutex"), held)
        self.assertEqual(self.blockers("--by", "task"), {("my_lock", "waiter", "holder"): 3000})
        self.assertEqual(json.loads(self.report("--json"))["events"], 5)
        self.assertIn("CallerAddress=0xffffffff81000101 CallerAddressSymbol=holds_long+0x1",
                      run("dump", self.path).stdout)

    def test_tasks_with_the_same_caller_are_told_apart(self):
        self.write_events(
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 4999), sleep(1000, 5000),
            etl.caller(LOCK, HOLDER, time_stamp=BASE + 5098), sleep(5000, 5100, 3000, thread=56))
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
        """In mode waits a record tells of a wait only, and cannot be charged with others' waits."""
        parts = self.answer(etl.ntklog_rundown(2), spin(1500, 1500, 400, OTHER, rule=2),
                            spin(5000, 5000, 4000, WAITER, rule=2))
        self.assertEqual(parts, {"unknown": 4400})

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
        """More locks, tasks and names of both than the tables have: what came first is dropped."""
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


class Tasks(Case):
    """Processes and cgroups of waiters and holders."""

    TASKS = """\
thread 55 shell\t50\t/user.slice
thread 55@%d find\t50\t/user.slice/run 7.scope
thread 50 leader\t50\t/user.slice
thread 50@%d renamed\t50\t/user.slice
thread 56 waiter\t56\t/system.slice/web.service
thread 57 bystander
thread 58 other\t56\t/system.slice/web.service
"""

    def setUp(self):
        super().setUp()
        with open(self.path + ".names", "a") as stream:
            stream.write(self.TASKS % (BASE + 7000, BASE + 7000))

    def write_tasks(self):
        self.write_events(sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56),
                          sleep(6000, 8000), sleep(8000, 8100, 1000, thread=58),
                          sleep(8100, 8200, 40, thread=57), sleep(8200, 8300, 30, thread=99),
                          sleep(8300, 8400, 20, thread=0))

    def test_process_is_named_by_its_id_and_its_name_at_that_time(self):
        self.write_tasks()
        self.assertEqual(self.blockers("--by", "process"), {
            ("my_lock", "56 waiter", "50 leader"): 3000,
            ("my_lock", "56 waiter", "50 renamed"): 1000,
            ("my_lock", "unknown process", "56 waiter"): 40,
            ("my_lock", "unknown process", "unknown process"): 30,
            ("my_lock", "idle", "unknown process"): 20})

    def test_process_without_a_name_is_not_the_thread_of_its_number(self):
        with open(self.path + ".names", "a") as stream:
            stream.write("thread 61 w\t60\n")
        for threads in (60, 61), (61, 60):
            self.write_events(*(sleep(1000 * number, 1000 * number + 10, 100,
                                      thread=threads[number % 2]) for number in range(1, 9)))
            rows = json.loads(self.report("--json", "--table", "waiters", "--by",
                                          "process"))["waiters"]
            self.assertEqual({row["waiter"] for row in rows}, {"60", "unknown process"})

    def test_long_name_of_a_process_is_cut_between_characters(self):
        with open(self.path + ".names", "a") as stream:
            for number in range(2):
                stream.write("thread %d %s\t%d\n" % (62 + number, "x" * number + "\u00e4" * 600,
                                                    62 + number))
        self.write_events(*(sleep(1000 * number, 1000 * number + 10, 100, thread=62 + number % 2)
                            for number in range(1, 5)))
        rows = json.loads(self.report("--json", "--table", "waiters", "--by", "process"))["waiters"]
        self.assertEqual({row["waiter"][:3] for row in rows if "waiter" in row}, {"62 ", "63 "})

    def test_cgroup_is_that_of_the_time(self):
        self.write_tasks()
        self.assertEqual(self.blockers("--by", "cgroup"), {
            ("my_lock", "/system.slice/web.service", "/user.slice"): 3000,
            ("my_lock", "/system.slice/web.service", "/user.slice/run 7.scope"): 1000,
            ("my_lock", "unknown cgroup", "/system.slice/web.service"): 40,
            ("my_lock", "unknown cgroup", "unknown cgroup"): 30,
            ("my_lock", "idle", "unknown cgroup"): 20})

    def test_sums_are_those_of_the_plain_tables(self):
        self.write_tasks()
        for table, column in ("blockers", "charged_total_ns"), ("waiters", "wait_total_ns"):
            plain = json.loads(self.report("--json", "--table", table))[table]
            for by in "process", "cgroup", "thread":
                rows = json.loads(self.report("--json", "--table", table, "--by", by))[table]
                for name in column, "pieces" if table == "blockers" else "waits":
                    self.assertAlmostEqual(sum(row[name] for row in rows),
                                           sum(row[name] for row in plain), msg=(by, name))

    def test_the_answer_and_the_page_name_them(self):
        self.write_tasks()
        self.assertIn("/user.slice", self.report("--by", "cgroup").split("\n\n")[0])
        self.assertIn("50 leader", self.report("--html", "-", "--by", "process"))
        self.assertIn("/user.slice/run 7.scope,", self.report("--csv", "--by", "cgroup"))

    def test_filters(self):
        self.write_tasks()
        for expression, waits in (
                ("process == 56", 2), ("process == WAITER", 2), ("process == leader", 0),
                ("process ~ wait", 2), ("process != 56", 3), ("process == renamed", 0),
                ("cgroup == /system.slice/web.service", 2), ("cgroup ~ web", 2),
                ("cgroup != /system.slice/web.service", 3),
                ('cgroup == "/user.slice/run 7.scope"', 0)):
            with self.subTest(expression):
                rows = json.loads(self.report("--json", "--table", "waiters", "--filter",
                                              expression))["waiters"]
                self.assertEqual(sum(row["waits"] for row in rows), waits)
        for expression, words in (("process == find", 'no process is called "find"'),
                                  ("cgroup == /a", 'no cgroup is called "/a"'),
                                  ("cgroup > /a", "names have no order"),
                                  ("process > a", "names have no order"),
                                  ("process == 0x100000000", "process cannot be 0x100000000")):
            result = run("report", "--filter", expression, self.path)
            self.assertEqual(result.returncode, 2, expression)
            self.assertIn(words, result.stderr)

    def test_filter_of_processes_without_processes_is_refused(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("thread 55 shell\n")
        self.write_tasks()
        result = run("report", "--filter", "process == 50", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no process is known", result.stderr)

    def test_switches_between_processes(self):
        self.write_events(switch(1000, 55, 56), switch(2000, 56, 57), switch(3000, 57, 55))
        for expression, count in (("process == 50", 2), ("process != 50", 1), ("cgroup ~ web", 2)):
            result = run("dump", "--filter", "Event == ContextSwap && " + expression, self.path)
            self.assertEqual(len(result.stdout.splitlines()), count, expression)


class One(Case):
    """Properties of waiters and holders, and one lock alone."""

    def write_two_locks(self):
        """The mutex's holder is blocked in the inner lock for half of its hold."""
        self.write_events(
            switch(2000, 55, 57), switch(4000, 57, 55),
            sleep(4000, 4500, 2500, address=LOCK + 0x288), sleep(1000, 5000),
            sleep(5000, 5100, 4000, thread=56),
            spin(6000, 8000, address=LOCK + 0x1000), spin(8000, 8100, 1000, WAITER, address=LOCK + 0x1000))

    def test_thread_is_named_by_its_id(self):
        self.write_events(sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56),
                          sleep(5100, 5200, 50, thread=99))
        self.assertEqual(self.blockers("--by", "thread"), {
            ("my_lock", "56 waiter", "55 holder"): 3000, ("my_lock", "99", "56 waiter"): 50})

    def test_cpu_is_that_of_the_release(self):
        self.write(etl.header_buffer(4) + etl.buffer(RATES) +
                   etl.buffer([spin(5000, 5100, 3000, WAITER)], sequence=2) +
                   etl.buffer([spin(1000, 5000)], sequence=3, processor=1, flags=0x21))
        self.assertEqual(self.blockers("--by", "cpu"), {("my_lock", "CPU 0", "CPU 1"): 3000})

    def test_irql_is_that_of_the_release(self):
        self.write_events(spin(1000, 5000, irql=12), spin(5000, 5100, 3000, WAITER, irql=2))
        self.assertEqual(self.blockers("--by", "irql"),
                         {("my_lock", "IRQL 2 (dispatch)", "IRQL 12"): 3000})
        self.assertNotIn("IRQL", run("report", "--by", "irql", self.path).stderr)

    def test_property_that_is_not_recorded_is_named_with_its_option(self):
        self.write_events(sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56))
        for by, option in ("irql", "-e linux_spinlock"), ("stack", "--stacks"):
            self.assertIn(option, run("report", "--by", by, self.path).stderr)
        for by in "process", "cgroup":
            self.assertIn("no thread has a known %s: record without --no-names" % by,
                          run("report", "--by", by, self.path).stderr)

    def test_waits_by_thread_are_a_table(self):
        self.write_events(sleep(1000, 5000), sleep(5000, 5100, 3000, thread=56),
                          sleep(5100, 5200, 50, thread=99), sleep(6000, 6100, 20, thread=99))
        rows = json.loads(self.report("--json", "--table", "waiters", "--by", "thread"))
        self.assertEqual({row["waiter"]: (row["waits"], round(row["wait_total_ns"] / NS),
                                          round(row["wait_max_ns"] / NS))
                          for row in rows["waiters"]}, {"56 waiter": (1, 3000, 3000),
                                                        "99": (2, 70, 50)})
        self.assertEqual(tool.undescribed(rows["waiters"], "report"), set())
        self.assertNotIn("waiters", json.loads(self.report("--json")))

    def test_lock_option_selects_one_lock(self):
        self.write_two_locks()
        for name in "my_lock", hex(LOCK), "%x" % LOCK:
            report = json.loads(self.report("--json", "--lock", name))
            self.assertEqual([lock["lock"] for lock in report["answer"]["locks"]], ["my_lock"])
            self.assertEqual(report["answer"]["waits"], 1)
            self.assertEqual(round(report["answer"]["wait_total"] / NS), 4000)
            self.assertEqual({row["resource"] for row in report["resources"]}, {"my_lock"})
            self.assertEqual((report["locks"], report["callers"]), ([], []))
            text = self.report("--lock", name)
            self.assertRegex(text, r"blocked \d+% \(waiting for inner_lock\)")
            self.assertNotIn("waits_long", text)

    def test_lock_that_is_not_in_the_file_is_refused(self):
        self.write_two_locks()
        for name in "moon", "", "my_loc", "0x1":
            result = run("report", "--lock", name, self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn('no event is of a lock "%s"' % name, result.stderr)

    def test_class_is_found_with_and_without_its_cache(self):
        with open(self.path + ".names", "a", encoding="ascii") as stream:
            stream.write("lock %x inode.i_rwsem (ext4_inode_cache)\n" % (LOCK + 0x1000))
        self.write_two_locks()
        for name in "inode.i_rwsem", "inode.i_rwsem (ext4_inode_cache)":
            report = json.loads(self.report("--json", "--lock", name))
            self.assertEqual(round(report["answer"]["wait_total"] / NS), 1000)
        self.assertEqual(run("report", "--lock", "inode.i_rw", self.path).returncode, 1)


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
                "No event of a lock is selected (--filter, --from, --to).\n\n"))
            result = run("report", "--lock", "my_lock", *options, self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn('no selected event is of a lock "my_lock"', result.stderr)

    def test_what_was_not_recorded_is_named_with_its_option(self):
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0),
                            etl.resource_rundown(1, 1), spin(5000, 5100, 3000, WAITER),
                            sleep(1000, 6000), sleep(6000, 6100, 3000, thread=56)))
        text = self.report()
        self.assertIn("Not recorded: who held spin locks (mode full, without --no-blockers).\n", text)
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
        self.assertIn('"moon" is not caller, task, stack, thread, process, cgroup, cpu or irql',
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
