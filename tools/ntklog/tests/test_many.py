#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report and dump of many files, such as those of many machines."""

import csv
import glob
import io
import json
import os
import resource
import signal
import socket
import subprocess
import time
import unittest

import etl_writer as etl
import tap
import tool
from tool import run_tool


def spin_event(address, wait, **changes):
    return etl.perfinfo(0x0529, etl.spin_lock(
        address=address, acquire=1000, release=1100, wait=wait, spins=1 if wait else 0,
        **changes))


class Fleet(tool.Case):
    def write_fleet(self, count):
        return [self.write_trace("fleet/h%02d.etl" % i, spin_event(0x10, 100 + i),
                                 spin_event(0x20, 7 * i),
                                 etl.perfinfo(0x052B, etl.resource_data(address=0x40)),
                                 etl.perfinfo(0x0524, etl.context_swap_data(new=7, old=0), 4))
                for i in range(count)]

    @staticmethod
    def wait_for_reader(path):
        """The id of the process, but this one, that has the file open. A pipe lets a writer open it
        a moment before the reader's descriptor is in /proc.
        """
        while True:
            for directory in glob.glob("/proc/[0-9]*/fd"):
                try:
                    files = [os.readlink(os.path.join(directory, fd))
                             for fd in os.listdir(directory)]
                except OSError:
                    continue
                if path in files and directory != "/proc/%d/fd" % os.getpid():
                    return int(directory.split("/")[2])
            time.sleep(0.05)


