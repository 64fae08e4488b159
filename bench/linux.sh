#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linux.sh: measure the overhead of ntklog's hooks of Linux' own locks on Debian's stock kernel. Modes
# waits and holders are also measured on the newest kernel, because mode holders needs its tracepoint
# contended_release. Leaves out/bench/linux.json and out/bench/linux-newest.json.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench

# measure_in_guest NAME BUILT STATE...: measure these states with the modules in BUILT, on the
# kernel of debian-kernel.sh whose paths are set, and leave out/bench/NAME.json.
measure_in_guest()
{
	local name=$1 built=$2
	local share=$BENCH/$name
	shift 2
	rm -rf "$share"
	mkdir -p "$share"
	cp "$built"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$share/"
	{ echo "set -- $*"; cat "$TOP/bench/linux-guest.sh"; } >"$share/guest.sh"
	cp "$TOP/bench/linux-workload.sh" "$share/workload.sh"
	say "counting instructions of Linux' own locks, on $ABI"
	"$TOP/scripts/vm/vm.sh" -i -c 1 -t 900 -k "$IMAGE" -M "$MODULES" "$share"
	python3 "$TOP/bench/linux.py" "$BENCH/$name.json" "$share/guest.log"
}

install_groups bench
eval "$("$TOP/scripts/kernels/debian-kernel.sh" "$KERNEL_SERIES")"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
measure_in_guest linux "$OUT/build/$ABI" full sampled waits sleeping
eval "$("$TOP/scripts/kernels/debian-kernel.sh" newest)"
"$TOP/scripts/build/suite-root.sh" "$SUITE" "$KDIR" "$BENCH/root"
"$TOP/scripts/build/build-in-suite.sh" "$BENCH/root" "$KDIR" "$OUT/build/bench-newest"
run_as_root rm -rf "$BENCH/root"
measure_in_guest linux-newest "$OUT/build/bench-newest" waits holders
