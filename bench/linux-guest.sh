# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's part of linux.sh, on one CPU: measure without hooks, and in each state of the
# arguments: a mode of the spinning locks, or "sleeping".

D=/sys/kernel/debug/ntklog
S=$D/sessions/0

. ./workload.sh

measure_all_pairs()
{
	measure_pairs "$1" raw_spin_lock spin_lock_irqsave spin_lock_bh read_lock write_lock \
		mutex mutex_trylock down_read down_write rt_mutex semaphore
}

# The hooks of sleeping locks are detached a second later.
stop_and_detach()
{
	echo stop >$S/state
	cat $D/linux >/dev/null
	sleep 2
}

# measure_state STATE: the workload without hooks must not run before the first session: it reads
# files that grow when that starts.
measure_state()
{
	echo start >$S/state
	measure_all_pairs "$1"
	cat $D/linux $D/counters
	turn=0
	while [ $turn -lt 4 ]; do
		sleep 1
		measure_workload "$1" 1
		stop_and_detach
		measure_workload "without_$1" 1
		echo start >$S/state
		turn=$((turn + 1))
	done
	stop_and_detach
	cat $S/stats
}

insmod ntklog.ko || exit 1
echo 256 >$S/buffers
run_workload
measure_all_pairs plain
for state; do
	if [ "$state" = sleeping ]; then
		echo full >$D/linux_mode
		echo PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_SEMAPHORE PERF_LINUX_RT_MUTEX \
			PERF_LINUX_PERCPU_RWSEM PERF_LINUX_WW_MUTEX >$S/group_mask
	else
		echo "$state" >$D/linux_mode
		echo PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK >$S/group_mask
	fi
	measure_state "$state"
done
measure_all_pairs restored
measure_workload restored 4
rmmod ntklog
dmesg | grep -o 'ntklog_bench: .*'
