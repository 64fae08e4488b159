# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# planted_holders.ko has tasks wait for locks that others hold for known reasons; a recording of it,
# and one with context switches. check_planted.py compares them with what the module prints.

. ./linux_lib.sh

insmod ntklog.ko
planted=$GROUPS_OF_LINUX
# Not all architectures can redirect the functions of spin locks.
! grep -q '^spinlock: unavailable' $D/linux || planted=linux_mutex,linux_rwsem

# record_planted NAME RATE GROUPS: record planted_holders with a release rate, and save its output
# and the table of blockers.
record_planted()
{
	lines=$(dmesg | wc -l)
	echo "$2" >$R/release_sample_rate
	check "planted: $1: planted_holders is recorded" ntklog record -e "$3" -n 64 \
		-o "planted-$1.etl" -- insmod planted_holders.ko
	rmmod planted_holders
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*planted_holders: //p' >"planted-$1.truth"
	ntklog report --table blockers --top 0 "planted-$1.etl" >"planted-$1.txt"
}

# With the greatest rate only holders whose release leaves a waiter, and waiters, are written.
record_planted holders 4294967295 "$planted"
record_planted switches 1 linux_mutex,linux_rwsem,contextswap
rmmod ntklog
check "planted: the kernel log has no warning" kernel_is_silent
