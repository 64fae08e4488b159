# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The tool, as it is used: parameters, sessions, recordings, top. Files are left for
# check_tool.py. Linux' own locks, which are recorded by default, are linux.sh's.

# status NUMBER COMMAND...: the command ends with this exit status.
status()
{
	expected=$1
	shift
	"$@"
	is $? "$expected"
}

# says WORDS COMMAND...: and says this on the way.
says()
{
	words=$1
	shift
	"$@" >/tmp/said 2>&1
	grep -q -- "$words" /tmp/said || { cat /tmp/said; return 1; }
}

# started: wait until a session is; reading the kernel's symbols takes a while before.
started()
{
	i=0
	while ! grep -q started $D/sessions/*/state && [ $i -lt 300 ]; do
		usleep 100000
		i=$((i + 1))
	done
}

parameters()
{
	cat $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate $P/hold_threshold |
		tr '\n' ' '
}

check "tool: list" ntklog list
check "tool: set spinlock" ntklog set spinlock 2 3000 4
check "tool: set leaves the hold threshold" is "$(parameters)" "2 3000 4 1000000 "
check "tool: set with a hold threshold" ntklog set spinlock 3 2000 5 0
check "tool: set is all of them" is "$(parameters)" "3 2000 5 0 "
check "tool: set refuses" status 1 ntklog set spinlock 1 1000 1 999999
check "tool: what is refused changes nothing" is "$(parameters)" "3 2000 5 0 "
check "tool: set resource" ntklog set resource 6 7 8
check "tool: set resource is all of them" \
	is "$(cat $R/release_sample_rate $R/contention_sample_rate $R/excessive_timeouts | tr '\n' ' ')" "6 7 8 "
ntklog list --json >list.json
ntklog set spinlock 1 1000 1 0
ntklog set resource 1000 1 1

check "tool: start" ntklog start 4 -e contextswap -b 8K -n 10
check "tool: start of what is started" says "session 4 is started already" ntklog start 4
check "tool: settings of what is started" says "session 4 is started: stop it first" \
	ntklog start 4 -n 11
check "tool: sizes that are none" says "buffers 1 is out of range: 2 to 1024" ntklog start 3 -n 1
check "tool: more memory than there is" says "no memory for its buffers" \
	ntklog start 3 -n 1024 -b 1M
ntklog start 3 -n 16 -b 64K >/dev/null && ntklog stop 3 -o /dev/null >/dev/null
sleep 0.5
check "tool: stop writes a file" ntklog stop 4 -o tool-stop.etl
check "tool: stop of what is stopped" says "session 4 is not started" ntklog stop 4
cat $D/sessions/4/stats >tool-stop.stats
echo PERF_SPINLOCK >$D/sessions/4/group_mask

# A command, whose status is the recording's; its module is gone at the end. Locks are not
# nested: where they are, several are released at one value of the counters, or none, and
# what is estimated from one in 1000 scatters more.
cat $D/counters >tool.before
check "tool: record a command" status 7 ntklog record -o tool.etl -n 60 \
	-e spinlock,resource,contextswap -- sh -c \
	'insmod ntklog_torture.ko duration=1 threads=2 nest=1 softirqs=0 hardirqs=0; sleep 2.2; rmmod ntklog_torture; exit 7'
cat $D/counters >tool.after
check "tool: files are root's alone" is "$(stat -c %a tool.etl tool.etl.names tool-stop.etl |
	tr '\n' ' ')" "600 600 600 "
check "tool: a command that is not there" status 127 ntklog record -e spinlock --no-names \
	-o tool-none.etl -- frobnicate
check "tool: a command that a signal ends" status 143 ntklog record -e spinlock --no-names \
	-o tool-none.etl -- sh -c 'kill -TERM $$'
check "tool: record for a time" status 0 ntklog record -e spinlock --no-names -o tool-time.etl --duration 0.5
check "tool: a command that takes longer is ended" status 0 ntklog record -e spinlock --no-names \
	-o tool-time.etl --duration 0.5 -- sleep 100
check "tool: a full disk" says "No space left on device" ntklog record -e spinlock --no-names \
	-o /dev/full --duration 0.3
check "tool: a file that cannot be made" says "/nonexistent/x.etl" ntklog record -e spinlock \
	-o /nonexistent/x.etl --no-names --duration 0.3
check "tool: nothing is left started" says "no session is started" ntklog stop

# One thread: the other processor is for the tool.
insmod ntklog_torture.ko duration=0 threads=1
for signal in INT TERM HUP; do
	ntklog record -e spinlock --no-names -o tool-signal.etl &
	started
	sleep 0.5
	kill -$signal $!
	check "tool: SIG$signal ends a recording" wait $!
	check "tool: its file is whole" ntklog report tool-signal.etl
done

# On a terminal there is a line of progress, which the last one takes the place of.
./terminal ntklog record -e spinlock --no-names -o tool-signal.etl --duration 600 >tool-terminal.txt &
wait_for sh -c '[ "$(tr "\r" "\n" <tool-terminal.txt | grep -c " lost")" -ge 3 ]'
kill -INT $(pidof ntklog)
wait $!
TERM=vt100 ./terminal ntklog top -e spinlock --once >tool-top-terminal.txt

# Too few, too small buffers, and a recorder that does not run for a while.
ntklog record -e spinlock --no-names -o tool-lost.etl -b 4K -n 2 --duration 4 2>tool-lost.log &
started
kill -STOP $!
wait_for sh -c "awk '\$1 == \"total\" && \$4 > 0 { found = 1 } END { exit !found }' $D/sessions/7/stats"
kill -CONT $!
wait $!

# Killed at any moment, the file can be read; the session goes on until it is stopped. Not in the
# host's directory: 9p gives the pages of a write back while the host still reads them.
ntklog record -e spinlock --no-names -o /tmp/killed.etl &
started
# To look at the file takes longer than to wait for it.
wait_for sh -c '[ "$(stat -c %s /tmp/killed.etl)" -gt 300000 ]'
wait_for sh -c '[ "$(ntklog dump /tmp/killed.etl 2>/dev/null | wc -l)" -gt 1000 ]'
kill -9 $!
wait $! 2>/dev/null
cp /tmp/killed.etl tool-killed.etl
check "tool: the file of a recording that was killed" sh -c \
	'ntklog dump tool-killed.etl >/tmp/killed.txt && [ "$(wc -l </tmp/killed.txt)" -gt 1000 ]'
check "tool: its session goes on" says started sh -c "cat $D/sessions/*/state"
check "tool: and is stopped" ntklog stop -o tool-rest.etl

# Through a pipe events are seen while they are recorded.
mkfifo /tmp/pipe
ntklog dump /tmp/pipe >tool-pipe.txt &
reader=$!
ntklog record -e spinlock -o /tmp/pipe &
recorder=$!
started
wait_for grep -q " SpinLock " tool-pipe.txt
check "tool: events come through a pipe while they are recorded" says started \
	sh -c "cat $D/sessions/*/state"
kill -INT $recorder
check "tool: the recording of a pipe ends" wait $recorder
check "tool: and so does who reads it" wait $reader
check "tool: top" ntklog top -e spinlock --once --json >tool-top.out
ntklog top -e spinlock --once --json >top.json
rmmod ntklog_torture
ntklog top -e spinlock -d 0.5 -n 3 >top.txt &
started
# Its symbols are not among those that top has begun with.
insmod ntklog_torture.ko duration=0 threads=1
sleep 4
wait_for sh -c '[ "$(grep -o "ntklog top" top.txt | wc -l)" -ge 4 ]'
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
check "tool: the kernel has nothing to complain of" kernel_is_silent
