#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog record --on, which waits for an event, on sessions like the module's."""

import fcntl
import json
import os
import signal
import struct
import subprocess

import etl_writer as etl
import tap
from module import FAKE_MODULE, NTKLOG, STATS, Directory

SECOND = etl.PERF_FREQ
# Offset of LogFileMode in the first buffer, after the headers of buffer and event.
LOG_FILE_MODE = 0x48 + 0x20 + 0x20
BUFFERING, SEQUENTIAL = 0x400, 1


def buffer_at(seconds, sequence, **record):
    event = etl.perfinfo(0x0529, etl.spin_lock(**record),
                         time_stamp=etl.START_CLOCK + seconds * SECOND)
    return etl.buffer([event], sequence=sequence)


class Base(Directory):
    def setUp(self):
        super().setUp()
        self.etl = os.path.join(self.directory, "a.etl")
        self.buffers = [buffer_at(1, 1), buffer_at(15, 2), buffer_at(20, 3, spins=5000),
                        buffer_at(21, 4)]
        self.log_buffers_of_cpu0(*self.buffers)

    def log_buffers_of_cpu0(self, *buffers):
        self.write_session(7, etl.header_buffer(1 + len(buffers), end_time=2 + 300_000_000),
                           *buffers)
        self.write_session_file(7, "stats", STATS % 0)

    def run_trap(self, *arguments, status=0, names=("--no-names",)):
        process = self.start_tool("record", *names, "-o", self.etl, "--after", "0.1",
                                  *arguments)
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, status, error)
        return error

    def sequence_numbers(self, path):
        with open(path, "rb") as stream:
            data = stream.read()
        return [struct.unpack_from("<q", data, at + 0x18)[0]
                for at in range(etl.SIZE, len(data), etl.SIZE)]


