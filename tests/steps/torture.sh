#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torture.sh FLAVOUR: torture the types of lock in a test kernel, TORTURE_ROUNDS (1) times for each
# of TORTURE_TYPES. There are few locks, because lockdep keeps a limited number of lock chains.

. "$(dirname "$0")/../lib.sh"

TORTURE_TYPES=${TORTURE_TYPES:-in_stack_queued queued spin ex ex_exclusive resource}
rounds=${TORTURE_ROUNDS:-1}
fill_shared_directory "$DIR" "$1" <<-END
	S=/sys/kernel/debug/ntklog/sessions/0
	E=/sys/kernel/tracing/events/ntklog/enable
	insmod ntklog.ko excessive_first_ms=5 excessive_next_ms=20 || exit 1
	echo PERF_SPINLOCK PERF_SYNC_OBJECTS >\$S/group_mask
	for type in $TORTURE_TYPES; do
		[ \$type = resource ] && size="locks=12 nest=3" || size="locks=6 nest=6"
		insmod ntklog_torture.ko torture_type=\$type duration=0 \$size || exit 1
		round=0
		while [ \$round -lt $rounds ]; do
			echo 0 >/sys/devices/system/cpu/cpu1/online
			echo start >\$S/state
			cat \$S/../../locks >locks.txt
			echo 1 >\$E
			usleep 500000
			cat \$S/../../locks_information >locks.bin
			echo 1 >/sys/devices/system/cpu/cpu1/online
			echo stop >\$S/state
			usleep 200000
			echo 0 >\$E
			usleep 100000
			round=\$((round + 1))
		done
		rmmod ntklog_torture
	done
	cat \$S/stats
	rmmod ntklog
	K=/sys/kernel/debug/kmemleak
	# kmemleak needs two scans, five seconds apart.
	[ ! -e \$K ] || { echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log; }
	dmesg >dmesg.log
END
run_test "$1: the torture's virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -t $((2800 + rounds * 200)) -k \
		"$(print_kernel_image "$1")" -c 3 "$DIR"
for type in $TORTURE_TYPES; do
	run_test "$1: torture of $type succeeds" \
		grep "End of test: SUCCESS: $type: " "$DIR/dmesg.log"
done
run_test "$1: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' \
	"$DIR/guest.log"
run_test "$1: the kernel log has no report" log_has_reports "$DIR/dmesg.log" ''
[ "$1" != debug ] || run_test "debug: nothing leaks" \
	sh -c "cat $DIR/kmemleak.log; [ ! -s $DIR/kmemleak.log ]"
