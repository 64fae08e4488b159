#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every type of lock on two processors while sessions, the tracepoints and parameters are
# switched under it all the time.

. "$(dirname "$0")/../lib.sh"

share "$DIR" kunit <<-'END'
	S=/sys/kernel/debug/ntklog/sessions/0
	insmod ntklog.ko || exit 1
	echo 20 >/sys/kernel/debug/ntklog/spinlock/contention_sample_rate
	echo PERF_SPINLOCK PERF_SYNC_OBJECTS >$S/group_mask
	echo start >$S/state
	for type in in_stack_queued queued spin ex resource; do
		insmod ntklog_torture.ko torture_type=$type duration=4 locks=6 nest=3 threads=6
		sleep 5
		rmmod ntklog_torture
		insmod ntklog_torture.ko torture_type=$type duration=3 locks=1 nest=1 hold_us=0 threads=8
		sleep 4
		rmmod ntklog_torture
	done
	echo stop >$S/state
	cat $S/stats
	rmmod ntklog
	dmesg >dmesg.log
END
result "parallel: the virtual machine runs to its end" \
	"$TOP/scripts/vm.sh" -k "$(image kunit)" "$DIR"
result "parallel: torture succeeds ten times" sh -c \
	"grep 'End of test' $DIR/dmesg.log; [ \$(grep -c 'End of test: SUCCESS' $DIR/dmesg.log) = 10 ]"
result "parallel: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = !$2 || $2 != $3 + $4 } END { exit !seen || bad }' \
	"$DIR/guest.log"
result "parallel: the kernel has nothing to complain of" \
	has_reports "$DIR/dmesg.log" ''
