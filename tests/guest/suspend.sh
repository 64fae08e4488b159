# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Suspend-to-idle while Linux' locks are redirected, by pm_test up to the point where the CPUs would
# idle, because no device can wake this virtual machine from there. The machine's shared directory
# does not survive, so the results go to the kernel's log, and the script's status is not used.

. ./linux_lib.sh
. ./sleeping_lib.sh

# Print a result on the console, without the shared directory.
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

# Count the events that say when groups are observed: PERFINFO64, 0x18 bytes, hook id 0xA04F.
observed_events()
{
	cat $S/cpu* | tr '\000\n\300' 'zy\n' | grep -a -c "^$(printf '\030zO\240')"
}

# A function, which the shell has read completely before the shared directory is gone.
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
	# At the start, the suspend, the resume and the stop.
	set -- $LINUX $SLEEPING
	tell "suspend: no lock is observed from the suspend to the resume" is \
		"$(observed_events)" $(($# * 4))
	tell "suspend: each release had its acquisition" is "$(sum Unmatched)" 0
	tell "suspend: what was generated is written or lost" awk \
		'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' $S/stats
	tell "suspend: the module can go" rmmod ntklog
	tell "suspend: the kernel log has no warning" kernel_is_silent
	reboot -f
}

suspend_once
