#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: the answer in words."""

import itertools
import os
import re
import shlex

from answer_case import (BASE, LOCK, RATES, WAITER, Case, held_event, sleeping_event, spin_event,
                         stack_event_of, switch_event, waiting_event)
import etl_writer as etl
import tap
from tool import NTKLOG, run_tool


class Text(Case):
    def test_answer_fits_the_smallest_terminal(self):
        events = []
        for number in range(12):
            at = 1000 + 10000 * number
            events += [spin_event(at, at + 4000, address=LOCK + 64 * number),
                       spin_event(at + 4000, at + 4100, 3000, WAITER, address=LOCK + 64 * number)]
        self.write_events(*events, sleeping_event(200000, 205000),
                          sleeping_event(205000, 205100, 4000, thread=56))
        lines = self.report().split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 20)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"^Tasks waited \d\S* for locks in .* of 2 CPUs: 13 waits\.$")
        self.assertRegex("\n".join(lines), r"(?m)^1\. ")

    def test_report_into_a_pipe_has_at_most_80_columns(self):
        with open(self.path + ".names", "a", encoding="ascii") as stream:
            stream.write("ffffffff81000800 t holds_for_a_while [a_module_with_a_name]\n"
                         "ffffffff81000900 t waits_for_a_while_and_longer [a_module_with_a_name]\n"
                         "ffff888012345a00 d a_lock_of_the_module [a_module_with_a_name]\n")
        changes = {"address": LOCK + 0x388}
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1000, 0), *RATES[1:],
                            spin_event(1000, 5000, caller=0xFFFFFFFF81000801, **changes),
                            spin_event(5000, 5100, 3000, 0xFFFFFFFF81000901, **changes),
                            stack_event_of(5100, 0xFFFFFFFF81000901)))
        self.assertIn("Stacks of locks", self.report())
        lines = [line for line in self.report().splitlines() if not line.startswith("More: ")]
        self.assertLessEqual(max(map(len, lines)), 80, lines)
        self.assertIn("\na_lock_of_the_module  ", "\n".join(lines))
        self.assertIn("a_lock_of_the_module [a_module_with_a_name]", self.report("--wide"))

    def test_three_locks_come_before_small_parts_and_chains(self):
        """Locks whose holders waited for another lock, and all parts."""
        events, end = [], 0
        for number in range(4):
            at, lock = 1000 + 20000 * number, LOCK + 0x100 * number
            events += [switch_event(at + 100, 57, 0), switch_event(at + 200, 55, 0, state=1),
                       switch_event(at + 2000, 0, 57),
                       sleeping_event(at, at + 4000, thread=57, address=lock + 64),
                       switch_event(at + 4000, 0, 55),
                       sleeping_event(at + 4000, at + 4500, 3000, address=lock + 64),
                       sleeping_event(at, at + 5000, address=lock),
                       sleeping_event(at + 5500, at + 5600, 5000, thread=56, address=lock)]
            end = at + 6000
        self.write_events(*events, etl.open_hold_event(BASE + end),
                          *(held_event(end, address=LOCK + 0x1000 * number)
                            for number in range(1, 4)),
                          *(waiting_event(end, end - 3000 * number, 60 + number,
                                          address=LOCK + 0x1000 * number)
                            for number in range(1, 4)))
        lines = self.report().split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 20)
        self.assertEqual([line[:2] for line in lines if re.match("[1-5][.]", line)][:3],
                         ["1.", "2.", "3."], lines)
        # With one open hold the lines of the chain are used for reasons.
        self.write_events(*events, etl.open_hold_event(BASE + end),
                          held_event(end, address=LOCK + 0x1000),
                          waiting_event(end, end - 1000, 61, address=LOCK + 0x1000))
        answer = self.report().split("\n\n")[0]
        self.assertLessEqual(answer.count("\n"), 19)
        self.assertNotIn("Longest chain", answer)
        self.assertEqual((answer.count("\n   Held "), answer.count("\n   Holders ")), (3, 2))

    def test_command_is_for_the_lock_that_cost_most(self):
        with open(self.path + ".names", "a", encoding="ascii") as stream:
            stream.write("ffff888012345a00 d a_lock [module]\n")
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER),
                          spin_event(11000, 21000, address=LOCK + 0x388),
                          spin_event(21000, 21100, 9000, WAITER, address=LOCK + 0x388))
        command, = re.findall(r"\nMore: (.*)\n", self.report())
        self.assertEqual(command, "ntklog report --lock 'a_lock [module]' " + self.path)
        _, *arguments = shlex.split(command)
        text = run_tool(*arguments).stdout
        self.assertTrue(text.startswith("Tasks waited 4.50ms for locks"), text)
        command, = re.findall(r"\nMore: (.*)\n", text)
        self.assertEqual(command, "ntklog report --lock 'a_lock [module]' --table blockers " + self.path)
        _, *arguments = shlex.split(command)
        self.assertIn("\nWho held the lock: 4.50ms of waiting = ", run_tool(*arguments).stdout)

    def test_command_chooses_the_same_names_and_events(self):
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER),
                          spin_event(11000, 21000), spin_event(21000, 21100, 9000, WAITER))
        names = os.path.join(self.directory.name, "it's all")
        os.rename(self.path + ".names", names)
        for lock in (), ("--lock", "my_lock"):
            for more in ("--to", "8ms"), ("--from", "8ms", "--filter", "hold < 1s || wait > 0ns"):
                chosen = ["--names", names, *more, "--by", "function"]
                text = run_tool("report", *lock, *chosen, self.path).stdout
                command, = re.findall(r"\nMore: (.*)\n", text)
                _, *arguments = shlex.split(command)
                self.assertEqual(arguments, ["report", "--lock", "my_lock",
                                             *(["--table", "blockers"] if lock else []),
                                             *chosen, self.path])
                self.assertEqual(*(re.findall(r"([\d.]+ms) of waiting", output)
                                   for output in (text, run_tool(*arguments).stdout)))

    def test_command_shows_addresses_too(self):
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
        command, = re.findall(r"\nMore: (.*)\n", self.report("--addresses", "--to", "9ms"))
        self.assertEqual(command, "ntklog report --lock my_lock --addresses --to 9ms " + self.path)
        _, *arguments = shlex.split(command)
        text = run_tool(*arguments).stdout
        command, = re.findall(r"\nMore: (.*)\n", text)
        self.assertIn(" --table blockers --addresses --to 9ms ", command)
        self.assertNotIn("--addresses", self.report())

    def test_command_has_the_whole_path(self):
        for name in "a" * 200, "a b", "it's":
            path = os.path.join(self.directory.name, name)
            self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
            os.rename(self.path, path)
            command, = re.findall(r"\nMore: (.*)\n", run_tool("report", path).stdout)
            self.assertEqual(shlex.split(command), ["ntklog", "report", "--lock", "0x%x" % LOCK, path])

    def test_command_has_no_path_like_an_option(self):
        for name in "-h", "-a b":
            self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
            os.rename(self.path, os.path.join(self.directory.name, name))
            command, = re.findall(r"\nMore: (.*)\n",
                                  run_tool("report", "--", name, cwd=self.directory.name,
                                           executable=os.path.abspath(NTKLOG)).stdout)
            self.assertEqual(shlex.split(command)[-1], "./" + name)
        with open(os.path.join(self.directory.name, name), "rb") as stream:
            self.assertRegex(run_tool("report", "-", stdin=stream).stdout, r"\nMore: .* -\n")

    def test_command_shows_an_empty_name(self):
        with open(self.path + ".names", "a", encoding="ascii") as stream:
            stream.write("ffff888012346000 d  name_behind_two_spaces\n")
        self.write_events(spin_event(1000, 5000, address=0xFFFF888012346000),
                          spin_event(6000, 6100, 4000, WAITER, address=0xFFFF888012346000))
        command, = re.findall(r"\nMore: (.*)\n", self.report())
        self.assertEqual(shlex.split(command)[3:], ["", self.path])

    def test_lock_says_who_waited_and_who_held(self):
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
        text = self.report()
        self.assertIn("1. my_lock: 2.00ms (100%) in 1 wait\n"
                      "   Longest 2.00ms at 0.001s; waited: waits_long 100%\n"
                      "   Held 75%: holds_long 75%; free 25%\n", text)
        self.assertIn("2.00ms of waiting = 1.50ms held + 500us free + 0ns unknown", text)

    def test_answer_of_a_file_without_waits_says_so(self):
        self.write_events(spin_event(1000, 5000))
        self.assertRegex(self.report(), r"^No recorded task waited for a lock in .* s of 2 CPUs\.\n\n")

    def test_answer_of_a_file_without_locks_says_so(self):
        self.write(etl.file(switch_event(1000, 55, 56)))
        self.assertTrue(self.report().startswith("This file has no events of locks.\n\n"))

    def test_text_has_only_initialised_resources_if_the_table_is_named(self):
        name = "0xffff888099990000"
        initialized = etl.perfinfo(0x052B, etl.resource_data(
            action=0x10008, hold=0, thread=56, address=int(name, 16)), time_stamp=BASE + 160)
        self.write_events(initialized)
        for options, has_table in ((), False), (("--table", "resources"), True):
            self.assertEqual("\nExecutive resources, by" in self.report(*options), has_table)
        self.write_events(sleeping_event(1000, 5000), initialized)
        for options, has_row in (((), False), (("--wide",), False), (("--json",), True),
                                 (("--table", "resources"), True), (("--csv",), True),
                                 (("--columns", "initialized"), True), (("--ndjson",), True)):
            self.assertEqual(name in self.report(*options), has_row, options)
        for options, count in ((), 0), (("--table", "resources"), 2):
            text = run_tool("report", "--wide", *options, self.path, self.path).stdout
            self.assertEqual((text.count("my_lock"), text.count(name)), (2, count))

    def test_selection_without_locks_is_named_as_the_reason(self):
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
        for options in ("--to", "0"), ("--filter", "Event == ContextSwap"):
            self.assertTrue(self.report(*options).startswith(
                "No event of a lock is selected (--filter, --from, --to).\n"
                "Events are written at the end of holds and of their waits.\n\n"))
            result = run_tool("report", "--lock", "my_lock", *options, self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn('no selected event is of a lock "my_lock"', result.stderr)

    def test_time_behind_the_end_of_the_file_is_refused(self):
        self.write_events(spin_event(0, etl.PERF_FREQ))
        for begin in "1001ms", "99999999999999999999":
            for options in ("--filter", "cpu == 77"), ("--json",), ("--to", "1e30"):
                result = run_tool("report", "--from", begin, *options, self.path)
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (2, "", "ntklog: --from: %s ends at 1.000 s\n" % self.path))

    def test_time_behind_the_end_of_all_files_is_refused(self):
        paths = [self.write_trace(name, spin_event(0, etl.PERF_FREQ)) for name in ("a.etl", "b.etl")]
        for options in (), ("--json",), ("--ndjson",):
            result = run_tool("report", "--from", "2", *options, *paths)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertEqual(result.stderr.count("ends at 1.000 s"), 2)
        # A file without events has no end, and says nothing about the time.
        empty = paths[0] + ".empty"
        with open(empty, "wb") as stream:
            stream.write(etl.file())
        for files, status in ((paths + [empty], 2), ([empty] + paths, 2), ([empty, empty], 0)):
            result = run_tool("report", "--from", "2", *files)
            self.assertEqual((result.returncode, result.stderr.count("ends at 1.000 s")),
                             (status, status), files)
        paths.append(self.write_trace("c.etl", etl.perfinfo(
            0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + 3 * etl.PERF_FREQ)))
        result = run_tool("report", "--from", "2", *paths)
        self.assertEqual((result.returncode, result.stderr.count("ends at 1.000 s")), (0, 2))
        self.assertIn("1 events in ", result.stdout)

    def test_unrecorded_events_are_named_with_their_option(self):
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0),
                            etl.resource_rundown(1, 1), spin_event(5000, 5100, 3000, WAITER),
                            sleeping_event(1000, 6000),
                            sleeping_event(6000, 6100, 3000, thread=56)))
        text = self.report()
        self.assertIn("Not recorded: who held spin locks. To record it: ntklog record --blockers\n", text)
        self.assertIn("slow (ntklog record -e ...,contextswap --stacks).\n",
                      text)

    def test_command_that_records_unknown_holders_is_named(self):
        for mode, blockers, command in ((0, 10, "ntklog record --blockers"),
                                        (2, 1, "ntklog record --mode full"),
                                        (3, 1, "ntklog record --mode full")):
            self.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0),
                                etl.ntklog_rundown(mode, blockers=blockers),
                                spin_event(5000, 5000 if mode else 5100, 3000, WAITER,
                                           rule=2 if mode else 0)))
            hint, = re.findall(r"(?m)^(.*)\nMore: ", self.report())
            self.assertTrue(hint.endswith(": " + command), hint)

    def test_holders_of_locks_that_show_no_waiter_are_sampled(self):
        """No limit of the parameters lets "ntklog set" record all of them."""
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1009, 0), etl.ntklog_rundown(0, blockers=1),
                            spin_event(5000, 5100, 3000, WAITER)))
        self.assertIn("\nLocks that show no waiter: 1 in 1009 holders that did not wait is recorded.\n",
                      self.report())

    def test_commands_of_hints_are_within_the_limits(self):
        """Run each command. Without the module it fails after the check of its numbers."""
        commands = set()
        rates = itertools.product((1,), (1, 10), (1000, 70000), (1, 300), (1, 10), (0,), (1,))
        modes = itertools.product((50,), (1,), (1000,), (1000,), (1,), range(4), (0, 1, 10))
        for spins, contention, acquire, release, releases, mode, blockers in (*rates, *modes):
            self.write(etl.file(etl.spinlock_rundown(spins, contention, acquire, 0),
                                etl.ntklog_rundown(mode, blockers=blockers),
                                etl.resource_rundown(release, releases),
                                spin_event(5000, 5100, 3000, WAITER), sleeping_event(11000, 16000),
                                sleeping_event(16000, 16100, 3000, thread=56)))
            commands.update(re.findall(r"(?m)ntklog (set .*)$", self.report()))
        self.assertTrue(commands)
        for command in commands:
            result = run_tool(*command.split(), env={**os.environ, "NTKLOG_DEBUGFS": "/nonexistent"})
            self.assertNotIn("out of range", result.stderr, command)
            self.assertNotIn("usage", result.stderr, command)

    def test_estimate_of_a_lock_is_marked(self):
        self.write(etl.file(etl.spinlock_rundown(1, 10, 1000, 0),
                            etl.ntklog_rundown(0, blockers=1), etl.resource_rundown(1, 1),
                            spin_event(1000, 5000), spin_event(5000, 5100, 3000, WAITER),
                            sleeping_event(11000, 16000),
                            sleeping_event(16000, 16100, 3000, thread=56)))
        text = self.report()
        self.assertIn("\n1. my_lock spinlock: ~15.0ms (91%) in ~10 waits\n", text)
        self.assertIn("\n2. my_lock mutex: 1.50ms (9%) in 1 wait\n", text)
        self.assertIn('\n"Longest" is of recorded waits. For all: ntklog set spinlock 1 1000 1\n', text)

    def test_sampled_waits_are_an_estimate(self):
        self.write(etl.file(etl.spinlock_rundown(1, 10, 1000, 0),
                            spin_event(5000, 5100, 3000, WAITER)))
        self.assertTrue(self.report().startswith("Tasks waited about 15.0ms"))

    def test_names_cannot_control_a_terminal(self):
        with open(self.path + ".names", "a", encoding="latin-1") as stream:
            stream.write("thread 99 \x1b[31mred\x07\n")
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 4000, thread=99))
        answer = self.report().split("\n\n")[0]
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", answer), answer)

    def test_names_cannot_change_the_direction_of_text(self):
        marks = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
        with open(self.path + ".names", "a", encoding="utf-8") as stream:
            stream.write("thread 99 a%sb\u05d0\u200d\n" % "".join(map(chr, marks)))
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 4000, thread=99))
        for options in (), ("--by", "thread"), ("--html", "-"), ("--json",):
            text = self.report(*options)
            self.assertEqual([hex(mark) for mark in marks if chr(mark) in text], [])
        self.assertIn(" a%sb\u05d0\u200d" % ("?" * (3 * len(marks) - 1)),
                      self.report("--by", "thread"))

    def test_report_of_one_table_has_no_answer(self):
        self.write_events(spin_event(1000, 5000), spin_event(6000, 6100, 4000, WAITER))
        self.assertNotIn("Tasks waited", self.report("--table", "locks"))

    def test_unknown_value_of_by_option_is_refused(self):
        self.write_events(spin_event(1000, 5000))
        result = run_tool("report", "--by", "moon", self.path)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('"moon" is not caller, function, task, stack, thread, process, cgroup, cpu or irql',
                      result.stderr)

    def test_stack_of_the_holder_tells_the_function(self):
        self.write_events(sleeping_event(1000, 5000),
                          stack_event_of(5000, 0xFFFFFFFF81000701, 0xFFFFFFFF81000601),
                          sleeping_event(5000, 5100, 4000, thread=56))
        self.assertIn(("my_lock", "waiter", "holder in walks_pages"), self.blocker_charges())
        self.assertIn(("my_lock", "waiter", "up_write < walks_pages"),
                      self.blocker_charges("--by", "stack"))


if __name__ == "__main__":
    tap.main()
