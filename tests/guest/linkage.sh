# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The reports of misuse show addresses as ntklog's parameter addresses= says.

. ./lib.sh

# save_reports MODE: save the reports, without the kernel's time stamps, in reports-MODE, and test
# that there are twelve.
save_reports()
{
	dmesg | sed 's/^\[[^]]*\] //' | grep -E '^(Ke|Ex)[A-Za-z]*: ' >"reports-$1"
	[ "$(wc -l <"reports-$1")" = 12 ] || { cat "reports-$1"; return 1; }
}

all_reports_match()
{
	! grep -vE "$2" "reports-$1"
}

no_report_matches()
{
	! grep -E "$2" "reports-$1"
}

for mode in raw hashed zero; do
	check "linkage: ntklog loads with addresses=$mode" insmod ntklog.ko addresses=$mode
	dmesg -c >/dev/null
	check "linkage: every function, with addresses=$mode" insmod ntklog_linkage.ko
	check "linkage: the kernel log has no warning, with addresses=$mode" kernel_is_silent
	check "linkage: unloads" rmmod ntklog_linkage
	check "linkage: every misuse, with addresses=$mode" insmod ntklog_linkage.ko misuse=1
	check "linkage: each misuse is reported, with addresses=$mode" save_reports $mode
	rmmod ntklog_linkage
	check "linkage: ntklog unloads" rmmod ntklog
done
# The report of a NULL resource has no address.
check "linkage: raw: reports have addresses" all_reports_match raw 'ffff[0-9a-f]{12}|NULL is not'
check "linkage: raw: reports have symbols" all_reports_match raw \
	'\[ntklog_linkage\]|^(Ke|ExReleaseSpin)'
check "linkage: hashed: reports have no address" no_report_matches hashed '[0-9a-f]{9}'
check "linkage: hashed: reports have hashes" all_reports_match hashed \
	'(lock|resource) [1-9a-f][0-9a-f]{1,7}[ ,]|NULL is not'
check "linkage: hashed: reports have symbols" all_reports_match hashed \
	'\[ntklog_linkage\]|^(Ke|ExReleaseSpin)'
check "linkage: zero: reports have no address" no_report_matches zero '[1-9a-f][0-9a-f]{7}'
check "linkage: zero: reports have no symbol" no_report_matches zero 'ntklog'
