#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# qemu.sh [-n] [x86_64|aarch64]: print the command that runs a QEMU of 8.1 or later for an
# architecture (default x86_64): the system's if that is new enough, else Debian's backport, which
# is unpacked in the cache with the libraries that the system lacks. With -n nothing is unpacked:
# exit status 1 if there is no such QEMU.
#
# Before 8.1 (Debian 12 has 7.2) a virtual CPU may run stale code when another one patches it in
# parallel, as static keys, tracepoints and ftrace do. "accel/tcg: Always lock pages before
# translation" fixed it.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

LEAST=8.1

only_test=
[ "${1:-}" != -n ] || { only_test=1; shift; }
PROGRAM=qemu-system-${1:-x86_64}
case ${1:-x86_64} in
x86_64) PACKAGE=qemu-system-x86 kept=$CACHE/qemu ;;
aarch64) PACKAGE=qemu-system-arm kept=$CACHE/qemu-arm ;;
*) die "no QEMU for $1 is known here" ;;
esac

# print_version QEMU...: print the version of a QEMU; nothing if the program does not run.
print_version()
{
	{ "$@" --version 2>/dev/null || true; } | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p'
}

is_new_enough()
{
	local version
	version=$(print_version "$@")
	[ -n "$version" ] && dpkg --compare-versions "$version" ge "$LEAST"
}

unpack_qemu()
{
	unpack_fetched_from_suite "$1" "$2" "$PACKAGE"
}

if is_new_enough "$PROGRAM"; then
	echo "$PROGRAM"
	exit
fi
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
suite=$codename-backports
mkdir -p "$CACHE"
# If the suite cannot be reached, use the newest unpacked version.
version=
if update_suite_lists "$suite" "$codename"; then
	version=$(run_suite_apt "$suite" apt-cache madison "$PACKAGE" |
		awk -F ' *\\| *' '{ print $2 }' | sort -V | tail -n 1)
	# Without the epoch: a colon divides the folders of LD_LIBRARY_PATH.
	version=${version#*:}
	dir=$kept/$version
else
	mkdir -p "$kept"
	dir=$(find "$kept" -mindepth 1 -maxdepth 1 -type d -name '*[0-9]' | sort -V |
		tail -n 1)
	version=${dir##*/}
fi
[ -n "$version" ] ||
	die "virtual machines need QEMU $LEAST or later: install one, or let apt reach $suite"
qemu="env LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/lib/x86_64-linux-gnu
	$dir/usr/bin/$PROGRAM -L $dir/usr/share/qemu -L $dir/usr/share/seabios"
# The cached QEMU does not run if libraries have been removed from this machine since. Fetch it
# again.
# shellcheck disable=SC2086 # words
[ ! -d "$dir" ] || is_new_enough $qemu || rm -rf "$dir"
if [ ! -d "$dir" ]; then
	[ -z "$only_test" ] || exit 1
	system=$(print_version "$PROGRAM")
	say "fetching $PROGRAM $version of $suite into the cache: the system has ${system:-none}," \
		"and parallel processors need $LEAST"
fi
make_once "$dir" unpack_qemu "$suite"
# shellcheck disable=SC2086
is_new_enough $qemu || die "QEMU $version in $dir does not run: $($qemu --version 2>&1 | head -n 1)"
# shellcheck disable=SC2086
echo $qemu