class Trap(Base):
    def test_file_has_the_seconds_before_and_after_the_event(self):
        error = self.run_trap("--on", "SpinCount > 4000", "--before", "10")
        self.assertEqual(self.sequence_numbers(self.etl), [2, 3, 4])
        self.assertIn("3 events in 3 buffers", error)

    def test_file_is_one_of_a_flight_recorder(self):
        self.run_trap("--on", "SpinCount > 4000", "--before", "1")
        with open(self.etl, "rb") as stream:
            mode = struct.unpack_from("<I", stream.read(), LOG_FILE_MODE)[0]
        self.assertEqual(mode & (BUFFERING | SEQUENTIAL), BUFFERING)
        header = json.loads(self.run_tool("info", "--json", self.etl).stdout)["Header"]
        self.assertEqual((header["BuffersWritten"], header["BuffersLost"]), (3, 2))

    def test_file_with_all_buffers_is_sequential(self):
        self.run_trap("--on", "SpinCount > 4000", "--before", "100")
        self.assertEqual(self.sequence_numbers(self.etl), [1, 2, 3, 4])
        with open(self.etl, "rb") as stream:
            mode = struct.unpack_from("<I", stream.read(), LOG_FILE_MODE)[0]
        self.assertEqual(mode & (BUFFERING | SEQUENTIAL), SEQUENTIAL)

    def test_condition_that_is_not_met_writes_nothing(self):
        error = self.run_trap("--on", "SpinCount > 5000", "--duration", "0.3", status=3)
        self.assertIn("none of 4 events has met the condition: nothing is written", error)
        self.assertEqual([name for name in os.listdir(self.directory) if "a.etl" in name], [])

    def test_lock_that_sleeps_is_found_by_its_caller(self):
        at = etl.START_CLOCK + 20 * SECOND
        self.log_buffers_of_cpu0(buffer_at(1, 1), etl.buffer([
            etl.caller_event(0x40, 0x5000, time_stamp=at),
            etl.linux_lock_event("mutex", time_stamp=at, address=0x40)], sequence=2), buffer_at(21, 3))
        self.run_trap("--on", "caller == 0x5000 && kind == mutex", "--before", "2")
        self.assertEqual(self.sequence_numbers(self.etl), [2, 3])

    def test_wait_without_a_hold_is_no_short_hold(self):
        self.log_buffers_of_cpu0(buffer_at(1, 1, rule=2, release=1001), buffer_at(15, 2),
                                 buffer_at(30, 3, release=1002))
        self.run_trap("--on", "hold < 1us", "--before", "2")
        self.assertEqual(self.sequence_numbers(self.etl), [3])

    def test_holds_at_the_stop_are_no_event(self):
        at = etl.START_CLOCK + 20 * SECOND
        self.log_buffers_of_cpu0(etl.buffer([etl.open_hold_event(at), etl.open_hold_event(
            at, "held", address=0x40, since=at - 2 * SECOND, thread=55)]))
        for condition in "hold > 1s", "thread == 55", "kind == mutex":
            self.run_trap("--on", condition, "--duration", "0.3", status=3)

    def keep_earlier_files(self):
        for name in "a.etl", "a.etl.names", "a.etl.old":
            self.write_file(name, "earlier " + name)

    def test_condition_that_is_not_met_leaves_earlier_files_alone(self):
        self.keep_earlier_files()
        for names in ["--no-names"], []:
            self.log_buffers_of_cpu0(*self.buffers)
            self.run_trap("--on", "SpinCount > 5000", "--duration", "0.3", names=names, status=3)
            self.assertEqual({name: self.read_file(name) for name in os.listdir(self.directory)
                              if "a.etl" in name},
                             {name: "earlier " + name
                              for name in ("a.etl", "a.etl.names", "a.etl.old")})

    def test_condition_that_is_met_keeps_the_earlier_file(self):
        self.keep_earlier_files()
        error = self.run_trap("--on", "SpinCount > 4000", "--before", "10", names=[])
        self.assertIn("/a.etl: 3 events in 3 buffers", error)
        self.assertEqual(self.sequence_numbers(self.etl), [2, 3, 4])
        self.assertIn("boot ", self.read_file("a.etl.names"))
        self.assertEqual((self.read_file("a.etl.old"), self.read_file("a.etl.old.names")),
                         ("earlier a.etl", "earlier a.etl.names"))
        self.assertEqual([name for name in os.listdir(self.directory) if ".part" in name], [])

    def test_file_that_another_recording_writes_stays_apart(self):
        """The buffers before the event would be lost if the recording was refused now."""
        self.write_file("a.etl", "other")
        with open(self.etl) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            error = self.run_trap("--on", "SpinCount > 4000", "--before", "10")
        self.assertIn("another recording is writing this file", error)
        self.assertIn("a.etl.part: 3 events in 3 buffers", error)
        self.assertEqual(self.read_file("a.etl"), "other")
        self.assertEqual(self.sequence_numbers(self.etl + ".part"), [2, 3, 4])

    def test_file_that_gets_its_name_is_refused_to_another_recording(self):
        part = os.path.join(self.directory, "a.etl.part")
        self.write_file("a.etl.part.slow_rename", "")
        process = self.start_tool("record", "--no-names", "-o", self.etl, "--after", "0.1",
                                  "--on", "SpinCount > 4000", "--before", "10")
        self.wait_for(lambda: os.path.exists(part + ".is_renaming"))
        self.write_session(6, etl.header_buffer(2), buffer_at(1, 1))
        self.write_session_file(6, "stats", STATS % 0)
        other = self.run_tool("record", "--no-names", "--session", "6", "-o", self.etl,
                              "--duration", "0.1")
        os.unlink(part + ".slow_rename")
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual((process.returncode, other.returncode), (0, 1), error)
        self.assertIn("another recording is writing this file", other.stderr)
        self.assertEqual(self.sequence_numbers(self.etl), [2, 3, 4])
        self.assertFalse(os.path.exists(self.etl + ".old"))

    def test_directory_is_refused_at_once(self):
        os.mkdir(self.etl)
        error = self.run_trap("--on", "SpinCount > 4000", status=1)
        self.assertIn("is not a regular file", error)

    def test_last_buffers_of_the_session_are_tested(self):
        """The event may be in a buffer that is finished by the stop."""
        self.log_buffers_of_cpu0(buffer_at(1, 2, spins=5000))
        self.run_trap("--on", "SpinCount > 4000", "--duration", "0.3")
        self.assertEqual(self.sequence_numbers(self.etl), [2])

    def test_times_option_makes_a_file_for_each_event(self):
        paths = os.path.join(self.directory, "paths")
        self.run_trap("--on", "SpinCount > 4000", "--times", "2",
                      "--exec", "echo $NTKLOG_FILE >>%s" % paths)
        files = [os.path.join(self.directory, "a.%d.etl" % number) for number in (1, 2)]
        for path in files:
            self.assertEqual(self.sequence_numbers(path), [2, 3, 4])
        with open(paths) as stream:
            self.assertEqual(stream.read().split(), files)
        self.assertFalse(os.path.exists(self.etl))

    def test_failed_exec_ends_with_status_1(self):
        error = self.run_trap("--on", "SpinCount > 4000", "--exec", "exit 5", "--times", "3",
                              status=1)
        self.assertIn('--exec: "exit 5" has failed (status 5)', error)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "a.2.etl")))

    def test_signal_ends_the_rest_of_the_times(self):
        process = self.start_tool("record", "--no-names", "-o", self.etl, "--after", "100",
                                  "--on", "SpinCount > 4000", "--times", "3")
        first = os.path.join(self.directory, "a.1.etl")
        self.wait_for(lambda: os.path.exists(first) and os.path.getsize(first) > etl.SIZE)
        process.terminate()
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual([name for name in os.listdir(self.directory) if "etl" in name],
                         ["a.1.etl"])

    def test_signal_that_has_ended_exec_is_told(self):
        error = self.run_trap("--on", "SpinCount > 4000", "--exec", "kill -KILL $$", status=1)
        self.assertIn("the command of --exec was ended by signal 9 (Killed): if memory ran out "
                      "(see dmesg), free some for it\n", error)

    def test_signal_ends_the_command_of_exec(self):
        pid = os.path.join(self.directory, "pid")
        process = self.start_tool("record", "--no-names", "-o", self.etl, "--after", "0.1",
                                  "--on", "SpinCount > 4000", "--times", "3",
                                  "--exec", "echo $$ >%s; exec sleep 1000" % pid)
        self.wait_for(lambda: os.path.exists(pid) and os.path.getsize(pid))
        with open(pid) as stream:
            os.kill(int(stream.read()), signal.SIGTERM)
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, 1, error)

    def test_signal_during_exec_ends_the_recording(self):
        begun = os.path.join(self.directory, "begun")
        may_end = os.path.join(self.directory, "may_end")
        process = self.start_tool("record", "--no-names", "-o", self.etl, "--after", "0.1",
                                  "--on", "SpinCount > 4000", "--times", "3",
                                  "--exec", "echo >%s; until [ -e %s ]; do sleep .1; done" %
                                  (begun, may_end))
        self.wait_for(lambda: os.path.exists(begun))
        process.terminate()
        self.write_file("may_end", "")
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, -signal.SIGTERM, error)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "a.2.etl")))

    def test_device_is_refused_and_stays(self):
        device = os.path.join(self.directory, "null")
        os.symlink("/dev/null", device)
        process = self.start_tool("record", "--no-names", "-o", device, "--on",
                                  "SpinCount > 9000", "--duration", "0.2")
        self.assertIn("is not a regular file", process.communicate(timeout=600)[1].decode())
        self.assertEqual(process.returncode, 1)
        self.assertTrue(os.path.lexists(device))

    def test_standard_output_is_refused_with_and_without_a_number_of_files(self):
        self.log_buffers_of_cpu0(buffer_at(1, 2, spins=5000))
        files = os.listdir(self.directory)
        for options in (), ("--times", "1"), ("--times", "2"):
            result = self.run_tool("record", "--no-names", "-o", "-", "--on", "SpinCount > 4000",
                                   *options, "--duration", "1", cwd=self.directory,
                                   executable=os.path.abspath(NTKLOG))
            self.assertEqual((result.returncode, result.stdout), (1, ""), options)
            self.assertIn("standard output is not a regular file: give the name of one (-o)",
                          result.stderr)
            self.assertEqual(os.listdir(self.directory), files, options)

    def test_last_of_the_times_that_is_not_met_gives_status_0(self):
        marker = os.path.join(self.directory, "sessions", "7", "cpu0")
        self.run_trap("--on", "SpinCount > 4000", "--times", "2", "--duration", "0.5",
                      "--exec", "truncate -s 0 %s" % marker)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "a.2.etl")))

    def test_wrong_options_are_refused(self):
        for arguments, message in (
                (["--on", "SpinCount >"], "--on: a value expected"),
                (["--times", "2"], "give the condition"),
                (["--exec", "true"], "give the condition"),
                (["--on", "wait > 1ms", "--times", "0"], "is no number from 1 to"),
                (["--on", "wait > 1ms", "--times", " -1"], "is no number from 1 to"),
                (["--before", "3"], "give the condition"),
                (["--on", "wait > 1ms", "--before", "-1"], "is not a time from 0 to 3600 s"),
                (["--on", "wait > 1ms", "--after", "soon"], "is not a time from 0 to 3600 s"),
                (["--on", "wait > 1ms", "--times", "2", "--", "true"], "a command is run once")):
            with self.subTest(arguments):
                self.assertIn(message, self.run_trap(*arguments, status=2))

    def test_names_that_are_not_known_are_refused(self):
        for arguments, names, message in (
                (["--on", "class == inode"], ["--no-names"], "leave --no-names out"),
                (["--on", "caller == no_such_function"], [], "no symbol is called"),
                (["--on", "class == x && caller == nosuch"], [], "no symbol is called"),
                (["--on", "thread == bash"], [], "use the number of a thread"),
                (["--on", "process == 1"], [], "use the number of a thread"),
                (["--on", "cgroup == /"], [], "use the number of a thread")):
            with self.subTest(arguments):
                self.assertIn(message, self.run_trap(*arguments, names=names, status=2))
                self.assertFalse(os.path.exists(self.etl))


