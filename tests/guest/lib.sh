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
