#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: waits and holders by process, thread, cgroup and CPU, of one lock, and on
the page.
"""

import json
import re

from answer_case import (BASE, HOLDER, LOCK, NAMES, NS, OTHER, RATES, WAITER, Case, sleeping_event,
                         spin_event, stack_event_of,
                         switch_event)
import etl_writer as etl
import tap
import tool
from tool import run_tool


class Tasks(Case):

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
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56),
                          sleeping_event(6000, 8000), sleeping_event(8000, 8100, 1000, thread=58),
                          sleeping_event(8100, 8200, 40, thread=57),
                          sleeping_event(8200, 8300, 30, thread=99),
                          sleeping_event(8300, 8400, 20, thread=0))

    def test_process_is_named_by_its_id_and_its_name_at_that_time(self):
        self.write_tasks()
        self.assertEqual(self.blocker_charges("--by", "process"), {
            ("my_lock", "56 waiter", "50 leader"): 3000,
            ("my_lock", "56 waiter", "50 renamed"): 1000,
            ("my_lock", "unknown process", "56 waiter"): 40,
            ("my_lock", "unknown process", "unknown process"): 30,
            ("my_lock", "idle", "unknown process"): 20})

    def test_process_without_a_name_is_not_the_thread_of_its_number(self):
        with open(self.path + ".names", "a") as stream:
            stream.write("thread 61 w\t60\n")
        for threads in (60, 61), (61, 60):
            self.write_events(*(sleeping_event(1000 * number, 1000 * number + 10, 100,
                                               thread=threads[number % 2])
                                for number in range(1, 9)))
            rows = json.loads(self.report("--json", "--table", "waiters", "--by",
                                          "process"))["waiters"]
            self.assertEqual({row["waiter"] for row in rows}, {"60", "unknown process"})

    def test_long_name_of_a_process_is_cut_between_characters(self):
        with open(self.path + ".names", "a") as stream:
            for number in range(2):
                stream.write("thread %d %s\t%d\n" % (62 + number, "x" * number + "\u00e4" * 600,
                                                    62 + number))
        self.write_events(*(sleeping_event(1000 * number, 1000 * number + 10, 100,
                                           thread=62 + number % 2)
                            for number in range(1, 5)))
        rows = json.loads(self.report("--json", "--table", "waiters", "--by", "process"))["waiters"]
        self.assertEqual({row["waiter"][:3] for row in rows if "waiter" in row}, {"62 ", "63 "})

    def test_charges_by_function_are_sums_of_all_tasks(self):
        self.write_events(
            sleeping_event(1000, 5000), stack_event_of(5000, 0xFFFFFFFF81000601),
            sleeping_event(5000, 5100, 3000, thread=56), sleeping_event(6000, 8000, thread=57),
            stack_event_of(8000, 0xFFFFFFFF81000601, thread=57),
            sleeping_event(8000, 8100, 1000, thread=58),
            sleeping_event(8100, 8200, 40, thread=57))
        self.assertEqual(self.blocker_charges("--by", "function"), {
            ("my_lock", "unknown function", "walks_pages"): 4000,
            ("my_lock", "unknown function", "unknown function"): 40})

    def test_cgroup_is_that_at_the_time_of_the_record(self):
        self.write_tasks()
        self.assertEqual(self.blocker_charges("--by", "cgroup"), {
            ("my_lock", "/system.slice/web.service", "/user.slice"): 3000,
            ("my_lock", "/system.slice/web.service", "/user.slice/run 7.scope"): 1000,
            ("my_lock", "unknown cgroup", "/system.slice/web.service"): 40,
            ("my_lock", "unknown cgroup", "unknown cgroup"): 30,
            ("my_lock", "idle", "unknown cgroup"): 20})

    def test_filter_knows_the_name_of_the_idle_thread(self):
        self.write_tasks()
        for expression, expected in (("thread == idle", 1), ("thread ~ IDL", 1), ("process == idle", 1),
                                     ("cgroup == idle", 1), ("process == 0", 1),
                                     ("!(thread == idle)", 6), ("thread != idle", 6)):
            result = run_tool("dump", "--filter", "Event == Resource && " + expression, self.path)
            self.assertEqual((result.returncode, result.stdout.count(" Resource ")), (0, expected),
                             result.stderr)

    def test_filter_takes_idle_and_the_name_in_the_file_for_the_idle_thread(self):
        with open(self.path + ".names", "a") as stream:
            stream.write("thread 0 swapper/0\t0\n")
        self.write_tasks()
        for expression, expected in (("thread == idle", 1), ("thread ~ IDL", 1),
                                     ("thread == swapper/0", 1), ("thread ~ swap", 1),
                                     ("thread != idle", 6), ("thread != swapper/0", 6),
                                     ("thread != waiter", 6), ("thread == 0", 1)):
            result = run_tool("dump", "--filter", "Event == Resource && " + expression, self.path)
            self.assertEqual((expression, result.stdout.count(" Resource ")),
                             (expression, expected), result.stderr)

    def test_sums_by_attribute_are_those_of_the_plain_tables(self):
        self.write_tasks()
        for table, column in ("blockers", "charged_total_ns"), ("waiters", "wait_total_ns"):
            plain = json.loads(self.report("--json", "--table", table))[table]
            for by in "process", "cgroup", "thread":
                rows = json.loads(self.report("--json", "--table", table, "--by", by))[table]
                for name in column, "pieces" if table == "blockers" else "waits":
                    self.assertAlmostEqual(sum(row[name] for row in rows),
                                           sum(row[name] for row in plain), msg=(by, name))

    def test_answer_and_page_name_processes_and_cgroups(self):
        self.write_tasks()
        self.assertIn("/user.slice", self.report("--by", "cgroup").split("\n\n")[0])
        self.assertIn("50 leader", self.report("--html", "-", "--by", "process"))
        self.assertIn("/user.slice/run 7.scope,", self.report("--csv", "--by", "cgroup"))

    def test_filter_by_process_and_cgroup_selects_their_waits(self):
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
            result = run_tool("report", "--filter", expression, self.path)
            self.assertEqual(result.returncode, 2, expression)
            self.assertIn(words, result.stderr)

    def test_filter_of_processes_without_processes_is_refused(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("thread 55 shell\n")
        self.write_tasks()
        result = run_tool("report", "--filter", "process == 50", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no process is known", result.stderr)

    def test_filter_by_process_finds_both_threads_of_a_switch(self):
        self.write_events(switch_event(1000, 55, 56), switch_event(2000, 56, 57),
                          switch_event(3000, 57, 55))
        for expression, count in (("process == 50", 2), ("process != 50", 1), ("cgroup ~ web", 2)):
            result = run_tool("dump", "--filter", "Event == ContextSwap && " + expression,
                              self.path)
            self.assertEqual(len(result.stdout.splitlines()), count, expression)


class One(Case):

    def write_two_locks(self):
        """The mutex's holder is blocked in the inner lock for half of its hold."""
        self.write_events(
            switch_event(2000, 55, 57), switch_event(4000, 57, 55),
            sleeping_event(4000, 4500, 2500, address=LOCK + 0x288), sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56),
            spin_event(6000, 8000, address=LOCK + 0x1000),
            spin_event(8000, 8100, 1000, WAITER, address=LOCK + 0x1000))

    def test_thread_is_named_by_its_id(self):
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56),
                          sleeping_event(5100, 5200, 50, thread=99))
        self.assertEqual(self.blocker_charges("--by", "thread"), {
            ("my_lock", "56 waiter", "55 holder"): 3000, ("my_lock", "99", "56 waiter"): 50})

    def test_cpu_is_that_of_the_release(self):
        self.write(etl.header_buffer(4) + etl.buffer(RATES) +
                   etl.buffer([spin_event(5000, 5100, 3000, WAITER)], sequence=2) +
                   etl.buffer([spin_event(1000, 5000)], sequence=3, processor=1, flags=0x21))
        self.assertEqual(self.blocker_charges("--by", "cpu"), {("my_lock", "CPU 0", "CPU 1"): 3000})

    def test_irql_is_that_of_the_release(self):
        self.write_events(spin_event(1000, 5000, irql=12),
                          spin_event(5000, 5100, 3000, WAITER, irql=2))
        self.assertEqual(self.blocker_charges("--by", "irql"),
                         {("my_lock", "IRQL 2 (dispatch)", "IRQL 12"): 3000})
        self.assertNotIn("IRQL", run_tool("report", "--by", "irql", self.path).stderr)

    def test_attribute_that_is_not_recorded_is_named_with_its_option(self):
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56))
        for by, option in ("irql", "-e linux_spinlock"), ("stack", "--stacks"):
            self.assertIn(option, run_tool("report", "--by", by, self.path).stderr)
        for by in "process", "cgroup":
            self.assertIn("no thread has a known %s: record without --no-names" % by,
                          run_tool("report", "--by", by, self.path).stderr)

    def test_waits_by_thread_are_a_table(self):
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56),
                          sleeping_event(5100, 5200, 50, thread=99),
                          sleeping_event(6000, 6100, 20, thread=99))
        rows = json.loads(self.report("--json", "--table", "waiters", "--by", "thread"))
        self.assertEqual({row["waiter"]: (row["waits"], round(row["wait_total_ns"] / NS),
                                          round(row["wait_max_ns"] / NS))
                          for row in rows["waiters"]}, {"56 waiter": (1, 3000, 3000),
                                                        "99": (2, 70, 50)})
        self.assertEqual(tool.undescribed_fields(rows["waiters"], "report"), set())
        self.assertNotIn("waiters", json.loads(self.report("--json")))

    def test_task_called_others_is_not_the_sum_of_dropped_rows(self):
        with open(self.path + ".names", "a") as stream:
            stream.write("thread 58 (others)\n")
        heavy = [sleeping_event(5000 + 1020 * number, 5010 + 1020 * number, 1000, thread=57,
                                address=LOCK + 64 * number) for number in range(16400)]
        light = [sleeping_event(1000 + 20 * number, 1010 + 20 * number, 3, thread=58,
                                address=LOCK - 64 * number) for number in range(200)]
        for events, expected in (light, 200), (light + heavy, 1):
            self.write(etl.long_file([*RATES, *events]))
            rows = json.loads(self.report("--json", "--table", "waiters"))["waiters"]
            locks = {row["lock"] for row in rows if row["waiter"].startswith("(others)")}
            self.assertEqual(len(locks), expected)
            self.assertIn("my_lock" if expected > 1 else "(others)", locks)

    def test_waits_of_a_thread_for_all_locks_are_one_row(self):
        inner = LOCK + 0x288
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56),
                          sleeping_event(1000, 6000, address=inner),
                          sleeping_event(6000, 6100, 20, thread=56, address=inner))
        options = "--table", "waiters", "--by", "thread", "--all-locks"
        (row,) = json.loads(self.report("--json", *options))["waiters"]
        self.assertEqual((row["lock"], row["waiter"], row["waits"],
                          round(row["wait_total_ns"] / NS), round(row["wait_max_ns"] / NS)),
                         ("(all)", "56 waiter", 2, 3020, 3000))
        # A waiter that read one of the locks is the same waiter.
        self.write_events(sleeping_event(1000, 5000, kind="rwsem"),
                          sleeping_event(5000, 5100, 3000, thread=56, kind="rwsem", action=0x42),
                          sleeping_event(1000, 6000, address=inner),
                          sleeping_event(6000, 6100, 20, thread=56, address=inner))
        (row,) = json.loads(self.report("--json", *options))["waiters"]
        self.assertEqual((row["waiter"], row["waits"]), ("56 waiter", 2))
        text = self.report(*options).splitlines()
        self.assertEqual(text[-2].split(), ["waiter", "waits", "wait", "share", "wait", "max"])
        result = run_tool("report", *options, self.path, self.path)
        self.assertRegex(result.stdout, r"\(all\) +56 waiter +2 ")
        result = run_tool("report", "--all-locks", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("add --table waiters", result.stderr)

    def test_lock_option_selects_one_lock(self):
        self.write_two_locks()
        for name in "my_lock", hex(LOCK), "%x" % LOCK:
            report = json.loads(self.report("--json", "--lock", name))
            self.assertEqual([lock["lock"] for lock in report["answer"]["locks"]], ["my_lock"])
            self.assertEqual(report["answer"]["waits"], 1)
            self.assertEqual(round(report["answer"]["wait_total_ns"] / NS), 4000)
            self.assertEqual({row["resource"] for row in report["resources"]}, {"my_lock"})
            self.assertEqual((report["locks"], report["callers"]), ([], []))
            text = self.report("--lock", name)
            self.assertRegex(text, r"blocked \d+% \(waiting for inner_lock\)")
            self.assertNotIn("waits_long", text)

    def test_lock_that_is_not_in_the_file_is_refused(self):
        self.write_two_locks()
        for name in "moon", "", "my_loc", "0x1":
            result = run_tool("report", "--lock", name, self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn('no event is of a lock "%s"' % name, result.stderr)

    def test_class_is_found_with_and_without_its_cache(self):
        with open(self.path + ".names", "a", encoding="ascii") as stream:
            stream.write("lock %x inode.i_rwsem (ext4_inode_cache)\n" % (LOCK + 0x1000))
        self.write_two_locks()
        for name in "inode.i_rwsem", "inode.i_rwsem (ext4_inode_cache)":
            report = json.loads(self.report("--json", "--lock", name))
            self.assertEqual(round(report["answer"]["wait_total_ns"] / NS), 1000)
        self.assertEqual(run_tool("report", "--lock", "inode.i_rw", self.path).returncode, 1)

    def name_locks(self, *classes):
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write(NAMES)
            for address, name in zip((LOCK, LOCK + 0x288), classes):
                stream.write("lock %x %s\n" % (address, name))
        self.write_two_locks()

    def test_lock_is_found_without_its_module_as_narrow_tables_print_it(self):
        self.name_locks("module_lock [module]", "inner_lock")
        for name in "module_lock", "module_lock [module]":
            report = json.loads(self.report("--json", "--lock", name))
            self.assertEqual({row["resource"] for row in report["resources"]},
                             {"module_lock [module]"})

    def test_name_of_locks_in_several_modules_is_refused(self):
        for classes in ("twin [one]", "twin [two]"), ("twin", "twin [two]"):
            self.name_locks(*classes)
            for command in ("report", self.path), ("report", self.path, self.path), \
                           ("diff", self.path, self.path):
                result = run_tool(*command, "--lock", "twin")
                self.assertEqual(result.returncode, 1)
                self.assertNotIn("twin", result.stdout)
                self.assertIn('locks of several modules are called "twin": give the module too',
                              result.stderr)
            self.report("--lock", "twin [two]")

    def test_message_about_a_cut_name_says_where_the_whole_one_is(self):
        self.write_two_locks()
        for command in ("report", self.path), ("report", self.path, self.path), \
                       ("diff", self.path, self.path):
            result = run_tool(*command, "--lock", "my_..ck")
            self.assertEqual(result.returncode, 1)
            self.assertIn("report --wide prints names whole", result.stderr)
            self.assertIn("without --lock names the locks",
                          run_tool(*command, "--lock", "x").stderr)

    def test_class_is_found_among_locks_by_themselves(self):
        self.name_locks("some.class", "other.class")
        for name in "some.class", "my_lock", "%x" % LOCK, "0x%x some.class" % LOCK:
            report = json.loads(self.report("--json", "--addresses", "--lock", name))
            self.assertEqual({row["resource"] for row in report["resources"]}, {"my_lock"})


class Wide(Case):

    def test_wide_table_of_blockers_has_pieces_and_sampling_errors(self):
        events = (sleeping_event(1000 * i, 1000 * i + 900, 100, thread=55 + i % 2)
                  for i in range(1, 41))
        self.write(etl.file(etl.ntklog_rundown(0), etl.resource_rundown(2, 2), *events))
        options = "--table", "blockers", "--by", "task"
        heading = self.report(*options, "--wide").split("\nlock ")[1].split("\n")[0]
        self.assertEqual(re.split("  +", heading.strip()), [
            "waiter", "holder", "pieces", "charged", "charged error", "share", "charged max"])
        # Without a sample there is no error.
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56))
        self.assertNotIn("error", self.report(*options, "--wide"))
        self.assertIn("pieces", self.report(*options, "--wide"))


