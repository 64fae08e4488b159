#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel-source.sh [-n] [-a] [SERIES]: unpack Debian's newest source of the series in the cache and
# print its directory. Without -a only the parts that checks need are unpacked: the scripts (with
# checkpatch.pl and kernel-doc), KUnit and the memory model. Test kernels need all of it (-a).
# With -n nothing is unpacked: exit status 1 if the source is not there.

. "$(dirname "$0")/../lib.sh"

PARTS="scripts lib/kunit include/kunit tools/memory-model"

unpack_source()
{
	local package=$1 parts=$2 dir=$3 members=()

	unpack_deb "$package" "$dir/deb"
	say "extracting ${parts:-all} of the kernel's source"
	for part in $parts; do
		members+=("$package/$part")
	done
	run_quietly "extract-$package" tar -xf "$dir/deb/usr/src/$package.tar.xz" -C "$dir" \
		-I 'xz -T0' --strip-components=1 "${members[@]}"
	rm -rf "$dir/deb"
}

# The command that ends the script with -n; else empty.
if_absent='' parts=$PARTS suffix=-parts
while getopts na option; do
	case $option in
	n) if_absent="exit 1" ;;
	a) parts='' suffix='' ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ -n "$if_absent" ] || install_groups source
package=linux-source-${1:-$KERNEL_SERIES}
[ -n "$(print_candidate "$package")" ] || ${if_absent:-apt_update}
version=$(print_candidate "$package")
[ -n "$version" ] || die "apt does not know $package"
mkdir -p "$CACHE"
[ ! -d "$CACHE/source/$version" ] || suffix=
dir=$CACHE/source/$version$suffix
[ -d "$dir" ] || $if_absent
make_once "$dir" unpack_source "$package" "$parts"
printf '%s\n' "$dir"
