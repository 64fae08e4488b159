#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: errors, rates, and the time that they are of."""

import json
import os
import random
import re
import struct
import subprocess

import etl_writer as etl
import tap
from report_case import Case, NS, lock
import tool
from tool import NTKLOG, run_tool, join_wrapped_lines


class Errors(Case):
    """The sampling error of weights w: the root of the sum of w * (w - 1), by the sum of w."""

    HEAVY = 1000 * 999

    def text_row(self, *options):
        return self.report(*options).stdout.splitlines()[-1].split()

    def test_sampling_error_follows_the_heaviest_records(self):
        data = etl.header_buffer(4) + etl.buffer([etl.spinlock_rundown(1, 1, 1000, 1000000),
                                                  *[lock(hold=100)] * 21])
        for sequence in 2, 3:
            data += etl.buffer([lock(5, wait=7)] * (39 + sequence % 2), sequence=sequence)
        row = self.json_of(data=data, options=())["locks"][0]
        self.assertEqual((row["sampled"], row["acquisitions"]), (100, 21079))
        self.assertAlmostEqual(row["acquisitions_error"], (21 * self.HEAVY) ** .5 / 21079)
        # The greatest value counts six more times.
        self.assertAlmostEqual(row["hold_total_error"], ((21 + 6) * self.HEAVY) ** .5 / 21079)
        self.assertEqual(row["wait_total_error"], 0)
        self.assertEqual(self.text_row("--table", "locks", "--columns",
                                       "lock,acquisitions,per_second,wait_total,hold_total"),
                         ["0xffff888012345678", "~21079+-22%", "~21079+-22%", "276us",
                          "1.05s+-25%"])

    def test_sampling_error_of_holds_follows_the_longest(self):
        row = self.json_of(etl.spinlock_rundown(1, 1, 1000, 1000000),
                           *[lock(hold=60)] * 38, *[lock(hold=100)] * 2)["locks"][0]
        self.assertAlmostEqual(row["acquisitions_error"], (40 * self.HEAVY) ** .5 / 40000)
        self.assertAlmostEqual(row["hold_total_error"],
                               ((38 * 60 ** 2 + (2 + 6) * 100 ** 2) * self.HEAVY) ** .5 / 2480000,
                               delta=.001)

    def test_sampling_error_of_few_or_uneven_records_is_unknown(self):
        """Below ten records, or where one of them is most of the sum, the error is a guess."""
        for locks in [lock()] * 9, [lock(hold=1)] * 38 + [lock(hold=100)] * 2:
            row = self.json_of(etl.spinlock_rundown(1, 1, 1000, 0), *locks)["locks"][0]
            self.assertIsNone(row["hold_total_error"])
            self.assertIsNotNone(row["acquisitions_error"])
        row = self.json_of(etl.spinlock_rundown(1, 1, 1000, 0), *[lock()] * 12)["locks"][0]
        self.assertAlmostEqual(row["hold_total_error"], ((12 + 6) / 1.001) ** .5 / 12, delta=.001)

    def test_small_sampling_error_has_no_mark(self):
        """With 99 records of the weight 1009 the error is just above 10 %, with 100 just below."""
        for count, text in (99, "~99891+-10%"), (100, "~100900"):
            data = etl.header_buffer(4) + etl.buffer([etl.spinlock_rundown(1, 1, 1009, 0)])
            for sequence, part in (2, 50), (3, count - 50):
                data += etl.buffer([lock()] * part, sequence=sequence)
            self.write(data)
            self.assertEqual(self.text_row("--table", "locks", "--columns", "acquisitions"),
                             [text])

    def report_of_loop(self, rate, locks, processors=1):
        """The loop is on CPUs that take turns."""
        events = [etl.spinlock_rundown(1, 1, rate, 0)]
        buffers = [etl.header_buffer(1 + 4 * processors)]
        for sequence in range(4 * processors):
            first = 24 * (sequence // processors)
            events += [lock(address=0x100 * locks[i % len(locks)])
                       for i in range(first, first + 24)]
            buffers.append(etl.buffer(events, sequence=1 + sequence,
                                      processor=sequence % processors))
            events = []
        self.write(b"".join(buffers))
        rows = json.loads(self.report("--json", "--columns", "all").stdout)["locks"]
        return rows, self.report().stdout

    def test_sampling_error_in_step_with_a_loop_is_unknown(self):
        """The sampled locks repeat."""
        for locks in [1], [1, 2], [1, 2, 1, 3, 4], list(range(1, 9)):
            for processors in 1, 2:
                rows, text = self.report_of_loop(1000, locks, processors)
                for row in rows:
                    self.assertIsNone(row["acquisitions_error"])
                    self.assertIsNone(row["hold_total_error"])
                self.assertIn("IN STEP?", text)

    def test_estimates_have_sampling_errors_if_no_loop_is_in_step(self):
        """A prime rate, or locks by chance."""
        generator = random.Random(1)
        by_chance = [generator.choice((1, 2, 3)) for _ in range(24)]
        for rate, locks in (1009, [1]), (1009, [1, 2]), (1, [1]), (1000, by_chance):
            rows, text = self.report_of_loop(rate, locks)
            for row in rows:
                self.assertIsNotNone(row["acquisitions_error"])
            self.assertNotIn("IN STEP?", text)

    def test_sampling_error_without_a_heavy_record_is_unknown(self):
        """No uncontended acquisition was sampled at rate 1000: a thousand may have happened."""
        row = self.json_of(etl.spinlock_rundown(1, 1, 1000, 0), lock(5, wait=7))["locks"][0]
        self.assertIsNone(row["acquisitions_error"])
        self.assertIsNone(row["hold_total_error"])
        self.assertEqual(row["wait_total_error"], 0)
        columns = "acquisitions,acquisitions_error,wait_total,hold_total"
        self.assertEqual(self.text_row("--table", "locks", "--columns", columns),
                         ["~1+-?", "?", "3.50us", "50.0us+-?"])
        self.assertIn("<td data-title=\"acquired error\">?</td>",
                      self.report("--html", "-", "--columns", columns).stdout)
        self.assertEqual(self.report("--table", "locks", "--csv", "--columns", columns).stdout,
                         "table,acquisitions,acquisitions_error,wait_total_ns,hold_total_ns\n"
                         "locks,1,,3500,50000\n")

    def test_sampling_error_is_zero_where_all_are_written(self):
        row = self.json_of(etl.resource_rundown(1, 1),
                           etl.perfinfo(0x052B, etl.resource_data(wait=500)))["resources"][0]
        for column in "releases_error", "wait_total_error", "hold_total_error":
            self.assertEqual(row[column], 0)
        self.assertNotRegex("".join(self.text_row("--table", "resources")), r"\+-")

    def test_sampling_error_is_unknown_where_the_rates_are_unknown(self):
        row = self.json_of(lock(5), lock())["locks"][0]
        for column in "acquisitions_error", "wait_total_error", "hold_total_error":
            self.assertIsNone(row[column])
        self.assertNotIn("+-", self.report().stdout)

    def test_sampling_error_of_waits_follows_the_longest(self):
        row = self.json_of(etl.spinlock_rundown(1, 10, 1000, 0),
                           *[lock(5, wait=10), lock(5, wait=12)] * 10)["locks"][0]
        self.assertAlmostEqual(row["wait_total_error"],
                               ((10 * 10 ** 2 + (10 + 6) * 12 ** 2) * 10 * 9) ** .5 / 2200,
                               delta=.001)

    def test_estimated_releases_have_a_sampling_error(self):
        row = self.json_of(etl.resource_rundown(100, 1), etl.perfinfo(0x052B, etl.resource_data(
            wait=0, delta=0)), etl.perfinfo(0x052B, etl.resource_data(wait=500)))["resources"][0]
        self.assertEqual(row["releases"], 101)
        self.assertAlmostEqual(row["releases_error"], (100 * 99) ** .5 / 101)
        self.assertEqual(row["wait_total_error"], 0)

    def test_rows_of_mode_waits_have_no_sampling_error(self):
        row = self.json_of(etl.spinlock_rundown(), etl.ntklog_rundown(2),
                           lock(5, rule=2, hold=0, depth=0))["locks"][0]
        self.assertIsNone(row["acquisitions_error"])
        self.assertIsNone(row["hold_total_error"])
        self.assertEqual(row["wait_total_error"], 0)
        self.assertNotIn("-+-", self.report().stdout)

    def count_events(self, data, condition):
        return len(tool.run_tool_on("dump", data, "--filter", condition).stdout.splitlines())

    def test_filters_find_no_hold_where_it_is_not_known(self):
        """A record with two times has a hold, whatever its rule: the byte is reserved in NT's."""
        for rule, hold, expected in ((2, 0, 0), (28, 0, 0), (0, 0, 1), (5, 0, 1), (12, 1, 1)):
            data = etl.file(etl.ntklog_rundown(2), lock(5, rule=rule, hold=hold), lock(hold=2000))
            for condition in "hold < 1us", "hold >= 0ns && hold < 1us", "hold != 1ms":
                self.assertEqual(self.count_events(data, condition), expected, (rule, condition))
            self.assertEqual(self.count_events(data, "SpinCount == 5 && wait > 0ns"), 1)
        self.assertEqual(self.count_events(etl.file(lock(rule=2, hold=1)), "hold < 1us"), 1)

    def test_page_has_sampling_errors(self):
        self.write(etl.file(etl.spinlock_rundown(), *[lock()] * 4))
        self.assertIn(' data-value="4000">~4000<wbr>+-50%</td>', self.report("--html", "-").stdout)

    def test_csv_has_the_requested_columns_alone(self):
        self.write(etl.file(etl.spinlock_rundown(), lock()))
        self.assertEqual(self.report("--table", "locks", "--csv", "--columns", "lock,acquisitions")
                         .stdout, "table,lock,acquisitions\nlocks,0xffff888012345678,1000\n")


class ContextSwaps(Case):
    def swap_event(self, time, new, old, state=5, version=4):
        return etl.perfinfo(0x0524, etl.context_swap_data(version, new=new, old=old, state=state,
                                                          wait_time=2),
                            version=version, time_stamp=etl.START_CLOCK + time)

    def test_context_switches_are_summed_by_thread_and_cpu(self):
        for version in (1, 2, 3, 4):
            report = self.json_of(self.swap_event(100, 7, 0, version=version),
                                  self.swap_event(400, 8, 7, state=1, version=version),
                                  self.swap_event(500, 7, 8, version=version),
                                  self.swap_event(600, 0, 7, version=version),
                                  self.swap_event(1000, 8, 0, version=version))
            threads = {row["thread"]: row for row in report["threads"]}
            self.assertEqual(sorted(threads), [7, 8])
            self.assertEqual((threads[7]["switches"], threads[8]["switches"]), (2, 2))
            self.assertEqual((threads[7]["preempted"], threads[8]["preempted"]), (.5, 0))
            self.assertAlmostEqual(threads[7]["run_total_ns"], 400 * NS)
            self.assertAlmostEqual(threads[7]["run_max_ns"], 300 * NS)
            (processor,) = report["processors"]
            self.assertEqual(processor["switches"], 5)
            self.assertAlmostEqual(processor["busy"], 500 / 900)
            self.assertAlmostEqual(processor["idle_total_ns"], 400 * NS)

    def test_runs_are_cut_at_the_selected_time(self):
        """A thread that runs during the whole window has its switches before and after it."""
        self.write(etl.header_buffer(3) + etl.buffer([
            self.swap_event(100, 7, 0), self.swap_event(4000, 0, 7), self.swap_event(4100, 8, 0),
            self.swap_event(9000, 0, 8)]) + etl.buffer([
                self.swap_event(200, 9, 0), self.swap_event(9500, 0, 9)], processor=1, sequence=2))
        sums = []
        for options in ((), ("--to", "0.0025"), ("--from", "0.0025", "--to", "0.004"),
                        ("--from", "0.004")):
            report = json.loads(self.report("--json", *options).stdout)
            sums.append((
                {row["thread"]: (round(row["run_total_ns"] / NS), row["switches"])
                 for row in report["threads"]},
                [(row["processor"], row["switches"], round(row["busy_total_ns"] / NS),
                  round(row["idle_total_ns"] / NS), row["unknown"])
                 for row in sorted(report["processors"], key=lambda row: row["processor"])]))
        self.assertEqual(sums, [
            ({7: (3900, 1), 8: (4900, 1), 9: (9300, 1)}, [(0, 4, 8800, 100, 0),
                                                          (1, 2, 9300, 0, 0)]),
            ({7: (3900, 1), 8: (900, 1), 9: (4800, 1)}, [(0, 3, 4800, 100, 0),
                                                         (1, 1, 4800, 0, 0)]),
            ({8: (3000, 0), 9: (3000, 0)}, [(0, 0, 3000, 0, 0), (1, 0, 3000, 0, 0)]),
            ({8: (1000, 0), 9: (1500, 0)}, [(0, 1, 1000, 0, 0), (1, 1, 1500, 0, 0)])])

    def test_switch_from_an_unexpected_thread_counts_as_unknown(self):
        """The thread switched from is not the thread switched to before, so records are missing."""
        report = self.json_of(self.swap_event(100, 7, 0), self.swap_event(400, 9, 8))
        self.assertEqual(report["processors"][0]["unknown"], 1)
        self.assertEqual({row["run_total_ns"] for row in report["threads"]}, {0})


class FlightRecordings(Case):

    END = 132_000_000_000_000_000 + 1_000_000_000

    def write_flight_recording(self, mode=0x400, lost=17):
        def event(time, processor):
            return etl.perfinfo(0x0529, etl.spin_lock(address=0x100 + processor, spins=1),
                                time_stamp=etl.START_CLOCK + int(time * etl.PERF_FREQ))
        data = bytearray(
            etl.header_buffer(3, end_time=self.END) +
            etl.buffer([event(90 + i * 10 / 9, 1) for i in range(10)], processor=1, sequence=3) +
            etl.buffer([event(99 + i / 39, 0) for i in range(40)], sequence=20))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x114, lost)
        self.write(data)

    def test_many_files_show_rates_if_one_of_them_does(self):
        self.write_flight_recording()
        other = os.path.join(self.directory.name, "other.etl")
        with open(other, "wb") as stream:
            stream.write(etl.file(etl.spinlock_rundown(), lock(5, wait=7)))
        for files, shows in ((self.path, other), True), ((other, other), False):
            text = run_tool("report", "--wide", "--table", "locks", *files).stdout
            (self.assertRegex if shows else self.assertNotRegex)(
                text, "\nhost +lock .* per second .* waiters ")
        text = run_tool("report", "--columns", "lock,wait_total", self.path, other).stdout
        self.assertNotIn("per second", text)

    def test_rates_are_of_the_time_that_is_left(self):
        for mode, lost in (0x400, 17), (0x400, 0), (0x2, 0):
            self.write_flight_recording(mode, lost)
            report = json.loads(self.report("--json", "--columns", "all").stdout)
            # 40 acquisitions in 1 second, and 10 in 10 seconds.
            self.assertAlmostEqual(report["seconds"], 10)
            self.assertEqual([(row["lock"], round(row["per_second"], 3)) for row in report["locks"]],
                             [("0x100", 40), ("0x101", 1)])
            self.assertEqual(report["buffers_lost"], 0)
            self.assertEqual(report["buffers_overwritten"], 18 if mode == 2 or not lost else 17)
            text = join_wrapped_lines(self.report().stdout)
            self.assertNotIn("LOST", text)
            self.assertRegex(text, "a flight recording: 1[78] older buffers were overwritten")
            self.assertIn("CPU 1 is covered from 90.000 s on, the others from later on, the last, "
                          "CPU 0, from 99.000 s; to 100.000 s", text)
            self.assertEqual(report["covered"], [{"processor": 0, "from": 99, "to": 100},
                                                 {"processor": 1, "from": 90, "to": 100}])
            # 90 seconds after the start of the session.
            self.assertIn("from 2019-04-17 18:41:30 UTC on", text)

    def test_cpus_of_different_length_are_ranked_by_their_rates(self):
        """CPU 1's quiet lock has the greater sum, of 9 s; CPU 0's busy lock has a sum of 1.1 s."""
        def buffers(cpu, begin, count, wait, sequence, kind):
            for first in range(0, count, 20):
                events = []
                for i in range(first, min(first + 20, count)):
                    time = etl.START_CLOCK + int((begin + i * (100 - begin) / (count - 1)) *
                                                 etl.PERF_FREQ)
                    events.append(etl.perfinfo(0x0529, etl.spin_lock(
                        address=0x100 + cpu, spins=1, wait=wait, acquire=time, release=time + 10),
                        time_stamp=time) if kind == "spin" else etl.perfinfo(
                            0x052B, etl.resource_data(address=0x100 + cpu, wait=wait),
                            time_stamp=time))
                yield etl.buffer(events, processor=cpu, sequence=sequence + first // 20)
        for kind, table, name in (("spin", "locks", "lock"), ("resource", "resources", "resource")):
            parts = [*buffers(1, 91, 91, 10_000, 30, kind), *buffers(0, 98.9, 100, 9_000, 50, kind)]
            data = bytearray(etl.header_buffer(1 + len(parts), end_time=self.END) + b"".join(parts))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x400)
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x114, 40)
            self.write(data)
            rows = json.loads(self.report("--json").stdout)[table]
            self.assertEqual([row[name] for row in rows], ["0x100", "0x101"])
            for row, rate, waiting in zip(rows, (100 / 1.1, 91 / 9), (.409, .0506)):
                self.assertAlmostEqual(row["per_second"], rate, delta=rate / 50)
                self.assertAlmostEqual(row["waiting"], waiting, delta=waiting / 50)
            # The rows of many files are those with the greatest sums.
            for top, names in ("0", ["0x101", "0x100"]), ("1", ["0x101"]):
                lines = self.report("--ndjson", "--table", table, "--top", top).stdout.splitlines()
                self.assertEqual([json.loads(line)[name] for line in lines[1:]], names)

    def test_a_cpu_that_lost_nothing_is_covered_from_the_start(self):
        """The only event is near the end, and the rate is one event in the time since the start."""
        def event(time, address):
            return etl.perfinfo(0x0529, etl.spin_lock(address=address, spins=1),
                                time_stamp=etl.START_CLOCK + int(time * etl.PERF_FREQ))
        data = bytearray(etl.header_buffer(5, end_time=self.END) + b"".join(etl.buffer(
            [event(95 + i, 0x100)] * 5, sequence=20 + i) for i in range(4)) +
            etl.buffer([event(97, 0x200)], processor=1, sequence=19))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x114, 17)
        # The CPUs of a circular file (mode 2) share one ring: CPU 1 may have lost buffers, too.
        for mode, rate in (0x400, 1 / 98), (2, 1):
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
            self.write(data)
            rows = {row["lock"]: row for row in json.loads(self.report("--json").stdout)["locks"]}
            self.assertAlmostEqual(rows["0x200"]["per_second"], rate)
            self.assertAlmostEqual(rows["0x100"]["per_second"], 20 / 3)

    def test_the_time_line_begins_with_the_events(self):
        self.write_flight_recording()
        page = os.path.join(self.directory.name, "page.html")
        self.report("--html", page)
        with open(page) as stream:
            text = stream.read()
        line, = tool.pictures_of_page(text)["timelines"]
        starts = [line["origin"] + i * line["slot"] for row in line["rows"]
                  for i, value in enumerate(row["sums"]) if value]
        # The wait of the first event ended before the event, and so before the time line.
        self.assertAlmostEqual(min(starts), 91, delta=.2)
        self.assertGreater(len(set(starts)), 20)
        self.assertEqual(line["origin"], 90)
        self.assertAlmostEqual(line["origin"] + line["slot"] * len(line["rows"][0]["sums"]), 100,
                               delta=.2)

    def test_file_without_overwritten_buffers_is_covered_from_its_start(self):
        self.write(etl.file(lock()))
        with open(self.path, "r+b") as stream:
            stream.seek(0x48 + 0x20 + 0x20)
            stream.write(struct.pack("<I", 0x400))
        report = json.loads(self.report("--json").stdout)
        self.assertEqual((report["seconds"], report["buffers_overwritten"]), (1, 0))
        self.assertNotIn("flight", self.report().stdout)

    def test_from_and_to_limit_the_seconds(self):
        for options, seconds in ((("--from", "500ms"), .5), (("--from", "0.2", "--to", "0.8"), .6),
                                 (("--to", "0.5"), .5), (("--to", "3"), 1), ((), 1)):
            self.write(etl.file(lock(), etl.perfinfo(0x0529, etl.spin_lock(),
                                                     time_stamp=etl.START_CLOCK)))
            report = json.loads(self.report("--json", *options).stdout)
            self.assertAlmostEqual(report["seconds"], seconds, 6, options)


