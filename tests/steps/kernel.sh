#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel.sh FLAVOUR: build the test kernel of scripts/kernels/FLAVOUR.config, unless the cache has
# it.

. "$(dirname "$0")/../lib.sh"

# run_test would keep the messages from the step's log, whose last line run.sh shows as progress.
if output_of test-kernel "$1" >/dev/null; then
	echo "ok - $1: the test kernel is built"
else
	echo "not ok - $1: the test kernel is built"
	# Without SAY_FD the messages are on the terminal, and the log is of another run.
	[ -z "${SAY_FD:-}" ] || sed '/ of about [0-9]* files$/d' "$TEST/$STEP.log" | tail -n 40 |
		awk '{ line[NR] = "# " $0 }
			/error|No space/ && !/^make/ { print line[NR] }
			END { for (i = 1; i <= NR; i++) print line[i] }'
fi
