# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034
#
# What the scripts about Linux' own locks share, besides lib.sh.

T=/sys/kernel/tracing
LINUX="PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"

# How many functions of each kind there are.
SPIN=10
RW=19
# From 7.3 on.
! grep -q ' _raw_spin_lock_irq_disable$' /proc/kallsyms || SPIN=12
ALL=$((SPIN + RW))

# in_use: slots in use of all processors.
in_use()
{
	sum InUse
}

# sum COLUMN: of a counter, of all processors.
sum()
{
	awk -v name="$1" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ sum += $at } END { print sum + 0 }' $D/counters
}

# Functions of the kernel that somebody's direct call is on.
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

# load PAUSE: something of everything, until the file is gone; with so many microseconds between,
# for where it is to be there, but not to fill the processors while others wait.
load()
{
	touch /tmp/load
	for worker in 1 2; do
		while [ -e /tmp/load ]; do
			[ "$1" = 0 ] || usleep "$1"
			find /proc/sys /proc/irq >/dev/null 2>&1
			dd if=/dev/zero of=/tmp/load.$worker bs=64k count=16 2>/dev/null
			/bin/true
		done &
	done
}

end_load()
{
	rm -f /tmp/load
	wait
}
