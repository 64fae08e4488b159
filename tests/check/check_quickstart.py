#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that the commands of the quickstart print what the page shows.

The commands come from the page itself: each line of a literal block that begins with "# ", with
the output below it. A file that the page shows by "cat FILE" is written before, so that commands
can use it. Only the form of a line is compared. "..." on the page stands for any lines, or for
any fields within a line.

Usage: check_quickstart.py --script            the guest's commands, for tests/guest/quickstart.sh
       check_quickstart.py NTKLOG DIRECTORY    compare the page with DIRECTORY/quickstart.out (TAP)
       check_quickstart.py --update DIRECTORY  put that run's output into the page
"""

import os
import re
import shlex
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(TOP, "Documentation/guide/quickstart.rst")
COMMAND_PREFIX = "# "
LEFT_OUT = "..."

NUMBER_PATTERN = r"~?\d[\d.,]*(?:ns|us|ms|s|%)?(?:\+-(?:\d+%|\?))?"
# Lines that differ between runs are not compared.
IGNORED_LINE = re.compile(r"LOST: |ntklog: (?:\d+ |to lose |\S+: \d+ events and )|"
                          r"\d+ (?:events have no stack|stacks belong)|\">\": the hold|"
                          r" {1,4}\d+%  |=> |Held at the end|[2-9]\. |"
                          r" {3}(?:Longest|Held|Holders) |Not recorded: ")
TABLE_TITLE = re.compile(r"^\S.*, by \w+(?: \(\d+ of \d+\))?$")


def read_lines(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()


class Command:
    """@output_start: index of the first line of the output"""

    def __init__(self, text, output_start):
        self.text, self.output, self.output_start = text, [], output_start


def commands_of_page(lines):
    commands, depth, current = [], None, None
    for number, line in enumerate(lines):
        text = line.expandtabs()
        indent = len(text) - len(text.lstrip())
        if not text.strip():
            continue
        if depth is not None and indent < depth:
            depth = current = None
        if depth is None and indent and text.lstrip().startswith(COMMAND_PREFIX) and \
                lines[number - 1].strip() == "":
            depth = indent
        if depth is None:
            continue
        if text[depth:].startswith(COMMAND_PREFIX):
            current = Command(text[depth + len(COMMAND_PREFIX):], number + 1)
            commands.append(current)
        else:
            # Empty lines above belong to the output if this line is of the same block.
            missing = number - current.output_start - len(current.output)
            current.output += [""] * missing + [line[1:] if line[0] == "\t" else line[depth:]]
    return commands


def commands_of_run(lines, commands):
    """The outputs of one run of the commands, in the order of the commands."""
    outputs, wanted = [], iter(commands)
    following = next(wanted, None)
    for line in lines:
        if following is not None and line == COMMAND_PREFIX + following.text:
            outputs.append([])
            following = next(wanted, None)
        elif outputs:
            outputs[-1].append(line)
    return outputs


def form_of_row(line):
    return "  ".join("N" if re.fullmatch(NUMBER_PATTERN + "|-", cell) else "NAME"
                     for cell in re.split(r" {2,}", line.strip()))


def form_of_line(line):
    # The names of an event's fields must be equal, but not the values.
    line = re.sub(r"(?<!\S)([A-Z]\w+)=\S+", r"\1=V", line)
    # A function in a stack, which has a line of its own.
    line = re.sub(r"^ {6}\S+(?: \[\w+\])?$", "      NAME", line)
    line = re.sub(r"0x[0-9a-f]+", "N", line)
    line = re.sub(r"(?<![\w])" + NUMBER_PATTERN + r"(?!\w)", "N", line)
    line = re.sub(r"\bcpu\d+\b", "cpuN", line)
    line = re.sub(r"N (?:KB|MB|GB)\b", "N MB", line)
    return re.sub(r"\s+", " ", line)


def forms_of_output(output):
    result, in_table = [], 0
    for number, line in enumerate(output):
        if IGNORED_LINE.match(line):
            continue
        if TABLE_TITLE.match(line):
            in_table = 1
            form = form_of_line(re.sub(r" \(\d+ of \d+\)$", "", line))
        elif line == LEFT_OUT or not line.strip():
            form, in_table = line.strip(), 0
        elif in_table == 1 and not line.startswith(" "):
            form, in_table = re.sub(r" {2,}", "  ", line), 2
        elif in_table == 2:
            form = form_of_row(line)
        else:
            form = form_of_line(line)
        # Successive lines of one form count once, because their number differs between runs.
        if not result or result[-1][0] != form or form == LEFT_OUT:
            result.append((form, number))
    return result


def line_fits(wanted, form):
    if wanted == form:
        return True
    if " ... " not in wanted:
        return False
    parts = [re.escape(part) for part in wanted.split(" ... ")]
    return re.fullmatch("(?: .*)? ".join(parts), form) is not None


def match_lines(wanted, got):
    """Return [(index of a page's line, index of a run's line)] with equal forms; None: the outputs
    differ.
    """
    if not wanted:
        return [] if not got else None
    form, number = wanted[0]
    if form == LEFT_OUT:
        for skipped in range(len(got) + 1):
            rest = match_lines(wanted[1:], got[skipped:])
            if rest is not None:
                return rest
        return None
    if not got or not line_fits(form, got[0][0]):
        return None
    rest = match_lines(wanted[1:], got[1:])
    return None if rest is None else [(number, got[0][1])] + rest


class Quickstart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands_of_page(read_lines(PAGE))
        cls.outputs = commands_of_run(read_lines(os.path.join(DIRECTORY, "quickstart.out")),
                                      cls.commands)

    def test_run_has_all_commands_of_the_page(self):
        self.assertGreater(len(self.commands), 10)
        self.assertEqual(len(self.outputs), len(self.commands))

    def test_commands_print_what_the_page_shows(self):
        for command, output in zip(self.commands, self.outputs):
            with self.subTest(command.text):
                wanted, got = forms_of_output(command.output), forms_of_output(output)
                self.assertIsNotNone(match_lines(wanted, got),
                                     "the page has\n%s\nthe run printed\n%s" % (
                    "\n".join(form for form, _ in wanted), "\n".join(output)))

    def test_output_of_another_form_does_not_fit(self):
        """Test the comparison."""
        for command, output in zip(self.commands, self.outputs):
            wanted = forms_of_output(command.output)
            if not output or any(form == LEFT_OUT for form, _ in wanted):
                continue
            with self.subTest(command.text):
                self.assertIsNone(match_lines(wanted, forms_of_output(["another line", *output])))
                self.assertIsNone(match_lines(wanted, forms_of_output(output)[1:]))


def script_lines(commands):
    for command in commands:
        words = shlex.split(command.text, posix=True)
        if words[0] == "cat":
            yield "cat >%s <<'END'" % shlex.quote(words[1])
            yield from command.output
            yield "END"
        yield "print_and_run %s" % shlex.quote(command.text)


def shorten_line(wanted, line):
    """A line of the run, reduced to the fields that the page's line has."""
    if " ... " not in wanted:
        return line
    head, *tails = wanted.split(" ... ")
    count, words = len(head.split()), line.split()
    result = [line[:len(line) - len(line.lstrip())] + " ".join(words[:count])]
    for tail in tails:
        names = [word.split("=")[0] for word in tail.split()]
        result.append(" ".join(word for word in words[count:] if word.split("=")[0] in names))
    return " ... ".join(result)


