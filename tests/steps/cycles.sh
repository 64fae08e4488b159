#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Load, trace and unload the module CYCLES (10) times, while readers have files open: the first
# rmmod of each cycle must be refused because of them.

. "$(dirname "$0")/../lib.sh"

cycles=${CYCLES:-10}
{ echo "cycles=$cycles"; cat <<-'END'; } | fill_shared_directory "$DIR" debug
	D=/sys/kernel/debug/ntklog
	refused=0
	n=0
	while [ $n -lt $cycles ]; do
		insmod ntklog.ko buffer_size=4096 buffers=8 || exit 1
		s=$D/sessions/$((n % 8))
		echo PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH >$s/group_mask
		echo $((n % 3 * 10)) >$s/flush_timer
		echo start >$s/state
		echo 1 >/sys/kernel/tracing/events/ntklog/enable
		exec 5<$s/cpu0 6<$D/locks
		cat <&5 >/dev/null &
		insmod ntklog_torture.ko threads=2 duration=0 \
			torture_type=$([ $((n % 2)) = 0 ] && echo resource || echo ex) || exit 1
		usleep 15000
		rmmod ntklog_torture || exit 1
		echo 0 >/sys/kernel/tracing/events/ntklog/enable
		rmmod ntklog 2>/dev/null || refused=$((refused + 1))
		wait
		exec 5<&- 6<&-
		rmmod ntklog || exit 1
		n=$((n + 1))
	done
	echo "$n cycles, $refused times a reader was in the way"
	dmesg >dmesg.log
END
run_test "cycles: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$(print_kernel_image debug)" -c 2 "$DIR"
run_test "cycles: $cycles, and readers were in the way" \
	grep -E "^$cycles cycles, $cycles times" "$DIR/guest.log"
run_test "cycles: the kernel log has no report" log_has_reports "$DIR/dmesg.log" ''
