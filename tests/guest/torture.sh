# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154

echo PERF_SPINLOCK PERF_SYNC_OBJECTS >$S/group_mask
for type in in_stack_queued queued spin ex ex_exclusive resource; do
	insmod ntklog_torture.ko torture_type=$type duration=1 locks=6 nest=3
	for round in 1 2 3; do
		echo start >$S/state
		usleep 300000
		echo stop >$S/state
	done
	usleep 300000
	rmmod ntklog_torture
	check "torture: $type" torture_has_succeeded
done
cat $S/stats >torture.stats
check "torture: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = !$2 || $2 != $3 + $4 } END { exit !seen || bad }' torture.stats
echo PERF_SPINLOCK >$S/group_mask
check "torture: no group is enabled at the end" is "$(cat $D/group_mask)" 0x0
check "torture: the kernel log has no warning" kernel_is_silent
