#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pprof.sh: unpack Go's pprof in the cache, and print its path.

. "$(dirname "$0")/../lib.sh"

PACKAGE=golang-1.19-go

unpack_pprof()
{
	unpack_deb "$PACKAGE" "$1/all"
	mv "$1/all/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof" "$1/pprof"
	rm -r "$1/all"
}

dir=$CACHE/pprof/$(print_candidate "$PACKAGE")
make_once "$dir" unpack_pprof
printf '%s\n' "$dir/pprof"
