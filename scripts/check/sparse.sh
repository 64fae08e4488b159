#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sparse.sh KDIR: run sparse on the modules. The modules are compiled anew in a directory of their
# own, because sparse checks only files that are compiled.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

kdir=${1:?usage: sparse.sh KDIR}
begin_stages 90
install_groups style
say "running sparse on the modules"
mkdir -p "$CACHE/build"
# The lock is that of build-modules.sh: wait for a build of another tree.
flock "$CACHE/build/sparse.lock" rm -rf "$CACHE/build/sparse"
"$TOP/scripts/build/build-modules.sh" "$kdir" "$OUT/build/sparse" C=2
# Warnings about the kernel's own headers do not count.
if grep -E "$CACHE/build/sparse/[^ ]*: (warning|error):" "$OUT/log/modules-sparse.log"; then
	exit 1
fi
