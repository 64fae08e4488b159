#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print a table of the costs that linux-guest.sh has measured, and write them as JSON.

Usage: linux.py OUTPUT.json guest.log
"""

import json
import sys

# Upper bounds of each mode: instructions of a pair, and the part by which the workload gets longer.
GOALS = {
    "full": {"raw_spin_lock": 45, "spin_lock_irqsave": 58, "spin_lock_bh": 61, "workload": 0.01},
    "sampled": {"raw_spin_lock": 30, "workload": 0.003},
    "waits": {"workload": 0.001},
    "sleeping": {"mutex": 80, "down_read": 100, "down_write": 100, "workload": 0.012},
}


def read_results(path):
    """{pair: {state: instructions}}, and the costs of the workload"""
    pairs, workload = {}, {}
    with open(path) as stream:
        for line in stream:
            words = line.split()
            if words[:2] == ["ntklog_bench:", "pair"]:
                pairs.setdefault(words[3], {})[words[2]] = int(words[4]) / 1000
            elif words[:1] == ["workload"]:
                workload[words[1]] = min(int(words[2]), workload.get(words[1], sys.maxsize))
    return pairs, workload


def format_goals(what, values, form):
    notes = []
    for mode, goals in GOALS.items():
        if what in goals and mode in values:
            met = "met" if values[mode] <= goals[what] else "NOT MET"
            notes.append(("%s at most " + form + ", %s") % (mode, goals[what], met))
    return "   " + "; ".join(notes) if notes else ""


def main():
    output, log = sys.argv[1:]
    pairs, workload = read_results(log)
    # In the order of the measurements: plain, the states of linux.sh, restored.
    states = list(pairs["raw_spin_lock"])
    print("\nLinux' own locks: instructions of an uncontended acquire and release\n")
    print("%-24s" % "" + "".join("%10s" % state for state in states))
    for name, costs in pairs.items():
        print("%-24s" % name + "".join("%10.1f" % costs[state] for state in states) +
              format_goals(name, costs, "%d"))
    # Compare with the workload without hooks that ran near it.
    workload["without_plain"] = workload["plain"] = workload["without_" + states[1]]
    workload["without_restored"] = workload["without_" + states[-2]]
    more = {state: workload[state] / workload["without_" + state] - 1 for state in states}
    print("%-24s" % "workload" + "".join("%+9.2f%%" % (more[state] * 100) for state in states) +
          format_goals("workload", more, "%g"))
    with open(output, "w") as stream:
        json.dump({"pairs": pairs, "workload": workload, "more": more}, stream,
                  indent=1)


if __name__ == "__main__":
    main()
