#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands that need the module, without it: messages that name the remedy, and what
they do with files like the module's. What the module makes of it is tried in virtual
machines: tests/guest/tool.sh.

Usage: test_control.py NTKLOG
"""

import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import etl_writer as etl
import tap
from tool import undescribed

NTKLOG = sys.argv[1]

STATS = """cpu generated written lost finished unread overwritten
0 5 4 1 2 1 0
total 10 7 3 4 %d 0
"""


def run(*arguments, **environment):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=600,
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
                ("record -e spinlock_counters", "no events: nothing would be recorded"),
                ("top -e spinlock_counters", "spinlock_counters has no events"),
                ("record -e frobs", 'no events are called "frobs"'),
                ("record --stacks=frobs", '"frobs" is not spinlock, resource or contextswap'),
                ("start --stacks=spinlock,", '"" is not spinlock, resource or contextswap'),
                ("record -b 3G", '"3G" is no size'), ("record -n x", "no number of buffers"),
                ("record --duration -1", "no number of seconds"),
                ("record --session 8", "is not 0 to 7"), ("start 8", "give the number of one session, 0 to 7"),
                ("stop 1 2", "give the number of one session, 0 to 7"), ("top -d 0", "not 0.1 seconds or more"),
                ("top -n 0", "is no number of rows"), ("top x", 'the argument "x" is not understood')):
            with self.subTest(arguments):
                self.refused(2, words, *arguments.split())

    @unittest.skipIf(os.path.exists("/sys/kernel/debug/ntklog"), "the module is loaded")
    def test_remedies(self):
        remedy = "modprobe ntklog" if os.path.ismount("/sys/kernel/debug") else \
            "mount -t debugfs"
        if os.geteuid():
            remedy = "this needs root: try sudo"
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


class Directory(unittest.TestCase):
    """A directory like the module's; what is written there stays."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = self.temporary.name
        for number in range(8):
            os.makedirs(os.path.join(self.directory, "sessions", str(number)))
            for name, text in (("state", "stopped"), ("name", "Logger %d" % number),
                               ("group_mask", "0x20010000 PERF_SPINLOCK"),
                               ("mode", "sequential"), ("buffer_size", "65536"),
                               ("buffers", "16"), ("flush_timer", "0"),
                               ("stats", STATS % 0)):
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


