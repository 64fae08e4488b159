# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Events of a contended workload, which check_e2e.py decodes.

check "events: trace-cmd records" trace-cmd record -b 8192 -o /tmp/both.dat \
	-e ntklog:spinlock sh both.sh
check "events: torture in thread, softirq and hard interrupt" torture_has_succeeded
mv /tmp/both.dat both.dat
cat $S/stats >both.stats
cat $S/header $S/cpu* >both.etl
check "events: buffers that were read are empty" is "$(cat $S/cpu0 | wc -c)" 0

echo 1 >$P/contention_sample_rate
check "events: the tracepoint records without a session" trace_torture /tmp/alone.dat spinlock Events
mv /tmp/alone.dat alone.dat
check "events: the tracepoint enables the instrumentation" \
	is "$(cat trace.mask)" "0x20010000 PERF_SPINLOCK"
check "events: the tracepoint's end disables the instrumentation" is "$(cat $D/group_mask)" 0x0

# Fill small buffers, so that events are lost and counted.
echo 4096 >$S/buffer_size
echo 2 >$S/buffers
echo start >$S/state
check "events: a full session counts lost events" run_torture_until \
	"session_total_is_at_least 0 lost 1"
echo stop >$S/state
cat $S/stats >full.stats
cat $S/header $S/cpu* >full.etl
cat $S/stats >full.stats2

# With a higher rate the same number of contended acquisitions makes fewer events.
echo 65536 >$S/buffer_size
echo 16 >$S/buffers
# On a busy host many holds are long, and their releases are written at any rate.
echo 0 >$P/hold_threshold
echo 4294967295 >$P/acquire_sample_rate
for rate in 10 100; do
	echo $rate >$P/contention_sample_rate
	cat $D/counters >rate$rate.before
	echo start >$S/state
	run_torture_until "counter_has_grown SpinLockContentionCount 2000" seed=7 locks=2 nest=2 2>/dev/null
	echo stop >$S/state
	cat $D/counters >rate$rate.after
	cat $S/stats >rate$rate.stats
done
echo 1000 >$P/acquire_sample_rate
echo 1000000 >$P/hold_threshold

echo PERF_SPINLOCK_CNTRS >$S/group_mask
cat $D/counters >counters.before
echo start >$S/state
check "events: torture with counters only" run_torture_until "counter_has_grown SpinLockContentionCount 101"
echo stop >$S/state
cat $D/counters >counters.after
cat $S/stats >counters.stats
echo PERF_SPINLOCK >$S/group_mask
