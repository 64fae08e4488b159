# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Functions that measure pairs and a workload in a virtual machine with one CPU, for the guest
# scripts of linux.sh, peers.sh and the step costs.

# now: print the kernel's clock in ns. With QEMU's -icount that is the number of instructions.
now()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

# workload: read many files, write one, and fork.
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

# measure_workload STATE RUNS: run the workload RUNS times, and print the least number of
# instructions.
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

# measure_pairs STATE PAIR...: have ntklog_bench print the cost of each pair in the kernel log.
measure_pairs()
{
	state=$1
	shift
	for pair; do
		insmod ntklog_bench.ko state="$state" only="$pair" || exit 1
		rmmod ntklog_bench
	done
}