class Page(Case):

    def test_locks_of_the_answer_have_the_first_sections(self):
        """Waits that did not end count, even of a lock that has no record."""
        def open_hold_at_end(state="begin", thread=0, lock=0, since=0):
            return etl.open_hold_event(BASE + 9000, state, thread=thread, address=lock,
                                       since=BASE + since)

        self.write_events(
            *(spin_event(30 * i, 30 * i + 5, 9 + i, WAITER, address=0x1000 * (i + 1))
              for i in range(20)),
            sleeping_event(1000, 1100, 1, thread=57), open_hold_at_end(),
            open_hold_at_end("held", 55, LOCK, 1200),
            open_hold_at_end("waits", 56, LOCK, 3000),
            open_hold_at_end("held", 57, LOCK + 0x288, 1200),
            open_hold_at_end("waits", 58, LOCK + 0x288, 2000))
        answer = json.loads(self.report("--json"))["answer"]
        locks = tool.pictures_of_page(self.report("--html", "-"))["locks"]
        self.assertEqual([lock["lock"] for lock in locks[:2]], ["inner_lock", "my_lock"])
        self.assertEqual([lock["lock"] for lock in locks[:5]],
                         [lock["lock"] for lock in answer["locks"][:5]])


class Kinds(Case):
    """Locks of two kinds may have a class in common: their waits are told apart."""

    def setUp(self):
        super().setUp()
        self.write_events(
            etl.stacks_rundown(7), spin_event(0, 100), spin_event(100, 110, wait=9),
            sleeping_event(1000, 2000), stack_event_of(2000, HOLDER),
            sleeping_event(2000, 2100, wait=40), stack_event_of(2100, WAITER),
            sleeping_event(3000, 3300, kind="semaphore"), stack_event_of(3300, HOLDER),
            sleeping_event(3300, 3400, wait=200, kind="semaphore"), stack_event_of(3400, OTHER))

    WAITS = {"semaphore": 200, "mutex": 40, "spinlock": 9}

    def test_tables_have_a_row_for_each_kind(self):
        for table in "waiters", "blockers":
            rows = json.loads(self.report("--json", "--table", table, "--by", "process"))[table]
            total = {"waiters": "wait_total_ns", "blockers": "charged_total_ns"}[table]
            self.assertEqual([(row["kind"], round(row[total] / NS)) for row in rows],
                             list(self.WAITS.items()))
            self.assertRegex(self.report("--table", table), r"\nlock +kind +waiter ")

    def test_answer_names_the_kinds(self):
        self.assertEqual([(lock["kind"], round(lock["wait_total_ns"] / NS)) for lock in
                          json.loads(self.report("--json"))["answer"]["locks"]],
                         list(self.WAITS.items()))
        self.assertIn("\n1. my_lock semaphore: 100us (80%) in 1 wait\n", self.report())

    def test_sections_of_the_page_have_the_waits_of_their_kind(self):
        locks = tool.pictures_of_page(self.report("--html", "-"))["locks"]
        self.assertEqual([lock["name"] for lock in locks],
                         ["my_lock semaphore", "my_lock mutex", "my_lock"])
        self.assertEqual([(lock["waits"], round(lock["wait"] / NS), round(lock["longest"] / NS))
                          for lock in locks], [(1, ticks, ticks) for ticks in self.WAITS.values()])
        self.assertEqual([[round(function[2] / NS) for function in lock["waiter_stacks"]["functions"]]
                          for lock in locks[:2]], [[200], [40]])


