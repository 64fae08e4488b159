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
rm -rf "$BENCH/recorder"
mkdir -p "$BENCH/recorder"
cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_torture,tests/modules/stale_code}.ko "$BENCH/recorder/"
{ echo "set -- 10"; cat "$TOP/bench/recorder-guest.sh"; } >"$BENCH/recorder/guest.sh"
say "counting instructions of ntklog record, on $ABI"
"$TOP/scripts/vm/vm.sh" -i -c 2 -t 900 -k "$IMAGE" -M "$MODULES" -P "$BENCH/tool/ntklog" "$BENCH/recorder"
python3 "$TOP/bench/recorder.py" "$BENCH/recorder.json" "$BENCH/recorder/guest.log"
