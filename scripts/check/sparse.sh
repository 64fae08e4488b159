#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sparse.sh KDIR: run sparse on the modules.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

kdir=${1:?usage: sparse.sh KDIR}
begin_stages 90
install_groups style
say "running sparse on the modules"
abi=$(cat "$kdir/include/config/kernel.release")
"$TOP/scripts/build/build-modules.sh" -s "$kdir" "$OUT/build/$abi"
# Warnings about the kernel's own headers do not count.
if grep -E "$CACHE/build/$abi/[^ ]*: (warning|error):" "$OUT/log/sparse.log"; then
	exit 1
fi
