#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure how fast the Python package reads a file, next to a C program, all in one run.

Usage: python.py BUILD FILE JSON

BUILD has the library and the package, as `make -C tools/ntklog O=BUILD all python` leaves them.
"""

import json
import os
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROUNDS = 5
# Each part runs in a process of its own, and prints the number of events and the CPU time in ns.
SCRIPT = """
import sys, time, ntklog
path, order, part = sys.argv[1:]
start = time.process_time_ns()
with ntklog.open(path, order=order) as trace:
    if part == "events":
        for event in trace:
            pass
    elif part == "one field":
        for event in trace:
            if event.hook_id == 0x529:
                event["WaitTimeInCycles"]
    elif part == "columns":
        trace.columns("SpinLock")["SpinLock"]["WaitTimeInCycles"].sum()
    elif part == "chosen column":
        columns = trace.columns("SpinLock", fields=["WaitTimeInCycles"])["SpinLock"]
        columns["WaitTimeInCycles"].sum()
    else:
        for batch in trace.batches("SpinLock"):
            batch["SpinLock"]["WaitTimeInCycles"].sum()
print(0, time.process_time_ns() - start)
"""


def build_reader(build):
    reader = os.path.join(build, "etl_reader")
    subprocess.run(["cc", "-O2", "-o", reader, os.path.join(TOP, "bench/etl_reader.c"),
                    "-I" + os.path.join(TOP, "include/uapi"),
                    "-I" + os.path.join(TOP, "tools/ntklog/include"),
                    os.path.join(build, "libntklog-etl.so.0"), "-Wl,-rpath," + build], check=True)
    return reader


def main():
    build, path, result = sys.argv[1:]
    build = os.path.abspath(build)
    reader = build_reader(build)
    python = [sys.executable, "-c", SCRIPT, path]
    commands = {}
    for order in "file", "time":
        commands[order, "C: events"] = [reader, path, order]
        commands[order, "C: spin locks kept in memory"] = [reader, path, order, "keep"]
        for part in "events", "one field", "columns", "chosen column", "batches":
            commands[order, "Python: " + part] = [*python, order, part]
    environment = {**os.environ, "PYTHONPATH": os.path.join(build, "package")}
    best, events = {}, 1
    # The commands alternate, so that other load on the machine slows all of them alike.
    for _ in range(ROUNDS):
        for key, command in commands.items():
            count, used = map(int, subprocess.run(command, env=environment, check=True,
                                                  stdout=subprocess.PIPE).stdout.split())
            events = count or events
            best[key] = min(best.get(key, used), used)
    print("\nreading %d events, best of %d:" % (events, ROUNDS))
    print("  %-8s %-30s %10s %s" % ("order", "", "ns/event", "speed of the C reader"))
    rows = {}
    for (order, part), used in best.items():
        row = {"ns_per_event": used / events, "of_c": best[order, "C: events"] / used}
        rows["%s, order %s" % (part, order)] = row
        print("  %-8s %-30s %10.1f %.2f" % (order, part, row["ns_per_event"], row["of_c"]))
    with open(result, "w", encoding="utf-8") as stream:
        json.dump(rows, stream, indent=1)


main()
