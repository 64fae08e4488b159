#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# native.sh [RUNS]: measure the locks on this machine's own CPUs, in a program built from the
# module's sources, next to the locks of other programs. Prints medians of RUNS (31) runs and leaves
# them as JSON in out/bench/bench-native.json. A part of bench.sh.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench
# Duration of one contended run in microseconds.
CONTENDED=3000

need native
mkdir -p "$BENCH/native"
run_quietly bench-native make -C "$TOP/workload/native" O="$BENCH/native"
# Give the program a high priority if the system permits that, because a disturbed run is repeated.
# It runs in a new session, which has a scheduler autogroup of its own, whose weight can be set.
first='echo -10 >/proc/self/autogroup; exec nice -n -10 "$@"'
setsid -w sh -c "$first" first true 2>/dev/null || first='exec "$@"'
setsid -w sh -c "{ $first; } 2>/dev/null" first "$BENCH/native/native" "${1:-31}" $CONTENDED \
	>"$BENCH/native/native.log"
python3 "$TOP/bench/native.py" "$BENCH/bench-native.json" <"$BENCH/native/native.log"
