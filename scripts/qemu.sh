#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# qemu.sh [-n]: have a QEMU of 8.1 or later and print the words that start it. The system's if it
# is new enough, else Debian's backport with the libraries that the system lacks, unpacked in
# the cache: no package of the system changes. With -n, only
# tell: exit status 1 if there is none yet.
#
# Before 8.1 (Debian 12 has 7.2) parallel processors run stale code when one of them patches
# what another runs, as static keys, tracepoints and ftrace do ("accel/tcg: Always lock pages
# before translation" mended it).

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/suite.sh"

LEAST=8.1
PACKAGE=qemu-system-x86

# version_of QEMU...: as 10.0.2, or nothing if it does not run.
version_of()
{
	{ "$@" --version 2>/dev/null || true; } | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p'
}

new_enough()
{
	local version
	version=$(version_of "$@")
	[ -n "$version" ] && dpkg --compare-versions "$version" ge "$LEAST"
}

unpack_qemu()
{
	local suite=$1 dir=$2 deb archives=$CACHE/apt/$1/cache/archives

	quietly download-qemu suite_install_files "$suite" "$PACKAGE"
	for deb in "$archives"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -f "$archives"/*.deb
}

# suite_install_files SUITE PACKAGE: what an installation would fetch.
suite_install_files()
{
	suite_apt "$1" apt-get install -y --download-only --no-install-recommends \
		-t "$1" "$2"
}

if new_enough qemu-system-x86_64; then
	echo qemu-system-x86_64
	exit
fi
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
suite=$codename-backports
mkdir -p "$CACHE"
# What an earlier run has unpacked is good for the time that the suite cannot be reached.
version=
if suite_reached "$suite" "$codename"; then
	version=$(suite_apt "$suite" apt-cache madison "$PACKAGE" |
		awk -F ' *\\| *' '{ print $2 }' | sort -V | tail -n 1)
	# Without the epoch: a colon divides the folders of LD_LIBRARY_PATH.
	version=${version#*:}
	dir=$CACHE/qemu/$version
else
	mkdir -p "$CACHE/qemu"
	dir=$(find "$CACHE/qemu" -mindepth 1 -maxdepth 1 -type d -name '*[0-9]' | sort -V |
		tail -n 1)
	version=${dir##*/}
fi
[ -n "$version" ] ||
	die "virtual machines need QEMU $LEAST or later: install one, or let apt reach $suite"
qemu="env LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/lib/x86_64-linux-gnu
	$dir/usr/bin/qemu-system-x86_64 -L $dir/usr/share/qemu -L $dir/usr/share/seabios"
# Libraries that were there when it was unpacked may have gone.
# shellcheck disable=SC2086 # words
[ ! -d "$dir" ] || new_enough $qemu || rm -rf "$dir"
if [ ! -d "$dir" ]; then
	[ "${1:-}" != -n ] || exit 1
	system=$(version_of qemu-system-x86_64)
	say "fetching QEMU $version of $suite into the cache: the system has ${system:-none}," \
		"and parallel processors need $LEAST"
fi
once "$dir" unpack_qemu "$suite"
# shellcheck disable=SC2086
new_enough $qemu || die "QEMU $version in $dir does not run: $($qemu --version 2>&1 | head -n 1)"
# shellcheck disable=SC2086
echo $qemu
