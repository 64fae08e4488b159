#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog held on files like the module's."""

import json
import os
import signal
import subprocess

import tap
from module import Directory
from tool import undescribed_fields

HEADING = "Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task\n"
STACK = "\t__schedule+0x1/0x2\n\tio_schedule+0x12/0x40\n\tread_page+0x8/0x90 [ext4]\n"


def held_line(lock, state, thread, age, kind="mutex", mode="exclusive", symbol="-",
              caller="take_it+0x10/0x20", task=None, stack=""):
    """A lock is a number; ages are microseconds."""
    return "0x%x %s %s %s %d %d 1 %s %s %s\n%s" % (
        0xffff888000000000 + lock, kind, mode, state, thread, age, symbol, caller,
        task or "task%d" % thread, stack)


class Held(Directory):
    def run_held(self, *lines, status=0, options=()):
        self.write_file("held", HEADING + "".join(lines))
        result = self.run_tool("held", *options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr if status else result.stdout

    def held_json(self, *lines):
        held = json.loads(self.run_held(*lines, options=["--json"]))
        self.assertEqual(undescribed_fields(held, "held"), set())
        return held

    def deadlock_threads(self, *lines):
        cycles = [sorted(task["thread"] for task in cycle)
                  for cycle in self.held_json(*lines)["deadlocks"]]
        # The text has the chain behind each holder: its size grows with the square of the chain's.
        if len(lines) < 100:
            self.assertEqual(self.run_held(*lines).count("Deadlock "), len(cycles))
        return cycles

    def test_text_has_waiter_holder_and_stack(self):
        text = self.run_held(
            held_line(1, "held", 10, 5_000_000, kind="rwsem", mode="shared",
                      symbol="a_sem+0x8/0x40 [mod]",
                      caller="read_it+0x1/0x2 [mod]", task="the holder", stack=STACK),
            held_line(1, "waiting", 11, 4_000_000, kind="rwsem"),
            held_line(2, "held", 12, 9_000_000))
        self.assertEqual(text, """Locks that sleep: 1 with waiters, 1 held without (--all prints them).

rwsem a_sem+0x8/0x40 [mod] 0xffff888000000001
  held  shared       5.00s  the holder (10) in read_it
\tin __schedule < io_schedule < read_page
  waits exclusive    4.00s  task11 (11) in take_it
""")

    def test_chain_names_each_lock_and_holder(self):
        text = self.run_held(held_line(1, "waiting", 1, 9_000_000),
                             held_line(1, "held", 2, 9_500_000),
                             held_line(2, "waiting", 2, 8_000_000),
                             held_line(2, "held", 3, 8_500_000),
                             held_line(3, "waiting", 3, 7_000_000),
                             held_line(3, "held", 4, 7_500_000, stack=STACK))
        chain = """  held  exclusive    9.50s  task2 (2) in take_it
\twaits for mutex 0xffff888000000002, held by task3 (3)
\twhich waits for mutex 0xffff888000000003, held by task4 (4)
\tin __schedule < io_schedule < read_page
  waits exclusive    9.00s  task1 (1) in take_it
"""
        self.assertIn(chain, text)
        self.assertNotIn("Deadlock", text)

    def test_cycle_is_a_deadlock(self):
        lines = (held_line(1, "held", 1, 9_000_000),
                 held_line(2, "waiting", 1, 8_000_000, symbol="b_lock"),
                 held_line(2, "held", 2, 9_000_000, symbol="b_lock"),
                 held_line(3, "waiting", 2, 7_000_000), held_line(3, "held", 3, 9_000_000),
                 held_line(1, "waiting", 3, 6_000_000),
                 held_line(4, "held", 4, 9_000_000), held_line(1, "waiting", 4, 5_000_000))
        text = self.run_held(*lines)
        self.assertTrue(text.startswith("""Deadlock 1:
  task1 (1) waits 8.00s for mutex b_lock, held by task2 (2)
  task2 (2) waits 7.00s for mutex 0xffff888000000003, held by task3 (3)
  task3 (3) waits 6.00s for mutex 0xffff888000000001, held by task1 (1)
"""), text)
        self.assertEqual(text.count("\tin deadlock 1\n"), 3)
        held = self.held_json(*lines)
        self.assertEqual([[(task["thread"], task["address"][-1], task["holder_thread"])
                           for task in cycle] for cycle in held["deadlocks"]],
                         [[(1, "2", 2), (2, "3", 3), (3, "1", 1)]])
        tasks = {task["thread"]: task.get("deadlock") for lock in held["locks"]
                 for task in lock["holders"] + lock["waiters"]}
        self.assertEqual(tasks, {1: 1, 2: 1, 3: 1, 4: None})

    def test_task_that_waits_for_its_own_lock_is_a_deadlock(self):
        self.assertEqual(self.deadlock_threads(held_line(1, "held", 7, 9_000_000),
                                               held_line(1, "waiting", 7, 8_000_000)), [[7]])

    def test_two_deadlocks_are_two_cycles(self):
        self.assertEqual(self.deadlock_threads(
            *(line for first in (1, 3) for line in (
                held_line(first, "held", first, 9_000_000),
                held_line(first + 1, "held", first + 1, 9_000_000),
                held_line(first + 1, "waiting", first, 8_000_000),
                held_line(first, "waiting", first + 1, 8_000_000)))), [[1, 2], [3, 4]])

    def test_cycle_that_one_release_ends_is_no_deadlock(self):
        """A semaphore has several holders, and one release is enough; an rwsem needs all readers."""
        lines = (held_line(1, "held", 1, 9_000_000, kind="%s", mode="shared"),
                 held_line(1, "held", 3, 9_000_000, kind="%s", mode="shared"),
                 held_line(2, "waiting", 1, 8_000_000), held_line(2, "held", 2, 9_000_000),
                 held_line(1, "waiting", 2, 8_000_000, kind="%s"))
        for kind, expected in (("semaphore", []), ("rwsem", [[1, 2]])):
            self.assertEqual(self.deadlock_threads(*(line.replace("%s", kind) for line in lines)),
                             expected)

    def test_exclusive_hold_ends_older_holds(self):
        """Another task may have released the lock for a reader, whose slot the module keeps."""
        lines = (held_line(1, "held", 1, 60_000_000, kind="%s", mode="shared"),
                 held_line(1, "held", 2, 9_000_000, kind="%s"),
                 held_line(1, "waiting", 1, 8_000_000, kind="%s"))
        for kind, expected in (("rwsem", [2]), ("semaphore", [1, 2])):
            planted = [line.replace("%s", kind) for line in lines]
            self.assertEqual(self.deadlock_threads(*planted), [])
            (lock,) = self.held_json(*planted)["locks"]
            self.assertEqual([holder["thread"] for holder in lock["holders"]], expected)

    def test_cycle_with_a_wait_that_began_during_the_reading_is_no_deadlock(self):
        """The lines are written one after the other, so such edges may not have existed together.
        """
        for young in range(4):
            ages = [0 if i == young else 9_000_000 for i in range(4)]
            self.assertEqual(self.deadlock_threads(
                held_line(1, "held", 1, ages[0]), held_line(2, "waiting", 1, ages[1]),
                held_line(2, "held", 2, ages[2]), held_line(1, "waiting", 2, ages[3])), [],
                             young)

    def test_chain_ends_where_it_meets_itself(self):
        """Another holder can release the semaphore."""
        text = self.run_held(held_line(1, "held", 1, 9_500_000, kind="semaphore"),
                             held_line(1, "held", 3, 9_000_000, kind="semaphore"),
                             held_line(2, "waiting", 1, 8_000_000),
                             held_line(2, "held", 2, 9_000_000),
                             held_line(1, "waiting", 2, 8_000_000, kind="semaphore",
                                       stack=STACK))
        self.assertIn("""  held  exclusive    9.50s  task1 (1) in take_it
\twaits for mutex 0xffff888000000002, held by task2 (2)
\twhich waits for semaphore 0xffff888000000001, held by task1 (1)
\twhich is named above, but this is not known to be a deadlock
  held  exclusive    9.00s  task3 (3) in take_it
""", text)

    def test_lock_without_a_known_holder_says_so(self):
        text = self.run_held(held_line(1, "waiting", 1, 8_000_000, kind="percpu_rwsem"),
                             held_line(2, "held", 1, 9_000_000),
                             held_line(2, "waiting", 2, 5_000_000))
        self.assertIn("percpu_rwsem 0xffff888000000001\n  held by no task that is known\n", text)
        self.assertIn("\twaits for percpu_rwsem 0xffff888000000001, whose holder is not known\n", text)
        self.assertNotIn("Deadlock", text)

    def test_locks_are_sorted_by_their_longest_wait(self):
        lines = (held_line(1, "held", 1, 50_000_000), held_line(2, "held", 2, 40_000_000),
                 held_line(2, "waiting", 3, 1_000_000), held_line(3, "held", 4, 30_000_000),
                 held_line(3, "waiting", 5, 2_000_000), held_line(3, "waiting", 6, 3_000_000))
        locks = self.held_json(*lines)["locks"]
        self.assertEqual([lock["address"][-1] for lock in locks], ["3", "2", "1"])
        self.assertEqual([waiter["age_ns"] for waiter in locks[0]["waiters"]],
                         [3_000_000_000, 2_000_000_000])
        self.assertIn("\nmutex 0xffff888000000001\n", self.run_held(*lines, options=["--all"]))

    def test_names_cannot_confuse_the_output(self):
        """A task may name itself as it likes: the module escapes newlines and backslashes."""
        held = self.held_json(held_line(1, "held", 1, 5, task="[x]"),
                              held_line(2, "held", 2, 5, task="a [b] c"),
                              held_line(3, "held", 3, 5, task="\x1b[2J\\012"))
        self.assertEqual([lock["holders"][0]["task"] for lock in held["locks"]],
                         ["[x]", "a [b] c", "?[2J\\012"])

    def test_numbers_of_locks_are_zero_if_nothing_is_held(self):
        self.assertIn("No session records locks that sleep: ntklog start -e", self.run_held())
        self.write_session_file(3, "state", "started\n")
        self.assertEqual(self.run_held(), "Locks that sleep: 0 with waiters, 0 held without.\n")
        self.assertEqual(self.held_json(), {"deadlocks": [], "locks": []})

    def test_bad_files_are_refused(self):
        for text, words in (("", "is empty"), ("Address\n", "line 1: is not understood"),
                            (HEADING + STACK, "line 2: is not understood"),
                            (HEADING + held_line(1, "held", 1, 5) + "0x1 mutex\n",
                             "line 3: is not understood"),
                            (HEADING + "0x0 mutex exclusive held 1 5 0 - - a\n",
                             "addresses=hashed")):
            self.write_file("held", text)
            result = self.run_tool("held")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(words, result.stderr)
        os.unlink(os.path.join(self.directory, "held"))
        self.assertIn("load a newer one", self.run_tool("held").stderr)

    def test_chain_of_thousands_of_tasks_is_searched(self):
        lines = [held_line(1, "held", 1, 9_000_000)]
        for i in range(2, 3000):
            lines += [held_line(i - 1, "waiting", i, 8_000_000),
                      held_line(i, "held", i, 9_000_000)]
        self.assertEqual(self.deadlock_threads(*lines), [])
        lines.insert(1, held_line(2999, "waiting", 1, 8_000_000))
        self.assertEqual([len(cycle) for cycle in self.deadlock_threads(*lines)], [2999])

    def test_watch_prints_what_has_changed(self):
        self.write_file("held", HEADING + held_line(1, "held", 1, 5))
        process = self.start_tool("held", "--watch", "-d", ".1", "--json", stdout=subprocess.PIPE,
                                  text=True)
        self.assertEqual(len(json.loads(process.stdout.readline())["locks"]), 1)
        # Replace the file as a whole, because the process may read it at any time.
        self.write_file("held.new", HEADING)
        os.rename(os.path.join(self.directory, "held.new"), os.path.join(self.directory, "held"))
        while json.loads(process.stdout.readline())["locks"]:
            pass
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_wrong_options_are_refused(self):
        for arguments, words in ((["x"], "is not understood"), (["-d", "0"], "0.1 to 3600 seconds"),
                                 (["-d", "1x"], "0.1 to 3600 seconds")):
            result = self.run_tool("held", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    tap.main()
