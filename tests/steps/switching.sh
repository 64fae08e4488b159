#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tracking goes on and off a hundred times under locks in full use on parallel processors,
# for sessions, the tracepoint and both, from nothing and from counting: nothing of what was
# owned before is in a record, and no entry stays behind. Nobody owns more than four locks
# at once, and nothing interrupts an owner that takes locks: what is deeper, or finds no room,
# has been left behind.

. "$(dirname "$0")/../lib.sh"

tool
debian_kernel 6.12
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
cp "$OUT/build/$ABI"/{,workload,tests/modules}/*.ko "$DIR/"
cp "$TESTS/guest/switching.sh" "$DIR/guest.sh"
guest_programs "$DIR" switching
result "switching: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$IMAGE" -M "$MODULES" -P "$NTKLOG" "$DIR"
results python3 "$TESTS/check/check_switching.py" "$DIR"
