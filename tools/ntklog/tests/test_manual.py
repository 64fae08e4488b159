#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Man pages, --help and completion tell of the same commands and options.

Usage: test_manual.py NTKLOG
"""

import os
import re
import subprocess
import sys
import unittest

import tap

NTKLOG = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
MAN = os.path.join(HERE, "..", "man")
COMPLETION = os.path.join(HERE, "..", "completion", "ntklog")
COMMANDS = ["list", "start", "stop", "status", "set", "record", "top", "dump", "report",
            "convert"]


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60)


def options(command):
    """The long options that --help names, without argp's own."""
    text = run(NTKLOG, command, "--help").stdout
    return set(re.findall(r"(--[a-z-]+)", text)) - {"--help", "--usage"}


def complete(*words):
    """What bash offers for the last word."""
    script = """
        . /usr/share/bash-completion/bash_completion
        . %s
        COMP_WORDS=(%s) COMP_CWORD=%d COMP_LINE="%s" COMP_POINT=%d COMP_TYPE=9
        _ntklog
        printf '%%s\\n' "${COMPREPLY[@]}"
        """ % (COMPLETION, " ".join("'%s'" % word for word in words), len(words) - 1,
               " ".join(words), len(" ".join(words)))
    result = run("bash", "-c", script)
    return set(result.stdout.split())


class Manual(unittest.TestCase):
    def test_pages_are_well_formed(self):
        for page in os.listdir(MAN):
            result = run("mandoc", "-Tlint", "-W", "warning", os.path.join(MAN, page))
            self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_commands_and_options_are_in_the_page(self):
        page = run("mandoc", "-Tascii", os.path.join(MAN, "ntklog.1")).stdout
        page = re.sub(".\b", "", page)
        for command in COMMANDS:
            self.assertIn("ntklog " + command, page)
            for option in options(command):
                self.assertTrue(option in page, "%s of %s" % (option, command))

    def test_help(self):
        text = run(NTKLOG, "--help").stdout
        for command in COMMANDS:
            self.assertRegex(text, r"\n  %s +\S" % command)
            self.assertEqual(run(NTKLOG, command, "--help").returncode, 0)
        self.assertIn("Exit status", text)


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(complete("ntklog", ""), {*COMMANDS, "--help"})
        self.assertEqual(complete("ntklog", "sta"), {"start", "status"})

    def test_options_are_those_of_help(self):
        for command in COMMANDS:
            offered = complete("ntklog", command, "--") - {"--help", "--"}
            self.assertEqual(offered, options(command), command)

    def test_values(self):
        self.assertEqual(complete("ntklog", "set", ""), {"spinlock", "resource"})
        self.assertEqual(complete("ntklog", "start", "-m", ""), {"sequential", "buffering"})
        self.assertIn("callers", complete("ntklog", "report", "--table", ""))


if __name__ == "__main__":
    tap.main()
