# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Suspend to idle while Linux' locks are redirected. pm_test lets the kernel resume at the point
# where the CPUs would idle, because no device can wake this virtual machine from there. The
# machine's shared directory does not survive the suspend, so the results go to the kernel's log,
# and the file status is written before.

. ./linux_lib.sh
. ./sleeping_lib.sh

check_on_console()
{
	check "$@" | while read -r line; do
		echo "suspend: $line" >/dev/kmsg
	done
}

suspend_count_is()
{
	[ "$(cat /sys/power/suspend_stats/success)" = "$1" ]
}

# count_observed_events: print the number of events with hook id 0xA04F, 0x18 bytes and flags 0xC0.
# tr turns zeros into letters and the flags byte into a line feed, so that grep finds such an event
# at the beginning of a line.
count_observed_events()
{
	cat $S/cpu* | tr '\000\n\300' 'zy\n' | grep -a -c "^$(printf '\030zO\240')"
}

# suspend_and_resume: this is a function, so that the shell has read all of it before the shared
# directory is gone.
suspend_and_resume()
{
	insmod ntklog.ko buffers=64
	echo $LINUX $SLEEPING >$S/group_mask
	echo start >$S/state
	check_on_console "suspend: a session redirects spinning locks" spinning_hooks_are_on
	check_on_console "suspend: a session hooks sleeping locks" sleeping_hooks_are_on
	save_counters
	start_load 0
	echo 0 >status
	sync
	echo platform >/sys/power/pm_test
	echo freeze >/sys/power/state
	check_on_console "suspend: the kernel suspends and resumes" suspend_count_is 1
	check_on_console "suspend: after the resume spinning locks are redirected" \
		spinning_hooks_are_on
	check_on_console "suspend: after the resume sleeping locks are hooked" sleeping_hooks_are_on
	check_on_console "suspend: acquisitions are counted" wait_for counter_has_grown SpinLockAcquireCount 100
	end_load
	echo stop >$S/state
	check_on_console "suspend: the end of the session restores spinning locks" \
		spinning_hooks_are_off
	# Four events for each group: at the start, the suspend, the resume and the stop.
	set -- $LINUX $SLEEPING
	check_on_console "suspend: no lock is observed from the suspend to the resume" is \
		"$(count_observed_events)" $(($# * 4))
	check_on_console "suspend: no release is unmatched" is "$(print_counter_sum Unmatched)" 0
	check_on_console "suspend: events generated are written or lost" awk \
		'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' $S/stats
	check_on_console "suspend: the module unloads" rmmod ntklog
	check_on_console "suspend: the kernel log has no warning" kernel_is_silent
	reboot -f
}

suspend_and_resume
