# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Redirect and restore the functions of Linux' locks again and again during a mixed load.
#
# Variables that the step sets:
# $pause: microseconds between two rounds of the load, and between two turns of each activity
# $seconds: minimum duration of the load
# $types, $threads: with locktorture.ko, the kernel's lock types to test one after the other, and
# the number of its writers and of its readers
# $stride, $seed: with failslab and $stride > 0, allocations fail at the end: see fail.c

. ./linux_lib.sh
. ./sleeping_lib.sh

PROCESSOR=/sys/devices/system/cpu/cpu3/online

# repeat_until_stop NAME: call the function NAME until /tmp/stop exists. /tmp/again.NAME has the
# number of calls.
repeat_until_stop()
{
	count=0
	while [ ! -e /tmp/stop ]; do
		"$1"
		count=$((count + 1))
		echo $count >"/tmp/again.$1"
		usleep "$pause"
	done
}

# all_have_run NUMBER: test that NUMBER files /tmp/again.* exist and each has 1 or more. A file that
# is just being written is empty.
all_have_run()
{
	cat /tmp/again.* | awk -v all="$1" '{ few += $1 < 1 } END { exit few || NR < all }'
}

torture_linux_locks()
{
	[ $tortures = 0 ] || rmmod locktorture
	insmod locktorture.ko torture_type="$1" verbose=0 stat_interval=0 \
		nwriters_stress="$threads" nreaders_stress="$threads"
}

print_uptime()
{
	cut -d . -f 1 /proc/uptime
}

start_and_stop_session()
{
	echo start >$S/state
	usleep 100000
	echo stop >$S/state
	usleep 100000
}

# A write is refused while a session uses the setting, and waits for a session that is starting or
# stopping.
write_with_retries()
{
	tries=0
	until echo "$2" 2>/dev/null >"$1"; do
		[ $tries -lt 2 ] || return
		tries=$((tries + 1))
		usleep 100000
	done
	echo "$2" >>/tmp/taken
}

change_settings()
{
	case $((count % 3)) in
	0) write_with_retries $D/linux_mode sampled ;;
	1) write_with_retries $D/linux_mode waits ;;
	2) write_with_retries $D/linux_mode full ;;
	esac
	write_with_retries $P/blockers $((count % 2))
}

overlap_sessions()
{
	echo start >$D/sessions/1/state
	echo 1 >$T/events/ntklog/linux_spinlock/enable
	echo start >$D/sessions/2/state
	usleep 50000
	echo stop >$D/sessions/1/state
	echo 0 >$T/events/ntklog/linux_spinlock/enable
	cat $D/linux $D/counters >/dev/null
	echo stop >$D/sessions/2/state
	usleep 50000
}

unplug_cpu()
{
	echo 0 >$PROCESSOR
	usleep 100000
	echo 1 >$PROCESSOR
	usleep 100000
}

# take_ftrace_lock: keep others out until rmdir /tmp/ftrace. If a kprobe on a function is removed
# while ftrace is disabled, the kernel may disable ftrace for ever (6.12.117, ftrace_shutdown()).
take_ftrace_lock()
{
	until mkdir /tmp/ftrace 2>/dev/null; do
		usleep 10000
	done
}

use_tracers()
{
	take_ftrace_lock
	echo function >$T/current_tracer
	echo 1 >$T/events/kprobes/ntklog_test/enable
	usleep 50000
	echo nop >$T/current_tracer
	usleep 50000
	echo 0 >$T/events/kprobes/ntklog_test/enable
	rmdir /tmp/ftrace
	usleep 50000
}

# The first write is refused while functions are redirected.
toggle_ftrace()
{
	take_ftrace_lock
	echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled
	echo 1 >/proc/sys/kernel/ftrace_enabled
	rmdir /tmp/ftrace
	usleep 300000
}

# Add the number of kinds that were found right to /tmp/kinds.
run_selftest()
{
	cat $D/linux_selftest >/tmp/selftest
	! grep differs /tmp/selftest >>/tmp/differs
	kinds=$((kinds + $(grep -c "functions do what the kernel's own do" /tmp/selftest)))
	echo $kinds >/tmp/kinds
	usleep 100000
}

load_and_unload_module()
{
	insmod linux_locks.ko hold=1000
	rmmod linux_locks
	usleep 200000
}

events_are_balanced()
{
	cat $D/sessions/[012]/stats
	cat $D/sessions/[012]/stats | awk '
		$1 == "total" { seen++; bad += $2 != $3 + $4 } END { exit seen != 3 || bad }'
}

