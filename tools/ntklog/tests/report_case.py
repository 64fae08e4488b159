# SPDX-License-Identifier: GPL-2.0-only
"""Cases and records that the tests of ntklog report share."""

import json

import etl_writer as etl
import tool
from tool import run_tool

# Nanoseconds of a cycle
NS = 1e9 / etl.PERF_FREQ


class Case(tool.Case):
    def report(self, *options, status=0):
        result = run_tool("report", *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def json_of(self, *events, options=("--columns", "all"), data=None):
        self.write(data or etl.file(*events))
        return json.loads(self.report("--json", *options).stdout)


def lock(spins=0, hold=100, wait=10, **changes):
    return etl.perfinfo(0x0529, etl.spin_lock(spins=spins, acquire=1000, release=1000 + hold,
                                              wait=wait, **changes))


class Mixed(Case):

    def setUp(self):
        super().setUp()
        self.write(etl.file(
            etl.spinlock_rundown(), lock(3, wait=1000, address=0x100),
            lock(1, wait=10, address=0x200), lock(2, wait=10, address=0x300, hold=9000),
            etl.perfinfo(0x052B, etl.resource_data()),
            etl.perfinfo(0x0524, etl.context_swap_data(), 4),
            etl.perfinfo(0x1234, b""), etl.perfinfo(0x1234, b""), etl.perfinfo(0x1235, b"")))
