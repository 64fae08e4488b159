#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print tables of the times that workload/native has measured, and write them as JSON: medians of
the runs, as ratios.

Usage: native.py OUTPUT.json <native.log
"""

import json
import statistics
import sys

# The lock to which all ratios are relative, and the name of the empty loop, whose time is
# subtracted.
BASE = "in-stack"
LOOP = "nothing"
# Linux' own spin lock, to which the ratios of its instrumented variants are relative.
LINUX = "Linux' own"

# Title; table, or load (CYCLES_INSIDE-CYCLES_OUTSIDE) of a contended run; lock; lock to compare
# with; kind of bound; bound.
GOALS = [
    ("in-stack / ck mcs, uncontended", "pair", "in-stack", "ck mcs", "most", 0.9),
    ("tracked / untraced, in-stack", "pair", "in-stack, tracked", "in-stack", "most", 2.5),
    ("tracked / untraced, ordinary", "pair", "ordinary, tracked", "ordinary", "most", 2.5),
    # Cycles are goals: 120 and 40. The plain pair takes 20, so these are ratios of 6 and 2.
    ("full / plain, Linux' own", "linux", LINUX + ", full", None, "most", 6),
    ("sampled / plain, Linux' own", "linux", LINUX + ", sampled", None, "most", 2),
    ("ordinary, sections of 1000: fairness", "1000-0", "ordinary", None, "least", 0.7),
]


def read(stream):
    """Return pairs by table and lock, contended runs by load and lock, numbers of repeated runs by
    table, and the cycles of a contended run.
    """
    pairs, contended, repeated = {}, {}, {}
    cycles = None
    for line in stream:
        kind, *words = line.split(" ")
        if kind == "pair":
            outside = pairs.setdefault("pair" if words[0] == "0" else "pair_apart", {})
            outside.setdefault(" ".join(words[3:]).strip(), []).append(float(words[2]))
        elif kind == "contended":
            load = contended.setdefault("%s-%s" % (words[0], words[1]), {})
            load.setdefault(" ".join(words[6:]).strip(), []).append(
                tuple(map(int, words[3:6])))
        elif kind == "repeated":
            repeated[words[0]] = {"repeated": int(words[1]), "disturbed": int(words[2]),
                                  "runs": int(words[3])}
        elif kind == "cycles":
            cycles = int(words[0])
    return pairs, contended, repeated, cycles


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": round(middle, 3), "quartiles": [round(low, 3), round(high, 3)]}


def pair_ratios(pairs):
    """Ratio of each pair to the base's pair, without the loop.

    Each run is compared with the base of the same run, because all locks of a run have the same
    memory layout.
    """
    loop, base = pairs[LOOP], pairs[BASE]
    return {name: quartiles([(value - nothing) / (ours - nothing) for value, nothing, ours
                             in zip(values, loop, base)])
            for name, values in pairs.items() if name != LOOP}


def linux_cycles(pairs):
    """Cycles of each pair of Linux' lock without the loop, and their ratio to the plain pair."""
    result = {}
    for name, values in pairs.items():
        if name.startswith(LINUX):
            result[name] = {
                "cycles": quartiles([value - nothing for value, nothing
                                     in zip(values, pairs[LOOP])]),
                "ratio": quartiles([(value - nothing) / (plain - nothing)
                                    for value, nothing, plain
                                    in zip(values, pairs[LOOP], pairs[LINUX])])}
    return result


def contended_ratios(load):
    ratios = {}
    for name, runs in load.items():
        totals = [one + two for one, two, _ in runs]
        result = quartiles([total / sum(ours[:2])
                            for total, ours in zip(totals, load[BASE])])
        result["fairness"] = round(statistics.median(
            min(one, two) / max(one, two) for one, two, _ in runs), 3)
        result["handed_over"] = round(statistics.median(
            handovers / total for (_, _, handovers), total in zip(runs, totals)), 3)
        # A contended lock is there to be handed over: compare the number of hand-overs, too.
        handovers = [run[2] / ours[2] for run, ours in zip(runs, load[BASE]) if ours[2]]
        result["handovers"] = round(statistics.median(handovers), 3) if handovers else None
        ratios[name] = result
    return ratios


def ownership(load, cycles, pair):
    """Time of one contended hold of the base, in uncontended pairs."""
    return quartiles([cycles / sum(run[:2]) / pair for run in load[BASE]])