class Filtered(Case):
    """A wait is charged to its holder even if the filter leaves the holder out."""

    def test_holder_that_the_filter_leaves_out_is_charged(self):
        self.write_events(spin_event(0, 100), spin_event(110, 400, wait=60, caller=WAITER),
                          spin_event(405, 410, wait=4, caller=OTHER))
        options = "--filter", "caller ~ waits_long"
        rows = self.blocker_charges("--table", "blockers", *options)
        self.assertEqual({holder: ticks for (_, _, holder), ticks in rows.items()},
                         {"holds_long": 50, "(free, handed over)": 10})
        report = json.loads(self.report("--json", *options))
        self.assertEqual((report["events"], report["answer"]["waits"]), (1, 1))
        self.assertEqual([row["caller"] for row in report["callers"]], ["waits_long+0x1"])

    def test_locks_that_sleep_are_filtered_by_caller(self):
        self.write_events(*[event for at, caller in ((1000, HOLDER), (1100, WAITER)) for event in (
            etl.caller_event(LOCK, caller, time_stamp=BASE + at),
            sleeping_event(at - 100, at, wait=90))])
        report = json.loads(self.report("--json", "--filter", "caller ~ waits_long"))
        self.assertEqual((report["events"], report["answer"]["waits"]), (1, 1))
        for words, names in (("caller ~ waits_long", ["NtklogCaller", "Resource"]),
                             ("caller ~ waits_long && kind == mutex", ["Resource"]),
                             ("caller != waits_long && wait > 1us", ["Resource"])):
            text = run_tool("dump", "--filter", words, self.path).stdout
            self.assertEqual([line.split()[2] for line in text.splitlines()], names, words)

    def test_sleeping_holder_that_the_filter_leaves_out_is_charged_with_its_reason(self):
        self.write_events(switch_event(100, 55, 57, state=1), switch_event(700, 57, 55),
                          sleeping_event(0, 1000),
                          sleeping_event(1000, 1100, wait=900, thread=56))
        report = json.loads(self.report("--json", "--filter", "thread == 56"))
        parts = {name: round(ns / NS) for name, ns in report["answer"]["parts_ns"].items() if ns}
        self.assertEqual(parts, {"holder_ran": 300, "holder_preempted": 600})
        self.assertEqual(report["resources"][0]["sampled"], 1)
        self.assertEqual(report["events"], 1)
        self.assertEqual(report["threads"], [])


if __name__ == "__main__":
    tap.main()
