#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report, from the outside: what it says of which file.

Usage: test_report.py NTKLOG
"""

import csv
import fcntl
import html.parser
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios

import etl_writer as etl
import tap
import tool
from tool import NTKLOG, run

# Of a cycle: the files' clock is that of the cycles, and PerfFreq is its frequency.
NS = 1e9 / etl.PERF_FREQ


class Case(tool.Case):
    def report(self, *options, status=0):
        result = run("report", *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def json(self, *events, options=("--columns", "all"), data=None):
        self.write(data or etl.file(*events))
        return json.loads(self.report("--json", *options).stdout)


def lock(spins=0, hold=100, wait=10, **changes):
    return etl.perfinfo(0x0529, etl.spin_lock(spins=spins, acquire=1000, release=1000 + hold,
                                              wait=wait, **changes))


class SpinLocks(Case):
    def test_rates_have_decimals(self):
        """As in CSV: three in four seconds are not none in a second."""
        (row,) = self.json(etl.spinlock_rundown(1, 1, 1, 0), lock(), lock(), etl.perfinfo(
            0x0529, etl.spin_lock(spins=0), time_stamp=etl.START_CLOCK + 4 * etl.PERF_FREQ))["locks"]
        self.assertEqual((row["acquisitions"], row["per_second"]), (3, .75))

    def test_records_stand_for_what_was_not_written(self):
        """3 contended (1 in 10), 2 that did not wait (1 in 2000), 1 held for long (each)."""
        report = self.json(etl.spinlock_rundown(2, 10, 2000, 1000000),
                           lock(5), lock(5), lock(2), lock(), lock(), lock(hold=1000001))
        self.assertEqual(report["rates"]["spinlock"], {
            "spin_threshold": 2, "contention_sample_rate": 10,
            "acquire_sample_rate": 2000, "hold_threshold": 1000000})
        (row,) = report["locks"]
        self.assertEqual(row["sampled"], 6)
        self.assertEqual(row["acquisitions"], 30 + 4000 + 1)
        self.assertAlmostEqual(row["contended"], 30 / 4031)
        self.assertEqual(row["spins"], 10 * (5 + 5 + 2))
        # Of one second.
        self.assertEqual(row["per_second"], row["acquisitions"])
        self.assertAlmostEqual(row["waiting"], 3 * 10 * 10 / etl.PERF_FREQ)
        self.assertAlmostEqual(row["wait_total_ns"], 3 * 10 * 10 * NS)
        self.assertAlmostEqual(row["hold_total_ns"],
                               (30 * 100 + 4000 * 100 + 1000001) * NS)

    def test_those_chosen_when_they_were_acquired_have_no_hold_threshold(self):
        """One stands for as many as the rate says however long it was held; NT's beside it not."""
        report = self.json(etl.spinlock_rundown(1, 10, 2000, 1000000), etl.ntklog_rundown(1),
                           lock(rule=1, hold=1000001, depth=0), lock(5, rule=1, hold=1000001, depth=0),
                           lock(hold=1000001, address=0xFFFF888000000000))
        self.assertEqual(report["rates"]["linux"], {"mode": "sampled"})
        rows = {row["lock"]: row for row in report["locks"]}
        row = rows["0xffff888012345678"]
        self.assertEqual(row["acquisitions"], 2000 + 10)
        self.assertAlmostEqual(row["hold_total_ns"], 2010 * 1000001 * NS)
        self.assertIsNone(row["depth"])
        self.assertEqual(rows["0xffff888000000000"]["acquisitions"], 1)
        self.assertIn('mode "sampled"', self.report().stdout)

    def test_what_a_strangers_byte_says_is_no_rule(self):
        """It is reserved in NT's record: only files with our rundown have a rule there."""
        report = self.json(etl.spinlock_rundown(1, 10, 2000, 1000000),
                           lock(rule=1, hold=1000001), lock(rule=2))
        self.assertEqual(report["locks"][0]["acquisitions"], 2001)
        self.assertIsNotNone(report["locks"][0]["hold_total_ns"])
        self.assertNotIn("linux", report["rates"])

    def test_waits_alone_have_no_holds_and_no_count_of_all(self):
        report = self.json(etl.spinlock_rundown(1, 10, 2000, 1000000), etl.ntklog_rundown(2),
                           lock(5, rule=2, hold=0, depth=0), lock(7, rule=2, hold=0, depth=0))
        row = report["locks"][0]
        self.assertEqual(row["spins"], 120)
        self.assertAlmostEqual(row["wait_total_ns"], 2 * 10 * 10 * NS)
        for column in ("acquisitions", "per_second", "contended", "hold_total_ns", "hold_mean_ns",
                       "hold_p95_ns", "hold_max_ns", "depth", "interrupted"):
            self.assertIsNone(row[column], column)
        self.assertIn('mode "waits"', self.report().stdout)
        info = run("info", self.path)
        self.assertRegex(info.stdout, r"(?m)^ +linux *\n +mode +waits$")

    def test_waits_mode_says_what_is_never_seen(self):
        """On two CPUs nobody queues; and the rules of NT's locks are not those of Linux'."""
        def file(group, rate, cpus):
            data = bytearray(etl.header_buffer(2))
            struct.pack_into("<I", data, 0x48 + 0x20 + 0x0C, cpus)
            mask = [0] * 8
            mask[group >> 29] = group & 0x1FFFFFFF
            struct.pack_into("<8I", data, at, *mask)
            self.write(data + etl.buffer([etl.spinlock_rundown(1, rate, 1000, 0),
                                          etl.ntklog_rundown(2), lock(5, rule=2, hold=0, depth=0)]))
            return self.report().stdout
        at = etl.header_buffer(2).index(struct.pack("<BBHH", 2, 0xC0, 0x44, 0x05)) + 0x20 - 2
        for rate, words in (1, "all were written"), (10, "1 in 10 was written"):
            text = file(0xA0000001, rate, 4)
            self.assertNotIn("acquisitions that waited", text)
            self.assertIn("of the waits in a queue " + words, text)
            self.assertIn("only two CPUs use is never seen\n", text)
            self.assertIn("NT's spin locks: ", file(0x20010000, rate, 4))
        self.assertIn("that is every spin lock", file(0xA0000001, 1, 2))

    def test_records_of_blockers_are_in_no_estimate(self):
        other = {"address": 0xFFFF888000000000, "caller": 0xFFFFFFFF80000000}
        events = (etl.spinlock_rundown(1, 1, 1000, 1000000), etl.ntklog_rundown(blockers=10),
                  lock(hold=100), lock(hold=200, rule=4), lock(hold=300, rule=12),
                  lock(5, hold=400, rule=12), lock(hold=5000, rule=12, **other))
        report = self.json(*events)
        self.assertEqual(report["rates"]["blockers"], 10)
        for table in "locks", "callers":
            (row,) = report[table]
            self.assertEqual((row["sampled"], row["acquisitions"], row["contended"]), (2, 2000, 0))
            self.assertAlmostEqual(row["hold_total_ns"], 1000 * (100 + 200) * NS)
        text = self.report().stdout
        self.assertIn("blockers: 1 in 10 releases that left a waiter behind was written", text)
        only = self.json(*events, options=("--filter", "Rule == blocker"))
        self.assertEqual((only["events"], only["locks"]), (3, []))

    def test_blockers_are_of_nts_locks_alone_but_in_full(self):
        linux = "of Linux' locks there are none in this mode"
        for mode, name in (1, "sampled"), (2, "waits"):
            for rate, words in ((10, "1 in 10 releases of NT's queued locks that left a waiter behind was"),
                                (1, "all releases of NT's queued locks that left a waiter behind were")):
                report = self.json(etl.spinlock_rundown(), etl.ntklog_rundown(mode, blockers=rate))
                self.assertEqual((report["rates"]["linux"], report["rates"]["blockers"]),
                                 ({"mode": name, "blockers": 0}, rate))
                text = self.report().stdout
                self.assertIn("blockers: " + words, text)
                self.assertIn(linux, text)
                self.assertRegex(run("info", self.path).stdout,
                                 r"(?m)^ +linux *\n +mode +%s\n +blockers +0\n +blockers +%d$" %
                                 (name, rate))
        self.assertEqual(self.json(etl.ntklog_rundown(blockers=1))["rates"]["linux"],
                         {"mode": "full"})
        self.assertNotIn(linux, self.report().stdout)

    def test_interrupted_holds_are_told_apart(self):
        report = self.json(etl.spinlock_rundown(1, 1, 1000, 1000000),
                           lock(interrupts=0, hold=100), lock(interrupts=0, hold=200),
                           lock(interrupts=3, hold=1000), lock(5, interrupts=1, hold=9000))
        row = report["locks"][0]
        self.assertAlmostEqual(row["interrupted"], 1001 / 3001)
        self.assertAlmostEqual(row["interrupted_mean_ns"], (1000 * 1000 + 9000) / 1001 * NS)
        self.assertAlmostEqual(row["interrupted_max_ns"], 9000 * NS)
        self.assertAlmostEqual(row["undisturbed_mean_ns"], 150 * NS)

    def test_without_interrupts_nothing_is_said_of_them(self):
        row = self.json(etl.spinlock_rundown(), lock(interrupts=0))["locks"][0]
        self.assertEqual(row["interrupted"], 0)
        self.assertIsNone(row["interrupted_mean_ns"])
        self.assertAlmostEqual(row["undisturbed_mean_ns"], 100 * NS)

    def test_few_spins_are_not_sampled_by_contention(self):
        """Written for its hold time alone, it stands for itself."""
        report = self.json(etl.spinlock_rundown(5, 10, 2000, 1000000),
                           lock(4, hold=1000001))
        self.assertEqual(report["locks"][0]["acquisitions"], 1)

    def test_without_rates_what_was_written_counts(self):
        report = self.json(lock(5), lock())
        self.assertEqual(report["rates"], {})
        self.assertEqual(report["locks"][0]["acquisitions"], 2)
        # One in 1000 or so beside each one: no share of anything.
        self.assertIsNone(report["locks"][0]["contended"])
        self.assertRegex(self.report("--table", "locks").stdout,
                         r"0xffff888012345678 +2 +2 +- ")
        self.assertIn("spin locks: the file does not say how they were sampled", self.report().stdout)

    def test_nothing_is_estimated_where_all_is_written(self):
        self.json(etl.spinlock_rundown(1, 1, 1, 1000000), lock(5), lock())
        self.assertRegex(self.report("--table", "locks").stdout,
                         r"0xffff888012345678 +2 +2 +")

    def test_rates_that_come_late_in_the_file(self):
        """cat header cpu0 cpu1: the rundown is in the first buffer of processor 1."""
        data = etl.header_buffer(4) + etl.buffer([lock()]) + \
            etl.buffer([lock()], sequence=3) + \
            etl.buffer([etl.spinlock_rundown(acquire=3000)], processor=1, sequence=2)
        self.assertEqual(self.json(data=data)["locks"][0]["acquisitions"], 6000)

    def test_rules_at_the_end_alone(self):
        """Though the rates are known at the start: of a flight recording whose start is gone."""
        data = etl.header_buffer(5) + \
            etl.buffer([etl.spinlock_rundown(), etl.resource_rundown(), lock(rule=12)]) + \
            etl.buffer([lock(rule=12)], sequence=2) + etl.buffer([lock(rule=12)], sequence=3) + \
            etl.buffer([etl.ntklog_rundown(blockers=10, end=True)], sequence=4)
        report = self.json(data=data)
        self.assertEqual(report["locks"], [])
        self.assertEqual(report["rates"]["linux"]["mode"], "full")
        # Of a stream more is read for it.
        result = subprocess.run([NTKLOG, "report", "--json", "-"], input=data, capture_output=True,
                                check=True)
        self.assertEqual(json.loads(result.stdout)["locks"], [])

    def test_rates_at_the_end_alone(self):
        """As xperf has them: in a rundown at the stop."""
        data = etl.header_buffer(5) + etl.buffer([lock()]) + \
            etl.buffer([lock()], sequence=2) + etl.buffer([lock()], sequence=3) + \
            etl.buffer([lock(), etl.spinlock_rundown(acquire=3000, end=True)], sequence=4)
        report = self.json(data=data)
        self.assertEqual(report["locks"][0]["acquisitions"], 12000)
        self.assertFalse(report["rates_changed"])

    def test_rates_that_changed_are_told(self):
        report = self.json(etl.spinlock_rundown(), lock(),
                           etl.spinlock_rundown(acquire=5000, end=True))
        self.assertTrue(report["rates_changed"])
        self.assertIn("rates were changed", self.report().stdout)

    def test_rates_of_zero_are_no_rates(self):
        report = self.json(etl.spinlock_rundown(acquire=0), lock())
        self.assertEqual(report["rates"], {})
        self.assertEqual(report["locks"][0]["acquisitions"], 1)

    def test_rates_in_words(self):
        self.write(etl.file(etl.spinlock_rundown(), lock(5)))
        self.assertIn("spin locks: all acquisitions that waited were written; of those that "
                      "did not wait 1 in 1000\n", self.report().stdout)
        self.write(etl.file(etl.spinlock_rundown(2, 10, 2000, 1000000), lock(5)))
        self.assertIn("spin locks: 1 in 10 acquisitions that waited 2 spins or more was "
                      "written; of those that did not wait 1 in 2000; and all held for more "
                      "than 500ms (1000000 cycles)", self.report().stdout)

    def test_times(self):
        """1 to 1000 cycles; percentiles are within 3 percent."""
        data = etl.header_buffer(26)
        for i in range(25):
            data += etl.buffer([lock(1, hold=i * 40 + j + 1, wait=2 * (i * 40 + j + 1))
                                for j in range(40)], sequence=i + 1)
        row = self.json(data=data)["locks"][0]
        self.assertAlmostEqual(row["hold_mean_ns"], 500.5 * NS)
        self.assertEqual(row["hold_max_ns"], 1000 * NS)
        self.assertEqual(row["wait_max_ns"], 2000 * NS)
        for percent in (50, 95, 99):
            self.assertAlmostEqual(row["hold_p%d_ns" % percent] / (percent * 10 * NS), 1,
                                   delta=.035)
            self.assertAlmostEqual(row["wait_p%d_ns" % percent] / (percent * 20 * NS), 1,
                                   delta=.035)

    def test_waits_are_of_the_contended(self):
        row = self.json(lock(0, wait=7), lock(1, wait=100))["locks"][0]
        self.assertAlmostEqual(row["wait_mean_ns"], 100 * NS)

    def test_contexts_depths_and_modes(self):
        row = self.json(lock(depth=2, flags=0x40), lock(depth=3, flags=0x81),
                        lock(depth=1, flags=1), lock(depth=1, flags=4))["locks"][0]
        self.assertEqual((row["dpc"], row["isr"], row["depth"]), (.25, .25, 3))
        self.assertEqual(row["mode"], "ordinary+queued+converted")

    def test_callers_of_a_lock(self):
        report = self.json(lock(caller=0x1000), lock(caller=0x2000), lock(caller=0x2000),
                           lock(caller=0x2000, address=0x10))
        self.assertEqual({(row["caller"], row["lock"], row["sampled"])
                          for row in report["callers"]},
                         {("0x1000", "0xffff888012345678", 1),
                          ("0x2000", "0xffff888012345678", 2), ("0x2000", "0x10", 1)})
        self.assertEqual(sorted(row["sampled"] for row in report["locks"]), [1, 3])

    def test_more_pairs_than_are_told_apart(self):
        data = etl.header_buffer(421)
        for i in range(420):
            data += etl.buffer([lock(caller=0x100000 + i * 40 + j) for j in range(40)],
                               sequence=i + 1)
        self.write(data)
        report = json.loads(self.report("--json", "--top", "0").stdout)
        self.assertEqual(len(report["callers"]), 16384 + 1)
        self.assertEqual(sum(row["sampled"] for row in report["callers"]), 16800)
        others = [row for row in report["locks"] if row["lock"] == "(others)"]
        self.assertEqual(others[0]["sampled"], 16800 - 16384)

    def test_a_hot_lock_that_comes_late_is_named(self):
        """After 16400 others it has all waits; and one that had waited before is kept."""
        def buffers():
            yield [etl.spinlock_rundown(1, 1, 1, 0), lock(5, address=0x50, wait=1000)]
            for i in range(410):
                yield [lock(address=0x100000 + 64 * (40 * i + j), hold=50) for j in range(40)]
            for i in range(5):
                yield [lock(5, address=0x40, wait=100)] * 20 + [
                    lock(address=0x900000 + 64 * (20 * i + j), hold=50) for j in range(20)]
        parts = list(buffers())
        self.write(etl.header_buffer(1 + len(parts)) + b"".join(
            etl.buffer(part, sequence=1 + i) for i, part in enumerate(parts)))
        report = json.loads(self.report("--json", "--table", "locks").stdout)
        rows = report["locks"]
        self.assertEqual([row["lock"] for row in rows[:2]], ["0x40", "0x50"])
        self.assertEqual((rows[0]["sampled"], rows[0]["wait_max_ns"]), (100, 100 * NS))
        self.assertEqual(len(rows), 16384 + 1)
        self.assertEqual(sum(row["sampled"] for row in rows), 1 + 16400 + 200)
        self.assertIn("a row lacks at most 0ns of its wait", self.report().stdout)
        self.assertGreater(self.report("--html", "-").stdout.count('<span class="name">0x40<'), 0)

    def test_32_bits(self):
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(32), bits=32), bits=32))
        row = json.loads(self.report("--json").stdout)["locks"][0]
        self.assertEqual((row["lock"], row["sampled"]), ("0x12345678", 1))

    def test_released_before_acquired(self):
        self.write(etl.file(lock(hold=-5)))
        self.assertEqual(json.loads(self.report("--json").stdout)["locks"][0]["hold_max_ns"], 0)
        self.assertIn("1 acquisitions end before they begin", self.report().stdout)


