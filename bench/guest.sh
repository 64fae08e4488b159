# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# $1: duration of a measurement of contended locks, in milliseconds.

SESSIONS=/sys/kernel/debug/ntklog/sessions
S=$SESSIONS/0
P=/sys/kernel/debug/ntklog/spinlock
R=/sys/kernel/debug/ntklog/resource
E=/sys/kernel/tracing/events/ntklog/enable

# measure_state STATE [CONTENDED_MS [APC_LEVEL [ONLY [PARAMETER=VALUE]]]]: measure all pairs, or the
# pair ONLY. STATE is a name for the output.
measure_state()
{
	# shellcheck disable=SC2086 # none or one
	insmod ntklog_bench.ko state="$1" contended_ms="${2:-0}" apc_level="${3:-0}" \
		only="${4:-}" ${5:-} || exit 1
	rmmod ntklog_bench
}

measure_in_session()
{
	echo "$2" >$S/group_mask
	echo start >$S/state
	measure_state "$1"
	echo stop >$S/state
}

# measure_in_sessions STATE COUNT GROUP: the first session has PERF_SPINLOCK enabled, the others
# GROUP.
measure_in_sessions()
{
	i=0
	group=PERF_SPINLOCK
	while [ $i -lt "$2" ]; do
		echo 16 >$SESSIONS/$i/buffers
		echo "$group" >$SESSIONS/$i/group_mask
		echo start >$SESSIONS/$i/state
		group=$3
		i=$((i + 1))
	done
	measure_state "$1" 0 0 in_stack_at_dpc_level
	while [ $i -gt 0 ]; do
		i=$((i - 1))
		echo stop >$SESSIONS/$i/state
	done
	echo 256 >$S/buffers
}

# measure_context_swaps STATE VERSION: measure context swaps in a session of this version of event.
measure_context_swaps()
{
	echo "$2" >$S/contextswap_version
	echo PERF_CONTEXT_SWITCH >$S/group_mask
	echo start >$S/state
	measure_state "$1" 0 0 context_swap
	measure_state "$1" 0 0 context_swap_from_idle
	echo stop >$S/state
}

measure_ready_threads()
{
	echo PERF_DISPATCHER >$S/group_mask
	echo start >$S/state
	measure_state written 0 0 ready_thread
	echo stop >$S/state
}

insmod ntklog.ko || exit 1
echo 256 >$S/buffers
echo 0 >$P/hold_threshold
measure_state off "$1"
measure_state apc 0 1
measure_in_session counters PERF_SPINLOCK_CNTRS
echo 4294967295 >$P/acquire_sample_rate
echo 4294967295 >$R/release_sample_rate
echo 4294967295 >$R/contention_sample_rate
measure_in_session unsampled "PERF_SPINLOCK PERF_SYNC_OBJECTS"
# Costs that may grow with the number of held locks, and of owners.
echo 30000 >/proc/sys/kernel/threads-max
echo start >$S/state
for below in 0 1 2 3 4 5 6 7 8; do
	measure_state below_$below 0 0 in_stack_at_dpc_level below=$below
done
for owners in 1 100 10000; do
	measure_state owners_$owners 0 0 resource_exclusive owners=$owners
done
grep -H . /sys/kernel/slab/ntklog_task/object_size | sed 's/.*:/ntklog_bench: memory thread /' >/dev/kmsg
echo stop >$S/state
# One acquisition of 1000 writes an event, so an event costs 1000 times the difference from
# unsampled.
echo 1000 >$P/acquire_sample_rate
echo 1000 >$R/release_sample_rate
measure_in_session session "PERF_SPINLOCK PERF_SYNC_OBJECTS"
for count in 1 2 4 8; do
	measure_in_sessions sessions_$count $count PERF_SPINLOCK
done
measure_in_sessions one_of_8 8 PERF_SYNC_OBJECTS
echo "PERF_SPINLOCK PERF_SYNC_OBJECTS" >$S/group_mask
for stacks in spinlock resource; do
	echo $stacks >$S/stacks
	for pair in in_stack_at_dpc_level resource_exclusive; do
		echo start >$S/state
		measure_state stacks_$stacks 0 0 $pair
		echo stop >$S/state
	done
done
echo none >$S/stacks
measure_context_swaps version_1 1
measure_context_swaps version_4 4
measure_ready_threads
echo 1 >$E
measure_state ftrace
echo 0 >$E
rmmod ntklog
dmesg | grep -o 'ntklog_bench: .*'
