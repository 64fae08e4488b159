#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How often do the errors that ntklog report prints cover the truth?"""

import json
import math
import random

import etl_writer as etl
import tap
import tool
from tool import draw_poisson, run_tool

RATE = 1000
ROWS = 100
# Mean numbers of records of a row.
SIZES = 10, 30, 100

# How a duration is drawn, in units of 1000 cycles, and its mean.
DISTRIBUTIONS = {
    "constant": (lambda random: 1, 1),
    "exponential": (lambda random: random.expovariate(1), 1),
    "log-normal, sigma 1": (lambda random: random.lognormvariate(0, 1), math.exp(.5)),
    "log-normal, sigma 1.5": (lambda random: random.lognormvariate(0, 1.5), math.exp(1.125)),
    "log-normal, sigma 2": (lambda random: random.lognormvariate(0, 2), math.exp(2)),
    "Pareto, alpha 2.5": (lambda random: random.paretovariate(2.5), 2.5 / 1.5),
}
# Late enough for the longest wait and hold.
LATE = {"time_stamp": etl.START_CLOCK + 50 * etl.PERF_FREQ}


class Coverage(tool.Case):
    def rows_with_truth(self, rundown, record, name, table):
        """Yield (distribution, the row of the report, its true total in ns)."""
        generator = random.Random(1)
        events, truth = [rundown], {}
        for distribution, (draw, mean) in DISTRIBUTIONS.items():
            for size in SIZES:
                for _ in range(ROWS):
                    address = 0x1000 + 16 * len(truth)
                    truth[hex(address)] = distribution, size * RATE * mean * 1000
                    events += [record(address, int(1000 * draw(generator)) + 1)
                               for _ in range(draw_poisson(generator, size))]
        # A CPU that acquires one lock alone looks like a loop in step with the rate.
        events[1:] = generator.sample(events[1:], len(events) - 1)
        self.write(etl.long_file(events))
        result = run_tool("report", "--json", "--table", table, self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(result.stdout)[table]:
            distribution, total = truth[row[name]]
            yield distribution, row, total * 1e9 / etl.PERF_FREQ

    def check_coverage(self, rows, column):
        covered = {name: [] for name in DISTRIBUTIONS}
        for distribution, row, total in rows:
            error = row[column + "_total_error"]
            if error is not None:
                covered[distribution].append(abs(row[column + "_total_ns"] - total) /
                                             (error * row[column + "_total_ns"]))
        everything = sum(covered.values(), [])
        for name, ratios in [*covered.items(), ("all", everything)]:
            if len(ratios) < 30:
                continue
            one = sum(ratio <= 1 for ratio in ratios) / len(ratios)
            two = sum(ratio <= 2 for ratio in ratios) / len(ratios)
            print("# %s: %d rows without a mark, %.0f and %.0f %%" %
                  (name, len(ratios), 100 * one, 100 * two))
            self.assertGreaterEqual(one, .65, name)
            self.assertGreaterEqual(two, .92, name)
        # Marks are for rows of few records or of heavy tails.
        self.assertGreater(len(covered["constant"]), .75 * ROWS * len(SIZES))
        self.assertGreater(len(covered["exponential"]), .35 * ROWS * len(SIZES))
        self.assertGreater(len(covered["log-normal, sigma 1"]), .45 * ROWS * len(SIZES))

    def test_sampling_errors_of_holds_cover_the_truth(self):
        self.check_coverage(self.rows_with_truth(
            etl.spinlock_rundown(1, 1, RATE, 0),
            lambda address, time: etl.perfinfo(0x0529, etl.spin_lock(
                address=address, spins=0, acquire=1000, release=1000 + time), **LATE),
            "lock", "locks"), "hold")

    def test_sampling_errors_of_waits_cover_the_truth(self):
        self.check_coverage(self.rows_with_truth(
            etl.spinlock_rundown(1, RATE, RATE, 0),
            lambda address, time: etl.perfinfo(0x0529, etl.spin_lock(
                address=address, spins=5, wait=time), **LATE), "lock", "locks"), "wait")

    def test_sampling_errors_of_resources_cover_the_truth(self):
        self.check_coverage(self.rows_with_truth(
            etl.resource_rundown(RATE, 1),
            lambda address, time: etl.linux_lock_event("mutex", address=address, wait=0, delta=0,
                                                       hold=time, **LATE), "resource", "resources"),
                            "hold")

    def test_records_that_are_always_written_add_no_sampling_error(self):
        data = etl.file(etl.spinlock_rundown(1, 1, RATE, 100_000), *(
            etl.perfinfo(0x0529, etl.spin_lock(spins=0, acquire=1000, release=1000 + hold), **LATE)
            for hold in [20_000_000] * 10 + [200] * 5))
        self.write(data)
        (row,) = json.loads(run_tool("report", "--json", "--table", "locks",
                                     self.path).stdout)["locks"]
        self.assertLess(row["hold_total_error"], .05)


if __name__ == "__main__":
    tap.main()
