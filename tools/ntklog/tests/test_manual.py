#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Man pages, --help and completion tell of the same commands and options."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import etl_writer as etl
import tap

NTKLOG = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
MAN = os.path.join(HERE, "..", "man")
COMPLETION = os.path.join(HERE, "..", "completion", "ntklog")
COMMANDS = ["list", "start", "stop", "status", "set", "selftest", "record", "top", "exporter", "held", "dump", "info",
            "report", "diff", "convert", "names"]


def run_command(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=600)


def options_of_help(command):
    text = run_command(NTKLOG, command, "--help").stdout
    return set(re.findall(r"(--[a-z-]+)", text)) - {"--help", "--usage"}


def columns_of_help(*options):
    """Unit and meaning of each column by its name."""
    text = run_command(NTKLOG, "report", *options, "--columns", "help").stdout
    return dict(re.findall(r"^  (\w+) +(\S.*)$", text, re.M))


def complete_words(*words):
    script = """
        . /usr/share/bash-completion/bash_completion
        . %s
        COMP_WORDS=(%s) COMP_CWORD=%d COMP_LINE="%s" COMP_POINT=%d COMP_TYPE=9
        _ntklog
        printf '%%s\\n' "${COMPREPLY[@]}"
        """ % (COMPLETION, " ".join("'%s'" % word for word in words), len(words) - 1,
               " ".join(words), len(" ".join(words)))
    result = run_command("bash", "-c", script)
    return set(result.stdout.split())


class Manual(unittest.TestCase):
    def test_pages_are_well_formed(self):
        for page in os.listdir(MAN):
            result = run_command("mandoc", "-Tlint", "-W", "warning", os.path.join(MAN, page))
            self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_commands_and_options_are_in_the_page(self):
        page = run_command("mandoc", "-Tascii", os.path.join(MAN, "ntklog.1")).stdout
        page = re.sub(".\b", "", page)
        for command in COMMANDS:
            self.assertIn("ntklog " + command, page)
            for option in options_of_help(command):
                self.assertTrue(option in page, "%s of %s" % (option, command))

    def test_options_are_listed(self):
        """The page describes each option; a mention in the synopsis is not enough."""
        page = run_command("mandoc", "-Tascii", os.path.join(MAN, "ntklog.1")).stdout
        page = re.sub(".\b", "", page)
        listed = page[page.index("\nOPTIONS\n"):page.index("\nFILTERS\n")]
        for command in COMMANDS:
            for option in options_of_help(command):
                self.assertTrue(re.search(r"^ {5}(\S.*)?%s\b" % option, listed, re.M), option)

    def test_help_prints_the_same_as_its_option(self):
        self.assertEqual(run_command(NTKLOG, "help").stdout, run_command(NTKLOG, "--help").stdout)
        self.assertEqual(run_command(NTKLOG, "help", "dump").stdout,
                         run_command(NTKLOG, "dump", "--help").stdout)
        self.assertEqual(run_command(NTKLOG, "help", "frobs").returncode, 2)

    def test_help_that_cannot_be_written_is_reported(self):
        for arguments in ["--help"], ["--version"], ["dump", "--help"], ["help"]:
            with open("/dev/full", "w") as full:
                result = subprocess.run([NTKLOG, *arguments], stdout=full, text=True,
                                        stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, "ntklog: cannot write: No space left on device\n")

    def test_help_has_no_line_of_few_words_within_a_paragraph(self):
        for command in COMMANDS:
            lines = run_command(NTKLOG, command, "--help").stdout.split("\n")
            indents = [re.match(" *", line).end() if line else None for line in lines]
            few = [line for line, indent, following in zip(lines, indents, indents[1:])
                   if indent == following and len(line.split()) in (1, 2)]
            self.assertEqual(few, [], command)

    def test_help_has_all_commands(self):
        text = run_command(NTKLOG, "--help").stdout
        for command in COMMANDS:
            self.assertRegex(text, r"\n  %s +\S" % command)
            self.assertEqual(run_command(NTKLOG, command, "--help").returncode, 0)
        self.assertIn("Exit status", text)


