#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure how fast the tool reads a file, next to cat, all in one run with a warm cache.

Usage: tool.py NTKLOG FILE JSON
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
# In MB of the file for each second of CPU time.
GOALS = {"ntklog report": 500, "ntklog report, 10 ms": 10000, "ntklog dump": 150,
         "ntklog dump --json": 120, "ntklog dump --csv": 120, "ntklog convert --perfetto": 100,
         "ntklog convert --ctf": 150}
# Of ntklog report: its speed relative to cat's, and how many CPUs its threads keep busy.
CAT_GOAL = 0.2
CPUS_GOAL = 1.8


def run_measured(command):
    """Return CPU seconds, elapsed seconds, and peak memory in KiB."""
    start = time.monotonic()
    # The peak memory of a child of Python includes Python's own until exec.
    process = subprocess.run(["time", "-f", "%U %S %M", *command], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    if process.returncode:
        sys.exit("bench: %s failed" % " ".join(command))
    user, system, memory = process.stderr.split()[-3:]
    return max(float(user) + float(system), .01), seconds, int(memory)


def print_goal(what, value, goal):
    print("  %-52s %8.2f   goal %g: %smet" % (what, value, goal, "" if value >= goal else "not "))


def main():
    ntklog, path, result = sys.argv[1:4]
    size = os.path.getsize(path)
    scratch = tempfile.mkdtemp()
    ctf = os.path.join(scratch, "ctf")
    commands = {
        "cat": ["cat", path],
        "ntklog report": [ntklog, "report", path],
        "ntklog report, 10 ms": [ntklog, "report", "--from", "100ms", "--to", "110ms", path],
        "ntklog dump": [ntklog, "dump", path],
        "ntklog dump --json": [ntklog, "dump", "--json", path],
        "ntklog dump --csv": [ntklog, "dump", "--csv", path],
        "ntklog dump --filter": [ntklog, "dump", "--filter", "SpinCount > 100000", path],
        "ntklog convert --perfetto": [ntklog, "convert", "--perfetto", "-", path],
        "ntklog convert --ctf": [ntklog, "convert", "--ctf", ctf, path],
        # babeltrace2 is slow and runs once.
        "babeltrace2": ["babeltrace2", ctf],
    }
    best = {}
    run_measured(commands["cat"])
    # The commands alternate, so that other load on the machine slows all of them alike.
    for turn in range(ROUNDS):
        for name, command in commands.items():
            if name == "babeltrace2" and (turn or not shutil.which(name)):
                continue
            if name == "ntklog convert --ctf":
                shutil.rmtree(ctf, ignore_errors=True)
            measured = run_measured(command)
            best[name] = min(best.get(name, measured), measured)
    shutil.rmtree(scratch)
    print("\nreading a file of %d MiB, best of %d:" % (size >> 20, ROUNDS))
    print("  %-26s %10s %10s %6s %12s" % ("", "MB/CPU s", "MB/s", "CPUs", "memory"))
    rows = {}
    for name, (used, seconds, memory) in best.items():
        rows[name] = {"mb_per_cpu_s": size / 1e6 / used, "mb_per_s": size / 1e6 / seconds,
                      "cpus": used / seconds, "memory_kib": memory}
        goal = GOALS.get(name)
        print("  %-26s %10.0f %10.0f %6.1f %8d KiB%s" % (
            name, rows[name]["mb_per_cpu_s"], rows[name]["mb_per_s"], rows[name]["cpus"], memory,
            goal and "   goal %d: %smet" % (
                goal, "" if rows[name]["mb_per_cpu_s"] >= goal else "not ") or ""))
    report = rows["ntklog report"]
    print_goal("MB/CPU s of ntklog report, as a part of cat's",
               report["mb_per_cpu_s"] / rows["cat"]["mb_per_cpu_s"], CAT_GOAL)
    print_goal("CPUs that ntklog report keeps busy", report["cpus"], CPUS_GOAL)
    with open(result, "w") as stream:
        json.dump(rows, stream, indent=1)


if __name__ == "__main__":
    main()
