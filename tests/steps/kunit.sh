#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit.sh FLAVOUR: all suites in a test kernel.

. "$(dirname "$0")/../lib.sh"

# The suites provoke these reports on purpose, each once or so often, and no others. Those of
# sleeping only where DEBUG_ATOMIC_SLEEP is.
EXPECTED_REPORTS='ExReleaseSpinLock: lock .* is not owned shared
KeAcquireQueuedSpinLock: no queued spin lock has the number 0x11
KeReleaseQueuedSpinLock: .* does not own lock
KeReleaseSpinLock: lock .* is not owned
KeRaiseIrql: from IRQL 2 to 1
KeLowerIrql: from IRQL 0 to 2
KeLeaveCriticalRegion: thread [0-9]+ is in none
KeLeaveGuardedRegion: thread [0-9]+ is in none
ExInitializeResource: resource .* is live already
ExReinitializeResource: 1 wait for resource
ExDeleteResource: resource .* is owned, called from deletion_of
3 ExAcquireResource: resource .*, wait 1, at IRQL 2 from a_waiting_acquisition
2 ExAcquireResource: resource .*, wait 0, at IRQL 12 from acquisition_above
12 Ex[A-Za-z]*: NULL is not a live resource, called from null_is_not_live
ExReleaseResource: resource .* is owned by 0, not by
ExConvertExclusiveToShared: resource .* is not owned exclusively by
ExSetResourceOwnerPointer: resource .* is not owned by
ExSetResourceOwnerPointerEx: resource .*, flags 2 from
2 PAGED_CODE: NtVolumeIsIdle at IRQL 2'
EXPECTED_SLEEP='BUG: sleeping function called from invalid context at .*/ke_irql_test\.c
BUG: sleeping function called from invalid context at .*/eresource\.c'

expected=$EXPECTED_REPORTS
[ "$1" = kcsan ] || expected+=$'\n'$EXPECTED_SLEEP
result "$1: the modules build with W=1 and no warning" \
	builds_silently "$(known test-kernel "$1")" "$OUT/build/$1"
share "$DIR" "$1" <<-'END'
	# Also allocations that could wait for memory fail when a test says so.
	F=/sys/kernel/debug/failslab/ignore-gfp-wait
	[ ! -e $F ] || echo N >$F
	# The suites look at each event of a session: the kernel's own locks have none in it.
	insmod ntklog.ko excessive_first_ms=40 excessive_next_ms=80 linux_locks=0 || exit 1
	insmod ntklog_kunit.ko || exit 1
	cat /sys/kernel/debug/kunit/*/results
	rmmod ntklog_kunit && rmmod ntklog || exit 1
	dmesg >dmesg.log
END
result "$1: the suites' virtual machine runs to its end" \
	"$TOP/scripts/vm.sh" -k "$(image "$1")" -c 4 -m 2048 "$DIR"
grep -E '^ +(not )?ok |^ +# ' "$DIR/guest.log"
for suite in thread ke ke_irql ke_spin_lock ex eresource perf perf_resource spin_lock_event \
    spin_lock_sampled sleeping_lock context_swap identity information system_information etw \
    session stack nt; do
	result "$1: the suite ntklog_$suite passed" \
		grep -qE "^ok [0-9]+ ntklog_$suite\$" "$DIR/guest.log"
done
result "$1: the reports are those that the suites provoke" \
	has_reports "$DIR/dmesg.log" "$expected"
