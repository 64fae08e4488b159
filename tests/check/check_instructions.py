#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Count the instructions of the acquisition and release of a free lock (a pair), and those of them
that are locked.

Usage: check_instructions.py ntklog_bench.ko

Each loop has nothing but a pair in it. A disabled static key is a no-op.
"""

import re
import subprocess
import sys
import unittest

import tap

MODULE = sys.argv[1]
# Number of the loop's own instructions, at its end: the decrement of its count, and the jump back.
LOOP_INSTRUCTIONS = 2


def disassemble(function):
    """Yield (address, instruction, the address that it jumps to or None)."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn",
                              "--disassemble=" + function, MODULE],
                             check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        match = re.match(r" *([0-9a-f]+):\t(.*)", line)
        if match:
            target = re.search(r"^j\w+ +([0-9a-f]+) <", match[2])
            yield int(match[1], 16), match[2], int(target[1], 16) if target else None


def instructions_of_pair(name):
    code = list(disassemble("run_" + name))
    # The loop ends with the first jump back; later ones belong to rare paths, which are after it.
    first, last = next((target, address) for address, _, target in code
                       if target is not None and target < address)
    return [instruction for address, instruction, _ in code
            if first <= address <= last][:-LOOP_INSTRUCTIONS]


def is_locked(instruction):
    """An exchange with memory is locked even without the prefix."""
    return instruction.startswith("lock ") or re.match(r"xchg.*\(", instruction) is not None


class Pairs(unittest.TestCase):

    def check_pair(self, name, most, locked):
        instructions = instructions_of_pair(name)
        listing = "\n" + "\n".join(instructions)
        self.assertLessEqual(len(instructions), most, listing)
        # If it is less than half of the bound, this is probably not the code of the pair.
        self.assertGreater(len(instructions), most // 2, listing)
        self.assertEqual(sum(map(is_locked, instructions)), locked, listing)

    def test_in_stack_pair_has_at_most_20_instructions_and_2_locked_ones(self):
        self.check_pair("in_stack_at_dpc_level", 20, 2)

    def test_ordinary_pair_has_at_most_8_instructions_and_1_locked_one(self):
        self.check_pair("ordinary_at_dpc_level", 8, 1)

    def test_executive_pairs_have_at_most_10_and_14_instructions_and_2_locked_ones(self):
        self.check_pair("ex_exclusive_at_dpc_level", 10, 2)
        self.check_pair("ex_shared_at_dpc_level", 14, 2)


tap.main()
