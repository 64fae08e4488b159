#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# strain.sh KERNEL: Linux' own locks on four processors of a stock kernel of Debian's, redirected and
# restored all the time while all there is goes on: see tests/guest/strain.sh. STRAIN_TURNS (2)
# times each.

. "$(dirname "$0")/../lib.sh"

debian_kernel "$1"
result "strain: the modules build" builds_silently "$KDIR" "$OUT/build/$ABI"
cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI"/tests/modules/*.ko "$TESTS"/guest/*.sh "$DIR/"
printf '. ./lib.sh\nturns=%s\n. ./strain.sh\n' "${STRAIN_TURNS:-2}" >"$DIR/guest.sh"
result "strain: the virtual machine runs to its end" \
	"$TOP/scripts/vm.sh" -t 3000 -k "$IMAGE" -M "$MODULES" -c 4 "$DIR"
grep -E '^(not )?ok |^#' "$DIR/guest.log"