class Observed(Case):
    """A session observes a group from and until the time that its events say."""

    @staticmethod
    def time_stamp_at(seconds):
        return {"time_stamp": etl.START_CLOCK + int(seconds * etl.PERF_FREQ)}

    def lock_event(self, seconds, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(spins=1, wait=100, **changes),
                            **self.time_stamp_at(seconds))

    def test_rates_are_of_the_time_in_which_the_group_was_observed(self):
        spin, mutex, nt = 0xA0000001, 0xA0000004, 0x20010000
        events = [(at, etl.observed_event(group, is_observed, **self.time_stamp_at(at)))
                  for at, group, is_observed in ((0, nt, 1), (1, spin, 1), (2, mutex, 1),
                                                 (8, mutex, 0), (9, spin, 0), (10, nt, 0))]
        # A hook writes records before all hooks are attached.
        for address, first, flags in (0x100, 1.2, 1), (0x200, .5, 1), (0x300, 1, 0x40):
            events += [(at, self.lock_event(at, address=address, flags=flags))
                       for at in (first, 2, 3, 4)]
        events += [(at, etl.linux_lock_event("mutex", wait=100, delta=0, **self.time_stamp_at(at)))
                   for at in (1.9, 3, 5, 8.5)]
        events.sort(key=lambda event: event[0])
        report = self.json_of(data=etl.file(
            etl.spinlock_rundown(1, 1, 1, 0, **self.time_stamp_at(0)), etl.ntklog_rundown(0),
            *(event for _, event in events),
            groups=(nt, spin, mutex)))
        rows = {row["lock"]: row for row in report["locks"]}
        self.assertAlmostEqual(rows["0x100"]["per_second"], 4 / 8)
        self.assertAlmostEqual(rows["0x100"]["waiting"], 4 * 100 / etl.PERF_FREQ / 8)
        self.assertEqual(rows["0x200"]["acquisitions"], 4)
        self.assertAlmostEqual(rows["0x200"]["per_second"], 3 / 8)
        self.assertAlmostEqual(rows["0x200"]["waiting"], 3 * 100 / etl.PERF_FREQ / 8)
        # No lock of Linux is ordinary.
        self.assertAlmostEqual(rows["0x300"]["per_second"], 4 / 10)
        self.assertAlmostEqual(report["resources"][0]["per_second"], 2 / 6)
        self.assertAlmostEqual(report["resources"][0]["waiting"], 2 * 100 / etl.PERF_FREQ / 6)
        self.assertEqual(report["resources"][0]["releases"], 4)
        self.assertEqual(report["observed"], {"spinlock": 10, "linux_spinlock": 8, "linux_mutex": 6})
        self.assertIn("observed for 10.000 s: spinlock; for 8.000 s: linux_spinlock; "
                      "for 6.000 s: linux_mutex; rates are of these times\n",
                      join_wrapped_lines(self.report().stdout))
        report = json.loads(self.report("--json", "--from", "1.5", "--to", "3.5").stdout)
        rows = {row["lock"]: row for row in report["locks"]}
        self.assertAlmostEqual(rows["0x100"]["per_second"], 2 / 2)

    def test_rate_counts_only_the_observed_times(self):
        report = self.json_of(etl.spinlock_rundown(1, 1, 1, 0), self.lock_event(2),
                              etl.observed_event(0xA0000002, 0, **self.time_stamp_at(3)),
                              etl.observed_event(0xA0000002, 1, **self.time_stamp_at(5)),
                              self.lock_event(6),
                              etl.observed_event(0xA0000002, 0, **self.time_stamp_at(7)),
                              self.lock_event(1),
                              etl.perfinfo(0x1234, b"", **self.time_stamp_at(10)))
        self.assertAlmostEqual(report["locks"][0]["per_second"], 3 / 5)

    def test_record_outside_the_observed_time_does_not_count_in_a_rate(self):
        spin, times = 0xA0000001, (0.5, 2, 3, 4.5, 6, 9.5)
        events = [etl.ntklog_rundown(0), etl.spinlock_rundown(1, 1, 1, 0)]
        # A suspend ends the observation, and the resume begins it anew.
        changes = {1: 1, 4: 0, 5: 1, 9: 0, 10: 0}
        for at in sorted((*times, *changes)):
            events.append(etl.observed_event(spin, changes[at], **self.time_stamp_at(at))
                          if at in changes else
                          self.lock_event(at, address=0x100, flags=1))
        for options in (), ("--by", "cpu"):
            self.write(etl.file(*events, groups=[spin]))
            (row,) = json.loads(self.report("--json", "--table", "locks", *options).stdout)["locks"]
            self.assertEqual((row["acquisitions"], row["sampled"]), (6, 6))
            self.assertAlmostEqual(row["wait_total_ns"], 600 * 1e9 / etl.PERF_FREQ)
            self.assertAlmostEqual(row["per_second"], 3 / 7)
            self.assertAlmostEqual(row["waiting"], 300 / etl.PERF_FREQ / 7)

    def test_group_whose_first_event_ends_it_was_observed_before(self):
        report = self.json_of(data=etl.file(
            etl.ntklog_rundown(0), etl.spinlock_rundown(1, 1, 1, 0), self.lock_event(1, flags=1),
            self.lock_event(2, flags=1), etl.observed_event(0xA0000001, 0, **self.time_stamp_at(4)),
            self.lock_event(5, flags=1), groups=[0xA0000001]))
        self.assertAlmostEqual(report["locks"][0]["per_second"], 2 / 4)

    def test_flight_recording_counts_observed_records_of_each_cpu(self):
        spin = 0xA0000001
        buffers = [etl.buffer([etl.ntklog_rundown(0, **self.time_stamp_at(95)),
                               *(self.lock_event(at, address=0x100, flags=1) for at in (95, 96))],
                              sequence=20),
                   etl.buffer([etl.observed_event(spin, 0, **self.time_stamp_at(97)),
                               self.lock_event(98, address=0x100, flags=1)], sequence=21),
                   etl.buffer([self.lock_event(at, address=0x100, flags=1) for at in (92, 97.5)],
                              processor=1, sequence=22)]
        data = bytearray(etl.header_buffer(1 + len(buffers), [spin],
                                           end_time=FlightRecordings.END) +
                         b"".join(buffers))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x400)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x114, 17)
        self.write(data)
        (row,) = json.loads(self.report("--json").stdout)["locks"]
        self.assertAlmostEqual(row["per_second"], 2 / 2 + 1 / 5)

    def test_without_such_events_rates_are_of_the_whole_time(self):
        report = self.json_of(etl.spinlock_rundown(1, 1, 1, 0), self.lock_event(4),
                              self.lock_event(10))
        self.assertAlmostEqual(report["locks"][0]["per_second"], .2)
        self.assertNotIn("observed", report)


