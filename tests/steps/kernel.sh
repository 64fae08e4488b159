#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel.sh FLAVOUR: build the test kernel of scripts/kernels/FLAVOUR.config, unless the cache has
# it.

. "$(dirname "$0")/../lib.sh"

# Not by run_test: run.sh shows the last line of the step's log as progress.
if output_of test-kernel "$1" >/dev/null; then
	echo "ok - $1: the test kernel is built"
else
	echo "not ok - $1: the test kernel is built"
	[ ! -e "$TEST/$STEP.log" ] || sed 's/^/# /' "$TEST/$STEP.log"
fi