class Resources(Case):
    def event(self, **changes):
        return etl.perfinfo(0x052B, etl.resource(**changes))

    def test_classes(self):
        report = self.json(etl.resource_rundown(100, 4),
                           self.event(wait=0, delta=0, hold=50),
                           self.event(wait=500, delta=0, hold=0),
                           self.event(wait=1, delta=3, hold=70),
                           self.event(action=0x10042, wait=0, delta=0, hold=10, depth=3),
                           self.event(action=0x10224), self.event(action=0x10244),
                           self.event(action=0x10244), self.event(action=0x10008))
        rows = {row["class"]: row for row in report["resources"]}
        exclusive, shared = rows["exclusive"], rows["shared"]
        self.assertEqual((exclusive["sampled"], shared["sampled"]), (3, 1))
        # It did not wait, nor is its contention a multiple of 4: 1 in 100.
        self.assertEqual((exclusive["releases"], shared["releases"]), (204, 100))
        self.assertAlmostEqual(exclusive["waited"], 4 / 204)
        self.assertEqual((exclusive["contention"], shared["contention"]), (3, 0))
        self.assertEqual((exclusive["excessive"], shared["excessive"]), (1, 2))
        self.assertAlmostEqual(exclusive["wait_max_ns"], 500 * NS)
        self.assertAlmostEqual(exclusive["hold_max_ns"], 70 * NS)
        self.assertEqual((shared["depth"], shared["initialized"]), (3, 1))


    def test_weights_follow_the_rules_of_the_sampling(self):
        """What is written in any case stands for itself; two rules write more than one."""
        for release, contention, changes, weight in (
                (100, 4, {"wait": 0, "delta": 4}, 1), (100, 4, {"wait": 0, "delta": 5}, 100),
                (100, 4, {"wait": 500, "delta": 8}, 1), (100, 4, {"wait": 500, "delta": 9}, 4),
                (100, 4, {"wait": 1, "delta": 0}, 100), (1000, 1, {"wait": 0, "delta": 7}, 1),
                (1000, 1, {"wait": 2, "delta": 0}, 1), (2, 3, {"wait": 500, "delta": 0}, 1.5),
                (4, 6, {"wait": 500, "delta": 0}, 3), (3, 7, {"wait": 9, "delta": 1}, 21 / 9)):
            report = self.json(etl.resource_rundown(release, contention),
                               *[self.event(**changes)] * 6)
            row = report["resources"][0]
            self.assertEqual(row["releases"], 6 * weight, (release, contention, changes))
            if changes["wait"] > 1:
                self.assertAlmostEqual(row["wait_total_ns"], 6 * weight * changes["wait"] * NS)

    def test_a_release_is_estimated_as_often_as_it_was(self):
        """100000 releases, of which some waited, sampled as NT does."""
        seed, events, waited = 1, [], 0
        for number in range(1, 100001):
            seed = seed * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
            wait = 500 if seed >> 33 & 1 else 0
            delta = (seed >> 40) % 11 if seed >> 34 & 1 else 0
            waited += wait > 0
            if wait and number % 7 == 0 or delta and delta % 7 == 0 or number % 50 == 0:
                events.append(self.event(wait=wait, delta=delta))
        data = etl.header_buffer(2 + len(events) // 40)
        for i in range(0, len(events), 40):
            data += etl.buffer([etl.resource_rundown(50, 7)] * (i == 0) + events[i:i + 40],
                               sequence=1 + i // 40)
        (row,) = self.json(data=data)["resources"]
        self.assertAlmostEqual(row["releases"] / 100000, 1, delta=.05)
        self.assertAlmostEqual(row["waited"] * row["releases"] / waited, 1, delta=.05)

    def test_rates_in_words(self):
        self.write(etl.file(etl.resource_rundown(), self.event()))
        self.assertIn("resources: all releases after a wait, and all that others waited for, "
                      "were written; of the others 1 in 1000", self.report().stdout)
        self.write(etl.file(etl.resource_rundown(1, 4), self.event()))
        self.assertIn("resources: all releases were written", self.report().stdout)
        self.write(etl.file(etl.resource_rundown(50, 4), self.event()))
        self.assertIn("resources: 1 in 4 releases after a wait, and all that a multiple of 4 "
                      "waited for, were written; of the others 1 in 50", self.report().stdout)


class LinuxLocks(Case):
    """Linux' own locks that sleep, in records of resources."""

    def test_each_kind_is_one_of_its_own(self):
        """At one address too: memory is used again. Estimates are as of NT's."""
        kinds = list(etl.LINUX_KINDS)
        report = self.json(etl.resource_rundown(100, 4), etl.perfinfo(0x052B, etl.resource()),
                           *(etl.linux_lock(kind, wait=0, delta=0, hold=10 * (1 + i))
                             for i, kind in enumerate(kinds)),
                           etl.linux_lock("mutex", wait=500, delta=0, hold=10),
                           etl.linux_lock("mutex", wait=500, delta=8, hold=10),
                           etl.linux_lock("rwsem", 0x42, wait=0, delta=3),
                           etl.linux_lock("rwsem", 0x244), etl.linux_lock("rwsem", 0x224),
                           etl.linux_lock("rwsem", 0x224))
        rows = {(row["kind"], row["class"]): row for row in report["resources"]}
        self.assertEqual({key: (row["sampled"], row["releases"], row["excessive"], row["depth"])
                          for key, row in rows.items()},
                         {("resource", "exclusive"): (1, 4, 0, 44),
                          ("mutex", "exclusive"): (3, 100 + 4 + 1, 0, 1),
                          ("rwsem", "exclusive"): (1, 100, 2, 1), ("rwsem", "shared"): (1, 100, 1, 1),
                          **{(kind, "exclusive"): (1, 100, 0, 1) for kind in kinds[2:]}})
        self.assertEqual({row["resource"] for row in rows.values()}, {"0xffff888012345678"})
        self.assertAlmostEqual(rows["mutex", "exclusive"]["waited"], 5 / 105)
        self.assertAlmostEqual(rows["mutex", "exclusive"]["wait_total_ns"], 5 * 500 * NS)
        self.assertAlmostEqual(rows["ww_mutex", "exclusive"]["hold_total_ns"], 100 * 60 * NS)
        self.assertEqual(report["unknown"], [])

    def test_records_of_32_bits(self):
        report = self.json(data=etl.file(etl.linux_lock("semaphore", bits=32), bits=32))
        self.assertEqual([(row["resource"], row["kind"]) for row in report["resources"]],
                         [("0x12345678", "semaphore")])

    def test_a_hold_without_a_begin_is_counted_and_marked(self):
        report = self.json(etl.resource_rundown(100, 4), *[etl.linux_lock(
            "mutex", wait=0, delta=0, hold=hold) for hold in (0, 50, 70)])
        (row,) = report["resources"]
        self.assertEqual((row["releases"], row["hold_unknown"]), (300, 100))
        self.assertAlmostEqual(row["hold_total_ns"], 100 * (50 + 70) * NS)
        text = self.report().stdout
        self.assertIn('">": the hold of 100 releases is not known', text)
        self.assertIn("  >6.00ms", text)
        self.json(etl.resource_rundown(100, 4), etl.linux_lock("mutex", wait=0, delta=0, hold=50))
        self.assertNotIn(">", self.report().stdout)

    def test_kinds_are_a_column_where_there_are_others_than_nts(self):
        nt = etl.perfinfo(0x052B, etl.resource())
        mutex = etl.linux_lock("mutex")
        for events, columns, title, words in (
                ((nt,), ["resource", "class"], "Executive resources, by", "resources: the file"),
                ((mutex,), ["resource", "kind", "class"], "Linux' locks that sleep, by",
                 "Linux' locks that sleep: the file"),
                ((nt, mutex), ["resource", "kind", "class"],
                 "Executive resources and Linux' locks that sleep, by",
                 "resources and Linux' locks that sleep: the file")):
            self.write(etl.file(*events))
            text = self.report().stdout
            self.assertIn("\n" + title, text)
            self.assertIn("\n" + words, text)
            heading = text.split("\n" + title)[1].splitlines()[1].split()
            self.assertEqual(heading[:len(columns)], columns)
        rows = json.loads(self.report("--json").stdout)["resources"]
        self.assertEqual({row["kind"] for row in rows}, {"resource", "mutex"})
        # It can be asked for of any file.
        self.write(etl.file(nt))
        (row,) = json.loads(self.report("--json", "--columns", "kind", "--table", "resources")
                            .stdout)["resources"]
        self.assertEqual(row, {"kind": "resource"})

    def test_what_is_not_known_is_a_number_and_counted(self):
        report = self.json(etl.linux_lock("mutex"),
                           *2 * [etl.perfinfo(0x052B, etl.resource(action=0x80990022))],
                           etl.perfinfo(0x052B, etl.resource(action=0x00020042)),
                           # NT's alone are initialised.
                           etl.linux_lock("rwsem", 0x08))
        self.assertEqual([(row["kind"], row["sampled"]) for row in report["resources"]],
                         [("mutex", 1)])
        self.assertEqual({row["event"]: row["count"] for row in report["unknown"]},
                         {"Resource, class 0x80990000": 2, "Resource, class 0x00020000": 1,
                          "Resource, class 0x80020000": 1})
        self.assertEqual(report["events"], 5)

    def test_more_than_are_told_apart(self):
        """All others are one of each kind."""
        data = etl.header_buffer(413)
        for i in range(411):
            data += etl.buffer([etl.linux_lock("mutex", address=0x100 * (i * 40 + j))
                                for j in range(40)], sequence=i + 1)
        data += etl.buffer([etl.linux_lock("rwsem", address=1),
                            etl.perfinfo(0x052B, etl.resource(address=2))], sequence=412)
        self.write(data)
        rows = json.loads(self.report("--json").stdout)["resources"]
        self.assertEqual({row["kind"]: row["sampled"] for row in rows
                          if row["resource"] == "(others)"},
                         {"mutex": 411 * 40 - 16384, "rwsem": 1, "resource": 1})

    def test_a_stream_is_as_its_file(self):
        data = etl.header_buffer(3) + etl.buffer([etl.resource_rundown(50, 4)]) + \
            etl.buffer([etl.linux_lock("rwsem", 0x42), etl.linux_lock("mutex"),
                        etl.perfinfo(0x052B, etl.resource())], processor=1, sequence=2)
        self.write(data)
        result = subprocess.run([NTKLOG, "report", "--json", "-"], input=data, capture_output=True,
                                check=True)
        self.assertEqual(result.stdout.decode(), self.report("--json").stdout)
        self.assertEqual(len(json.loads(result.stdout)["resources"]), 3)

    def test_what_is_selected_by_kind(self):
        events = [etl.linux_lock(kind) for kind in etl.LINUX_KINDS]
        report = self.json(*events, etl.perfinfo(0x052B, etl.resource()),
                           options=("--filter", "kind == rt_mutex || kind == resource"))
        self.assertEqual({row["kind"] for row in report["resources"]}, {"rt_mutex", "resource"})

    def test_pictures_name_the_kind(self):
        for events, title, label, caption in (
                ([etl.linux_lock("percpu_rwsem"), etl.perfinfo(0x052B, etl.resource())],
                 "resources and Linux' locks that sleep", " percpu_rwsem", " percpu_rwsem exclusive"),
                ([etl.linux_lock("mutex")], "Linux' locks that sleep", " mutex", " mutex exclusive"),
                ([etl.perfinfo(0x052B, etl.resource())], "resources", "", " exclusive")):
            self.write(etl.file(*events))
            text = self.report("--html", "-").stdout
            self.assertIn("<h2>When %s were waited for</h2>" % title, text)
            self.assertIn("<h2>How long %s are waited for and held</h2>" % title, text)
            self.assertIn('<span class="name">0xffff888012345678%s</span>' % label, text.replace("<wbr>", ""))
            self.assertIn('<figcaption class="name">0xffff888012345678%s</figcaption>' % caption,
                          text)


class Unchanged(Case):
    """Files of Windows: each byte of what is said of NT's resources alone."""

    NAME = "0xffff888012345678"

    def setUp(self):
        super().setUp()
        self.write(etl.file(etl.resource_rundown(50, 4), *(etl.perfinfo(0x052B, event) for event in (
            etl.resource(wait=500, delta=1), etl.resource(address=0x40, action=0x10042, wait=0,
                                                          delta=0, depth=1),
            etl.resource(action=0x10244), etl.resource(action=0x10099),
            etl.resource(action=0x10008)))))

    def test_text(self):
        self.assertEqual(self.report().stdout, """\
Tasks waited about 750us for locks in 1.000 s of 2 CPUs: 3 waits.
  100%  unknown: no record says who held the lock
1. 0xffff888012345678: 750us (100%) in 3 waits
   Longest 250us at -0.500s; waited: task 55 100%
   Held 0%; unknown 100%
More: ntklog report --table blockers """ + self.path + """
Not recorded: why holders were slow (-e contextswap), and where (--stacks).

6 events in 1.000 s of 2 processors, from 2019-04-17 18:40:00 UTC on
resources: 1 in 4 releases after a wait, and all that a multiple of 4 waited for, were written; \
of the others 1 in 50
"~": an estimate of what happened, from these rates; times and shares are scaled in the same way
"+-23%": the standard error of an estimate, where it is above 10%; "+-?": no record tells how \
large it is

Executive resources, by wait_total
resource            class      sampled  released  waited  contention  excessive \
     wait  wait mean  wait p95  wait max       hold  hold mean  hold p95  hold max  recursion
0xffff888012345678  exclusive        1   ~3+-82%  100.0%           1          0  750us+-?\
      250us     250us     250us   303us+-?      101us     101us     101us         44
0xffff888012345678  shared           0     ~0+-?    0.0%           0          1 \
   0ns+-?        0ns       0ns       0ns     0ns+-?        0ns       0ns       0ns          0
0x40                shared           1  ~50+-99%    0.0%           0          0 \
   0ns+-?        0ns       0ns       0ns  5.05ms+-?      101us     101us     101us          1

Who held the lock: 750us of waiting = 0ns held + 0ns free + 750us unknown, by charged_total
lock                waiter   holder     charged   share  charged max
0xffff888012345678  task 55  (unknown)    750us  100.0%        250us
""")

    HEADING = ("table,resource,locks,kind,class,sampled,releases,releases_error,per_second,waited,"
               "contention,excessive,waiting,wait_total_ns,wait_total_error,wait_mean_ns,wait_p50_ns,"
               "wait_p95_ns,wait_p99_ns,wait_max_ns,hold_total_ns,hold_total_error,hold_mean_ns,"
               "hold_p50_ns,hold_p95_ns,hold_p99_ns,hold_max_ns,hold_unknown,depth,initialized")

    def test_csv(self):
        self.assertEqual(self.report("--csv").stdout, self.HEADING + """
resources,0xffff888012345678,1,resource,exclusive,1,3,0.816496580927726,3,1,1,0,0.00075,750000,\
,250000,250000,250000,250000,250000,303000,,101000,101000,101000,\
101000,101000,0,44,1
resources,0xffff888012345678,1,resource,shared,0,0,,0,0,0,1,0,0,,0,0,0,0,0,0,,0,0,0,0,0,0,0,1
resources,0x40,1,resource,shared,1,50,0.989949493661167,50,0,0,0,0,0,,0,0,0,0,0,5050000,\
,101000,101000,101000,101000,101000,0,1,0
table,lock,waiter,holder,pieces,charged_total_ns,charged_share,charged_max_ns
blockers,0xffff888012345678,task 55,(unknown),3,750000,1,250000
""")

    def test_json(self):
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(list(report["resources"][0]), self.HEADING.split(",")[1:])
        self.assertEqual(report["unknown"], [])

    def test_dump(self):
        lines = run("dump", self.path).stdout.splitlines()[4:]
        self.assertEqual(lines, [
            "   1.000000000 cpu0 Resource AcquireTime=1001 HoldTime=202 WaitTime=%d "
            "MaxRecursionDepth=%d ThreadId=55 Resource=%s Action=%s ContentionDelta=%d" % values
            for values in ((500, 44, self.NAME, "release_exclusive", 1),
                           (0, 1, "0x40", "release_shared", 0),
                           (303, 44, self.NAME, "wait_excessive_for_shared", 66),
                           (303, 44, self.NAME, "65689", 66),
                           (303, 44, self.NAME, "initialize", 66))])

    def test_conversion(self):
        trace = run("convert", "--perfetto", "-", self.path).stdout
        self.assertIn('"args":{"class":"exclusive"}}', trace)
        self.assertIn('"args":{"class":"exclusive","contention":1}}', trace)
        self.assertIn('"args":{"class":"shared","contention":0}}', trace)


class Errors(Case):
    """The standard error of an estimate: the root of the sum of w * (w - 1), by the sum of w."""

    HEAVY = 1000 * 999

    def text_row(self, *options):
        return self.report(*options).stdout.splitlines()[-1].split()

    def test_follows_the_heaviest_records(self):
        """79 that were all written do not make 21 that stand for 1000 each more certain."""
        data = etl.header_buffer(4) + etl.buffer([etl.spinlock_rundown(1, 1, 1000, 1000000),
                                                  *[lock(hold=100)] * 21])
        for sequence in 2, 3:
            data += etl.buffer([lock(5, wait=7)] * (39 + sequence % 2), sequence=sequence)
        row = self.json(data=data, options=())["locks"][0]
        self.assertEqual((row["sampled"], row["acquisitions"]), (100, 21079))
        self.assertAlmostEqual(row["acquisitions_error"], (21 * self.HEAVY) ** .5 / 21079)
        # The greatest value counts six times more.
        self.assertAlmostEqual(row["hold_total_error"], ((21 + 6) * self.HEAVY) ** .5 / 21079)
        self.assertEqual(row["wait_total_error"], 0)
        self.assertEqual(self.text_row("--table", "locks", "--columns",
                                       "lock,acquisitions,per_second,wait_total,hold_total"),
                         ["0xffff888012345678", "~21079+-22%", "~21079+-22%", "276us",
                          "1.05s+-25%"])

    def test_of_holds_follows_the_longest(self):
        row = self.json(etl.spinlock_rundown(1, 1, 1000, 1000000),
                        *[lock(hold=60)] * 38, *[lock(hold=100)] * 2)["locks"][0]
        self.assertAlmostEqual(row["acquisitions_error"], (40 * self.HEAVY) ** .5 / 40000)
        self.assertAlmostEqual(row["hold_total_error"],
                               ((38 * 60 ** 2 + (2 + 6) * 100 ** 2) * self.HEAVY) ** .5 / 2480000,
                               delta=.001)

    def test_of_few_or_of_uneven_records_is_not_known(self):
        """Below ten records, or where one of them is most of the sum, the error is a guess."""
        for locks in [lock()] * 9, [lock(hold=1)] * 38 + [lock(hold=100)] * 2:
            row = self.json(etl.spinlock_rundown(1, 1, 1000, 0), *locks)["locks"][0]
            self.assertIsNone(row["hold_total_error"])
            self.assertIsNotNone(row["acquisitions_error"])
        row = self.json(etl.spinlock_rundown(1, 1, 1000, 0), *[lock()] * 12)["locks"][0]
        self.assertAlmostEqual(row["hold_total_error"], ((12 + 6) / 1.001) ** .5 / 12, delta=.001)

    def test_small_ones_have_no_mark(self):
        """Of 99 records that stand for 1000 each it is just above 10 %, of 100 just below."""
        for count, text in (99, "~99000+-10%"), (100, "~100000"):
            data = etl.header_buffer(4) + etl.buffer([etl.spinlock_rundown(1, 1, 1000, 0)])
            for sequence, part in (2, 50), (3, count - 50):
                data += etl.buffer([lock()] * part, sequence=sequence)
            self.write(data)
            self.assertEqual(self.text_row("--table", "locks", "--columns", "acquisitions"),
                             [text])

    def test_without_a_heavy_record_it_is_not_known(self):
        """The lock may have been acquired a thousand times besides."""
        row = self.json(etl.spinlock_rundown(1, 1, 1000, 0), lock(5, wait=7))["locks"][0]
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

    def test_where_all_are_written_there_is_none(self):
        row = self.json(etl.resource_rundown(1, 1),
                        etl.perfinfo(0x052B, etl.resource(wait=500)))["resources"][0]
        for column in "releases_error", "wait_total_error", "hold_total_error":
            self.assertEqual(row[column], 0)
        self.assertNotRegex("".join(self.text_row("--table", "resources")), r"\+-")

    def test_where_the_rates_are_not_known_nothing_is_said(self):
        row = self.json(lock(5), lock())["locks"][0]
        for column in "acquisitions_error", "wait_total_error", "hold_total_error":
            self.assertIsNone(row[column])
        self.assertNotIn("+-", self.report().stdout)

    def test_of_waits_that_are_sampled(self):
        row = self.json(etl.spinlock_rundown(1, 10, 1000, 0),
                        *[lock(5, wait=10), lock(5, wait=12)] * 10)["locks"][0]
        self.assertAlmostEqual(row["wait_total_error"],
                               ((10 * 10 ** 2 + (10 + 6) * 12 ** 2) * 10 * 9) ** .5 / 2200,
                               delta=.001)

    def test_of_releases(self):
        row = self.json(etl.resource_rundown(100, 1), etl.perfinfo(0x052B, etl.resource(
            wait=0, delta=0)), etl.perfinfo(0x052B, etl.resource(wait=500)))["resources"][0]
        self.assertEqual(row["releases"], 101)
        self.assertAlmostEqual(row["releases_error"], (100 * 99) ** .5 / 101)
        self.assertEqual(row["wait_total_error"], 0)

    def test_of_waits_alone(self):
        row = self.json(etl.spinlock_rundown(), etl.ntklog_rundown(2),
                        lock(5, rule=2, hold=0, depth=0))["locks"][0]
        self.assertIsNone(row["acquisitions_error"])
        self.assertIsNone(row["hold_total_error"])
        self.assertEqual(row["wait_total_error"], 0)
        self.assertNotIn("-+-", self.report().stdout)

    def test_on_the_page(self):
        self.write(etl.file(etl.spinlock_rundown(), *[lock()] * 4))
        self.assertIn(' data-value="4000">~4000<wbr>+-50%</td>', self.report("--html", "-").stdout)

    def test_programs_get_columns_that_were_asked_for_and_no_others(self):
        self.write(etl.file(etl.spinlock_rundown(), lock()))
        self.assertEqual(self.report("--table", "locks", "--csv", "--columns", "lock,acquisitions")
                         .stdout, "table,lock,acquisitions\nlocks,0xffff888012345678,1000\n")


class ContextSwaps(Case):
    def swap(self, time, new, old, state=5, version=4):
        return etl.perfinfo(0x0524, etl.context_swap(version, new=new, old=old, state=state,
                                                     wait_time=2),
                            version=version, time_stamp=etl.START_CLOCK + time)

    def test_threads_and_processors(self):
        for version in (1, 2, 3, 4):
            report = self.json(self.swap(100, 7, 0, version=version),
                               self.swap(400, 8, 7, state=1, version=version),
                               self.swap(500, 7, 8, version=version),
                               self.swap(600, 0, 7, version=version),
                               self.swap(1000, 8, 0, version=version))
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

    def test_gaps(self):
        """Who is switched from is not who was switched to: records are missing."""
        report = self.json(self.swap(100, 7, 0), self.swap(400, 9, 8))
        self.assertEqual(report["processors"][0]["unknown"], 1)
        self.assertEqual({row["run_total_ns"] for row in report["threads"]}, {0})


class FlightRecordings(Case):
    """Only the last of a session is left, of each processor as much as its buffers hold."""

    END = 132_000_000_000_000_000 + 1_000_000_000

    def flight(self, mode=0x400, lost=17):
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

    def test_rates_are_of_the_time_that_is_left(self):
        for mode, lost in (0x400, 17), (0x400, 0), (0x2, 0):
            self.flight(mode, lost)
            report = json.loads(self.report("--json", "--columns", "all").stdout)
            # 40 in 1 second, and 10 in 10.
            self.assertAlmostEqual(report["seconds"], 10)
            self.assertEqual([(row["lock"], round(row["per_second"], 3)) for row in report["locks"]],
                             [("0x100", 40), ("0x101", 1)])
            self.assertEqual(report["buffers_lost"], 0)
            self.assertEqual(report["buffers_overwritten"], 18 if mode == 2 or not lost else 17)
            text = self.report().stdout
            self.assertNotIn("LOST", text)
            self.assertRegex(text, "a flight recording: 1[78] older buffers were overwritten")
            self.assertIn("CPU 1 is covered from 90.000 s on, the others from later on, the last, "
                          "CPU 0, from 99.000 s; to 100.000 s", text)
            self.assertEqual(report["covered"], [{"processor": 0, "from": 99, "to": 100},
                                                 {"processor": 1, "from": 90, "to": 100}])
            # 90 seconds after the start of the session.
            self.assertIn("from 2019-04-17 18:41:30 UTC on", text)

    def test_cpus_of_different_length_are_ranked_by_their_rates(self):
        """CPU 1's quiet lock has the greater sum, of 9 s; CPU 0's busy one is of 1.1 s."""
        def buffers(cpu, begin, count, wait, sequence, kind):
            for first in range(0, count, 20):
                events = []
                for i in range(first, min(first + 20, count)):
                    time = etl.START_CLOCK + int((begin + i * (100 - begin) / (count - 1)) *
                                                 etl.PERF_FREQ)
                    events.append(etl.perfinfo(0x0529, etl.spin_lock(
                        address=0x100 + cpu, spins=1, wait=wait, acquire=time, release=time + 10),
                        time_stamp=time) if kind == "spin" else etl.perfinfo(
                            0x052B, etl.resource(address=0x100 + cpu, wait=wait), time_stamp=time))
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

    def test_a_cpu_that_lost_nothing_is_covered_from_the_start(self):
        """Its ring holds fewer buffers than that of others: one event at the end is no rate."""
        def event(time, address):
            return etl.perfinfo(0x0529, etl.spin_lock(address=address, spins=1),
                                time_stamp=etl.START_CLOCK + int(time * etl.PERF_FREQ))
        data = bytearray(etl.header_buffer(5, end_time=self.END) + b"".join(etl.buffer(
            [event(95 + i, 0x100)] * 5, sequence=20 + i) for i in range(4)) +
            etl.buffer([event(97, 0x200)], processor=1, sequence=19))
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x400)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x114, 17)
        self.write(data)
        rows = {row["lock"]: row for row in json.loads(self.report("--json").stdout)["locks"]}
        self.assertAlmostEqual(rows["0x200"]["per_second"], 1 / 98)
        self.assertAlmostEqual(rows["0x100"]["per_second"], 20 / 3)

    def test_the_time_line_begins_with_the_events(self):
        self.flight()
        page = os.path.join(self.directory.name, "page.html")
        self.report("--html", page)
        with open(page) as stream:
            text = stream.read()
        starts = [float(x) for x in re.findall(r"<title>from ([\d.]+) s on", text)]
        # The wait of the first event ended before the event, and so before the time line.
        self.assertAlmostEqual(min(starts), 91, delta=.2)
        self.assertGreater(len(set(starts)), 20)
        axis = [float(x) for x in re.findall(r'<span[^>]* style="left:\d+%">([\d.]+) s</span>', text)]
        self.assertEqual(axis[0], 90)
        self.assertAlmostEqual(axis[4], 100, delta=.2)

    def test_what_is_not_overwritten_is_all(self):
        self.write(etl.file(lock()))
        with open(self.path, "r+b") as stream:
            stream.seek(0x48 + 0x20 + 0x20)
            stream.write(struct.pack("<I", 0x400))
        report = json.loads(self.report("--json").stdout)
        self.assertEqual((report["seconds"], report["buffers_overwritten"]), (1, 0))
        self.assertNotIn("flight", self.report().stdout)

    def test_limits_of_time(self):
        for options, seconds in ((("--from", "500ms"), .5), (("--from", "0.2", "--to", "0.8"), .6),
                                 (("--to", "0.5"), .5), (("--to", "3"), 1), ((), 1)):
            self.write(etl.file(lock(), etl.perfinfo(0x0529, etl.spin_lock(),
                                                     time_stamp=etl.START_CLOCK)))
            report = json.loads(self.report("--json", *options).stdout)
            self.assertAlmostEqual(report["seconds"], seconds, 6, options)


