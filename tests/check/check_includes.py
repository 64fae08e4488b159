#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Find circles between the project's files by their includes.

Usage: check_includes.py     (in the project's root)

A file and its header count as one: a.c and a.h are "a". A circle is a set of files that include
each other, directly or through others.
"""

import collections
import os
import re
import subprocess
import sys

# The folders in which an #include "..." is looked for after the file's own folder.
PATHS = ("include", "include/uapi", "tools/ntklog", "tools/ntklog/include", "tests/linkage")


def read_includes(files):
    """A dictionary: a file's path without its ending: the set of the files that it includes."""
    graph = collections.defaultdict(set)
    for path in files:
        with open(path, encoding="utf-8") as stream:
            names = re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', stream.read(), re.M)
        for name in names:
            for folder in (os.path.dirname(path), *PATHS):
                target = os.path.normpath(os.path.join(folder, name))
                if target in files:
                    if os.path.splitext(target)[0] != os.path.splitext(path)[0]:
                        graph[os.path.splitext(path)[0]].add(os.path.splitext(target)[0])
                    break
    return graph


def reachable_from(graph, start):
    seen, queue = set(), [start]
    while queue:
        for target in graph.get(queue.pop(), ()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def find_circles(graph):
    reach = {file: reachable_from(graph, file) for file in graph}
    return {frozenset(other for other in reach[file] if file in reach.get(other, ()))
            for file in graph if file in reach[file]}


def main():
    files = set(subprocess.run(["git", "ls-files", "*.c", "*.h"], capture_output=True, text=True,
                               check=True).stdout.split())
    found = find_circles(read_includes({path for path in files if os.path.exists(path)}))
    for circle in sorted(found, key=sorted):
        print("a circle of includes: " + " ".join(sorted(circle)))
    sys.exit(bool(found))


main()
