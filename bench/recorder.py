#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print a table of the instructions that recorder-guest.sh has measured, and write them as JSON.

Usage: recorder.py OUTPUT.json guest.log
"""

import json
import sys

# At most this share of a CPU at this many events a second. A nanosecond is an instruction here.
RATE = 10000
GOAL = 0.03


def read_results(path):
    """For each state: instructions of the start, seconds, instructions and events of the
    measurement.
    """
    states = {}
    with open(path) as stream:
        for line in stream:
            words = line.split()
            if words[:1] == ["recorder"]:
                begin, begin_used, begin_events, end, used, events = (int(word) for word in words[2:])
                states[words[1]] = {"start": begin_used, "seconds": (end - begin) / 1e9,
                                    "used": used - begin_used, "events": events - begin_events}
    return states


def main():
    output, log = sys.argv[1:]
    states = read_results(log)
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
    print("%-52s %12.2f %% of a processor; at most %.0f %%, %s" % (
        "%d events a second" % RATE, share * 100, GOAL * 100, "met" if share <= GOAL else "NOT MET"))
    with open(output, "w") as stream:
        json.dump({"states": states, "per_second": per_second, "per_event": per_event,
                   "share": share}, stream, indent=1)


if __name__ == "__main__":
    main()
