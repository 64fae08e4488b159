# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Each result is a line of TAP.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
P=$D/spinlock
R=$D/resource

# check NAME COMMAND...: print "ok" if the command succeeds; otherwise "not ok" and its output.
check()
{
	name=$1
	shift
	if "$@" >/tmp/check.log 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' /tmp/check.log
	fi
}

# is ACTUAL EXPECTED: test that two texts are equal.
is()
{
	[ "$1" = "$2" ] || { echo "'$1', expected '$2'"; return 1; }
}

# write_is_refused ERROR FILE TEXT: test that writing TEXT, with escapes of printf, fails with ERROR
# and does not change what FILE reads.
write_is_refused()
{
	before=$(cat "$2" 2>/dev/null)
	# shellcheck disable=SC2059 # TEXT may hold escapes on purpose
	printf -- "$3" >/tmp/text
	if dd if=/tmp/text of="$2" bs=4096 2>/tmp/error; then
		echo "'$3' was taken by $2"
		return 1
	fi
	grep -q "$1" /tmp/error || { cat /tmp/error; return 1; }
	is "$(cat "$2" 2>/dev/null)" "$before"
}

# write_succeeds FILE TEXT [READS]
write_succeeds()
{
	printf '%s\n' "$2" >"$1" && is "$(cat "$1")" "${3:-$2}"
}

# file_mode_is FILE MODE: test that FILE has MODE and is owned by root.
file_mode_is()
{
	is "$(stat -c '%a %u' "$1")" "$2 0"
}

# print_le32 NUMBER...: print each number as four binary bytes, the lowest first.
print_le32()
{
	for word; do
		for shift in 0 8 16 24; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((word >> shift & 255)))"
		done
	done
}

print_32bit_words()
{
	hexdump -v -e '1/4 "%u "' "$1"
}

# kernel_is_silent: test that the kernel's log has no warning or error.
kernel_is_silent()
{
	! dmesg | grep -E 'BUG|WARNING|Oops|INFO:|Call Trace|refcount|leak'
}

# A test waits for conditions, not for a time, because every duration depends on the host's load.

# wait_for COMMAND...: run the command every 100 ms until it succeeds. Fail after 3000 times.
wait_for()
{
	turns=0
	until "$@" >/dev/null 2>&1; do
		[ $turns -lt 3000 ] || { echo "waited in vain for: $*"; return 1; }
		turns=$((turns + 1))
		usleep 100000
	done
}

# repeat_until COMMAND...: run the command, which does some work itself, until it succeeds. Fail
# after 20 times.
repeat_until()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		! "$@" || return 0
	done
	return 1
}

save_counters()
{
	cat $D/counters >/tmp/mark
}

# counter_has_grown NAME AMOUNT: test that NAME has grown by AMOUNT or more on each CPU since
# save_counters().
counter_has_grown()
{
	cat /tmp/mark $D/counters | awk -v name="$1" -v amount="$2" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; file++; next }
		file == 1 { old[$1] = $at }
		file == 2 { grown += ($at - old[$1] + 4294967296) % 4294967296 >= amount; rows++ }
		END { exit !at || !rows || grown < rows }'
}

# session_total_is_at_least SESSION COLUMN AMOUNT
session_total_is_at_least()
{
	awk -v name="$2" -v amount="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$1 == "total" { enough = $at >= amount }
		END { exit !enough }' "$D/sessions/$1/stats"
}

torture_has_succeeded()
{
	dmesg | grep 'ntklog_torture: End of test' | tail -n 1 | tee /dev/stderr |
		grep -q SUCCESS
}

# run_torture_until CONDITION PARAMETER...: run the torture of locks for at least a second and until
# the command CONDITION succeeds, and test that the torture succeeds.
run_torture_until()
{
	condition=$1
	shift
	save_counters
	insmod ntklog_torture.ko duration=0 "$@" || return 1
	sleep 1
	# shellcheck disable=SC2086 # words
	wait_for $condition
	condition_status=$?
	rmmod ntklog_torture
	torture_has_succeeded && [ $condition_status = 0 ]
}

torture_has_ended()
{
	dmesg | grep 'ntklog_torture: ' | tail -n 1 | grep -q 'End of test'
}

# trace_torture FILE EVENT COUNTER PARAMETER...: record the torture with trace-cmd for a second,
# then for two and so on, until COUNTER grows by 100 on each CPU during a recording. The torture has
# ended, but is not unloaded, when trace-cmd saves the kernel's symbols. The file trace.mask gets
# the groups that the tracepoint has enabled.
trace_torture()
{
	file=$1 event=$2 counter=$3
	shift 3
	tries=0
	save_counters
	until counter_has_grown "$counter" 100; do
		[ $tries -lt 20 ] || return 1
		tries=$((tries + 1))
		save_counters
		trace-cmd record -o "$file" -e "ntklog:$event" sh -c ". ./lib.sh
			cat $D/group_mask >trace.mask
			insmod ntklog_torture.ko duration=$tries $*
			wait_for torture_has_ended" || return 1
		rmmod ntklog_torture
	done
}

# run_torture PARAMETER...: run the torture of locks for a second, and test that it succeeds.
run_torture()
{
	run_torture_until true "$@"
}
