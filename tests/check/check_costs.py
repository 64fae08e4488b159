#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the number of instructions of a pair (acquisition and release), of an event, and of the
probes of a context switch and of a wake-up.

Usage: check_costs.py GUEST.LOG

With -icount QEMU's clock advances by a nanosecond for each instruction, so the benchmark's times
are numbers of instructions.
"""

import re
import sys
import unittest

import tap

# One of RATE pairs is written as an event.
RATE = 1000

with open(sys.argv[1], encoding="utf-8") as log:
    COSTS = {(instrumentation, name): int(milli) / 1000 for instrumentation, name, milli in
             re.findall(r"^ntklog_bench: pair (\S+) (\S+) (\d+)$", log.read(), re.M)}


def event_cost(instrumentation, name):
    return (COSTS[instrumentation, name] - COSTS["tracked", name]) * RATE


class Tracking(unittest.TestCase):
    def check_cost_of_tracking(self, name, most):
        added = COSTS["tracked", name] - COSTS["off", name]
        self.assertGreater(added, 0)
        self.assertLessEqual(added, most)

    def test_pair_without_tracing_takes_few_instructions(self):
        self.assertLessEqual(COSTS["off", "in_stack_at_dpc_level"], 17.5)
        self.assertLessEqual(COSTS["off", "ordinary_at_dpc_level"], 8.5)

    def test_pair_with_counters_only_takes_few_instructions(self):
        self.assertLessEqual(COSTS["counters", "in_stack_at_dpc_level"], 30.5)
        self.assertLessEqual(COSTS["counters", "ordinary_at_dpc_level"], 17.5)

    def test_tracking_adds_little_to_an_in_stack_pair(self):
        self.check_cost_of_tracking("in_stack_at_dpc_level", 45)

    def test_tracking_adds_little_to_an_ordinary_pair(self):
        self.check_cost_of_tracking("ordinary_at_dpc_level", 41)

    def test_tracked_executive_pair_takes_few_instructions(self):
        self.assertLessEqual(COSTS["tracked", "ex_shared_at_dpc_level"], 56)
        self.assertLessEqual(COSTS["tracked", "ex_exclusive_at_dpc_level"], 52)

    def test_tracked_resource_pair_takes_few_instructions(self):
        self.assertLessEqual(COSTS["tracked", "resource_exclusive"], 118)
        self.assertLessEqual(COSTS["tracked", "resource_shared"], 118)

    def test_resource_pair_without_tracing_takes_few_instructions(self):
        self.assertLessEqual(COSTS["off", "resource_exclusive"],
                             1.2 * COSTS["off", "down_write"])


class LinuxLocks(unittest.TestCase):
    def check_added_cost(self, instrumentation, most):
        for name, instructions in most.items():
            with self.subTest(name):
                added = COSTS[instrumentation, name] - COSTS["plain", name]
                self.assertLessEqual(added, instructions)

    def test_mode_full_adds_little_to_a_pair(self):
        self.check_added_cost("full",
                              {"raw_spin_lock": 27, "spin_lock_irqsave": 25, "spin_lock_bh": 27,
                               "read_lock": 30, "write_lock": 29})
        self.assertGreater(COSTS["full", "raw_spin_lock"], COSTS["plain", "raw_spin_lock"] + 10)

    def test_mode_sampled_adds_little_to_a_pair(self):
        self.check_added_cost("sampled",
                              {"raw_spin_lock": 11, "spin_lock_irqsave": 9, "spin_lock_bh": 11,
                               "read_lock": 17, "write_lock": 13})
        self.assertGreater(COSTS["sampled", "raw_spin_lock"], COSTS["plain", "raw_spin_lock"] + 3)

    def test_mode_waits_adds_nothing_to_a_pair(self):
        self.check_added_cost("waits", {"raw_spin_lock": 0.5, "spin_lock_irqsave": 0.5,
                                        "spin_lock_bh": 0.5, "read_lock": 0.5, "write_lock": 0.5})

    def test_tracking_adds_little_to_a_pair_of_a_lock_that_sleeps(self):
        self.check_added_cost("sleeping", {"mutex": 41, "mutex_trylock": 62, "down_read": 43,
                                           "down_write": 41, "rt_mutex": 40, "semaphore": 560})
        self.assertGreater(COSTS["sleeping", "mutex"], COSTS["plain", "mutex"] + 20)


class Event(unittest.TestCase):
    def test_event_of_a_spin_lock_takes_few_instructions(self):
        self.assertGreater(event_cost("written", "in_stack_at_dpc_level"), 100)
        self.assertLessEqual(event_cost("written", "in_stack_at_dpc_level"), 206)

    def test_second_session_adds_few_instructions(self):
        second = event_cost("written_2", "in_stack_at_dpc_level") - \
            event_cost("written", "in_stack_at_dpc_level")
        self.assertGreater(second, 20)
        self.assertLessEqual(second, 60)

    def test_each_further_session_adds_few_instructions(self):
        further = event_cost("written_8", "in_stack_at_dpc_level") - \
            event_cost("written", "in_stack_at_dpc_level")
        self.assertGreater(further, 7 * 20)
        self.assertLessEqual(further, 7 * 42)

    def test_stack_of_an_event_takes_few_instructions(self):
        self.assertGreater(event_cost("stacks", "in_stack_at_dpc_level"), 2000)
        self.assertLessEqual(event_cost("stacks", "in_stack_at_dpc_level"), 9300)

    def test_event_of_a_resource_takes_few_instructions(self):
        self.assertGreater(event_cost("written", "resource_exclusive"), 100)
        self.assertLessEqual(event_cost("written", "resource_exclusive"), 340)

    def test_probe_of_a_context_switch_takes_few_instructions(self):
        self.assertLessEqual(COSTS["version_1", "context_swap"], 64)
        self.assertLessEqual(COSTS["version_4", "context_swap"], 172)

    def test_probe_of_a_wake_up_takes_few_instructions(self):
        self.assertLessEqual(COSTS["written", "ready_thread"], 155)


tap.main()
