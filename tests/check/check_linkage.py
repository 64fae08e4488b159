#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that the module ntklog_linkage uses all that the headers in include/ntklog declare and that
ntklog.ko exports.

Usage: check_linkage.py AUX-INFO SYMVERS MODULE SOURCES

AUX-INFO is the output of gcc -aux-info for a file that includes all headers, SYMVERS ntklog's
Module.symvers, MODULE the linked module, SOURCES the directory with its sources.
"""

import os
import re
import subprocess
import sys
import unittest

import tap

AUX_INFO, SYMVERS, MODULE, SOURCES = sys.argv[1:5]
# With CONFIG_MODVERSIONS a symbol's name must fit into the table of versions of a module: that has
# MODULE_NAME_LEN characters in a 64-bit kernel, with the 0 at the end.
SYMBOL_LENGTH_MAX = 64 - 8 - 1


def read_text(path):
    with open(path) as stream:
        return stream.read()


def strip_comments(source):
    source = re.sub(r"/\*.*?\*/|//[^\n]*", " ", source, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', source)


def read_declared_functions():
    for line in read_text(AUX_INFO).splitlines():
        match = re.match(r"/\* (.*/include/ntklog/\w+\.h):\d+:\w(\w) \*/ (.*)", line)
        name = match and re.search(r"(\w+) \(", match[3])[1]
        # Leave out functions that the kernel's macros declare.
        if match and not name.startswith("__compiletime_assert_"):
            yield name, match[1], match[2] == "F"


FUNCTIONS = sorted(set(read_declared_functions()))
HEADERS = sorted({header for _, header, _ in FUNCTIONS} |
                 {os.path.join(os.path.dirname(header), name)
                  for _, header, _ in FUNCTIONS
                  for name in os.listdir(os.path.dirname(header))})
EXPORTED = [line.split("\t")[1] for line in read_text(SYMVERS).splitlines()
            if line.split("\t")[2].endswith("/ntklog")]
UNDEFINED_SYMBOLS = subprocess.run(["nm", "-u", "--format=posix", MODULE], check=True,
                                   capture_output=True, text=True).stdout
UNDEFINED_SYMBOLS = {line.split()[0] for line in UNDEFINED_SYMBOLS.splitlines()}
MODULE_SOURCE = "\n".join(strip_comments(read_text(os.path.join(SOURCES, name)))
                          for name in sorted(os.listdir(SOURCES)) if name.endswith((".c", ".h"))
                          and not name.endswith(".mod.c"))
WORDS_OF_SOURCE = set(re.findall(r"\w+", MODULE_SOURCE))


def name_is_private(name):
    return name.startswith("__") and not re.match(r"__drv_|__analysis_", name)


def macros_of(source):
    for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", source, flags=re.M):
        if not name.startswith("_NTKLOG_"):
            yield name


def types_of(source):
    source = re.sub(r"^[ \t]*#(.*\\\n)*.*$", "", source, flags=re.M)
    for keyword, tag, body in re.findall(r"\b(struct|enum) (\w+) (\{[^}]*\})", source):
        if not tag.startswith("_"):
            yield tag
        if keyword == "enum":
            yield from re.findall(r"(\w+)(?:\s*=[^,}]*)?\s*[,}]", body)
    for declaration in re.findall(r"\btypedef\b((?:[^;{]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*);",
                                  source):
        while "{" in declaration:
            declaration = re.sub(r"\{[^{}]*\}", " ", declaration)
        yield from re.findall(r"(\w+)\s*(?:,|$)", declaration)


class Linkage(unittest.TestCase):
    def test_inputs_of_the_check_have_known_names(self):
        names = {name for name, _, _ in FUNCTIONS}
        self.assertGreater(len(names), 150)
        self.assertGreater(len(EXPORTED), 40)
        self.assertTrue({"eresource.h", "ex_spin_lock.h", "irql.h", "nt.h", "nt_sal.h",
                         "nt_types.h", "queued_spin_lock.h", "spin_lock.h"} <=
                        {os.path.basename(header) for header in HEADERS})
        found = {name for header in HEADERS
                 for name in types_of(strip_comments(read_text(header)))}
        self.assertTrue({"eresource", "LockQueuePfnLock", "PERESOURCE", "KSPIN_LOCK", "PPVOID",
                         "LOCK_QUEUE_BCB_LOCK", "LARGE_INTEGER"} <= found)

    def test_all_headers_are_included(self):
        headers = {os.path.basename(header) for header in HEADERS}
        included = set(re.findall(r"#include <ntklog/([\w.]+)>", "".join(
            read_text(os.path.join(SOURCES, name)) for name in os.listdir(SOURCES)
            if name.endswith(".c")) + "".join(map(read_text, HEADERS))))
        self.assertEqual(headers - included, set())

    def test_no_symbol_is_too_long(self):
        self.assertEqual([name for name in EXPORTED if len(name) > SYMBOL_LENGTH_MAX], [])

    def test_declared_functions_are_exported(self):
        self.assertEqual([name for name, _, defined in FUNCTIONS
                          if not defined and name not in EXPORTED], [])

    def test_exported_symbols_are_linked(self):
        # Tracepoints need no test: modules cannot use them without ntklog's sources.
        tracepoint = re.compile("__(tracepoint|traceiter|SCK__tp_func|SCT__tp_func)_")
        self.assertEqual([name for name in EXPORTED
                          if not tracepoint.match(name) and name not in UNDEFINED_SYMBOLS], [])

    def test_every_function_in_a_header_is_called(self):
        self.assertEqual([name for name, _, defined in FUNCTIONS
                          if defined and not name_is_private(name) and
                          not re.search(r"\b%s\(" % name, MODULE_SOURCE)], [])

    def test_every_macro_is_used(self):
        self.assertEqual([name for header in HEADERS
                          for name in macros_of(strip_comments(read_text(header)))
                          if not name_is_private(name) and name not in WORDS_OF_SOURCE], [])

    def test_every_type_and_enumerator_is_used(self):
        self.assertEqual([name for header in HEADERS
                          for name in types_of(strip_comments(read_text(header)))
                          if name not in WORDS_OF_SOURCE], [])


tap.main()
