#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the documentation's links, commands, options, warnings and sizes.

Usage: check_docs.py NTKLOG TOP
"""

import functools
import os
import re
import subprocess
import sys
import unittest

import tap

NTKLOG, TOP = sys.argv[1:3]


def read_text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return stream.read()


def list_pages():
    """README.md and every .rst file that git tracks or would add."""
    names = subprocess.run(
        ["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (name.endswith(".rst") or name.endswith("README.md")) and
            os.path.exists(os.path.join(TOP, name))]


def anchor_of(title):
    """The anchor that docutils and forges make from a section's title."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"[`'*]", "", title.lower())).strip("-")


@functools.cache
def list_anchors(path):
    text = read_text(path)
    titles = re.findall(r"^#+ (.*)$", text, re.M) if path.endswith(".md") else \
        re.findall(r"^(\S.*)\n([=~\-^\"])\2{2,}$", text, re.M)
    return {anchor_of(title if isinstance(title, str) else title[0]) for title in titles}


def find_links(path):
    patterns = [r"\]\(([^)\s]+)\)"] if path.endswith(".md") else \
        [r"<([^<>\s]+)>`__?", r"^\s*\.\. (?:image|figure|include|literalinclude):: *(\S+)",
         r"^\s*\.\. _[^:]+: *(\S+)$"]
    text = read_text(path)
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.M):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def is_external(link):
    return re.match(r"[a-z]+:", link) is not None


def code_of_markdown(text):
    for block in re.findall(r"(?:^(?: {4}|\t).*\n)+", text, re.M):
        yield from block.splitlines()
    for block in re.findall(r"^```.*?\n(.*?)^```", text, re.M | re.S):
        yield from block.splitlines()
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))


def code_of_pages(text):
    """Yield the lines of indented blocks after "::", and the text between ``two`` backquotes."""
    block = None
    for line in text.expandtabs().splitlines():
        depth = len(line) - len(line.lstrip())
        if line.strip() and (block is None or depth <= block):
            block = depth if line.endswith("::") or ":: " in line and line.lstrip().startswith("..") \
                else None
        elif line.strip():
            yield line
    yield from (" ".join(span.split()) for span in re.findall(r"``(.+?)``", text, re.S))


def code_of_manual(text):
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S):
        yield from re.sub(r"\\e", r"\\", block).replace("\\-", "-").replace("\\&", "").splitlines()


# A command at the beginning of a line or where a shell's command can begin, but not as the argument
# of modprobe.
COMMAND = re.compile(r"(?:^|[|;&(]|\$\()\s*(?:[#$] )?(?:sudo )?(?:\S+/)?ntklog ([a-z]+)\b([^|;&#]*)")


def find_commands(lines):
    for line in lines:
        for name, rest in COMMAND.findall(line.strip()):
            own = re.split(r"\s--(?:\s|$)", rest)[0]
            yield name, re.findall(r"(?:^|[\s\[])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])", own)


@functools.cache
def help_of_command(name):
    result = subprocess.run([NTKLOG, name, "--help"], capture_output=True, text=True, timeout=600,
                            check=False)
    return result.stdout if result.returncode == 0 else ""


@functools.cache
def options_of_command(name):
    return set(re.findall(r"(?:^ +|, +)(--[a-z-]+|-[a-zA-Z?])", help_of_command(name), re.M))


class Links(unittest.TestCase):
    def test_links_lead_to_files(self):
        count = 0
        for path in list_pages():
            for line, link in find_links(path):
                name = link.partition("#")[0]
                if is_external(link) or not name:
                    continue
                count += 1
                target = os.path.join(TOP, os.path.dirname(path), name)
                with self.subTest("%s:%d: %s" % (path, line, link)):
                    self.assertTrue(os.path.exists(target), "there is no such file")
        self.assertGreater(count, 10)

    def test_links_lead_to_sections(self):
        count = 0
        for path in list_pages():
            for line, link in find_links(path):
                name, _, section = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if is_external(link) or not section or not target.endswith((".md", ".rst")) or \
                        not os.path.exists(os.path.join(TOP, target)):
                    continue
                count += 1
                with self.subTest("%s:%d: %s" % (path, line, link)):
                    self.assertIn(section, list_anchors(target))
        self.assertGreater(count, 0)


