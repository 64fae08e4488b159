# SPDX-License-Identifier: GPL-2.0-only
"""A directory like the module's, with sessions that fake_module.so lets the tool claim.

Usage of a test: test_NAME.py NTKLOG FAKE_MODULE
"""

import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import etl_writer as etl

NTKLOG, FAKE_MODULE = sys.argv[1], os.path.abspath(sys.argv[2])

STATS = """cpu generated written lost finished unread overwritten
0 5 4 1 2 1 0
total 10 7 3 4 %d 0
"""

# As <ntklog/group_mask.h> and <ntklog/event.h> have them.
GROUPS = {"PERF_CONTEXT_SWITCH": 0x20000004, "PERF_DISPATCHER": 0x20000200,
          "PERF_SPINLOCK": 0x20010000, "PERF_SYNC_OBJECTS": 0x20020000,
          "PERF_SPINLOCK_CNTRS": 0x20200000,
          "PERF_LINUX_SPINLOCK": 0xA0000001, "PERF_LINUX_RWLOCK": 0xA0000002,
          "PERF_LINUX_MUTEX": 0xA0000004, "PERF_LINUX_RWSEM": 0xA0000008,
          "PERF_LINUX_SEMAPHORE": 0xA0000010, "PERF_LINUX_RT_MUTEX": 0xA0000020,
          "PERF_LINUX_PERCPU_RWSEM": 0xA0000040, "PERF_LINUX_WW_MUTEX": 0xA0000080}
CONTEXTSWAP, SPINLOCK, RESOURCE = 1, 2, 4


class Directory(unittest.TestCase):
    """Eight sessions that are stopped."""

    ENVIRONMENT = {}

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        # Cleanups run in reverse: the directory goes after all processes that write in it.
        self.addCleanup(self.temporary.cleanup)
        self.directory = self.temporary.name
        for number in range(8):
            os.makedirs(os.path.join(self.directory, "sessions", str(number)))
            for name, text in (("state", "stopped"), ("name", "Logger %d" % number),
                               ("group_mask", "0x20010000 PERF_SPINLOCK"),
                               ("mode", "sequential"), ("buffer_size", "65536"),
                               ("buffers", "16"), ("flush_timer", "0"),
                               ("stats", STATS % 0)):
                self.write_session_file(number, name, text + "\n")

    def session_path(self, number, name):
        return os.path.join(self.directory, "sessions", str(number), name)

    def write_session_file(self, number, name, text):
        with open(self.session_path(number, name), "w") as stream:
            stream.write(text)

    def read_session_file(self, number, name):
        with open(self.session_path(number, name)) as stream:
            return stream.read()

    def write_file(self, name, text):
        with open(os.path.join(self.directory, name), "w") as stream:
            stream.write(text)

    def read_file(self, name):
        with open(os.path.join(self.directory, name)) as stream:
            return stream.read()

    def write_session(self, number, header, *buffers):
        """Make the files of a session that has recorded these buffers, all on CPU 0."""
        for name, data in (("header", header), ("cpu0", b"".join(buffers))):
            with open(self.session_path(number, name), "wb") as stream:
                stream.write(data)
        self.write_session_file(number, "stats",
                                "total 9 9 0 %d %d 0\n" % (len(buffers), len(buffers)))
        self.sequence = len(buffers) + 1

    def append_events(self, *events):
        """Add a buffer with these events to session 7, for which log_events() was called before."""
        with open(self.session_path(7, "cpu0"), "ab") as stream:
            stream.write(etl.buffer(events, sequence=self.sequence))
        self.sequence += 1

    def read_settings(self, number):
        """The settings with which the session was started last."""
        with open(self.session_path(number, "start"), "rb") as stream:
            fields = struct.unpack("<II64s8IIIIIII", stream.read())
        return {"masks": fields[3:11], **dict(zip(
            ("buffer_size", "buffers", "mode", "flush_timer", "stacks", "contextswap_version"),
            fields[11:]))}

    def groups_of_session(self, number):
        masks = self.read_settings(number)["masks"]
        return " ".join(name for name, value in GROUPS.items()
                        if masks[value >> 29] & value & 0x1FFFFFFF)

    def make_environment(self):
        return {**os.environ, "NTKLOG_DEBUGFS": self.directory, "LD_PRELOAD": FAKE_MODULE,
                "ASAN_OPTIONS": "verify_asan_link_order=0", **self.ENVIRONMENT}

    def run_tool(self, *arguments, **options):
        return subprocess.run([NTKLOG, *arguments], **{
            "capture_output": True, "text": True, "timeout": 600, "env": self.make_environment(),
            **options})

    def start_tool(self, *arguments, **options):
        process = subprocess.Popen([NTKLOG, *arguments], **{
            "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "env": self.make_environment(),
            **options})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition):
        for _ in range(1200):
            if condition():
                return
            time.sleep(.05)
        self.fail("waited in vain")


class ParameterDirectory(Directory):

    PARAMETERS = {"spinlock/spin_threshold": 1, "spinlock/acquire_sample_rate": 1000,
                  "spinlock/contention_sample_rate": 1, "spinlock/hold_threshold": 1000000,
                  "resource/release_sample_rate": 1000, "resource/contention_sample_rate": 1,
                  "resource/excessive_timeouts": 1}

    def setUp(self):
        super().setUp()
        for name in "spinlock", "resource":
            os.mkdir(os.path.join(self.directory, name))
        for name, value in self.PARAMETERS.items():
            self.set_parameter(name, value)

    def set_parameter(self, name, value):
        self.write_file(name, "%s\n" % value)
