#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel-source.sh [SERIES]: have Debian's newest source of the series unpacked
# in the cache and print its directory. Test kernels are built from it, and
# checkpatch.pl comes from it.

. "$(dirname "$0")/lib.sh"

unpack_source()
{
	local package=$1 dir=$2

	unpack_deb "$package" "$dir/deb"
	say "extracting the kernel source"
	tar -xf "$dir/deb/usr/src/$package.tar.xz" -C "$dir" --strip-components=1
	rm -rf "$dir/deb"
}

need "to unpack the kernel's source" xz-utils
package=linux-source-${1:-$KERNEL_SERIES}
[ -n "$(candidate "$package")" ] || apt_update
version=$(candidate "$package")
[ -n "$version" ] || die "apt does not know $package"
mkdir -p "$CACHE"
once "$CACHE/source/$version" unpack_source "$package"
printf '%s\n' "$CACHE/source/$version"
