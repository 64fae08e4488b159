#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print tables of the times that workload/native has measured, and write them as JSON: medians of
the runs, as ratios.

Usage: native.py OUTPUT.json <native.log
"""

import collections
import json
import statistics
import sys

# Ratios are relative to BASE, those of Linux' instrumented lock to LINUX. The time of LOOP is
# subtracted.
BASE_LOCK = "in-stack"
LOOP_ALONE = "nothing"
LINUX_LOCK = "Linux' own"

# Title; table, or load (THREADS-CYCLES_INSIDE-CYCLES_OUTSIDE); lock; lock to compare with; kind of
# bound; bound.
GOALS = [
    ("in-stack / ck mcs, uncontended", "pair", "in-stack", "ck mcs", "most", 0.9),
    ("tracked / untraced, in-stack", "pair", "in-stack, tracked", "in-stack", "most", 2.5),
    ("tracked / untraced, ordinary", "pair", "ordinary, tracked", "ordinary", "most", 2.5),
    ("full / plain, Linux' own", "linux", LINUX_LOCK + ", full", None, "most", 6),
    ("sampled / plain, Linux' own", "linux", LINUX_LOCK + ", sampled", None, "most", 2),
    ("ordinary, sections of 1000: fairness", "2-1000-0", "ordinary", None, "least", 0.7),
]

# counts: acquisitions of each thread; handovers: those after another thread's
Run = collections.namedtuple("Run", "counts handovers events")


def read_results(stream):
    """Return pairs by table and lock, contended runs by load and lock, numbers of repeated runs,
    and the cycles and microseconds of a contended run.
    """
    pairs, contended, repeated = {}, {}, {}
    duration = None
    for line in stream:
        kind, *words = line.split(" ")
        if kind == "pair":
            outside = pairs.setdefault("pair" if words[0] == "0" else "pair_apart", {})
            outside.setdefault(" ".join(words[3:]).strip(), []).append(float(words[2]))
        elif kind == "contended":
            load = contended.setdefault("-".join(words[:3]), {})
            counts_end = 6 + int(words[0])
            load.setdefault(" ".join(words[counts_end:]).strip(), []).append(
                Run(list(map(int, words[6:counts_end])), int(words[4]), int(words[5])))
        elif kind == "repeated":
            repeated[words[0]] = {"repeated": int(words[1]), "disturbed": int(words[2]),
                                  "runs": int(words[3])}
        elif kind == "cycles":
            duration = tuple(map(int, words))
    return pairs, contended, repeated, duration


def median_and_quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": round(middle, 3), "quartiles": [round(low, 3), round(high, 3)]}


def pair_ratios(pairs):
    """All locks of a run have the same memory layout, so compare with the base of the same run."""
    loop, base = pairs[LOOP_ALONE], pairs[BASE_LOCK]
    return {name: median_and_quartiles([(value - nothing) / (ours - nothing)
                                        for value, nothing, ours
                                        in zip(values, loop, base)])
            for name, values in pairs.items() if name != LOOP_ALONE}


def linux_pair_cycles(pairs):
    result = {}
    for name, values in pairs.items():
        if name.startswith(LINUX_LOCK):
            result[name] = {
                "cycles": median_and_quartiles([value - nothing for value, nothing
                                                in zip(values, pairs[LOOP_ALONE])]),
                "ratio": median_and_quartiles([(value - nothing) / (plain - nothing)
                                               for value, nothing, plain
                                               in zip(values, pairs[LOOP_ALONE],
                                                      pairs[LINUX_LOCK])])}
    return result


def throughput_ratios(runs, others):
    return median_and_quartiles([sum(run.counts) / sum(other.counts)
                                 for run, other in zip(runs, others)])


def median_fairness(runs):
    return round(statistics.median(min(run.counts) / max(run.counts) for run in runs), 3)


def contended_ratios(load):
    ratios = {}
    for name, runs in load.items():
        result = throughput_ratios(runs, load[BASE_LOCK])
        result["fairness"] = median_fairness(runs)
        result["handed_over"] = round(statistics.median(
            run.handovers / sum(run.counts) for run in runs), 3)
        handovers = [run.handovers / ours.handovers for run, ours in zip(runs, load[BASE_LOCK])
                     if ours.handovers]
        result["handovers"] = round(statistics.median(handovers), 3) if handovers else None
        ratios[name] = result
    return ratios


def contended_linux_results(load, microseconds):
    """Millions of acquisitions a second, ratio to the plain lock, fairness, and events for each
    acquisition.
    """
    return {name: {"millions": median_and_quartiles([sum(run.counts) / microseconds
                                                     for run in runs]),
                   "ratio": throughput_ratios(runs, load[LINUX_LOCK]),
                   "fairness": median_fairness(runs),
                   "events": round(statistics.median(run.events / sum(run.counts)
                                                     for run in runs), 3)}
            for name, runs in load.items() if name.startswith(LINUX_LOCK)}


def contended_cost_in_pairs(load, cycles, pair):
    return median_and_quartiles([cycles / sum(run.counts) / pair for run in load[BASE_LOCK]])


def list_goals(result):
    for text, where, one, other, kind, limit in GOALS:
        if where == "pair":
            if one not in result["pair"] or other not in result["pair"]:
                continue
            value = result["pair"][one]["median"] / result["pair"][other]["median"]
        elif where == "linux":
            value = result["linux"][one]["ratio"]["median"]
        elif where in result["contended"]:
            value = result["contended"][where][one]["fairness"]
        else:
            continue
        met = value <= limit if kind == "most" else value >= limit
        yield {"goal": text, kind: limit, "value": round(value, 3), "met": met}


def print_linux(result):
    print("\nnative: cycles of the TSC of an uncontended pair of Linux' own spin lock, and "
          "%s = 1\n" % LINUX_LOCK)
    print("%-32s %8s   %-14s %6s %20s %6s" % ("", "at once", "", "", "100 cycles apart", ""))
    for name, pair in result["linux"].items():
        apart = result["linux_apart"][name]
        print("%-32s %8.1f   %5.1f to %-6.1f %5.2f %20.1f %6.2f" % (
            name, pair["cycles"]["median"], *pair["cycles"]["quartiles"],
            pair["ratio"]["median"], apart["cycles"]["median"], apart["ratio"]["median"]))


def describe_load(load):
    threads, section, outside = load.split("-")
    return "%s processors, sections of %s cycles, %s outside" % (
        threads, section, "0 to %s" % outside if outside != "0" else "none")


def print_linux_contended(load, locks):
    print("\nnative: %s; acquisitions of Linux' own spin lock\n" % describe_load(load))
    print("%-32s %12s %8s   %-14s %8s %10s" % (
        "", "millions/s", "ratio", "quartiles", "fairness", "events"))
    for name, lock in locks.items():
        print("%-32s %12.2f %8.2f   %.2f to %-6.2f %8.2f %10.3f" % (
            name, lock["millions"]["median"], lock["ratio"]["median"],
            *lock["ratio"]["quartiles"], lock["fairness"], lock["events"]))


def print_counts_of_runs(repeated, kind):
    if kind in repeated:
        counts = repeated[kind]
        print("(%d runs; %d times one again, since a thread was switched; %d are disturbed "
              "all the same)" % (counts["runs"], counts["repeated"], counts["disturbed"]))


def print_results(result):
    print("\nnative: time of an uncontended pair, %s = 1; medians of %d, quartiles\n" % (
        BASE_LOCK, result["runs"]))
    print("%-32s %8s   %-14s %8s" % ("", "at once", "", "100 cycles apart"))
    for name, ratio in result["pair"].items():
        apart = result["pair_apart"][name]
        print("%-32s %8.2f   %.2f to %-6.2f %8.2f   %.2f to %.2f" % (
            name, ratio["median"], *ratio["quartiles"], apart["median"], *apart["quartiles"]))
    print_counts_of_runs(result["repeated"], "pair-0")
    print_counts_of_runs(result["repeated"], "pair-1")
    print_linux(result)
    for load, locks in result["contended"].items():
        print("\nnative: %s; ownerships, %s = 1" % (describe_load(load), BASE_LOCK))
        print("\n%-32s %8s   %-14s %8s %12s %12s" % (
            "", "median", "quartiles", "fairness", "handed over", "hand-overs"))
        for name, ratio in locks.items():
            has_section = load.split("-")[1] != "0" and ratio["handovers"] is not None
            print("%-32s %8.2f   %.2f to %-6.2f %8.2f %12s %12s" % (
                name, ratio["median"], *ratio["quartiles"], ratio["fairness"],
                "%.2f" % ratio["handed_over"] if has_section else "",
                "%.2f" % ratio["handovers"] if has_section else ""))
        time = result["ownership"][load]
        print("(one ownership of %s took as long as %.0f uncontended pairs, %.0f to %.0f)" % (
            BASE_LOCK, time["median"], *time["quartiles"]))
        print_linux_contended(load, result["linux_contended"][load])
        print_counts_of_runs(result["repeated"], "contended-" + load)
    print("\n%-48s %8s %8s" % ("goal", "", "is"))
    for goal in result["goals"]:
        kind = "most" if "most" in goal else "least"
        print("%-48s %s %4.2f %8.2f  %s" % (goal["goal"], "<=" if kind == "most" else ">=",
                                           goal[kind], goal["value"],
                                           "met" if goal["met"] else "NOT MET"))


def main():
    pairs, contended, repeated, duration = read_results(sys.stdin)
    pair = statistics.median(pairs["pair"][BASE_LOCK]) - \
        statistics.median(pairs["pair"][LOOP_ALONE])
    result = {"runs": len(pairs["pair"][BASE_LOCK]), "pair": pair_ratios(pairs["pair"]),
              "pair_apart": pair_ratios(pairs["pair_apart"]),
              "linux": linux_pair_cycles(pairs["pair"]),
              "linux_apart": linux_pair_cycles(pairs["pair_apart"]),
              "contended": {load: contended_ratios(locks)
                            for load, locks in contended.items()},
              "linux_contended": {load: contended_linux_results(locks, duration[1])
                                  for load, locks in contended.items()},
              "ownership": {load: contended_cost_in_pairs(locks, duration[0], pair)
                            for load, locks in contended.items()},
              "repeated": repeated}
    result["goals"] = list(list_goals(result))
    print_results(result)
    if not contended:
        print("\nOnly one processor: nothing contended was measured.")
    print("""
Fairness: the ownerships of the thread that had the least, divided by those of the thread that had
the most. Handed over: the part of a lock's ownerships that came after another thread's. Hand-overs:
how many of those, against those of the base. Events: how many were written for each acquisition;
"1 in 100" and "each" are rates of contended acquisitions, without a rate nothing is written. The two
runs of the same lock tell how far two figures differ by chance. How long an ownership takes depends
on how far the lock's cache line has to move; where the processors are virtual, that changes while
this runs.""")
    with open(sys.argv[1], "w") as stream:
        json.dump(result, stream, indent=1)


main()
