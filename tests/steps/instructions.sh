#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Count the instructions of an acquisition and release of a free lock with tracing off, in the code
# of ntklog_bench.ko; check how much memory the modules need. Then build the native benchmark, and
# run it: with several threads it tests mutual exclusion.

. "$(dirname "$0")/../lib.sh"

install_groups unpack modules native
set_debian_kernel "$KERNEL_SERIES"
built=$OUT/build/$ABI
run_test "instructions: the modules build" build_modules_silently "$KDIR" "$built"
# The kernel reserves 8 KiB of static per-CPU memory for all modules together.
run_test "instructions: ntklog.ko has at most 1024 bytes of static per-CPU memory" sh -c \
	"[ \$(size -A $built/ntklog.ko | awk '\$1 == \".data..percpu\" { print \$2 }') -le 1024 ]"
run_test_program python3 "$TESTS/check/check_instructions.py" "$built/workload/ntklog_bench.ko" |
	sed "s/ok - /ok - instructions: /"
run_test_program python3 "$TESTS/check/check_memory.py" "$built/ntklog.ko" "$TOP"

native_bench_builds()
{
	local said
	said=$(make -s --no-print-directory -C "$TOP/workload/native" O="$1" 2>&1)
	[ -z "$said" ] || { echo "$said"; return 1; }
}
run_test "instructions: the native benchmark builds without a warning" \
	native_bench_builds "$OUT/build/native"

native_locks_exclude()
{
	"$1/native" 2 100 >"$1/native.log" &&
		python3 "$TOP/bench/native.py" "$1/native.json" <"$1/native.log" >"$1/native.txt"
}
run_test "instructions: the locks of the native benchmark exclude" \
	native_locks_exclude "$OUT/build/native"
