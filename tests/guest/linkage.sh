# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The module that links everything: all functions do what they are for, and what the
# warnings of misuse show of addresses is what addresses= says.

. ./lib.sh

# told MODE: the warnings about misused locks, without what is the kernel's own in them.
told()
{
	dmesg | sed 's/^\[[^]]*\] //' | grep -E '^(Ke|Ex)[A-Za-z]*: ' >"told-$1"
	[ "$(wc -l <"told-$1")" = 12 ] || { cat "told-$1"; return 1; }
}

# A line for each warning, with what must be in all of them.
all_have()
{
	! grep -vE "$2" "told-$1"
}

none_has()
{
	! grep -E "$2" "told-$1"
}

for mode in raw hashed zero; do
	check "linkage: ntklog loads with addresses=$mode" insmod ntklog.ko addresses=$mode
	dmesg -c >/dev/null
	check "linkage: every function, with addresses=$mode" insmod ntklog_linkage.ko
	check "linkage: nothing to complain of, with addresses=$mode" kernel_is_silent
	check "linkage: unloads" rmmod ntklog_linkage
	check "linkage: every misuse, with addresses=$mode" insmod ntklog_linkage.ko misuse=1
	check "linkage: each misuse is told of, with addresses=$mode" told $mode
	rmmod ntklog_linkage
	check "linkage: ntklog unloads" rmmod ntklog
done
# NULL has no address.
check "linkage: raw addresses are told" all_have raw 'ffff[0-9a-f]{12}|NULL is not'
check "linkage: raw addresses with symbols" all_have raw '\[ntklog_linkage\]|^(Ke|ExReleaseSpin)'
check "linkage: no address where they are hashed" none_has hashed '[0-9a-f]{9}'
check "linkage: hashes where they are hashed" all_have hashed \
	'(lock|resource) [1-9a-f][0-9a-f]{1,7}[ ,]|NULL is not'
check "linkage: symbols where they are hashed" all_have hashed \
	'\[ntklog_linkage\]|^(Ke|ExReleaseSpin)'
check "linkage: no address where they are zero" none_has zero '[1-9a-f][0-9a-f]{7}'
check "linkage: no symbol where they are zero" none_has zero 'ntklog'