class Many(Fleet):
    def report_files(self, *arguments, status=0):
        result = run_tool("report", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        if not status:
            self.assertEqual(result.stderr, "")
        return result

    def test_rows_are_those_of_each_file_with_its_host(self):
        """There are more files than CPUs."""
        paths = self.write_fleet(3 * os.cpu_count() + 2)
        output = self.report_files("--json", *paths).stdout
        many = json.loads(output)
        self.assertEqual(tool.undescribed_fields(many, "report"), set())
        self.assertEqual([host["host"] for host in many["hosts"]],
                         ["h%02d" % i for i in range(len(paths))])
        self.assertEqual(many["files_not_read"], 0)
        for i, path in enumerate(paths):
            one = json.loads(self.report_files("--json", path).stdout)
            host = "h%02d" % i
            self.assertEqual(many["hosts"][i], {
                "host": host, **{field: one[field] for field in (
                    "seconds", "events", "events_lost", "buffers_lost", "lossy_buffers",
                    "buffers_missing", "wrong_times", "damage")}})
            for table, rows in one.items():
                if not isinstance(rows, list) or table in ("covered", "rates_by_time"):
                    continue
                of_host = [{key: value for key, value in row.items() if key != "host"}
                           for row in many[table] if row["host"] == host]
                self.assertCountEqual(of_host, rows, table)
        self.assertEqual(self.report_files("--json", os.path.dirname(paths[0])).stdout, output)

    def test_the_first_rows_are_those_of_all_files(self):
        paths = self.write_fleet(9)
        rows = json.loads(self.report_files("--json", "--top", "3", *paths).stdout)["locks"]
        self.assertEqual([(row["host"], row["lock"]) for row in rows],
                         [("h08", "0x10"), ("h07", "0x10"), ("h06", "0x10")])
        text = self.report_files("--table", "locks", "--top", "1", *paths).stdout
        self.assertIn("54 events in 9.000 s of 9 files\n", text)
        self.assertRegex(text, r"(?m)^host +lock .*\nh08 +0x10 ")
        self.assertNotIn("h07", text)
        made = self.report_files("--csv", "--columns", "wait_total", "--sort", "lock",
                                 *paths).stdout
        table = list(csv.reader(io.StringIO(made)))
        self.assertEqual(table[0], ["table", "host", "lock", "wait_total_ns"])
        self.assertEqual([row[2] for row in table[1:19]], 9 * ["0x10"] + 9 * ["0x20"])

    def test_titles_count_the_rows_of_all_files(self):
        time = etl.START_CLOCK + etl.PERF_FREQ
        paths = self.write_fleet(9)
        text = self.report_files("--top", "2", *paths).stdout
        self.assertIn("\nSpin locks, by wait_total (2 of 18)\n", text)
        self.assertIn("\nExecutive resources, by wait_total (2 of 9)\n", text)
        self.assertIn("(1 of 18)\n", self.report_files("--table", "locks", "--top", "1",
                                                       *paths).stdout)
        self.assertNotIn(" of 18)", self.report_files("--top", "18", *paths).stdout)
        paths = [self.write_trace("%d.etl" % number, *[
            event for i in range(3) for event in (
                etl.perfinfo(0x0529, etl.spin_lock(thread=55), time_stamp=time + i),
                etl.stack_event(time + i, [0xFFFFFFFF81000000 + i]))]) for number in range(2)]
        self.assertIn(" (1 of 6)\n", self.report_files("--stacks", "--top", "1", *paths).stdout)

    def test_lists_of_columns_have_host_where_rows_have_it(self):
        """The list of an error has the columns of this report; the help has all there can be."""
        paths = self.write_fleet(2)
        for option in "--columns", "--sort":
            for options, first in (
                    (paths, "host lock locks"), (paths[:1], "lock locks"),
                    (("--by", "cpu", *paths), "host lock by locks"),
                    (("--ndjson", *paths[:1]), "host lock locks")):
                result = self.report_files("--table", "locks", option, "nothing", *options,
                                           status=2)
                self.assertIn("\n  locks: %s " % first, result.stderr)
        self.assertRegex(self.report_files("--table", "locks", "--columns", "help").stdout,
                         r"^locks: .*\n  host +text +machine, .*\n  lock +text")

    def test_hosts_show_their_heaviest_rows_first(self):
        paths = [self.write_trace(name, spin_event(0x10, 5), spin_event(0x20, 700),
                                  spin_event(0x30, 9))
                 for name in ("b.etl", "a.etl")]
        rows = json.loads(self.report_files("--json", "--sort", "host", "--top", "2",
                                            *paths).stdout)
        self.assertEqual([(row["host"], row["lock"]) for row in rows["locks"]],
                         [("a", "0x20"), ("a", "0x30")])

    def test_sleeping_locks_are_named_as_in_the_report_of_one_file(self):
        mutex = self.write_trace("m.etl", etl.linux_lock_event("mutex"))
        resource = self.write_trace("r.etl", etl.perfinfo(0x052B, etl.resource_data()))
        nothing = self.write_trace("n.etl", spin_event(0x10, 100))
        for paths, title, column in (
                ((mutex, nothing), "Linux' locks that sleep", "kind +"),
                ((resource, mutex), "Executive resources and Linux' locks that sleep", "kind +"),
                ((resource, nothing), "Executive resources", "")):
            text = self.report_files("--wide", "--table", "resources", *paths).stdout
            self.assertRegex(text, r"\n%s, by wait_total.*\nhost +lock +%sheld as " % (title, column))
        text = self.report_files("--table", "resources", "--columns", "wait_total", mutex,
                                 nothing).stdout
        self.assertRegex(text, r"\nLinux' locks that sleep, by wait_total.*\n *wait\n")

    def test_files_of_one_name_get_different_hosts(self):
        paths = [self.write_trace("%s/h.etl" % name, spin_event(0x10, 100)) for name in ("a", "b")]
        rows = json.loads(self.report_files("--json", *paths).stdout)["locks"]
        self.assertEqual({row["host"] for row in rows}, set(paths))

    def test_a_bad_file_is_named_and_the_others_are_shown(self):
        paths = self.write_fleet(3)
        empty = self.write_trace("empty.etl")
        with open(empty, "wb"):
            pass
        for bad in empty, empty + ".missing":
            result = self.report_files(paths[0], bad, paths[2], status=1)
            self.assertIn(bad + ": ", result.stderr)
            self.assertIn("of 2 files; 1 file could not be read\n", result.stdout)
            self.assertIn("h02", result.stdout)
            many = json.loads(self.report_files("--json", bad, paths[0], status=1).stdout)
            self.assertEqual((len(many["hosts"]), many["files_not_read"]), (1, 1))
        with open(paths[1], "r+b") as stream:
            stream.truncate(os.path.getsize(paths[1]) - 7)
        result = self.report_files(*paths, status=1)
        self.assertIn(paths[1] + ": ", result.stderr)
        self.assertIn("of 3 files; DAMAGED: 1 file\n", result.stdout)
        many = json.loads(self.report_files("--json", *paths, status=1).stdout)
        self.assertIn("the file ends inside a buffer", many["hosts"][1]["damage"])

    def test_each_message_is_one_write(self):
        """A socket of datagrams keeps writes apart: they cannot interleave with those of others."""
        reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        missing = os.path.join(self.directory.name, 200 * "x")
        with reader, writer:
            reader.settimeout(60)
            run_tool("report", missing, missing, capture_output=False,
                     stdout=subprocess.DEVNULL, stderr=writer)
            result = run_tool("report", missing, missing)
            messages = {reader.recv(10000).decode() for _ in range(result.stderr.count("\n"))}
        self.assertEqual(messages, set(result.stderr.splitlines(keepends=True)))

    def test_directory_with_the_name_of_the_standard_input_is_not_read(self):
        os.mkdir(os.path.join(self.directory.name, "-"))
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock()))
        self.write(data)
        for command in ("report",), ("dump",), ("diff", self.path):
            result = subprocess.run([os.path.abspath(tool.NTKLOG), *command, "-"], input=data,
                                    capture_output=True, cwd=self.directory.name, timeout=600)
            self.assertEqual((result.returncode, result.stderr), (0, b""))

    @unittest.skipIf(tool.HAS_ASAN, "the sanitizer needs more memory than the limit leaves")
    def test_file_whose_rows_need_too_much_memory_is_left_out(self):
        """The memory of the process that shows the rows ends in the middle of those of a file."""
        pipe = os.path.join(self.directory.name, "pipe")
        os.mkfifo(pipe)
        with subprocess.Popen([tool.NTKLOG, "report", "--json", "--top", "0", pipe,
                               *self.write_fleet(1)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            with open(pipe, "wb") as stream:
                data = etl.long_file([spin_event(0x1000 + 16 * i, 5) for i in range(16000)])
                stream.write(data[:etl.SIZE])
                stream.flush()
                child = self.wait_for_reader(pipe)
                tool.wait_until_it_sleeps(child, stream)
                with open("/proc/%d/statm" % process.pid, encoding="ascii") as sizes:
                    size = int(sizes.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + 0x100000
                resource.prlimit(process.pid, resource.RLIMIT_AS, (size, size))
                stream.write(data[etl.SIZE:])
            output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(pipe + ": the result cannot be used: Cannot allocate memory", errors.decode())
        report = json.loads(output)
        self.assertEqual((report["files_not_read"], [host["host"] for host in report["hosts"]]),
                         (1, ["h00"]))
        self.assertEqual({row["host"] for row in report["locks"]}, {"h00"})

    def test_losses_of_each_file_are_reported(self):
        paths = self.write_fleet(2)
        with open(paths[1], "wb") as stream:
            stream.write(etl.file(spin_event(0x10, 5), events_lost=5))
        result = run_tool("report", *paths)
        self.assertIn("of 2 files; LOST EVENTS: 1 file\n", result.stdout)
        report = json.loads(run_tool("report", "--json", *paths).stdout)
        self.assertEqual([host["events_lost"] for host in report["hosts"]], [0, 5])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "ntklog: %s: 5 events and 0 buffers were lost while it "
                         "was recorded\n" % paths[1])

    def test_file_with_impossible_times_is_damaged(self):
        paths = self.write_fleet(2)
        with open(paths[1], "wb") as stream:
            stream.write(etl.file(spin_event(0x10, 5), etl.perfinfo(0x0529, etl.spin_lock(),
                                                                    time_stamp=1 << 60)))
        self.assertIn("of 2 files; DAMAGED: 1 file\n", self.report_files(*paths, status=1).stdout)
        hosts = json.loads(self.report_files("--json", *paths, status=1).stdout)["hosts"]
        self.assertEqual([(host["wrong_times"], host["damage"]) for host in hosts],
                         [(0, None), (1, None)])

    def test_stacks_are_whole_on_a_narrow_terminal(self):
        time = etl.START_CLOCK + etl.PERF_FREQ
        paths = [self.write_trace(name,
                                  etl.perfinfo(0x0529, etl.spin_lock(thread=55), time_stamp=time),
                                  etl.stack_event(time, [address, 0xFFFFFFFF82000000]))
                 for name, address in (("a.etl", 0xFFFFFFFF81000001),
                                       ("b.etl", 0xFFFFFFFF81000002))]
        text = self.report_files("--stacks", *paths).stdout
        for host, address in ("a", 1), ("b", 2):
            self.assertRegex(text, r"\n  host %s, records 1, acquired[^\n]*\n(    [^\n]*\n)?"
                             r"      0xffffffff8100000%d\n      0xffffffff82000000\n" % (host, address))

    def test_lock_that_one_file_has_is_found(self):
        paths = [self.write_trace("a.etl", spin_event(0x10, 100)),
                 self.write_trace("b.etl", spin_event(0x20, 100))]
        rows = json.loads(self.report_files("--json", "--lock", "0x20", *paths).stdout)["locks"]
        self.assertEqual([(row["host"], row["lock"]) for row in rows], [("b", "0x20")])
        result = self.report_files("--lock", "0x30", *paths, status=1)
        self.assertIn('no event is of a lock "0x30"', result.stderr)
        self.assertEqual(result.stdout, "")

    def test_a_file_that_is_given_twice_is_named(self):
        (path,) = self.write_fleet(1)
        self.assertEqual(run_tool("report", path, path).stderr,
                         "ntklog: %s: given twice: its events count twice\n" % path)

    def test_options_for_one_file_are_refused_for_many(self):
        paths = self.write_fleet(2)
        for options in ("--html", "-"), ("--folded",):
            result = self.report_files(*options, *paths, status=2)
            self.assertIn("--html and --folded take one file", result.stderr)
        result = self.report_files("--columns", "moon", *paths, status=2)
        self.assertIn('no printed table has a column "moon"', result.stderr)
        result = self.report_files("--sort", "moon", *paths, status=2)
        self.assertIn('no printed table has a column "moon"', result.stderr)
        directory = os.path.join(self.directory.name, "directory")
        os.mkdir(directory)
        result = self.report_files(directory, status=1)
        self.assertIn("the directory has no file *.etl", result.stderr)
        self.assertIn("only one file can be given", run_tool("info", *paths).stderr)


class DumpOfMany(Fleet):
    def dump_files(self, *arguments, status=0):
        result = run_tool("dump", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def test_events_are_those_of_each_file_in_turn_with_its_host(self):
        paths = self.write_fleet(2 * os.cpu_count() + 1)
        hosts = ["h%02d" % number for number in range(len(paths))]
        for options in ((), ("--cycles", "--hex"), ("--filter", "SpinCount > 0")):
            one = [self.dump_files(*options, path).splitlines() for path in paths]
            self.assertEqual(self.dump_files(*options, *paths).splitlines(),
                             [host + " " + line for host, lines in zip(hosts, one) for line in lines])
            one = [map(json.loads, self.dump_files("--json", *options, path).splitlines())
                   for path in paths]
            many = self.dump_files("--json", *options, os.path.dirname(paths[0])).splitlines()
            self.assertEqual(list(map(json.loads, many)),
                             [{"Host": host, **line} for host, lines in zip(hosts, one)
                              for line in lines])
            self.assertTrue(many[0].startswith('{"Host":"h00","Time":'))
            one = [self.dump_files("--csv", *options, path).splitlines() for path in paths]
            self.assertEqual(self.dump_files("--csv", *options, *paths).splitlines(),
                             ["Host," + one[0][0]] +
                             [host + "," + line for host, lines in zip(hosts, one)
                              for line in lines[1:]])

    def test_strange_names_of_hosts_are_quoted(self):
        paths = [self.write_trace('a "b", c.etl', spin_event(0x10, 5)),
                 self.write_trace("d.etl", spin_event(0x10, 5))]
        self.assertEqual(json.loads(self.dump_files("--json", *paths).splitlines()[0])["Host"],
                         'a "b", c')
        rows = list(csv.DictReader(io.StringIO(self.dump_files("--csv", *paths))))
        self.assertEqual({row["Host"] for row in rows}, {'a "b", c', "d"})

    def test_a_bad_file_is_named_and_the_others_are_printed(self):
        paths = self.write_fleet(2)
        missing = paths[0] + ".missing"
        result = run_tool("dump", missing, *paths)
        self.assertEqual(result.returncode, 1)
        self.assertIn(missing + ": ", result.stderr)
        self.assertEqual(result.stdout, self.dump_files(*paths))
        self.assertEqual(run_tool("dump", "--csv", missing, *paths).stdout,
                         self.dump_files("--csv", *paths))

    def test_result_needs_no_directory_for_temporary_files(self):
        paths = self.write_fleet(2)
        result = run_tool("dump", *paths, env={**os.environ, "TMPDIR": "/nonexistent"})
        self.assertEqual((result.returncode, result.stdout), (0, self.dump_files(*paths)))

    @staticmethod
    def limit_file_size(size):
        """Make the writes of a process fail: its files can have SIZE bytes."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def test_result_that_cannot_be_stored_is_not_printed(self):
        paths = [self.write_trace("a.etl", *[spin_event(0x10, 5)] * 40),
                 self.write_trace("b.etl", spin_event(0x10, 5))]
        for command in "dump", "report":
            result = run_tool(command, "--json", *paths,
                              preexec_fn=lambda: self.limit_file_size(100))
            self.assertEqual(result.returncode, 1, command)
            self.assertIn(paths[0] + ": the result cannot be stored: make space", result.stderr)
            self.assertNotIn("SpinLockAddress", result.stdout)
            self.assertNotIn("0x10", result.stdout)

    def test_a_part_that_could_not_be_stored_is_a_failure(self):
        """There is space again when the rest of the result is stored."""
        pipe = os.path.join(self.directory.name, "pipe")
        os.mkfifo(pipe)
        with subprocess.Popen([tool.NTKLOG, "dump", "--json", pipe, pipe + "0"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: self.limit_file_size(0)) as process:
            with open(pipe, "wb") as stream:
                stream.write(etl.long_file([spin_event(0x10, 5)] * 80))
                stream.flush()
                child = self.wait_for_reader(pipe)
                tool.wait_until_it_sleeps(child, stream)
                resource.prlimit(child, resource.RLIMIT_FSIZE, 2 * (resource.RLIM_INFINITY,))
            output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(pipe + ": the result cannot be stored: make space", errors)
        self.assertNotIn('"Host":"pipe"', output)

    def test_full_output_is_a_failure(self):
        with open("/dev/full", "w") as full:
            result = run_tool("dump", *self.write_fleet(2), stdout=full, capture_output=False,
                              stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left on device", result.stderr)


if __name__ == "__main__":
    tap.main()
