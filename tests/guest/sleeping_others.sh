# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Linux' sleeping locks: other users of ftrace, and failures that must be undone.

. ./linux_lib.sh
. ./sleeping_lib.sh

insmod ntklog.ko buffers=64
echo $SLEEPING >$S/group_mask
start_load 50000

# fifty_are_released_since NUMBER: test that the count of releases exceeds NUMBER by more than
# fifty.
fifty_are_released_since()
{
	[ "$(print_counter_sum SleepingReleased)" -gt $(($1 + 50)) ]
}

# Before, during and after the hooks.
echo 'p:ntklog_test mutex_lock' >$T/kprobe_events
echo 'r:ntklog_return down_read' >>$T/kprobe_events
echo 'mutex_*' >$T/set_ftrace_filter
echo 'up_read' >>$T/set_ftrace_filter
for tracer in function function_graph; do
	grep -qw $tracer $T/available_tracers || continue
	echo start >$S/state
	echo $tracer >$T/current_tracer
	echo 1 >$T/events/kprobes/ntklog_test/enable
	echo 1 >$T/events/kprobes/ntklog_return/enable
	check "sleeping: $tracer tracer and kprobes: hooks are attached" sleeping_hooks_are_on
	check "sleeping: $tracer tracer and kprobes: all functions are hooked" \
		is "$(count_hooked_functions)" $SLEEPING_FUNCTIONS
	before=$(print_counter_sum SleepingReleased)
	check "sleeping: $tracer tracer and kprobes: acquisitions are counted" \
		wait_for fifty_are_released_since $before
	check "sleeping: $tracer tracer and kprobes: the tracer has the functions" \
		wait_for grep -q 'mutex_unlock' $T/trace
	check "sleeping: $tracer tracer and kprobes: the kprobes are hit" wait_for sh -c \
		"grep -q 'ntklog_test: ' $T/trace && grep -q 'ntklog_return: ' $T/trace"
	echo stop >$S/state
	check "sleeping: $tracer tracer and kprobes: hooks are removed" sleeping_hooks_are_off
	echo start >$S/state
	check "sleeping: $tracer tracer and kprobes: hooks are attached again" sleeping_hooks_are_on
	echo 0 >$T/events/kprobes/ntklog_test/enable
	echo 0 >$T/events/kprobes/ntklog_return/enable
	echo nop >$T/current_tracer
	echo >$T/trace
	echo stop >$S/state
	check "sleeping: after $tracer tracer and kprobes: hooks are removed" sleeping_hooks_are_off
done
echo >$T/set_ftrace_filter
echo >$T/kprobe_events
check "sleeping: other users of ftrace: counters balance" sleeping_counts_are_balanced

# A tracer that comes and goes while hooks are attached and removed. If ftrace then finds a function
# in an unexpected state, it disables itself until reboot.
echo 'mutex_* up_* down_*' >$T/set_ftrace_filter
touch /tmp/trace
while [ -e /tmp/trace ]; do
	echo function >$T/current_tracer
	echo nop >$T/current_tracer
done &
tracer=$!
rounds=0
until [ $rounds = 10 ]; do
	echo start >$S/state
	sleeping_hooks_are_on >/dev/null || break
	echo stop >$S/state
	sleeping_hooks_are_off >/dev/null || break
	rounds=$((rounds + 1))
done
rm /tmp/trace
wait $tracer
check "sleeping: on and off while a tracer comes and goes" is $rounds 10
echo >$T/set_ftrace_filter
echo >$T/trace
check "sleeping: a tracer that comes and goes: counters balance" sleeping_counts_are_balanced
end_load

echo start >$S/state
check "sleeping: hooked: ftrace_enabled cannot be 0" \
	write_is_refused 'busy\|not supported' /proc/sys/kernel/ftrace_enabled 0
echo stop >$S/state

check_foreign_direct_call()
{
	insmod direct_call.ko function=up_write
	echo start >$S/state
	cat $D/linux
	check "sleeping: foreign direct call: its kind is refused, with the function's name" \
		grep '^rwsem: failed: up_write (-16)' $D/linux
	check "sleeping: foreign direct call: the other kinds are enabled" is "$(grep -cE '^(mutex|.*semaphore|rt_mutex|ww_mutex|percpu_rwsem): on' \
		$D/linux)" 5
	check "sleeping: foreign direct call: no function of its kind is hooked" sh -c "! grep -E 'trampoline.*rwsem_(sh|ex)' \
		$T/enabled_functions"
	echo stop >$S/state
	rmmod direct_call
	check "sleeping: foreign direct call removed: hooks are removed" sleeping_hooks_are_off
}

# Each kind is attached as a whole or not at all.
check_without_memory()
{
	direct=register_ftrace_direct
	grep -q " register_ftrace_direct_multi$" /proc/kallsyms && direct=register_ftrace_direct_multi
	failures=0
	places="$direct:3 ftrace_set_filter_ip:6 $direct:13"
	[ -e few ] ||
		places="$places $direct:1 $direct:2 ftrace_set_filter_ip:2 $direct:8 $direct:22"
	for failure in $places; do
		insmod no_memory.ko function=${failure%:*} nth=${failure#*:} || break
		echo start >$S/state
		cat $D/linux
		[ "$(grep -c ': failed: .* (-12)' $D/linux)" = 1 ] || break
		[ "$(count_hooked_functions)" = "$(sed -n 's/.*: on, \([0-9]*\) functions.*/\1/p' $D/linux |
			awk '{ sum += $1 } END { print sum }')" ] || break
		echo stop >$S/state
		is "$(count_hooked_functions)" 0 || break
		rmmod no_memory
		failures=$((failures + 1))
	done
	check "sleeping: no memory during hooking: the kind is restored" \
		is $failures "$(echo $places | wc -w)"
	check "sleeping: no memory during hooking: counters balance" sleeping_counts_are_balanced
}

# These modules exist for x86-64 only.
[ ! -e direct_call.ko ] || check_foreign_direct_call
[ ! -e no_memory.ko ] || check_without_memory
rmmod ntklog
check "sleeping: the kernel log has no warning after other users" kernel_is_silent