def goals(result):
    """Yield each goal whose locks and load were measured, with its value."""
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


def show_linux(result):
    print("\nnative: cycles of the TSC of an uncontended pair of Linux' own spin lock, and "
          "%s = 1\n" % LINUX)
    print("%-32s %8s   %-14s %6s %20s %6s" % ("", "at once", "", "", "100 cycles apart", ""))
    for name, pair in result["linux"].items():
        apart = result["linux_apart"][name]
        print("%-32s %8.1f   %5.1f to %-6.1f %5.2f %20.1f %6.2f" % (
            name, pair["cycles"]["median"], *pair["cycles"]["quartiles"],
            pair["ratio"]["median"], apart["cycles"]["median"], apart["ratio"]["median"]))


def show_repeated(repeated, kind):
    if kind in repeated:
        counts = repeated[kind]
        print("(%d runs; %d times one again, since a thread was switched; %d are disturbed "
              "all the same)" % (counts["runs"], counts["repeated"], counts["disturbed"]))


def show(result):
    print("\nnative: time of an uncontended pair, %s = 1; medians of %d, quartiles\n" % (
        BASE, result["runs"]))
    print("%-32s %8s   %-14s %8s" % ("", "at once", "", "100 cycles apart"))
    for name, ratio in result["pair"].items():
        apart = result["pair_apart"][name]
        print("%-32s %8.2f   %.2f to %-6.2f %8.2f   %.2f to %.2f" % (
            name, ratio["median"], *ratio["quartiles"], apart["median"], *apart["quartiles"]))
    show_repeated(result["repeated"], "pair-0")
    show_repeated(result["repeated"], "pair-1")
    show_linux(result)
    for load, locks in result["contended"].items():
        section, outside = load.split("-")
        print("\nnative: two processors, sections of %s cycles, %s outside; ownerships, %s = 1" % (
            section, "0 to %s" % outside if outside != "0" else "none", BASE))
        print("\n%-32s %8s   %-14s %8s %12s %12s" % (
            "", "median", "quartiles", "fairness", "handed over", "hand-overs"))
        for name, ratio in locks.items():
            has_section = section != "0" and ratio["handovers"] is not None
            print("%-32s %8.2f   %.2f to %-6.2f %8.2f %12s %12s" % (
                name, ratio["median"], *ratio["quartiles"], ratio["fairness"],
                "%.2f" % ratio["handed_over"] if has_section else "",
                "%.2f" % ratio["handovers"] if has_section else ""))
        time = result["ownership"][load]
        print("(one ownership of %s took as long as %.0f uncontended pairs, %.0f to %.0f)" % (
            BASE, time["median"], *time["quartiles"]))
        show_repeated(result["repeated"], "contended-" + load)
    print("\n%-48s %8s %8s" % ("goal", "", "is"))
    for goal in result["goals"]:
        kind = "most" if "most" in goal else "least"
        print("%-48s %s %4.2f %8.2f  %s" % (goal["goal"], "<=" if kind == "most" else ">=",
                                           goal[kind], goal["value"],
                                           "met" if goal["met"] else "NOT MET"))


def main():
    pairs, contended, repeated, cycles = read(sys.stdin)
    pair = statistics.median(pairs["pair"][BASE]) - statistics.median(pairs["pair"][LOOP])
    result = {"runs": len(pairs["pair"][BASE]), "pair": pair_ratios(pairs["pair"]),
              "pair_apart": pair_ratios(pairs["pair_apart"]),
              "linux": linux_cycles(pairs["pair"]),
              "linux_apart": linux_cycles(pairs["pair_apart"]),
              "contended": {load: contended_ratios(locks)
                            for load, locks in contended.items()},
              "ownership": {load: ownership(locks, cycles, pair)
                            for load, locks in contended.items()},
              "repeated": repeated}
    result["goals"] = list(goals(result))
    show(result)
    if not contended:
        print("\nOnly one processor: nothing contended was measured.")
    print("""
Fairness: the ownerships of the thread that had the least, divided by the other's. Handed over:
the part of a lock's ownerships that came after the other thread's. Hand-overs: how many of
those, against those of the base. The two runs of the same lock tell how far two figures differ
by chance. How long an ownership takes depends on how far the lock's cache line has to move; where
the processors are virtual, that changes while this runs.""")
    with open(sys.argv[1], "w") as stream:
        json.dump(result, stream, indent=1)


main()
