#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the stacks of events against stack_chain.ko, whose chains of calls are known.

Usage: check_stacks.py NTKLOG DIRECTORY
"""

import bisect
import os
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:]
# The functions below take_NAME() on the stack, from the innermost on.
CHAIN = ["chain_c", "chain_b", "chain_a", "stack_chain_init"]
# The locks that the module acquires below this chain.
SPINNING = ["spin", "irq", "read", "write", "queued"]
SLEEPING = ["mutex", "rwsem", "resource"]


def read_bytes(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


class Symbols:

    def __init__(self, name):
        self.starts, self.names = [], []
        lines = sorted((int(line.split()[0], 16), line.split()[2])
                       for line in read_bytes(name).decode().splitlines()
                       if line.split()[1] in "tT")
        for start, symbol in lines:
            self.starts.append(start)
            self.names.append(symbol)

    def function_at(self, address):
        """The function with a return address; None if the next lower symbol is too far away."""
        at = bisect.bisect_left(self.starts, address) - 1
        if at < 0 or address - self.starts[at] > 0x1000:
            return None
        return self.names[at].split(".")[0]


def read_lost_count(name):
    header, *_, total = read_bytes(name).decode().splitlines()
    return int(total.split()[header.split().index("lost")])


class Recording:
    """pairs: [(event, stack or None)]; without: stacks that do not directly follow their event
    locks: by name: (address, thread)
    """

    def __init__(self, prefix, number=None):
        name = prefix if number is None else "%s.%d" % (prefix, number)
        self.buffers = etl.decode(read_bytes(name + ".etl"))
        self.pairs, self.without = etl.events_with_stacks(self.buffers)
        self.locks = {}
        if os.path.exists(os.path.join(DIRECTORY, prefix + ".truth")):
            self.symbols = Symbols(prefix + ".kallsyms")
            for line in read_bytes(prefix + ".truth").decode().splitlines():
                _, lock, address, thread = line.split()
                self.locks[lock] = int(address, 0), int(thread)

    def events_of(self, hook_id):
        return [(event, stack) for event, stack in self.pairs if event.hook_id == hook_id]

    def stack_of(self, lock):
        address, _ = self.locks[lock]
        found = [(etl.decode_spin_lock(event), stack)
                 for event, stack in self.events_of(etl.SPINLOCK)
                 if etl.decode_spin_lock(event).spin_lock_address == address]
        found += [(etl.decode_resource(event), stack)
                  for event, stack in self.events_of(etl.RESOURCE)
                  if etl.decode_resource(event).resource == address and
                  etl.decode_resource(event).action & 0x2]
        etl.expect(len(found) == 1, "%s: %d records", lock, len(found))
        return found[0]

    def functions_of(self, stack):
        return [self.symbols.function_at(address) for address in stack.addresses]


class Stacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = Recording("all", 0)

    def test_stacks_are_the_known_chains_of_calls(self):
        for lock in SPINNING + SLEEPING:
            _, stack = self.all.stack_of(lock)
            self.assertIsNotNone(stack, lock)
            self.assertEqual(self.all.functions_of(stack)[:5], ["take_" + lock] + CHAIN, lock)

    def test_stack_of_a_spin_lock_begins_with_its_caller(self):
        for lock in SPINNING + ["deep", "hardirq", "softirq"]:
            record, stack = self.all.stack_of(lock)
            self.assertEqual(stack.addresses[0], record.caller_address, lock)
        with_caller = 0
        for event, stack in self.all.events_of(etl.SPINLOCK):
            if stack:
                self.assertEqual(stack.addresses[0], etl.decode_spin_lock(event).caller_address)
                with_caller += 1
        self.assertGreater(with_caller, len(SPINNING))

    def test_deep_stack_is_cut_at_its_outer_end(self):
        _, stack = self.all.stack_of("deep")
        self.assertEqual(self.all.functions_of(stack), ["take_deep"] + ["deeper"] * 63)

    def test_stack_of_an_interrupt_includes_the_interrupted_code(self):
        for lock, inside, below in (("hardirq", "take_in_hardirq", "interrupted"),
                                    ("softirq", "take_in_softirq", "interrupted_softly")):
            _, stack = self.all.stack_of(lock)
            names = self.all.functions_of(stack)
            self.assertEqual(names[:2], ["take_" + lock, inside])
            at = names.index(below)
            self.assertEqual(names[at:at + 5], [below] + CHAIN)

    def test_context_swap_has_the_stack_of_the_old_thread(self):
        address, thread = self.all.locks["sleep"]
        self.assertEqual(address, 0)
        found = [self.all.functions_of(stack)
                 for event, stack in self.all.events_of(etl.CONTEXTSWAP)
                 if stack and stack.thread == thread]
        chains = [names for names in found if "sleep_there" in names]
        self.assertTrue(chains)
        for names in chains:
            at = names.index("sleep_there")
            self.assertEqual(names[at:at + 5], ["sleep_there"] + CHAIN)

    def test_each_stack_has_the_thread_of_its_event(self):
        for lock, (_, thread) in self.all.locks.items():
            if lock in ("sleep", "hardirq", "softirq"):
                continue
            record, stack = self.all.stack_of(lock)
            self.assertEqual(stack.thread, thread, lock)
            # A record has the thread that acquired the lock, a stack the thread that released it.
            self.assertEqual(record.thread_id == stack.thread, lock != "other", lock)
        for event, stack in self.all.events_of(etl.CONTEXTSWAP):
            if stack:
                self.assertEqual(stack.thread, etl.decode_context_swap(event).old_thread_id)

    def test_each_selected_event_has_a_stack(self):
        self.assertEqual(read_lost_count("all.0.stats"), 0)
        missing = [event for event, stack in self.all.pairs if not stack and
                   event.hook_id in (etl.SPINLOCK, etl.RESOURCE, etl.CONTEXTSWAP)]
        header, *rows = read_bytes("all.counters").decode().splitlines()
        counters = {name: sum(int(row.split()[column]) for row in rows)
                    for column, name in enumerate(header.split()) if column}
        # StacksWalked counts the walks for both sessions that record stacks; one walk serves both.
        self.assertLessEqual(len(missing), counters["StacksLeftOut"])
        with_stack = sum(bool(stack) for _, stack in self.all.pairs)
        self.assertGreaterEqual(counters["StacksWalked"], with_stack)
        self.assertEqual(self.all.without, [])
        for event, stack in self.all.pairs:
            if stack:
                self.assertIn(event.hook_id, (etl.SPINLOCK, etl.RESOURCE, etl.CONTEXTSWAP))

    def test_rundown_lists_the_groups_with_stacks(self):
        for hook_id in etl.STACKS_DC_START, etl.STACKS_DC_END:
            (event,) = etl.events_in_order_of_time(self.all.buffers, hook_id)
            self.assertEqual(etl.groups_with_stacks(event),
                             [etl.CONTEXTSWAP, etl.SPINLOCK, etl.RESOURCE])
        without_stacks = Recording("all", 2)
        self.assertEqual(etl.events_in_order_of_time(without_stacks.buffers, etl.STACKS_DC_START),
                         [])
        self.assertEqual(etl.events_in_order_of_time(without_stacks.buffers, etl.STACKWALK), [])

    def test_each_session_has_the_stacks_of_its_setting(self):
        other = Recording("all", 1)
        starts = [(event.time_stamp, etl.groups_with_stacks(event))
                  for event in etl.events_in_order_of_time(other.buffers, etl.STACKS_DC_START)]
        self.assertEqual([hook_ids for _, hook_ids in starts],
                         [[etl.CONTEXTSWAP], [], [etl.SPINLOCK]])
        (event,) = etl.events_in_order_of_time(other.buffers, etl.STACKS_DC_END)
        self.assertEqual(etl.groups_with_stacks(event), [etl.SPINLOCK])
        off, on = starts[1][0], starts[2][0]
        swaps = other.events_of(etl.CONTEXTSWAP)
        self.assertTrue(any(stack for event, stack in swaps if event.time_stamp < off))
        for event, stack in other.pairs:
            if event.time_stamp < off:
                self.assertEqual(bool(stack), event.hook_id == etl.CONTEXTSWAP)
            if event.time_stamp > on:
                self.assertEqual(bool(stack), event.hook_id == etl.SPINLOCK)
        # Stacks of events that both sessions record are equal.
        session_1_stacks = {stack.event_time_stamp: stack for _, stack in swaps if stack}
        both = [stack for _, stack in self.all.events_of(etl.CONTEXTSWAP)
                if stack and stack.event_time_stamp in session_1_stacks]
        self.assertTrue(both)
        for stack in both:
            self.assertEqual(stack, session_1_stacks[stack.event_time_stamp])

    def test_lost_stacks_are_counted(self):
        full = Recording("full")
        header = etl.check_file(full.buffers)
        self.assertGreaterEqual(read_lost_count("full.stats"), 100)
        self.assertEqual(header.events_lost, read_lost_count("full.stats"))
        self.assertEqual(full.without, [])

    def test_flight_recorder_has_stacks(self):
        flight = Recording("flight")
        etl.check_file(flight.buffers, recorder=True)
        self.assertTrue(any(stack for _, stack in flight.events_of(etl.CONTEXTSWAP) +
                            flight.events_of(etl.SPINLOCK)))
        # The event of each processor's first stack may have been overwritten.
        self.assertLessEqual(len(flight.without),
                             len({buffer.processor for buffer in flight.buffers[1:]}))
        # The file ends with a rundown. That of the start may have been overwritten.
        self.assertTrue(etl.events_in_order_of_time(flight.buffers, etl.STACKS_DC_END))

    def test_stack_begins_with_the_caller_in_each_mode(self):
        for mode in "sampled", "waits":
            recording = Recording(mode)
            stacks = [(etl.decode_spin_lock(event), stack)
                      for event, stack in recording.events_of(etl.SPINLOCK)]
            self.assertTrue(stacks, mode)
            for record, stack in stacks:
                self.assertIsNotNone(stack, mode)
                if record.caller_address:
                    self.assertEqual(stack.addresses[0], record.caller_address, mode)

    def test_hidden_addresses_are_hidden_in_stacks(self):
        for mode in "hashed", "zero":
            recording = Recording(mode)
            stacks = [stack for _, stack in recording.events_of(etl.SPINLOCK) if stack]
            self.assertTrue(stacks, mode)
            for stack in stacks:
                for address in stack.addresses:
                    self.assertLess(address, 1 << 32 if mode == "hashed" else 1)
        # An address has the same hash in each stack.
        hashed = Recording("hashed")
        takers = {}
        for _, stack in hashed.events_of(etl.SPINLOCK):
            if stack and stack.thread == hashed.locks["spin"][1]:
                takers.setdefault(stack.addresses[1:5], set()).add(stack.addresses[0])
        self.assertGreaterEqual(max(map(len, takers.values())), 2)


tap.main()
