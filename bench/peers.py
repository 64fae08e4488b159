#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print a table of the costs that peers-guest.sh has measured, and write them as JSON.

Usage: peers.py OUTPUT.json guest.log...
"""

import json
import re
import sys

import linux

PAIRS = ["raw_spin_lock", "mutex", "down_read"]
TOOLS = {
    "plain": "no tool",
    "ntklog-full": "ntklog, spin locks and rwlocks, full",
    "ntklog-sampled": "ntklog, the same, sampled",
    "ntklog-waits": "ntklog, the same, waits",
    "ntklog-sleeping": "ntklog, locks that sleep",
    "trace-cmd-contention": "trace-cmd record, lock:contention_*",
    "perf-contention": "perf record, lock:contention_*",
    "perf-lock-record": "perf lock record",
    "perf-lock-contention-bpf": "perf lock contention -b",
    "trace-cmd-function-spin": "trace-cmd function, _raw_spin_*",
    "trace-cmd-function-sleeping": "trace-cmd function, mutex and rwsem",
    "fprobe-entry-spin": "empty fprobe, entry, spin locks",
    "fprobe-exit-spin": "empty fprobe, entry and exit, spin locks",
    "fprobe-entry-sleeping": "empty fprobe, entry, mutex and rwsem",
    "fprobe-exit-sleeping": "empty fprobe, entry and exit, the same",
    "bpftrace-kprobe-spin": "bpftrace, kprobes, holds of spin locks",
    "bpftrace-kprobe-sleeping": "bpftrace, kprobes, of mutexes, rwsems",
    "klockstat": "klockstat",
    "bpftrace-fentry-sleeping": "bpftrace, fentry and fexit, of mutexes",
    "bpftrace-fentry-spin": "bpftrace, fentry and fexit, spin locks",
    "lock_stat": "CONFIG_LOCK_STAT",
    "restored": "no tool again",
}
# Lines of a tool's output that tell why it failed, and that it lost events.
ERROR_WORDS = re.compile(r"error|cannot|can't|failed|not ", re.IGNORECASE)
LOSS_WORDS = re.compile(r"lost|overrun|missed|dropped", re.IGNORECASE)


def read_results(path):
    """{tool: pairs (costs), said (lines of its output), instructions (of the workload), factor (to
    the workload without a tool), error (if it failed)}
    """
    pairs, workload = linux.read_results(path)
    tools = {}
    with open(path, errors="replace") as stream:
        for line in stream:
            words = line.split(maxsplit=2)
            if len(words) > 1 and words[0] in ("begin", "failed", "said", "end"):
                tool = tools.setdefault(words[1], {"said": []})
                if words[0] == "said":
                    tool["said"].append(words[2].rstrip() if len(words) > 2 else "")
                elif words[0] == "failed":
                    tool["error"] = "status %s" % words[2].strip()
                elif words[0] == "end":
                    tool["ended"] = True
    # The last workload without a tool is the base; the first one on a machine takes less.
    base = workload.get("restored", workload.get("plain"))
    for name, tool in tools.items():
        tool["pairs"] = {pair: costs[name] for pair, costs in pairs.items() if name in costs}
        if name in workload and base:
            tool["instructions"] = workload[name]
            tool["factor"] = round(workload[name] / base, 4)
        elif "error" in tool:
            words = [line for line in tool["said"] if ERROR_WORDS.search(line)] or tool["said"]
            tool["error"] += ": " + words[0].strip() if words else ""
        else:
            tool["error"] = "stopped the machine"
        if not tool.pop("ended", False) and "error" not in tool:
            tool["error"] = "stopped the machine when it was to end"
    return tools


def print_results(tools):
    print("\nother tools: a workload, and instructions of an uncontended pair\n")
    print("%-42s %8s" % ("", "workload") + "".join("%15s" % pair for pair in PAIRS))
    for name, title in TOOLS.items():
        tool = tools[name]
        factor = "%8.3f" % tool["factor"] if "factor" in tool else "%8s" % "-"
        print("%-42s %s" % (title, factor) + "".join(
            "%15s" % ("%.1f" % tool["pairs"][pair] if pair in tool["pairs"] else "-")
            for pair in PAIRS))
        notes = [tool["error"]] if "error" in tool else []
        notes += [line for line in tool["said"] if LOSS_WORDS.search(line)
                  and "error" not in tool][:2]
        for note in notes:
            print("    %s: %s" % (name, note))
    print("\nOne processor, instructions: a wait takes none here, so what only looks at waits costs "
          "nothing.\nA tool that loses events takes less than one that keeps them.")


def main():
    output, *logs = sys.argv[1:]
    tools = {}
    # A tool may be in both logs.
    for log in logs:
        for name, tool in read_results(log).items():
            tools.setdefault(name, tool)
    for name in TOOLS:
        tools.setdefault(name, {"said": [], "pairs": {}, "error": "not reached"})
    print_results(tools)
    with open(output, "w") as stream:
        json.dump(tools, stream, indent=1)


if __name__ == "__main__":
    main()
