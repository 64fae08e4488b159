# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the scripts in the virtual machine share. Each result is a line of TAP.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
P=$D/spinlock
R=$D/resource

# check NAME COMMAND...: ok if the command succeeds.
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

# refused ERROR FILE TEXT: writing fails so, and the file reads as before.
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

# taken FILE TEXT [READS]: writing succeeds, and the file reads so afterwards.
taken()
{
	printf '%s\n' "$2" >"$1" && is "$(cat "$1")" "${3:-$2}"
}

# mode_is FILE MODE: its permissions, and it is root's.
mode_is()
{
	is "$(stat -c '%a %u' "$1")" "$2 0"
}

# le32 NUMBER...: as binary words.
le32()
{
	for word; do
		for shift in 0 8 16 24; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((word >> shift & 255)))"
		done
	done
}

# words FILE: its words, in decimal.
words()
{
	hexdump -v -e '1/4 "%u "' "$1"
}

# Nothing that a kernel prints when something is wrong.
kernel_is_silent()
{
	! dmesg | grep -E 'BUG|WARNING|Oops|INFO:|Call Trace|refcount|leak'
}

# How long something takes is the host's affair; tests wait for what they need instead.

# wait_for COMMAND...: until it succeeds, five minutes at most.
wait_for()
{
	turns=0
	until "$@" >/dev/null 2>&1; do
		[ $turns -lt 3000 ] || { echo "waited in vain for: $*"; return 1; }
		turns=$((turns + 1))
		usleep 100000
	done
}

# mark: the counters as they are now, for grown.
mark()
{
	cat $D/counters >/tmp/mark
}

# grown NAME AMOUNT: the counter of each processor has grown by so much since mark.
grown()
{
	cat /tmp/mark $D/counters | awk -v name="$1" -v amount="$2" '
		$1 == "Processor" { for (i = 1; i <= NF; i++) if ($i == name) at = i; file++; next }
		file == 1 { old[$1] = $at }
		file == 2 { grown += ($at - old[$1] + 4294967296) % 4294967296 >= amount; rows++ }
		END { exit !at || !rows || grown < rows }'
}

# total SESSION COLUMN AMOUNT: of a session's stats, there is so much of it.
total()
{
	awk -v name="$2" -v amount="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$1 == "total" { enough = $at >= amount }
		END { exit !enough }' "$D/sessions/$1/stats"
}

# succeeded: the last torture has.
succeeded()
{
	dmesg | grep 'ntklog_torture: End of test' | tail -n 1 | tee /dev/stderr |
		grep -q SUCCESS
}

# torture_until CONDITION PARAMETER...: run it for a second at least and until the command
# is true, and see it end.
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

# torture_traced FILE EVENT COUNTER PARAMETER...: by trace-cmd, with a torture that is over, but not gone, when
# it writes down the kernel's symbols: beside one that runs that takes a minute. Again until each
# processor has 100 events; trace.mask is what was on.
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

# torture PARAMETER...: for a second, and until every processor has taken locks.
torture()
{
	torture_until true "$@"
}
