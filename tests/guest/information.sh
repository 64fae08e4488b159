# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The binary files spinlock/information and resource/information: NT's parameter structures. That of
# spin locks has two sizes: V1 has no hold threshold.

I=$P

# information_is_refused LENGTH WORD...: test that the file refuses the first LENGTH bytes of the
# words and reads as before.
information_is_refused()
{
	length=$1
	shift
	before=$(print_32bit_words $I/information)
	print_le32 "$@" | head -c "$length" >/tmp/information
	if dd if=/tmp/information of=$I/information bs=64 2>/tmp/error; then
		echo "$length bytes of $* were taken"
		return 1
	fi
	grep -q 'Invalid argument' /tmp/error || { cat /tmp/error; return 1; }
	is "$(print_32bit_words $I/information)" "$before"
}

# information_is_accepted LENGTH EXPECTED WORD...: test that the file takes the first LENGTH bytes
# of the words and then reads EXPECTED.
information_is_accepted()
{
	length=$1 expected=$2
	shift 2
	print_le32 "$@" | head -c "$length" >/tmp/information
	dd if=/tmp/information of=$I/information bs=64 2>/tmp/error || return 1
	is "$(print_32bit_words $I/information)" "$expected"
}

check "information: reads the defaults" \
	is "$(print_32bit_words $I/information)" "5 1 1000 1 1000000 "
check "information: takes the current structure" \
	information_is_accepted 20 "5 2 1001 3 1000001 " 5 2 1001 3 1000001
check "information: V1 keeps the hold threshold" \
	information_is_accepted 16 "5 4 1002 5 1000001 " 5 4 1002 5
check "information: the text files agree" \
	is "$(cat $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate \
	$P/hold_threshold | tr '\n' ' ')" "4 1002 5 1000001 "
for length in 1 4 15 17 19 21 24 32; do
	check "information: refuses $length bytes" \
		information_is_refused $length 5 2 1001 3 1000001 0 0 0
done
check "information: refuses another class" \
	information_is_refused 20 7 2 1001 3 1000001
check "information: refuses spin threshold 0" \
	information_is_refused 20 5 0 1001 3 1000001
check "information: refuses acquire rate 999" \
	information_is_refused 20 5 2 999 3 1000001
check "information: refuses contention rate 0" \
	information_is_refused 20 5 2 1001 0 1000001
check "information: refuses hold threshold 999999" \
	information_is_refused 20 5 2 1001 3 999999
check "information: V1 refuses acquire rate 999" information_is_refused 16 5 2 999 3
check "information: takes hold threshold 0" \
	information_is_accepted 20 "5 1 1000 1 0 " 5 1 1000 1 0
check "information: takes the defaults" \
	information_is_accepted 20 "5 1 1000 1 1000000 " 5 1 1000 1 1000000

I=$R
check "information: reads the defaults of resources" \
	is "$(print_32bit_words $I/information)" "7 1000 1 1 "
check "information: takes the current structure of resources" \
	information_is_accepted 16 "7 2 3 4 " 7 2 3 4
check "information: the text files of resources agree" \
	is "$(cat $R/release_sample_rate $R/contention_sample_rate $R/excessive_timeouts |
	tr '\n' ' ')" "2 3 4 "
for length in 1 4 12 15 17 20 32; do
	check "information: refuses $length bytes for resources" \
		information_is_refused $length 7 5 5 5 5 0 0 0
done
check "information: refuses the class of spin locks for resources" \
	information_is_refused 16 5 5 5 5
check "information: refuses release rate 0" information_is_refused 16 7 0 5 5
check "information: refuses contention rate 0 for resources" \
	information_is_refused 16 7 5 0 5
check "information: refuses excessive time-outs 0" information_is_refused 16 7 5 5 0
check "information: takes the defaults of resources" \
	information_is_accepted 16 "7 1000 1 1 " 7 1000 1 1
