#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The installed libntklog-etl.

Usage: test_library.py NTKLOG

The test installs the library from the build folder of NTKLOG, and builds programs with it. make
and the compiler get CFLAGS of the environment.
"""

import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import etl_writer as etl
import tap

NTKLOG = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.dirname(HERE)
SONAME = "libntklog-etl.so.0"
GUID = bytes.fromhex("d0a86f3d05fed0119dda00c04fd7ba7c")


def run_command(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def setUpModule():
    global SCRATCH, LIB, INCLUDE, MANUAL
    SCRATCH = tempfile.TemporaryDirectory()
    prefix = os.path.join(SCRATCH.name, "opt")
    LIB, INCLUDE = os.path.join(prefix, "lib"), os.path.join(prefix, "include")
    MANUAL = os.path.join(prefix, "share", "man", "man3")
    subprocess.run(["make", "-s", "-C", TOOL, "O=" + os.path.dirname(NTKLOG),
                    "prefix=" + prefix, "install"], check=True)


def tearDownModule():
    SCRATCH.cleanup()


def functions_of_header():
    with open(os.path.join(INCLUDE, "ntklog", "etl.h")) as stream:
        code = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)
    return set(re.findall(r"\b(etl_\w+)\(", code))


def read_symbols(*arguments):
    lines = run_command("nm", "--defined-only", *arguments).stdout.splitlines()
    return {line.split()[2].split("@")[0] for line in lines if re.match(r"\w+ [A-Z] ", line)}


def build_program(source, static=False):
    program = os.path.join(SCRATCH.name, os.path.basename(source)[:-2] + "-static" * static)
    environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(LIB, "pkgconfig")}
    flags = run_command("pkg-config", "--cflags", "--libs", "libntklog-etl", env=environment)
    link = [os.path.join(LIB, "libntklog-etl.a")] if static else []
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                    *shlex.split(os.environ.get("CFLAGS", "-g")), "-o", program, source, *link,
                    *shlex.split(flags.stdout)], check=True)
    return program


def run_linked(*command, **options):
    return run_command(*command, env={**os.environ, "LD_LIBRARY_PATH": LIB}, **options)


class Installed(unittest.TestCase):
    def test_library_exports_only_what_its_header_has(self):
        self.assertEqual(read_symbols("-D", os.path.join(LIB, SONAME)) - {"NTKLOG_ETL_0"},
                         functions_of_header())

    def test_library_has_its_soname(self):
        library = os.path.join(LIB, "libntklog-etl.so")
        self.assertEqual(os.readlink(library), SONAME)
        self.assertRegex(run_command("readelf", "-d", library).stdout, r"SONAME.*\[%s\]" % SONAME)

    def test_archive_exports_only_what_its_header_has(self):
        names = read_symbols("-g", os.path.join(LIB, "libntklog-etl.a"))
        self.assertEqual(names, functions_of_header())

    def test_a_program_may_have_functions_of_the_same_names(self):
        """The library must not call the program's functions instead of its own."""
        source = os.path.join(SCRATCH.name, "same.c")
        with open(source, "w") as stream:
            stream.write("""#include <stdlib.h>
#include <ntklog/etl.h>
bool etl_overwrites_buffers(const struct etl_file *file) { abort(); }
unsigned int etl_buffer_processor(const void *header) { abort(); }
int main(int argc, char **argv)
{
	struct etl_file *file;
	int err = etl_open(&file, argv[argc - 1]);

	etl_close(file);
	return -err;
}
""")
        path = os.path.join(SCRATCH.name, "same.etl")
        with open(path, "wb") as stream:
            stream.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock())))
        environment = {**os.environ, "CFLAGS": os.environ.get("CFLAGS", "-g") +
                       " -Wno-unused-parameter"}
        with unittest.mock.patch.dict(os.environ, environment):
            self.assertEqual(run_linked(build_program(source), path).returncode, 0)

    def test_library_neither_prints_nor_exits(self):
        undefined = run_command("nm", "-D", "-u", os.path.join(LIB, SONAME)).stdout
        self.assertNotRegex(undefined, r"\b(printf|puts|putchar|vprintf|stdout|stderr|_?exit|abort)\b")

    def test_manual_has_every_function(self):
        page = run_command("mandoc", "-Tascii", os.path.join(MANUAL, "ntklog-etl.3")).stdout
        page = re.sub(".\b", "", page)
        name, rest = page[:page.index("\nLIBRARY\n")], page[page.index("\nDESCRIPTION\n"):]
        for function in functions_of_header():
            self.assertRegex(name, r"\b%s\b" % function)
            self.assertRegex(page, r"\n     %s\(" % function)
            self.assertRegex(rest, r"\b%s\(" % function)
            self.assertEqual(os.readlink(os.path.join(MANUAL, function + ".3")), "ntklog-etl.3")

    def test_manual_has_members_of_files_and_events(self):
        page = re.sub(".\b", "", run_command("mandoc", "-Tascii",
                                             os.path.join(MANUAL, "ntklog-etl.3")).stdout)
        with open(os.path.join(INCLUDE, "ntklog", "etl.h")) as stream:
            text = stream.read()
        for struct_name in ("etl_file", "etl_event"):
            body = re.search(r"\nstruct %s \{\n(.*?)\n\}" % struct_name, text, re.S).group(1)
            for member in re.findall(r"(\w+)(?:\[\d+\])?;", body):
                self.assertRegex(page, r"\b%s\b" % member)


