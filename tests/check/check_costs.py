#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do a tracked pair, an event and a switch's probe take what they took?

Usage: check_costs.py GUEST.LOG

Each bound is what was measured and a little, for another compiler: Documentation/dev/measurements.rst has
the figures.
"""

import re
import sys
import unittest

import tap

# One of so many pairs is written as an event.
RATE = 1000

with open(sys.argv[1], encoding="utf-8") as log:
    COSTS = {(state, name): int(milli) / 1000 for state, name, milli in
             re.findall(r"^ntklog_bench: pair (\S+) (\S+) (\d+)$", log.read(), re.M)}


def event(state, name):
    return (COSTS[state, name] - COSTS["tracked", name]) * RATE


class Tracking(unittest.TestCase):
    def adds(self, name, most):
        added = COSTS["tracked", name] - COSTS["off", name]
        self.assertGreater(added, 0)
        self.assertLessEqual(added, most)

    def test_off_is_what_it_was(self):
        self.assertLessEqual(COSTS["off", "in_stack_at_dpc_level"], 17.5)
        self.assertLessEqual(COSTS["off", "ordinary_at_dpc_level"], 8.5)

    def test_counters_alone_take_few_nanoseconds(self):
        self.assertLessEqual(COSTS["counters", "in_stack_at_dpc_level"], 30.5)
        self.assertLessEqual(COSTS["counters", "ordinary_at_dpc_level"], 17.5)

    def test_adds_little_to_an_in_stack_pair(self):
        self.adds("in_stack_at_dpc_level", 45)

    def test_adds_little_to_an_ordinary_pair(self):
        self.adds("ordinary_at_dpc_level", 41)

    def test_leaves_executive_locks_short(self):
        self.assertLessEqual(COSTS["tracked", "ex_shared_at_dpc_level"], 56)
        self.assertLessEqual(COSTS["tracked", "ex_exclusive_at_dpc_level"], 52)

    def test_leaves_resources_short(self):
        self.assertLessEqual(COSTS["tracked", "resource_exclusive"], 125)
        self.assertLessEqual(COSTS["tracked", "resource_shared"], 125)


class Event(unittest.TestCase):
    def test_of_a_spin_lock(self):
        self.assertGreater(event("written", "in_stack_at_dpc_level"), 100)
        self.assertLessEqual(event("written", "in_stack_at_dpc_level"), 206)

    def test_into_a_second_session(self):
        second = event("written_2", "in_stack_at_dpc_level") - \
            event("written", "in_stack_at_dpc_level")
        self.assertGreater(second, 20)
        self.assertLessEqual(second, 60)

    def test_into_further_sessions(self):
        further = event("written_8", "in_stack_at_dpc_level") - \
            event("written", "in_stack_at_dpc_level")
        self.assertGreater(further, 7 * 20)
        self.assertLessEqual(further, 7 * 42)

    def test_of_a_resource(self):
        self.assertGreater(event("written", "resource_exclusive"), 100)
        self.assertLessEqual(event("written", "resource_exclusive"), 340)

    def test_of_a_context_switch(self):
        self.assertLessEqual(COSTS["version_1", "context_swap"], 64)
        self.assertLessEqual(COSTS["version_4", "context_swap"], 172)


tap.main()
