# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the benchmark that runs in the virtual machine: the same pairs with
# tracing in each of its states. $1: milliseconds of a contended run.

S=/sys/kernel/debug/ntklog/sessions/0
P=/sys/kernel/debug/ntklog/spinlock
R=/sys/kernel/debug/ntklog/resource
E=/sys/kernel/tracing/events/ntklog/enable

bench()
{
	insmod ntklog_bench.ko state="$1" contended_ms="${2:-0}" apc_level="${3:-0}" || exit 1
	rmmod ntklog_bench
}

# in_session STATE GROUP: as in a session that wants the group.
in_session()
{
	echo "$2" >$S/group_mask
	echo start >$S/state
	bench "$1"
	echo stop >$S/state
}

insmod ntklog.ko || exit 1
echo 256 >$S/buffers
echo 0 >$P/hold_threshold
bench off "$1"
bench apc 0 1
in_session counters PERF_SPINLOCK_CNTRS
echo 4294967295 >$P/acquire_sample_rate
echo 4294967295 >$R/release_sample_rate
echo 4294967295 >$R/contention_sample_rate
in_session unsampled "PERF_SPINLOCK PERF_SYNC_OBJECTS"
# One of 1000 is written: 1000 times the difference is what an event costs.
echo 1000 >$P/acquire_sample_rate
echo 1000 >$R/release_sample_rate
in_session session "PERF_SPINLOCK PERF_SYNC_OBJECTS"
echo 1 >$E
bench ftrace
echo 0 >$E
rmmod ntklog
dmesg | grep -o 'ntklog_bench: .*'
