#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-kernel.sh FLAVOUR: have a test kernel built in the cache and print its
# build directory, which is also the KDIR for modules.
#
# A flavour is a file scripts/kernels/FLAVOUR.config of symbols to set on top
# of tinyconfig; a line "include NAME" stands for those of another. The cache key
# is the source's version, the symbols and the compiler: change one and the
# kernel is built anew.

. "$(dirname "$0")/lib.sh"

flavour=${1:?usage: test-kernel.sh FLAVOUR}

# symbols FLAVOUR: all that it sets, one on a line.
symbols()
{
	local fragment=$TOP/scripts/kernels/$1.config word name

	[ -f "$fragment" ] || die "no such test kernel: $fragment"
	while read -r word name; do
		case $word in
		include) symbols "$name" ;;
		CONFIG_*) printf '%s\n' "$word" ;;
		esac
	done <"$fragment"
}

# Each symbol must have survived olddefconfig: a dependency that went missing
# would otherwise silently make a weaker test.
check_config()
{
	local config=$1 wanted missing=0

	while read -r wanted; do
		case $wanted in
		CONFIG_*=n)
			! grep -q "^${wanted%=n}=" "$config" && continue ;;
		CONFIG_*)
			grep -qxF "$wanted" "$config" && continue ;;
		*)
			continue ;;
		esac
		say "the configuration lost $wanted"
		missing=1
	done < <(symbols "$flavour")
	[ "$missing" = 0 ] || die "test kernel $flavour cannot be configured"
}

build_kernel()
{
	local source=$1 dir=$2

	quietly "config-$flavour" make -C "$source" O="$dir" tinyconfig
	symbols "$flavour" >>"$dir/.config"
	quietly "config-$flavour" make -C "$source" O="$dir" olddefconfig
	check_config "$dir/.config"
	say "building the test kernel $flavour (about 5 minutes on 2 cores)"
	quietly "build-$flavour" make -C "$source" O="$dir" -j"$(nproc)" \
		bzImage modules
	# Objects are most of the space, and modules do not need them.
	find "$dir" -name '*.o' -not -path '*/scripts/*' -not -path '*/tools/*' \
		-not -name module.lds.o -delete
}

need "to build a kernel" gcc make flex bison bc libelf-dev libssl-dev \
	perl cpio xz-utils kmod
source=$("$TOP/scripts/kernel-source.sh")
key=$({ symbols "$flavour"; gcc --version | head -n 1; } |
	sha256sum | cut -c1-12)
dir=$CACHE/kernel/$flavour-$(basename "$source")-$key
once "$dir" build_kernel "$source"
printf '%s\n' "$dir"
