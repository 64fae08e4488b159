# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Functions of all scripts in the virtual machine. Each result is a line of TAP.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
P=$D/spinlock
R=$D/resource

# check NAME COMMAND...: print ok if the command succeeds.
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

# is ACTUAL EXPECTED
is()
{
	[ "$1" = "$2" ] || { echo "'$1', expected '$2'"; return 1; }
}

# refused ERROR FILE TEXT: writing fails with ERROR, and the file reads as before.
refused()
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

# taken FILE TEXT [READS]: writing succeeds, and the file then reads TEXT, or READS.
taken()
{
	printf '%s\n' "$2" >"$1" && is "$(cat "$1")" "${3:-$2}"
}

# mode_is FILE MODE: the file has these permissions and belongs to root.
mode_is()
{
	is "$(stat -c '%a %u' "$1")" "$2 0"
}

# le32 NUMBER...: print as little-endian words.
le32()
{
	for word; do
		for shift in 0 8 16 24; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((word >> shift & 255)))"
		done
	done
}

# words FILE: print its words in decimal.
words()
{
	hexdump -v -e '1/4 "%u "' "$1"
}

# Succeed if the kernel's log has no warning or error.
kernel_is_silent()
{
	! dmesg | grep -E 'BUG|WARNING|Oops|INFO:|Call Trace|refcount|leak'
}

# A test waits for conditions, not for a time, because the host's load changes every duration.

# wait_for COMMAND...: wait until the command succeeds, at most five minutes.
wait_for()
{
	turns=0
	until "$@" >/dev/null 2>&1; do
		[ $turns -lt 3000 ] || { echo "waited in vain for: $*"; return 1; }
		turns=$((turns + 1))
		usleep 100000
	done
}

# mark: remember the counters for grown.
mark()
{
	cat $D/counters >/tmp/mark
}

# grown NAME AMOUNT: each CPU's counter has grown by AMOUNT or more since mark.
grown()
{
	cat /tmp/mark $D/counters | awk -v name="$1" -v amount="$2" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; file++; next }
		file == 1 { old[$1] = $at }
		file == 2 { grown += ($at - old[$1] + 4294967296) % 4294967296 >= amount; rows++ }
		END { exit !at || !rows || grown < rows }'
}

# total SESSION COLUMN AMOUNT: the column of the session's stats is AMOUNT or more.
total()
{
	awk -v name="$2" -v amount="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$1 == "total" { enough = $at >= amount }
		END { exit !enough }' "$D/sessions/$1/stats"
}

# succeeded: the last torture test ended with success.
succeeded()
{
	dmesg | grep 'ntklog_torture: End of test' | tail -n 1 | tee /dev/stderr |
		grep -q SUCCESS
}

# torture_until CONDITION PARAMETER...: run the torture test for at least a second, until the
# condition is true, and wait for its end.
torture_until()
{
	condition=$1
	shift
	mark
	insmod ntklog_torture.ko duration=0 "$@" || return 1
	sleep 1
	# shellcheck disable=SC2086 # words
	wait_for $condition
	enough=$?
	rmmod ntklog_torture
	succeeded && [ $enough = 0 ]
}

torture_has_ended()
{
	dmesg | grep 'ntklog_torture: ' | tail -n 1 | grep -q 'End of test'
}

# torture_traced FILE EVENT COUNTER PARAMETER...: record a torture test by trace-cmd, until each CPU
# has 100 events. The test has ended, but is not unloaded, when trace-cmd saves the kernel's
# symbols; beside a running test that takes a minute. trace.mask gets the groups that were enabled.
torture_traced()
{
	file=$1 event=$2 counter=$3
	shift 3
	tries=0
	mark
	until grown "$counter" 100; do
		[ $tries -lt 20 ] || return 1
		tries=$((tries + 1))
		mark
		trace-cmd record -o "$file" -e "ntklog:$event" sh -c ". ./lib.sh
			cat $D/group_mask >trace.mask
			insmod ntklog_torture.ko duration=1 $*
			wait_for torture_has_ended" || return 1
		rmmod ntklog_torture
	done
}

# torture PARAMETER...: run the torture test for at least a second, and wait for its end.
torture()
{
	torture_until true "$@"
}
