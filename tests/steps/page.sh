#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the pages that "ntklog report --html" and "ntklog diff --html" write in a browser. Pictures
# are left in out/test/page.

. "$(dirname "$0")/../lib.sh"

install_groups page
build_tool
run_test_program python3 "$TESTS/check/check_page.py" "$NTKLOG" "$DIR"
