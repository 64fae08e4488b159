#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print tables of the instructions that recorder-guest.sh has measured, and write them as JSON.

Usage: recorder.py OUTPUT.json guest.log...
"""

import json
import sys

# At most this share of a CPU at this many events a second. A nanosecond is an instruction here.
RATE = 10000
GOAL = 0.03
# Upper bounds of the instructions that a recording adds to the workload, as a part of it.
WORKLOAD_GOALS = {"default": 0.03, "spinning": 0.015, "sleeping": 0.02, "sampled": 0.007}


def read_results(paths):
    """Return for each state: instructions of the start, seconds, instructions and events of the
    measurement; and for each recorded workload: least instructions without and with the
    recording, least instructions of the tool, and events.
    """
    states, workloads = {}, {}
    for line in (line for path in paths for line in open(path)):
        words = line.split()
        if words[:1] == ["recorder"]:
            begin, begin_used, begin_events, end, used, events = (int(word) for word in words[2:])
            states[words[1]] = {"start": begin_used, "seconds": (end - begin) / 1e9,
                                "used": used - begin_used, "events": events - begin_events}
        elif words[:1] == ["recording"]:
            begin_used, begin_events, used, events = (int(word) for word in words[2:])
            keep_least(workloads, words[1], "tool", used - begin_used)
            keep_least(workloads, words[1], "events", events - begin_events)
        elif words[:1] == ["workload"]:
            which = "without" if words[1].startswith("without_") else "with"
            keep_least(workloads, words[1].replace("without_", ""), which, int(words[2]))
    return states, workloads


def keep_least(workloads, name, which, value):
    costs = workloads.setdefault(name, {})
    costs[which] = min(value, costs.get(which, value))


def format_goal(value, goal):
    return "at most %g %%, %s" % (goal * 100, "met" if value <= goal else "NOT MET")


def print_rates(states):
    """Return instructions of a second, instructions of an event, and the share of a CPU."""
    idle, busy = states["idle"], states["busy"]
    per_second = idle["used"] / idle["seconds"]
    per_event = (busy["used"] - per_second * busy["seconds"]) / busy["events"]
    share = (per_second + RATE * per_event) / 1e9
    print("\nntklog record: instructions\n")
    print("%-52s %12.1f million" % ("to begin: all symbols and threads, before the session",
                                    idle["start"] / 1e6))
    print("%-52s %12.1f million" % ("a second in which nothing happens", per_second / 1e6))
    print("%-52s %12.0f" % ("an event, of %.0f a second" % (busy["events"] / busy["seconds"]),
                            per_event))
    print("%-52s %12.2f %% of a processor; %s" % ("%d events a second" % RATE, share * 100,
                                                  format_goal(share, GOAL)))
    return {"per_second": per_second, "per_event": per_event, "share": share}


def print_workloads(workloads):
    print("\nntklog record beside the workload, on one CPU: instructions, in millions\n")
    print("%-12s %10s %10s %10s %10s %10s" % ("", "without", "added", "of the tool", "events",
                                              "added"))
    for name, costs in workloads.items():
        added = costs["with"] - costs["without"]
        costs["more"] = added / costs["without"]
        print("%-12s %10.1f %10.1f %10.1f %10d %+9.2f%%   %s" % (
            name, costs["without"] / 1e6, added / 1e6, costs["tool"] / 1e6, costs["events"],
            costs["more"] * 100, format_goal(costs["more"], WORKLOAD_GOALS[name])))


def main():
    output, *logs = sys.argv[1:]
    states, workloads = read_results(logs)
    rates = print_rates(states)
    print_workloads(workloads)
    with open(output, "w") as stream:
        json.dump({"states": states, **rates, "workloads": workloads}, stream, indent=1)


main()
