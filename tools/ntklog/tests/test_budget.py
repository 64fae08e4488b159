#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The steps that keep the overhead of ntklog exporter below its budget, under simulated loads."""

import ctypes
import os
import random
import subprocess
import tempfile
import unittest

import tap

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../metrics")
STAYS, DOWN, UP = range(3)
RATE_STEPS = 6


class State(ctypes.Structure):
    _fields_ = [("limit", ctypes.c_double)] + [(name, ctypes.c_uint) for name in (
        "modes", "mode", "rate_step", "quiet", "since_mode", "patience")]


class Load:
    """Overhead at a load of 1: of the hooks in each mode, of all events at the lowest rates, and of
    the command itself.
    """

    def __init__(self, hooks=(.01, .002, 0, 0), events=.003, tool=.0001):
        self.hooks, self.events, self.tool = hooks, events, tool

    def cost_of_load(self, state, load):
        return (self.hooks[state.mode] * load,
                self.events * load / 4 ** state.rate_step + self.tool)


class Budget(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        library = os.path.join(cls.directory.name, "budget.so")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library,
                        os.path.join(SOURCE, "budget.c")], check=True)
        cls.step = ctypes.CDLL(library).budget_take_step
        cls.step.argtypes = [ctypes.POINTER(State), ctypes.c_double, ctypes.c_double]

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.state = State(limit=.01, modes=4)

    def run_load(self, load, loads):
        overheads, changes = [], []
        for amount in loads:
            hooks, events = load.cost_of_load(self.state, amount)
            overheads.append(hooks + events)
            changes.append(self.step(ctypes.byref(self.state), hooks, events))
        return overheads, changes

    def test_constant_load_exceeds_the_budget_only_at_first(self):
        for amount in 1, 2, 5, 20, 100, 1000:
            with self.subTest(amount):
                self.setUp()
                overheads, _ = self.run_load(Load(), 1000 * [amount])
                above = [i for i, overhead in enumerate(overheads) if overhead > self.state.limit]
                self.assertLess(len(above), 20)
                # After the first steps only single tries of a richer mode exceed the budget.
                self.assertFalse({i + 1 for i in above if i > 20} & set(above))

    def test_mode_and_rates_are_restored_after_the_load_ends(self):
        for amount in 2, 20, 1000:
            self.setUp()
            self.run_load(Load(), 30 * [amount])
            self.assertTrue(self.state.mode or self.state.rate_step)
            self.run_load(Load(), 2000 * [.01])
            self.assertEqual((self.state.mode, self.state.rate_step), (0, 0), amount)

    def test_expensive_events_change_the_rates_and_not_the_mode(self):
        self.run_load(Load(hooks=4 * (0.0001,), events=.05), 30 * [1])
        self.assertEqual(self.state.mode, 0)
        self.assertGreaterEqual(self.state.rate_step, 2)

    def test_expensive_hooks_change_the_mode_and_not_the_rates(self):
        self.run_load(Load(hooks=(.05, .004, 0, 0), events=.0001), 30 * [1])
        self.assertEqual((self.state.mode, self.state.rate_step), (1, 0))

    def test_a_load_that_varies_below_the_budget_changes_nothing(self):
        self.run_load(Load(), 20 * [4])
        level = (self.state.mode, self.state.rate_step)
        hooks, events = Load().cost_of_load(self.state, 1)
        amount = self.state.limit / (hooks + events)
        noise = random.Random(1)
        _, changes = self.run_load(Load(tool=0), [noise.uniform(.55, .95) * amount for _ in range(500)])
        self.assertEqual(set(changes), {STAYS})
        self.assertEqual((self.state.mode, self.state.rate_step), level)

    def test_mode_that_exceeds_the_budget_is_tried_less_and_less_often(self):
        load = Load(hooks=(.05, 0, 0, 0), events=0)
        _, changes = self.run_load(load, 2000 * [1])
        tries = [i for i, change in enumerate(changes) if change == UP]
        self.assertLess(len(tries), 12)
        gaps = [after - before for before, after in zip(tries, tries[1:])]
        self.assertEqual(gaps, sorted(gaps))
        self.assertGreater(gaps[-1], 300)

    def test_budget_that_cannot_be_met_ends_in_the_cheapest_mode_and_rates(self):
        _, changes = self.run_load(Load(tool=.02), 100 * [1])
        self.assertEqual((self.state.mode, self.state.rate_step), (3, RATE_STEPS))
        self.assertEqual(set(changes[20:]), {STAYS})

    def test_without_other_modes_only_rates_change(self):
        self.state.modes = 1
        self.run_load(Load(hooks=(.05,)), 100 * [1])
        self.assertEqual((self.state.mode, self.state.rate_step), (0, RATE_STEPS))


if __name__ == "__main__":
    tap.main()
