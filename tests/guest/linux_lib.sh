# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034

T=/sys/kernel/tracing
LINUX="PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"
GROUPS_OF_LINUX=linux_spinlock,linux_rwlock,linux_mutex,linux_rwsem

# Functions that ntklog redirects in mode full.
SPIN=10
RW=19
# In kernel 7.3 and later, spin locks have two more functions.
! grep -q ' _raw_spin_lock_irq_disable$' /proc/kallsyms || SPIN=12
ALL_FUNCTIONS=$((SPIN + RW))

print_slots_in_use()
{
	print_counter_sum InUse
}

print_counter_sum()
{
	awk -v name="$1" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ sum += $at } END { print sum + 0 }' $D/counters
}

# The functions that are redirected to ntklog's trampolines.
count_redirected_functions()
{
	grep -c 'trampoline__raw' $T/enabled_functions || true
}

spinning_hooks_are_on()
{
	cat $D/linux
	grep -q "^spinlock: on" $D/linux && grep -q "^rwlock: on" $D/linux
}

# spinning_hooks_are_off: no kind is on, no function is redirected, and no slot is in use.
spinning_hooks_are_off()
{
	cat $D/linux
	grep -q "^spinlock: off" $D/linux && grep -q "^rwlock: off" $D/linux &&
		is "$(count_redirected_functions)" 0 && is "$(print_slots_in_use)" 0
}

# record_mode MODE PREFIX ARGUMENT...: record linux_pairs.ko, which gets the arguments, in PREFIX.*.
record_mode()
{
	mode=$1
	prefix=$2
	shift 2
	check "modes: $mode can be chosen" write_succeeds $D/linux_mode "$mode"
	cat $D/counters >"$prefix.before"
	echo start >$S/state
	cat $D/linux
	check "modes: $prefix: functions are redirected" spinning_hooks_are_on
	count_redirected_functions >"$prefix.redirected"
	check "modes: $prefix: another mode is refused" write_is_refused busy $D/linux_mode \
		"$([ "$mode" = full ] && echo waits || echo full)"
	check "modes: $prefix: the same mode is accepted" write_succeeds $D/linux_mode "$mode"
	lines=$(dmesg | wc -l)
	check "modes: $prefix: linux_pairs runs" insmod linux_pairs.ko "$@"
	grep -w linux_pairs /proc/modules >"$prefix.module"
	rmmod linux_pairs
	echo stop >$S/state
	cat $D/counters >"$prefix.after"
	cat $S/header $S/cpu* >"$prefix.etl"
	cat $S/stats >"$prefix.stats"
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*linux_pairs: //p' >"$prefix.truth"
	check "modes: $prefix: the end of the session restores the functions" spinning_hooks_are_off
}

# start_load PAUSE: start a load in the background, with PAUSE microseconds between two rounds.
# Rounds are short, because end_load waits for those that have begun.
start_load()
{
	touch /tmp/load
	for worker in 1 2; do
		while [ -e /tmp/load ]; do
			[ "$1" = 0 ] || usleep "$1"
			find /proc/irq /proc/sys/kernel >/dev/null 2>&1
			cat /proc/uptime >/dev/null
			dd if=/dev/zero of=/tmp/load.$worker bs=64k count=4 2>/dev/null
			/bin/true
		done &
	done
}

end_load()
{
	rm -f /tmp/load
	wait
}
