#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Torture the types of lock in a kernel with lockdep, while sessions, tracepoints and parameters
# change, and a CPU goes offline and comes back.

. "$(dirname "$0")/../lib.sh"

fill_shared_directory "$DIR" debug <<-'END'
	D=/sys/kernel/debug/ntklog
	E=/sys/kernel/tracing/events/ntklog
	# The torture's threads leave little CPU time to others.
	renice -n -20 -p $$
	insmod ntklog.ko || exit 1
	echo PERF_SPINLOCK PERF_SYNC_OBJECTS >$D/sessions/0/group_mask
	echo PERF_SPINLOCK_CNTRS PERF_CONTEXT_SWITCH >$D/sessions/1/group_mask
	# Change settings until /tmp/stop exists.
	change_settings()
	{
		n=0
		while [ ! -e /tmp/stop ]; do
			echo start >$D/sessions/0/state
			echo 1 >$E/spinlock/enable
			echo start >$D/sessions/1/state
			echo $((n % 50 + 1)) >$D/spinlock/contention_sample_rate
			echo 1 >$E/resource/enable
			echo stop >$D/sessions/0/state
			echo $((n % 9 + 1)) >$D/spinlock/spin_threshold
			echo 0 >$E/spinlock/enable
			echo stop >$D/sessions/1/state
			echo 0 >$E/resource/enable
			n=$((n + 1))
			echo $n >/tmp/switched
		done
		echo "switched $n times"
	}
	for type in in_stack_queued queued spin ex resource; do
		for size in "locks=6 nest=3 threads=3" "locks=1 nest=1 hold_us=0 threads=4"; do
			rm -f /tmp/stop
			echo 0 >/tmp/switched
			change_settings &
			insmod ntklog_torture.ko torture_type=$type duration=0 $size
			echo 0 >/sys/devices/system/cpu/cpu2/online
			echo 1 >/sys/devices/system/cpu/cpu2/online
			# The file is empty for a moment while it is written.
			until [ "$(cat /tmp/switched)" -ge 3 ] 2>/dev/null; do
				usleep 100000
			done
			touch /tmp/stop
			wait
			rmmod ntklog_torture
		done
	done
	cat $D/sessions/0/stats
	rmmod ntklog
	dmesg >dmesg.log
END
run_test "parallel: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$(print_kernel_image debug)" -c 3 "$DIR"
run_test "parallel: torture succeeds ten times" sh -c \
	"grep 'End of test' $DIR/dmesg.log; [ \$(grep -c 'End of test: SUCCESS' $DIR/dmesg.log) = 10 ]"
run_test "parallel: settings changed three times under each torture" awk \
	'/^switched/ { rows++; bad += $2 < 3 } END { exit rows != 10 || bad }' "$DIR/guest.log"
run_test "parallel: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' \
	"$DIR/guest.log"
run_test "parallel: the kernel log has no report" \
	log_has_reports "$DIR/dmesg.log" ''