class Commands(unittest.TestCase):
    def check_commands(self, path, lines):
        count = 0
        for name, options in find_commands(lines):
            count += 1
            with self.subTest("%s: ntklog %s" % (path, name)):
                self.assertTrue(help_of_command(name), "there is no such command")
                for option in options:
                    self.assertIn(option, options_of_command(name))
        return count

    def test_commands_of_pages_exist(self):
        count = 0
        for path in list_pages():
            code_of = code_of_markdown if path.endswith(".md") else code_of_pages
            count += self.check_commands(path, code_of(read_text(path)))
        self.assertGreater(count, 20)

    def test_commands_of_the_manual_exist(self):
        path = "tools/ntklog/man/ntklog.1"
        self.assertGreater(self.check_commands(path, code_of_manual(read_text(path))), 5)


class TestNames(unittest.TestCase):
    """Pages name test files, cases, suites and steps that exist."""

    @functools.cached_property
    def planned_steps(self):
        return {line.split()[0] for line in read_text("tests/plan").splitlines()
                if line.strip() and not line.startswith("#")}

    def find_in_pages(self, pattern):
        found = [(path, match) for path in list_pages()
                 for match in re.findall(pattern, read_text(path))]
        self.assertTrue(found)
        return found

    def test_named_test_files_exist(self):
        for path, name in self.find_in_pages(r"\b(test_\w+)\.py\b") + \
                self.find_in_pages(r"tests/steps/tool\.sh (?:asan )?(test_\w+)"):
            with self.subTest("%s: %s" % (path, name)):
                self.assertTrue(os.path.exists(os.path.join(TOP, "tools/ntklog/tests",
                                                            name + ".py")))

    def test_named_cases_exist(self):
        for path, (name, group, case) in \
                self.find_in_pages(r"tests/steps/tool\.sh (?:asan )?(test_\w+) (\w+)\.(test_\w+)"):
            with self.subTest("%s: %s" % (path, case)):
                classes = re.split(r"^class (\w+)", read_text("tools/ntklog/tests/%s.py" % name),
                                   flags=re.M)
                self.assertIn("def %s(" % case, dict(zip(classes[1::2], classes[2::2]))[group])

    def test_named_suites_exist(self):
        directory = os.path.join(TOP, "kunit")
        suites = {suite for name in os.listdir(directory) if name.endswith(".c")
                  for suite in re.findall(r'\.name = "(ntklog_\w+)"', read_text("kunit/" + name))}
        for path, suite in self.find_in_pages(r"KUNIT_FILTER=['\"]?(\w+)\."):
            with self.subTest(path):
                self.assertIn(suite, suites)

    def test_named_steps_exist(self):
        for path, names in self.find_in_pages(r'\bONLY="([^"]*)"') + \
                self.find_in_pages(r"\bstep ``([a-z][\w.-]*)``"):
            for name in names.split():
                with self.subTest("%s: %s" % (path, name)):
                    self.assertTrue(name in self.planned_steps or
                                    any(step.startswith(name + "-") for step in self.planned_steps))

    def test_page_on_testing_has_each_step(self):
        table = read_text("Documentation/dev/testing.rst").partition("\nThe steps\n")[2]
        names = set(re.findall(r"^``([a-z][\w.-]*)``", table, re.M)) | \
            set(re.findall(r"^``[\w-]+``, +``([\w-]+)``", table, re.M))
        families = {name.partition("-")[0]
                    for name in re.findall(r"^``(\w+-[A-Z]+)``", table, re.M)}
        for step in self.planned_steps - names:
            with self.subTest(step):
                self.assertIn(step.partition("-")[0], families)


