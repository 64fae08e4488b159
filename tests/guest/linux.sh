# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Linux' spinning locks: linux_locks.ko prints the expected events, which check_linux.py compares
# with the recording.

. ./linux_lib.sh

insmod ntklog.ko buffers=64
cat $D/linux
if grep unavailable $D/linux; then
	echo "not ok - linux: this kernel's locks can be watched"
	exit 1
fi
check "linux: no session: no function is redirected" spinning_hooks_are_off

echo "$LINUX" >$S/group_mask
check "linux: the groups have names" is "$(cat $S/group_mask)" "0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
cat $D/counters >linux.before
echo start >$S/state
check "linux: a session redirects" spinning_hooks_are_on
check "linux: all $ALL_FUNCTIONS functions have a direct call" is "$(count_redirected_functions)" $ALL_FUNCTIONS
check "linux: only the session's groups are enabled" is "$(cat $D/group_mask)" \
	"0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
check "linux: linux_locks runs" insmod linux_locks.ko
rmmod linux_locks
# check_linux.py compares the number of the kernel's own acquisitions with that of their records.
acquired=$(print_counter_sum SpinLockAcquireCount)
enough_locks_are_acquired()
{
	find /proc/sys >/dev/null
	[ "$(print_counter_sum SpinLockAcquireCount)" -ge $((acquired + 4000)) ]
}
wait_for enough_locks_are_acquired
echo stop >$S/state
cat $D/counters >linux.after
cat $S/header $S/cpu* >linux.etl
cat $S/stats >linux.stats
dmesg | sed -n 's/.*linux_locks: //p' >linux.truth
cat $D/linux
check "linux: the end of the session restores the functions" spinning_hooks_are_off

# A session of NT's locks starts before the redirection and stops during it.
echo PERF_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
echo start >$S/state
echo stop >$D/sessions/1/state
check "linux: the end of another session keeps the redirection" spinning_hooks_are_on
echo stop >$S/state
check "linux: the end of both sessions restores the functions" spinning_hooks_are_off

start_load 10000
times=0
failures=0
turns=$([ -e few ] && echo 2 || echo 4)
unmatched=$(print_counter_sum Unmatched)
untracked=$(print_counter_sum Untracked)
while [ $times -lt $turns ]; do
	echo start >$S/state
	usleep 100000
	echo stop >$S/state
	spinning_hooks_are_off >/dev/null || failures=$((failures + 1))
	times=$((times + 1))
done
check "linux: attached and detached under load: no slot stays in use" is $failures 0
check "linux: no release is unmatched" is "$(print_counter_sum Unmatched)" "$unmatched"
check "linux: no acquisition is untracked" is "$(print_counter_sum Untracked)" "$untracked"
cat $D/linux $D/counters
end_load
start_load 300000

# The tracepoint enables the redirection by a work item, that is, some time later.
echo 1 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint redirects" wait_for spinning_hooks_are_on
wait_for grep -q ' linux_spinlock: ' $T/trace
check "linux: the tracepoint prints callers as symbols" \
	grep -E ' linux_spinlock: .* caller=[a-z_].*acquire_mode=' $T/trace
echo 0 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint's end restores the functions" wait_for spinning_hooks_are_off

check "linux: record enables spin locks by default" ntklog record --no-names \
	-o linux-default.etl -- find /sys/kernel /proc/sys -name none
ntklog report linux-default.etl --json >linux-default.json
check "linux: the end of record restores the functions" spinning_hooks_are_off
ntklog list >list.txt
check "linux: list shows the groups as available" \
	grep -E "linux_spinlock .* a sample of the releases of Linux' own spin locks\$" list.txt

echo 1 >$T/events/ntklog/linux_spinlock/enable
wait_for spinning_hooks_are_on
echo start >$S/state
check "linux: the module unloads while functions are redirected" rmmod ntklog
check "linux: unloading restores the functions" is "$(count_redirected_functions)" 0
check "linux: loads with linux_locks=0" insmod ntklog.ko linux_locks=0
check "linux: linux_locks=0 is reported as the reason" grep 'spinlock: unavailable: linux_locks=0' $D/linux
ntklog list >list.txt
check "linux: list shows linux_locks=0 as the reason" grep 'linux_spinlock.*: unavailable: linux_locks=0' list.txt
rmmod ntklog
end_load
check "linux: the kernel log has no warning" kernel_is_silent
dmesg >linux.dmesg
