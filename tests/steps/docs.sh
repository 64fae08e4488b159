#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the documentation builds as HTML, and its links, commands and options.

. "$(dirname "$0")/../lib.sh"

install_groups docs
build_tool
run_test "docs: make docs has no warning" make -s -C "$TOP" docs
run_test_program python3 "$TESTS/check/check_docs.py" "$NTKLOG" "$TOP"