class ChangedRates(Case):
    """At a change of rates a session writes the old rates and the new ones."""

    @staticmethod
    def time_stamp_at(seconds):
        return {"time_stamp": etl.START_CLOCK + int(seconds * etl.PERF_FREQ)}

    def spin_rates_event(self, seconds, hook_id, contention, acquire):
        return etl.perfinfo(hook_id, struct.pack("<IIII", 1, contention, acquire, 0), 3,
                            **self.time_stamp_at(seconds))

    def resource_rates_event(self, seconds, hook_id, release, contention):
        return etl.perfinfo(hook_id, struct.pack("<III", release, contention, 1),
                            **self.time_stamp_at(seconds))

    def file_with_changes(self):
        """The rates are 1 and 100 until 2 s, 50 and 1000 until 4 s, then 1 and 100 again."""
        def lock_events_at(seconds):
            return [etl.perfinfo(0x0529, etl.spin_lock(spins=spins, wait=10),
                                 **self.time_stamp_at(seconds))
                    for spins in (0, 3, 3)] + [etl.perfinfo(0x052B, etl.resource_data(
                        wait=0, delta=0), **self.time_stamp_at(seconds))]
        # The other CPU's records come first in the file; the changes are on the second CPU.
        return etl.header_buffer(3) + etl.buffer(
            lock_events_at(1) + lock_events_at(3) + lock_events_at(5)) + etl.buffer(
            [self.spin_rates_event(0, 0x0F4B, 1, 100),
             self.resource_rates_event(0, 0x0F4D, 10, 1)] + lock_events_at(1) +
            [self.spin_rates_event(2, 0x0F4C, 1, 100), self.spin_rates_event(2, 0x0F4B, 50, 1000),
             self.resource_rates_event(2, 0x0F4E, 10, 1),
             self.resource_rates_event(2, 0x0F4D, 200, 1)] +
            [self.spin_rates_event(4, 0x0F4C, 50, 1000), self.spin_rates_event(4, 0x0F4B, 1, 100),
             self.resource_rates_event(4, 0x0F4E, 200, 1),
             self.resource_rates_event(4, 0x0F4D, 10, 1)] +
            [self.spin_rates_event(6, 0x0F4C, 1, 100), self.resource_rates_event(6, 0x0F4E, 10, 1)],
            processor=1, sequence=2)

    def test_each_record_is_scaled_by_the_rates_of_its_time(self):
        report = self.json_of(data=self.file_with_changes())
        (row,) = report["locks"]
        # Both CPUs have records until 2 s, and one CPU in each later stretch.
        self.assertEqual(row["acquisitions"], 2 * (100 + 2) + (1000 + 100) + (100 + 2))
        self.assertAlmostEqual(row["wait_total_ns"], (4 + 100 + 2) * 10 * NS)
        self.assertEqual(report["resources"][0]["releases"], 2 * 10 + 200 + 10)
        self.assertTrue(report["rates_changed"])
        self.assertEqual(report["events_lost"], 0)
        self.assertEqual([(part["from"], part["rates"]["spinlock"]["acquire_sample_rate"])
                          for part in report["rates_by_time"] if "spinlock" in part["rates"]][-1],
                         (4, 100))
        text = join_wrapped_lines(self.report().stdout)
        for words in ("each record is scaled by those of its time", "from 2.000 s to 4.000 s:",
                      "1 in 50 acquisitions that waited", "of the others 1 in 200"):
            self.assertIn(words, text)

    def test_a_selection_does_not_hide_the_changes(self):
        self.write(self.file_with_changes())
        report = json.loads(self.report("--json", "--from", "2.5", "--to", "3.5").stdout)
        self.assertEqual(report["locks"][0]["acquisitions"], 1100)

    def file_of_seconds(self, *more):
        """Each second has a buffer; the rate changes in that of 3 s, and @more is in that of 4 s."""
        parts = [[etl.perfinfo(0x0529, etl.spin_lock(spins=0), **self.time_stamp_at(second + half))
                  for half in (0, .5)] for second in range(1, 10)]
        parts[0].insert(0, self.spin_rates_event(0, 0x0F4B, 1, 100))
        parts[2].insert(1, self.spin_rates_event(3.2, 0x0F4C, 1, 100))
        parts[2].insert(2, self.spin_rates_event(3.2, 0x0F4B, 1, 1000))
        parts[3][1:1] = more
        return etl.header_buffer(len(parts) + 1) + b"".join(
            etl.buffer(part, sequence=1 + number) for number, part in enumerate(parts))

    def test_buffers_outside_of_a_selection_are_skipped_without_a_trace(self):
        """Their changes and their damage are in the report, and the selected events too."""
        self.write(self.file_of_seconds())
        for begin, end, acquisitions in (("1.2", "2.2", 200), ("6", "7", 3000), ("6.1", "6.4", 0),
                                         ("8.9", "20", 2000), ("0", "1", 100)):
            report = json.loads(self.report("--json", "--from", begin, "--to", end).stdout)
            self.assertEqual(sum(row["acquisitions"] for row in report["locks"]), acquisitions)
            self.assertEqual(report["damaged_buffers"], 0)
            self.assertTrue(report["rates_changed"])
        odd = etl.perfinfo(0x0529, etl.spin_lock() + b"x", **self.time_stamp_at(4.2))
        for damage in odd[:2] + b"\0" + odd[3:], odd + b"\0" * 7:
            self.write(self.file_of_seconds(damage))
            report = json.loads(self.report("--json", "--from", "7", "--to", "8",
                                            status=damage[2] == 0).stdout)
            self.assertEqual(report["locks"][0]["acquisitions"], 3000)
            self.assertEqual(report["damaged_buffers"], int(damage[2] == 0))

    def test_selection_ends_before_skipped_events_though_the_last_buffer_is_damaged(self):
        self.write(self.file_of_seconds() + etl.buffer([b"\0" * 16], sequence=10))
        report = json.loads(self.report("--json", "--from", "6", "--to", "6.9", status=1).stdout)
        self.assertAlmostEqual(report["seconds"], 0.9, 2)

    def test_damage_is_counted_once(self):
        data = bytearray(self.file_with_changes())
        data[2 * etl.SIZE + 0x48 + 2] = 0
        self.write(self.file_with_changes() +
                   etl.buffer([etl.perfinfo(0x0529, b"x" * 3)], sequence=3))
        once = self.report("--json", status=1)
        self.assertEqual(json.loads(once.stdout)["damaged_events"], 1)

    def test_a_pipe_says_that_it_cannot_be_read_again(self):
        result = subprocess.run([NTKLOG, "report", "-"], input=self.file_with_changes(),
                                capture_output=True,
                                check=True)
        self.assertIn(b"a pipe cannot be read again", result.stdout)

    def test_the_old_rates_at_the_change_are_those_before_it(self):
        """In a flight recording without its start the first rundown is that of a change."""
        report = self.json_of(
            etl.perfinfo(0x0529, etl.spin_lock(spins=0), **self.time_stamp_at(1)),
            self.spin_rates_event(2, 0x0F4C, 1, 100), self.spin_rates_event(2, 0x0F4B, 1, 1000),
            etl.perfinfo(0x0529, etl.spin_lock(spins=0), **self.time_stamp_at(3)))
        self.assertEqual(report["locks"][0]["acquisitions"], 100 + 1000)


if __name__ == "__main__":
    tap.main()
