#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Count habits that make comments and pages hard to read, by folder, against prose_bounds.

Usage: check_prose.py [--list] [FOLDER...]     (in the project's root)

A habit is a clause whose subject is "who" or "what", "by whom" without a noun, "nobody" and its kin
(code has callers, CPUs and tasks), and a Return line without a noun. A folder may have as many as
prose_bounds says. Lower its bound when you have cleaned a folder; a rise is an error. --list prints
each place, of the named folders or of all. A count of 0 does not prove that a text is good.
"""

import collections
import os
import re
import subprocess
import sys

BOUNDS_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prose_bounds")
EMPTY_RETURN = re.compile(r"(so (many|much|long)|whether( or not)?( it (is|was|does|did|has|can))?"
                          r"|likewise|which|it|that|how (many|much|long))\.?$", re.I)
PRONOUN_AS_SUBJECT = re.compile(r"(who|what|whom|whoever|whose)\b", re.I)
PRONOUN_AS_OBJECT = re.compile(r"\b(?:by|for|of|to|from|on|in|with|than|and|or|is|are|as|until) "
                               r"(?:who|what|whom|whoever)\b")
PRONOUN_OF_PERSON = re.compile(r"\b(?:nobody|somebody|anybody|everybody|no one|someone|whoever)\b",
                               re.I)


def count_habits(text):
    returns = re.match(r"\s*Returns?:\s*(.*)", text, re.S)
    body = returns.group(1) if returns else re.sub(r"^\s*(@[\w.]+|Context|Note):\s*", "", text)
    body = re.sub(r"\s+", " ", body).strip()
    count = 1 if returns and EMPTY_RETURN.match(body) else 0
    for sentence in re.split(r"(?<=[.;:?!])\s+", body):
        if PRONOUN_AS_SUBJECT.match(sentence) and not sentence.endswith("?"):
            count += 1
        count += len(PRONOUN_AS_OBJECT.findall(sentence)) + len(PRONOUN_OF_PERSON.findall(sentence))
    return count


def split_paragraphs(lines):
    """Yield (number, text): a line whose text is empty or None ends a paragraph."""
    start, block = 0, []
    for number, text in lines:
        if block and (not text or re.match(r"(@[\w.]+:|Returns?:|Context:|Note:)", text)):
            yield start, " ".join(block)
            block = []
        if text:
            start = start if block else number
            block.append(text)
    if block:
        yield start, " ".join(block)


def comments_of_c(text):
    for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
        first = text.count("\n", 0, comment.start()) + 1
        yield from split_paragraphs(
            (first + i, re.sub(r"^\s*(/\*+|\*/|\*|//)\s?|\s*\*/\s*$", "", line).strip())
            for i, line in enumerate(comment.group(0).split("\n")))


def comments_of_shell(text):
    yield from split_paragraphs((number, re.sub(r"^\s*#\s?", "", line).strip()
                                 if re.match(r"\s*#(?!!)", line) else None)
                                for number, line in enumerate(text.split("\n"), 1))


def paragraphs_of_page(text):
    """Paragraphs of a page with their lines, except directives, tables and indented blocks."""
    number = 1
    for part in re.split(r"\n\s*\n", text):
        if not re.match(r"\s*(\.\. |[=\-+|*~^]{4,}|\t|    )", part):
            yield number, " ".join(re.sub(r"[`*]", "", part).split())
        number += part.count("\n") + 2


def texts_of(path):
    if os.path.islink(path) or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    if path.endswith((".c", ".h", ".pml", ".litmus")):
        return comments_of_c(text)
    if path.endswith((".sh", ".py", ".config")) or os.path.basename(path) in ("Makefile", "Kbuild"):
        return comments_of_shell(text)
    if path.endswith((".rst", ".md")):
        return paragraphs_of_page(text)
    if re.search(r"\.[1-8]$", path):
        return paragraphs_of_page(re.sub(r"(?m)^\.\w+ ?", "", text))
    return []


def folder_of(path):
    parts = path.split("/")
    if parts[0] == "module" and len(parts) > 2:
        return "/".join(parts[:2])
    if path.startswith("tools/ntklog/") and len(parts) > 3:
        return "/".join(parts[:3])
    return parts[0] if len(parts) > 1 else "."


def main():
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    found, places = collections.Counter(), []
    for path in subprocess.run(["git", "ls-files"], capture_output=True, text=True,
                               check=True).stdout.split():
        folder = folder_of(path)
        found[folder] += 0
        for line, text in texts_of(path):
            count = 0 if "SPDX" in text else count_habits(text)
            found[folder] += count
            if count and (not wanted or folder in wanted):
                places.append("%s:%d: %s" % (path, line, text[:120]))
    if "--list" in sys.argv:
        print("\n".join(places))
    with open(BOUNDS_PATH, encoding="utf-8") as stream:
        bounds = {words[0]: int(words[1]) for words in map(str.split, stream)
                  if words and words[0][0] != "#"}
    failed = False
    for folder in sorted(set(bounds) | set(found)):
        bound = bounds.get(folder, 0)
        if found[folder] > bound:
            failed = True
            print("%s: %d habits, of which prose_bounds allows %d: see check_prose.py --list %s"
                  % (folder, found[folder], bound, folder))
        elif found[folder] < bound:
            print("%s: %d habits: its bound in prose_bounds, %d, can be lowered"
                  % (folder, found[folder], bound))
    sys.exit(failed)


main()
