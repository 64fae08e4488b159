#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The stacks of events, against a module whose chains of calls are known.

Usage: check_stacks.py NTKLOG DIRECTORY
"""

import bisect
import os
import sys
import unittest

import etl_decoder as etl
import tap

NTKLOG, DIRECTORY = sys.argv[1:]
CHAIN = ["chain_c", "chain_b", "chain_a", "stack_chain_init"]
# The locks that the module's chain of calls acquires, by whether their owner spins or sleeps.
SPINNING = ["spin", "irq", "read", "write", "queued"]
SLEEPING = ["mutex", "rwsem", "resource"]


def read(name):
    with open(os.path.join(DIRECTORY, name), "rb") as stream:
        return stream.read()


class Symbols:
    """Symbols of a module that is unloaded, or of some of the kernel's functions."""

    def __init__(self, name):
        self.starts, self.names = [], []
        lines = sorted((int(line.split()[0], 16), line.split()[2])
                       for line in read(name).decode().splitlines()
                       if line.split()[1] in "tT")
        for start, symbol in lines:
            self.starts.append(start)
            self.names.append(symbol)

    def name(self, address):
        """The function that contains a return address; functions are adjacent."""
        at = bisect.bisect_left(self.starts, address) - 1
        if at < 0 or address - self.starts[at] > 0x1000:
            return None
        return self.names[at].split(".")[0]


def lost(name):
    header, *_, total = read(name).decode().splitlines()
    return int(total.split()[header.split().index("lost")])


class Recording:
    def __init__(self, prefix, number=None):
        name = prefix if number is None else "%s.%d" % (prefix, number)
        self.buffers = etl.decode(read(name + ".etl"))
        self.pairs, self.without = etl.with_stacks(self.buffers)
        self.locks = {}
        if os.path.exists(os.path.join(DIRECTORY, prefix + ".truth")):
            self.symbols = Symbols(prefix + ".kallsyms")
            for line in read(prefix + ".truth").decode().splitlines():
                _, lock, address, thread = line.split()
                self.locks[lock] = int(address, 0), int(thread)

    def events_of(self, hook_id):
        return [(event, stack) for event, stack in self.pairs if event.hook_id == hook_id]

    def stack_of(self, lock):
        """The record and the stack of the one release of a lock."""
        address, _ = self.locks[lock]
        found = [(etl.spin_lock(event), stack) for event, stack in self.events_of(etl.SPINLOCK)
                 if etl.spin_lock(event).spin_lock_address == address]
        found += [(etl.resource(event), stack) for event, stack in self.events_of(etl.RESOURCE)
                  if etl.resource(event).resource == address and
                  etl.resource(event).action & 0x2]
        etl.expect(len(found) == 1, "%s: %d records", lock, len(found))
        return found[0]

    def names(self, stack):
        return [self.symbols.name(address) for address in stack.addresses]


class Stacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = Recording("all", 0)

    def test_chains_are_found_exactly(self):
        for lock in SPINNING + SLEEPING:
            _, stack = self.all.stack_of(lock)
            self.assertIsNotNone(stack, lock)
            self.assertEqual(self.all.names(stack)[:5], ["take_" + lock] + CHAIN, lock)

    def test_a_spin_lock_s_stack_begins_with_its_caller(self):
        for lock in SPINNING + ["deep", "hardirq", "softirq"]:
            record, stack = self.all.stack_of(lock)
            self.assertEqual(stack.addresses[0], record.caller_address, lock)
        with_caller = 0
        for event, stack in self.all.events_of(etl.SPINLOCK):
            if stack:
                self.assertEqual(stack.addresses[0], etl.spin_lock(event).caller_address)
                with_caller += 1
        self.assertGreater(with_caller, len(SPINNING))

    def test_what_is_too_deep_is_cut_at_its_outer_end(self):
        _, stack = self.all.stack_of("deep")
        self.assertEqual(self.all.names(stack), ["take_deep"] + ["deeper"] * 63)

    def test_an_interrupt_s_stack_goes_on_into_what_it_interrupts(self):
        for lock, inside, below in (("hardirq", "take_in_hardirq", "interrupted"),
                                    ("softirq", "take_in_softirq", "interrupted_softly")):
            _, stack = self.all.stack_of(lock)
            names = self.all.names(stack)
            self.assertEqual(names[:2], ["take_" + lock, inside])
            at = names.index(below)
            self.assertEqual(names[at:at + 5], [below] + CHAIN)

    def test_the_stack_of_who_is_switched_away_from(self):
        address, thread = self.all.locks["sleep"]
        self.assertEqual(address, 0)
        found = [self.all.names(stack) for event, stack in self.all.events_of(etl.CONTEXTSWAP)
                 if stack and stack.thread == thread]
        chains = [names for names in found if "sleep_there" in names]
        self.assertTrue(chains)
        for names in chains:
            at = names.index("sleep_there")
            self.assertEqual(names[at:at + 5], ["sleep_there"] + CHAIN)

    def test_each_stack_is_its_thread_s(self):
        for lock, (_, thread) in self.all.locks.items():
            if lock in ("sleep", "hardirq", "softirq"):
                continue
            record, stack = self.all.stack_of(lock)
            self.assertEqual(stack.thread, thread, lock)
            # A release for the owner by another thread is no event of the owner's worker.
            self.assertEqual(record.thread_id == stack.thread, lock != "other", lock)
        for event, stack in self.all.events_of(etl.CONTEXTSWAP):
            if stack:
                self.assertEqual(stack.thread, etl.context_swap(event).old_thread_id)

    def test_each_event_that_is_to_have_a_stack_has_one(self):
        self.assertEqual(lost("all.0.stats"), 0)
        missing = [event for event, stack in self.all.pairs if not stack and
                   event.hook_id in (etl.SPINLOCK, etl.RESOURCE, etl.CONTEXTSWAP)]
        header, *rows = read("all.counters").decode().splitlines()
        counters = {name: sum(int(row.split()[column]) for row in rows)
                    for column, name in enumerate(header.split()) if column}
        # Session 1 records stacks, too: one walk of a stack serves both sessions.
        self.assertLessEqual(len(missing), counters["StacksLeftOut"])
        with_stack = sum(bool(stack) for _, stack in self.all.pairs)
        self.assertGreaterEqual(counters["StacksWalked"], with_stack)
        self.assertEqual(self.all.without, [])
        for event, stack in self.all.pairs:
            if stack:
                self.assertIn(event.hook_id, (etl.SPINLOCK, etl.RESOURCE, etl.CONTEXTSWAP))

    def test_rundown_has_the_events_with_stacks(self):
        for hook_id in etl.STACKS_DC_START, etl.STACKS_DC_END:
            (event,) = etl.in_time(self.all.buffers, hook_id)
            self.assertEqual(etl.stacks_of(event),
                             [etl.CONTEXTSWAP, etl.SPINLOCK, etl.RESOURCE])
        nobody = Recording("all", 2)
        self.assertEqual(etl.in_time(nobody.buffers, etl.STACKS_DC_START), [])
        self.assertEqual(etl.in_time(nobody.buffers, etl.STACKWALK), [])

    def test_each_session_gets_what_it_wants(self):
        other = Recording("all", 1)
        starts = [(event.time_stamp, etl.stacks_of(event))
                  for event in etl.in_time(other.buffers, etl.STACKS_DC_START)]
        self.assertEqual([hook_ids for _, hook_ids in starts],
                         [[etl.CONTEXTSWAP], [], [etl.SPINLOCK]])
        (event,) = etl.in_time(other.buffers, etl.STACKS_DC_END)
        self.assertEqual(etl.stacks_of(event), [etl.SPINLOCK])
        off, on = starts[1][0], starts[2][0]
        swaps = other.events_of(etl.CONTEXTSWAP)
        self.assertTrue(any(stack for event, stack in swaps if event.time_stamp < off))
        for event, stack in other.pairs:
            if event.time_stamp < off:
                self.assertEqual(bool(stack), event.hook_id == etl.CONTEXTSWAP)
            if event.time_stamp > on:
                self.assertEqual(bool(stack), event.hook_id == etl.SPINLOCK)
        # Stacks of events that both sessions record are equal.
        mine = {stack.event_time_stamp: stack for _, stack in swaps if stack}
        both = [stack for _, stack in self.all.events_of(etl.CONTEXTSWAP)
                if stack and stack.event_time_stamp in mine]
        self.assertTrue(both)
        for stack in both:
            self.assertEqual(stack, mine[stack.event_time_stamp])

    def test_stack_that_finds_no_room_is_counted(self):
        full = Recording("full")
        header = etl.check_file(full.buffers)
        self.assertGreaterEqual(lost("full.stats"), 100)
        self.assertEqual(header.events_lost, lost("full.stats"))
        # Each stack comes directly after its own event.
        self.assertEqual(full.without, [])

    def test_a_flight_recorder_goes_on(self):
        flight = Recording("flight")
        etl.check_file(flight.buffers, recorder=True)
        self.assertTrue(any(stack for _, stack in flight.events_of(etl.CONTEXTSWAP) +
                            flight.events_of(etl.SPINLOCK)))
        # The first event of each processor may have been overwritten, but its stack not.
        self.assertLessEqual(len(flight.without),
                             len({buffer.processor for buffer in flight.buffers[1:]}))
        # The start's rundown has been overwritten; the stop's rundown is behind all other events.
        self.assertTrue(etl.in_time(flight.buffers, etl.STACKS_DC_END))

    def test_the_caller_is_found_in_each_mode(self):
        for mode in "sampled", "waits":
            recording = Recording(mode)
            stacks = [(etl.spin_lock(event), stack)
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
        # The same place of acquisition has the same hash: the chain below take_spin() and
        # take_irq().
        hashed = Recording("hashed")
        takers = {}
        for _, stack in hashed.events_of(etl.SPINLOCK):
            if stack and stack.thread == hashed.locks["spin"][1]:
                takers.setdefault(stack.addresses[1:5], set()).add(stack.addresses[0])
        self.assertGreaterEqual(max(map(len, takers.values())), 2)


tap.main()