class Files(Directory):
    def test_status(self):
        self.write(3, "state", "started\n")
        sessions = json.loads(self.run_there("status", "--json").stdout)
        self.assertEqual([session["state"] for session in sessions],
                         ["stopped"] * 3 + ["started"] + ["stopped"] * 4)
        self.assertEqual(sessions[3], {
            "session": 3, "state": "started", "name": "Logger 3",
            "group_mask": "0x20010000 PERF_SPINLOCK", "mode": "sequential", "stacks": "",
            "buffer_size": 65536, "buffers": 16, "generated": 10, "written": 7, "lost": 3,
            "finished": 4, "unread": 0})
        self.assertEqual(undescribed(sessions, "status"), set())
        self.assertIn("lost 3", self.run_there("status", "3").stdout)
        self.assertNotIn("stacks", self.run_there("status", "3").stdout)
        self.write(3, "stacks", "0x0529 spinlock\n0x052b resource\n")
        self.assertIn("with stacks of 0x0529 spinlock 0x052b resource\n",
                      self.run_there("status", "3").stdout)
        self.write(3, "stacks", "none\n")
        self.assertNotIn("stacks", self.run_there("status", "3").stdout)

    def test_names_that_are_no_utf8(self):
        with open(self.path(3, "name"), "wb") as stream:
            stream.write(b"caf\xe9\n")
        result = self.run_there("status", "--json")
        self.assertEqual([session["name"] for session in json.loads(result.stdout)][2:5],
                         ["Logger 2", "caf?", "Logger 4"])

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

    def test_stacks_of_events(self):
        for arguments, text in (((), "before"), (("--stacks",), "spinlock resource contextswap"),
                                (("--stacks=resource,spinlock",), "resource spinlock")):
            self.write(5, "state", "stopped\n")
            self.write(5, "stacks", "before\n")
            result = self.run_there("start", "5", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.read(5, "stacks")[:len(text)], text)

    def test_a_recording_has_no_stacks_of_an_earlier_one(self):
        for number in range(8):
            self.write(number, "stacks", "spinlock\n")
        self.run_there("record", "--duration", ".1", "--no-names",
                       "-o", os.path.join(self.directory, "a.etl"))
        self.assertEqual([self.read(number, "stacks")[:4] for number in range(8)].count("none"), 1)

    def test_a_module_that_knows_no_stacks(self):
        result = self.run_there("start", "5")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_there("start", "4", "--stacks")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ntklog: --stacks: the loaded module records no stacks\n"))
        self.assertEqual(self.read(4, "state"), "stopped\n")

    def linux(self, spin, rw):
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            stream.write("spinlock: %s\nrwlock: %s\ncycles of a test: 20\n" % (spin, rw))

    def test_linux_locks_that_are_not_watched(self):
        reason = "unavailable: no function _raw_spin_lock"
        self.linux(reason, "off, 19 functions, attached in 0 us, detached in 0 us")
        result = self.run_there("start", "3", "-e", "linux_spinlock,linux_rwlock")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr,
                         "ntklog: linux_spinlock: nothing will be recorded: %s\n" % reason)
        result = self.run_there("start", "4", "-e", "spinlock")
        self.assertEqual(result.stderr, "")

    def test_record_in_a_mode_that_there_is_not(self):
        result = self.run_there("record", "--mode", "most")
        self.assertEqual(result.returncode, 2)
        self.assertIn('--mode: "most" is not full, sampled or waits', result.stderr)
        result = self.run_there("record", "--mode", "waits")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ntklog: mode waits: the loaded module has no modes\n"))

    def test_linux_locks_of_an_older_module(self):
        result = self.run_there("start", "3", "-e", "linux_spinlock")
        self.assertIn("the loaded module does not know these events", result.stderr)

    def test_what_is_recorded_if_nobody_says_what(self):
        header = os.path.join(self.directory, "a.etl")
        for (spin, rw), more in ((("off, 10 functions", "off, 19 functions"),
                                  " PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"),
                                 (("unavailable: linux_locks=0", "off, 19 functions"),
                                  " PERF_LINUX_RWLOCK"),
                                 (("failed: _raw_spin_lock (-16)", "unavailable: x"),
                                  " PERF_LINUX_SPINLOCK")):
            self.linux(spin, rw)
            self.write(7, "group_mask", "")
            self.run_there("record", "--no-names", "-o", header, "--duration", ".1")
            self.assertEqual(self.read(7, "group_mask"), "PERF_SPINLOCK PERF_SYNC_OBJECTS" + more)

    SLEEPING = ["mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex"]

    def linux_of_all(self, **lines):
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            for kind in ["spinlock", "rwlock"] + self.SLEEPING:
                stream.write("%s: %s\n" % (kind, lines.get(kind, "off, 3 functions, attached in 0 us, "
                                                           "detached in 0 us")))
            stream.write("mode: full\ncycles of a test: 20\n")

    def test_groups_of_locks_that_sleep(self):
        self.linux_of_all(rt_mutex="unavailable: no function rt_mutex_lock")
        groups = ["linux_" + kind for kind in self.SLEEPING]
        result = self.run_there("start", "3", "-e", ",".join(groups + groups[:1]))
        # Each once, in the order of their bits.
        self.assertEqual(self.read(3, "group_mask"),
                         " ".join("PERF_" + group.upper() for group in groups))
        self.assertEqual((result.returncode, result.stderr),
                         (0, "ntklog: linux_rt_mutex: nothing will be recorded: unavailable: no "
                          "function rt_mutex_lock\n"))

    def test_locks_that_sleep_are_recorded_if_nobody_says_what(self):
        for lines, there in (({}, self.SLEEPING),
                             ({"semaphore": "unavailable: linux_locks=0",
                               "ww_mutex": "failed: x (-16)"},
                              [kind for kind in self.SLEEPING if kind != "semaphore"])):
            self.linux_of_all(**lines)
            self.write(7, "group_mask", "")
            result = self.run_there("record", "--no-names", "-o",
                                    os.path.join(self.directory, "a.etl"), "--duration", ".1")
            self.assertEqual(self.read(7, "group_mask"),
                             "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK" +
                             "".join(" PERF_LINUX_" + kind.upper() for kind in there))
            self.assertNotIn("left out", result.stderr)

    def test_what_a_module_refuses_that_is_older_is_named(self):
        """What it takes instead of the file gives EINVAL, as the module does."""
        self.linux("off, 10 functions", "off, 19 functions")
        os.unlink(self.path(3, "group_mask"))
        os.symlink("/proc/self/oom_score_adj", self.path(3, "group_mask"))
        result = self.run_there("start", "3", "-e", "spinlock,linux_rwsem")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ntklog: session 3: group_mask PERF_SPINLOCK PERF_LINUX_RWSEM is out of "
                          "range: the loaded module does not know linux_rwsem\n"))

    def test_selftest(self):
        rows = ("Function Context Word Preempt Softirqs Interrupts Slots Result\n"
                "_raw_spin_lock thread 0x1 1 0 0 1 same\n")
        same = "spinlock: 10 functions do what the kernel's own do\n"
        for text, status in ((rows + same, 0),
                             (rows.replace("0x1 1 0 0 1 same", "0x0(0x1) 1 0 0 1 differs") +
                              "spinlock: _raw_spin_lock differs\n" + same, 1),
                             (same + "rwlock: unavailable: linux_locks=0\n", 1)):
            with open(os.path.join(self.directory, "linux_selftest"), "w") as stream:
                stream.write(text)
            result = self.run_there("selftest")
            self.assertEqual((result.returncode, result.stderr), (status, ""))
            self.assertEqual(result.stdout.split(), text.split())

    def test_selftest_of_an_older_module(self):
        result = self.run_there("selftest")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("linux_selftest: No such file", result.stderr)

    def test_no_session_is_free(self):
        for number in range(8):
            self.write(number, "stats", STATS % 1)
        result = self.run_there("start")
        self.assertEqual(result.returncode, 1)
        self.assertIn("0 are started, 8 are stopped with buffers that nobody has read",
                      result.stderr)
        for number in range(8):
            self.write(number, "state", "started\n")
        self.assertIn("no session is free: 8 are started", self.run_there("start").stderr)

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


