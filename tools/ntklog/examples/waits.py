#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print for which spin locks of a recording was waited longest, by numpy.

Usage: waits.py FILE

The recording may be larger than the memory, because it is read in batches.
"""

import sys

import numpy

import ntklog


def sum_waits(path):
    """The time waited for each lock, in nanoseconds of the records in the file."""
    waits = {}
    with ntklog.open(path, order="file") as trace:
        for batch in trace.batches("SpinLock"):
            columns = batch["SpinLock"]
            locks, row_locks = numpy.unique(columns["SpinLockAddress"], return_inverse=True)
            sums = numpy.bincount(row_locks, columns["WaitTimeInCycles"])
            for lock, cycles in zip(locks.tolist(), sums.tolist()):
                waits[lock] = waits.get(lock, 0) + cycles * 1e9 / trace.cycle_freq
    return waits


def main():
    waits = sum_waits(sys.argv[1])
    for lock in sorted(waits, key=waits.get, reverse=True)[:10]:
        print("0x%x %12.0f ns" % (lock, waits[lock]))


main()
