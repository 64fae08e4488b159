#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module, the workloads, the example and the tool for kernels whose compiler is not this
# machine's - Debian 13's and the newest - and with clang, without a warning. The steps that
# run them there come after. Debian 12's kernels are built for where they run, e2e.

. "$(dirname "$0")/../lib.sh"

OURS='^(/build/|(include|module|kunit|workload|tests|tools|Documentation)/|ntklog\.)'
TOOLS="ccache make perl python3 dwarves libc6-dev libelf-dev pkg-config libbpf-dev libjansson-dev uthash-dev protobuf-c-compiler libprotobuf-c-dev zlib1g-dev"

# built KERNEL NAME [ARGUMENT...]: build for a kernel of debian-kernel.sh, in the root of its suite.
built()
{
	local kernel=$1 name=$2 root
	shift 2
	debian_kernel "$kernel"
	root=$DIR/root-$SUITE
	# shellcheck disable=SC2086 # words
	[ -d "$root" ] ||
		"$TOP/scripts/vm/clean-root.sh" "$SUITE" "$root" $TOOLS "$(compiler)" clang lld llvm
	"$TOP/scripts/build/build-in-suite.sh" "$root" "$KDIR" "$OUT/build/$name" W=1 "$@"
	# Complaints about the kernel's own headers do not count. Newer kernels name the files of
	# this tree by their paths from there.
	! grep -E "$OURS.*(warning|WARNING):|^(WARNING|ERROR):" "$OUT/log/suite-$name.log"
}

# compiler: print the compiler that Debian built the kernel with, from its headers.
compiler()
{
	sed -n 's/^.*\(gcc-[0-9]*\).*$/\1/p' "$KDIR/.kernelvariables" | head -n 1
}

for kernel in trixie newest; do
	result "builds: $kernel's kernel" built $kernel $kernel
done
# Debian's headers are configured for gcc. kernel-clang leaves out the options that clang does not
# know.
result "builds: clang" built trixie clang \
	CC=/build/tests/lib/kernel-clang
as_root rm -rf "$DIR"/root-*
