#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torture.sh FLAVOUR: every type of lock in a test kernel, more than a minute in all, in
# mixed contexts, traced by a session that comes and goes, while processors come and go and
# somebody reads. Few locks: lockdep has room for so many chains of them.

. "$(dirname "$0")/../lib.sh"

TORTURE_TYPES='in_stack_queued queued spin ex ex_exclusive resource'
share "$DIR" "$1" <<-END
	S=/sys/kernel/debug/ntklog/sessions/0
	insmod ntklog.ko excessive_first_ms=5 excessive_next_ms=20 || exit 1
	echo PERF_SPINLOCK PERF_SYNC_OBJECTS >\$S/group_mask
	for type in $TORTURE_TYPES; do
		[ \$type = resource ] && size="locks=12 nest=3" || size="locks=6 nest=6"
		insmod ntklog_torture.ko torture_type=\$type duration=12 \$size || exit 1
		for round in 1 2 3 4 5 6; do
			echo 0 >/sys/devices/system/cpu/cpu1/online
			echo start >\$S/state
			cat \$S/../../locks >locks.txt
			sleep 1
			cat \$S/../../locks_information >locks.bin
			echo 1 >/sys/devices/system/cpu/cpu1/online
			echo stop >\$S/state
			usleep 500000
		done
		sleep 5
		rmmod ntklog_torture
	done
	cat \$S/stats
	rmmod ntklog
	K=/sys/kernel/debug/kmemleak
	# It reports what two scans, and five seconds, have found no use of.
	[ ! -e \$K ] || { echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log; }
	dmesg >dmesg.log
END
result "$1: the torture's virtual machine runs to its end" \
	"$TOP/scripts/vm.sh" -t 600 -k "$(image "$1")" -c 3 -m 2048 "$DIR"
for type in $TORTURE_TYPES; do
	result "$1: torture of $type succeeds" \
		grep "End of test: SUCCESS: $type: " "$DIR/dmesg.log"
done
result "$1: events generated are written or lost" awk \
	'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' \
	"$DIR/guest.log"
result "$1: the kernel has nothing to complain of" has_reports "$DIR/dmesg.log" ''
[ "$1" != kasan ] || result "kasan: nothing leaks" \
	sh -c "cat $DIR/kmemleak.log; [ ! -s $DIR/kmemleak.log ]"
