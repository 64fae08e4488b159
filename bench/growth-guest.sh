# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's part of growth.sh, whose part is the first argument.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
CACHE=/sys/kernel/slab/ntklog_task

. ./workload.sh

# print_memory WHEN TASKS
print_memory()
{
	bytes=$(($(cut -d ' ' -f 1 $CACHE/slabs) << ($(cat $CACHE/order) + 12)))
	echo "growth: $2 tasks, $1: $bytes bytes, $(grep 'task records' $D/linux)"
}

# print_counter_sum COLUMN
print_counter_sum()
{
	awk -v column="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
		{ sum += $at } END { print sum }' $D/counters
}

# measure_tasks COUNT
measure_tasks()
{
	echo start >$S/state || exit 1
	print_memory before "$1"
	untracked=$(print_counter_sum SleepingUntracked)
	threads "$1" <end >ready &
	exec 3>end
	while [ ! -s ready ]; do
		sleep 1
	done
	# Freed records leave the slab cache after two grace periods.
	sleep 10
	print_memory during "$1"
	echo "growth: $1 tasks: $(($(print_counter_sum SleepingUntracked) - untracked)) acquisitions untracked"
	exec 3>&-
	wait
	rm ready
	echo stop >$S/state
	sleep 10
	print_memory after "$1"
}

insmod ntklog.ko || exit 1
case $1 in
cpus)
	echo 4294967295 >$D/spinlock/acquire_sample_rate
	echo PERF_SPINLOCK >$S/group_mask
	echo start >$S/state || exit 1
	measure_pairs tracked ordinary_at_dpc_level in_stack_at_dpc_level
	echo 1000 >$D/spinlock/acquire_sample_rate
	measure_pairs written in_stack_at_dpc_level
	echo stop >$S/state
	echo PERF_LINUX_SPINLOCK PERF_LINUX_MUTEX >$S/group_mask
	echo start >$S/state || exit 1
	measure_pairs full raw_spin_lock mutex
	echo stop >$S/state
	;;
tasks)
	shift
	mkfifo end
	echo 4194304 >/proc/sys/kernel/pid_max
	echo 1000000 >/proc/sys/kernel/threads-max
	echo PERF_LINUX_MUTEX >$S/group_mask
	for count; do
		measure_tasks "$count"
	done
	;;
esac
dmesg | grep -o 'ntklog_bench: .*'
exit 0
