#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench.sh: measure the overheads in one run. Prints tables and leaves them as JSON in out/bench/.

. "$(dirname "$0")/../scripts/lib.sh"
. "$TOP/scripts/progress.sh"

BENCH=$OUT/bench

begin_stages 3000
install_groups bench
# measure_in_guest RUN BUILT MILLISECONDS [OPTION]...: MILLISECONDS is the duration of a measurement
# of contended locks. It is shorter when QEMU counts instructions, because one host thread executes
# all virtual CPUs then.
measure_in_guest()
{
	local run=$1 built=$2 contended=$3
	shift 3
	mkdir -p "$BENCH/$run"
	cp "$built"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$BENCH/$run/"
	{ echo "set -- $contended"; cat "$TOP/bench/guest.sh"; } >"$BENCH/$run/guest.sh"
	"$TOP/scripts/vm/vm.sh" -c 4 -t 900 "$@" "$BENCH/$run"
	size -A "$built/ntklog.ko" | awk '$1 == ".data..percpu" {
		print "ntklog_bench: memory processor", $2 }' >>"$BENCH/$run/guest.log"
}

kernel=$("$TOP/scripts/kernels/test-kernel.sh" base)
eval "$("$TOP/scripts/kernels/debian-kernel.sh" 6.12)"
"$TOP/scripts/build/build-modules.sh" "$kernel" "$OUT/build/base"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
rm -rf "$BENCH"
image=$kernel/arch/x86/boot/bzImage
say "counting instructions"
measure_in_guest icount "$OUT/build/base" 100 -i -k "$image"
say "counting instructions in $ABI"
measure_in_guest stock "$OUT/build/$ABI" 100 -i -k "$IMAGE" -M "$MODULES"
say "on parallel processors"
measure_in_guest parallel "$OUT/build/base" 1000 -k "$image"
python3 "$TOP/bench/bench.py" "$BENCH/bench.json" \
	icount="$BENCH/icount/guest.log" stock="$BENCH/stock/guest.log" \
	parallel="$BENCH/parallel/guest.log"
"$TOP/bench/linux.sh"
"$TOP/bench/peers.sh"
"$TOP/bench/recorder.sh"
say "the locks as a program, on this machine's own processors"
"$TOP/bench/native.sh"
say "the tool, reading 128 MiB (on this machine, not in a virtual one)"
install_groups tool
run_quietly bench-tool make -C "$TOP/tools/ntklog" O="$BENCH/tool" "$BENCH/tool/ntklog" \
	"$BENCH/tool/generate"
"$BENCH/tool/generate" 128 >"$BENCH/large.etl"
"$BENCH/tool/generate" names >"$BENCH/large.etl.names"
python3 "$TOP/bench/tool.py" "$BENCH/tool/ntklog" "$BENCH/large.etl" \
	"$BENCH/bench-tool.json"
install_groups python
run_quietly bench-python make -C "$TOP/tools/ntklog" O="$BENCH/tool" all python
python3 "$TOP/bench/python.py" "$BENCH/tool" "$BENCH/large.etl" "$BENCH/bench-python.json"
rm -f "$BENCH/large.etl" "$BENCH/large.etl.names"
"$TOP/bench/growth.sh"
say "the same as JSON is in $BENCH/*.json"
