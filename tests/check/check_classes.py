#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the classes that ntklog gives to Linux' locks with those that class_truth.ko printed.

Usage: check_classes.py NTKLOG DIRECTORY [CLASS...]
"""

import bisect
import collections
import json
import os
import re
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY, *CLASSES = sys.argv[1:]


def path_of(name):
    return os.path.join(DIRECTORY, name)


class Names:
    """The locks of a names file. A later line for an address is valid from its time on."""

    def __init__(self, name):
        self.locks = collections.defaultdict(list)
        with open(path_of(name), encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("lock "):
                    _, where, class_ = line.rstrip("\n").split(" ", 2)
                    address, _, clock = where.partition("@")
                    self.locks[int(address, 16)].append((int(clock or 0), class_))

    def class_at(self, address, clock):
        entries = self.locks.get(address)
        if not entries:
            return None
        at = bisect.bisect_right([entry[0] for entry in entries], clock)
        return entries[max(at - 1, 0)][1]


class Truth:
    """An address with the same class in two successive walks is taken to have had that class in
    between, too.
    """

    def __init__(self, name):
        self.begins, self.ends, self.walks = [], [], []
        with open(path_of(name), encoding="utf-8") as stream:
            for line in stream:
                word, value = line.split()
                if word == "walk":
                    walk, begin = {}, int(value)
                elif word == "end":
                    self.begins.append(begin)
                    self.ends.append(int(value))
                    self.walks.append(walk)
                else:
                    walk[int(word, 16)] = value

    def class_at(self, address, clock):
        at = bisect.bisect_left(self.begins, clock)
        if not 0 < at < len(self.walks) or self.ends[at - 1] > clock:
            return None
        before = self.walks[at - 1].get(address)
        return before if before == self.walks[at].get(address) else None


def read_lock_times(name):
    with open(path_of(name), "rb") as stream:
        for buffer in etl.decode(stream.read()):
            for event in buffer.events:
                if event.hook_id == etl.SPINLOCK:
                    yield etl.decode_spin_lock(event).spin_lock_address, event.time_stamp
                elif event.hook_id == etl.RESOURCE:
                    yield etl.decode_resource(event).resource, event.time_stamp


# A class that does not claim to be exact.
UNCERTAIN_CLASS = re.compile(r"^~|\+0x[0-9a-f]+|^(stack|pages|vmalloc|kfence|slab|per-CPU)( \(|$)")


def is_right_class(class_, truth):
    # Ignore the mark of a guess, and the name of the slab cache, which the walks do not have.
    return re.sub(r" \([^)]*\)$", "", class_.lstrip("~")) == truth


class Classes(unittest.TestCase):
    def check_recording(self, name, least_named):
        """At least this share of the events has a class."""
        names, truth = Names(name + ".etl.names"), Truth(name + ".truth")
        counts = collections.Counter()
        wrong = collections.Counter()
        for address, clock in read_lock_times(name + ".etl"):
            class_, true = names.class_at(address, clock), truth.class_at(address, clock)
            counts["events"] += 1
            counts["named"] += class_ is not None
            counts["marked"] += bool(class_ and UNCERTAIN_CLASS.search(class_))
            if true and class_:
                counts["known"] += 1
                counts["right"] += is_right_class(class_, true)
                if not is_right_class(class_, true) and not UNCERTAIN_CLASS.search(class_):
                    wrong[true, class_] += 1
        silent = sum(wrong.values())
        print("# %s: %s; silently wrong %d: %s" % (name, dict(counts), silent,
                                                   wrong.most_common(5)))
        self.assertGreater(counts["events"], 1000)
        self.assertGreater(counts["known"], 100)
        self.assertGreaterEqual(counts["named"], least_named * counts["events"])
        self.assertLessEqual(silent, .001 * counts["known"])

    def test_usual_load_has_right_classes(self):
        self.check_recording("normal", .97)

    def test_reused_objects_have_right_classes(self):
        self.check_recording("churn", .90)

    def test_report_sums_by_class(self):
        with open(path_of("normal.json"), encoding="utf-8") as stream:
            report = json.load(stream)
        rows = {row["lock"]: row for row in report["locks"]}
        self.assertGreater(rows["dentry.d_lockref.lock"]["locks"], 10)
        self.assertLess(len(rows), 400)

    def test_top_sums_by_class(self):
        with open(path_of("top.json"), encoding="utf-8") as stream:
            locks = {row["lock"] for row in json.load(stream)["locks"]}
        with open(path_of("addresses.json"), encoding="utf-8") as stream:
            single_locks = json.load(stream)["locks"]
        self.assertIn("dentry.d_lockref.lock", locks)
        self.assertEqual([row for row in single_locks if "locks" in row], [])
        self.assertIn("dentry.d_lockref.lock", {row["lock"].partition(" ")[2] for row in single_locks})

    def test_hashed_events_have_classes(self):
        names = Names("hashed.etl.names")
        found = [names.class_at(address, clock) for address, clock in read_lock_times("hashed.etl")]
        named = [class_ for class_ in found if class_]
        print("# hashed: %d of %d events" % (len(named), len(found)))
        self.assertGreaterEqual(len(named), .97 * len(found))


class TopBy(unittest.TestCase):
    def test_waits_of_top_are_those_charged_to_holders(self):
        for by in "cgroup", "process", "stack":
            with open(path_of("top-%s.json" % by), encoding="utf-8") as stream:
                top = json.load(stream)
            waited = sum(row["wait_total_ns"] for row in top["waiters"])
            self.assertGreater(waited, 0)
            self.assertAlmostEqual(sum(row["charged_total_ns"] for row in top["blockers"]), waited,
                                   delta=waited / 1e6)
            self.assertAlmostEqual(sum(row["charged_share"] for row in top["waiters"]), 1, delta=1e-6)
            self.assertEqual(top["events_lost"], 0)


if __name__ == "__main__":
    tap.main(CLASSES)
