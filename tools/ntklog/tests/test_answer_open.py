#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: locks that were held, and waits that had not ended, when the recording stopped."""

import json

from answer_case import BASE, LOCK, NS, Case, held_event, sleeping_event, waiting_event
import etl_writer as etl
import tap
from tool import run_tool, undescribed_fields, join_wrapped_lines


class OpenHolds(Case):

    def open_holds_begin(self, at):
        return etl.open_hold_event(BASE + at)

    def held_lines(self, *options):
        return [line for line in self.report(*options).splitlines()
                if line.startswith("Held at the end")]

    def test_waits_that_did_not_end_are_charged_to_the_holder(self):
        parts = self.parts_of_answer(self.open_holds_begin(9000), held_event(9000),
                                     waiting_event(9000), waiting_event(9000, 5000, 57))
        self.assertEqual(parts, {"holder_ran": 6000 + 4000})
        self.assertEqual(self.blocker_charges("--by", "task"), {
            ("my_lock", "waiter", "holder"): 6000, ("my_lock", "bystander", "holder"): 4000})
        self.assertEqual(self.held_lines(), [
            "Held at the end, since 0.001s, 2 wait: my_lock, by holder in holds_long"])

    def test_holder_of_a_lock_with_a_long_name_is_readable(self):
        with open(self.path + ".names", "w", encoding="ascii") as stream:
            stream.write("ffffffff81000100 t holds_for_a_long_while_indeed_as_said [planted_holders]\n"
                         "ffff888012345678 d a_mutex_of_the_module_with_a_name [planted_holders]\n"
                         "thread 55 holder\n")
        self.write_events(self.open_holds_begin(9000), held_event(9000), waiting_event(9000))
        self.assertIn("\nHeld at the end, since 0.001s, 1 waits: a_mutex_of_the_module_with_a_name,\n"
                      "   by holder in holds_for_a_long_while_indeed_as_said\n",
                      self.report())

    def test_waits_that_tables_of_locks_lack_are_reported(self):
        self.write_events(self.open_holds_begin(9000), held_event(9000), waiting_event(9000))
        self.assertIn("of waiting in 1 wait has no record", join_wrapped_lines(self.report()))
        self.write_events(self.open_holds_begin(9000), held_event(9000, wait=500),
                          waiting_event(9000))
        fact = "3.25ms of waiting in 2 waits has no record"
        self.assertIn(fact, self.report())
        self.assertIn("Tasks waited 3.25ms for locks", self.report())
        self.assertNotIn(fact, self.report("--filter", "Kind == rwsem"))
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56))
        self.assertNotIn("has no record", self.report())

    def test_time_before_the_hold_is_charged_to_earlier_holds(self):
        parts = self.parts_of_answer(sleeping_event(1000, 4000, thread=57),
                                     self.open_holds_begin(9000),
                                     held_event(9000, since=5000), waiting_event(9000, 3000))
        self.assertEqual(parts, {"holder_ran": 1000 + 4000, "free_overtaken": 1000})

    def test_exclusive_hold_ends_older_holds(self):
        """Another task may have released the lock for a reader."""
        for kind, holders in (("rwsem", ["holder"]), ("semaphore", ["bystander (reader)", "holder"])):
            self.assertEqual(self.parts_of_answer(
                self.open_holds_begin(9000), held_event(9000, "reads", thread=57, kind=kind),
                held_event(9000, since=5000, kind=kind), waiting_event(9000, 6000, kind=kind)),
                {"holder_ran": 3000})
            self.assertEqual(self.blocker_charges("--by", "task"),
                             {("my_lock", "waiter", holders[0]): 3000})
            self.assertEqual(len(self.held_lines()), len(holders))

    def test_wait_before_an_open_hold_is_charged(self):
        parts = self.parts_of_answer(sleeping_event(1000, 4000, thread=57),
                                     self.open_holds_begin(9000),
                                     held_event(9000, since=4000, wait=2500))
        self.assertEqual(parts, {"holder_ran": 2500})
        self.assertEqual(self.held_lines(), [])

    def test_lock_that_was_acquired_before_the_recording_has_an_unknown_holder(self):
        parts = self.parts_of_answer(self.open_holds_begin(9000), waiting_event(9000),
                                     waiting_event(9000, 5000, 57))
        self.assertEqual(parts, {"unknown": 6000 + 4000})
        self.assertEqual(self.held_lines(), ["Held at the end by an unknown task, "
                                             "2 wait since 0.002s: my_lock"])

    def test_later_list_replaces_an_earlier_one(self):
        first = self.open_holds_begin(5000), held_event(5000), waiting_event(5000, 3000)
        self.assertEqual(self.parts_of_answer(*first, self.open_holds_begin(9000), held_event(9000),
                                              waiting_event(9000, 3000)),
                         {"holder_ran": 6000})
        self.assertEqual(self.parts_of_answer(*first, sleeping_event(1000, 6000),
                                              self.open_holds_begin(9000)), {})
        self.assertEqual(json.loads(self.report("--json", "--filter", "Kind == mutex"))["answer"]
                         ["open_holds"], [])

    def test_hold_with_a_record_after_the_list_is_not_listed_as_held(self):
        parts = self.parts_of_answer(self.open_holds_begin(4000), held_event(4000),
                                     waiting_event(4000), sleeping_event(1000, 5000),
                                     sleeping_event(5000, 5100, 2000, thread=56))
        self.assertEqual(parts, {"holder_ran": 2000})
        self.assertEqual(self.held_lines(), [])

    def test_record_of_a_long_wait_behind_the_list_does_not_end_it(self):
        parts = self.parts_of_answer(self.open_holds_begin(9000), held_event(9000),
                                     waiting_event(9000),
                                     sleeping_event(3000, 9500, thread=56, action=0x224))
        self.assertEqual(parts, {"holder_ran": 6000})

    def test_the_oldest_holds_are_named_and_the_rest_counted(self):
        events = [self.open_holds_begin(9000)]
        for number in range(5):
            events += [held_event(9000, since=1000 + number, address=LOCK + 64 * number),
                       waiting_event(9000, 2000, address=LOCK + 64 * number)]
        self.write_events(*events)
        lines = self.held_lines()
        self.assertEqual(len(lines), 4)
        self.assertIn("my_lock, by holder", lines[0])
        self.assertEqual(lines[3], "Held at the end: 2 more, in dump's NtklogOpenHold.")

    def test_other_locks_are_left_out_of_the_answer_about_one(self):
        self.write_events(self.open_holds_begin(9000), held_event(9000), waiting_event(9000),
                          held_event(9000, address=LOCK + 0x288),
                          waiting_event(9000, address=LOCK + 0x288))
        self.assertEqual(len(self.held_lines()), 2)
        answer = json.loads(self.report("--json", "--lock", "my_lock"))["answer"]
        self.assertEqual([(row["lock"], row["task"], row["waiting"], row["waiters"], row["caller"])
                          for row in answer["open_holds"]],
                         [("my_lock", "holder", False, 1, "holds_long"),
                          ("my_lock", "waiter", True, 1, "waits_long")])

    def parse_deadlock(self, *options):
        lines = self.report(*options).split("\n\n")[0].splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertLessEqual(len(lines), 20)
        text = " ".join(map(str.strip, lines)) if "Deadlock" in "".join(lines) else ""
        answer = json.loads(self.report("--json", *options))["answer"]
        self.assertEqual(undescribed_fields(answer, "report"), set())
        cycles = answer["deadlocks"]
        return text, [[(task["thread"], task["lock"], task["holder_thread"]) for task in cycle]
                      for cycle in cycles]

    def wait_cycle(self, at, *threads, lock=LOCK, **changes):
        events = []
        for number, thread in enumerate(threads):
            wanted = (number + 1) % len(threads)
            events += [held_event(at, thread=thread, address=lock + 0x288 * number),
                       waiting_event(at, thread=thread, address=lock + 0x288 * wanted, **changes)]
        return events

    def test_tasks_that_wait_for_each_other_are_a_deadlock(self):
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56))
        text, cycles = self.parse_deadlock()
        self.assertTrue(text.startswith(
            "Deadlock: holder (55) waits for inner_lock, held by waiter (56), "
            "which waits for my_lock, held by holder (55) Tasks waited"), text)
        self.assertEqual(cycles, [[(55, "inner_lock", 56), (56, "my_lock", 55)]])
        (cycle,) = json.loads(self.report("--json"))["answer"]["deadlocks"]
        self.assertEqual((cycle[0]["task"], cycle[0]["holder_task"], cycle[0]["kind"],
                          round(cycle[0]["age_ns"] / NS)), ("holder", "waiter", "mutex", 6000))

    def test_entry_with_a_damaged_list_time_hides_no_deadlock(self):
        late = etl.open_hold_event(BASE + 9000 + 2 ** 46, "waits", since=BASE + 3000, thread=57,
                                   address=LOCK, time_stamp=BASE + 9000)
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56), late)
        result = run_tool("report", "--json", self.path)
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.assertEqual(report["damaged_events"], 1)
        self.assertEqual(list(map(len, report["answer"]["deadlocks"])), [2])

    def test_chain_without_a_cycle_is_no_deadlock(self):
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56)[:-1])
        self.assertEqual(self.parse_deadlock(), ("", []))

    def test_cycle_that_began_after_the_list_is_no_deadlock(self):
        """The list was written while tasks went on: its entries may not have existed together."""
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56, since=9001))
        self.assertEqual(self.parse_deadlock(), ("", []))

    def test_record_behind_the_list_ends_the_deadlock(self):
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56),
                          sleeping_event(1000, 9500))
        self.assertEqual(self.parse_deadlock(), ("", []))

    def test_long_deadlock_is_cut_and_others_are_counted(self):
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, *range(1000, 1007)),
                          *self.wait_cycle(9000, 55, 56, lock=LOCK + 0x10000))
        text, cycles = self.parse_deadlock()
        self.assertIn("which is deadlocked with 4 more tasks (--json)", text)
        self.assertIn(" Deadlocks: 1 more, in --json. Tasks waited", text)
        self.assertEqual(sorted(map(len, cycles)), [2, 7])

    def test_deadlock_of_other_locks_is_left_out_of_the_answer_about_one(self):
        self.write_events(self.open_holds_begin(9000), *self.wait_cycle(9000, 55, 56),
                          *self.wait_cycle(
            9000, 57, 58, lock=LOCK + 0x10000))
        self.assertEqual(len(self.parse_deadlock()[1]), 2)
        self.assertEqual(self.parse_deadlock("--lock", "my_lock")[1],
                         [[(55, "inner_lock", 56), (56, "my_lock", 55)]])

    def test_common_names_of_filters_find_open_holds(self):
        self.write_events(self.open_holds_begin(9000), held_event(9000), waiting_event(9000),
                          held_event(9000, address=LOCK + 0x10000, since=8990, thread=57))
        for expression, holds, waits in (
                ("thread == 56", 1, 1), ("thread == waiter", 1, 1), ("lock == my_lock", 2, 1),
                ("caller ~ waits_long", 1, 1), ("wait > 2ms", 1, 1), ("wait > 4ms", 0, 0),
                ("hold > 3ms", 1, 0), ("thread != holder", 2, 1)):
            result = run_tool("dump", "--filter", expression, self.path)
            self.assertEqual(result.stdout.count("NtklogOpenHold"), holds, expression)
            answer = json.loads(self.report("--json", "--filter", expression))["answer"]
            self.assertEqual(answer["waits"], waits, expression)

    def test_dump_prints_the_fields_of_open_holds(self):
        self.write_events(self.open_holds_begin(9000),
                          held_event(9000, "reads", kind="rwsem", wait=20, delta=2))
        text = run_tool("dump", self.path).stdout
        self.assertIn("NtklogOpenHold", text)
        self.assertIn("State=begin", text)
        self.assertRegex(text, "Lock=0xffff888012345678.* Since=1001000 .*ThreadId=55.*"
                               "Kind=rwsem State=held_shared ContentionDelta=2")


if __name__ == "__main__":
    tap.main()
