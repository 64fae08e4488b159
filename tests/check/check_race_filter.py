#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try drop_kernel_races() of tests/lib.sh with reports of KCSAN as the kernel prints them.

Usage: check_race_filter.py TOP
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import tap

TOP = sys.argv[1]
LINE = "=" * 66


def report(first, second, callers=("etw_log_event [ntklog]",), task=100):
    """A report about accesses of two functions, each with the callers above it."""
    lines = [LINE, "BUG: KCSAN: data-race in %s / %s" % (first, second), ""]
    for cpu, function in enumerate((first, second)):
        lines.append("write to 0xffff888003f0a010 of 8 bytes by task %d on cpu %d:" % (task, cpu))
        for name in (function, *callers):
            lines.append(" " + re.sub(r"^\w+", r"\g<0>+0x25/0x90", name))
        lines.append("")
    return ["[   10.000001][  T%d] %s" % (task, line) for line in lines + [LINE]]


def kept_reports(*lines):
    """Return the first lines of the reports that the filter leaves in."""
    with open(os.path.join(TOP, "tests/lib.sh"), encoding="utf-8") as stream:
        function = re.search(r"^drop_kernel_races\(\).*?^}", stream.read(), re.S | re.M)[0]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as log:
        log.write("\n".join(lines) + "\n")
        log.flush()
        output = subprocess.run(["bash", "-c", function + '\ndrop_kernel_races "$1"', "-", log.name],
                                check=True, capture_output=True, text=True).stdout
    return re.findall(r"data-race in (.*)", output)


class RaceFilter(unittest.TestCase):
    def test_races_of_two_functions_of_the_modules_are_kept(self):
        self.assertEqual(kept_reports(*report("etw_a [ntklog]", "etw_b [ntklog]")),
                         ["etw_a [ntklog] / etw_b [ntklog]"])

    def test_races_without_the_modules_are_left_out(self):
        self.assertEqual(kept_reports(*report("tick_a", "tick_b", ("do_idle",))), [])

    def test_races_between_writer_and_reader_of_relay_are_left_out(self):
        self.assertEqual(kept_reports(*report("relay_switch_subbuf", "relay_subbufs_consumed")), [])

    def test_two_writers_of_one_buffer_of_relay_are_kept(self):
        self.assertEqual(kept_reports(*report("relay_switch_subbuf", "relay_switch_subbuf")),
                         ["relay_switch_subbuf / relay_switch_subbuf"])

    def test_races_of_a_sleeping_task_with_its_timer_are_left_out(self):
        self.assertEqual(kept_reports(*report("do_nanosleep", "hrtimer_wakeup",
                                              ("nap [ntklog_kunit]",))), [])

    def test_races_of_a_reader_of_the_clock_with_its_update_are_left_out(self):
        # The clock is copied without marks. A sequence counter lets a reader try again.
        self.assertEqual(kept_reports(*report("ktime_get", "timekeeping_advance")), [])
        self.assertEqual(kept_reports(*report("timekeeping_advance", "ktime_get")), [])
        other = "etw_read_clock / timekeeping_advance"
        self.assertEqual(kept_reports(*report(*other.split(" / "))), [other])

    def test_accesses_of_the_modules_that_race_with_a_timer_are_kept(self):
        # The first line may name the kernel's function into which ours was called.
        lines = report("etw_flush_now", "hrtimer_active")
        lines[4] = lines[4].replace("etw_flush_now+0x25/0x90", "etw_flush_now+0x25/0x90 [ntklog]")
        self.assertEqual(kept_reports(*lines), ["etw_flush_now / hrtimer_active"])

    def test_a_report_after_one_without_its_end_is_kept(self):
        cut = report("do_nanosleep", "hrtimer_wakeup")[:3]
        kept = kept_reports(*cut, *report("etw_a [ntklog]", "etw_b [ntklog]", task=200))
        self.assertIn("etw_a [ntklog] / etw_b [ntklog]", kept)


if __name__ == "__main__":
    tap.main()