load_ntklog()
{
	insmod ntklog.ko buffers=64
	echo $LINUX $SLEEPING >$S/group_mask
	echo PERF_SPINLOCK PERF_LINUX_SPINLOCK PERF_CONTEXT_SWITCH >$D/sessions/1/group_mask
	echo PERF_LINUX_RWLOCK PERF_LINUX_MUTEX >$D/sessions/2/group_mask
}

load_ntklog
check "strain: this kernel's locks can be redirected" sh -c \
	"cat $D/linux; ! grep -E '^(spinlock|rwlock|mutex|rwsem): unavailable' $D/linux"
echo 'p:ntklog_test _raw_spin_lock' >$T/kprobe_events
echo '_raw_spin_*' '_raw_read_*' '_raw_write_*' >$T/set_ftrace_filter
# Disable the report of slow handlers: the host may stop a virtual CPU at any time.
echo 1000000000000 >/sys/kernel/debug/x86/nmi_longest_ns
insmod nmi_locks.ko
start_load "$pause"
[ ! -e locktorture.ko ] || insmod torture.ko
activities=
kinds=0
echo 0 >/tmp/kinds
for activity in start_and_stop_session overlap_sessions unplug_cpu use_tracers toggle_ftrace \
	run_selftest load_and_unload_module change_settings; do
	echo 0 >/tmp/again.$activity
	repeat_until_stop $activity &
	activities="$activities $!"
done
tortures=0
for type in $types; do
	[ ! -e locktorture.ko ] || torture_linux_locks "$type"
	tortures=$((tortures + 1))
	end=$(($(print_uptime) + seconds / $(echo $types | wc -w)))
	until [ "$(print_uptime)" -ge $end ]; do
		sleep 1
	done
done
# In mode waits a self-test has nothing to test.
until all_have_run 8 && [ "$(cat /tmp/kinds)" -gt 0 ] 2>/dev/null; do
	sleep 1
done
touch /tmp/stop
# shellcheck disable=SC2086 # numbers
wait $activities
grep . /tmp/again.*
cat /tmp/taken
check "strain: spin locks and rwlocks are restored at the end" wait_for spinning_hooks_are_off
check "strain: sleeping locks are unhooked at the end" wait_for sleeping_hooks_are_off
check "strain: the counters of sleeping locks balance" sleeping_counts_are_balanced
check "strain: the self-test tested at least one kind" [ "$(cat /tmp/kinds)" -gt 0 ]
check "strain: the self-test found no difference" is "$(cat /tmp/differs)" ""
check "strain: the self-tests at attaching found no difference" sh -c '! dmesg | grep "does not do what the kernel"'
check "strain: events generated are written or lost" events_are_balanced
cat $D/counters
check "strain: no release is unmatched" is "$(print_counter_sum Unmatched)" 0

rounds=0
while [ $rounds -lt 2 ]; do
	echo start >$S/state
	echo 1 >$T/events/ntklog/linux_spinlock/enable
	spinning_hooks_are_on || break
	rmmod ntklog || break
	[ "$(count_redirected_functions)" = 0 ] || break
	load_ntklog
	rounds=$((rounds + 1))
done
check "strain: unloaded twice under load while they are redirected" is $rounds 2
rmmod nmi_locks
end_load
if [ -e locktorture.ko ]; then
	rmmod locktorture
	check "strain: the kernel's torture of its locks succeeds" sh -c \
		'dmesg | grep "torture:.*End of test: "
		! dmesg | grep "torture:.*End of test: " | grep -v SUCCESS &&
		[ "$(dmesg | grep -c "torture:.*End of test: SUCCESS")" = '$tortures' ]'
fi
if [ -e /sys/kernel/debug/failslab ] && [ "$stride" != 0 ]; then
	echo N >/sys/kernel/debug/failslab/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/failslab/verbose
	./fail start $S "$stride" "$seed" $D/linux
	check "strain: no memory: no function stays redirected" spinning_hooks_are_off
	echo start >$S/state
	check "strain: memory again: functions are redirected" spinning_hooks_are_on
	echo stop >$S/state
	check "strain: memory again: functions are restored" spinning_hooks_are_off
fi
rmmod ntklog
K=/sys/kernel/debug/kmemleak
# kmemleak needs two scans, five seconds apart.
[ ! -e $K ] || { echo scan >$K; sleep 6; echo scan >$K; cat $K >kmemleak.log; }
check "strain: NMIs took locks on each processor" sh -c 'dmesg | grep "nmi_locks: cpu"
	[ $(dmesg | grep -cE "nmi_locks: cpu.* [1-9][0-9]* NMIs, [1-9][0-9]* locks") = 4 ]'
check "strain: the lock functions changed nothing but the lock" sh -c '! dmesg | grep "linux_locks: wrong"'
[ -e locktorture.ko ] || check "strain: the kernel log has no warning" kernel_is_silent
dmesg >dmesg.log
