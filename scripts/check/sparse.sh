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
# With make -s or V=1 the log would not have the names of the files that sparse checks.
unset MAKEFLAGS GNUMAKEFLAGS KBUILD_VERBOSE
"$TOP/scripts/build/build-modules.sh" -s "$kdir" "$OUT/build/$abi"
# Warnings about the kernel's own headers do not count, the compiler's about our sources do. Newer
# kernels print paths relative to the directory of the build, headers' after "././".
dir=$CACHE/build/$abi/ awk '
	(index($0, ENVIRON["dir"]) == 1 || /^(\.\/\.\/)?(include|kunit|module|tests|workload)\//) &&
		/ (warning|error): / { print; found = 1 }
	/^  CHECK / { checked++ }
	END {
		if (!checked)
			print "sparse has checked no file"
		exit found || !checked
	}' "$OUT/build/$abi"/{modules,sparse}.log
