# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the tool share.

Usage of a test: test_NAME.py NTKLOG
"""

import array
import fcntl
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import etl_writer as etl

NTKLOG = sys.argv[1]
# Environment of tests that start the tool hundreds of times: the search for leaks is slow.
NO_LEAK_CHECK = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}

with open(NTKLOG, "rb") as _tool:
    HAS_ASAN = b"__asan_init" in _tool.read()


def run_tool(*arguments, **options):
    return subprocess.run([NTKLOG, *arguments], **{
        "capture_output": True, "text": True, "timeout": 600, **options})


def least_cpu_seconds(*arguments):
    """Return the least CPU time of three runs: on a busy machine one may take much more."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_tool(*arguments).check_returncode()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def wait_until_it_sleeps(pid, pipe):
    """Wait until a process has read all of a pipe, and waits for more."""
    unread = array.array("i", [1])
    while True:
        fcntl.ioctl(pipe, termios.FIONREAD, unread)
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stream:
            if not unread[0] and stream.read().rpartition(")")[2].split()[0] == "S":
                return
        time.sleep(0.05)


def run_tool_on(command, data, *options):
    with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
        stream.write(data)
        stream.flush()
        return run_tool(command, *options, stream.name)


def dump(data, *options):
    """Run dump; return its result, and for each line of output [time, processor, event, fields]."""
    result = run_tool_on("dump", data, *options)
    lines = [line.split(maxsplit=3) for line in result.stdout.splitlines()]
    return result, lines


def undescribed_fields(value, *commands):
    """The fields of JSON, at any depth, that the two pages do not describe for these commands."""
    guide = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Documentation/guide")
    texts = {}
    for page in "json.rst", "json-live.rst":
        with open(os.path.join(guide, page), encoding="utf-8") as stream:
            sections = re.split(r"^ntklog (\w+) --json\n=+$", stream.read(), flags=re.M)
        texts.update(zip(sections[1::2], sections[2::2]))
    known = {name for command in commands for name in re.findall(r"``(\w+)``", texts[command])}
    if "report" in commands:
        # Columns are in lists without quotes, and those of holds are described by those of waits.
        known |= set(re.findall(r"\w+", texts["report"]))
        known |= {name.replace("wait_", "hold_") for name in known}

    def names_in(part):
        if isinstance(part, list):
            return set().union(*map(names_in, part))
        if isinstance(part, dict):
            return set(part).union(*map(names_in, part.values()))
        return set()

    return names_in(value) - known


def join_wrapped_lines(text):
    """Join the lines into which facts and headings are broken."""
    return re.sub(r"\n  (?=\S)", " ", text)


def fields_of_line(line):
    return dict(field.split("=") for field in line[3].split())


def draw_poisson(generator, mean):
    """Draw the number of arrivals within the time 1."""
    count, time = 0, generator.expovariate(mean)
    while time < 1:
        count += 1
        time += generator.expovariate(mean)
    return count


class Case(unittest.TestCase):

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "a.etl")

    def tearDown(self):
        self.directory.cleanup()

    def write(self, data):
        with open(self.path, "wb") as stream:
            stream.write(data)

    def write_trace(self, name, *events):
        """Write a trace whose sample rates are 1, so each event stands for itself."""
        path = os.path.join(self.directory.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(etl.file(etl.spinlock_rundown(1, 1, 1, 0), etl.resource_rundown(1, 1),
                                  *events))
        return path


def pictures_of_page(page):
    return json.loads(re.search(r'<script type="application/json" id="data">\n(.*)\n</script>',
                                page)[1])
