#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Enable and disable tracking while all CPUs use locks. A CPU holds at most four locks, and no
# interrupt takes locks, so a greater depth means that a slot stayed in use.

. "$(dirname "$0")/../lib.sh"

build_tool
set_debian_kernel 6.12
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
cp "$OUT/build/$ABI"/{,workload,tests/modules}/*.ko "$DIR/"
cp "$TESTS/guest/switching.sh" "$DIR/guest.sh"
build_guest_programs "$DIR" switching
run_test "switching: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$IMAGE" -M "$MODULES" -P "$NTKLOG" "$DIR"
run_test_program python3 "$TESTS/check/check_switching.py" "$DIR"
