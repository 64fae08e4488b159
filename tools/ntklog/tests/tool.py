# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the tool share: the tool itself, and files for it."""

import os
import subprocess
import sys
import tempfile
import unittest

NTKLOG = sys.argv[1]


def run(*arguments, **options):
    return subprocess.run([NTKLOG, *arguments], **{
        "capture_output": True, "text": True, "timeout": 60, **options})


def run_on(command, data, *options):
    with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
        stream.write(data)
        stream.flush()
        return run(command, *options, stream.name)


def dump(data, *options):
    """What it did, and the lines: time, processor, event, and the fields."""
    result = run_on("dump", data, *options)
    lines = [line.split(maxsplit=3) for line in result.stdout.splitlines()]
    return result, lines


def fields(line):
    return dict(field.split("=") for field in line[3].split())


class Case(unittest.TestCase):
    """With a directory, and a trace in it."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "a.etl")

    def tearDown(self):
        self.directory.cleanup()

    def write(self, data):
        with open(self.path, "wb") as stream:
            stream.write(data)
