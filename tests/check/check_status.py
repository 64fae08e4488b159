#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Try the line of progress (tests/status.awk) with states of a run.

Usage: check_status.py TOP
"""

import re
import subprocess
import sys
import unittest

import tap

TOP = sys.argv[1]
NOW = 10000


def line_of(*steps):
    """Return the line of progress ten minutes after the start, with room for two machines."""
    return subprocess.run(["awk", "-v", "now=%d" % NOW, "-v", "start=%d" % (NOW - 600),
                           "-v", "slots=2", "-f", TOP + "/tests/status.awk"],
                          input="\n".join(steps) + "\n", check=True, capture_output=True,
                          text=True).stdout


def forecast(*steps):
    """Return the seconds that the line says are left."""
    number, unit = re.search(r"about (\d+) (s|min) left", line_of(*steps)).groups()
    return int(number) * {"s": 1, "min": 60}[unit]


class Line(unittest.TestCase):
    def test_finished_and_running_steps_are_shown(self):
        self.assertEqual(line_of("style beside 40 9400 35 20 10", "tool host 60 9990"),
                         "[ 600s] 1 of 2 steps done, about 47 s left; running: tool\n")


class Forecast(unittest.TestCase):
    def test_virtual_machines_share_the_processors(self):
        self.assertEqual(forecast(*["core-%d vm 300 -" % i for i in range(4)]), 600)
        self.assertEqual(forecast("crowd vm2 300 -", "parallel vm2 300 -"), 600)

    def test_host_steps_follow_each_other(self):
        self.assertEqual(forecast("tool host 300 -", "docs host 300 -", "core-6.12 vm 60 -"), 600)

    def test_time_of_a_step_beside_the_others_is_not_added(self):
        self.assertEqual(forecast("tool host 600 -", "style beside 300 -"), 600)
        self.assertEqual(forecast("tool host 300 -", "style beside 600 -"), 600)

    def test_download_is_added_to_its_step(self):
        self.assertEqual(forecast("core-6.12 300", "core-6.12 vm 300 -"), 600)

    def test_slow_machine_is_noticed(self):
        self.assertEqual(forecast("core-6.12 vm 300 9000 660 500 20", "kunit-6.12 vm 300 -"), 600)

    def test_late_step_takes_a_quarter_of_its_time_longer(self):
        self.assertEqual(forecast("core-6.12 vm 600 %d" % (NOW - 2400)), 600)

    def test_late_step_of_a_fast_machine_takes_longer_too(self):
        self.assertEqual(forecast("style beside 1000 9000 220 200 10",
                                  "tool host 1500 %d" % (NOW - 1200)), 300)

    def test_build_of_a_kernel_is_forecast_by_its_files(self):
        self.assertEqual(forecast("kernel-debug vm 420 9400 (250 of about 1500 files)"), 3000)
        self.assertEqual(forecast("kernel-debug vm 600 10000 (90 of about 1500 files)"), 600)
        self.assertEqual(forecast("kernel-debug vm 600 10000 (extracting all of the source)"), 600)


tap.main()
