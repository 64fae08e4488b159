#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog start and stop on sessions like the module's."""

import os
import re
import resource
import subprocess

import etl_writer as etl
import tap
from module import CONTEXTSWAP, GROUPS, RESOURCE, SPINLOCK, STATS, Directory



LINUX = """spinlock: %s
rwlock: %s
cycles of a test: 20
"""
SLEEPING = ["mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex"]


class Start(Directory):
    def write_linux_file(self, spin="off, 10 functions", rw="off, 19 functions"):
        self.write_file("linux", LINUX % (spin, rw))

    def check_refused(self, words, *arguments):
        result = self.run_tool("start", *arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn(words, result.stderr)

    def test_free_session_gets_all_settings_at_once(self):
        self.write_session_file(7, "state", "started\n")
        self.write_session_file(6, "stats", STATS % 2)
        result = self.run_tool("start", "-e", "spinlock,contextswap", "-b", "128K", "-n", "9",
                               "-m", "buffering")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "session 5 is started: spinlock,contextswap; ntklog stop 5 "
                         "-o FILE writes what it has logged\n")
        self.assertEqual(self.read_settings(5), {
            "masks": (0, GROUPS["PERF_SPINLOCK"] & 0x1FFFFFFF | 4, 0, 0, 0, 0, 0, 0),
            "buffer_size": 128 << 10, "buffers": 9, "mode": 1, "flush_timer": 0, "stacks": 0,
            "contextswap_version": 0})
        # The session continues after its process has ended.
        self.assertEqual(self.read_session_file(5, "state"), "started\n")

    def test_defaults_are_those_of_record_and_are_named(self):
        self.write_linux_file("off, 10 functions", "unavailable: x")
        result = self.run_tool("start", "3")
        self.assertIn("session 3 is started: spinlock,resource,linux_spinlock;", result.stdout)
        self.assertEqual(self.groups_of_session(3),
                         "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK")
        settings = self.read_settings(3)
        self.assertEqual((settings["buffer_size"], settings["buffers"]), (0, 0))

    def test_readythread_selects_its_group_alone(self):
        result = self.run_tool("start", "3", "-e", "readythread")
        self.assertIn("session 3 is started: readythread;", result.stdout)
        self.assertEqual(self.groups_of_session(3), "PERF_DISPATCHER")

    def test_stacks_option_selects_events(self):
        for arguments, stacks in (((), 0), (("--stacks",), SPINLOCK | RESOURCE | CONTEXTSWAP),
                                  (("--stacks=resource,spinlock",), RESOURCE | SPINLOCK)):
            self.write_session_file(5, "state", "stopped\n")
            result = self.run_tool("start", "5", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.read_settings(5)["stacks"], stacks)

    def test_running_session_is_refused_and_unchanged(self):
        self.run_tool("start", "0", "-e", "spinlock")
        before = self.read_settings(0)
        self.check_refused("session 0 is started already: ntklog stop 0 ends it", "0", "-e",
                           "contextswap")
        self.assertEqual(self.read_settings(0), before)
        self.assertEqual(self.read_session_file(0, "state"), "started\n")

    def test_owner_of_a_session_is_named(self):
        self.write_session_file(2, "owner", "123 ntklog\n")
        for command in "start", "stop":
            result = self.run_tool(command, "2")
            self.assertEqual(result.returncode, 1)
            self.assertIn("session 2 belongs to process 123 ntklog: wait for its end, or choose "
                          "another session", result.stderr)

    def test_failure_leaves_nothing_started(self):
        for error, words in ((12, "no memory for its buffers: choose fewer (-n) or smaller ones (-b)"),
                             (17, "cannot be started: File exists")):
            self.write_session_file(3, "fail_start", "%d\n" % error)
            self.check_refused("session 3: " + words, "3")
            self.assertEqual(self.read_session_file(3, "state"), "stopped\n")

    def test_kill_while_the_start_attaches_leaves_nothing_started(self):
        self.write_session_file(3, "slow_start", "")
        process = self.start_tool("start", "3")
        self.wait_for(lambda: os.path.exists(self.session_path(3, "is_starting")))
        process.terminate()
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, -15)
        self.assertEqual(self.read_session_file(3, "state"), "stopped\n")
        self.assertFalse(os.path.exists(self.session_path(3, "start")))

    def test_groups_that_cannot_be_observed_are_named(self):
        reason = "unavailable: no function _raw_spin_lock"
        self.write_linux_file(reason, "off, 19 functions, attached in 0 us, detached in 0 us")
        result = self.run_tool("start", "3", "-e", "linux_spinlock,linux_rwlock")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "ntklog: linux_spinlock: nothing will be recorded: %s\n" % reason))
        # The failure of a group without a line in that file comes from the session itself.
        self.write_session_file(4, "failures", "0x20000004 12\n")
        result = self.run_tool("start", "4", "-e", "spinlock,contextswap")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "ntklog: contextswap: nothing will be recorded: Cannot allocate memory\n"))

    def test_module_of_another_version_is_named(self):
        result = self.run_tool("start", "3", "-e", "linux_spinlock")
        self.assertIn("the loaded module does not know these events", result.stderr)
        self.write_linux_file()
        self.write_session_file(3, "state", "stopped\n")
        self.write_session_file(3, "fail_start", "22\n")
        self.check_refused("session 3: the loaded module does not know linux_rwsem: load a newer one, "
                           "or leave it out (-e)", "3", "-e", "spinlock,linux_rwsem")
        # This module has no sessions to claim.
        result = self.run_tool("start", "3", env={**os.environ, "NTKLOG_DEBUGFS": self.directory})
        self.assertEqual(result.returncode, 1)
        self.assertIn("/sessions/3/claim: the loaded module is older than this tool", result.stderr)

    def test_unavailable_kind_of_sleeping_locks_is_reported_at_start(self):
        self.write_file("linux", "".join("%s: %s\n" % (
            kind, "unavailable: no function rt_mutex_lock" if kind == "rt_mutex" else "off, 3 functions")
            for kind in SLEEPING))
        groups = ["linux_" + kind for kind in SLEEPING]
        result = self.run_tool("start", "3", "-e", ",".join(groups + groups[:1]))
        self.assertEqual(self.groups_of_session(3),
                         " ".join("PERF_" + group.upper() for group in groups))
        self.assertEqual((result.returncode, result.stderr),
                         (0, "ntklog: linux_rt_mutex: nothing will be recorded: unavailable: no "
                          "function rt_mutex_lock\n"))

    def test_start_without_a_free_session_is_refused(self):
        for number in range(8):
            self.write_session_file(number, "stats", STATS % 1)
        result = self.run_tool("start")
        self.assertEqual(result.returncode, 1)
        self.assertIn("0 are started, 8 are stopped with buffers that have not been read",
                      result.stderr)
        for number in range(8):
            self.write_session_file(number, "state", "started\n")
        self.assertIn("no session is free: 8 are started", self.run_tool("start").stderr)


