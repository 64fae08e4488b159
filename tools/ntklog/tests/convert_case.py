# SPDX-License-Identifier: GPL-2.0-only
"""Cases that the tests of ntklog convert share."""

import os
import subprocess

import etl_writer as etl
import tool

NTKLOG = tool.NTKLOG


def run_command(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=600)


class Case(tool.Case):

    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.directory.name, "out")

    def convert(self, how, data, status=0, *options):
        with open(self.path, "wb") as stream:
            stream.write(data)
        result = run_command(NTKLOG, "convert", how, self.out, *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    @staticmethod
    def events_at(*times, hook_id=0x0529, make=etl.spin_lock, version=2):
        return [etl.perfinfo(hook_id, make(), version, time_stamp=etl.START_CLOCK + time)
                for time in times]
