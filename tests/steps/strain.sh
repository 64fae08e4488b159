#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# strain.sh [KERNEL|FLAVOUR]: redirect and restore Linux' own locks on four CPUs, under the loads of
# tests/guest/strain.sh, for STRAIN_SECONDS (60) and until each load has had its turn.
#
# KERNEL is a stock kernel of Debian's, FLAVOUR a test kernel with a detector (debug, kcsan); the
# default is one of these two, by SEED. In a test kernel, the kernel's own torture of its locks runs
# too, with STRAIN_TYPES one after the other. In the kernel debug, if STRAIN_STRIDE is set,
# allocations of a session's start fail at the end: one after the other until one does not make the
# start fail, then one in STRAIN_STRIDE, by SEED.
#
# STRAIN_PAUSE (1000000): microseconds after each turn of a load. STRAIN_THREADS (1): threads of
# each kind in the torture. Emulated CPUs that are never idle are much slower.

. "$(dirname "$0")/../lib.sh"

seed=${SEED:-$(date +%s)}
flavours=(debug kcsan)
[ $# -gt 0 ] || set -- "${flavours[seed % 2]}"
script="seconds=${STRAIN_SECONDS:-60} pause=${STRAIN_PAUSE:-1000000}"$'\n'
case $1 in
debug | kcsan)
	declare -A types=([debug]="mutex_lock rwsem_lock" [kcsan]=spin_lock_irq)
	say "in the kernel $1: SEED=$seed"
	script+="types='${STRAIN_TYPES:-${types[$1]}}' threads=${STRAIN_THREADS:-1}
		stride=${STRAIN_STRIDE:-0} seed=$((seed % 1000))"$'\n'
	fill_shared_directory "$DIR" "$1" </dev/null
	kernel=$(output_of test-kernel "$1")
	cp "$kernel"/kernel/{torture,locking/locktorture}.ko "$DIR/"
	build_guest_programs "$DIR" fail
	vm_options=(-k "$(print_kernel_image "$1")" -m 2048)
	;;
*)
	set_debian_kernel "$1"
	script+="types=none"$'\n'
	run_test "strain: the modules build" build_modules_silently "$KDIR" "$OUT/build/$ABI"
	cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI"/tests/modules/*.ko "$DIR/"
	vm_options=(-k "$IMAGE" -M "$MODULES")
	;;
esac
cp "$TESTS"/guest/*.sh "$DIR/"
printf '. ./lib.sh\n%s. ./strain.sh\n' "$script" >"$DIR/guest.sh"
run_test "strain: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" "${vm_options[@]}" -c 4 "$DIR"
print_guest_results
# The kernel's fair server may count its time wrongly on a CPU that goes offline, and warns
# (6.12.117).
KERNEL_WARNING='WARNING: .* at kernel/sched/deadline\.c:265 inactive_task_timer'
if [ -e "$DIR/locktorture.ko" ]; then
	grep -vE "$KERNEL_WARNING" "$DIR/dmesg.log" >"$DIR/dmesg.without" || true
	run_test "strain: the kernel log has no report" log_has_reports "$DIR/dmesg.without" ''
fi
[ "$1" != debug ] ||
	run_test "strain: nothing leaks" sh -c "cat $DIR/kmemleak.log; [ ! -s $DIR/kmemleak.log ]"
