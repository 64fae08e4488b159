#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How fast the tool reads a file, next to cat, all in one run with a warm cache.

Usage: bench_tool.py NTKLOG FILE JSON
"""

import json
import os
import subprocess
import sys
import time

ROUNDS = 3


def run(command):
    """Seconds, and the most memory in KiB."""
    start = time.monotonic()
    # Python's own memory would count as its child's, before the exec.
    process = subprocess.run(["time", "-f", "%M", *command], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    if process.returncode:
        sys.exit("bench: %s failed" % " ".join(command))
    return seconds, int(process.stderr.split()[-1])


def main():
    ntklog, path, result = sys.argv[1:4]
    size = os.path.getsize(path)
    commands = {
        "cat": ["cat", path],
        "ntklog report": [ntklog, "report", path],
        "ntklog dump --filter": [ntklog, "dump", "--filter", "SpinCount > 100000", path],
    }
    best = {}
    run(commands["cat"])
    # In turns: who else is on the machine hinders all alike.
    for _ in range(ROUNDS):
        for name, command in commands.items():
            measured = run(command)
            best[name] = min(best.get(name, measured), measured)
    print("\nreading a file of %d MiB, best of %d:" % (size >> 20, ROUNDS))
    print("  %-22s %10s %8s %12s" % ("", "MB/s", "of cat", "memory"))
    rows = {}
    for name, (seconds, memory) in best.items():
        rows[name] = {"mb_per_s": size / 1e6 / seconds, "of_cat": best["cat"][0] / seconds,
                      "memory_kib": memory}
        print("  %-22s %10.0f %8.2f %8d KiB" % (name, rows[name]["mb_per_s"],
                                               rows[name]["of_cat"], memory))
    print("  goal: report 500 MB/s: %s" %
          ("met" if rows["ntklog report"]["mb_per_s"] >= 500 else "not met"))
    with open(result, "w") as stream:
        json.dump(rows, stream, indent=1)


if __name__ == "__main__":
    main()
