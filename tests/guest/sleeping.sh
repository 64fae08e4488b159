# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Linux' sleeping locks: sleeping_locks.ko prints the expected events, which check_sleeping.py
# compares with the recordings.

. ./linux_lib.sh
. ./sleeping_lib.sh

print_probed_tracepoints >probed.before
insmod ntklog.ko buffers=64 excessive_first_ms=300 excessive_next_ms=400
cat $D/linux
check "sleeping: loading registers no probe" is "$(print_probed_tracepoints)" "$(cat probed.before)"
check "sleeping: loading allocates no record of a task" task_records_are_gone
if grep -E "^($(echo $SLEEPING_KINDS | tr ' ' '|')): unavailable" $D/linux; then
	echo "not ok - sleeping: this kernel's locks can be watched"
	exit 1
fi
check "sleeping: no session: no function is hooked" sleeping_hooks_are_off

echo 1 >$R/release_sample_rate
echo $SLEEPING >$S/group_mask
check "sleeping: the groups have names" is "$(cat $S/group_mask)" "0xa0000004 PERF_LINUX_MUTEX
0xa0000008 PERF_LINUX_RWSEM
0xa0000010 PERF_LINUX_SEMAPHORE
0xa0000020 PERF_LINUX_RT_MUTEX
0xa0000040 PERF_LINUX_PERCPU_RWSEM
0xa0000080 PERF_LINUX_WW_MUTEX"
echo start >$S/state
check "sleeping: a session hooks all kinds" sleeping_hooks_are_on
check "sleeping: a session hooks all functions" is "$(count_hooked_functions)" $SLEEPING_FUNCTIONS
check "sleeping: a session observes exits of tasks" sh -c \
	"echo '$(print_probed_tracepoints)' | grep sched_process_exit"
check "sleeping: a session leaves spin locks unhooked" is "$(count_redirected_functions)" 0
check "sleeping: sleeping_locks runs" insmod sleeping_locks.ko long_ms=3000
rmmod sleeping_locks
echo stop >$S/state
cat $D/counters >sleeping.counters
cat $S/header $S/cpu* >sleeping.etl
cat $S/stats >sleeping.stats
dmesg | sed -n 's/.*sleeping_locks: //p' >sleeping.truth
check "sleeping: the end of the session removes the hooks" sleeping_hooks_are_off
check "sleeping: the counters balance after the end of the session" sleeping_counts_are_balanced
check "sleeping: the records of living tasks are freed" task_records_are_gone
check "sleeping: the end of the session unregisters the probes" is \
	"$(print_probed_tracepoints)" "$(cat probed.before)"

# With the greatest rate no release is sampled: a release is written only because its acquisition
# waited or because others wait for the lock.
echo 4294967295 >$R/release_sample_rate
lines=$(dmesg | wc -l)
echo start >$S/state
check "sleeping: blockers: sleeping_locks runs" insmod sleeping_locks.ko blockers=1
rmmod sleeping_locks
echo stop >$S/state
cat $S/header $S/cpu* >sleeping-blockers.etl
dmesg | tail -n +$((lines + 1)) | sed -n 's/.*sleeping_locks: //p' >sleeping-blockers.truth
check "sleeping: blockers: record runs sleeping_locks" ntklog record \
	-e linux_mutex,linux_rwsem,linux_semaphore -o sleeping-callers.etl -- \
	insmod sleeping_locks.ko blockers=1
rmmod sleeping_locks
ntklog report --json sleeping-callers.etl >sleeping-callers.json
echo 1 >$R/release_sample_rate

echo PERF_LINUX_MUTEX PERF_SYNC_OBJECTS PERF_LINUX_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
# The session has two kinds of Linux' locks; some architectures cannot redirect spin locks.
check "sleeping: a session of one kind enables this kind only" is "$(grep -c ': on' $D/linux)" \
	$((2 - $(grep -c '^spinlock: unavailable' $D/linux)))
