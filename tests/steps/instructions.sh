#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an uncontended pair takes with tracing off, by the code that the compiler has made; and that
# the program which measures the same sources on this machine's own processors can still be built.

. "$(dirname "$0")/../lib.sh"

need unpack modules native
debian_kernel "$KERNEL_SERIES"
built=$OUT/build/$ABI
result "instructions: the modules build" builds_silently "$KDIR" "$built"
results python3 "$TESTS/check/check_instructions.py" "$built/workload/ntklog_bench.ko" |
	sed "s/ok - /ok - instructions: /"

# builds_native DIRECTORY: and says nothing.
builds_native()
{
	local said
	said=$(make -s --no-print-directory -C "$TOP/workload/native" O="$1" 2>&1)
	[ -z "$said" ] || { echo "$said"; return 1; }
}
result "instructions: the native benchmark builds without a warning" \
	builds_native "$OUT/build/native"
