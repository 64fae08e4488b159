#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report --by: each row of the tables is split, and its parts add up to it."""

import collections
import csv
import io
import json
import math
import os
import re
import subprocess

from answer_case import (BASE, LOCK, NS, OTHER, RATES, WAITER, Case, sleeping_event, spin_event,
                         stack_event_of, switch_event)
import etl_writer as etl
import tap
import tool
from tool import run_tool

TASKS = """\
thread 55 shell\t50\t/user.slice
thread 55@%d find\t50\t/user.slice/run 7.scope
thread 50 leader\t50\t/user.slice
thread 56 waiter\t56\t/system.slice/web.service
thread 57 bystander
thread 58 other\t56\t/system.slice/web.service
""" % (BASE + 7000)

# Without random bytes the key of the tool's hash is the same in each program.
NO_RANDOM = """\
#include <sys/random.h>
ssize_t getrandom(void *buffer, size_t size, unsigned int flags) { return -1; }
"""
PRINT_HASHES = """\
#include <stdio.h>
#include "ground/hash.h"
int main(int argc, char **argv)
{
	char line[64];
	while (scanf("%63s", line) == 1)
		printf("%u\\n", hash_bytes(line, strlen(line)));
	return 0;
}
"""
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


# The columns that tell a row from the others without --by.
KEYS = {"locks": ("lock",), "callers": ("caller", "lock"), "resources": ("resource", "kind", "class"),
        "stacks": ("stack",), "threads": ("thread",)}
SUMS = ("sampled", "acquisitions", "releases", "contention", "spins", "switches", "wait_total_ns",
        "hold_total_ns", "run_total_ns", "ready_total_ns", "initialized")
OF_SWITCHES = ("task", "thread", "process", "cgroup", "cpu")
ALL = OF_SWITCHES + ("caller", "function", "stack", "irql")


