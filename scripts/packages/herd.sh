#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# herd.sh: unpack herd7 in the cache unless it is there, and print the command that runs it with the
# kernel's memory model. herd7 is taken from Debian's suite sid, and needs its C library, so the
# command runs sid's dynamic linker with sid's libraries.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

SUITE=sid

update_suite_lists $SUITE || die "Debian's suite $SUITE, which has herd7, cannot be reached"

unpack_herd()
{
	mkdir "$1/all"
	unpack_from_suite $SUITE "$1/all" herdtools7 libgmp10 libc6
	# Keep only what herd7 needs.
	mkdir "$1/lib"
	mv "$1/all/usr/bin/herd7" "$1/all/usr/share/herdtools7/herd" "$1/"
	find "$1/all" '(' -name 'ld-linux-*.so.*' -o -name 'libc.so.*' -o -name 'libm.so.*' \
		-o -name 'libgmp.so.*' ')' -exec cp -L {} "$1/lib/" \;
	rm -rf "$1/all"
}

version=$(print_suite_candidate $SUITE herdtools7)
[ -n "$version" ] || die "Debian's suite $SUITE has no herdtools7 any more"
model=$("$TOP/scripts/kernels/kernel-source.sh")/tools/memory-model
dir=$CACHE/herd/$version
make_once "$dir" unpack_herd
echo "$dir/lib/ld-linux-x86-64.so.2 --library-path $dir/lib $dir/herd7" \
	"-I $dir/herd -I $model -conf $model/linux-kernel.cfg"
