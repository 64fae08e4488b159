# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the Python package share.

Usage of a test: test_NAME.py NTKLOG PACKAGE

PACKAGE is the directory with the package.
"""

import json
import os
import subprocess
import sys

import tool

PACKAGE = os.path.abspath(sys.argv[2])
sys.path.insert(0, PACKAGE)
import ntklog    # pylint: disable=wrong-import-position


def run_python(script, *arguments, **options):
    """Run a script in a Python of its own."""
    return subprocess.run([sys.executable, "-c", script, *arguments], check=False, timeout=120, **{
        "capture_output": True, "text": True, "env": {**os.environ, "PYTHONPATH": PACKAGE},
        **options})


class Python(tool.Case):
    def open_trace(self, **options):
        return ntklog.open(self.path, **options)

    def dump_events(self):
        """The events as the tool prints them."""
        lines = tool.run_tool("dump", "--json", self.path).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def check_field(self, ours, theirs, field):
        """Compare a field with the tool's, which prints addresses, and the numbers of symbols
        without a name, as text.
        """
        if isinstance(theirs, str) and isinstance(ours, int):
            theirs = int(theirs, 0)
        self.assertEqual(ours, theirs, field)
