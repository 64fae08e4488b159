# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Events of resources, beside those of spin locks, which check_e2e.py decodes.

echo 65536 >$S/buffer_size
echo 100 >$S/buffers
echo PERF_SPINLOCK PERF_SYNC_OBJECTS >$S/group_mask
echo 10 >$R/release_sample_rate
cat >/tmp/resources.sh <<END
. ./lib.sh
cat $D/counters >resources.before
echo start >$S/state
insmod ntklog_torture.ko torture_type=resource duration=0 locks=12 nest=4 threads=6
wait_for session_total_is_at_least 0 generated 1000
cat $D/locks >resources.locks
wait_for session_total_is_at_least 0 generated 4000
sleep 1
rmmod ntklog_torture
echo stop >$S/state
cat $D/counters >resources.after
END
check "resources: trace-cmd records" trace-cmd record -b 8192 -o /tmp/resources.dat \
	-e ntklog:resource sh /tmp/resources.sh
check "resources: torture with sampling succeeds" torture_has_succeeded
mv /tmp/resources.dat resources.dat
cat $S/stats >resources.stats
cat $S/header $S/cpu* >resources.etl

# With the greatest rates no event is sampled: only events that are written at any rate remain.
echo 4294967295 >$R/release_sample_rate
echo 4294967295 >$R/contention_sample_rate
echo 4294967295 >$R/excessive_timeouts
echo PERF_SYNC_OBJECTS >$S/group_mask
echo start >$S/state
check "resources: torture without sampling succeeds" run_torture torture_type=resource locks=12 nest=4
echo stop >$S/state
cat $S/header $S/cpu* >unsampled.etl
cat $S/stats >unsampled.stats
print_le32 7 1000 1 1 >/tmp/information
dd if=/tmp/information of=$R/information bs=64 2>/dev/null
echo PERF_SPINLOCK >$S/group_mask

check "resources: the tracepoint records without a session" trace_torture /tmp/alone.dat resource \
	ResourceEvents torture_type=resource
mv /tmp/alone.dat resource-alone.dat
check "resources: the tracepoint enables the instrumentation" \
	is "$(cat trace.mask)" "0x20020000 PERF_SYNC_OBJECTS"
check "resources: the tracepoint's end disables the instrumentation" is "$(cat $D/group_mask)" 0x0

# Read the lists of resources, and enable and disable instrumentation, while resources come and go.
E=/sys/kernel/tracing/events/ntklog/resource/enable
insmod ntklog_torture.ko torture_type=resource duration=0 locks=12 nest=4
rounds=0
while [ $rounds -lt 12 ]; do
	echo start >$S/state
	echo 1 >$E
	cat $D/locks $D/locks_information >/dev/null
	echo stop >$S/state
	echo 0 >$E
	rounds=$((rounds + 1))
done
check "resources: unloading is refused while the module is used" sh -c "! rmmod ntklog"
rmmod ntklog_torture
check "resources: torture with tracing on and off" torture_has_succeeded
check "resources: no resource is live at the end" is "$(wc -l <$D/locks)" 1
check "resources: the kernel log has no warning" kernel_is_silent
