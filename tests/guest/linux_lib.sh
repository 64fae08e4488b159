# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034
#
# Functions of the scripts about Linux' locks, besides lib.sh.

T=/sys/kernel/tracing
LINUX="PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"
GROUPS_OF_LINUX=linux_spinlock,linux_rwlock,linux_mutex,linux_rwsem

# Number of redirected functions of each kind.
SPIN=10
RW=19
# Kernel 7.3 and later.
! grep -q ' _raw_spin_lock_irq_disable$' /proc/kallsyms || SPIN=12
ALL_FUNCTIONS=$((SPIN + RW))

# in_use: print the number of slots in use on all CPUs.
in_use()
{
	sum InUse
}

# sum COLUMN: print the sum of a counter over all CPUs.
sum()
{
	awk -v name="$1" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ sum += $at } END { print sum + 0 }' $D/counters
}

# Print the number of kernel functions that have a direct call.
redirected()
{
	grep -c 'trampoline__raw' $T/enabled_functions || true
}

is_on()
{
	cat $D/linux
	grep -q "^spinlock: on" $D/linux && grep -q "^rwlock: on" $D/linux
}

is_off()
{
	cat $D/linux
	grep -q "^spinlock: off" $D/linux && grep -q "^rwlock: off" $D/linux &&
		is "$(redirected)" 0 && is "$(in_use)" 0
}

# record MODE PREFIX ARGUMENT...: record a session in this mode during a load of linux_pairs.
record()
{
	mode=$1
	prefix=$2
	shift 2
	check "modes: $mode can be chosen" taken $D/linux_mode "$mode"
	cat $D/counters >"$prefix.before"
	echo start >$S/state
	cat $D/linux
	check "modes: $prefix: functions are redirected" is_on
	redirected >"$prefix.redirected"
	check "modes: $prefix: another mode is refused" refused busy $D/linux_mode \
		"$([ "$mode" = full ] && echo waits || echo full)"
	check "modes: $prefix: the same mode is accepted" taken $D/linux_mode "$mode"
	lines=$(dmesg | wc -l)
	check "modes: $prefix: linux_pairs runs" insmod linux_pairs.ko "$@"
	grep -w linux_pairs /proc/modules >"$prefix.module"
	rmmod linux_pairs
	echo stop >$S/state
	cat $D/counters >"$prefix.after"
	cat $S/header $S/cpu* >"$prefix.etl"
	cat $S/stats >"$prefix.stats"
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*linux_pairs: //p' >"$prefix.truth"
	check "modes: $prefix: the end of the session restores the functions" is_off
}

# load PAUSE: make a mixed load until /tmp/load is removed, with PAUSE microseconds between rounds
# so that it does not use all CPUs. Rounds are short, because in an emulated machine the load takes
# most of a test's time.
load()
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
