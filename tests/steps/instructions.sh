#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an uncontended pair takes with tracing off, by the code that the compiler has made.

. "$(dirname "$0")/../lib.sh"

need unpack modules
debian_kernel "$KERNEL_SERIES"
built=$OUT/build/$ABI
result "instructions: the modules build" builds_silently "$KDIR" "$built"
results python3 "$TESTS/check/check_instructions.py" "$built/workload/ntklog_bench.ko" |
	sed "s/ok - /ok - instructions: /"