class Class(Base):
    """The classes of locks become known while the session runs."""

    DENTRY, OTHER = 0xffff888000001000, 0xffff888000002000

    def setUp(self):
        super().setUp()
        self.ENVIRONMENT = {"NTKLOG_PROC": os.path.join(self.directory, "proc"),
                            "NTKLOG_SYS": os.path.join(self.directory, "sys")}
        for name in "proc/sys/kernel/random", "sys/btf", "sys/slab":
            os.makedirs(os.path.join(self.directory, name))
        make_types = os.path.join(os.path.dirname(FAKE_MODULE), "make_types")
        subprocess.run([make_types, os.path.join(self.directory, "sys/btf")], check=True)
        # A merged cache shows that the others are not merged.
        os.symlink(":a-0000064", os.path.join(self.directory, "sys/slab/merged"))
        self.write_file("proc/kallsyms", "ffffffff81000000 T _text\nffffffff82001000 B _end\n")
        self.write_file("proc/modules", "")
        self.write_file("identities", "".join(
            "%#x 1 1000 slab 0xffff888100000000 %d %d %d %s by some_function+0x10/0x40\n" %
            (address, offset, size, size, cache)
            for address, offset, size, cache in ((self.DENTRY, 64, 192, "dentry"),
                                                 (self.OTHER, 0, 64, "short_one_cache"))))

    def check_long_hold_of_a_class(self, field):
        """Before it are a short hold of the class, and a long one of another class."""
        ms = etl.PERF_FREQ // 1000
        self.log_buffers_of_cpu0(*(buffer_at(second, sequence, address=address, acquire=1000,
                                             release=1000 + hold)
                                   for sequence, (second, address, hold) in enumerate((
                                       (10, self.DENTRY, ms), (20, self.OTHER, 2 * ms),
                                       (30, self.DENTRY, ms + 1), (31, self.OTHER, 1)), start=1)))
        error = self.run_trap("--on", 'hold > 1ms && %s == "dentry.d_lockref.lock"' % field,
                              "--before", "1", "--duration", "1", names=())
        self.assertEqual(self.sequence_numbers(self.etl), [3, 4])
        self.assertIn("dentry.d_lockref.lock", self.read_file("a.etl.names"))
        return error

    def test_long_hold_of_a_class_springs_the_trap(self):
        self.check_long_hold_of_a_class("class")

    def test_long_hold_of_a_lock_springs_the_trap(self):
        self.assertIn('no symbol is called "dentry.d_lockref.lock": it is taken for a class of locks',
                      self.check_long_hold_of_a_class("lock"))

    def test_lock_of_another_module_is_taken_for_a_class(self):
        self.write_file("proc/kallsyms", "ffffffff81000000 T _text\n"
                        "ffffffff82001000 B _end\nffffffffc0000000 d my_lock\t[driver]\n")
        for module, is_told in ("driver", False), ("other", True):
            error = self.run_trap("--on", 'lock == "my_lock [%s]"' % module, "--duration", "0.3",
                                  names=(), status=3)
            self.assertEqual('no symbol is called "my_lock [other]": it is taken for' in error,
                             is_told, error)

    def test_name_that_is_taken_for_a_class_is_told_once(self):
        error = self.run_trap("--on", "lock == nosuch || SpinCount > 4000", "--times", "2",
                              names=())
        self.assertEqual(error.count('no symbol is called "nosuch"'), 1, error)
        self.assertTrue(os.path.exists(os.path.join(self.directory, "a.2.etl")))


if __name__ == "__main__":
    tap.main()
