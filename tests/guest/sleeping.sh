# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Linux' own locks that sleep: a module that knows the truth, attaching and detaching under load,
# and threads that are blocked meanwhile. check_sleeping.py looks at what was written;
# sleeping_others.sh goes on.

. ./linux_lib.sh
. ./sleeping_lib.sh

probed >probed.before
insmod ntklog.ko buffers=64 excessive_first_ms=300 excessive_next_ms=400
cat $D/linux
check "sleeping: loading registers no probe" is "$(probed)" "$(cat probed.before)"
check "sleeping: and makes no records of tasks" no_task_records
if grep -E "^($(echo $SLEEPING_KINDS | tr ' ' '|')): unavailable" $D/linux; then
	echo "not ok - sleeping: this kernel's locks can be watched"
	exit 1
fi
check "sleeping: nothing is hooked while nobody wants it" sleeping_is_off

echo 1 >$R/release_sample_rate
echo $SLEEPING >$S/group_mask
check "sleeping: the groups have names" is "$(cat $S/group_mask)" "0xa0000004 PERF_LINUX_MUTEX
0xa0000008 PERF_LINUX_RWSEM
0xa0000010 PERF_LINUX_SEMAPHORE
0xa0000020 PERF_LINUX_RT_MUTEX
0xa0000040 PERF_LINUX_PERCPU_RWSEM
0xa0000080 PERF_LINUX_WW_MUTEX"
echo start >$S/state
check "sleeping: a session hooks all kinds" sleeping_is_on
check "sleeping: and all functions" is "$(hooked)" $SLEEPING_FUNCTIONS
check "sleeping: then exits of tasks are observed" sh -c "echo '$(probed)' | grep sched_process_exit"
check "sleeping: spin locks are left alone" is "$(redirected)" 0
check "sleeping: the module with the truth runs" insmod sleeping_locks.ko long_ms=3000
rmmod sleeping_locks
echo stop >$S/state
cat $D/counters >sleeping.counters
cat $S/header $S/cpu* >sleeping.etl
cat $S/stats >sleeping.stats
dmesg | sed -n 's/.*sleeping_locks: //p' >sleeping.truth
check "sleeping: the end of the session leaves all alone" sleeping_is_off
check "sleeping: each acquisition has come to an end" sleeping_balanced
check "sleeping: the records of living tasks are freed" no_task_records
check "sleeping: and no probe is left" is "$(probed)" "$(cat probed.before)"

# With NT's resources, spin locks and a second session: what one wants goes on.
echo PERF_LINUX_MUTEX PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
# Not every architecture's spin locks can be watched.
check "sleeping: one kind alone is on" is "$(grep -c ': on' $D/linux)" \
	$((2 - $(grep -c '^spinlock: unavailable' $D/linux)))
echo start >$S/state
check "sleeping: all with a second session" sleeping_is_on
echo stop >$S/state
check "sleeping: its end leaves the other's on" grep -q '^mutex: on' $D/linux
check "sleeping: and no more of those that sleep" is "$(grep -cE "^($(echo $SLEEPING_KINDS |
	tr ' ' '|')): on" $D/linux)" 1
echo stop >$D/sessions/1/state
check "sleeping: off" sleeping_is_off

echo 1000 >$R/release_sample_rate
load 50000
times=0
left=0
turns=$([ -e few ] && echo 2 || echo 4)
while [ $times -lt $turns ]; do
	echo start >$S/state
	usleep 200000
	echo stop >$S/state
	sleeping_is_off >/dev/null || left=$((left + 1))
	times=$((times + 1))
done
check "sleeping: on and off some times under load leaves nothing behind" is $left 0
check "sleeping: under load each acquisition has come to an end" sleeping_balanced
check "sleeping: under load the records are freed" no_task_records
# Without are threads at their end, and new ones that came too fast.
most_had_room()
{
	echo "untracked $(sum SleepingUntracked) of $(sum SleepingAcquired)"
	[ $(($(sum SleepingUntracked) * 2)) -lt "$(sum SleepingAcquired)" ]
}
check "sleeping: most had room" most_had_room
cat /tmp/check.log

end_load

# The tracepoint turns them on by itself, a moment later, and tells kinds.
echo 100 >$R/release_sample_rate
echo 1 >$T/events/ntklog/linux_resource/enable
check "sleeping: the tracepoint hooks" wait_for sleeping_is_on
load 100000
wait_for grep -q ' linux_resource: kind=rwsem' $T/trace
check "sleeping: the tracepoint tells kinds, and callers as symbols" \
	grep -E ' linux_resource: kind=(rwsem|mutex) action=release_.* caller=[a-z_].*hold_time=' $T/trace
end_load
echo 0 >$T/events/ntklog/linux_resource/enable
check "sleeping: the tracepoint's end leaves all alone" wait_for sleeping_is_off
echo 1000 >$R/release_sample_rate

# Threads that are blocked in each kind while all is switched, and while we go.
echo start >$S/state
check "sleeping: threads are blocked" insmod sleeping_locks.ko block=1
check "sleeping: which is told" [ "$(sleeping_now 'waited for')" -ge 6 ]
check "sleeping: as are their owners" [ "$(sleeping_now owned)" -ge 6 ]
echo stop >$S/state
check "sleeping: off while they are blocked" sleeping_is_off
echo start >$S/state
check "sleeping: on while they are blocked" sleeping_is_on
check "sleeping: they get their locks" rmmod sleeping_locks
check "sleeping: off after them" sh -c "echo stop >$S/state"
check "sleeping: with blocked ones each acquisition has come to an end" sleeping_balanced
echo start >$S/state
insmod sleeping_locks.ko block=1
check "sleeping: we go while threads are blocked" rmmod ntklog
check "sleeping: and nothing is left" is "$(hooked)" 0
rmmod sleeping_locks
insmod ntklog.ko buffers=64
echo $SLEEPING >$S/group_mask
insmod sleeping_locks.ko block=1
echo start >$S/state
check "sleeping: on for those that were blocked before" sleeping_is_on
rmmod sleeping_locks
echo stop >$S/state
check "sleeping: off after those" sleeping_is_off

# What a user gets who says nothing, and in a cheaper mode.
load 100000
echo 100 >$R/release_sample_rate
check "sleeping: record takes them without being told" ntklog record --no-names \
	-o sleeping-default.etl -- find /sys/kernel /proc/sys -name none
end_load
echo 1000 >$R/release_sample_rate
ntklog report sleeping-default.etl --json >sleeping-default.json
check "sleeping: and all is off again" sleeping_is_off
ntklog record --no-names --mode sampled -o sleeping-sampled.etl --duration 0.2 2>sleeping-sampled.txt
check "sleeping: not in a mode that is to be cheap" \
	sh -c "! ntklog info sleeping-sampled.etl | grep -i mutex"
echo full >$D/linux_mode
ntklog list >list.txt
check "sleeping: list has no trouble with them" grep linux_percpu_rwsem list.txt

# Unload while all are hooked, under load.
load 50000
for again in 1 2; do
	echo 1 >$T/events/ntklog/linux_resource/enable
	wait_for sleeping_is_on
	echo start >$S/state
	usleep 300000
	check "sleeping: unloading leaves all alone ($again)" rmmod ntklog
	check "sleeping: and nothing is left ($again)" is "$(hooked)" 0
	insmod ntklog.ko
	echo $SLEEPING >$S/group_mask
done
end_load
rmmod ntklog
check "sleeping: the kernel has nothing to complain of" kernel_is_silent
