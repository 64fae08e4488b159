#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian-kernel.sh [-n] [SERIES]: have Debian's newest kernel of the series, its
# image, its modules and its headers, unpacked in the cache, and print where:
#
#	IMAGE=... MODULES=... KDIR=... ABI=...
#
# With -n, only tell: exit status 1 if it is not there.
#
# Unpacked, not installed: the headers package depends on the image, and
# installing that would put a kernel into the machine's boot menu.

. "$(dirname "$0")/lib.sh"

unpack_kernel()
{
	local abi=$1 dir=$2 package

	unpack_deb "linux-image-$abi" "$dir"
	unpack_deb "linux-headers-$abi" "$dir"
	for package in $(LC_ALL=C apt-cache depends "linux-headers-$abi" |
	    sed -n 's/^ *Depends: \(linux-headers-.*-common\|linux-kbuild-.*\)/\1/p'); do
		unpack_deb "$package" "$dir"
	done
	# The one absolute path in Debian's headers. The final name of the
	# directory, not the one it has while it is being filled.
	sed -i "s|^include /usr/src/|include $CACHE/debian/$abi/usr/src/|" \
		"$dir/usr/src/linux-headers-$abi/Makefile"
	# initramfs images load modules with modprobe.
	depmod -b "$dir" "$abi" 2>/dev/null || depmod -b "$dir/usr" "$abi"
}

absent=
[ "${1:-}" != -n ] || { absent="exit 1"; shift; }
[ -n "$absent" ] || need unpack
abi=$(resolve_abi "${1:-$KERNEL_SERIES}")
dir=$CACHE/debian/$abi
mkdir -p "$CACHE"
[ -d "$dir" ] || $absent
once "$dir" unpack_kernel "$abi"
modules=$dir/lib/modules/$abi
[ -d "$modules" ] || modules=$dir/usr$modules
printf 'IMAGE=%s\nMODULES=%s\nKDIR=%s\nABI=%s\n' \
	"$dir/boot/vmlinuz-$abi" "$modules" \
	"$dir/usr/src/linux-headers-$abi" "$abi"
