#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the recordings and the output that the tool left in the virtual machine.

Usage: check_tool.py NTKLOG DIRECTORY
"""

import json
import os
import re
import subprocess
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:3]


def path_of(name):
    return os.path.join(DIRECTORY, name)


def read_text(name):
    with open(path_of(name), newline="") as stream:
        return stream.read()


def decode_recording(name, is_killed=False):
    with open(path_of(name), "rb") as stream:
        data = stream.read()
    # A recorder that is killed may have written a part of its last buffer.
    size = int.from_bytes(data[:4], "little")
    if is_killed:
        data = data[:len(data) // size * size]
    buffers = etl.decode(data)
    return etl.logfile_header(buffers), buffers[1:]


def run_ntklog(*arguments):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=120)


def read_counter_sums(name):
    names, *rows = [line.split() for line in read_text(name).splitlines()]
    return {title: sum(int(row[i]) for row in rows) for i, title in enumerate(names) if i}


class Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = decode_recording("tool.etl")
        cls.report = json.loads(run_ntklog("report", "--json", "--columns", "all", "--top", "0",
                                    path_of("tool.etl")).stdout)

    def test_buffers_are_in_order(self):
        header, buffers = self.trace
        self.assertEqual([buffer.sequence for buffer in buffers],
                         list(range(1, len(buffers) + 1)))
        self.assertEqual(header.buffers_written, len(buffers) + 1)
        self.assertNotEqual(header.end_time, 0)

    def test_no_event_is_lost(self):
        header, buffers = self.trace
        self.assertEqual((header.events_lost, header.buffers_lost), (0, 0))
        self.assertGreaterEqual(len(buffers), 2)

    def test_dump_and_report_have_the_events_of_the_decoder(self):
        count = sum(len(buffer.events) for buffer in self.trace[1])
        dump = run_ntklog("dump", "--json", path_of("tool.etl"))
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        events = [json.loads(line) for line in dump.stdout.splitlines()]
        # The first buffer has three events of the header, which dump prints, too.
        self.assertEqual(len(events), count + 3)
        self.assertEqual(self.report["events"], count)
        self.assertEqual([event["Time"] for event in events],
                         sorted(event["Time"] for event in events))

    def test_names_of_an_unloaded_module_are_kept(self):
        locks = {row["lock"] for row in self.report["locks"]}
        self.assertTrue(any(lock.startswith("torture_locks") and
                            lock.endswith("[ntklog_torture]") for lock in locks), locks)
        self.assertTrue(any("torture_release" in row["caller"]
                            for row in self.report["callers"]))

    def test_threads_have_names(self):
        self.assertIn("ntklog", {row["name"] for row in self.report["threads"]})

    def test_estimates_are_what_the_kernel_counted(self):
        """All contended acquisitions were written, and one in 1000 of the others."""
        before, after = read_counter_sums("tool.before"), read_counter_sums("tool.after")
        acquired = after["SpinLockAcquireCount"] - before["SpinLockAcquireCount"]
        contended = after["SpinLockContentionCount"] - before["SpinLockContentionCount"]
        rows = self.report["locks"]
        estimate = sum(row["acquisitions"] for row in rows)
        self.assertGreater(acquired, 10000)
        # At the start and at the end each processor was somewhere between two samples.
        self.assertAlmostEqual(estimate, acquired, delta=4000 + acquired / 50)
        self.assertAlmostEqual(sum(row["acquisitions"] * row["contended"] for row in rows),
                               contended, delta=10 + contended / 50)

    def test_page_is_written(self):
        result = run_ntklog("report", "--html", path_of("tool.html"), path_of("tool.etl"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Others(unittest.TestCase):
    def test_stop_writes_all_events(self):
        header, buffers = decode_recording("tool-stop.etl")
        written = int(re.match(r"session 4: (\d+) events, 0 lost, in ", read_text("tool-stop.txt"))[1])
        self.assertEqual(sum(len(buffer.events) for buffer in buffers), written)
        self.assertEqual(header.buffers_written, len(buffers) + 1)

    def test_lost_events_are_reported(self):
        header, _ = decode_recording("tool-lost.etl")
        self.assertGreater(header.events_lost, 0)
        self.assertIn("; %d lost" % header.events_lost, read_text("tool-lost.log"))
        self.assertIn("LOST: %d events" % header.events_lost,
                      run_ntklog("report", path_of("tool-lost.etl")).stdout)

    def test_progress_is_shown_on_terminals_only(self):
        shown = read_text("tool-terminal.txt")
        lines = re.findall(r"\r(\d+\.\d) s, (\d+) events, ([\d.]+) MB, (\d+) lost", shown)
        self.assertGreaterEqual(len(lines), 2)
        self.assertGreater(int(lines[-1][1]), int(lines[0][1]))
        self.assertIn("\r\x1b[Kntklog: tool-signal.etl: ", shown)
        self.assertNotIn("\r", read_text("tool-lost.log"))

    def test_top_redraws_the_screen(self):
        shown = read_text("tool-top-terminal.txt")
        self.assertTrue(shown.startswith("\x1b[H\x1b[Jntklog top"))
        plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown)
        # No row is longer than the screen: top leaves out columns for which there is no space.
        self.assertLessEqual(max(len(line) for line in plain.split("\r\n")), 80)
        self.assertIn("torture_locks", plain)

    def test_killed_recording_has_no_end_time(self):
        header, buffers = decode_recording("tool-killed.etl", is_killed=True)
        self.assertEqual(header.end_time, 0)
        self.assertEqual([buffer.sequence for buffer in buffers],
                         list(range(1, len(buffers) + 1)))

    def test_list_has_groups_and_sessions(self):
        listed = json.loads(read_text("list.json"))
        self.assertEqual([group["name"] for group in listed["groups"]],
                         ["spinlock", "resource", "contextswap", "readythread",
                          "spinlock_counters", "linux_spinlock", "linux_rwlock",
                          "linux_mutex", "linux_rwsem", "linux_semaphore", "linux_rt_mutex",
                          "linux_percpu_rwsem", "linux_ww_mutex"])
        self.assertEqual(listed["parameters"]["spinlock"]["acquire_sample_rate"],
                         {"value": 2000, "minimum": 1000, "maximum": 2 ** 32 - 1,
                          "or_zero": False})
        self.assertEqual(listed["parameters"]["resource"]["excessive_timeouts"]["value"], 8)
        self.assertEqual(len(listed["sessions"]), 8)

    def test_top_shows_the_busiest_lock(self):
        shown = json.loads(read_text("top.json"))
        self.assertGreaterEqual(shown["events"], sum(row["sampled"] for row in shown["locks"]))
        self.assertEqual(shown["events_lost"], 0)
        self.assertIn("torture_locks", shown["locks"][0]["lock"])
        waits = [row["wait_total_ns"] for row in shown["locks"]]
        self.assertEqual(waits, sorted(waits, reverse=True))
        screens = read_text("top.txt")
        self.assertIn("per second", screens)
        self.assertIn("waiters", screens)
        self.assertGreaterEqual(screens.count("ntklog top"), 3)
        self.assertIn("torture_locks", screens)
        self.assertNotIn("\x1b", screens)


if __name__ == "__main__":
    tap.main()