class Record(Directory):
    """Of a directory like the module's, whose files do not go on."""

    def setUp(self):
        super().setUp()
        self.etl = os.path.join(self.directory, "a.etl")
        self.data = etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())])
        for name, data in (("header", etl.header_buffer(2)), ("cpu0", self.data)):
            with open(self.path(7, name), "wb") as stream:
                stream.write(data)

    def record(self, *arguments, path=None, **options):
        return subprocess.Popen([NTKLOG, "record", "--no-names", "-o", path or self.etl,
                                 *arguments], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                env={**os.environ, "NTKLOG_DEBUGFS": self.directory}, **options)

    def recorded(self, *arguments, status=0, **options):
        process = self.record(*arguments, **options)
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, status, error)
        return error

    def recorded_for_a_moment(self, path, command):
        """A command that writes its number into the file, ended before it ends; and what was said."""
        for duration in ".3", "3", "30", "300":
            error = self.recorded("--duration", duration, "--", "sh", "-c", command)
            # On a busy machine a moment may be over before it has begun.
            if os.path.exists(path) and os.path.getsize(path):
                break
        return error

    def is_alive(self, path):
        with open(path) as stream:
            pid = int(stream.read())
        # Init adopts the orphan, which stays a zombie if init does not wait for it.
        try:
            with open("/proc/%d/stat" % pid) as stream:
                return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_status_of_the_command(self):
        self.recorded("--", "sh", "-c", "exit 7", status=7)
        self.recorded("--", "sh", "-c", "kill -TERM $$", status=143)
        self.recorded("--", "/nonexistent", status=127)
        # Though it cannot be told.
        with open("/dev/full", "w") as full:
            process = subprocess.run([NTKLOG, "record", "--no-names", "-o", self.etl, "--",
                                      "/nonexistent"], stderr=full, stdin=subprocess.DEVNULL,
                                     env={**os.environ, "NTKLOG_DEBUGFS": self.directory})
        self.assertEqual(process.returncode, 127)

    def test_what_is_ended_after_its_time_is_good(self):
        pid = os.path.join(self.directory, "pid")
        self.recorded_for_a_moment(pid, "sleep 1000 & echo $! >%s; wait" % pid)
        self.assertFalse(self.is_alive(pid))

    def test_what_does_not_end_is_killed(self):
        pid = os.path.join(self.directory, "pid")
        command = "trap '' TERM; echo $$ >%s; while :; do sleep 1; done" % pid
        error = self.recorded_for_a_moment(pid, command)
        self.assertIn("sh has not ended 5 seconds after SIGTERM: it is killed", error)
        self.assertFalse(self.is_alive(pid))
        # A second signal does not wait.
        os.unlink(pid)
        process = self.record("--", "sh", "-c", command)
        while not os.path.exists(pid):
            time.sleep(.05)
        start = time.monotonic()
        process.terminate()
        while process.poll() is None and time.monotonic() < start + 600:
            time.sleep(.1)
            process.terminate()
        self.assertEqual(process.returncode, 0)
        process.stderr.close()

    def test_buffers_without_an_end(self):
        """What is done with one may make events for the next, until the session is stopped."""
        os.unlink(self.path(7, "cpu0"))
        os.symlink("/dev/zero", self.path(7, "cpu0"))
        process = self.record("--duration", ".3", path="-", stdout=subprocess.DEVNULL)
        end = time.monotonic() + 600
        with open(self.path(7, "state")) as stream:
            # The file is written over, but not cut.
            while stream.read() != "stopted\n" and time.monotonic() < end:
                stream.seek(0)
                time.sleep(.05)
        process.kill()
        process.communicate()
        self.assertLess(time.monotonic(), end)

    def test_an_earlier_file_is_kept(self):
        for path in self.etl, self.etl + ".names":
            with open(path, "w") as stream:
                stream.write("earlier")
        for number in range(3):
            self.recorded("--duration", ".1")
            with open(self.etl, "rb") as stream:
                self.assertEqual(stream.read(), etl.header_buffer(2) + self.data)
            self.assertFalse(os.path.exists(self.etl + ".names"))
            self.assertEqual(os.path.exists(self.etl + ".old.names"), not number)
            with open(self.etl + ".old", "rb") as stream:
                self.assertEqual(stream.read() == b"earlier", not number)
        self.assertEqual(os.stat(self.etl).st_mode & 0o777, 0o600)

    def test_streams(self):
        fifo = os.path.join(self.directory, "fifo")
        os.mkfifo(fifo)
        process = self.record("--duration", ".3", path=fifo)
        with open(fifo, "rb") as stream:
            self.assertEqual(stream.read(), etl.header_buffer(2) + self.data)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        # The output of the command is not in the trace.
        process = self.record("--", "echo", "hello", path="-", stdout=subprocess.PIPE)
        out, error = process.communicate()
        self.assertEqual((process.returncode, out), (0, etl.header_buffer(2) + self.data))
        self.assertIn(b"hello\n", error)
        self.assertFalse(os.path.exists("-.names"))

    def test_a_reader_that_goes(self):
        process = self.record(path="-", stdout=subprocess.PIPE)
        process.stdout.read(etl.SIZE)
        process.stdout.close()
        with open(self.path(7, "cpu0"), "ab") as stream:
            for number in range(2, 200):
                stream.write(etl.buffer([], sequence=number))
        error = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), 1)
        self.assertIn("standard output: Broken pipe", error)

    def test_a_terminal_is_no_place(self):
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("this machine has no pseudo terminals")
        self.assertIn("-o -: the standard output is a terminal", self.recorded(path="-", status=1, stdout=slave))
        os.close(master)
        os.close(slave)


