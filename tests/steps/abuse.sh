#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Write ABUSE_WRITES (6000) random texts to the module's files, with random ioctls in between: first
# without other users, then while sessions start and stop under the torture of locks. Then let
# allocations of a load and of a session's start fail, one by one; of those for files in debugfs
# only one in ABUSE_STRIDE (40).

. "$(dirname "$0")/../lib.sh"

seed=${SEED:-$(date +%s)}
writes=${ABUSE_WRITES:-6000}
stride=${ABUSE_STRIDE:-40}
limit=$((4000 + writes / 4 + 40000 / stride))
say "abuse: SEED=$seed"
fill_shared_directory "$DIR" debug <<-END
	D=/sys/kernel/debug/ntklog
	insmod ntklog.ko || exit 1
	./abuse \$D $seed $((writes * 83 / 100))
	for s in \$D/sessions/[0-9]*; do echo stop >\$s/state 2>/dev/null; done
	./abuse \$D $((seed + 3)) $((writes * 12 / 100)) quiet
	rmmod ntklog && insmod ntklog.ko || exit 1
	for type in in_stack_queued resource; do
		insmod ntklog_torture.ko torture_type=\$type duration=0 locks=6 nest=3 \
			threads=1 hardirqs=0 interval_us=5000 || exit 1
		./abuse \$D $((seed + 1)) $((writes / 40)) & one=\$!
		./abuse \$D $((seed + 2)) $((writes / 40)) & two=\$!
		n=0
		while kill -0 \$one 2>/dev/null; do
			s=\$D/sessions/\$((n % 8))
			echo 0 >\$s/state 2>/dev/null
			echo start >\$s/state 2>/dev/null
			usleep 20000
			echo stop >\$s/state 2>/dev/null
			n=\$((n + 1))
		done
		wait \$one \$two
		rmmod ntklog_torture || exit 1
	done
	rmmod ntklog || exit 1
	# Scan for leaks before allocations fail, because the kernel's sysfs_slab_add() leaks when
	# its allocation fails. kmemleak needs two scans, five seconds apart.
	K=/sys/kernel/debug/kmemleak
	echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log
	F=/sys/kernel/debug/failslab
	echo N >\$F/ignore-gfp-wait
	echo 0 >\$F/verbose
	# Keep the messages so far, because many will follow and overwrite them.
	dmesg -c >dmesg.log
	./fail load ntklog.ko $stride $((seed % 1000))
	insmod ntklog.ko buffers=2 buffer_size=4096 || exit 1
	./fail start \$D/sessions/3
	rmmod ntklog || exit 1
	dmesg >>dmesg.log
END
build_guest_programs "$DIR" abuse fail
run_test "abuse: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -t $limit -k "$(print_kernel_image debug)" -c 3 "$DIR"
print_guest_results
run_test "abuse: the torture succeeds meanwhile" sh -c \
	"[ \$(grep -c 'End of test: SUCCESS' $DIR/dmesg.log) = 2 ]"
run_test "abuse: the kernel log has no report" log_has_reports "$DIR/dmesg.log" ''
run_test "abuse: nothing leaks" sh -c "cat $DIR/kmemleak.log; [ ! -s $DIR/kmemleak.log ]"
