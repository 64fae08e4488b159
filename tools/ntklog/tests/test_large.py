#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Large files: read whole, and in memory that does not grow with them.

Usage: test_large.py NTKLOG GENERATE
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import tap

NTKLOG, GENERATE = sys.argv[1:3]

# Limit, in KiB, of the additional memory that a file of 128 MiB takes, compared with one of 32 MiB.
GROWTH = 4096

# Sizes of the two files in MiB.
SIZES = 32, 128


def run_measured(*arguments, **options):
    """Return the standard output, and the most memory in KiB."""
    # A child of Python would count Python's memory before its exec; a child of time does not.
    process = subprocess.Popen(["time", "-f", "%M", NTKLOG, *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    lines = last = 0
    while True:
        part = process.stdout.read(1 << 20)
        if not part:
            break
        lines += part.count(b"\n")
        last = part
    memory = int(process.stderr.read().split()[-1])
    process.stdout.close()
    process.stderr.close()
    return process.wait(), lines, last, memory


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.paths = {}
        for size in SIZES:
            path = cls.paths[size] = os.path.join(cls.directory.name, "%d.etl" % size)
            with open(path, "wb") as stream:
                subprocess.run([GENERATE, str(size)], stdout=stream, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_on_each_size(self, *arguments):
        results = []
        for path in self.paths.values():
            status, lines, last, memory = run_measured(*arguments, path)
            self.assertEqual(status, 0)
            results.append((lines, last, memory))
        self.assertLess(results[1][2] - results[0][2], GROWTH)
        return results

    def test_generated_file_has_the_requested_size(self):
        self.assertEqual([os.path.getsize(path) >> 20 for path in self.paths.values()], list(SIZES))

    def test_report_takes_no_more_memory(self):
        small, large = (json.loads(result[1])
                        for result in self.run_on_each_size("report", "--json", "--top", "20"))
        self.assertNotIn("unknown", [table for table in small if table == "unknown" and
                                     small[table]])
        self.assertGreater(large["events"], 3 * small["events"])
        self.assertEqual(len(large["locks"]), 20)

    def test_dump_takes_no_more_memory(self):
        self.run_on_each_size("dump", "--filter", "SpinCount == 7")

    def test_many_files_take_little_more_memory(self):
        """A row of a report takes a few hundred bytes, and an event of dump none."""
        directory = os.path.join(self.directory.name, "many")
        os.mkdir(directory)
        for number in range(8):
            os.link(self.paths[SIZES[0]], os.path.join(directory, "h%d.etl" % number))
        for arguments, limit in ((("report", "--ndjson", "--table", "blockers"), 500),
                                 (("report", "--json", "--table", "blockers"), 500),
                                 (("dump", "--filter", "SpinCount > 900"), 0)):
            status, lines, _, memory = run_measured(*arguments, directory)
            self.assertEqual(status, 0)
            self.assertGreater(lines, 40000)
            small = run_measured(*arguments, self.paths[SIZES[0]])[3]
            self.assertLess(memory - small, GROWTH + lines * limit / 1024)

    def test_stream_takes_no_more_memory(self):
        """There is no place for a temporary file."""
        for command in "dump", "report":
            results = []
            for path in self.paths.values():
                with open(path, "rb") as stream, subprocess.Popen(["cat"], stdin=stream,
                                                                  stdout=subprocess.PIPE) as cat:
                    results.append(run_measured(command, "-", stdin=cat.stdout,
                                                env={**os.environ, "TMPDIR": "/nonexistent"}))
                self.assertEqual(results[-1][:2], run_measured(command, path)[:2])
            self.assertLess(results[1][3] - results[0][3], GROWTH)

    def test_dump_and_report_see_the_same_events(self):
        path = self.paths[SIZES[0]]
        events = json.loads(run_measured("report", "--json", "--top", "1", path)[2])["events"]
        # dump also prints the events of the file's header.
        header = "Event == LogFileHeader || Event == GroupMask"
        self.assertEqual(run_measured("dump", "--filter", header, path)[1], 2)
        self.assertEqual(run_measured("dump", path)[1], 2 + events)

    def test_answer_of_a_large_file_has_each_wait(self):
        path = self.paths[SIZES[0]]
        answer = json.loads(run_measured("report", "--json", "--top", "1", path)[2])["answer"]
        waits = "SpinCount > 0 || Event == Resource && WaitTime > 0"
        self.assertEqual(answer["waits"], run_measured("dump", "--filter", waits, path)[1])
        self.assertAlmostEqual(sum(answer["parts_ns"].values()) / answer["wait_total_ns"], 1)

    def test_convert_takes_no_more_memory(self):
        self.run_on_each_size("convert", "--perfetto", "-")
        for size in self.paths:
            out = os.path.join(self.directory.name, "ctf%d" % size)
            status, _, _, memory = run_measured("convert", "--ctf", out, self.paths[size])
            self.assertEqual(status, 0)
            if size == SIZES[0]:
                small = memory
        # sink.ctf.fs maps some packets of its output into memory.
        self.assertLess(memory - small, 4 * GROWTH)


if __name__ == "__main__":
    tap.main()
