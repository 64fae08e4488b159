#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linux.sh: measure the overhead of ntklog's hooks of Linux' own locks on Debian's stock kernel.
# Leaves out/bench/linux.json.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench

need bench
eval "$("$TOP/scripts/kernels/debian-kernel.sh" "$KERNEL_SERIES")"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
rm -rf "$BENCH/linux"
mkdir -p "$BENCH/linux"
cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$BENCH/linux/"
cp "$TOP/bench/linux-guest.sh" "$BENCH/linux/guest.sh"
cp "$TOP/bench/linux-workload.sh" "$BENCH/linux/workload.sh"
say "counting instructions of Linux' own locks, on $ABI"
"$TOP/scripts/vm/vm.sh" -i -c 1 -t 900 -k "$IMAGE" -M "$MODULES" "$BENCH/linux"
python3 "$TOP/bench/linux.py" "$BENCH/linux.json" "$BENCH/linux/guest.log"
