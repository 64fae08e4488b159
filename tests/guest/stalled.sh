# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Attach to Linux' own locks, which waits for a grace period of Tasks RCU, while no_switch.ko lets
# none end. The waiting tasks can be killed, and the file "linux" names the grace period.

. ./linux_lib.sh
. ./sleeping_lib.sh

process_has_ended()
{
	! [ -e "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}

process_can_be_killed()
{
	kill -9 "$1"
	wait_for process_has_ended "$1"
}

# waits_in_ntklog PROCESS: test that the process waits in a function of the module.
waits_in_ntklog()
{
	grep -q '\[ntklog\]' "/proc/$1/stack"
}

file_content_is()
{
	is "$(cat "$1")" "$2"
}

# failure_has_errno ERRNO: test that the file failures has PERF_LINUX_SPINLOCK with ERRNO.
failure_has_errno()
{
	cat $S/failures
	grep -q " PERF_LINUX_SPINLOCK $1\$" $S/failures
}

if echo full >/sys/kernel/debug/sched/preempt; then
	insmod ntklog.ko
	echo PERF_LINUX_SPINLOCK PERF_LINUX_MUTEX >$S/group_mask
	claim=$D/sessions/5
	rm -f claimed
	./claim64 $claim/claim start hold &
	owner=$!
	wait_for test -e claimed
	insmod no_switch.ko
	echo start >$S/state &
	starter=$!
	check "stalled: the file linux shows that a start waits for Tasks RCU" \
		wait_for grep '^spinlock: attaching for .* Tasks RCU$' $D/linux
	cat $D/linux_mode >/dev/null
	check "stalled: the kernel log shows that a start waits for Tasks RCU" wait_for sh -c "dmesg | grep 'Tasks RCU' | grep ntklog"
	check "stalled: a start without a grace period keeps waiting" sh -c "! grep -q zombie /proc/$starter/status"
	check "stalled: a snapshot of the starting session is refused without a wait" \
		sh -c "! cat $S/snapshot"
	check "stalled: a claim's owner that is killed while another session starts exits" process_can_be_killed $owner
	check "stalled: a process that starts a session can be killed" process_can_be_killed $starter
	check "stalled: a group whose start was killed is listed with EINTR" \
		failure_has_errno 4
	check "stalled: the claimed session of a killed owner stops" \
		wait_for file_content_is $claim/state stopped
	check "stalled: the claimed session of a killed owner has no owner" \
		wait_for file_content_is $claim/owner none
	# PERF_LINUX_RWLOCK
	./claim64 $claim/claim start=0xA0000002 hold &
	owner=$!
	wait_for file_content_is $claim/state started
	wait_for waits_in_ntklog $owner
	check "stalled: a recording that waits until its locks are attached can be killed" \
		process_can_be_killed $owner
	check "stalled: the session of a killed recording is stopped" file_content_is $claim/state \
		stopped
	check "stalled: the session of a killed recording has no owner" file_content_is \
		$claim/owner none
	cat $D/spinlock/blockers >rate
	check "stalled: the rate of blockers can be set during a grace period" \
		cp rate $D/spinlock/blockers
	cat $D/linux_selftest >/dev/null &
	tester=$!
	echo sampled >$D/linux_mode &
	chooser=$!
	wait_for waits_in_ntklog $tester
	wait_for waits_in_ntklog $chooser
	check "stalled: a process that runs a self-test can be killed" process_can_be_killed $tester
	check "stalled: a process that sets a mode can be killed" process_can_be_killed $chooser
	rmmod no_switch
	check "stalled: the end of the grace period completes the attaching" \
		wait_for grep '^spinlock: \(on\|off\)' $D/linux
	check "stalled: groups that are attached later leave the list of failures" \
		wait_for file_content_is $S/failures none
	check "stalled: the locks of the killed recording are restored" \
		wait_for grep '^rwlock: off' $D/linux
	echo stop >$S/state
	cat $S/header $S/cpu* >stalled.etl
	check "stalled: the recording has the beginning and the end of their observation" \
		is "$(ntklog dump stalled.etl | grep -c "NtklogObserved Group=linux_spinlock")" 2
	check "stalled: the end of the session removes the hooks of sleeping locks" wait_for \
		sleeping_hooks_are_off
	check "stalled: the end of the session restores the functions of spin locks" \
		wait_for sh -c "grep '^spinlock: off' $D/linux"

	insmod no_switch.ko
	cat $D/linux_selftest >/dev/null &
	tester=$!
	wait_for waits_in_ntklog $tester
	wait_for grep '^spinlock: testing for .* Tasks RCU$' $D/linux
	check "stalled: a self-test that attaches can be killed" process_can_be_killed $tester
	check "stalled: the self-test goes on without its reader" \
		grep '^spinlock: testing for .* Tasks RCU$' $D/linux
	rmmod no_switch
	check "stalled: the next self-test has its own result" \
		is "$(grep -c 'do what the kernel' $D/linux_selftest)" 2
	insmod no_switch.ko
	cat $D/linux_selftest >/dev/null &
	tester=$!
	wait_for waits_in_ntklog $tester
	kill -9 $tester
	wait_for process_has_ended $tester
	rmmod no_switch
	rmmod ntklog
	check "stalled: the kernel log has no warning" kernel_is_silent
else
	echo "ok - stalled: what waits for Tasks RCU can be killed # SKIP the kernel cannot preempt tasks"
fi
