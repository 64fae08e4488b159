#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# foreign-root.sh ARCHITECTURE: unpack packages of this machine's Debian for another architecture in
# the cache, and print the directory.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

PROGRAMS="busybox-static kmod trace-cmd"
DEVELOPMENT="libc6-dev libbpf-dev libjansson-dev libmicrohttpd-dev uthash-dev libprotobuf-c-dev zlib1g-dev"

architecture=${1:?usage: foreign-root.sh ARCHITECTURE}
suite=$(update_foreign_suite "$architecture")

unpack_root()
{
	# shellcheck disable=SC2086 # words
	unpack_fetched_from_suite "$suite" "$1" $PROGRAMS $DEVELOPMENT
	# Some libraries are links to absolute paths.
	find "$1" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfnr "$1$target" "$link"
	done
}

key=$(for package in $PROGRAMS $DEVELOPMENT; do
	echo "$package=$(print_suite_candidate "$suite" "$package")"
done | sha256sum | cut -c 1-12)
make_once "$CACHE/root/$suite-$key" unpack_root
printf '%s\n' "$CACHE/root/$suite-$key"
