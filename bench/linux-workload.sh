# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the benchmarks of Linux' own locks measure in the virtual machine, on one processor: pairs,
# and a whole workload. Sourced by their guests' scripts, and by the one of the step costs.

# The kernel's clock, which counts instructions here.
now()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

# Everything is read once before, so that each run finds the same.
workload()
{
	find /sys /proc/sys >/dev/null 2>&1
	dd if=/dev/zero of=/tmp/workload bs=64k count=256 2>/dev/null
	rm /tmp/workload
	fork=0
	while [ $fork -lt 100 ]; do
		/bin/true
		fork=$((fork + 1))
	done
}

# measure_workload STATE RUNS: prints the least of so many.
measure_workload()
{
	least=
	run=0
	while [ $run -lt "$2" ]; do
		start=$(now)
		workload
		took=$(($(now) - start))
		[ -n "$least" ] && [ "$least" -le $took ] || least=$took
		run=$((run + 1))
	done
	echo "workload $1 $least"
}

# measure_pairs STATE PAIR...: ntklog_bench prints them in the kernel's log.
measure_pairs()
{
	state=$1
	shift
	for pair; do
		insmod ntklog_bench.ko state="$state" only="$pair" || exit 1
		rmmod ntklog_bench
	done
}
