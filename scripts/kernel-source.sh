#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel-source.sh [-n] [SERIES]: have Debian's newest source of the series unpacked
# in the cache and print its directory. Test kernels are built from it, and
# checkpatch.pl comes from it. With -n, only tell: exit status 1 if it is not there.

. "$(dirname "$0")/lib.sh"

unpack_source()
{
	local package=$1 dir=$2

	unpack_deb "$package" "$dir/deb"
	say "extracting the kernel source"
	quietly "extract-$package" tar -xf "$dir/deb/usr/src/$package.tar.xz" -C "$dir" \
		--strip-components=1
	rm -rf "$dir/deb"
}

absent=
[ "${1:-}" != -n ] || { absent="exit 1"; shift; }
[ -n "$absent" ] || need source
package=linux-source-${1:-$KERNEL_SERIES}
[ -n "$(candidate "$package")" ] || ${absent:-apt_update}
version=$(candidate "$package")
[ -n "$version" ] || die "apt does not know $package"
mkdir -p "$CACHE"
[ -d "$CACHE/source/$version" ] || $absent
once "$CACHE/source/$version" unpack_source "$package"
printf '%s\n' "$CACHE/source/$version"
