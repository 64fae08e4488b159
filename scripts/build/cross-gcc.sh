#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# cross-gcc.sh: unpack this Debian's gcc for arm64 in the cache, and print the directory. The caller
# adds its folders ccache and usr/bin to PATH, and usr/lib/x86_64-linux-gnu to LD_LIBRARY_PATH. The
# package is not installed, because it conflicts with gcc-multilib, which the tests need too.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

PACKAGE=gcc-12-aarch64-linux-gnu
PARTS="cpp-12-aarch64-linux-gnu binutils-aarch64-linux-gnu libgcc-12-dev-arm64-cross
	libgcc-s1-arm64-cross"

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
update_suite_lists "$suite" || die "Debian's packages cannot be reached"

unpack_gcc()
{
	# shellcheck disable=SC2086 # words
	unpack_from_suite "$suite" "$1" "$PACKAGE" $PARTS
	mkdir "$1/ccache"
	ln -s /usr/bin/ccache "$1/ccache/aarch64-linux-gnu-gcc-12"
}

dir=$CACHE/$PACKAGE/$(print_suite_candidate "$suite" "$PACKAGE")
make_once "$dir" unpack_gcc
printf '%s\n' "$dir"