echo start >$S/state
check "sleeping: a second session enables all kinds" sleeping_hooks_are_on
echo stop >$S/state
check "sleeping: the second session's end keeps the first one's kind" grep -q '^mutex: on' $D/linux
check "sleeping: the second session's end disables the other kinds" is "$(grep -cE "^($(echo $SLEEPING_KINDS |
	tr ' ' '|')): on" $D/linux)" 1
echo stop >$D/sessions/1/state
check "sleeping: the end of both sessions removes the hooks" sleeping_hooks_are_off

echo 1000 >$R/release_sample_rate
start_load 50000
times=0
left=0
turns=$([ -e few ] && echo 2 || echo 4)
while [ $times -lt $turns ]; do
	echo start >$S/state
	usleep 200000
	echo stop >$S/state
	sleeping_hooks_are_off >/dev/null || left=$((left + 1))
	times=$((times + 1))
done
check "sleeping: attached and detached under load: no hook is left" is $left 0
check "sleeping: attached and detached under load: counters balance" sleeping_counts_are_balanced
check "sleeping: attached and detached under load: the records of tasks are freed" \
	task_records_are_gone
# most_holds_are_tracked: test that more than half of the acquisitions are tracked. A task that
# exits has no slot, nor has a task for which no spare record was left.
most_holds_are_tracked()
{
	echo "untracked $(print_counter_sum SleepingUntracked) of $(print_counter_sum SleepingAcquired)"
	[ $(($(print_counter_sum SleepingUntracked) * 2)) -lt "$(print_counter_sum SleepingAcquired)" ]
}
check "sleeping: most acquisitions are tracked" most_holds_are_tracked
cat /tmp/check.log

end_load

# The tracepoint attaches the hooks by a work item, that is, some time later.
echo 100 >$R/release_sample_rate
echo 1 >$T/events/ntklog/linux_resource/enable
check "sleeping: the tracepoint hooks" wait_for sleeping_hooks_are_on
start_load 100000
wait_for grep -q ' linux_resource: kind=rwsem' $T/trace
check "sleeping: the tracepoint prints kinds, and callers as symbols" \
	grep -E ' linux_resource: kind=(rwsem|mutex) action=release_.* caller=[a-z_].*hold_time=' $T/trace
end_load
echo 0 >$T/events/ntklog/linux_resource/enable
check "sleeping: the tracepoint's end removes the hooks" wait_for sleeping_hooks_are_off
echo 1000 >$R/release_sample_rate

echo start >$S/state
check "sleeping: blocked threads: sleeping_locks runs" insmod sleeping_locks.ko block=1
check "sleeping: blocked threads: waiters are counted" \
	[ "$(print_sleeping_number 'waited for')" -ge 6 ]
check "sleeping: blocked threads: owners are counted" [ "$(print_sleeping_number owned)" -ge 6 ]
cat $D/held >held.txt
check "sleeping: blocked threads: held shows each lock, its owner and its waiter, and no other" is \
	"$(sed -n 's/ [0-9]* [0-9]* [0-9]* .*\[sleeping_locks\].*//p' held.txt | cut -d ' ' -f 2- | sort)" \
	"$(print_expected_held)"
check "sleeping: blocked threads: held has the caller and the task" \
	grep -E '^0x[0-9a-f]+ mutex exclusive held [0-9]+ [0-9]+ 1 a_mutex.* acquire_mutex\+.* owner$' held.txt
check "sleeping: blocked threads: held has the stack of a holder that is blocked" held_has_stack
print_held_age()
{
	awk '/ mutex exclusive held .* a_mutex.* owner$/ { print $6 }' $D/held
}
age=$(print_held_age)
usleep 100000
check "sleeping: blocked threads: held has the time since the acquisition" \
	[ "$(print_held_age)" -ge $((age + 100000)) ]
