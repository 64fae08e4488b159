# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Recordings of planted_holders.ko, which check_planted.py compares with the output of the module.

. ./linux_lib.sh

insmod ntklog.ko
planted=$GROUPS_OF_LINUX
# Not all architectures can redirect the functions of spin locks.
! grep -q '^spinlock: unavailable' $D/linux || planted=linux_mutex,linux_rwsem

# record_planted NAME RATE OPTION...: record planted_holders.ko at this rate of releases in
# planted-NAME.etl, and save the module's output in planted-NAME.truth.
record_planted()
{
	file=planted-$1
	echo "$2" >$R/release_sample_rate
	shift 2
	lines=$(dmesg | wc -l)
	check "planted: planted_holders is recorded as $file" ntklog record "$@" -n 64 -o "$file.etl" \
		-- insmod planted_holders.ko
	rmmod planted_holders
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*planted_holders: //p' >"$file.truth"
	ntklog report --table blockers --top 0 "$file.etl" >"$file.txt"
}

# At the greatest rate only the releases of holders with waiters, and of waiters, are written.
record_planted holders 4294967295 -e "$planted"
record_planted switches 1 -e linux_mutex,linux_rwsem,contextswap
record_planted stacks 4294967295 -e "$planted" --stacks
rmmod ntklog
check "planted: the kernel log has no warning" kernel_is_silent
