#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The documentation: HTML of it, its links, and the commands that it shows.

. "$(dirname "$0")/../lib.sh"

need docs
tool
result "docs: make docs has no warning" make -s -C "$TOP" docs
results python3 "$TESTS/check/check_docs.py" "$NTKLOG" "$TOP"