check "sleeping: blocked threads: reading held takes no lock" reading_held_takes_no_lock
ntklog held >held-tool.txt
check "sleeping: blocked threads: ntklog held prints a mutex, its holder and its waiter" sh -c \
	"grep -A 40 '^mutex a_mutex' held-tool.txt | sed '/^$/q' | tr '\n' ' ' |
		grep '  held  exclusive .* owner ([0-9]*) in acquire_mutex .*  waits exclusive .* waiter ('"
check "sleeping: blocked threads: ntklog held finds no deadlock" is "$(grep -c ^Deadlock held-tool.txt)" 0
echo stop >$S/state
cat $S/header $S/cpu* >sleeping-open.etl
check "sleeping: blocked threads: the file of a stopped session has what held had" \
	is "$(ntklog dump sleeping-open.etl | open_holds_of_dump held.txt)" \
		"$(open_holds_of_held held.txt)"
ntklog report sleeping-open.etl >sleeping-open.txt
check "sleeping: blocked threads: the report tells the oldest of them, and counts the rest" \
	is "$(grep -c '^Held at the end, .*, 1 waits: ' sleeping-open.txt) $(grep \
		'^Held at the end: .* more' sleeping-open.txt)" \
	"3 Held at the end: 3 more, in dump's NtklogOpenHold."
check "sleeping: blocked threads: hooks are removed" sleeping_hooks_are_off
check "sleeping: blocked threads: without hooks held is empty" is "$(wc -l <$D/held)" 1
echo start >$S/state
check "sleeping: blocked threads: hooks are attached" sleeping_hooks_are_on
check "sleeping: blocked threads: each thread acquires its lock" rmmod sleeping_locks
check "sleeping: blocked threads: the session stops afterwards" sh -c "echo stop >$S/state"
check "sleeping: blocked threads: counters balance" sleeping_counts_are_balanced
echo start >$S/state
insmod sleeping_locks.ko block=1
check "sleeping: blocked threads: the module unloads" rmmod ntklog
check "sleeping: unloading removes the hooks" is "$(count_hooked_functions)" 0
rmmod sleeping_locks
insmod ntklog.ko buffers=64
echo $SLEEPING >$S/group_mask
insmod sleeping_locks.ko block=1
echo start >$S/state
check "sleeping: threads blocked before the load: hooks are attached" sleeping_hooks_are_on
rmmod sleeping_locks
echo stop >$S/state
check "sleeping: threads blocked before the load: hooks are removed" sleeping_hooks_are_off

start_load 100000
echo 100 >$R/release_sample_rate
check "sleeping: record enables all kinds by default" ntklog record --no-names \
	-o sleeping-default.etl -- find /sys/kernel /proc/sys -name none
end_load
echo 1000 >$R/release_sample_rate
ntklog report sleeping-default.etl --json >sleeping-default.json
check "sleeping: the end of record removes the hooks" sleeping_hooks_are_off
ntklog record --no-names --mode sampled -o sleeping-sampled.etl --duration 0.2 2>sleeping-sampled.txt
check "sleeping: record --mode sampled enables no sleeping lock" \
	sh -c "! ntklog info sleeping-sampled.etl | grep -i mutex"
echo full >$D/linux_mode
ntklog list >list.txt
check "sleeping: list shows the groups as available" grep linux_percpu_rwsem list.txt

start_load 50000
for again in 1 2; do
	echo 1 >$T/events/ntklog/linux_resource/enable
	wait_for sleeping_hooks_are_on
	echo start >$S/state
	usleep 300000
	check "sleeping: the module unloads while functions are hooked ($again)" rmmod ntklog
	check "sleeping: unloading removes the hooks ($again)" is "$(count_hooked_functions)" 0
	insmod ntklog.ko
	echo $SLEEPING >$S/group_mask
done
end_load
rmmod ntklog
check "sleeping: the kernel log has no warning" kernel_is_silent
