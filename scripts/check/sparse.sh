#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sparse.sh KDIR: run sparse on the modules; any complaint about a file of ours
# is an error. In a directory of its own: sparse only sees what is compiled.

. "$(dirname "$0")/../lib.sh"

kdir=${1:?usage: sparse.sh KDIR}
need style
mkdir -p "$CACHE/build"
# Not while another tree builds there.
flock "$CACHE/build/sparse.lock" rm -rf "$CACHE/build/sparse"
"$TOP/scripts/build/build-modules.sh" "$kdir" "$OUT/build/sparse" C=2
# The kernel's own headers are not ours to mend.
if grep -E "$CACHE/build/sparse/[^ ]*: (warning|error):" "$OUT/log/modules-sparse.log"; then
	exit 1
fi