def update_output(command, output):
    """Update the page's output of a command: whole, or only the lines that the page shows."""
    wanted, got = forms_of_output(command.output), forms_of_output(output)
    places = match_lines(wanted, got)
    if places is None:
        print("another form: %s" % command.text, file=sys.stderr)
    if places is None or not any(line == LEFT_OUT or " ... " in line for line in command.output):
        return output
    places, result, at, end = dict(places), [], 0, 0
    for number, line in enumerate(command.output):
        if line == LEFT_OUT:
            result.append(line)
            at = end = 0
            continue
        if number in places:
            at = places[number]
            end = next((first for _, first in got if first > at), len(output))
        if at < end:
            result.append(shorten_line(line, output[at]))
            at += 1
    return result


def update_page():
    lines = read_lines(PAGE)
    commands = commands_of_page(lines)
    outputs = commands_of_run(read_lines(os.path.join(DIRECTORY, "quickstart.out")), commands)
    if len(outputs) != len(commands):
        sys.exit("the run is of other commands than the page's")
    for command, output in reversed(list(zip(commands, outputs))):
        if command.text.startswith("cat "):
            continue
        lines[command.output_start:command.output_start + len(command.output)] = [
            "\t" + line if line else "" for line in update_output(command, output)]
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--script":
        print("\n".join(script_lines(commands_of_page(read_lines(PAGE)))))
    elif sys.argv[1] == "--update":
        DIRECTORY = sys.argv[2]
        update_page()
    else:
        import tap
        DIRECTORY = sys.argv[2]
        tap.main()
