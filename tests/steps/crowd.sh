#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run 32 threads that acquire resources, on 8 virtual CPUs: usually more CPUs than the host has.

. "$(dirname "$0")/../lib.sh"

fill_shared_directory "$DIR" debug <<-'END'
	S=/sys/kernel/debug/ntklog/sessions/0
	insmod ntklog.ko excessive_first_ms=5 excessive_next_ms=20 || exit 1
	echo PERF_SYNC_OBJECTS >$S/group_mask
	echo start >$S/state
	insmod ntklog_torture.ko torture_type=resource duration=8 locks=12 nest=3 \
		threads=32 || exit 1
	sleep 9
	rmmod ntklog_torture
	echo stop >$S/state
	cat $S/stats
	rmmod ntklog
	dmesg >dmesg.log
END
run_test "crowd: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -c 8 -m 1024 -k "$(print_kernel_image debug)" "$DIR"
run_test "crowd: the torture starts with 32 threads" \
	grep "Start of test: .* threads=32 .*" "$DIR/dmesg.log"
run_test "crowd: no resource is owned by two" \
	grep "End of test: SUCCESS: resource: " "$DIR/dmesg.log"
run_test "crowd: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = !$2 || $2 != $3 + $4 } END { exit !seen || bad }' \
	"$DIR/guest.log"
run_test "crowd: the kernel log has no report" log_has_reports "$DIR/dmesg.log" ''