class Observed(Case):
    """A session writes from when on, and until when, it observes a group."""

    @staticmethod
    def at(seconds):
        return {"time_stamp": etl.START_CLOCK + int(seconds * etl.PERF_FREQ)}

    def lock(self, seconds, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(spins=1, wait=100, **changes), **self.at(seconds))

    def test_rates_are_of_the_time_in_which_the_group_was_observed(self):
        spin, mutex, nt = 0xA0000001, 0xA0000004, 0x20010000
        report = self.json(
            etl.spinlock_rundown(1, 1, 1, 0, ), etl.observed(nt, **self.at(0)),
            etl.observed(spin, **self.at(1)), etl.observed(mutex, **self.at(2)),
            *[self.lock(seconds, address=0x100) for seconds in (1, 2, 3, 4)],
            *[self.lock(seconds, address=0x200) for seconds in (0.5, 2, 3, 4)],
            *[etl.linux_lock("mutex", wait=100, delta=0, **{}) for _ in range(3)],
            etl.observed(mutex, 0, **self.at(8)), etl.observed(spin, 0, **self.at(9)),
            etl.observed(nt, 0, **self.at(10)))
        rows = {row["lock"]: row for row in report["locks"]}
        self.assertAlmostEqual(rows["0x100"]["per_second"], 4 / 8)
        self.assertAlmostEqual(rows["0x100"]["waiting"], 4 * 100 / etl.PERF_FREQ / 8)
        # Linux' locks were not yet observed at 0.5 s: this one is NT's.
        self.assertAlmostEqual(rows["0x200"]["per_second"], 4 / 10)
        self.assertAlmostEqual(report["resources"][0]["per_second"], 3 / 6)
        self.assertEqual(report["observed"], {"spinlock": 10, "linux_spinlock": 8, "linux_mutex": 6})
        self.assertIn("linux_spinlock was observed for 8.000 s", self.report().stdout)
        report = json.loads(self.report("--json", "--from", "1.5", "--to", "3.5").stdout)
        rows = {row["lock"]: row for row in report["locks"]}
        self.assertAlmostEqual(rows["0x100"]["per_second"], 2 / 2)

    def test_a_begin_that_was_overwritten_and_two_times(self):
        report = self.json(etl.spinlock_rundown(1, 1, 1, 0), self.lock(2),
                           etl.observed(0xA0000002, 0, **self.at(3)),
                           etl.observed(0xA0000002, 1, **self.at(5)), self.lock(6),
                           etl.observed(0xA0000002, 0, **self.at(7)), self.lock(1),
                           etl.perfinfo(0x1234, b"", **self.at(10)))
        self.assertAlmostEqual(report["locks"][0]["per_second"], 3 / 5)

    def test_without_such_events_rates_are_of_the_whole_time(self):
        report = self.json(etl.spinlock_rundown(1, 1, 1, 0), self.lock(4), self.lock(10))
        self.assertAlmostEqual(report["locks"][0]["per_second"], .2)
        self.assertNotIn("observed", report)


