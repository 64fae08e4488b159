# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Attach to Linux' own locks while no grace period of Tasks RCU ends. The waiting tasks can be
# killed, and the file "linux" names the grace period.

. ./linux_lib.sh
. ./sleeping_lib.sh

# gone PID: the process has ended.
gone()
{
	! [ -e "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}

if echo full >/sys/kernel/debug/sched/preempt; then
	insmod ntklog.ko
	echo PERF_LINUX_SPINLOCK PERF_LINUX_MUTEX >$S/group_mask
	insmod no_switch.ko
	echo start >$S/state &
	starter=$!
	check "stalled: the file linux tells what a start waits for" \
		wait_for grep '^spinlock: attaching for .* Tasks RCU$' $D/linux
	cat $D/linux_mode >/dev/null
	check "stalled: the kernel log does, too" wait_for sh -c "dmesg | grep 'Tasks RCU' | grep ntklog"
	check "stalled: the start goes on waiting" sh -c "! grep -q zombie /proc/$starter/status"
	cat $S/snapshot >/dev/null &
	copier=$!
	usleep 300000
	kill -9 $copier
	check "stalled: who opens a snapshot can be killed" wait_for gone $copier
	kill -9 $starter
	check "stalled: who starts a session can be killed" wait_for gone $starter
	cat $D/linux_selftest >/dev/null &
	tester=$!
	echo sampled >$D/linux_mode &
	chooser=$!
	usleep 300000
	kill -9 $tester $chooser
	check "stalled: so can a self-test" wait_for gone $tester
	check "stalled: and who chooses a mode" wait_for gone $chooser
	rmmod no_switch
	check "stalled: when the grace period ends, all goes on" \
		wait_for grep '^spinlock: \(on\|off\)' $D/linux
	[ "$(cat $S/state)" = stopped ] || echo stop >$S/state
	check "stalled: and the end of the session restores all" wait_for sleeping_is_off
	check "stalled: spin locks too" wait_for sh -c "grep '^spinlock: off' $D/linux"
	rmmod ntklog
	check "stalled: the kernel has nothing to complain of" kernel_is_silent
else
	echo "ok - stalled: what waits for Tasks RCU can be killed # SKIP the kernel cannot preempt tasks"
fi
