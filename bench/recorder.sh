#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# recorder.sh: measure the CPU time of ntklog record on Debian's stock kernel, in instructions.
# Leaves out/bench/recorder.json.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench

install_groups bench tool
eval "$("$TOP/scripts/kernels/debian-kernel.sh" "$KERNEL_SERIES")"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
run_quietly bench-tool make -C "$TOP/tools/ntklog" O="$BENCH/tool" "$BENCH/tool/ntklog"
# measure_in_guest NAME CPUS WORD...: run recorder-guest.sh WORD...
measure_in_guest()
{
	local share=$BENCH/recorder-$1 cpus=$2
	shift 2
	rm -rf "$share"
	mkdir -p "$share"
	cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_torture,tests/modules/stale_code}.ko "$share/"
	cp "$TOP/bench/linux-workload.sh" "$share/workload.sh"
	{ echo "set -- $*"; cat "$TOP/bench/recorder-guest.sh"; } >"$share/guest.sh"
	"$TOP/scripts/vm/vm.sh" -i -c "$cpus" -t 1200 -k "$IMAGE" -M "$MODULES" \
		-P "$BENCH/tool/ntklog" "$share"
}

say "counting instructions of ntklog record, on $ABI"
measure_in_guest rate 2 rate 10
measure_in_guest workload 1 workload
python3 "$TOP/bench/recorder.py" "$BENCH/recorder.json" "$BENCH"/recorder-{rate,workload}/guest.log
