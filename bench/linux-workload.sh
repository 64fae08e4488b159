# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the guest scripts of linux.sh, peers.sh and the step costs, with one CPU.

# print_kernel_time: the kernel's clock in ns. With QEMU's -icount that is the number of
# instructions.
print_kernel_time()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

run_workload()
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

# measure_workload STATE RUNS: print the least number of instructions of the runs.
measure_workload()
{
	least=
	run=0
	while [ $run -lt "$2" ]; do
		start=$(print_kernel_time)
		run_workload
		took=$(($(print_kernel_time) - start))
		[ -n "$least" ] && [ "$least" -le $took ] || least=$took
		run=$((run + 1))
	done
	echo "workload $1 $least"
}

# measure_pairs STATE PAIR...: let ntklog_bench.ko print the costs of each pair.
measure_pairs()
{
	state=$1
	shift
	for pair; do
		insmod ntklog_bench.ko state="$state" only="$pair" || exit 1
		rmmod ntklog_bench
	done
}
