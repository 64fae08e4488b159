#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# growth.sh [PART]...: measure how costs grow with their causes, on Debian's stock kernel, and print
# tables. PART is one of these; without any, all are measured:
#
#	cpus	instructions of pairs and of an event, with 1 to 16 virtual CPUs
#	tasks	memory of the records of tasks, with 1,000 to 100,000 tasks
#	locks	memory and CPU time of ntklog report, with 100 to 1,000,000 locks in 1 GiB
#	events	the same, with 10 MiB to 10 GiB of events of 200 locks
#
# bench.sh has the growth with sessions and with depth.

. "$(dirname "$0")/../scripts/lib.sh"

BENCH=$OUT/bench/growth

# run_guest NAME CPUS [OPTION]... -- WORD...: run growth-guest.sh WORD... in a virtual machine, and
# print its lines of the table.
run_guest()
{
	local share=$BENCH/$1 cpus=$2 options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	mkdir -p "$share"
	cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$share/"
	cp "$TOP/bench/linux-workload.sh" "$share/workload.sh"
	{ echo "set -- $*"; cat "$TOP/bench/growth-guest.sh"; } >"$share/guest.sh"
	"$TOP/scripts/vm/vm.sh" -c "$cpus" -t 1200 "${options[@]}" -k "$IMAGE" -M "$MODULES" \
		"$share" ||
		die "the virtual machine has failed: see $share/guest.log"
	sed -n 's/^growth: //p; s/^ntklog_bench: pair //p' "$share/guest.log"
}

# measure_report TITLE MIB LOCKS: print CPU time and memory of the report of a file of so many MiB
# and locks.
measure_report()
{
	cc -O2 -DLOCK_COUNT="$3" -I"$TOP/include/uapi" -o "$BENCH/generate" \
		"$TOP/tools/ntklog/tests/generate.c"
	"$BENCH/generate" "$2" | TIMEFORMAT='' command time -o "$BENCH/time" -f '%e %U %S %M' \
		"$BENCH/tool/ntklog" report - >/dev/null
	awk -v title="$1" '{
		printf "%-24s %8.1f s of CPU %8.1f MiB\n", title, $2 + $3, $4 / 1024
	}' "$BENCH/time"
}

install_groups bench tool
parts=("$@")
[ $# -gt 0 ] || parts=(cpus tasks locks events)
rm -rf "$BENCH"
mkdir -p "$BENCH"
eval "$("$TOP/scripts/kernels/debian-kernel.sh" "$KERNEL_SERIES")"
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
run_quietly bench-tool make -C "$TOP/tools/ntklog" O="$BENCH/tool" "$BENCH/tool/ntklog"
for part in "${parts[@]}"; do
	case $part in
	cpus)
		for cpus in 1 4 16; do
			say "$cpus virtual CPUs: instructions / 1,000"
			run_guest cpus-$cpus $cpus -i -- cpus
		done
		;;
	tasks)
		say "tasks that have acquired a mutex: bytes of their records"
		cc -O2 -o "$BENCH/threads" "$TOP/bench/threads.c" -lpthread
		run_guest tasks 2 -m 6144 -a slab_nomerge -P "$BENCH/threads" -- \
			tasks 1000 10000 100000
		awk '/tasks, during:/ {
			printf "%s tasks: at most 30 MB, %s\n", $2, $5 <= 30e6 ? "met" : "NOT MET"
		}' "$BENCH/tasks/guest.log"
		;;
	locks)
		say "locks in 1 GiB of events"
		for locks in 100 1000 10000 100000 1000000; do
			measure_report "$locks locks" 1024 $locks
		done
		;;
	events)
		say "events of 200 locks"
		for mib in 10 100 1024 10240; do
			measure_report "$mib MiB" $mib 200
		done
		;;
	*)
		die "no part of the growth: $part"
		;;
	esac
done