class By(Case):
    def setUp(self):
        super().setUp()
        with open(self.path + ".names", "a", encoding="utf-8") as stream:
            stream.write(TASKS)

    def rows_of_table(self, table, *options):
        return json.loads(self.report("--json", "--table", table, *options))[table]

    def write_mixed_records(self):
        """Two CPUs, two rates, all kinds of events, records without stacks, and late names."""
        locks = [etl.spinlock_rundown(1, 10, 1, 0), etl.ntklog_rundown(0, blockers=1),
                 etl.resource_rundown(1, 5), etl.stacks_rundown(2)]
        first, second = list(locks), []
        for number in range(40):
            at, thread = 300 * number, 55 + number % 4
            events = second if number % 3 else first
            events += [
                spin_event(at, at + 20 + number, number % 5 * 3, (WAITER, OTHER)[number % 2],
                           address=LOCK + number % 2 * 0x288, thread=thread,
                           flags=1 if number % 7 else 0x41, irql=number % 3),
                stack_event_of(at + 20 + number, 0xFFFFFFFF81000601, WAITER, thread=thread),
                sleeping_event(at + 60, at + 100 + number, number % 6 * 7, thread=thread,
                               action=(0x22, 0x24)[number % 2]),
                etl.perfinfo(0x052B, etl.resource_data(
                    action=(0x22, 0x24, 0x42)[number % 3] | 0x10000, wait=0, thread=thread),
                    time_stamp=BASE + at + 150),
                etl.perfinfo(0x052B, etl.resource_data(action=0x10008, hold=0, thread=56 + number % 2,
                                                       address=LOCK + number % 2 * 0x500),
                             time_stamp=BASE + at + 160),
                switch_event(at + 200, thread, 55 + (number + 1) % 4, state=1 + number % 5),
            ]
        parts = [(events[start:start + 40], cpu) for cpu, events in enumerate((first, second))
                 for start in range(0, len(events), 40)]
        self.write(etl.header_buffer(1 + len(parts)) + b"".join(
            etl.buffer(events, sequence=1 + number, processor=cpu)
            for number, (events, cpu) in enumerate(parts)))

    def test_parts_add_up_to_the_row(self):
        self.write_mixed_records()
        for table, keys in KEYS.items():
            plain = self.rows_of_table(table)
            self.assertTrue(plain, table)
            for by in OF_SWITCHES if table == "threads" else ALL:
                sums = collections.defaultdict(float)
                for row in self.rows_of_table(table, "--by", by):
                    for name in SUMS:
                        sums[tuple(row[key] for key in keys), name] += row.get(name, 0)
                for row in plain:
                    for name in SUMS:
                        key = tuple(row[key] for key in keys), name
                        self.assertTrue(math.isclose(sums.pop(key), row.get(name, 0), rel_tol=1e-9,
                                                     abs_tol=1e-3), (table, by, key))
                self.assertEqual(sums, {}, (table, by))

    def test_initialisations_are_counted_once(self):
        self.write_mixed_records()
        for options in (), ("--by", "thread"), ("--filter", "!(hold > 20us)"):
            rows = self.rows_of_table("resources", *options)
            self.assertEqual(sum(row["initialized"] for row in rows), 40, options)

    def test_rows_tell_which_process_had_the_lock(self):
        self.write_events(spin_event(0, 100, thread=55), spin_event(200, 400, 50, thread=56),
                          spin_event(500, 600, thread=58),
                          spin_event(700, 750, thread=57, flags=0x41))
        self.assertEqual({row["by"]: (row["lock"], round(row["wait_total_ns"] / NS),
                                      round(row["hold_total_ns"] / NS))
                          for row in self.rows_of_table("locks", "--by", "process")},
                         {"50 leader": ("my_lock", 0, 100), "56 waiter": ("my_lock", 50, 300),
                          "unknown process (softirq)": ("my_lock", 0, 50)})

    def test_cgroup_is_that_of_the_time_of_the_record(self):
        self.write_events(sleeping_event(1000, 5000), sleeping_event(6000, 8000))
        self.assertEqual({row["by"]: round(row["hold_total_ns"] / NS)
                          for row in self.rows_of_table("resources", "--by", "cgroup")},
                         {"/user.slice": 4000, "/user.slice/run 7.scope": 2000})

    def test_threads_are_split_by_their_last_process_and_by_cpu(self):
        self.write(etl.header_buffer(3) + etl.buffer(
            [switch_event(1000, 57, 55), switch_event(3000, 55, 0)]) + etl.buffer(
                [switch_event(4000, 0, 55), switch_event(9000, 55, 57)], sequence=2, processor=1,
                flags=0x21))
        runs = {row["by"]: round(row["run_total_ns"] / NS)
                for row in self.rows_of_table("threads", "--by", "cpu") if row["thread"] == 55}
        self.assertEqual(runs, {"CPU 0": 2000, "CPU 1": 5000})
        (row,) = (row for row in self.rows_of_table("threads", "--by", "cgroup")
                  if row["thread"] == 55)
        self.assertEqual((row["by"], round(row["run_total_ns"] / NS)),
                         ("/user.slice/run 7.scope", 7000))

    def test_longest_waits_name_waiters_and_holders(self):
        self.write_events(sleeping_event(1000, 5000), sleeping_event(5000, 5100, 3000, thread=56))
        text = self.report("--table", "longest", "--by", "process")
        self.assertIn("waiter (56) [56 waiter]\n", text)
        self.assertIn("held by find (55) [50 leader]\n", text)
        (row,) = self.rows_of_table("longest", "--by", "process")
        self.assertEqual((row["by"], row["step"]), ("56 waiter", "01.01"))
        self.assertNotIn("[", self.report("--table", "longest"))

    def test_stacks_and_flames_begin_with_the_attribute(self):
        self.write_mixed_records()
        folded = run_tool("report", "--folded", "--by", "process", self.path).stdout
        sums = collections.Counter()
        for line in folded.splitlines():
            by, functions, time = re.fullmatch(r"([^;]*);(.*) (\d+)", line).groups()
            self.assertRegex(by, r"50 leader|56 waiter|unknown process")
            sums[functions] += int(time)
        for line in run_tool("report", "--folded", self.path).stdout.splitlines():
            functions, time = line.rsplit(" ", 1)
            self.assertAlmostEqual(sums.pop(functions), int(time), delta=len(folded.splitlines()))
        self.assertEqual(sums, {})
        self.assertRegex(self.report("--stacks", "--by", "process"), r"process 50 leader, records \d")

    def test_text_csv_and_page_have_the_column(self):
        self.write_mixed_records()
        text = self.report("--table", "locks", "--by", "process", "--wide")
        self.assertRegex(text, r"\nlock +process +locks|\nlock +process +")
        rows = list(csv.DictReader(io.StringIO(self.report("--csv", "--table", "callers", "--by",
                                                           "thread"))))
        self.assertIn("56 waiter", {row["by"] for row in rows})
        self.assertEqual(list(rows[0])[:4], ["table", "caller", "by", "lock"])
        self.assertIn("56 waiter",
                      tool.join_wrapped_lines(self.report("--html", "-", "--table", "locks",
                                                          "--by", "thread")))
        result = run_tool("report", "--columns", "by", self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn('no printed table has a column "by"', result.stderr)

    def test_report_of_all_tables_is_split_where_it_can_be(self):
        self.write_mixed_records()
        report = json.loads(self.report("--json", "--by", "irql"))
        self.assertEqual({table for table in report if isinstance(report[table], list) and
                          report[table] and "by" in report[table][0]},
                         {"locks", "callers", "resources", "stacks"})
        self.assertTrue(report["processors"] and report["threads"])
        self.assertEqual(tool.undescribed_fields(report["locks"], "report"), set())
        text = self.report("--by", "process", "--columns", "wait_total", "--table", "locks")
        self.assertNotIn("leader", text)
        text = self.report("--by", "process", "--columns", "wait_total")
        self.assertIn("leader", text[text.index("Spin locks"):])

    def test_page_has_each_lock_once(self):
        self.write_mixed_records()
        plain = tool.pictures_of_page(self.report("--html", "-"))
        split = tool.pictures_of_page(self.report("--html", "-", "--by", "thread"))
        self.assertEqual([lock["lock"] for lock in split["locks"]],
                         [lock["lock"] for lock in plain["locks"]])
        self.assertEqual([lock["times"] for lock in split["locks"]],
                         [lock["times"] for lock in plain["locks"]])
        self.assertEqual(split["timelines"], plain["timelines"])

    def test_filter_and_lock_leave_out_records_of_the_parts(self):
        self.write_mixed_records()
        for options in ("--filter", "thread == 56"), ("--lock", "inner_lock"), ("--from", "0.002"):
            plain = sum(row["wait_total_ns"] for row in self.rows_of_table("locks", *options))
            split = sum(row["wait_total_ns"]
                        for row in self.rows_of_table("locks", "--by", "cpu", *options))
            self.assertAlmostEqual(plain, split, msg=options)

    def test_rows_of_many_files_have_the_host_and_the_part(self):
        self.write_mixed_records()
        result = run_tool("report", "--json", "--table", "locks", "--by", "process", self.path,
                          self.path)
        rows = json.loads(result.stdout)["locks"]
        one = self.rows_of_table("locks", "--by", "process")
        self.assertEqual(len(rows), 2 * len(one))
        self.assertEqual(list(rows[0])[:3], ["host", "lock", "by"])
        self.assertEqual(sum(row["hold_total_ns"] for row in rows),
                         2 * sum(row["hold_total_ns"] for row in one))
        lines = run_tool("report", "--ndjson", "--by", "process", "--columns", "wait_total",
                         self.path)
        line = json.loads(lines.stdout.splitlines()[1])
        self.assertEqual(list(line)[:3], ["host", "lock", "by"])

    def test_top_keeps_the_first_rows(self):
        self.write_mixed_records()
        rows = self.rows_of_table("locks", "--by", "thread")
        self.assertEqual(self.rows_of_table("locks", "--by", "thread", "--top", "2"), rows[:2])
        both = run_tool("report", "--json", "--by", "thread", "--table", "locks", "--top", "2",
                        self.path,
                        self.path)
        self.assertEqual([{**row, "host": None} for row in json.loads(both.stdout)["locks"]],
                         [{**rows[0], "host": None}] * 2)

    def test_table_that_cannot_be_split_is_refused_with_the_reason(self):
        self.write_mixed_records()
        for by, table, words in (
                ("process", "processors", "its rows are CPUs; see --table threads --by cpu"),
                ("process", "unknown", "its events tell no task"),
                ("irql", "threads", "context switches tell only task, thread, process, cgroup and"),
                ("stack", "threads", "context switches tell only")):
            result = run_tool("report", "--by", by, "--table", "locks", "--table", table, self.path)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("--by %s: it cannot split the table %s: %s" % (by, table, words),
                          result.stderr)

    def test_more_parts_than_sums_add_up_to_the_whole(self):
        """16384 pairs of a spin lock and a caller have a row; the others share one."""
        self.write(etl.long_file([*RATES, *(
            spin_event(20 * number, 20 * number + 10, 1, thread=number + 1)
            for number in range(17000))]))
        rows = self.rows_of_table("locks", "--by", "thread")
        self.assertEqual(len(rows), 16385)
        (others,) = (row for row in rows if row["lock"] == "(others)")
        self.assertEqual((others["by"], others["sampled"]), ("(others)", 17000 - 16384))
        (whole,) = self.rows_of_table("locks")
        for name in "sampled", "wait_total_ns", "hold_total_ns":
            self.assertAlmostEqual(sum(row[name] for row in rows), whole[name], places=3)

    def compile(self, source, result, *arguments):
        path = self.path + result
        subprocess.run(["cc", "-I", SOURCES, "-x", "c", "-", *arguments, "-o", path], input=source,
                       text=True, check=True)
        return path

    def find_threads_with_equal_hashes(self):
        printer = self.compile(NO_RANDOM + PRINT_HASHES, ".hashes", SOURCES + "/ground/hash.c")
        threads = range(100000, 300000)
        hashes = subprocess.run([printer], input="\n".join(map(str, threads)), text=True, check=True,
                                stdout=subprocess.PIPE).stdout.split()
        threads_by_hash = collections.defaultdict(list)
        for thread, value in zip(threads, hashes):
            threads_by_hash[value].append(thread)
        return [thread for same in threads_by_hash.values() for thread in same if len(same) > 1]

    def test_threads_with_equal_hashes_have_rows_of_their_own(self):
        threads = self.find_threads_with_equal_hashes()
        self.assertGreaterEqual(len(threads), 20)
        self.write(etl.long_file([*RATES, *(
            spin_event(20 * number, 20 * number + 10, 1, thread=thread)
            for number, thread in enumerate(threads))]))
        library = self.compile(NO_RANDOM, ".so", "-shared", "-fPIC")
        result = run_tool("report", "--json", "--table", "locks", "--by", "thread", self.path,
                          env={**os.environ, "LD_PRELOAD": library,
                               "ASAN_OPTIONS": "verify_asan_link_order=0"})
        rows = json.loads(result.stdout)["locks"]
        self.assertEqual(sorted(int(row["by"]) for row in rows), sorted(threads))

    def test_longest_names_are_told_apart_and_keep_their_context(self):
        frames = [0xFFFFFFFF90000000 + 0x100 * number for number in range(9)]
        names = ["%s_%d" % ("long" * 50, number) for number in range(9)]
        with open(self.path + ".names", "a", encoding="utf-8") as stream:
            for frame, name in zip(frames, names):
                stream.write("%x T %s\n" % (frame, name))
        stacks = [[frame + 1 for frame in frames[:7] + [last]] for last in frames[7:]]
        self.write_events(spin_event(0, 100, 20), stack_event_of(100, *stacks[0]),
                          spin_event(200, 300, 20), stack_event_of(300, *stacks[1]),
                          spin_event(400, 500, 20, flags=0x41), stack_event_of(500, *stacks[0]))
        ends = [row["by"][-16:] for row in self.rows_of_table("locks", "--by", "stack")]
        self.assertEqual(sorted(ends), ["long_7 (softirq)", "nglonglonglong_7", "nglonglonglong_8"])

    def test_longest_paths_of_cgroups_are_told_apart(self):
        paths = ["/" + "%s_%d" % ("slice/" * 682, number) for number in (1, 2)]
        self.assertEqual(len(paths[0]), 4095)
        with open(self.path + ".names", "a", encoding="utf-8") as stream:
            for thread, path in zip((61, 62), paths):
                stream.write("thread %d task\t%d\t%s\n" % (thread, thread, path))
        self.write_events(spin_event(0, 100, 20, thread=61), spin_event(200, 300, 20, thread=62),
                          spin_event(400, 500, 20, thread=61, flags=0x81))
        labels = [*paths, paths[0] + " (interrupt)"]
        self.assertEqual(sorted(row["by"] for row in self.rows_of_table(
            "locks", "--by", "cgroup")), sorted(labels))
        waits = self.rows_of_table("longest", "--by", "cgroup")
        self.assertEqual(sorted(row["by"] for row in waits), sorted(labels))
        self.assertEqual({row["waiter"].split(" [")[1] for row in waits},
                         {path + "]" for path in paths})

    def test_flames_tell_the_longest_paths_of_cgroups_apart(self):
        paths = ["/" + "%s_%d" % ("slice/" * 682, number) for number in (1, 2)]
        with open(self.path + ".names", "a", encoding="utf-8") as stream:
            for thread, path in zip((61, 62), paths):
                stream.write("thread %d task\t%d\t%s\n" % (thread, thread, path))
        self.write_events(spin_event(0, 100, 20, thread=61),
                          stack_event_of(100, 0xFFFFFFFF81000601, thread=61),
                          spin_event(200, 300, 30, thread=62),
                          stack_event_of(300, 0xFFFFFFFF81000601, thread=62))
        folded = run_tool("report", "--folded", "--by", "cgroup", self.path).stdout
        self.assertEqual(folded.splitlines(), [
            "%s;walks_pages %d" % (path, wait * NS) for path, wait in zip(paths, (20, 30))])
        flames = tool.pictures_of_page(self.report("--html", "-", "--by", "cgroup"))["flames"]
        self.assertEqual([name for depth, name, *_ in flames["waits"]["functions"] if not depth],
                         paths)


if __name__ == "__main__":
    tap.main()