class ChangedRates(Case):
    """A session writes the old rates and the new ones when they change."""

    @staticmethod
    def at(seconds):
        return {"time_stamp": etl.START_CLOCK + int(seconds * etl.PERF_FREQ)}

    def spin_rates(self, seconds, hook_id, contention, acquire):
        return etl.perfinfo(hook_id, struct.pack("<IIII", 1, contention, acquire, 0), 3,
                            **self.at(seconds))

    def resource_rates(self, seconds, hook_id, release, contention):
        return etl.perfinfo(hook_id, struct.pack("<III", release, contention, 1), **self.at(seconds))

    def file(self):
        """Rates 1 and 100 until 2 s, 50 and 1000 until 4 s, then as at the start again."""
        def locks(seconds):
            return [etl.perfinfo(0x0529, etl.spin_lock(spins=spins, wait=10), **self.at(seconds))
                    for spins in (0, 3, 3)] + [etl.perfinfo(0x052B, etl.resource(
                        wait=0, delta=0), **self.at(seconds))]
        # The other CPU's records come first in the file, and the changes are on the second.
        return etl.header_buffer(3) + etl.buffer(locks(1) + locks(3) + locks(5)) + etl.buffer(
            [self.spin_rates(0, 0x0F4B, 1, 100), self.resource_rates(0, 0x0F4D, 10, 1)] + locks(1) +
            [self.spin_rates(2, 0x0F4C, 1, 100), self.spin_rates(2, 0x0F4B, 50, 1000),
             self.resource_rates(2, 0x0F4E, 10, 1), self.resource_rates(2, 0x0F4D, 200, 1)] +
            [self.spin_rates(4, 0x0F4C, 50, 1000), self.spin_rates(4, 0x0F4B, 1, 100),
             self.resource_rates(4, 0x0F4E, 200, 1), self.resource_rates(4, 0x0F4D, 10, 1)] +
            [self.spin_rates(6, 0x0F4C, 1, 100), self.resource_rates(6, 0x0F4E, 10, 1)],
            processor=1, sequence=2)

    def test_each_record_is_scaled_by_the_rates_of_its_time(self):
        report = self.json(data=self.file())
        (row,) = report["locks"]
        # Two CPUs until 2 s, then one in either stretch.
        self.assertEqual(row["acquisitions"], 2 * (100 + 2) + (1000 + 100) + (100 + 2))
        self.assertAlmostEqual(row["wait_total_ns"], (4 + 100 + 2) * 10 * NS)
        self.assertEqual(report["resources"][0]["releases"], 2 * 10 + 200 + 10)
        self.assertTrue(report["rates_changed"])
        self.assertEqual(report["events_lost"], 0)
        self.assertEqual([(part["from"], part["rates"]["spinlock"]["acquire_sample_rate"])
                          for part in report["rates_by_time"] if "spinlock" in part["rates"]][-1],
                         (4, 100))
        text = self.report().stdout
        for words in ("each record is scaled by those of its time", "from 2.000 s to 4.000 s:",
                      "1 in 50 acquisitions that waited", "of the others 1 in 200"):
            self.assertIn(words, text)

    def test_a_selection_does_not_hide_the_changes(self):
        self.write(self.file())
        report = json.loads(self.report("--json", "--from", "2.5", "--to", "3.5").stdout)
        self.assertEqual(report["locks"][0]["acquisitions"], 1100)

    def test_damage_is_counted_once(self):
        data = bytearray(self.file())
        data[2 * etl.SIZE + 0x48 + 2] = 0
        self.write(self.file() + etl.buffer([etl.perfinfo(0x0529, b"x" * 3)], sequence=3))
        once = self.report("--json", status=1)
        self.assertEqual(json.loads(once.stdout)["damaged_events"], 1)

    def test_a_pipe_says_that_it_cannot_be_read_again(self):
        result = subprocess.run([NTKLOG, "report", "-"], input=self.file(), capture_output=True,
                                check=True)
        self.assertIn(b"a pipe cannot be read again", result.stdout)

    def test_the_old_rates_at_the_change_are_those_before_it(self):
        """Of a flight recording whose start is gone: the first rundown is of the change."""
        report = self.json(
            etl.perfinfo(0x0529, etl.spin_lock(spins=0), **self.at(1)),
            self.spin_rates(2, 0x0F4C, 1, 100), self.spin_rates(2, 0x0F4B, 1, 1000),
            etl.perfinfo(0x0529, etl.spin_lock(spins=0), **self.at(3)))
        self.assertEqual(report["locks"][0]["acquisitions"], 100 + 1000)