class Stop(Directory):
    def setUp(self):
        super().setUp()
        self.etl = os.path.join(self.directory, "a.etl")

    @staticmethod
    def spin_event(number):
        return etl.perfinfo(0x0529, etl.spin_lock(spins=number))

    def write_two_buffers(self, number):
        buffers = [etl.buffer([self.spin_event(1), self.spin_event(2)], sequence=1),
                   etl.buffer([self.spin_event(4)], sequence=4)]
        self.write_session(number, etl.header_buffer(3), *buffers)
        return etl.header_buffer(3) + b"".join(buffers)

    def stop_session(self, *arguments, status=0, **options):
        result = self.run_tool("stop", *arguments, "--no-names", **options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def read_trace(self):
        with open(self.etl, "rb") as stream:
            return stream.read()

    def test_stop_without_a_number_needs_one_started_session(self):
        self.assertIn("no session is started", self.run_tool("stop").stderr)
        self.write_session_file(2, "state", "started\n")
        self.write_session_file(3, "state", "started\n")
        self.assertIn("more than one session is started (2, 3)", self.run_tool("stop").stderr)

    def test_stop_of_a_session_that_is_not_started_is_reported(self):
        for arguments in ("2",), ("2", "-o", self.etl):
            self.assertIn("session 2 is not started: see ntklog status\n",
                          self.stop_session(*arguments, status=1).stderr)
        self.write_two_buffers(2)
        self.assertIn("session 2 is not started: see ntklog status\n",
                      self.stop_session("2", status=1).stderr)
        self.assertIn("what it still holds is written",
                      self.stop_session("2", "-o", self.etl).stderr)

    def test_buffers_are_written_in_order_and_counted(self):
        data = self.write_two_buffers(2)
        self.write_session_file(2, "state", "started\n")
        result = self.stop_session("2", "-o", self.etl)
        self.assertEqual(self.read_trace(), data)
        self.assertEqual(self.read_session_file(2, "state"), "stopped\n")
        self.assertIn("a.etl: 3 events in 2 buffers, 0.0 MB; 0 lost\n", result.stderr)

    def test_limit_of_the_file_size_leaves_the_buffers_to_a_second_try(self):
        data = self.write_two_buffers(2)
        result = self.stop_session("2", "-o", self.etl, status=1,
                                   preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (len(data) - 1, len(data) - 1)))
        self.assertIn("a.etl: 0.0 MB cannot be written: File too large: nothing was read, choose "
                      "another file", result.stderr)
        self.stop_session("2", "-o", self.etl)
        self.assertEqual(self.read_trace(), data)

    def test_full_device_leaves_the_buffers_to_a_second_try(self):
        data = self.write_two_buffers(2)
        self.assertEqual(self.stop_session("2", "-o", "/dev/full", status=1).stderr,
                         "ntklog: session 2 is not started; what it still holds is written\n"
                         "ntklog: /dev/full: No space left on device\n"
                         "ntklog: session 2 keeps its buffers: ntklog stop 2 -o FILE writes them\n")
        self.stop_session("2", "-o", self.etl)
        self.assertEqual(self.read_trace(), data)

    def test_command_that_writes_the_kept_buffers_is_named(self):
        """The first stop has ended the session, so the second must give its number."""
        data = self.write_two_buffers(2)
        for path in "/dev/full", self.directory, "/nonexistent/a.etl":
            self.write_session_file(2, "state", "started\n")
            error = self.stop_session("-o", path, status=1).stderr
            command, = re.findall("session 2 keeps its buffers: ntklog (stop .*) FILE writes", error)
            self.write_session_file(2, "state", "stopped\n")
        self.stop_session(*command.split()[1:], self.etl)
        self.assertEqual(self.read_trace(), data)

    def test_full_disk_leaves_the_buffers_to_a_second_try(self):
        data = self.write_two_buffers(2)
        disk = os.path.join(self.directory, "disk")
        os.mkdir(disk)
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % etl.SIZE, "none",
                                           disk], capture_output=True).returncode:
            self.skipTest("this machine does not let mount a tmpfs")
        try:
            self.assertIn("No space left on device: nothing was read",
                          self.stop_session("2", "-o", disk + "/a.etl", status=1).stderr)
        finally:
            subprocess.run(["umount", disk], check=True)
        self.stop_session("2", "-o", self.etl)
        self.assertEqual(self.read_trace(), data)

    def test_overwritten_buffers_are_not_missed(self):
        """Two of 1,000,000 finished buffers are left, because there is space for two."""
        data = self.write_two_buffers(2)
        self.write_session_file(2, "stats", "total 9 9 0 1000000 1000000 999998\n")
        self.stop_session("2", "-o", self.etl, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (len(data), len(data))))
        self.assertEqual(self.read_trace(), data)

    def test_buffers_that_were_read_before_are_missed(self):
        self.write_two_buffers(2)
        self.write_session_file(2, "stats", "total 9 9 0 5 2 0\n")
        self.assertIn("session 2: 3 of its 5 buffers had been read before: they are not in " + self.etl,
                      self.stop_session("2", "-o", self.etl, status=1).stderr)


if __name__ == "__main__":
    tap.main()
