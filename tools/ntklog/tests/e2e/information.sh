# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# spinlock/information: the binary structure, in both sizes, all or nothing.

# information_refused LENGTH WORD...: so many bytes of the words.
information_refused()
{
	length=$1
	shift
	before=$(words $P/information)
	le32 "$@" | head -c "$length" >/tmp/information
	if dd if=/tmp/information of=$P/information bs=64 2>/tmp/error; then
		echo "$length bytes of $* were taken"
		return 1
	fi
	grep -q 'Invalid argument' /tmp/error || { cat /tmp/error; return 1; }
	is "$(words $P/information)" "$before"
}

# information_taken LENGTH EXPECTED WORD...
information_taken()
{
	length=$1 expected=$2
	shift 2
	le32 "$@" | head -c "$length" >/tmp/information
	dd if=/tmp/information of=$P/information bs=64 2>/tmp/error || return 1
	is "$(words $P/information)" "$expected"
}

check "information: gives the defaults" \
	is "$(words $P/information)" "5 1 1000 1 1000000 "
check "information: takes the current structure" \
	information_taken 20 "5 2 1001 3 1000001 " 5 2 1001 3 1000001
check "information: V1 leaves the hold threshold" \
	information_taken 16 "5 4 1002 5 1000001 " 5 4 1002 5
check "information: the text files agree" \
	is "$(cat $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate \
	$P/hold_threshold | tr '\n' ' ')" "4 1002 5 1000001 "
for length in 1 4 15 17 19 21 24 32; do
	check "information: refuses $length bytes" \
		information_refused $length 5 2 1001 3 1000001 0 0 0
done
check "information: refuses another class" \
	information_refused 20 7 2 1001 3 1000001
check "information: refuses spin threshold 0" \
	information_refused 20 5 0 1001 3 1000001
check "information: refuses acquire rate 999" \
	information_refused 20 5 2 999 3 1000001
check "information: refuses contention rate 0" \
	information_refused 20 5 2 1001 0 1000001
check "information: refuses hold threshold 999999" \
	information_refused 20 5 2 1001 3 999999
check "information: V1 refuses acquire rate 999" information_refused 16 5 2 999 3
check "information: takes hold threshold 0" \
	information_taken 20 "5 1 1000 1 0 " 5 1 1000 1 0
check "information: takes the defaults" \
	information_taken 20 "5 1 1000 1 1000000 " 5 1 1000 1 1000000
