# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the benchmark of Linux' own locks that runs in the virtual machine, on one
# processor: pairs, and a whole workload, with nothing redirected, in each mode, and in full with
# blockers.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0

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

# bench STATE
bench()
{
	for pair in raw_spin_lock spin_lock_irqsave spin_lock_bh read_lock write_lock; do
		insmod ntklog_bench.ko state="$1" only=$pair || exit 1
		rmmod ntklog_bench
	done
	least=
	# shellcheck disable=SC2034
	for run in 1 2 3 4 5; do
		start=$(now)
		workload
		took=$(($(now) - start))
		[ -n "$least" ] && [ "$least" -le $took ] || least=$took
	done
	echo "workload $1 $least"
}

insmod ntklog.ko || exit 1
echo 256 >$S/buffers
echo PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK >$S/group_mask
workload
bench plain
for mode in full blockers sampled waits; do
	case $mode in
	blockers) echo 1 >$D/spinlock/blockers ;;
	*) echo 0 >$D/spinlock/blockers && echo $mode >$D/linux_mode ;;
	esac
	echo start >$S/state
	bench $mode
	cat $D/linux $D/counters
	echo stop >$S/state
	cat $S/stats
done
bench restored
rmmod ntklog
dmesg | grep -o 'ntklog_bench: .*'
