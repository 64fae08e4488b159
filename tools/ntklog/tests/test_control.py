#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands that need the module, without it, and list, status, set and selftest on files like
the module's.
"""

import json
import os
import subprocess
import unittest

import tap
from module import NTKLOG, Directory, ParameterDirectory
from tool import undescribed_fields


def run_tool(*arguments, **environment):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})


class Refused(unittest.TestCase):
    def check_refused(self, status, words, *arguments, **environment):
        result = run_tool(*arguments, **environment)
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
                self.check_refused(2, words, "set", *arguments.split())

    def test_malformed_parameters_are_refused(self):
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
                self.check_refused(2, words, "set", *arguments.split())

    def test_wrong_options_are_refused(self):
        for arguments, words in (
                ("record -e spinlock_counters", "no events: nothing would be recorded"),
                ("top -e spinlock_counters", "spinlock_counters has no events"),
                ("record -e frobs", 'no events are called "frobs"'),
                ("record --stacks=frobs", '"frobs" is not spinlock, resource or contextswap'),
                ("start --stacks=spinlock,", '"" is not spinlock, resource or contextswap'),
                ("record -b 3G", '"3G" is no size of a buffer: 4K to 1M'),
                ("start -b 5K", '"5K" is no size of a buffer'),
                ("record -n x", "no number of buffers: 2 to 1024"),
                ("start 3 -n 1", '"1" is no number of buffers'),
                ("start -m circular", '"circular" is not sequential or buffering'),
                ("record --blockers=0", '--blockers: "0" is not 1 to 4294967295'),
                ("names -", "give the name of a file"),
                ("record --duration -1", "no number of seconds"),
                ("record --session 8", "is not 0 to 7"),
                ("record --session 4294967296", "is not 0 to 7"),
                ("start 8", "give the number of one session, 0 to 7"),
                ("stop 4294967297", "give the number of one session, 0 to 7"),
                ("stop 1 2", "give the number of one session, 0 to 7"), ("top -d 0", "not 0.1 seconds or more"),
                ("top -n 0", "is no number of rows"), ("top x", 'the argument "x" is not understood')):
            with self.subTest(arguments):
                self.check_refused(2, words, *arguments.split())

    @unittest.skipIf(os.path.exists("/sys/kernel/debug/ntklog"), "the module is loaded")
    def test_missing_module_has_a_remedy(self):
        remedy = "modprobe ntklog" if os.path.ismount("/sys/kernel/debug") else \
            "mount -t debugfs"
        if os.geteuid():
            remedy = "this needs root: try sudo"
        for command in ("list", "start", "stop", "status", "record", "top"):
            with self.subTest(command):
                self.check_refused(1, remedy, command)
        self.check_refused(1, "modprobe ntklog", "set", "spinlock", "1", "1000", "1")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to be somebody else")
    def test_user_without_root_is_told_to_use_sudo(self):
        os.chmod(os.path.dirname(NTKLOG), 0o755)
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", NTKLOG, "list"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("this needs root: try sudo", result.stderr)

    def test_missing_directory_is_reported(self):
        self.check_refused(1, "/nonexistent: No such file or directory", "status",
                           NTKLOG_DEBUGFS="/nonexistent")


class Files(Directory):
    def test_status_prints_all_sessions(self):
        self.write_session_file(3, "state", "started\n")
        sessions = json.loads(self.run_tool("status", "--json").stdout)
        self.assertEqual([session["state"] for session in sessions],
                         ["stopped"] * 3 + ["started"] + ["stopped"] * 4)
        self.assertEqual(sessions[3], {
            "session": 3, "state": "started", "name": "Logger 3",
            "group_mask": "0x20010000 PERF_SPINLOCK", "mode": "sequential", "stacks": "",
            "buffer_size": 65536, "buffers": 16, "generated": 10, "written": 7, "lost": 3,
            "finished": 4, "unread": 0})
        self.assertEqual(undescribed_fields(sessions, "status"), set())
        self.assertIn("lost 3", self.run_tool("status", "3").stdout)
        self.assertNotIn("stacks", self.run_tool("status", "3").stdout)
        self.write_session_file(3, "stacks", "0x0529 spinlock\n0x052b resource\n")
        self.assertIn("with stacks of 0x0529 spinlock 0x052b resource\n",
                      self.run_tool("status", "3").stdout)
        self.write_session_file(3, "stacks", "none\n")
        self.assertNotIn("stacks", self.run_tool("status", "3").stdout)

    def test_name_that_is_not_utf_8_is_shown_with_a_question_mark(self):
        with open(self.session_path(3, "name"), "wb") as stream:
            stream.write(b"caf\xe9\n")
        result = self.run_tool("status", "--json")
        self.assertEqual([session["name"] for session in json.loads(result.stdout)][2:5],
                         ["Logger 2", "caf?", "Logger 4"])

    def test_selftest_prints_the_module_s_results(self):
        rows = ("Function Context Word Preempt Softirqs Interrupts Slots Result\n"
                "_raw_spin_lock thread 0x1 1 0 0 1 same\n")
        same = "spinlock: 10 functions do what the kernel's own do\n"
        for text, status in ((rows + same, 0),
                             (rows.replace("0x1 1 0 0 1 same", "0x0(0x1) 1 0 0 1 differs") +
                              "spinlock: _raw_spin_lock differs\n" + same, 1),
                             (same + "rwlock: unavailable: linux_locks=0\n", 1)):
            with open(os.path.join(self.directory, "linux_selftest"), "w") as stream:
                stream.write(text)
            result = self.run_tool("selftest")
            self.assertEqual((result.returncode, result.stderr), (status, ""))
            self.assertEqual(result.stdout.split(), text.split())

    def test_selftest_of_a_module_without_it_is_refused(self):
        result = self.run_tool("selftest")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("linux_selftest: No such file", result.stderr)


class List(ParameterDirectory):
    def test_list_shows_locks_that_sleep(self):
        kinds = ["mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex"]
        with open(os.path.join(self.directory, "linux"), "w") as stream:
            stream.write("rt_mutex: unavailable: no function x\n" +
                         "".join("%s: on, 3 functions\n" % kind for kind in kinds[:3] + kinds[4:5]))
        troubles = {"rt_mutex": "unavailable: no function x",
                    "ww_mutex": "the loaded module does not know these events"}
        everything = json.loads(self.run_tool("list", "--json").stdout)
        self.assertEqual(undescribed_fields({**everything, "parameters": [
            parameter for parameters in everything["parameters"].values()
            for parameter in parameters.values()]}, "list", "status"), set())
        listed = everything["groups"]
        self.assertEqual([(group["name"], group["mask_name"], group["mask"], group["trouble"])
                          for group in listed[7:]],
                         [("linux_" + kind, "PERF_LINUX_" + kind.upper(),
                           0xA0000000 | 4 << i, troubles.get(kind))
                          for i, kind in enumerate(kinds)])
        # Columns below each other, whatever the longest name is.
        lines = self.run_tool("list").stdout.split("\n\n")[0].splitlines()[1:]
        self.assertEqual(len({line.index(" 0x") for line in lines}), 1)

    def test_list_shows_the_current_parameters(self):
        parameters = json.loads(self.run_tool("list", "--json").stdout)["parameters"]
        self.assertEqual({"%s/%s" % (kind, name): parameter["value"]
                          for kind, all_ in parameters.items() for name, parameter in all_.items()},
                         self.PARAMETERS)
        os.unlink(os.path.join(self.directory, "resource/excessive_timeouts"))
        result = self.run_tool("list")
        self.assertEqual(result.returncode, 1)
        self.assertIn("resource excessive_timeouts: No such file or directory", result.stderr)


if __name__ == "__main__":
    tap.main()
