# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# check_tool.py checks the files.

exit_status_is()
{
	expected=$1
	shift
	"$@"
	is $? "$expected"
}

output_has()
{
	words=$1
	shift
	"$@" >/tmp/said 2>&1
	grep -q -- "$words" /tmp/said || { cat /tmp/said; return 1; }
}

# The tool first reads the kernel's symbols.
wait_for_started_session()
{
	wait_for grep -q started $D/sessions/*/state
}

all_sessions_are_stopped()
{
	is "$(cat $D/sessions/*/state | sort -u)" stopped
}

print_parameters()
{
	cat $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate $P/hold_threshold |
		tr '\n' ' '
}

check "tool: list succeeds" ntklog list
check "tool: set spinlock without a hold threshold succeeds" ntklog set spinlock 2 3000 4
check "tool: set without a hold threshold keeps it" is "$(print_parameters)" "2 3000 4 1000000 "
check "tool: set with a hold threshold succeeds" ntklog set spinlock 3 2000 5 0
check "tool: set with a hold threshold sets all parameters" is "$(print_parameters)" "3 2000 5 0 "
check "tool: set refuses a hold threshold of 999999" exit_status_is 2 ntklog set spinlock 1 1000 1 \
	999999
check "tool: a refused set changes no parameter" is "$(print_parameters)" "3 2000 5 0 "
check "tool: set resource succeeds" ntklog set resource 6 7 8
check "tool: set resource sets all parameters" \
	is "$(cat $R/release_sample_rate $R/contention_sample_rate $R/excessive_timeouts | tr '\n' ' ')" "6 7 8 "
ntklog list --json >list.json
ntklog set spinlock 1 1000 1 0
ntklog set resource 1000 1 1

check "tool: start of a stopped session succeeds" ntklog start 4 -e contextswap -b 8K -n 10
check "tool: start of a started session is refused" output_has "session 4 is started already" ntklog start 4
check "tool: start with one buffer is refused" output_has '"1" is no number of buffers: 2 to 1024' ntklog start 3 -n 1
check "tool: start without memory for the buffers is refused" output_has "no memory for its buffers" \
	ntklog start 3 -n 1024 -b 1M
ntklog start 3 -n 16 -b 64K >/dev/null && ntklog stop 3 -o /dev/null >/dev/null
sleep 0.5
check "tool: stop writes a file" sh -c "ntklog stop 4 -o tool-stop.etl >tool-stop.txt"
check "tool: stop of a stopped session is refused" output_has "session 4 is not started" ntklog stop 4
echo PERF_SPINLOCK >$D/sessions/4/group_mask

# The locks are not nested, because releases of nested locks are counted together, which makes the
# estimate vary more. The tool must read the module's symbols before the module is unloaded.
cat >/tmp/recorded.sh <<'END'
. ./lib.sh
. ./linux_lib.sh
torture_acquires_enough()
{
	insmod ntklog_torture.ko duration=1 threads=2 nest=1 softirqs=0 hardirqs=0
	wait_for torture_has_ended
	wait_for grep -q ntklog_torture tool.etl.names
	rmmod ntklog_torture
	[ "$(print_counter_sum SpinLockAcquireCount)" -ge $((acquired + 11000)) ]
}
acquired=$(print_counter_sum SpinLockAcquireCount)
repeat_until torture_acquires_enough
exit 7
END
cat $D/counters >tool.before
check "tool: record has the exit status of its command" exit_status_is 7 ntklog record -o tool.etl \
	-n 60 -e spinlock,resource,contextswap -- sh /tmp/recorded.sh
cat $D/counters >tool.after
check "tool: only root can read the files" is "$(stat -c %a tool.etl tool.etl.names tool-stop.etl |
	tr '\n' ' ')" "600 600 600 "
check "tool: record of a missing command has status 127" exit_status_is 127 ntklog record -e \
	spinlock --no-names -o tool-none.etl -- frobnicate
check "tool: record of a killed command has status 143" exit_status_is 143 ntklog record -e \
	spinlock --no-names -o tool-none.etl -- sh -c 'kill -TERM $$'
check "tool: record --duration ends without a command" exit_status_is 0 ntklog record -e spinlock \
	--no-names -o tool-time.etl --duration 0.5
check "tool: record --duration ends a longer command" exit_status_is 0 ntklog record -e spinlock \
	--no-names -o tool-time.etl --duration 0.5 -- sleep 100
check "tool: record to a full disk is reported" output_has "No space left on device" ntklog record -e spinlock --no-names \
	-o /dev/full --duration 0.3
