#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# herd.sh: have herd7 unpacked in the cache, and print the words that start it with the kernel's
# memory model. It is in Debian's unstable alone, and needs that one's C library, which it is started
# with; nothing of it is installed.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

SUITE=sid

suite_reached $SUITE || die "Debian's suite $SUITE, which has herd7, cannot be reached"

unpack_herd()
{
	mkdir "$1/all"
	suite_unpack $SUITE "$1/all" herdtools7 libgmp10 libc6
	# herd7 needs a few of these 300 MB.
	mkdir "$1/lib"
	mv "$1/all/usr/bin/herd7" "$1/all/usr/share/herdtools7/herd" "$1/"
	find "$1/all" '(' -name 'ld-linux-*.so.*' -o -name 'libc.so.*' -o -name 'libm.so.*' \
		-o -name 'libgmp.so.*' ')' -exec cp -L {} "$1/lib/" \;
	rm -rf "$1/all"
}

version=$(suite_candidate $SUITE herdtools7)
[ -n "$version" ] || die "Debian's suite $SUITE has no herdtools7 any more"
model=$("$TOP/scripts/kernels/kernel-source.sh")/tools/memory-model
dir=$CACHE/herd/$version
once "$dir" unpack_herd
echo "$dir/lib/ld-linux-x86-64.so.2 --library-path $dir/lib $dir/herd7" \
	"-I $dir/herd -I $model -conf $model/linux-kernel.cfg"
