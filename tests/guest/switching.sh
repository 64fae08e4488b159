# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh

D=/sys/kernel/debug/ntklog
T=/sys/kernel/tracing

# A high priority, because the torture's threads leave little CPU time to others.
renice -n -20 -p $$
mkdir rounds
insmod ntklog.ko buffer_size=8192 buffers=8 || exit 1
for session in 0 1; do
	echo 0 >$D/sessions/$session/flush_timer
done
cat $D/counters >counters.before
for type in in_stack_queued spin ex resource; do
	event=spinlock turns=28
	[ $type != resource ] || event=resource turns=16
	insmod ntklog_torture.ko torture_type=$type duration=0 softirqs=0 hardirqs=0 nest=4 \
		threads=3 || exit 1
	./switching $event $turns rounds/$type || exit 1
	[ $type != ex ] || ntklog record -e spinlock --no-names --duration 0.3 -o rounds/record.etl
	rmmod ntklog_torture
done
cat $D/counters >counters.after
cat $T/trace >trace.txt
cat $T/per_cpu/cpu*/stats >trace.stats
rmmod ntklog
dmesg >dmesg.log