class Completion(unittest.TestCase):
    def test_completion_offers_commands(self):
        self.assertEqual(complete_words("ntklog", ""), {*COMMANDS, "help", "--help"})
        self.assertEqual(complete_words("ntklog", "help", ""), set(COMMANDS))
        self.assertEqual(complete_words("ntklog", "sta"), {"start", "status"})

    def test_options_are_those_of_help(self):
        for command in COMMANDS:
            offered = complete_words("ntklog", command, "--") - {"--help", "--"}
            self.assertEqual(offered, options_of_help(command), command)

    def test_values_of_options_are_completed(self):
        self.assertEqual(complete_words("ntklog", "set", ""), {"spinlock", "resource"})
        self.assertEqual(complete_words("ntklog", "start", "-m", ""), {"sequential", "buffering"})
        for command in "start", "record", "top", "exporter":
            offered = complete_words("ntklog", command, "-e", "linux_r")
            self.assertEqual(offered, {"linux_rwlock", "linux_rwsem", "linux_rt_mutex"})
        self.assertIn("callers", complete_words("ntklog", "report", "--table", ""))
        for option in "--columns", "--sort":
            offered = complete_words("ntklog", "report", option, "")
            self.assertLess({"lock", "wait_total", "run_p95", "event"}, offered)
            self.assertEqual(offered & set(os.listdir()), set())
        self.assertEqual(complete_words("ntklog", "report", "--columns", "lock,wait_m"),
                         {"lock,wait_mean", "lock,wait_max"})

    def test_each_column_is_offered_by_the_completion(self):
        self.assertEqual(complete_words("ntklog", "report", "--sort", ""), set(columns_of_help()))

    def test_each_column_is_described_in_the_guide(self):
        path = os.path.join(HERE, "../../../Documentation/guide/columns.rst")
        with open(path, encoding="utf-8") as stream:
            page = stream.read()
        # The second column of the table has the names.
        rows = [line[21:45] for line in page.splitlines() if line[20:21] == " "]
        described = {name for row in rows for name in re.findall(r"\w+", row)}
        self.assertEqual(set(columns_of_help()) - described, set())

    def test_column_help_has_unit_and_meaning_of_each_column(self):
        for name, description in columns_of_help().items():
            unit, meaning = description.split(maxsplit=1)
            self.assertIn(unit, ("text", "number", "estimate", "share", "time", "error"), name)
            self.assertGreater(len(meaning), 4, name)
        self.assertIn("releases", columns_of_help("--table", "resources"))
        self.assertNotIn("caller", columns_of_help("--table", "resources"))
        for arguments in (), ("absent.etl",):
            said = run_command(NTKLOG, "report", "--columns", "help", "--table", "waiters",
                               *arguments)
            self.assertEqual(re.findall(r"^(\w+): ", said.stdout, re.M), ["waiters"])

    def test_an_unknown_column_lists_the_names_of_this_report(self):
        with tempfile.NamedTemporaryFile(suffix=".etl") as stream:
            stream.write(etl.header_buffer(1))
            stream.flush()
            said = run_command(NTKLOG, "report", "--columns", "frobs", stream.name).stderr
        listed = {name for line in said.splitlines() if line.startswith("  ")
                  for name in line.split(":")[1].split()}
        self.assertEqual(listed, set(columns_of_help()) - {"host", "by"})

    def test_options_without_a_file_complete_no_file_names(self):
        for arguments in (["dump", "--filter"], ["dump", "--from"], ["report", "--top"],
                          ["convert", "--to"], ["record", "--duration"], ["record", "-b"],
                          ["record", "-n"], ["top", "-d"]):
            self.assertEqual(complete_words("ntklog", *arguments, "") & set(os.listdir()), set())


if __name__ == "__main__":
    tap.main()