class Mixed(Case):
    """A file of some of everything."""

    def setUp(self):
        super().setUp()
        self.write(etl.file(
            etl.spinlock_rundown(), lock(3, wait=1000, address=0x100),
            lock(1, wait=10, address=0x200), lock(2, wait=10, address=0x300, hold=9000),
            etl.perfinfo(0x052B, etl.resource()), etl.perfinfo(0x0524, etl.context_swap(), 4),
            etl.perfinfo(0x1234, b""), etl.perfinfo(0x1234, b""), etl.perfinfo(0x1235, b"")))


class Output(Mixed):
    def test_what_is_selected(self):
        for options, events, locks in (
                (("--filter", "lock == 0x300"), 1, ["0x300"]),
                (("--filter", "hold > 4ms || Event == Resource"), 2, ["0x300"]),
                (("--from", "2"), 0, []), (("--to", "0.5"), 0, []),
                (("--from", "0.5", "--to", "1"), 9, ["0x100", "0x200", "0x300"])):
            report = json.loads(self.report("--json", *options).stdout)
            self.assertEqual((report["events"], sorted(row["lock"] for row in report["locks"])),
                             (events, locks), options)
        self.assertIn("(character 9)", self.report("--filter", "lock == x", status=2).stderr)

    def test_start_times_that_are_none(self):
        with open(self.path, "rb") as stream:
            data = bytearray(stream.read())
        for time in (0, -1, -2 ** 63, 2 ** 63 - 1, 116444736000000000 - 1):
            struct.pack_into("<q", data, 0x48 + 0x20 + 0x108, time)
            self.write(data)
            text = self.report().stdout
            self.assertIn("at an unknown time" if time < 2 ** 62 else "from 30828-09-14", text)

    def test_what_is_lost_is_told(self):
        whole = etl.buffer([lock()])
        self.assertNotIn("LOST", self.report().stdout)
        self.write(etl.header_buffer(3) + whole + etl.buffer([lock()], flags=0x22, sequence=2))
        self.assertIn("LOST: events after 1 buffers", self.report().stdout)
        self.assertEqual(json.loads(self.report("--json").stdout)["lossy_buffers"], 1)
        data = bytearray(etl.header_buffer(2) + whole)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x30, 7)
        self.write(data)
        self.assertIn("LOST: 7 events, 0 buffers", self.report().stdout)

    def test_sessions_that_have_not_ended(self):
        self.write(etl.header_buffer(9, end_time=0) + etl.buffer([lock()]))
        self.assertIn("the session had not ended", self.report().stdout)
        self.assertFalse(json.loads(self.report("--json").stdout)["ended"])

    def test_unknown_events_are_counted(self):
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(report["unknown"], [{"event": "HookId 0x1234", "count": 2},
                                             {"event": "HookId 0x1235", "count": 1}])

    def test_wpp_messages_are_counted(self):
        report = self.json(lock(), etl.wpp(7), lock(), etl.wpp(8, data=bytes(3)))
        self.assertEqual(report["unknown"], [{"event": "WPP message", "count": 2}])
        self.assertEqual(report["events"], 4)

    def test_duration_of_events_that_are_not_known(self):
        """Whatever header they have; those without a time of their own do not count."""
        event = struct.pack("<HBBIIIq", 0x50, 0x13, 0xC0, 0, 1, 2,
                            etl.START_CLOCK + 5 * etl.PERF_FREQ).ljust(0x50, b"\0")
        for events, seconds in (([event], 5), ([etl.perfinfo(0x1234, b"")], 1),
                                ([lock(), event], 5), ([etl.wpp(7)], 0)):
            report = self.json(*events)
            self.assertAlmostEqual(report["seconds"], seconds)

    def test_text(self):
        text = self.report().stdout
        for words in ("Spin locks, by wait_total", "Callers", "Executive resources",
                      "Threads", "Events that are not known", "~"):
            self.assertIn(words, text)

    def rows(self, *options):
        text = self.report("--table", "locks", "--csv", *options).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_csv(self):
        rows = self.rows()
        self.assertEqual([row["lock"] for row in rows][0], "0x100")
        self.assertEqual({row["table"] for row in rows}, {"locks"})
        self.assertEqual(float(rows[0]["wait_total_ns"]), 1000 * NS)

    def test_sort_top_and_columns(self):
        rows = self.rows("--sort", "hold_max", "--top", "1", "--columns", "lock,spins")
        self.assertEqual(rows, [{"table": "locks", "lock": "0x300", "spins": "2"}])

    def test_columns_are_in_the_order_that_they_are_given_in(self):
        text = self.report("--table", "locks", "--csv", "--columns", "spins,lock,hold_max").stdout
        self.assertEqual(text.splitlines()[0], "table,spins,lock,hold_max_ns")
        (row, *_) = json.loads(self.report("--table", "locks", "--json", "--columns",
                                           "spins,lock,hold_max").stdout)["locks"]
        self.assertEqual(list(row), ["spins", "lock", "hold_max_ns"])
        text = self.report("--table", "locks", "--columns", "hold_max,lock").stdout
        self.assertRegex(text, r"\n *hold max +lock *\n")

    def test_programs_get_every_column(self):
        rows = json.loads(self.report("--json").stdout)["locks"]
        self.assertEqual(rows, json.loads(self.report("--json", "--columns", "all").stdout)["locks"])
        self.assertLess({"wait_p50_ns", "wait_p99_ns", "hold_p50_ns", "hold_p99_ns"}, set(rows[0]))
        self.assertEqual(set(self.rows()[0]) - {"table"}, set(rows[0]))

    def test_columns_of_all_tables_keep_what_a_row_is_of(self):
        report = json.loads(self.report("--json", "--columns", "lock,wait_total").stdout)
        self.assertEqual(list(report["callers"][0]), ["caller", "lock", "wait_total_ns"])
        self.assertEqual(list(report["locks"][0]), ["lock", "wait_total_ns"])
        self.assertEqual(report["threads"][0], {})
        report = json.loads(self.report("--json", "--columns", "wait_total,caller").stdout)
        self.assertEqual(list(report["callers"][0]), ["wait_total_ns", "caller"])
        report = json.loads(self.report("--json", "--columns", "wait_total", "--table", "callers")
                            .stdout)
        self.assertEqual(list(report["callers"][0]), ["wait_total_ns"])

    def test_a_small_share_is_not_none(self):
        self.write(etl.file(etl.spinlock_rundown(1, 1, 4000, 0), lock(5), lock()))
        self.assertIn(" <0.1% ", self.report("--table", "locks").stdout)
        self.assertNotIn("<0.1%", self.report("--table", "callers", "--filter", "lock == 1").stdout)

    def test_no_blockers_hint_names_the_option(self):
        self.assertIn("record with --blockers", self.report("--table", "blockers").stderr)
        self.assertEqual(self.report().stderr, "")
        self.write(etl.file(etl.spinlock_rundown(), etl.ntklog_rundown(blockers=1), lock(rule=12)))
        self.assertEqual(self.report("--table", "blockers").stderr, "")

    def test_limits_in_the_wrong_order_are_refused(self):
        for command in "report", "dump":
            result = run(command, "--from", "2", "--to", "1", self.path)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--from is later than --to", result.stderr)
        self.report("--from", "1", "--to", "1")

    def test_no_two_columns_have_one_title(self):
        for line in self.report("--columns", "all").stdout.splitlines():
            titles = re.split("  +", line.strip())
            if "hold p95" in titles or "run p95" in titles:
                self.assertEqual(len(titles), len(set(titles)))

    def test_programs_get_all_rows(self):
        self.write(etl.file(*(lock(address=0x100 + i) for i in range(35))))
        self.assertEqual(len(json.loads(self.report("--json").stdout)["locks"]), 35)
        self.assertEqual(len(self.rows()), 35)
        self.assertEqual(len(json.loads(self.report("--json", "--top", "3").stdout)["locks"]), 3)
        self.assertIn("(20 of 35)", self.report().stdout)

    def test_names_from_the_standard_input(self):
        self.assertIn("for the trace", self.report("--names", "-", status=2).stderr)

    def test_wrong_options(self):
        for options, words in (
                (["--sort", "frobs"], 'no table has a column "frobs"'),
                (["--columns", "lock,frobs"], 'no table has a column "frobs"'),
                (["--table", "frobs"], 'no table "frobs"'),
                (["--table", "threads", "--sort", "spins"], 'no table has a column "spins"'),
                (["--top", "x"], "is no number"), (["--json", "--csv"], "one of --json")):
            with self.subTest(options):
                self.assertIn(words, self.report(*options, status=2).stderr)

    def test_damage_is_reported_after_what_is_before(self):
        with open(self.path, "rb") as stream:
            data = bytearray(stream.read())
        data[etl.SIZE + 0x48 + 0x20 + 0x48 + 2] = 0x77
        self.write(data)
        result = self.report("--json", status=1)
        self.assertIn("offset 0x%x: no event" % (etl.SIZE + 0x48 + 0x20 + 0x48),
                      result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["locks"]), 1)

    def test_names(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("0000000000000100 b big_lock\t[driver]\n0000000000000200 b small_lock\n"
                         "thread 11 worker\n")
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(report["locks"][0]["lock"], "big_lock [driver]")
        self.assertEqual({row["thread"]: row["name"] for row in report["threads"]},
                         {11: "worker", 22: ""})

    def terminal(self, *options, **environment):
        """What a terminal of 80 columns is sent."""
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("this machine has no pseudo terminals")
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen([NTKLOG, "report", "--table", "locks", *options, self.path],
                                   stdout=slave, env={"TERM": "xterm", **environment})
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        process.wait()
        os.close(master)
        return text

    def test_text_fits_the_terminal(self):
        def width(*options):
            text = self.terminal(*options, NO_COLOR="1").decode().split("Spin locks, by", 1)[1]
            return max(len(line) for line in text.split("\r\n"))
        self.assertLessEqual(width(), 80)
        self.assertGreater(width("--columns", "all"), 80)

    def test_what_it_is_sorted_by_has_room(self):
        text = self.terminal("--sort", "hold_max", NO_COLOR="1").decode().split("\r\n")
        heading = next(line for line in text if line.startswith("Spin locks, by hold_max"))
        self.assertIn("hold max", text[text.index(heading) + 1])
        self.assertRegex("\n".join(text), r"\(\d+ columns have no room in 80 characters; --columns")

    def test_colour_on_a_terminal_alone(self):
        self.assertIn(b"\x1b[", self.terminal())
        self.assertNotIn(b"\x1b[", self.terminal(NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", self.terminal(TERM="dumb"))
        self.assertNotIn("\x1b[", self.report().stdout)


class Page(html.parser.HTMLParser):
    """Tags that are open at the end, or closed in another order, are errors."""

    VOID = {"meta", "rect", "line", "br", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.errors, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                self.errors.append("refers to %s" % value)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.errors.append("</%s>" % tag)

    def handle_data(self, data):
        self.text += data


class Html(Mixed):
    def page(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path)
        with open(path) as stream:
            text = stream.read()
        page = Page()
        page.feed(text)
        page.close()
        self.assertEqual((page.errors, page.open), ([], []))
        return page, text

    def test_page_is_whole_and_needs_nothing(self):
        page, text = self.page()
        self.assertNotIn("http", text.replace("http-equiv", ""))
        # The page can do without its script, which is its last element.
        self.assertEqual((page.tags.count("script"), page.tags[-1]), (1, "script"))
        self.assertIsNone(re.search(r"<[^>]*\son\w+=", text))
        self.assertGreaterEqual(page.tags.count("svg"), 4)
        # Each picture has a description for readers who do not see it.
        self.assertEqual(len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]+"', text)),
                         page.tags.count("svg"))
        for words in ("When there was contention", "How long spin locks",
                      "How deep locks are nested", "When resources were waited for",
                      "How long resources"):
            self.assertIn(words, page.text)
        self.assertIn("prefers-color-scheme: dark", text)

    def picture(self, text, title):
        """Of each row its label and the times and sums of its bars; and of the axis the ends."""
        part = text.split("<h2>%s</h2>" % title)[1].split("<h2>")[0]
        axis = re.findall(r'<span[^>]* style="left:\d+%">([\d.]+) s</span>', part)
        return {row.split("</span>")[0].split('"name">')[1]:
                [(float(time), float(sum_)) for time, sum_ in
                 re.findall(r"<title>from ([\d.]+) s on: ([\d.]+) ", row)]
                for row in part.split('<div class="row">')[1:-1]}, \
            (float(axis[0]), float(axis[-1]))

    def test_time_lines_of_all_kinds(self):
        def at(seconds, hook_id, data, version=2):
            return etl.perfinfo(hook_id, data, version,
                                time_stamp=etl.START_CLOCK + int(seconds * etl.PERF_FREQ))

        self.write(etl.file(
            at(1, 0x0524, etl.context_swap(new=11, old=0), 4),
            at(2, 0x0529, etl.spin_lock(address=0x100, wait=500_000, spins=3)),
            at(3, 0x052B, etl.resource(address=0x700)),
            at(3, 0x0524, etl.context_swap(new=0, old=11), 4),
            at(3, 0x052B, etl.resource(address=0x600, wait=1_000_000)),
            at(8, 0x0F4C, struct.pack("<IIII", 1, 1, 1000, 0), 3)))
        _, text = self.page()
        for title, label, begin, end, total in (
                ("When there was contention", "0x100", 1.75, 2, .25),
                ("When resources were waited for", "0x600", 2.5, 3, .5),
                ("When threads ran", "thread 11", 1, 3, 2)):
            rows, axis = self.picture(text, title)
            bars = rows[label]
            # From the start of the session to its last event, wherever the bars end.
            self.assertEqual(axis[0], 0)
            self.assertAlmostEqual(axis[1], 8, delta=.1)
            self.assertAlmostEqual(bars[0][0], begin, delta=.1)
            self.assertAlmostEqual(bars[-1][0], end, delta=.1)
            slot = bars[1][0] - bars[0][0]
            self.assertAlmostEqual(sum(sum_ for _, sum_ in bars) * slot, total, delta=.05)
        self.assertIn('aria-label="thread 11: 2.00s in all; most from', text)

    def test_a_wait_is_spread_over_its_time(self):
        """One wait of 3 s, and a hold of 1 s after it: never more than one CPU waits."""
        second = etl.PERF_FREQ
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(
            address=0x100, acquire=4 * second, release=5 * second, wait=3 * second, spins=9),
            time_stamp=etl.START_CLOCK + 5 * second)))
        _, text = self.page()
        bars = self.picture(text, "When there was contention")[0]["0x100"]
        self.assertAlmostEqual(max(sum_ for _, sum_ in bars), 1, delta=.01)
        self.assertAlmostEqual(bars[0][0], 1, delta=.1)
        self.assertAlmostEqual(bars[-1][0], 4, delta=.1)

    @staticmethod
    def labels(text, title):
        """Of the rows of a picture; none: there is no such picture."""
        parts = text.split("<h2>%s</h2>" % title)[1:]
        return re.findall(r'<div class="row"><span class="name">(\w+)',
                          parts[0].split("<h2>")[0]) if parts else None

    def test_no_pictures_of_what_is_not_known(self):
        contention, depths = "When there was contention", "How deep locks are nested"
        # Those that only blocked are in no picture.
        other = lock(5, wait=500_000, address=0x200)
        blocker = lock(5, rule=12, wait=900_000, address=0x100)
        # Where depth is not known there is no picture of it; of some locks it may be.
        sampled = lock(5, rule=1, depth=0, wait=900_000, address=0x300)
        for mode, events, waited, nested in ((0, (blocker, other), ["0x200"], ["0x200"]),
                                             (0, (blocker,), None, None),
                                             (1, (sampled,), ["0x300"], None),
                                             (1, (sampled, other), ["0x300", "0x200"], ["0x200"])):
            self.write(etl.file(etl.spinlock_rundown(), etl.ntklog_rundown(mode, blockers=1),
                                *events))
            _, text = self.page()
            self.assertEqual((self.labels(text, contention), self.labels(text, depths)),
                             (waited, nested))

    def test_page_of_more_rows_than_are_shown(self):
        self.write(etl.file(*(lock(3, address=0x100 * i, wait=i) for i in range(1, 31))))
        _, text = self.page()
        parts = text.split("<h2>Spin locks")[1].split("<h2>")[0].split("<tbody>")
        self.assertEqual([part.count("<tr>") for part in parts[1:]], [20, 10])
        # So many, and no more, if it was said.
        self.assertEqual(self.report("--html", "-", "--top", "7", "--table", "locks")
                         .stdout.count("<tr><td"), 7)

    def test_page_of_some_tables(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path, "--table", "threads", "--table", "unknown")
        with open(path) as stream:
            text = stream.read()
        self.assertEqual(text.count("<table>"), 2)
        self.assertNotIn("When there was contention", text)

    def test_page_on_the_standard_output(self):
        self.assertTrue(self.report("--html", "-").stdout.startswith("<!DOCTYPE html>"))
        self.assertFalse(os.path.exists("-"))

    def test_tables_without_columns_are_left_out(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path, "--columns", "caller")
        with open(path) as stream:
            self.assertEqual(stream.read().count("<table>"), 1)

    def test_names_of_strangers_are_text(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("0000000000000100 b <script>alert(1)</script>&\"\n")
        page, text = self.page()
        self.assertEqual(text.count("<script"), 1)
        self.assertIn("<script>alert(1)</script>", page.text)

    def test_page_of_no_events(self):
        self.write(etl.header_buffer(1))
        page, _ = self.page()
        self.assertNotIn("svg", page.tags)

    def test_page_that_cannot_be_written(self):
        result = self.report("--html", "/nonexistent/page.html", status=1)
        self.assertIn("/nonexistent/page.html: No such file or directory", result.stderr)
        self.assertIn("cannot write", self.report("--html", "/dev/full", status=1).stderr)


if __name__ == "__main__":
    tap.main()
