#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# peers.sh: measure the overhead of other tools on the kernel and under the workload of linux.sh, in
# one run with ntklog. Counts instructions. Leaves out/bench/peers.json.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench
SHARE=$BENCH/peers

# measure_in_guest WHICH SECONDS: the usual tools, or those that may hang the machine. Its log is
# used even if it hangs.
measure_in_guest()
{
	local share=$SHARE/$1
	mkdir -p "$share"
	cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$share/"
	# empty_fprobe is not built for every kernel.
	cp "$OUT/build/$ABI/tests/modules/empty_fprobe.ko" "$share/" 2>/dev/null || true
	cp "$TOP/bench/linux-workload.sh" "$share/workload.sh"
	{ echo "WHICH=$1"; cat "$TOP/bench/peers-guest.sh"; } >"$share/guest.sh"
	run_as_root mv "$SHARE/root" "$share/root"
	"$TOP/scripts/vm/vm.sh" -i -c 1 -m 2048 -t "$2" -k "$IMAGE" -M "$MODULES" "$share" ||
		say "it has told so far: $share/guest.log"
	run_as_root mv "$share/root" "$SHARE/root"
}

install_groups bench
eval "$("$TOP/scripts/kernels/debian-kernel.sh" "$KERNEL_SERIES")"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
run_as_root rm -rf "$SHARE"
mkdir -p "$SHARE" "$OUT/log"
"$TOP/scripts/vm/clean-root.sh" trixie "$SHARE/root" linux-perf bpftrace libbpf-tools trace-cmd
say "counting instructions under other tools, on $ABI"
measure_in_guest usual 2400
say "and under those that may stop the machine"
measure_in_guest stopping 600 2>"$OUT/log/bench-peers-stopping.log"
run_as_root rm -rf "$SHARE/root"
# -B: peers.py imports linux.py, which would leave a __pycache__ in bench/.
python3 -B "$TOP/bench/peers.py" "$BENCH/peers.json" "$SHARE"/{usual,stopping}/guest.log
