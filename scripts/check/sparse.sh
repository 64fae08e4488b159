#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sparse.sh KDIR: run sparse on the modules. A complaint about a file of this tree is an error. The
# build has a directory of its own, because sparse checks only what is compiled.

. "$(dirname "$0")/../lib.sh"

kdir=${1:?usage: sparse.sh KDIR}
need style
mkdir -p "$CACHE/build"
# Wait until no other tree builds in this directory.
flock "$CACHE/build/sparse.lock" rm -rf "$CACHE/build/sparse"
"$TOP/scripts/build/build-modules.sh" "$kdir" "$OUT/build/sparse" C=2
# Complaints about the kernel's own headers do not count.
if grep -E "$CACHE/build/sparse/[^ ]*: (warning|error):" "$OUT/log/modules-sparse.log"; then
	exit 1
fi