def count_words(path):
    return len(read_text(path).split())


class Sizes(unittest.TestCase):
    """A page that exceeds its limit is probably for two kinds of readers: split or shorten it."""

    DESIGN = ("rationale", "architecture", "linux-locks", "nt-locks", "sessions", "measurements")

    def test_pages_have_at_most_2500_words(self):
        for path in list_pages():
            with self.subTest(path):
                self.assertLessEqual(count_words(path), 2500)

    def test_pages_on_the_design_have_at_most_9000_words(self):
        self.assertLessEqual(sum(count_words("Documentation/dev/%s.rst" % page)
                                 for page in self.DESIGN), 9000)

    def test_rationale_has_at_most_800_words(self):
        self.assertLessEqual(count_words("Documentation/dev/rationale.rst"), 800)

    def test_readme_has_at_most_120_lines(self):
        self.assertLessEqual(len(read_text("README.md").splitlines()), 120)

    def test_glossary_has_at_most_60_terms(self):
        terms = re.findall(r"^\S.*\n\t", read_text("Documentation/guide/glossary.rst"), re.M)
        self.assertLessEqual(len(terms), 60)


class Figures(unittest.TestCase):
    def test_tables_of_figures_name_their_scripts(self):
        text = read_text("Documentation/dev/measurements.rst")
        sections = re.split(r"^(\S.*)\n=+$", text, flags=re.M)
        tables = {title: body for title, body in zip(sections[1::2], sections[2::2])
                  if re.search(r"^=+ +=+", body, re.M)}
        self.assertGreater(len(tables), 3)
        for title, body in tables.items():
            with self.subTest(title):
                programs = re.findall(r"``(bench/\w+\.(?:sh|py)|readelf)\b", body)
                self.assertTrue(programs)
                for program in programs:
                    self.assertTrue(program == "readelf" or
                                    os.path.exists(os.path.join(TOP, program)), program)

    def test_pages_with_cycles_of_a_processor_name_the_script_or_the_table(self):
        for path in list_pages():
            text = read_text(path)
            if re.search(r"\b(?:EPYC|Xeon)\b", text):
                with self.subTest(path):
                    self.assertRegex(text, r"bench/native\.sh|measurements\.rst#on-real-processors")

    def test_numbers_of_functions_are_those_of_other_tests(self):
        page = read_text("Documentation/guide/coverage.rst")
        sleeping, = re.findall(r"^SLEEPING_FUNCTIONS=(\d+)",
                               read_text("tests/guest/sleeping_lib.sh"), re.M)
        spinning = max(re.findall(r'"full": (\d+)', read_text("tests/check/check_modes.py")),
                       key=int)
        self.assertIn("hooked, or none: %s on Debian's kernels" % sleeping, page)
        self.assertIn("(%s of them," % spinning, page)


class Warnings(unittest.TestCase):
    """nt/porting.rst has each warning about misuse of a lock, with the words of the kernel log."""

    def test_warnings_are_in_the_guide(self):
        guide = read_text("Documentation/nt/porting.rst")
        documented = set(re.findall(r"^``(.+?)`` +(?:once|each|limited)", guide, re.M))
        sources = [os.path.join(path, name) for top in ("module/ex", "module/ke", "module/ground")
                   for path, _, names in os.walk(os.path.join(TOP, top)) for name in names
                   if name.endswith(".c")] + ["include/ntklog/irql.h", "include/ntklog/nt_types.h"]
        texts = set()
        for source in sources:
            for text in re.findall(r'\b(?:WARN|WARN_ONCE|pr_warn_ratelimited)\([^;"]*"([^"]*)\\n"',
                                   read_text(source)):
                texts.add(text)
        # "%s" is the warning of ASSERTMSG(), whose text is the driver's.
        self.assertEqual(documented, texts - {"%s"})


if __name__ == "__main__":
    tap.main()
