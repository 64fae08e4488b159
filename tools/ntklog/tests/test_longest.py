#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: the longest waits step by step, and the longest chain."""

import json
import re

from answer_case import (BASE, HOLDER, LOCK, NS, OTHER, RATES, WAITER, Case, sleeping_event,
                         spin_event, stack_event_of, switch_event)
import etl_writer as etl
import tap
from tool import run_tool, undescribed_fields

INNER = LOCK + 0x288


def caller_event(at, lock=LOCK, address=HOLDER):
    return etl.caller_event(lock, address, time_stamp=BASE + at)


def chain_of_three_events():
    return (sleeping_event(1000, 4000, thread=57, address=INNER),
            sleeping_event(4000, 4500, 2000, address=INNER), caller_event(5000),
            sleeping_event(1000, 5000),
            caller_event(5100, address=WAITER), sleeping_event(5000, 5100, 3500, thread=56))


class Longest(Case):
    def longest_waits_of(self, *events, options=()):
        if events:
            self.write_events(*events)
        answer = json.loads(self.report("--json", *options))["answer"]
        self.assertEqual(undescribed_fields(answer, "report"), set())
        for wait in answer["longest_waits"]:
            self.assertAlmostEqual(sum(step["for_ns"] for step in wait["steps"]) +
                                   wait["other_steps_for_ns"], wait["for_ns"], places=3)
            times = [step["at"] for step in wait["steps"]]
            self.assertEqual(times, sorted(times))
        return answer

    def ticks_of(self, seconds):
        return round(seconds * 1e9 / NS)

    def steps_of(self, wait):
        return [(step["part"], self.ticks_of(step["at"]), round(step["for_ns"] / NS),
                 step.get("task"))
                for step in wait["steps"]]

    def test_each_hold_is_a_step_with_time_task_and_place(self):
        (wait,) = self.longest_waits_of(spin_event(1000, 2000),
                                        spin_event(3000, 4000, 0, OTHER, thread=57),
                                        spin_event(4500, 4600, 3000, WAITER,
                                                   thread=56))["longest_waits"]
        self.assertEqual((wait["lock"], wait["task"], wait["place"], self.ticks_of(wait["at"]),
                          round(wait["for_ns"] / NS)), ("my_lock", "waiter", "waits_long", 1500, 3000))
        self.assertEqual([step[:3] for step in self.steps_of(wait)], [
            ("holder_ran", 1500, 500), ("free_overtaken", 2000, 1000), ("holder_ran", 3000, 1000),
            ("free_handed_over", 4000, 500)])
        self.assertEqual([step["place"] for step in wait["steps"]],
                         ["holds_long", "holds_too", "holds_too", "waits_long"])

    def test_ten_longest_waits_are_kept_in_their_order(self):
        lengths = [500, 900, 100, 1000, 300, 800, 200, 600, 1200, 400, 700, 1100, 1300]
        events = [event for number, length in enumerate(lengths) for event in (
            spin_event(10000 * number + 1000, 10000 * number + 3000),
            spin_event(10000 * number + 3000, 10000 * number + 3100, length, WAITER))]
        waits = self.longest_waits_of(*events)["longest_waits"]
        self.assertEqual([round(wait["for_ns"] / NS) for wait in waits],
                         sorted(lengths, reverse=True)[:10])

    def test_steps_beyond_the_longest_are_counted(self):
        """Fifty holds, each with a gap behind it: 32 steps are kept."""
        events = [spin_event(1000 + 100 * number, 1060 + 100 * number) for number in range(50)]
        (wait,) = self.longest_waits_of(*events,
                                        spin_event(6000, 6100, 5000, WAITER))["longest_waits"]
        self.assertEqual((len(wait["steps"]), wait["other_steps"]), (32, 68))
        self.assertEqual({round(step["for_ns"] / NS) for step in wait["steps"]}, {60})
        self.assertIn("in 68 shorter steps", self.report("--table", "longest"))
        rows = json.loads(self.report("--json", "--table", "longest"))["longest"]
        self.assertEqual((len(rows), rows[-1]["happened"]), (33, "shorter steps"))

    def test_times_without_a_cpu_are_steps_between_those_with_one(self):
        """In the table of blockers the two times in which the holder ran are one piece."""
        (wait,) = self.longest_waits_of(
            switch_event(2000, 55, 57), stack_event_of(2000, 0xFFFFFFFF81000401,
                                                       0xFFFFFFFF81000501),
            switch_event(4000, 57, 55), sleeping_event(1000, 5000),
            sleeping_event(5000, 5100, 4000, thread=56))["longest_waits"]
        self.assertEqual(self.steps_of(wait), [
            ("holder_ran", 1000, 1000, "holder"), ("holder_blocked", 2000, 2000, "holder"),
            ("holder_ran", 4000, 1000, "holder")])
        self.assertEqual(wait["steps"][1]["without_cpu_in"], "p9_client_rpc")
        self.assertIn("held by holder (55), blocked in p9_client_rpc\n",
                      self.report("--table", "longest"))

    def test_task_that_preempted_the_holder_is_named(self):
        """57 preempts the holder, which is ready; for a holder that sleeps nobody is named."""
        for state, preempter in ((1, "bystander (57)"), (5, None)):
            (wait,) = self.longest_waits_of(switch_event(2000, 55, 57, state=state),
                                            switch_event(4000, 57, 55),
                                            sleeping_event(1000, 5000),
                                            sleeping_event(5000, 5100, 3500,
                                                           thread=56))["longest_waits"]
            self.assertEqual([step.get("preempted_by") for step in wait["steps"]],
                             [None, preempter, None])
            text = " ".join(self.report("--table", "longest").split())
            self.assertEqual("without a CPU; preempted by bystander (57)" in text,
                             bool(preempter), text)

    def test_lock_for_which_the_holder_waited_is_named(self):
        waits = self.longest_waits_of(*chain_of_three_events())["longest_waits"]
        (step,) = waits[0]["steps"]
        self.assertEqual((step["task"], step["place"]), ("holder", "holds_long"))
        (link,) = step["waited_for"]
        self.assertEqual((link["lock"], link["holder_task"], self.ticks_of(link["at"]),
                          round(link["for_ns"] / NS)), ("inner_lock", "bystander", 2000, 2000))
        self.assertNotIn("waited_for", waits[1]["steps"][0])

    def test_text_has_a_line_for_each_step(self):
        self.write_events(*chain_of_three_events())
        self.assertEqual(self.report("--table", "longest").split("\n\n")[1], """\
The longest waits, step by step
           at      for
1. my_lock: 1.75ms, waiter (56) in waits_long
    0.000750s   1.75ms  held by holder (55) in holds_long; it waited 1.00ms for
                        inner_lock, held by bystander (57)
2. inner_lock: 1.00ms, holder (55)
    0.001000s   1.00ms  held by bystander (57)
""")

    def test_report_about_one_lock_has_its_longest_waits(self):
        self.write_events(*chain_of_three_events())
        text = self.report("--lock", "my_lock")
        self.assertIn("The longest waits, step by step", text)
        self.assertIn("1. my_lock: 1.75ms", text)
        self.assertNotIn("2. inner_lock", text)
        self.assertNotIn("step by step", self.report())

    def test_csv_has_a_row_for_each_step(self):
        self.write_events(*chain_of_three_events())
        lines = self.report("--csv", "--table", "longest").splitlines()
        self.assertEqual(lines[0], "table,step,lock,waiter,wait_ns,at_ns,for_ns,happened")
        self.assertEqual([line.split(",")[1] for line in lines[1:]], ["01.01", "02.01"])

    def test_longest_chain_is_in_the_answer(self):
        chain = self.longest_waits_of(*chain_of_three_events())["longest_chain"]
        self.assertEqual((chain["task"], self.ticks_of(chain["at"]), round(chain["for_ns"] / NS)),
                         ("waiter", 1500, 3500))
        self.assertEqual([(link["lock"], link["holder_task"]) for link in chain["waited_for"]],
                         [("my_lock", "holder"), ("inner_lock", "bystander")])
        self.assertIn("Longest chain, 1.75ms at 0.001s: waiter (56) waits for my_lock,\n"
                      "   held by holder (55), which waits for inner_lock, held by bystander (57)\n",
                      self.report())

    def write_cpus(self, *cpus):
        """Write a trace with a list of events for each CPU."""
        self.write(etl.header_buffer(2 + len(cpus)) + etl.buffer(RATES) + b"".join(
            etl.buffer(events, sequence=2 + cpu, processor=cpu, flags=0x21)
            for cpu, events in enumerate(cpus)))

    def test_holder_of_a_spin_lock_that_spins_for_another_one_is_a_chain(self):
        self.write_cpus([spin_event(4500, 4600, 3000, address=INNER), spin_event(1000, 5000)],
                        [spin_event(5000, 5100, 3000, WAITER, thread=56)],
                        [spin_event(1000, 4500, address=INNER, caller=OTHER, thread=57)])
        answer = self.longest_waits_of()
        chain = answer["longest_chain"]
        self.assertEqual([(link["lock"], link["holder_task"], round(link["for_ns"] / NS))
                          for link in chain["waited_for"]],
                         [("my_lock", "holder", 3000), ("inner_lock", "bystander", 2500)])
        self.assertIn("waiter (56) waits for my_lock,\n   held by holder (55), which waits for "
                      "inner_lock, held by bystander (57)\n", self.report())
        text = " ".join(self.report("--table", "longest").split())
        self.assertIn("held by holder (55) in holds_long; it waited 1.25ms for inner_lock, held by "
                      "bystander (57)", text)

    def test_wait_of_a_task_in_the_bucket_of_the_cpu_does_not_hide_the_chain(self):
        """In charge.c the waits of this thread and those of CPU 0 are in one of 2^16 buckets."""
        def bucket_of_key(key):
            return key * 0x9E3779B97F4A7C15 % (1 << 64) >> 48

        thread = next(number for number in range(100, 1 << 22)
                      if bucket_of_key(number) == bucket_of_key(1 << 32))
        self.write_cpus([spin_event(3500, 3600, 2000, address=INNER), spin_event(1000, 5000)],
                        [spin_event(1200, 3500, address=INNER, caller=OTHER, thread=57),
                         sleeping_event(500, 4000, 400, thread=thread, address=LOCK + 0x1000)],
                        [spin_event(5000, 5100, 3900, WAITER, thread=56)])
        self.assertEqual(len(self.longest_waits_of()["longest_chain"]["waited_for"]), 2)

    def test_handler_that_spins_while_its_cpu_holds_a_lock_is_a_chain(self):
        """The thread of the record is the one that the handler has interrupted: the idle one."""
        self.write_cpus([spin_event(4500, 4600, 3000, address=INNER, thread=0, flags=0x81),
                         spin_event(1000, 5000, thread=0, flags=0x41)],
                        [spin_event(5000, 5100, 3000, WAITER, thread=56)],
                        [spin_event(1000, 4500, address=INNER, caller=OTHER, thread=0, flags=0x81)])
        self.longest_waits_of()
        self.assertRegex(" ".join(self.report().split()),
                         r"held by \S+( \S+)? \(softirq\), which waits for inner_lock, held by "
                         r"\S+( \S+)? \(interrupt\)")

    def test_spinning_outside_the_hold_or_on_another_cpu_is_no_chain(self):
        before = spin_event(900, 950, 700, address=INNER), spin_event(1000, 5000)
        behind = spin_event(1000, 5000), spin_event(5050, 5060, 40, address=INNER)
        for first, other in ((before, []), (behind, []),
                             # Idle tasks, which all have the id 0.
                             ([spin_event(1000, 5000, thread=0)],
                              [spin_event(4500, 4600, 3000, address=INNER, thread=0)])):
            self.write_cpus(first, [spin_event(5000, 5100, 3000, WAITER, thread=56)], other)
            self.assertNotIn("longest_chain", self.longest_waits_of())

    def test_searches_in_a_wait_for_many_holds_are_bounded(self):
        """With 700 holds, the search visits less than 400 of the holder's newest waits."""
        for waiting, count in (0, 1), (0, 700), (650, 700):
            events, at = [sleeping_event(1000, 2000)], 3000
            for number in range(count):
                if number == waiting:
                    events += [sleeping_event(at, at + 40, thread=57, address=INNER),
                               sleeping_event(at + 40, at + 45, 20, address=INNER)]
                events += [sleeping_event(at, at + 50, 10)]
                at += 100
            self.write(etl.long_file([*RATES, *events,
                                      sleeping_event(at, at + 50, at - 3000, thread=56)]))
            chain = self.longest_waits_of().get("longest_chain")
            self.assertEqual(bool(chain), count - waiting < 400)

    def test_waits_without_a_waiting_holder_are_no_chain(self):
        answer = self.longest_waits_of(sleeping_event(1000, 5000),
                                       sleeping_event(5000, 5100, 3000, thread=56))
        self.assertNotIn("longest_chain", answer)
        self.assertNotIn("Longest chain", self.report())

    def test_chain_that_goes_on_at_the_end_is_found(self):
        def open_hold_event(state, thread, lock, since):
            return etl.open_hold_event(BASE + 9000, state, address=lock, since=BASE + since,
                                       thread=thread)

        self.write_events(etl.open_hold_event(BASE + 9000),
                          open_hold_event("held", 57, INNER, 1000),
                          open_hold_event("held", 55, LOCK, 1000),
                          open_hold_event("waits", 55, INNER, 3000),
                          open_hold_event("waits", 56, LOCK, 2000))
        for options in (), ("--lock", "my_lock"):
            answer = self.longest_waits_of(options=options)
            self.assertEqual([link["lock"] for link in answer["longest_chain"]["waited_for"]],
                             ["my_lock", "inner_lock"])
            (link,) = answer["longest_waits"][0]["steps"][0]["waited_for"]
            self.assertEqual((link["lock"], round(link["for_ns"] / NS)), ("inner_lock", 6000))

    def test_long_chain_is_cut_in_the_answer(self):
        locks = [LOCK + 0x288 * number for number in range(6)]
        events = [sleeping_event(1000, 9000, thread=100, address=locks[0])]
        for number, (before, lock) in enumerate(zip(locks, locks[1:]), 1):
            events += [sleeping_event(9000 + 100 * number, 9050 + 100 * number, 4000,
                                      thread=100 + number,
                                      address=before),
                       sleeping_event(1000, 9060 + 100 * number, thread=100 + number, address=lock)]
        events += [sleeping_event(9600, 9700, 4000, thread=56, address=locks[-1])]
        chain = self.longest_waits_of(*events)["longest_chain"]
        self.assertEqual([link["lock"] for link in chain["waited_for"]][-2:],
                         ["inner_lock", "my_lock"])
        self.assertEqual(len(chain["waited_for"]), 6)
        lines = self.report().split("\n\n")[0].splitlines()
        self.assertIn("and 3 more locks (--json)", " ".join(lines))
        self.assertLessEqual(len(lines), 20)
        self.assertLessEqual(max(map(len, lines)), 80)

    def read_time_line(self, *options):
        text = self.report("--lock", "my_lock", *options)
        lines = text[text.index("When my_lock is waited for"):].split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 2 + 20)
        self.assertLessEqual(max(map(len, lines)), 80)
        units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        rows = []
        for line in lines[2:]:
            start, waits, *wait = line.split()
            number = re.fullmatch(r"([\d.]+)(\w+)", wait[0]) if wait else None
            rows.append((float(start[:-1]), int(waits),
                         round(float(number[1]) * units[number[2]] / NS) if number else 0,
                         len(wait[1]) if wait else 0))
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        return rows

    def test_report_about_one_lock_has_its_time_line(self):
        """Waits of 4000 ticks near the begin and of 1000 near the end; another lock in between."""
        self.write_events(
            spin_event(1000, 6000), spin_event(6000, 6100, 4000, WAITER),
            spin_event(100000, 101000, address=INNER),
            spin_event(101000, 101100, 900, address=INNER),
            spin_event(1980000, 1990000), spin_event(1990000, 1999000, 1000, WAITER))
        rows = self.read_time_line()
        self.assertEqual(sum(row[1] for row in rows), 2)
        self.assertEqual(sum(row[2] for row in rows), 5000)
        self.assertEqual((rows[0][1:], rows[-1][1:]), ((1, 4000, 40), (1, 1000, 10)))
        self.assertEqual({row[1:] for row in rows[1:-1]}, {(0, 0, 0)})

    def test_wait_is_divided_among_its_periods(self):
        self.write_events(sleeping_event(1000, 1900000),
                          sleeping_event(1900000, 2000000, 1800000, thread=56))
        rows = self.read_time_line()
        self.assertEqual(sum(row[1] for row in rows), 1)
        self.assertAlmostEqual(sum(row[2] for row in rows), 1800000, delta=10000)
        self.assertGreater(len([row for row in rows if row[3] == 40]), 10)

    def test_wait_before_the_start_is_left_out_of_the_time_line(self):
        self.write_events(sleeping_event(2000, 100000, 5000))
        self.assertEqual([row[1:3] for row in self.read_time_line() if row[1] or row[2]],
                         [(1, 2000)])

    def test_report_of_all_locks_has_no_time_line(self):
        self.write_events(*chain_of_three_events())
        self.assertNotIn("is waited for", self.report())

    def test_file_without_waits_has_no_time_line(self):
        answer = self.longest_waits_of(spin_event(1000, 2000))
        self.assertEqual(answer["longest_waits"], [])
        self.assertEqual(run_tool("report", "--table", "longest", self.path).stdout.count("step"),
                         0)


if __name__ == "__main__":
    tap.main()
