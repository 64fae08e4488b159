# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Suspend-to-idle while Linux' locks are redirected, by pm_test up to where the processors would
# idle: nothing wakes this virtual machine from there (its RTC and its ACPI do not work together).
# The machine's share does not outlive it, so results go to the kernel's log, and nobody waits for this
# script's status.

. ./linux_lib.sh
. ./sleeping_lib.sh

# Onto the console, and without the share.
tell()
{
	check "$@" | while read -r line; do
		echo "suspend: $line" >/dev/kmsg
	done
}

suspended()
{
	[ "$(cat /sys/power/suspend_stats/success)" = "$1" ]
}

# A function, which the shell has read before it runs: afterwards it could not.
suspend_once()
{
	insmod ntklog.ko buffers=64
	echo $LINUX $SLEEPING >$S/group_mask
	echo start >$S/state
	tell "suspend: Linux' locks are redirected" is_on
	tell "suspend: and those that sleep are hooked" sleeping_is_on
	mark
	load 0
	echo 0 >status
	sync
	echo platform >/sys/power/pm_test
	echo freeze >/sys/power/state
	tell "suspend: to idle and back" suspended 1
	tell "suspend: they are still redirected" is_on
	tell "suspend: those that sleep are still hooked" sleeping_is_on
	tell "suspend: and counted" grown SpinLockAcquireCount 100
	end_load
	echo stop >$S/state
	tell "suspend: and restored, with nothing left" is_off
	tell "suspend: each release had its acquisition" is "$(sum Unmatched)" 0
	tell "suspend: what was generated is written or lost" awk \
		'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' $S/stats
	tell "suspend: the module can go" rmmod ntklog
	tell "suspend: the kernel has nothing to complain of" kernel_is_silent
	reboot -f
}

suspend_once
