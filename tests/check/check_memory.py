#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the sizes of memory in the documentation with the built module.

Usage: check_memory.py ntklog.ko TOP
"""

import os
import re
import subprocess
import sys
import unittest

import tap

MODULE, TOP = sys.argv[1:3]


def text_of_section(path, title):
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return " ".join(re.split(r"^%s\n=+$" % title, stream.read(), flags=re.M)[1].split())


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Memory(unittest.TestCase):
    def test_sizes_are_those_of_the_module(self):
        table = text_of_section("Documentation/dev/measurements.rst", "Memory")
        documented = {name: int(size.replace(",", ""))
                      for name, size in re.findall(r"``(\w+)`` ([\d,]*\d)", table)}
        sizes = {name: int(size) for name, size, _ in
                 map(str.split, output_of("pahole", "-s", MODULE).splitlines())}
        self.assertGreater(len(documented), 4)
        for name, size in documented.items():
            with self.subTest(name):
                self.assertEqual(size, sizes[name])
        static = int(re.search(r"percpu\s+(\d+)", output_of("size", "-A", MODULE))[1])
        self.assertIn("%s bytes of the 8 KiB" % format(static, ","), table)


if __name__ == "__main__":
    tap.main()
