#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog diff: two recordings with a planted difference, or with none but chance."""

import csv
import html
import io
import json
import os
import random
import signal
import subprocess
import time

import etl_writer as etl
import tap
import tool
from tool import draw_poisson, run_tool

# Nanoseconds of a cycle.
NS = 1e9 / etl.PERF_FREQ
RATE = 1000
LINUX_SPINLOCK, LINUX_RWLOCK, LINUX_MUTEX = 0xA0000001, 0xA0000002, 0xA0000004


def spin_event(address, wait=0, hold=100, caller=0x1000, **changes):
    return etl.perfinfo(0x0529, etl.spin_lock(
        address=address, caller=caller, acquire=1000, release=1000 + hold, wait=wait,
        spins=1 if wait else 0, **changes))


def file_with_rates(events, rundown=None, **changes):
    events = [rundown or etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0),
              etl.resource_rundown(1, 1), *events]
    parts = [events[at:at + 40] for at in range(0, len(events), 40)]
    return etl.header_buffer(1 + len(parts), **changes) + b"".join(
        etl.buffer(part, sequence=number + 1) for number, part in enumerate(parts))


class Diff(tool.Case):
    def setUp(self):
        super().setUp()
        self.after = os.path.join(self.directory.name, "b.etl")

    def write_both(self, before, after, rundown=None):
        self.write(file_with_rates(before, rundown))
        with open(self.after, "wb") as stream:
            stream.write(file_with_rates(after, rundown))

    def run_diff(self, *options, status=0):
        result = run_tool("diff", *options, self.path, self.after)
        self.assertEqual((result.returncode, result.stderr), (status, ""))
        return result.stdout

    def diff_json(self, *options):
        return json.loads(self.run_diff("--json", *options))

    def test_waits_that_did_not_end_are_named(self):
        end = etl.START_CLOCK + 2 * etl.PERF_FREQ
        self.write_both([spin_event(0x10, 100)],
                        [spin_event(0x10, 100), etl.open_hold_event(end),
                         etl.open_hold_event(end, "held", address=0x20, since=end - 8000, thread=55,
                                             wait=500),
                         etl.open_hold_event(end, "waits", address=0x20, since=end - 6000,
                                             thread=56)])
        self.assertIn("\nNot compared: waits that had not ended, or whose holds had not:\n"
                      "0 (0ns) before, 2 (3.25ms) after; ntklog report tells of them\n",
                      self.run_diff())
        report = self.diff_json()
        self.assertEqual((report["open_waits"], report["open_wait_total"]),
                         ([0, 2], [0, 6500 * NS]))
        self.write_both([spin_event(0x10, 100)], [spin_event(0x10, 100)])
        self.assertNotIn("Not compared", self.run_diff())

    def test_rows_are_sums_before_and_after(self):
        self.write_both([spin_event(0x10, 100), spin_event(0x10, 100), spin_event(0x20, 50)],
                        [spin_event(0x10, 500), spin_event(0x30, 70),
                         spin_event(0x10, 10, caller=0x2000)])
        report = self.diff_json()
        self.assertEqual({(row["lock"], row["caller"]): (round(row["before_ns"] / NS),
                                                         round(row["after_ns"] / NS))
                          for row in report["changes"]},
                         {("0x10", "0x1000"): (200, 500), ("0x20", "0x1000"): (50, 0),
                          ("0x30", "0x1000"): (0, 70), ("0x10", "0x2000"): (0, 10)})
        changes = [abs(row["change_ns"]) for row in report["changes"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        totals = report["totals"]
        self.assertEqual([round(totals["wait_total"][when] / NS) for when in ("before", "after")],
                         [250, 580])
        self.assertEqual([totals["waits"][when] for when in ("before", "after")], [3, 3])
        self.assertEqual([round(totals["hold_total"][when] / NS) for when in ("before", "after")],
                         [300, 300])
        self.assertEqual(tool.undescribed_fields(report, "diff"), set())

    def test_missing_names_are_no_change(self):
        address, caller = 0xFFFF888012345678, 0xFFFFFFFF81234567
        self.write_both([spin_event(address, 100, caller=caller)] * 40,
                        [spin_event(address, 100, caller=caller)] * 40)
        names = f"{caller - 7:x} T acquire\nlock {address:x} queue.lock\n"
        with open(self.path + ".names", "w", encoding="utf-8") as stream:
            stream.write(names)
        result = run_tool("diff", "--json", self.path, self.after)
        self.assertEqual({row["verdict"] for row in json.loads(result.stdout)["changes"]}, {"unknown"})
        self.assertEqual(result.stderr, f"ntklog: {self.after}: locks and callers have no names: "
                                        "copy FILE.names with FILE, or record without --no-names\n")
        report = run_tool("report", self.after)
        self.assertIn("\nNO NAMES: locks and callers are addresses: copy FILE.names", report.stdout)
        with open(self.after, "rb") as stream:
            self.assertIn("\nNO NAMES: locks and callers are addresses: give --names FILE,",
                          run_tool("report", "-", stdin=stream).stdout)
        self.assertIn("locks and callers have no names",
                      run_tool("report", self.path, self.after).stderr)
        with open(self.after + ".names", "w", encoding="utf-8") as stream:
            stream.write(names)
        self.assertEqual([row["verdict"] for row in self.diff_json()["changes"]], ["noise"])
        self.assertNotIn("NO NAMES", run_tool("report", self.after).stdout)

    def test_missing_names_of_locks_that_sleep_are_no_change(self):
        mutex = etl.linux_lock_event("mutex", address=0xFFFF888012345678, wait=100, hold=7)
        events = etl.observed_event(LINUX_MUTEX), etl.resource_rundown(1, 1), *[mutex] * 40
        for path in self.path, self.after:
            with open(path, "wb") as stream:
                stream.write(etl.file(*events))
        with open(self.path + ".names", "w", encoding="utf-8") as stream:
            stream.write("lock ffff888012345678 queue.lock\n")
        result = run_tool("diff", "--json", self.path, self.after)
        self.assertEqual({row["verdict"] for row in json.loads(result.stdout)["changes"]}, {"unknown"})
        self.assertIn(self.after + ": locks and callers have no names", result.stderr)
        self.assertIn("\nNO NAMES: ", run_tool("report", self.after).stdout)

    def test_recordings_of_two_boots_without_names_do_not_match(self):
        self.write(etl.file(etl.ntklog_rundown(0), *[spin_event(0xFFFF888012345678, 100)] * 40))
        with open(self.after, "wb") as stream:
            stream.write(etl.file(etl.ntklog_rundown(0),
                                  *[spin_event(0xFFFF888012345690, 100)] * 40,
                                  boot_time=2))
        rows = json.loads(run_tool("diff", "--json", self.path, self.after).stdout)["changes"]
        self.assertEqual([row["verdict"] for row in rows], ["unknown"] * 2)

    def test_waits_of_different_modes_are_not_compared(self):
        mutex = etl.linux_lock_event("mutex", address=0x40, wait=100, hold=7)
        self.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(2), mutex,
                            *[spin_event(0x10, 100, hold=0, rule=2)] * 6))
        with open(self.after, "wb") as stream:
            stream.write(file_with_rates([spin_event(0x10, 100)] * 45 + [mutex]))
        note = ("ntklog: %s and %s: their modes record different waits of spin locks: record both "
                "in mode full or sampled, or both in mode waits or holders\n" % (self.path, self.after))
        for measure in "waits", "wait_total":
            result = run_tool("diff", "--json", "--of", measure, "--fail-if", measure + " > +20%",
                              self.path, self.after)
            self.assertEqual((result.returncode, result.stderr), (1, note))
            report = json.loads(result.stdout)
            self.assertIsNone(report["condition"])
            self.assertIsNone(report["totals"][measure]["interval"])
            self.assertEqual({row["lock"]: row["verdict"] for row in report["changes"]},
                             {"0x10": "unknown", "0x40": "noise"})
        result = run_tool("diff", self.path, self.after)
        self.assertRegex(result.stdout, r"(?m)^waits: 7 before, 46 after: \+39 .*, unknown$")
        # Locks that sleep are recorded alike in all modes.
        self.assertIn("noise", self.run_diff("--lock", "0x40", "--fail-if", "waits > +20%"))

    def test_locks_that_one_side_did_not_record_are_not_compared(self):
        mutex = etl.linux_lock_event("mutex", address=0x40, wait=100, hold=7)
        spin_lock, rwlock = spin_event(0x10, 100, flags=1), spin_event(0x30, 100, flags=3)

        def write(path, groups, *events):
            with open(path, "wb") as stream:
                stream.write(etl.header_buffer(2, groups) + etl.buffer(
                    [etl.spinlock_rundown(1, 1, 1, 0), etl.ntklog_rundown(0), *events]))

        write(self.path, (LINUX_SPINLOCK, LINUX_RWLOCK), *[spin_lock] * 9, rwlock)
        write(self.after, (LINUX_SPINLOCK, LINUX_MUTEX), *[spin_lock] * 9, mutex)
        note = ("ntklog: only one of %s and %s recorded linux_rwlock, linux_mutex: record both with "
                "the same -e, or compare a lock that both recorded (--lock)\n")
        for paths in (self.path, self.after), (self.after, self.path):
            for measure in "waits", "wait_total", "hold_total":
                result = run_tool("diff", "--json", "--of", measure, "--fail-if",
                                  measure + " > +20%", *paths)
                self.assertEqual((result.returncode, result.stderr), (1, note % paths))
                report = json.loads(result.stdout)
                self.assertIsNone(report["condition"])
                self.assertIsNone(report["totals"][measure]["interval"])
                self.assertEqual({row["lock"]: row["verdict"] for row in report["changes"]},
                                 {"0x10": "noise", "0x30": "unknown", "0x40": "unknown"})
        self.assertIn("noise", self.run_diff("--lock", "0x10", "--fail-if", "waits > +20%"))
        # A kind without records changes nothing.
        write(self.after, (LINUX_SPINLOCK, LINUX_RWLOCK, LINUX_MUTEX), spin_lock)
        self.assertIn("noise", self.run_diff("--of", "hold_total", "--fail-if", "waits > +20%"))

    def test_locks_that_sleep_are_compared_by_caller(self):
        def mutex(time, caller, wait):
            return [etl.caller_event(0x40, caller, time_stamp=time),
                    etl.linux_lock_event("mutex", time_stamp=time, address=0x40, wait=wait, hold=7)]

        # The rates change, so that the first file is read twice.
        changed = etl.spinlock_rundown(1, 2, 1, 0, time_stamp=8_000_000)
        self.write_both(mutex(4_000_000, 0x1000, 100) + mutex(5_000_000, 0x2000, 30) + [changed],
                        mutex(4_000_000, 0x1000, 500) + mutex(5_000_000, 0x3000, 20) +
                        [etl.linux_lock_event("mutex", time_stamp=6_000_000, address=0x40, wait=9)])
        self.assertEqual({(row["lock"], row["caller"]): (round(row["before_ns"] / NS),
                                                         round(row["after_ns"] / NS))
                          for row in self.diff_json()["changes"]},
                         {("0x40", "0x1000"): (100, 500), ("0x40", "0x2000"): (30, 0),
                          ("0x40", "0x3000"): (0, 20), ("0x40", ""): (0, 9)})

    def test_callers_that_one_side_does_not_record_are_left_out(self):
        times = [4_000_000 + 20_000 * number for number in range(1, 401)]

        def mutexes(address, with_callers):
            for number, time_ in enumerate(times):
                if with_callers:
                    yield etl.caller_event(address, 0x1000 * (1 + number % 2), time_stamp=time_)
                yield etl.linux_lock_event("mutex", time_stamp=time_, address=address, wait=100,
                                           hold=7)

        def rows_of_changes(*sides):
            self.write_both(*(list(side) for side in sides))
            return {(row["lock"], row["caller"]): (round(row["before_ns"] / NS),
                                                   round(row["after_ns"] / NS), row["verdict"])
                    for row in self.diff_json()["changes"]}

        for first in False, True:
            self.assertEqual(rows_of_changes(mutexes(0x40, first), mutexes(0x40, not first)),
                             {("0x40", ""): (40000, 40000, "noise")})
            self.assertIn("\nCompared without callers: 1 locks, of which one side records none\n",
                          self.run_diff())
        # Callers stay if there is nothing to compare them with.
        self.assertEqual(rows_of_changes(mutexes(0x40, False), mutexes(0x50, True)), {
            ("0x40", ""): (40000, 0, "less"), ("0x50", "0x1000"): (0, 20000, "more"),
            ("0x50", "0x2000"): (0, 20000, "more")})
        self.assertNotIn("Compared without callers", self.run_diff())

    def test_locks_that_sleep_are_compared(self):
        self.write_both([etl.linux_lock_event("mutex", 0x22, address=0x40, wait=100, hold=7)],
                        [etl.linux_lock_event("mutex", 0x42, address=0x40, wait=300, hold=9)])
        (row,) = self.diff_json()["changes"]
        self.assertEqual((row["lock"], round(row["change_ns"] / NS)), ("0x40", 200))
        (row,) = self.diff_json("--of", "hold_total")["changes"]
        self.assertEqual(round(row["change_ns"] / NS), 2)

    def test_change_is_distinguished_from_noise(self):
        self.write_both([spin_event(0x10, 100)] * 400 + [spin_event(0x20, 100)] * 400,
                        [spin_event(0x10, 100)] * 800 + [spin_event(0x20, 100)] * 410)
        for options in (), ("--of", "waits"):
            verdicts = {row["lock"]: row["verdict"] for row in self.diff_json(*options)["changes"]}
            self.assertEqual(verdicts, {"0x10": "more", "0x20": "noise"})
        self.assertRegex(self.run_diff(),
                         r"(?m)^waits: 800 before, 1210 after: \+410 \+-88 \(\+51.2%\)$")
        text = self.run_diff("--lock", "0x20")
        self.assertRegex(text, r"(?m)^waits: 400 before, 410 after: \+10 \+-56 \(\+2.5%\), noise$")
        self.assertNotRegex(text, r"\b0x10\b")
        rows = list(csv.DictReader(io.StringIO(self.run_diff("--csv", "--top", "1"))))
        self.assertEqual([(row["lock"], row["verdict"]) for row in rows], [("0x10", "more")])

    def test_change_with_an_unknown_error_is_no_noise(self):
        rundown = etl.spinlock_rundown(1, RATE, 1, 0)
        few = [spin_event(0x10, 100)] * 3
        self.write_both(few, [spin_event(0x10, 200)] * 3, rundown)
        report = self.diff_json()
        self.assertEqual([(row["verdict"], row["interval_ns"]) for row in report["changes"]],
                         [("unknown", None)])
        self.assertRegex(self.run_diff(), r"(?m)^wait_total: .* \+-\? .*, unknown$")
        # A condition that cannot be decided must not pass.
        for options in (), ("--json",):
            result = run_tool("diff", *options, "--fail-if", "wait_total > 20%", self.path,
                              self.after)
            self.assertEqual(result.returncode, 1)
            self.assertIn("the error of the change of wait_total is not known", result.stderr)
        self.assertIsNone(json.loads(result.stdout)["condition"])

    def test_table_fits_80_columns(self):
        self.write_both([spin_event(0xffffffff80000000 + i, 1000000, caller=0xffffffff81000000)
                         for i in range(16, 400, 16)], [spin_event(0xffffffff80000010, 3)])
        environment = {**os.environ, "COLUMNS": "80"}
        text = run_tool("diff", self.path, self.after, env=environment).stdout
        table = text[text.index("\n\n"):]
        self.assertLessEqual(max(map(len, table.splitlines())), 80, table)
        self.assertIn("(--wide shows: change %", table)
        self.assertIn("  verdict\n", table)
        text = run_tool("diff", "--wide", self.path, self.after, env=environment).stdout
        self.assertIn("  change %  ", text)

    def test_csv_and_json_have_all_rows(self):
        self.write_both([spin_event(i, 100) for i in range(16, 800, 16)], [spin_event(16, 3)])
        self.assertEqual(len(self.diff_json()["changes"]), 49)
        self.assertEqual(len(self.run_diff("--csv").splitlines()), 50)
        self.assertEqual(len(self.diff_json("--top", "7")["changes"]), 7)

    def test_page_has_the_text_the_table_and_the_changes(self):
        self.write_both([spin_event(0x10, wait=100)] * 30 + [spin_event(0x20, wait=7)],
                        [spin_event(0x10, wait=300)] * 30)
        page = self.run_diff("--html", "-")
        text, rows = html.unescape(page), self.diff_json()["changes"]
        self.assertIn(self.run_diff().split("\n\n")[0], text)
        self.assertEqual(page.count("<tr><td"), len(rows))
        self.assertEqual(tool.pictures_of_page(page),
                         {"is_count": False, "change_count": 2, "changes": rows})
        counted = tool.pictures_of_page(self.run_diff("--html", "-", "--of", "waits", "--top", "1"))
        self.assertTrue(counted["is_count"])
        self.assertEqual(counted["changes"][0]["change"], -1)

    def test_page_does_not_overwrite_a_file_that_is_read(self):
        self.write_both([spin_event(0x10)], [spin_event(0x10)])
        files = self.path, self.after
        for path in *files, self.after + ".names":
            result = run_tool("diff", "--html", path, *files)
            self.assertEqual(result.returncode, 2)
            self.assertIn("choose another name", result.stderr)
        self.assertEqual(run_tool("diff", "--html", "-", "--json", *files).returncode, 2)
        self.assertIn("cannot write", run_tool("diff", "--html", "/dev/full", *files).stderr)

    def test_condition_sets_the_exit_status(self):
        self.write_both([spin_event(0x10, 100)] * 1000, [spin_event(0x10, 100)] * 1500)
        for condition, status in (
                ("wait_total > +20%", 3), ("waits>20%", 3), ("hold_total > 20%", 3),
                # The change is 50 percent, give or take 10.
                ("wait_total > 45%", 0), ("wait_total > 50%", 0), ("wait_total < -10%", 0),
                ("waits < +100%", 3)):
            self.run_diff("--fail-if", condition, status=status)
        report = json.loads(self.run_diff("--json", "--fail-if", "waits > 20%", status=3))
        self.assertIs(report["condition"], True)

    def test_bad_input_is_refused(self):
        self.write_both([spin_event(0x10, 100)], [spin_event(0x10, 100)])
        for condition in "", "wait_total", "moon > 20%", "waits = 3%", "waits > 20", "waits > 2%x":
            result = run_tool("diff", "--fail-if", condition, self.path, self.after)
            self.assertEqual(result.returncode, 2)
            self.assertIn('is not like "wait_total > +20%"', result.stderr)
        for condition in "waits < -100%", "wait_total < -200%":
            result = run_tool("diff", "--fail-if", condition, self.path, self.after)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is never true", result.stderr)
        result = run_tool("diff", "--fail-if", "waits > 20%", "--fail-if", "hold_total > 20%",
                          self.path, self.after)
        self.assertEqual(result.returncode, 2)
        self.assertIn("give only one --fail-if", result.stderr)
        for arguments in (), (self.path,), (self.path,) * 3:
            result = run_tool("diff", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("give two files", result.stderr)
        with open(self.path, "rb") as stream:
            result = run_tool("diff", "-", "-", stdin=stream)
        self.assertEqual(result.returncode, 2)
        self.assertIn("only one of the two files can be the standard input", result.stderr)
        self.assertEqual(run_tool("diff", "--of", "moon", self.path, self.after).returncode, 2)
        for top in "", "x", " -3", "3 ":
            result = run_tool("diff", "--top", top, self.path, self.after)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is no number", result.stderr)
        result = run_tool("diff", "--lock", "moon", self.path, self.after)
        self.assertEqual(result.returncode, 1)
        self.assertIn('no file has an event of a lock "moon"', result.stderr)
        result = run_tool("diff", "--fail-if", "waits > 1%", self.path, self.path + ".missing")
        self.assertEqual(result.returncode, 1)
        self.assertIn(".missing", result.stderr)

    def test_file_that_cannot_be_opened_is_not_compared(self):
        self.write_both([spin_event(0x10, 100)], [spin_event(0x10, 100)])
        empty = self.path + ".empty"
        with open(empty, "wb"):
            pass
        directory = self.path + ".directory"
        os.mkdir(directory)
        for other in self.path + ".missing", empty, directory:
            for paths in (self.path, other), (other, self.path):
                for options in (), ("--json",), ("--csv",):
                    result = run_tool("diff", *options, *paths)
                    self.assertEqual((result.returncode, result.stdout), (1, ""))
                    self.assertIn(other, result.stderr)

    def write_fleet(self, name, *files):
        directory = os.path.join(self.directory.name, name)
        os.mkdir(directory)
        for number, data in enumerate(files):
            with open(os.path.join(directory, "host%d.etl" % number), "wb") as stream:
                stream.write(data)
        with open(os.path.join(directory, "host0.etl.txt"), "w", encoding="ascii") as stream:
            stream.write("none\n")
        return directory

    def test_directories_are_the_sums_of_their_files(self):
        """Machines whose clocks do not agree, and more files than there are CPUs."""
        count = 3 * os.cpu_count() + 2
        before = self.write_fleet("before", *(file_with_rates([spin_event(0x10, 100 + i),
                                                               spin_event(0x20, 7)])
                                              for i in range(count)))
        after = self.write_fleet("after",
                                 *(file_with_rates([spin_event(0x10, 900)])
                                   for _ in range(count + 1)))
        result = run_tool("diff", "--json", before, after)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads(result.stdout)
        self.assertEqual(report["files"], [count, count + 1])
        self.assertEqual(report["seconds"], [count, count + 1])
        rows = {row["lock"]: (round(row["before_ns"] / NS), round(row["after_ns"] / NS))
                for row in report["changes"]}
        expected = sum(100 + i for i in range(count))
        self.assertEqual(rows, {"0x10": (expected, 900 * (count + 1)), "0x20": (7 * count, 0)})
        self.assertEqual(round(report["totals"]["wait_total"]["before"] / NS),
                         expected + 7 * count)
        self.assertEqual(run_tool("diff", "--json", before, after).stdout, result.stdout)
        text = run_tool("diff", before, after).stdout
        self.assertIn("Before: %d.000 s in %d files of %s\n" % (count, count, before), text)
        # The variances of independent recordings add up.
        one = json.loads(run_tool("diff", "--json", os.path.join(after, "host0.etl"),
                                  os.path.join(after, "host1.etl")).stdout)["totals"]["waits"]
        both = json.loads(run_tool("diff", "--json", after, after).stdout)["totals"]["waits"]
        self.assertAlmostEqual(both["interval"], one["interval"] * (count + 1) ** .5)

    def test_a_bad_file_of_a_directory_is_named(self):
        good = file_with_rates([spin_event(0x10, 100)])
        directory = self.write_fleet("after", good, good[:-7], good)
        self.write(good)
        result = run_tool("diff", self.path, directory)
        self.assertEqual(result.returncode, 1)
        self.assertIn("host1.etl: ", result.stderr)
        self.assertIn("in 3 files of ", result.stdout)
        directory = self.write_fleet("other", good, b"", good)
        result = run_tool("diff", self.path, directory)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("host1.etl: ", result.stderr)
        directory = self.write_fleet("waits", good,
                                     file_with_rates([spin_event(0x10, 300, hold=0, rule=2)]))
        result = run_tool("diff", "--of", "hold_total", self.path, directory)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("host1.etl: its mode records no holds", result.stderr)

    @staticmethod
    def find_children(pid):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8") as stream:
                    state, parent = stream.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if parent == str(pid) and state != "Z":
                yield int(name)

    def test_a_process_that_dies_is_an_error(self):
        """The test kills the process that waits for more of the standard input."""
        self.write(file_with_rates([spin_event(0x10, 100)]))
        # The search for leaks has a child of its own, without which it does not end.
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        with subprocess.Popen([tool.NTKLOG, "diff", self.path, "-"], stdin=subprocess.PIPE,
                              env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            while process.poll() is None:
                for child in self.find_children(process.pid):
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.01)
            output, errors = process.communicate()
        self.assertEqual((process.returncode, output), (1, ""))
        self.assertIn("ended by signal 9 (Killed): if memory ran out (see dmesg), read fewer files "
                      "at a time: taskset -c 0 ntklog", errors)

    def test_holds_that_mode_waits_does_not_record_are_not_compared(self):
        mutex = etl.linux_lock_event("mutex", 0x22, address=0x40, wait=100, hold=7)
        self.write_both([spin_event(0x10, 100), mutex],
                        [spin_event(0x10, 300, hold=0, rule=2), mutex])
        self.assertIn("\nhold_total: not known: the mode of %s records no holds of spin locks\n" % self.after,
                      self.run_diff())
        report = self.diff_json()
        self.assertIsNone(report["totals"]["hold_total"])
        self.assertEqual(round(report["totals"]["wait_total"]["after"] / NS), 400)
        for options in ("--of", "hold_total"), ("--fail-if", "hold_total < -50%"):
            for paths in (self.path, self.after), (self.after, self.path):
                result = run_tool("diff", *options, *paths)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(self.after + ": its mode records no holds", result.stderr)
            self.run_diff(*options, "--lock", "0x40")

    def test_damaged_file_is_compared_as_far_as_it_can_be_read(self):
        self.write_both([spin_event(0x10, 100)] * 60, [spin_event(0x10, 100)] * 60)
        os.truncate(self.after, 2 * etl.SIZE)
        result = run_tool("diff", self.path, self.after)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^waits: 60 before, 37 after")
        self.assertIn("%s, DAMAGED: sums are too small\n" % self.after, result.stdout)
        result = run_tool("diff", "--json", self.path, self.after)
        self.assertEqual(json.loads(result.stdout)["files_damaged"], [0, 1])

    def test_file_with_impossible_times_is_damaged(self):
        late = etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=1 << 60)
        self.write_both([spin_event(0x10, 100)] * 60, [spin_event(0x10, 100)] * 20 + [late] * 40)
        result = run_tool("diff", "--json", "--fail-if", "waits < -20%", self.path, self.after)
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.assertEqual((report["files_damaged"], report["condition"]), ([0, 1], None))
        self.assertIn("%s, DAMAGED: sums are too small\n" % self.after,
                      run_tool("diff", self.path, self.after).stdout)

    def test_sums_of_a_file_that_lost_events_are_too_small(self):
        self.write_both([spin_event(0x10, 100)] * 60, [spin_event(0x10, 100)] * 60)
        with open(self.after, "wb") as stream:
            stream.write(file_with_rates([spin_event(0x10, 100)] * 20, events_lost=40))
        side = "%s, LOST EVENTS: sums are too small" % self.after
        for condition in "wait_total < -20%", "wait_total > +20%":
            result = run_tool("diff", "--fail-if", condition, self.path, self.after)
            self.assertEqual(result.returncode, 1)
            self.assertIn("--fail-if: events were lost, so sums are too small", result.stderr)
            self.assertIn(side + "\n", result.stdout)
            result = run_tool("diff", "--json", "--fail-if", condition, self.path, self.after)
            report = json.loads(result.stdout)
            self.assertEqual((report["files_damaged"], report["files_lossy"], report["condition"]),
                             ([0, 0], [0, 1], None))
            self.assertEqual(tool.undescribed_fields(report, "diff"), set())
        result = run_tool("diff", "--html", "-", self.path, self.after)
        self.assertEqual(result.returncode, 0)
        self.assertIn(side, html.unescape(result.stdout))

    def false_alarm_rate(self, draw, mean, rundown, seed):
        generator = random.Random(seed)
        files = [[spin_event(0x1000 + 16 * row, int(1000 * draw(generator)) + 1)
                  for row in range(400) for _ in range(draw_poisson(generator, mean))]
                 for _ in range(2)]
        self.write_both(*files, rundown)
        rows = self.diff_json("--top", "0")["changes"]
        self.assertGreater(len(rows), 390)
        return sum(row["verdict"] in ("more", "less") for row in rows) / len(rows)

    def test_recordings_of_the_same_load_rarely_differ(self):
        """At most 5 percent of the rows claim a change, plus three standard errors of that."""
        rates = []
        for seed, (name, draw) in enumerate((
                ("constant", lambda generator: 1),
                ("exponential", lambda generator: generator.expovariate(1)),
                ("log-normal", lambda generator: generator.lognormvariate(0, 1.5)))):
            for mean in 10, 50:
                for rate in 1, RATE:
                    rundown = etl.spinlock_rundown(1, rate, rate, 0)
                    rates.append(self.false_alarm_rate(draw, mean, rundown, seed))
                    print("# %s, %d records a row, 1 in %d: %.1f %%" %
                          (name, mean, rate, 100 * rates[-1]))
        self.assertLessEqual(sum(rates) / len(rates), .05)
        self.assertLessEqual(max(rates), .05 + 3 * (.05 * .95 / 400) ** .5)


if __name__ == "__main__":
    tap.main()