class RecordMode(Directory):
    """record --mode, of a directory like the module's: files are not cut off before a write."""

    def setUp(self):
        super().setUp()
        self.linux_mode = os.path.join(self.directory, "linux_mode")
        self.etl = os.path.join(self.directory, "a.etl")
        self.set("full\n")
        for number in 3, 7:
            with open(self.path(number, "header"), "wb") as stream:
                stream.write(etl.header_buffer(1))
            self.write(number, "cpu0", "")

    def set(self, text):
        with open(self.linux_mode, "w") as stream:
            stream.write(text)

    def mode(self):
        with open(self.linux_mode) as stream:
            return stream.read()

    def record(self, mode, *arguments, status=0, path=None):
        result = self.run_there("record", "--mode", mode, "--no-names", "--duration", ".1", "-o",
                                path or self.etl, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def test_the_mode_stays_after_a_recording(self):
        self.record("sampled", "--session", "3")
        self.assertEqual(self.mode(), "sampled")

    def test_nothing_is_changed_if_nothing_can_be_recorded(self):
        for number in range(8):
            self.write(number, "state", "started\n")
        self.record("waits", path="/nonexistent/x.etl", status=1)
        self.assertEqual(self.mode(), "full\n")

    def test_a_session_that_cannot_be_started(self):
        """The mode was set before, and is put back: "full" over "sampled"."""
        os.unlink(self.path(3, "state"))
        self.assertIn("session 3: cannot be started",
                      self.record("sampled", "--session", "3", status=1))
        self.assertEqual(self.mode(), "fullled")

    def test_a_file_that_cannot_be_made(self):
        self.record("sampled", "--session", "3", path="/nonexistent/x.etl", status=1)
        self.assertEqual(self.mode(), "fullled")

    def test_groups_that_nobody_named_are_those_of_the_mode(self):
        """Both are one file: the mode is written over the line of a kind that it has not."""
        os.symlink("linux_mode", os.path.join(self.directory, "linux"))
        self.set("spinlock: off, 10 functions\nrwlock: off, 19 functions\n")
        self.record("waits")
        self.assertEqual(self.read(7, "group_mask"),
                         "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_RWLOCK")


    def test_locks_that_sleep_are_left_out_of_cheaper_modes(self):
        """They cost the same in each; who names them has them."""
        for kinds in ["mutex: off, 9 functions\n", ""]:
            with open(os.path.join(self.directory, "linux"), "w") as stream:
                stream.write("spinlock: off, 10 functions\n" + kinds)
            for mode in "sampled", "waits", "full":
                with self.subTest(mode, kinds=kinds):
                    self.set("")
                    self.write(7, "group_mask", "")
                    error = self.record(mode)
                    wanted = "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK"
                    if mode == "full" and kinds:
                        wanted += " PERF_LINUX_MUTEX"
                    self.assertEqual(self.read(7, "group_mask"), wanted)
                    self.assertEqual(
                        [line for line in error.splitlines() if "not recorded" in line],
                        ["ntklog: mode %s: Linux' locks that sleep are not recorded, for every mode "
                         "tracks them in full (-e records them)" % mode]
                        if mode != "full" and kinds else [])
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            stream.write("mutex: off, 9 functions\n")
        self.write(7, "group_mask", "")
        self.assertNotIn("not recorded", self.record("sampled", "-e", "linux_mutex"))
        self.assertEqual(self.read(7, "group_mask"), "PERF_LINUX_MUTEX")


class Top(Directory):
    """Of a directory like the module's, whose parameters and records stay as they are."""

    PARAMETERS = {"spinlock/spin_threshold": 1, "spinlock/acquire_sample_rate": 1000,
                  "spinlock/contention_sample_rate": 1, "spinlock/hold_threshold": 1000000,
                  "resource/release_sample_rate": 1000, "resource/contention_sample_rate": 1,
                  "resource/excessive_timeouts": 1}

    def setUp(self):
        super().setUp()
        for name in "spinlock", "resource":
            os.mkdir(os.path.join(self.directory, name))
        for name, value in self.PARAMETERS.items():
            self.set(name, value)

    def set(self, name, value):
        with open(os.path.join(self.directory, name), "w") as stream:
            stream.write("%s\n" % value)

    def log(self, *events):
        for name, data in ("header", etl.header_buffer(2)), ("cpu0", etl.buffer(events)):
            with open(self.path(7, name), "wb") as stream:
                stream.write(data)

    def top(self, *events):
        self.log(*events)
        result = self.run_there("top", "--once", "--json", "-d", ".1")
        self.assertEqual(result.returncode, 0, result.stderr)
        top = json.loads(result.stdout)
        self.assertEqual(undescribed({**top, "rates": {}}, "report"), set())
        return top

    @staticmethod
    def lock(spins=0, hold=100, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(spins=spins, acquire=1000, release=1000 + hold,
                                                  **changes))

    def test_waits_alone_have_no_holds(self):
        self.set("linux_mode", "waits")
        top = self.top(*3 * [self.lock(5, rule=2, hold=0, depth=0)])
        self.assertEqual(top["rates"]["linux"], {"mode": "waits"})
        for row in top["locks"] + top["callers"]:
            self.assertEqual(row["sampled"], 3)
            for column in ("acquisitions", "contended", "hold_total_ns", "hold_mean_ns", "depth"):
                self.assertIsNone(row[column], column)

    def test_those_chosen_when_they_were_acquired_have_no_hold_threshold(self):
        self.set("linux_mode", "sampled")
        top = self.top(*3 * [self.lock(rule=1, hold=1000001, depth=0)])
        (row,) = top["locks"]
        self.assertEqual(row["acquisitions"], 3000)
        self.assertAlmostEqual(row["acquisitions_error"], (3 * 1000 * 999) ** .5 / 3000)
        self.assertAlmostEqual(row["hold_total_ns"], 3000 * 1000001 * 1e9 / etl.PERF_FREQ)

    def test_records_of_blockers_are_in_no_estimate(self):
        self.set("linux_mode", "full")
        self.set("spinlock/blockers", 10)
        top = self.top(etl.spinlock_rundown(hold=1000000), etl.ntklog_rundown(blockers=10),
                       *3 * [self.lock(rule=12)])
        self.assertEqual((top["locks"], top["callers"]), ([], []))
        self.assertEqual((top["rates"]["blockers"], top["rates_changed"]), (10, False))
        self.set("spinlock/blockers", 11)
        self.assertTrue(self.top(etl.ntklog_rundown(blockers=10))["rates_changed"])

    def test_a_module_without_modes_has_no_rules(self):
        top = self.top(self.lock(rule=2), self.lock(rule=12))
        self.assertEqual(top["locks"][0]["acquisitions"], 2000)
        self.assertNotIn("linux", top["rates"])
        # Modes are older than blockers.
        self.set("linux_mode", "waits")
        top = self.top(self.lock(5, rule=2, hold=0))
        self.assertEqual(top["rates"]["linux"], {"mode": "waits"})
        self.assertIsNone(top["locks"][0]["hold_total_ns"])

    def test_tables_are_those_of_the_groups(self):
        """A group's bit is in one word of the mask: 0x4 of another is context switches."""
        self.log(self.lock(), etl.linux_lock("mutex"), etl.perfinfo(0x0524, etl.context_swap(), 4))
        for groups, titles in (("linux_mutex", ["Linux' locks that sleep"]),
                               ("linux_rt_mutex,linux_rwlock", ["Spin locks", "Linux' locks that sleep"]),
                               ("contextswap", ["Threads", "Context switches of processors"]),
                               ("spinlock,resource", ["Spin locks", "Linux' locks that sleep"])):
            result = self.run_there("top", "--once", "-d", ".1", "-n", "3", "-e", groups)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([line.split(", by ")[0] for line in result.stdout.splitlines()
                              if ", by " in line], titles, groups)
        self.assertRegex(result.stdout, r"\n0xffff888012345678 +mutex +exclusive ")

    def test_cheaper_modes_leave_out_locks_that_sleep(self):
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            stream.write("rwlock: off, 19 functions\nmutex: off, 9 functions\n")
        for mode, wanted in (("waits", ""), ("full", " PERF_LINUX_MUTEX")):
            self.set("linux_mode", mode)
            self.write(7, "group_mask", "")
            self.log(self.lock())
            result = self.run_there("top", "--once", "-d", ".1")
            self.assertEqual(self.read(7, "group_mask"),
                             "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_RWLOCK" + wanted)
            self.assertEqual("not recorded" in result.stderr, not wanted)

    def test_parameters_that_cannot_be_read(self):
        self.log()
        for name, value, words in (("linux_mode", "most", "linux_mode: Invalid argument"),
                                   ("spinlock/blockers", "x", "blockers: Invalid argument"),
                                   ("spinlock/hold_threshold", "4294967296",
                                    "spinlock hold_threshold: Invalid argument"),
                                   ("resource/release_sample_rate", "",
                                    "resource release_sample_rate: Invalid argument")):
            for good in {"linux_mode": "full", "spinlock/blockers": 0, **self.PARAMETERS}.items():
                self.set(*good)
            self.set(name, value)
            result = self.run_there("top", "--once", "--json", "-d", ".1")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(words, result.stderr)

    def test_list_has_locks_that_sleep(self):
        kinds = ["mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex"]
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            stream.write("rt_mutex: unavailable: no function x\n" +
                         "".join("%s: on, 3 functions\n" % kind for kind in kinds[:3] + kinds[4:5]))
        troubles = {"rt_mutex": "unavailable: no function x",
                    "ww_mutex": "the loaded module does not know these events"}
        everything = json.loads(self.run_there("list", "--json").stdout)
        self.assertEqual(undescribed({**everything, "parameters": [
            parameter for parameters in everything["parameters"].values()
            for parameter in parameters.values()]}, "list", "status"), set())
        listed = everything["groups"]
        self.assertEqual([(group["name"], group["mask_name"], group["mask"], group["trouble"])
                          for group in listed[6:]],
                         [("linux_" + kind, "PERF_LINUX_" + kind.upper(),
                           0xA0000000 | 4 << i, troubles.get(kind))
                          for i, kind in enumerate(kinds)])
        # Columns below each other, whatever the longest name is.
        lines = self.run_there("list").stdout.split("\n\n")[0].splitlines()[1:]
        self.assertEqual(len({line.index(" 0x") for line in lines}), 1)

    def test_list_has_the_present_parameters(self):
        parameters = json.loads(self.run_there("list", "--json").stdout)["parameters"]
        self.assertEqual({"%s/%s" % (kind, name): parameter["value"]
                          for kind, all_ in parameters.items() for name, parameter in all_.items()},
                         self.PARAMETERS)
        os.unlink(os.path.join(self.directory, "resource/excessive_timeouts"))
        result = self.run_there("list")
        self.assertEqual(result.returncode, 1)
        self.assertIn("resource excessive_timeouts: No such file or directory", result.stderr)


KALLSYMS = """0000000000000000 A fixed_percpu_data
000000000002d000 A __per_cpu_end
ffffffff81000000 T _text
ffffffff81234000 T caller
ffffffff81234568 t after
ffffffff81300000 T unused
ffffffff81400000 T unused_too
ffffffff82000000 B the_lock
ffffffff82001000 B _end
ffffffffc0000000 t unused_code\t[old]
"""
MODULE = "ffffffffc0100000 t new_code\t[new]\nffffffffc0100040 d new_lock\t[new]\n"


class Names(Directory):
    """What is written beside a file, of a directory like /proc."""

    def setUp(self):
        super().setUp()
        self.proc = os.path.join(self.directory, "proc")
        for thread, name in ((55, "worker"), (56, "unused")):
            os.makedirs(os.path.join(self.proc, "55", "task", str(thread)))
            os.makedirs(os.path.join(self.proc, str(thread)), exist_ok=True)
            self.write_proc("%d/comm" % thread, name + "\n")
        self.write_proc("kallsyms", KALLSYMS)
        self.write_proc("modules", "old 16384 1 - Live 0xffffffffc0000000\n")
        self.etl = os.path.join(self.directory, "a.etl")

    def write_proc(self, name, text):
        with open(os.path.join(self.proc, name), "w") as stream:
            stream.write(text)

    def run_there(self, *arguments):
        return run(*arguments, NTKLOG_DEBUGFS=self.directory, NTKLOG_PROC=self.proc)

    def log(self, number, *buffers):
        with open(self.path(number, "header"), "wb") as stream:
            stream.write(etl.header_buffer(1 + len(buffers)))
        with open(self.path(number, "cpu0"), "wb") as stream:
            stream.write(b"".join(buffers))

    def names(self):
        with open(self.etl + ".names") as stream:
            return stream.read().splitlines()

    @staticmethod
    def event(**changes):
        return etl.perfinfo(0x0529, etl.spin_lock(**{"address": 0xffffffff82000030, **changes}))

    EXPECTED = ["ffffffff81234000 T caller", "ffffffff81234568 t after",
                "ffffffff82000000 B the_lock", "ffffffff82001000 B _end", "thread 55 worker"]

    def test_stop_writes_names_of_what_is_in_the_file(self):
        self.log(2, etl.buffer([self.event(), self.event(address=0xffff888012345678),
                                self.event(address=0x12345678)]))
        for _ in range(2):
            result = self.run_there("stop", "2", "-o", self.etl)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(sorted(self.names()), sorted(self.EXPECTED))
            self.assertEqual(os.stat(self.etl + ".names").st_mode & 0o777, 0o600)
            # One that others may read is not written over.
            os.chmod(self.etl + ".names", 0o644)
        locks = json.loads(run("report", "--json", self.etl).stdout)["locks"]
        self.assertEqual(sorted(row["lock"] for row in locks),
                         ["0x12345678", "0xffff888012345678", "the_lock+0x30"])

    def test_names_of_stacks(self):
        self.log(2, etl.buffer([etl.perfinfo(0x1820, struct.pack(
            "<QIIQQ", 0, 0, 55, 0xffffffff81300004, 0xffffffff81400000))]))
        self.run_there("stop", "2", "-o", self.etl)
        self.assertEqual(self.names(), [
            "ffffffff81300000 T unused", "ffffffff81400000 T unused_too",
            "ffffffff82000000 B the_lock", "thread 55 worker"])

    def test_a_call_that_is_the_last_of_its_function(self):
        """What it returns to is another function, which has not called anything."""
        self.log(2, etl.buffer([self.event(spins=1),
                                etl.stack(etl.START_CLOCK + etl.PERF_FREQ, [0xffffffff81400000])]))
        self.run_there("stop", "2", "-o", self.etl)
        folded = run("report", "--folded", self.etl).stdout
        self.assertTrue(folded.startswith("unused "), folded)

    def test_no_names(self):
        self.log(2, etl.buffer([self.event()]))
        self.log(7, etl.buffer([self.event()]))
        for arguments in (("stop", "2"), ("record", "--duration", ".1")):
            result = self.run_there(*arguments, "--no-names", "-o", self.etl)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(os.path.exists(self.etl + ".names"))

    def test_names_of_another_file_are_kept_if_there_is_none(self):
        """The trace cannot be written: it is a directory."""
        os.mkdir(self.etl)
        with open(self.etl + ".names", "w") as stream:
            stream.write("thread 1 of_another\n")
        self.log(7, etl.buffer([self.event()]))
        for arguments in (("stop", "7"), ("record", "--duration", ".1")):
            result = self.run_there(*arguments, "-o", self.etl)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(self.names(), ["thread 1 of_another"])

    def start_recording(self, *arguments):
        process = subprocess.Popen([NTKLOG, "record", "-o", self.etl, *arguments],
                                   stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "NTKLOG_DEBUGFS": self.directory,
                                        "NTKLOG_PROC": self.proc})
        self.wait_for(lambda: "started" in self.read(7, "state"))
        return process

    def wait_for(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(.05)
        self.fail("nothing comes")

    def test_recordings_name_modules_and_threads_that_come_and_go(self):
        self.log(7, etl.buffer([self.event()]))
        process = self.start_recording()
        self.wait_for(lambda: os.path.exists(self.etl + ".names") and
                      "thread 55 worker" in self.names())
        self.assertEqual(sorted(self.names()), sorted(self.EXPECTED))
        # A module and a thread that are gone at the end.
        self.write_proc("kallsyms", KALLSYMS + MODULE)
        self.write_proc("modules", "new 16384 1 - Live 0xffffffffc0100000\n"
                        "old 16384 1 - Live 0xffffffffc0000000\n")
        os.mkdir(os.path.join(self.proc, "57"))
        self.write_proc("57/comm", "young\n")
        with open(self.path(7, "cpu0"), "ab") as stream:
            stream.write(etl.buffer([self.event(address=0xffffffffc0100048, thread=57)],
                                    sequence=2))
        self.wait_for(lambda: "thread 57 young" in self.names())
        self.write_proc("57/comm", "its name\n")
        self.wait_for(lambda: "thread 57 its name" in self.names())
        self.write_proc("kallsyms", KALLSYMS)
        self.write_proc("modules", "old 16384 1 - Live 0xffffffffc0000000\n")
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn("ffffffffc0100040 d new_lock\t[new]", self.names())
        self.assertNotIn("unused", "".join(self.names()))
        locks = json.loads(run("report", "--json", self.etl).stdout)["locks"]
        self.assertEqual(sorted(row["lock"] for row in locks),
                         ["new_lock+0x8 [new]", "the_lock+0x30"])


if __name__ == "__main__":
    tap.main()
