#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands that need the module, without it: messages that name the remedy, and what
they do with files like the module's. What the module makes of it is tried in virtual
machines: tests/guest/tool.sh.

Usage: test_control.py NTKLOG
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import etl_writer as etl
import tap

NTKLOG = sys.argv[1]

STATS = """cpu generated written lost finished unread overwritten
0 5 4 1 2 1 0
total 10 7 3 4 %d 0
"""


def run(*arguments, **environment):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


class Refused(unittest.TestCase):
    def refused(self, status, words, *arguments, **environment):
        result = run(*arguments, **environment)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_values_out_of_range_are_named(self):
        for arguments, words in (
                ("spinlock 0 1000 1", "spin_threshold: 0 is out of range: 1 to 4294967295"),
                ("spinlock 1 999 1", "acquire_sample_rate: 999 is out of range: 1000 to"),
                ("spinlock 1 1000 0", "contention_sample_rate: 0 is out of range: 1 to"),
                ("spinlock 1 1000 1 5",
                 "hold_threshold: 5 is out of range: 0, or 1000000 to 4294967295"),
                ("resource 0 1 1", "release_sample_rate: 0 is out of range"),
                ("resource 1 0 1", "contention_sample_rate: 0 is out of range"),
                ("resource 1 1 0", "excessive_timeouts: 0 is out of range")):
            with self.subTest(arguments):
                self.refused(1, words, "set", *arguments.split())

    def test_what_is_no_value(self):
        for arguments, words in (
                ("spinlock x 1000 1", 'spin_threshold: "x" is no number'),
                ("spinlock 1 -1000 1", 'acquire_sample_rate: "-1000" is no number'),
                ("spinlock 1 1000 4294967296", '"4294967296" is no number'),
                ("spinlock 1 1000", "usage: ntklog set spinlock spin_threshold "
                 "acquire_sample_rate contention_sample_rate [hold_threshold]"),
                ("spinlock 1 1000 1 0 0", "usage: ntklog set spinlock"),
                ("resource 1 1", "usage: ntklog set resource release_sample_rate"),
                ("frobs 1", "spinlock or resource"), ("", "spinlock or resource")):
            with self.subTest(arguments):
                self.refused(2, words, "set", *arguments.split())

    def test_wrong_options(self):
        for arguments, words in (
                ("record -e frobs", 'no events are called "frobs"'),
                ("record -b 3G", '"3G" is no size'), ("record -n x", "no number of buffers"),
                ("record --duration -1", "no number of seconds"),
                ("record --session 8", "is not 0 to 7"), ("start 8", "one session, 0 to 7"),
                ("stop 1 2", "one session, 0 to 7"), ("top -d 0", "not 0.1 seconds or more"),
                ("top -n 0", "is no number of rows"), ("top x", 'what is "x" for?')):
            with self.subTest(arguments):
                self.refused(2, words, *arguments.split())

    @unittest.skipIf(os.path.exists("/sys/kernel/debug/ntklog"), "the module is loaded")
    def test_remedies(self):
        remedy = "modprobe ntklog" if os.path.ismount("/sys/kernel/debug") else \
            "mount -t debugfs"
        for command in ("list", "start", "stop", "status", "record", "top"):
            with self.subTest(command):
                self.refused(1, remedy, command)
        self.refused(1, "modprobe ntklog", "set", "spinlock", "1", "1000", "1")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to be somebody else")
    def test_not_root(self):
        os.chmod(os.path.dirname(NTKLOG), 0o755)
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", NTKLOG, "list"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("this needs root: try sudo", result.stderr)

    def test_directory_that_is_not_there(self):
        self.refused(1, "/nonexistent: No such file or directory", "status",
                     NTKLOG_DEBUGFS="/nonexistent")


class Files(unittest.TestCase):
    """A directory like the module's; what is written there stays."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = self.temporary.name
        for number in range(8):
            os.makedirs(os.path.join(self.directory, "sessions", str(number)))
            for name, text in (("state", "stopped"), ("name", "Logger %d" % number),
                               ("group_mask", "0x20010000 PERF_SPINLOCK"),
                               ("mode", "sequential"), ("buffer_size", "65536"),
                               ("buffers", "16"), ("stats", STATS % 0)):
                self.write(number, name, text + "\n")

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, number, name):
        return os.path.join(self.directory, "sessions", str(number), name)

    def write(self, number, name, text):
        with open(self.path(number, name), "w") as stream:
            stream.write(text)

    def read(self, number, name):
        with open(self.path(number, name)) as stream:
            return stream.read()

    def run_there(self, *arguments):
        return run(*arguments, NTKLOG_DEBUGFS=self.directory)

    def test_status(self):
        self.write(3, "state", "started\n")
        sessions = json.loads(self.run_there("status", "--json").stdout)
        self.assertEqual([session["state"] for session in sessions],
                         ["stopped"] * 3 + ["started"] + ["stopped"] * 4)
        self.assertEqual(sessions[3], {
            "session": 3, "state": "started", "name": "Logger 3",
            "group_mask": "0x20010000 PERF_SPINLOCK", "mode": "sequential",
            "buffer_size": 65536, "buffers": 16, "generated": 10, "written": 7, "lost": 3,
            "finished": 4, "unread": 0})
        self.assertIn("lost 3", self.run_there("status", "3").stdout)

    def test_start_takes_a_free_session(self):
        self.write(7, "state", "started\n")
        self.write(6, "stats", STATS % 2)
        settings = {"group_mask": "PERF_SPINLOCK PERF_CONTEXT_SWITCH",
                    "buffer_size": "131072", "buffers": "9", "mode": "buffering"}
        for name in settings:
            self.write(5, name, "")
        result = self.run_there("start", "-e", "spinlock,contextswap", "-b", "128K", "-n", "9",
                                "-m", "buffering")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("session 5 is started", result.stdout)
        self.assertEqual({name: self.read(5, name) for name in settings}, settings)
        # Over "stopped": the module's files are not cut off before a write.
        self.assertEqual(self.read(5, "state"), "start" + "stopped\n"[5:])

    def test_no_session_is_free(self):
        for number in range(8):
            self.write(number, "stats", STATS % 1)
        result = self.run_there("start")
        self.assertEqual(result.returncode, 1)
        self.assertIn("8 are stopped with buffers that nobody has read", result.stderr)

    def test_stop_which(self):
        self.assertIn("no session is started", self.run_there("stop").stderr)
        self.write(2, "state", "started\n")
        self.write(3, "state", "started\n")
        self.assertIn("more than one session is started (2, 3)", self.run_there("stop").stderr)

    def test_stop_writes_buffers_in_order(self):
        def event(number):
            return etl.perfinfo(0x0529, etl.spin_lock(spins=number))
        for name, data in (("header", etl.header_buffer(5)),
                           ("cpu0", etl.buffer([event(1)], sequence=1) +
                            etl.buffer([event(4)], sequence=4))):
            with open(self.path(2, name), "wb") as stream:
                stream.write(data)
        path = os.path.join(self.directory, "a.etl")
        result = self.run_there("stop", "2", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, "rb") as stream:
            self.assertEqual(stream.read(), etl.header_buffer(5) +
                             etl.buffer([event(1)], sequence=1) +
                             etl.buffer([event(4)], sequence=4))


if __name__ == "__main__":
    tap.main()
