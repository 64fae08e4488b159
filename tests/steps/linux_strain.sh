#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linux_strain.sh FLAVOUR: Linux' own locks in a test kernel with a detector, on four processors,
# redirected and restored all the time while the kernel tortures STRAIN_TYPES of them and all
# there is goes on: see tests/guest/linux_strain.sh. STRAIN_TURNS (2) times each. In the kernel
# kasan allocations of a session's start, which redirects, fail: each, at first, then one in
# STRAIN_STRIDE (40), by SEED.

. "$(dirname "$0")/../lib.sh"

types=${STRAIN_TYPES:-spin_lock rw_lock_irq}
seed=${SEED:-$(date +%s)}
say "$1: SEED=$seed"
share "$DIR" "$1" <<-END
	. ./lib.sh
	turns=${STRAIN_TURNS:-2}
	types="$types"
	. ./linux_strain.sh
	stride=${STRAIN_STRIDE:-40} seed=$((seed % 1000))
	[ ! -e /sys/kernel/debug/failslab ] || . ./linux_failures.sh
	K=/sys/kernel/debug/kmemleak
	[ ! -e \$K ] || { echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log; }
	dmesg >dmesg.log
END
guest_programs "$DIR" fail
kernel=$("$TOP/scripts/test-kernel.sh" "$1")
cp "$TESTS"/guest/*.sh "$kernel"/kernel/{torture,locking/locktorture}.ko "$DIR/"
result "$1: the virtual machine of Linux' locks runs to its end" \
	"$TOP/scripts/vm.sh" -t 3000 -k "$(image "$1")" -c 4 -m 2048 "$DIR"
grep -E '^(not )?ok |^#' "$DIR/guest.log" | sed "s/ok - /ok - $1 /"
result "$1: the kernel's torture of its locks succeeds each time" sh -c \
	"grep 'End of test' $DIR/dmesg.log
	[ \$(grep -c 'End of test: SUCCESS' $DIR/dmesg.log) = $(($(wc -w <<<"$types") + 1)) ]"
result "$1: NMIs took locks on each processor" sh -c \
	"grep 'nmi_locks: cpu' $DIR/dmesg.log
	[ \$(grep -cE 'nmi_locks: cpu.* [1-9][0-9]* NMIs, [1-9][0-9]* locks' $DIR/dmesg.log) = 4 ]"
result "$1: Linux' locks did what they should" sh -c \
	"! grep -E '(linux_locks|direct_call): wrong' $DIR/dmesg.log"
result "$1: the kernel has nothing to complain of" has_reports "$DIR/dmesg.log" ''
[ "$1" != kasan ] || result "kasan: nothing leaks" \
	sh -c "cat $DIR/kmemleak.log; [ ! -s $DIR/kmemleak.log ]"
