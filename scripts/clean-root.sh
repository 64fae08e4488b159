#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# clean-root.sh DIRECTORY PACKAGE...: a fresh Debian 12 with these packages and what
# they need, unpacked in the directory. It is made once, from where this machine's apt
# takes its packages, and kept in the cache.

. "$(dirname "$0")/lib.sh"

dir=${1:?usage: clean-root.sh DIRECTORY PACKAGE...}
shift

make_root()
{
	local sources packages
	# Other archives' files name other suites.
	mapfile -t sources < <(grep -ls bookworm /etc/apt/sources.list \
		/etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources)
	[ ${#sources[@]} -gt 0 ] || die "no file of apt's names bookworm"
	say "making a fresh Debian 12 with $packages_wanted (half a minute)"
	packages=${packages_wanted// /,}
	quietly clean-root as_root mmdebstrap --variant=minbase --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' bookworm "$1/root.tar" \
		"${sources[@]}"
}

need root
packages_wanted=$*
key=$(for package; do echo "$package=$(candidate "$package")"; done | sha256sum | cut -c 1-12)
once "$CACHE/root/bookworm-$key" make_root
mkdir -p "$dir"
# Device files cannot be made everywhere, and are not needed.
as_root tar -C "$dir" --exclude='./dev/*' -xf "$CACHE/root/bookworm-$key/root.tar"
