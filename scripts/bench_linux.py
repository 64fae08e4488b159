#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A table and JSON of what bench-linux-guest.sh printed.

Usage: bench_linux.py OUTPUT.json guest.log
"""

import json
import sys

STATES = ["plain", "tracked", "restored"]
GOALS = {"raw_spin_lock": 42, "spin_lock_irqsave": 58, "spin_lock_bh": 58}
WORKLOAD_GOAL = 0.015


def read(path):
    pairs, workload = {}, {}
    with open(path) as stream:
        for line in stream:
            words = line.split()
            if words[:2] == ["ntklog_bench:", "pair"]:
                pairs.setdefault(words[3], {})[words[2]] = int(words[4]) / 1000
            elif words[:1] == ["workload"]:
                workload[words[1]] = int(words[2])
    return pairs, workload


def main():
    output, log = sys.argv[1:]
    pairs, workload = read(log)
    print("\nLinux' own locks: instructions of an uncontended acquire and release\n")
    print("%-24s" % "" + "".join("%10s" % state for state in STATES) + "   tracked at most")
    for name, costs in pairs.items():
        limit = GOALS.get(name)
        note = "   %d, %s" % (limit, "met" if costs["tracked"] <= limit else "NOT MET") \
            if limit else ""
        print("%-24s" % name + "".join("%10.1f" % costs[state] for state in STATES) + note)
    share = workload["tracked"] / workload["plain"] - 1
    print("\na workload (find, dd, fork): %+.2f %% tracked, %+.2f %% restored; at most %+.1f %%" % (
        share * 100, (workload["restored"] / workload["plain"] - 1) * 100, WORKLOAD_GOAL * 100))
    with open(output, "w") as stream:
        json.dump({"pairs": pairs, "workload": workload, "workload_tracked": share}, stream,
                  indent=1)


if __name__ == "__main__":
    main()
