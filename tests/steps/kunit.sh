#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit.sh KERNEL: run all KUnit suites, on a stock kernel of Debian's (6.12, 6.1, newest), for
# which KUnit is built as a module, or on a test kernel (debug, kcsan). KUNIT_FILTER=SUITE.CASE, a
# glob pattern, runs some cases only.

. "$(dirname "$0")/../lib.sh"

# The suites provoke these reports on purpose. With DEBUG_ATOMIC_SLEEP, also EXPECTED_SLEEP. Format:
# see log_has_reports().
EXPECTED_REPORTS='ExReleaseSpinLock: lock .* is not owned shared
KeTryToAcquireQueuedSpinLock: no queued spin lock has the number 0x11
KeReleaseQueuedSpinLock: .* does not own lock
KeReleaseSpinLock: lock .* is not owned
KeRaiseIrql: from IRQL 2 to 1
KeLowerIrql: from IRQL 0 to 2
KeLeaveCriticalRegion: thread [0-9]+ is in none
KeLeaveGuardedRegion: thread [0-9]+ is in none
ExInitializeResource: resource .* is live already
ExReinitializeResource: 1 wait for resource
ExDeleteResource: resource .* is owned, called from resource_owned_deletion
3 ExAcquireResource: resource .*, wait 1, at IRQL 2 from dispatch_level_with_wait
2 ExAcquireResource: resource .*, wait 0, at IRQL 12 from above_dispatch_level_acquisition
12 Ex[A-Za-z]*: NULL is not a live resource, called from null_resource_calls
ExReleaseResource: resource .* is owned by 0, not by
ExConvertExclusiveToShared: resource .* is not owned exclusively by
ExSetResourceOwnerPointer: resource .* is not owned by
ExSetResourceOwnerPointerEx: resource .*, flags 2 from
2 PAGED_CODE: NtVolumeIsIdle at IRQL 2'
EXPECTED_SLEEP='BUG: sleeping function called from invalid context at .*/ke_irql_test\.c
BUG: sleeping function called from invalid context at .*/eresource_acquire\.c'

# make_stock_guest_files: for a kernel without KUnit; sets vm.
make_stock_guest_files()
{
	local words built CORE ARGUMENTS
	set_debian_kernel "$kernel"
	# This directory's name is the kernel's, so all steps share the compiled objects.
	built=$OUT/build/kunit/$ABI
	words=$("$TOP/scripts/kernels/kunit-stock.sh" "$KDIR")
	eval "$words"
	# objtool of 6.1 does not know which functions of a newer KUnit never return, and warns; after a
	# warning all is compiled again. So it is if a command changes, and 6.1 needs other directories
	# of headers. Therefore no other step shares these objects.
	if [ "$kernel" = 6.1 ]; then
		built=$OUT/build/kunit-$ABI
		run_test "$kernel: the modules build" \
			"$TOP/scripts/build/build-modules.sh" "$KDIR" "$built" "${ARGUMENTS[@]}"
	else
		run_test "$kernel: the modules build with W=1 and no warning" \
			build_modules_silently "$KDIR" "$built" "${ARGUMENTS[@]}"
	fi
	cp "$CORE/kunit.ko" "$built"/{ntklog,kunit/ntklog_kunit,tests/modules/stale_code}.ko "$DIR/"
	# Cases that preempt a holder need preempt=full.
	vm=(-k "$IMAGE" -M "$MODULES" -a preempt=full)
}

# make_test_kernel_guest_files: for a kernel with KUnit; sets vm.
make_test_kernel_guest_files()
{
	run_test "$kernel: the modules build with W=1 and no warning" \
		build_modules_silently "$(output_of test-kernel "$kernel")" "$OUT/build/$kernel"
	fill_shared_directory "$DIR" "$kernel" </dev/null
	# KUnit is part of this kernel, so its filter is a parameter of the kernel.
	vm=(-k "$(print_kernel_image "$kernel")" -a "kunit.filter_glob=${KUNIT_FILTER:-*}")
}

# KUnit prints the explanation of a failure before the case's result; TAP has it after the result.
print_kunit_tap()
{
	awk -v kernel="$kernel" '
		/^    # Subtest: / { suite = $3; text = ""; next }
		/^ +(not )?ok [0-9]+ / {
			failed = $1 == "not"
			sub(/^ *(not )?ok [0-9]+ /, "")
			print (failed ? "not ok" : "ok") " - " kernel " " suite "." $0
			if (failed) {
				print "# alone: KUNIT_FILTER=" suite "." $1 " tests/steps/kunit.sh " kernel
				printf "%s", text
			}
			text = ""
			next
		}
		/^ +(KTAP version|1\.\.)/ { next }
		{ gsub("[^ ]*/kunit/", "kunit/"); text = text "# " $0 "\n" }' "$DIR/guest.log"
}

kernel=$1
expected=$EXPECTED_REPORTS
case $kernel in
[0-9]* | newest) make_stock_guest_files ;;
kcsan) make_test_kernel_guest_files ;;
*)
	make_test_kernel_guest_files
	expected+=$'\n'$EXPECTED_SLEEP
	;;
esac
{ echo "filter='${KUNIT_FILTER:-*}'"; cat <<-'END'; } >"$DIR/guest.sh"
	# One case lets an allocation fail that may sleep, which failslab excludes by default.
	F=/sys/kernel/debug/failslab/ignore-gfp-wait
	[ ! -e $F ] || echo N >$F
	[ ! -e kunit.ko ] || insmod kunit.ko "filter_glob=$filter" || exit 1
	# Suites check the events of a session, so the kernel's own locks must not write any.
	insmod ntklog.ko excessive_first_ms=40 excessive_next_ms=80 linux_locks=0 || exit 1
	insmod ntklog_kunit.ko || exit 1
	cat /sys/kernel/debug/kunit/*/results
	dmesg >dmesg.log
	rmmod ntklog_kunit && rmmod ntklog || exit 1
	[ ! -e kunit.ko ] || rmmod kunit || exit 1
	dmesg >dmesg.log
END
run_test "$kernel: the suites' virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" "${vm[@]}" -c 4 -m 2048 "$DIR"
print_kunit_tap
[ -z "${KUNIT_FILTER:-}" ] || exit 0
for suite in $(sed -n 's/^\t\.name = "\(ntklog_[a-z_]*\)",$/\1/p' "$TOP"/kunit/*_test.c); do
	run_test "$kernel: the suite $suite passed" \
		grep -qE "^ok [0-9]+ $suite\$" "$DIR/guest.log"
done
run_test "$kernel: the reports are those that the suites provoke" \
	log_has_reports "$DIR/dmesg.log" "$expected"
