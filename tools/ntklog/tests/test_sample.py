#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The samples of the documentation: the tool prints what is in the text files beside them."""

import json
import os
import re
import struct
import unittest

import tap
from tool import run_tool

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "Documentation", "examples")
PAGES = os.path.join(EXAMPLES, "..")


def read_example(name):
    with open(os.path.join(EXAMPLES, name), "rb") as stream:
        return stream.read()


class Samples(unittest.TestCase):
    def check_example(self, name):
        result = run_tool("dump", "--json", os.path.join(EXAMPLES, name + ".etl"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.splitlines(),
                         read_example(name + ".json").decode().splitlines())
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_sample_has_each_kind_of_event(self):
        events = self.check_example("sample")
        self.assertEqual({"ContextSwap", "SpinLock", "Resource"} -
                         {event["Event"] for event in events}, set())

    def test_sample_has_stacks(self):
        events = self.check_example("sample-stacks")
        self.assertTrue(any("Stack" in event for event in events))

    def test_fields_are_in_the_page(self):
        with open(os.path.join(PAGES, "guide", "json.rst"), encoding="utf-8") as stream:
            page = stream.read()
        for event in self.check_example("sample") + self.check_example("sample-stacks"):
            for name in event:
                self.assertIn("``%s``" % name, page)

    def test_hex_dump_of_the_page_is_that_of_the_sample(self):
        """The lines of the dump have an offset and the bytes of the sample at it."""
        data, count = read_example("sample.etl"), 0
        with open(os.path.join(PAGES, "etw", "tools.rst"), encoding="utf-8") as stream:
            for line in stream:
                match = re.match(r"\t0x([0-9a-f]+)  ((?:[0-9a-f]{2}(?: |$))+)", line)
                if not match:
                    continue
                at, octets = int(match.group(1), 16), bytes.fromhex(match.group(2))
                self.assertEqual(data[at:at + len(octets)], octets, line)
                count += len(octets)
        self.assertGreater(count, 0x48)

    def test_sample_has_whole_buffers(self):
        data = read_example("sample.etl")
        size, = struct.unpack_from("<I", data, 0)
        self.assertEqual(len(data) % size, 0)
        self.assertLess(len(data), 65536)


if __name__ == "__main__":
    tap.main()
