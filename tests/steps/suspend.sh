#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Suspend a stock kernel of Debian to idle while Linux' own locks are redirected. The kernel does
# all steps of a suspend but the idling itself (pm_test), because nothing would wake the virtual
# machine. The guest prints the results on the console.

. "$(dirname "$0")/../lib.sh"

set_debian_kernel 6.12
run_test "suspend: the modules build" build_modules_silently "$KDIR" "$OUT/build/$ABI"
cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI/tests/modules/stale_code.ko" "$TESTS"/guest/*.sh "$DIR/"
printf '. ./lib.sh\n. ./suspend.sh\n' >"$DIR/guest.sh"
run_test "suspend: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$IMAGE" -M "$MODULES" "$DIR"
sed -n 's/.*\] suspend: \(\(not \)\?ok .*\|#.*\)/\1/p' "$DIR/console.log" | tr -d '\r' | tee "$DIR/results"
run_test "suspend: all results are there" sh -c "[ \$(grep -c '^ok' $DIR/results) = 12 ]"
