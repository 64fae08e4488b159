# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The end of a recording leaves no session started, and no other session changed. Linux' own locks
# are recorded, because their start takes long enough to be interrupted.

E=linux_spinlock,linux_mutex
KEPT=/tmp/recordings
mkdir -p $KEPT

# no_session_is_left: no session is started, claimed, or has buffers to read.
no_session_is_left()
{
	is "$(cat $D/sessions/*/state | sort -u)" stopped &&
		is "$(cat $D/sessions/*/owner | sort -u)" none && is "$(cat $D/group_mask)" 0x0 &&
		! ntklog status --json | grep '"unread": [1-9]'
}

# running_groups_are GROUPS: test that the started sessions, in the order of their numbers, have
# these groups.
running_groups_are()
{
	is "$(for n in 0 1 2 3 4 5 6 7; do
		! grep -q started $D/sessions/$n/state || sed 's/^[^ ]* //' $D/sessions/$n/group_mask |
			tr '\n' ' '
	done)" "$*"
}

exit_status_is()
{
	expected=$1
	shift
	"$@"
	is $? "$expected"
}

# process_claims_or_is_gone PROCESS: test that the process owns a session or does not exist.
process_claims_or_is_gone()
{
	! kill -0 "$1" 2>/dev/null || grep -q "^$1 " $D/sessions/*/owner
}

# Signals at several moments after the start of a session, for each command that starts one. SIGINT
# is not tested, because programs that a shell starts in the background ignore it.
for command in "record -o $KEPT/killed.etl --no-names" "top --once -d 60" start; do
	for delay in 0 40 300; do
		for signal in TERM KILL; do
			# shellcheck disable=SC2086 # words
			ntklog $command -e $E >/dev/null 2>&1 &
			program=$!
			wait_for process_claims_or_is_gone $program
			usleep ${delay}000
			kill -$signal $program 2>/dev/null
			wait $program 2>/dev/null
			# If ntklog start ended before the signal, its session still runs: stop it.
			[ "$command" != start ] || ntklog stop -o $KEPT/started.etl --no-names >/dev/null 2>&1
			check "recordings: SIG$signal $delay ms into ntklog ${command%% *} leaves nothing" \
				wait_for no_session_is_left
		done
	done
done

ntklog record -e contextswap --no-names -o one.etl 2>one.log &
one=$!
wait_for running_groups_are "PERF_CONTEXT_SWITCH "
check "recordings: start of a running session is refused" exit_status_is 1 ntklog start 7 -e spinlock
check "recordings: a refused start leaves the running session's groups unchanged" running_groups_are "PERF_CONTEXT_SWITCH "
check "recordings: a write of stop to a recording's state file is refused" write_is_refused busy $D/sessions/7/state stop
check "recordings: a second record to the same file is refused" sh -c "! ntklog record -e spinlock --no-names \
	-o one.etl --duration 0.2 2>/tmp/same && grep 'another recording is writing this file' /tmp/same"
ntklog top -e resource -d 60 >/dev/null &
top=$!
wait_for running_groups_are "PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH "
check "recordings: top beside a recording gets another session" running_groups_are \
	"PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH "
check "recordings: a second record beside the first gets another session" ntklog record -e linux_mutex --no-names -o two.etl \
	--duration 0.5
kill $top
wait $top
check "recordings: the first recording continues after the others end" running_groups_are "PERF_CONTEXT_SWITCH "
kill $one
check "recordings: the first recording ends with status 0 at SIGTERM" wait $one
check "recordings: the first recording's file has no events of the other sessions" sh -c \
	'ntklog dump one.etl | grep -q ContextSwap && ! ntklog dump one.etl | grep -q Resource'
check "recordings: record's closing line counts the events in the file" is \
	"$(sed -n 's/.*one.etl: \([0-9]*\) events.*/\1/p' one.log)" \
	"$(ntklog info one.etl | awk '/^Events/ { counts = 1; next } counts { sum += $2 }
		END { print sum + 0 }')"

# record --on EVENT keeps the events around an event: here the process $sleeper gets a CPU, which it
# does ten times a second or so.
touch /tmp/sleeper
while [ -e /tmp/sleeper ]; do
	usleep 100000
done &
sleeper=$!
check "recordings: record --on ends with status 0 after the event" ntklog record -e contextswap --no-names -o trap.etl \
	--on "NewThreadId == $sleeper && time > 1" --before 1 --after 0.5 --duration 60
rm /tmp/sleeper
wait $sleeper
check "recordings: the file of record --on has the event" sh -c \
	"ntklog dump trap.etl --filter 'NewThreadId == $sleeper && time > 1' | grep ContextSwap"
check "recordings: the file of record --on has other events, too" sh -c \
	"[ \$(ntklog dump trap.etl | grep -c ContextSwap) -gt 1 ]"
check "recordings: record --on without such an event ends with status 3" exit_status_is 3 ntklog record -e contextswap --no-names \
	-o trap2.etl --on "wait > 3600s" --duration 1
check "recordings: record --on without such an event writes no file" [ ! -e trap2.etl ]

mount -t tmpfs -o size=300k none $KEPT
ntklog record -e contextswap,linux_spinlock -b 64K --no-names -o $KEPT/full_disk.etl --duration 60 \
	2>full_disk.log
check "recordings: record on a full disk ends with status 1" is $? 1
cat full_disk.log
check "recordings: record on a full disk reports the error" grep -q 'full_disk.etl: No space left on device' full_disk.log
cp $KEPT/full_disk.etl full_disk.etl
check "recordings: the file on a full disk is readable" ntklog info full_disk.etl
check "recordings: the header of the file on a full disk has the number of its buffers" sh -c "ntklog info --json full_disk.etl |
	grep -q '\"BuffersWritten\": '\$((\$(stat -c %s full_disk.etl) / 65536)),"
rm $KEPT/full_disk.etl
check "recordings: record on a full disk leaves no session started" no_session_is_left
ntklog start 3 -e contextswap -b 64K -n 64 >start.log
check "recordings: start prints the session's groups" grep -q 'session 3 is started: contextswap;' start.log
find /sys/kernel >/dev/null
mount -o remount,size=64k $KEPT
check "recordings: stop on a full disk fails" sh -c \
	"! ntklog stop 3 -o $KEPT/stop.etl --no-names 2>stop.log && grep 'nothing was read' stop.log"
check "recordings: a second stop to another disk succeeds" ntklog stop 3 -o stop.etl --no-names
check "recordings: the second stop's file has at least three buffers" sh -c '[ $(stat -c %s stop.etl) -ge $((3 * 65536)) ]'
umount $KEPT
check "recordings: the second stop's file is readable" ntklog info stop.etl
check "recordings: the second stop leaves the session free" no_session_is_left

# Write the names of a trace that cat has made.
echo PERF_CONTEXT_SWITCH PERF_LINUX_MUTEX >$D/sessions/2/group_mask
echo start >$D/sessions/2/state
# The kernel does this by a work item on each CPU.
echo 1 >/proc/sys/vm/stat_refresh
echo stop >$D/sessions/2/state
cat $D/sessions/2/header $D/sessions/2/cpu* >cat.etl
check "recordings: names of a file without names succeeds" ntklog names cat.etl
check "recordings: the names file has the names of the trace's threads" sh -c "ntklog dump cat.etl | grep ContextSwap | grep -q kworker"
check "recordings: names of a file with names is refused" exit_status_is 1 ntklog names cat.etl
echo PERF_SPINLOCK >$D/sessions/2/group_mask

print_settings()
{
	echo "$(cat $P/acquire_sample_rate $R/release_sample_rate $P/blockers)" | tr '\n' ' '
}
echo 1000 >$P/acquire_sample_rate
echo 1000 >$R/release_sample_rate
# The overlapping recordings above have left blockers enabled and rates changed.
echo 0 >$P/blockers
ntklog record -e linux_spinlock --no-names -o blockers.etl &
recorder=$!
wait_for [ -s blockers.etl ]
check "recordings: record --blockers sets prime rates and enables blockers" is "$(print_settings)" "1009 1009 1 "
kill $recorder
check "recordings: record --blockers ends with status 0 at SIGTERM" wait $recorder
check "recordings: the end of record --blockers restores the settings" is "$(print_settings)" "1000 1000 0 "
check "recordings: record --blockers in mode waits is refused with the remedy" sh -c "! ntklog record --mode waits --blockers \
	-o /tmp/x.etl --duration 0.2 2>/tmp/said && grep 'use --mode full' /tmp/said"
check "recordings: the refused record restores the mode" is "$(cat $D/linux_mode)" full
check "recordings: the kernel log has no warning" kernel_is_silent
