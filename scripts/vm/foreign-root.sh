#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# foreign-root.sh ARCHITECTURE: unpack the packages of another architecture that virtual machines and
# the build of the tool need, of this machine's Debian, in the cache. Print the directory. No program of
# it is executed here.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

PROGRAMS="busybox-static kmod trace-cmd"
DEVELOPMENT="libc6-dev libbpf-dev libjansson-dev uthash-dev libprotobuf-c-dev zlib1g-dev"

architecture=${1:?usage: foreign-root.sh ARCHITECTURE}
suite=$(foreign_suite "$architecture")

unpack_root()
{
	# shellcheck disable=SC2086 # words
	suite_unpack_fetched "$suite" "$1" $PROGRAMS $DEVELOPMENT
	# Linkers' names of libraries are links to files of the root, not of this machine.
	find "$1" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfnr "$1$target" "$link"
	done
}

key=$(for package in $PROGRAMS $DEVELOPMENT; do
	echo "$package=$(suite_candidate "$suite" "$package")"
done | sha256sum | cut -c 1-12)
once "$CACHE/root/$suite-$key" unpack_root
printf '%s\n' "$CACHE/root/$suite-$key"
