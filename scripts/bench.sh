#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench.sh: what the locks cost, side by side in one run, twice: counting
# instructions, which repeats, and with parallel processors, for ratios; and how fast
# the tool reads a file of 128 MiB. Prints tables and leaves them as JSON in out/bench/.

. "$(dirname "$0")/lib.sh"

BENCH=$OUT/bench

need bench
kernel=$("$TOP/scripts/test-kernel.sh" base)
"$TOP/scripts/build-modules.sh" "$kernel" "$OUT/build/base"
rm -rf "$BENCH"
for run in icount parallel; do
	mkdir -p "$BENCH/$run"
	cp "$OUT/build/base"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko \
		"$BENCH/$run/"
	# Milliseconds of a contended run; virtual ones, of one host thread, take longer.
	[ $run = icount ] && contended=100 || contended=1000
	{ echo "set -- $contended"; cat "$TOP/scripts/bench-guest.sh"; } >"$BENCH/$run/guest.sh"
done
image=$kernel/arch/x86/boot/bzImage
say "counting instructions"
"$TOP/scripts/vm.sh" -i -c 4 -k "$image" "$BENCH/icount"
say "on parallel processors"
"$TOP/scripts/vm.sh" -c 4 -k "$image" "$BENCH/parallel"
python3 "$TOP/scripts/bench.py" "$BENCH/bench.json" \
	icount="$BENCH/icount/guest.log" parallel="$BENCH/parallel/guest.log"
"$TOP/scripts/bench-linux.sh"
say "the tool, reading 128 MiB (on this machine, not in a virtual one)"
need tool
quietly bench-tool make -C "$TOP/tools/ntklog" O="$BENCH/tool" "$BENCH/tool/ntklog" \
	"$BENCH/tool/generate"
"$BENCH/tool/generate" 128 >"$BENCH/large.etl"
python3 "$TOP/scripts/bench_tool.py" "$BENCH/tool/ntklog" "$BENCH/large.etl" \
	"$BENCH/bench-tool.json"
rm -f "$BENCH/large.etl"
say "the same as JSON is in $BENCH/bench.json and bench-tool.json"
