#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A file that cannot be finished leaves no part of it, and an earlier one as it is."""

import contextlib
import itertools
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import etl_writer as etl
import tap
from convert_case import Case
from tool import HAS_ASAN, NTKLOG, run_tool, wait_until_it_sleeps

SIZE_MAX = 8192
OUTPUT_COMMANDS = (["report", "--html"], ["convert", "--perfetto"], ["convert", "--pprof"])


def limit_files():
    """Let files be as long as the results that diff stores, but shorter than the outputs."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE_MAX, SIZE_MAX))


def limit_cores():
    """A shell makes its background processes ignore SIGQUIT."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class OutputFiles(Case):
    def setUp(self):
        super().setUp()
        # Events with stacks that cannot be compressed make all outputs long.
        random_bits = random.Random(1).getrandbits
        self.write(etl.long_file([event for time in range(10, 4010, 20) for event in (
            *self.events_at(time), etl.stack_event(
                etl.START_CLOCK + time, [random_bits(64) for _ in range(8)],
                time_stamp=etl.START_CLOCK + time + 1))]))
        # Of what has been made, only this directory has anything.
        self.made = os.path.join(self.directory.name, "made")
        os.mkdir(self.made)
        self.out = os.path.join(self.made, "out")

    def write_earlier_file(self, text="earlier", mode=0o640):
        with open(self.out, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(self.out, mode)

    def read_file(self):
        with open(self.out, "rb") as stream:
            return stream.read()

    def run_output_command(self, command, **options):
        inputs = [self.path] * (2 if command[0] == "diff" else 1)
        return run_tool(*command, self.out, *inputs, **options)

    def test_failed_write_leaves_the_earlier_file(self):
        for command in *OUTPUT_COMMANDS, ["diff", "--html"]:
            for ignores_signal in True, False:
                with self.subTest(command, ignores_signal=ignores_signal):
                    self.write_earlier_file()
                    # Python ignores SIGXFSZ, which its children inherit or not.
                    result = self.run_output_command(command, preexec_fn=limit_files,
                                          restore_signals=not ignores_signal)
                    if ignores_signal:
                        self.assertEqual(result.returncode, 1)
                        self.assertIn(self.out + ": cannot write: File too large", result.stderr)
                    else:
                        self.assertEqual(result.returncode, -signal.SIGXFSZ)
                    self.assertEqual(self.read_file(), b"earlier")
                    self.assertEqual(os.listdir(self.made), ["out"])

    def test_failed_write_leaves_no_new_file(self):
        for command, ignores_signal in (
                *itertools.product([*OUTPUT_COMMANDS, ["diff", "--html"]], (True, False)),
                # A signal that ends the process leaves a directory.
                (["convert", "--ctf"], True)):
            with self.subTest(command, ignores_signal=ignores_signal):
                self.assertNotEqual(self.run_output_command(
                    command, preexec_fn=limit_files,
                    restore_signals=not ignores_signal).returncode, 0)
                self.assertEqual(os.listdir(self.made), [])

    def test_empty_directory_stays_after_a_failed_write(self):
        os.mkdir(self.out)
        result = self.run_output_command(["convert", "--ctf"], preexec_fn=limit_files,
                                         restore_signals=False)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(os.listdir(self.out), [])
        self.assertEqual(self.run_output_command(["convert", "--ctf"]).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.out)), ["cpu0", "metadata"])

    def start_conversion(self, how):
        """Convert a stream. Return the process, and the last buffer, which has yet to be sent."""
        # With the rates at the begin, and before the other events, these are converted while more
        # of them come.
        data = etl.long_file([etl.ntklog_rundown(), etl.spinlock_rundown(1, 1, 1, 0),
                              etl.resource_rundown(1, 1),
                              *self.events_at(*range(10_000_000, 10_100_000, 10))])
        process = subprocess.Popen([NTKLOG, "convert", how, self.out, "-"],
                                   preexec_fn=limit_cores, stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(data[:-etl.SIZE])
        process.stdin.flush()
        while not os.path.exists(self.out):
            time.sleep(0.05)
        wait_until_it_sleeps(process.pid, process.stdin)
        return process, etl.buffer(self.events_at(10_100_000), processor=7,
                                   sequence=len(data) // etl.SIZE - 1)

    def test_killed_process_leaves_no_part(self):
        for number in signal.SIGQUIT, signal.SIGTERM, signal.SIGKILL:
            self.write_earlier_file()
            with self.start_conversion("--perfetto")[0] as process:
                process.send_signal(number)
                self.assertEqual(process.wait(600), -number)
            self.assertEqual((os.listdir(self.made), self.read_file()), (["out"], b"earlier"))

    def read_directory(self):
        files = {}
        for name in os.listdir(self.out):
            with open(os.path.join(self.out, name), "rb") as stream:
                files[name] = stream.read()
        return files

    def test_directory_of_a_conversion_is_refused(self):
        traces = []
        for convert_another in False, True:
            process, rest = self.start_conversion("--ctf")
            with process:
                if convert_another:
                    result = self.run_output_command(["convert", "--ctf"])
                    self.assertEqual(result.returncode, 1)
                    self.assertIn("is not a new or an empty directory", result.stderr)
                process.communicate(rest, timeout=600)
                self.assertEqual(process.returncode, 0)
            traces.append(self.read_directory())
            shutil.rmtree(self.out)
        self.assertEqual(sorted(traces[0]), ["cpu0", "cpu7", "metadata"])
        self.assertEqual(traces[0], traces[1])

    def test_one_of_several_conversions_to_a_directory_succeeds(self):
        self.assertEqual(self.run_output_command(["convert", "--ctf"]).returncode, 0)
        trace = self.read_directory()
        for _ in range(10):
            shutil.rmtree(self.out)
            processes = [subprocess.Popen([NTKLOG, "convert", "--ctf", self.out, self.path],
                                          stderr=subprocess.DEVNULL) for _ in range(8)]
            self.assertEqual(sorted(process.wait(600) for process in processes), [0, *7 * [1]])
            self.assertEqual(self.read_directory(), trace)

    def test_failed_conversion_leaves_the_files_of_others(self):
        process, rest = self.start_conversion("--ctf")
        with process:
            with open(os.path.join(self.out, "cpu7"), "w", encoding="ascii") as stream:
                stream.write("other")
            self.assertIn(b"out/cpu7: cannot write: File exists",
                          process.communicate(rest, timeout=600)[1])
            self.assertEqual(process.returncode, 1)
        self.assertEqual(self.read_directory(), {"cpu7": b"other"})

    def test_names_that_a_killed_process_of_the_same_pid_left_are_passed_over(self):
        def leave_names():
            for number in "", ".0", ".1":
                path = os.path.join(self.made, ".ntklog.%d%s" % (os.getpid(), number))
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write("left")

        self.write_earlier_file()
        inode = os.stat(self.out).st_ino
        result = self.run_output_command(OUTPUT_COMMANDS[0], preexec_fn=leave_names)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotEqual(os.stat(self.out).st_ino, inode)
        sizes = sorted(os.stat(os.path.join(self.made, name)).st_size
                       for name in os.listdir(self.made))
        self.assertEqual(sizes[:-1], 3 * [len("left")])
        self.assertEqual(sizes[-1], os.stat(self.out).st_size)

    def test_impossible_path_is_refused_before_the_first_write(self):
        self.write_earlier_file()
        for command in OUTPUT_COMMANDS:
            for path, reason in (
                    ("", "No such file or directory"), (self.made, "Is a directory"),
                    (self.made + "/new/", "Is a directory"), (self.out + "/", "Is a directory"),
                    (self.out + "/new", "Not a directory"),
                    (self.made + "/new/new", "No such file or directory"),
                    (self.made + "/" + 256 * "x", "File name too long")):
                with self.subTest(command, path=path):
                    result = run_tool(*command, path, self.path)
                    self.assertEqual(result.returncode, 1)
                    # The message of a later failure has "cannot write" before the reason.
                    self.assertIn("ntklog: %s: %s\n" % (path, reason), result.stderr)
                    self.assertEqual((os.listdir(self.made), self.read_file()),
                                     (["out"], b"earlier"))

    @contextlib.contextmanager
    def append_only(self, path):
        if subprocess.run(["chattr", "+a", path], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs root, and a file system with chattr")
        try:
            yield
        finally:
            subprocess.run(["chattr", "-a", path], check=True)

    def test_append_only_file_is_refused_before_the_first_write(self):
        self.write_earlier_file()
        for command in OUTPUT_COMMANDS:
            with self.subTest(command), self.append_only(self.out):
                result = self.run_output_command(command)
                self.assertEqual(result.returncode, 1)
                self.assertIn("ntklog: %s: Operation not permitted\n" % self.out, result.stderr)
                self.assertEqual((os.listdir(self.made), self.read_file()), (["out"], b"earlier"))

    def test_append_only_directory_gets_no_other_file(self):
        for command in OUTPUT_COMMANDS:
            with self.subTest(command), self.append_only(self.made):
                self.assertEqual(self.run_output_command(command).returncode, 0)
                self.assertEqual(os.listdir(self.made), ["out"])

    def test_long_name_has_room_for_no_other(self):
        self.out = os.path.join(self.made, 250 * "x")
        self.write_earlier_file()
        self.run_output_command(OUTPUT_COMMANDS[0], preexec_fn=limit_files, restore_signals=False)
        self.assertEqual(self.read_file(), b"earlier")

    def test_mount_is_written_in_place(self):
        self.write_earlier_file()
        if subprocess.run(["mount", "--bind", self.out, self.out], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs root")
        try:
            for command in OUTPUT_COMMANDS:
                inode = os.stat(self.out).st_ino
                self.assertEqual(self.run_output_command(command).returncode, 0)
                self.assertGreater(os.stat(self.out).st_size, SIZE_MAX)
                self.assertEqual((os.stat(self.out).st_ino, os.listdir(self.made)),
                                 (inode, ["out"]))
        finally:
            subprocess.run(["umount", "-l", self.out], check=True)

    def run_with_mounts(self, mounts, command, percent):
        """Run a command in a file system with room for this part of its output. Return the exit
        status, the files that it leaves, and whether the output is complete.
        """
        whole = os.path.join(self.directory.name, "whole")
        run_tool(*command, whole, self.path).check_returncode()
        result = subprocess.run(["unshare", "-m", "sh", "-c", """
            made=$1 size=$2 whole=$3
            shift 3
            mount -t tmpfs -o size="$size" none "$made" && cd "$made" || exit
            %s || exit
            "$@"
            echo $?
            ls -A
            cmp out "$whole" && echo complete""" % mounts, "sh", self.made,
            str(os.stat(whole).st_size * percent // 100), whole,
            os.path.abspath(NTKLOG), *command, "out", self.path],
            capture_output=True, text=True, timeout=600)
        if re.search("^(mount|unshare):", result.stderr, re.M):
            self.skipTest("needs root: " + result.stderr.splitlines()[0])
        return result.stdout.split()

    def test_mount_of_a_file_needs_no_space_for_a_second_one(self):
        for command in OUTPUT_COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.run_with_mounts(
                    "echo earlier >out && mount --bind out out", command, 150),
                    ["0", "out", "complete"])

    @unittest.skipIf(HAS_ASAN, "AddressSanitizer needs /proc")
    def test_without_proc_a_file_is_complete_or_left_out(self):
        for command in OUTPUT_COMMANDS:
            for percent, expected in (150, ["0", "out", "complete"]), (50, ["1"]):
                with self.subTest(command, percent=percent):
                    self.assertEqual(self.run_with_mounts("mount -t tmpfs none /proc", command,
                                                          percent), expected)

    def test_mode_of_an_earlier_file_stays_and_that_of_a_new_one_follows_umask(self):
        for command in OUTPUT_COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.run_output_command(command, umask=0o027).returncode, 0)
                self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o640)
                whole = self.read_file()
                self.write_earlier_file(mode=0o604)
                self.assertEqual(self.run_output_command(command, umask=0o027).returncode, 0)
                self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o604)
                self.assertEqual(self.read_file(), whole)
                os.unlink(self.out)

    def test_target_of_a_symbolic_link_is_replaced(self):
        target = os.path.join(self.directory.name, "target")
        os.symlink("../target", self.out)
        for text in None, "earlier":
            if text:
                self.write_earlier_file(text)
            self.assertEqual(self.run_output_command(OUTPUT_COMMANDS[0]).returncode, 0)
            self.assertEqual(os.readlink(self.out), "../target")
            with open(target, encoding="utf-8") as stream:
                self.assertIn("</html>", stream.read())
            self.assertEqual(os.listdir(self.made), ["out"])

    def test_open_files_and_pipes_are_written_in_place(self):
        for command in OUTPUT_COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.run_output_command(command).returncode, 0)
                whole = self.read_file()
                with open(self.out, "wb") as stream:
                    inode = os.fstat(stream.fileno()).st_ino
                    run_tool(*command, "/dev/stdout", self.path, stdout=stream,
                             stderr=subprocess.PIPE, capture_output=False)
                self.assertEqual((os.stat(self.out).st_ino, self.read_file()), (inode, whole))
                os.unlink(self.out)
                os.mkfifo(self.out)
                with tempfile.TemporaryFile() as read, \
                        subprocess.Popen(["cat", self.out], stdout=read) as reader:
                    self.assertEqual(self.run_output_command(command).returncode, 0)
                    self.assertEqual(reader.wait(600), 0)
                    self.assertEqual(os.pread(read.fileno(), len(whole) + 1, 0), whole)
                self.assertTrue(stat.S_ISFIFO(os.stat(self.out).st_mode))
                os.unlink(self.out)


if __name__ == "__main__":
    tap.main()