class Program(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(SCRATCH.name, "a.etl")

    def write(self, data):
        with open(self.path, "wb") as stream:
            stream.write(data)

    def unordered_file(self):
        """Return a file whose events are ordered by time on each processor, but not in the file."""
        first = [etl.perfinfo(0x0529, etl.spin_lock(address=0x1000 + i),
                              time_stamp=etl.START_CLOCK + 100 * i) for i in range(5)]
        second = [etl.perfinfo(0x0529, etl.spin_lock(address=0x2000 + i),
                               time_stamp=etl.START_CLOCK + 50 + 100 * i) for i in range(5)]
        return etl.header_buffer(3) + etl.buffer(first, sequence=1) + \
            etl.buffer(second, sequence=2, processor=1)

    def test_example_lists_what_the_tool_lists(self):
        self.write(self.unordered_file())
        dumped = run_command(NTKLOG, "dump", self.path).stdout.splitlines()
        for static in (False, True):
            program = build_program(os.path.join(TOOL, "examples", "etl_list.c"), static)
            result = run_linked(program, self.path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            lines = result.stdout.splitlines()
            times = [float(line.split()[0]) for line in lines]
            self.assertEqual(times, sorted(times))
            self.assertEqual(len(lines), len(dumped))
            self.assertRegex(lines[-1], r"^ *0\.000225000 cpu 1 +hook id 0x0529, 56 bytes$")
        # The static program does not need the shared library, the other one does.
        self.assertNotIn(SONAME, run_command("readelf", "-d", program).stdout)
        self.assertIn(SONAME, run_command("readelf", "-d", program.replace("-static", "")).stdout)

    def test_example_reports_damage_at_the_end(self):
        data = bytearray(self.unordered_file())
        data[2 * etl.SIZE + 0x48 + 2] = 0x77
        self.write(data)
        program = build_program(os.path.join(TOOL, "examples", "etl_list.c"), True)
        result = run_command(program, self.path)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(re.findall("hook id 0x0529", result.stdout)), 5)
        told = run_command(NTKLOG, "dump", self.path).stderr
        self.assertIn(result.stderr.splitlines()[0], told)
        self.assertIn("offset 0x2048: no event", result.stderr)
        self.assertIn("left out: %d bytes" % (5 * 0x48), result.stderr)

    def test_example_reports_a_missing_file(self):
        buffers = [etl.buffer([etl.perfinfo(0x0529, etl.spin_lock())], sequence=number)
                   for number in (1, 2, 2, 4)]
        self.write(etl.header_buffer(5) + b"".join(buffers))
        program = build_program(os.path.join(TOOL, "examples", "etl_list.c"), True)
        result = run_command(program, self.path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("buffers missing: 1, twice: 1, too late: 0", result.stderr)

    def read_printed_facts(self, *arguments, **options):
        program = build_program(os.path.join(HERE, "library.c"), True)
        result = run_command(program, *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = {}
        for line in result.stdout.splitlines():
            word, _, rest = line.partition(" ")
            found.setdefault(word, []).append(rest)
        return found

    def test_program_gets_the_headers_and_data_of_events(self):
        classic = struct.pack("<HBBBBHIIQ16sQ", 0x30, 0x14, 0xC0, 7, 4, 3, 11, 22,
                              etl.START_CLOCK + 4, GUID, 0)
        self.write(etl.header_buffer(2) + etl.buffer([
            etl.perfinfo(0x0529, etl.spin_lock(), time_stamp=etl.START_CLOCK + 2), classic],
            processor=3))
        facts = self.read_printed_facts(self.path)
        self.assertEqual(facts["open"], ["0 " + self.path])
        self.assertEqual(facts["group_mask"], ["1 0x0"])
        self.assertEqual(facts["header"], ["%d 8 2 %d" % (etl.SIZE, etl.PERF_FREQ)])
        self.assertEqual(facts["unix_time"], ["%d" % (132_000_000_000_000_000 -
                                                      116_444_736_000_000_000)])
        self.assertEqual(facts["cycles_ns"], ["500000"])
        self.assertEqual(facts["mode"], ["0 0 0"])
        self.assertEqual(facts["logfile_header"], ["0 8 L", "-1", "-1"])
        self.assertEqual(facts["event"], [
            "0x1048 3 0x11 0x0529 0.000001 0 - - -1",
            "0x1090 3 0x14 0x0000 0.000002 22 3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c Process 7"])
        self.assertEqual(facts["spinlock"], ["0xffff888012345678"])
        self.assertEqual(facts["buffers"], ["2"])
        self.assertEqual(facts["damaged"], ["0 0 0"])
        self.assertEqual(facts["error"], [""])

    def test_a_file_can_be_read_again_and_a_pipe_not(self):
        self.write(self.unordered_file())
        self.assertEqual(self.read_printed_facts(self.path)["again"], ["13 "])
        with open(self.path, "rb") as stream:
            data = stream.read()
        # All of it is in the pipe before the program reads: library.c ends when it has to wait.
        source, sink = os.pipe()
        os.write(sink, data)
        os.close(sink)
        found = subprocess.run([build_program(os.path.join(HERE, "library.c"), True), "-"],
                               stdin=source,
                               capture_output=True, check=False)
        os.close(source)
        self.assertEqual((found.returncode, found.stderr), (0, b""))
        self.assertIn(b"again 0 offset 0x0: a pipe can be read only once, and this one has been read\n",
                      found.stdout)

    def test_damage_that_a_program_finds_is_described(self):
        self.write(self.unordered_file())
        facts = self.read_printed_facts(self.path, "6")
        # Three of the first buffer.
        self.assertEqual(facts["damaged"], ["0 7 %d" % (7 * 0x48)])
        self.assertEqual(facts["error"], ["offset 0x1120: event 7 is not liked"])

    def test_unreadable_files_are_refused_with_the_reason(self):
        facts = self.read_printed_facts("/nonexistent")
        self.assertEqual(facts["open"], ["-1 /nonexistent"])
        self.assertEqual(facts["error"], ["No such file or directory"])
        self.assertNotIn("event", facts)
        self.write(b"MZ" + bytes(0x2000))
        facts = self.read_printed_facts(self.path)
        self.assertEqual(facts["open"], ["-1 " + self.path])
        self.assertRegex(facts["error"][0], "not an ETL file")

    def test_empty_pipe_makes_the_reader_wait(self):
        self.write(self.unordered_file())
        with open(self.path, "rb") as stream:
            data = stream.read()
        ours, others = os.pipe()
        try:
            os.write(others, data[:2 * etl.SIZE])
            facts = self.read_printed_facts("-", stdin=ours)
        finally:
            os.close(ours)
            os.close(others)
        self.assertEqual(facts["waited"], ["for more"])
        self.assertNotIn("error", facts)


if __name__ == "__main__":
    tap.main()