check "tool: record to a missing directory is reported" output_has "/nonexistent/x.etl" ntklog record -e spinlock \
	-o /nonexistent/x.etl --no-names --duration 0.3
check "tool: no session stays started" output_has "no session is started" ntklog stop

# One thread, so that the other CPU is free for the tool.
insmod ntklog_torture.ko duration=0 threads=1
for signal in INT TERM HUP; do
	ntklog record -e spinlock --no-names -o tool-signal.etl &
	wait_for_started_session
	sleep 0.5
	kill -$signal $!
	check "tool: SIG$signal ends a recording" wait $!
	check "tool: the file of a recording ended by a signal is complete" ntklog report tool-signal.etl
done

# On a terminal, record updates a line of progress.
./terminal ntklog record -e spinlock --no-names -o tool-signal.etl --duration 600 >tool-terminal.txt &
# Until the line has another number of events than at first.
wait_for sh -c 'tr "\r" "\n" <tool-terminal.txt | sed -n "s/.* s, \([0-9]*\) events, .* lost.*/\1/p" |
	sort -u | grep -c . | grep -vx "[01]"'
kill -INT $(pidof ntklog)
wait $!
# top_shows_torture FILE COMMAND...: top has rows only if it got events of the torture.
top_shows_torture()
{
	file=$1
	shift
	"$@" >"$file" && grep -q torture_locks "$file"
}
check "tool: top on a terminal shows the locks" repeat_until top_shows_torture \
	tool-top-terminal.txt env TERM=vt100 ./terminal ntklog top -e spinlock --once

# Lose events: small buffers, and a recorder that SIGSTOP stops until events are lost.
ntklog record -e spinlock --no-names -o tool-lost.etl -b 4K -n 2 --duration 4 2>tool-lost.log &
wait_for_started_session
kill -STOP $!
wait_for sh -c "awk '\$1 == \"total\" && \$4 > 0 { found = 1 } END { exit !found }' $D/sessions/7/stats"
kill -CONT $!
wait $!

# A recording that is killed leaves a readable file, and its session ends. The file is not in the
# host's directory, because 9p frees the pages of a write of a killed process while the host still
# reads them.
ntklog record -e spinlock --no-names -o /tmp/killed.etl &
wait_for_started_session
# Wait for the size first: dump reads the whole file, which takes long.
wait_for sh -c '[ "$(stat -c %s /tmp/killed.etl)" -gt 300000 ]'
wait_for sh -c '[ "$(ntklog dump /tmp/killed.etl 2>/dev/null | wc -l)" -gt 1000 ]'
kill -9 $!
wait $! 2>/dev/null
cp /tmp/killed.etl tool-killed.etl
check "tool: the file of a killed recording can be read" sh -c \
	'ntklog dump tool-killed.etl >/tmp/killed.txt && [ "$(wc -l </tmp/killed.txt)" -gt 1000 ]'
check "tool: the session of a killed recording stops" wait_for all_sessions_are_stopped

# Through a pipe, events can be read while they are recorded.
mkfifo /tmp/pipe
ntklog dump /tmp/pipe >tool-pipe.txt &
reader=$!
ntklog record -e spinlock -o /tmp/pipe &
recorder=$!
wait_for_started_session
wait_for grep -q " SpinLock " tool-pipe.txt
check "tool: events come through a pipe while they are recorded" output_has started \
	sh -c "cat $D/sessions/*/state"
kill -INT $recorder
check "tool: the recording of a pipe ends" wait $recorder
check "tool: the reader of the pipe ends" wait $reader
check "tool: top --once succeeds" repeat_until top_shows_torture top.json ntklog top -e spinlock \
	--once --json
rmmod ntklog_torture
ntklog top -e spinlock -d 0.5 -n 3 >top.txt &
wait_for_started_session
# Load the module after top has begun, so that top has to read its symbols later.
insmod ntklog_torture.ko duration=0 threads=1
wait_for sh -c '[ "$(grep -o "ntklog top" top.txt | wc -l)" -ge 4 ] && grep -q torture_locks top.txt'
kill -INT $!
check "tool: Ctrl-C ends top" wait $!
rmmod ntklog_torture
check "tool: all sessions are free" is \
	"$(ntklog status --json | grep -c -e '"state": "stopped"' -e '"unread": 0,\?$')" 16
ntklog set spinlock 1 1000 1 1000000
for session in "$D"/sessions/[0-9]*; do
	echo 65536 >"$session/buffer_size"
	echo 16 >"$session/buffers"
	echo 0 >"$session/flush_timer"
	echo PERF_SPINLOCK >"$session/group_mask"
done
check "tool: the kernel log has no warning" kernel_is_silent
