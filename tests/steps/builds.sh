#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the modules, the example and the tool without a warning for kernels whose compiler is not
# this machine's, Debian 13's and the newest, and once with clang.

. "$(dirname "$0")/../lib.sh"

OURS='^(/build/|(include|module|kunit|workload|tests|tools|Documentation)/|ntklog\.)'

# modules_build_in_suite KERNEL NAME [ARGUMENT...]: build in a fresh Debian of the kernel's suite,
# to out/build/NAME.
modules_build_in_suite()
{
	local kernel=$1 name=$2 root
	shift 2
	set_debian_kernel "$kernel"
	root=$DIR/root-$SUITE
	[ -d "$root" ] ||
		"$TOP/scripts/build/suite-root.sh" "$SUITE" "$KDIR" "$root"
	"$TOP/scripts/build/build-in-suite.sh" "$root" "$KDIR" "$OUT/build/$name" W=1 "$@"
	# Warnings about the kernel's own headers do not count. The paths of this tree's files begin
	# with /build, but newer kernels print them relative to it.
	! grep -E "$OURS.*(warning|WARNING):|^(WARNING|ERROR):" "$OUT/log/suite-$name.log"
}

for kernel in trixie newest; do
	run_test "builds: $kernel's kernel" modules_build_in_suite $kernel $kernel
done
# Debian's headers are configured for gcc: kernel-clang leaves out options that clang does not have.
run_test "builds: clang" modules_build_in_suite trixie clang \
	CC=/build/tests/lib/kernel-clang
run_as_root rm -rf "$DIR"/root-*
