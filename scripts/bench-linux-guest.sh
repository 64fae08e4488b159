# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the benchmark of Linux' own locks that runs in the virtual machine, on one
# processor: pairs, and a whole workload, with nothing redirected, in each mode, in full with
# blockers, and of the locks that sleep.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0

. ./workload.sh

# bench STATE
bench()
{
	measure_pairs "$1" raw_spin_lock spin_lock_irqsave spin_lock_bh read_lock write_lock \
		mutex mutex_trylock down_read down_write rt_mutex semaphore
	measure_workload "$1" 5
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
echo full >$D/linux_mode
echo PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_SEMAPHORE PERF_LINUX_RT_MUTEX \
	PERF_LINUX_PERCPU_RWSEM PERF_LINUX_WW_MUTEX >$S/group_mask
echo start >$S/state
bench sleeping
cat $D/linux $D/counters
echo stop >$S/state
cat $S/stats
bench restored
rmmod ntklog
dmesg | grep -o 'ntklog_bench: .*'
