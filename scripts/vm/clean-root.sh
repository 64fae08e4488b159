#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# clean-root.sh SUITE DIRECTORY PACKAGE...: unpack a fresh Debian of the suite, with these packages
# and their dependencies, in DIRECTORY. The cache keeps it as an archive.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

suite=${1:?usage: clean-root.sh SUITE DIRECTORY PACKAGE...}
dir=${2:?usage: clean-root.sh SUITE DIRECTORY PACKAGE...}
shift 2

# run_with_standard_descriptors COMMAND...: with the descriptors 0 to 2 only. mmdebstrap passes the
# number of the next free descriptor to a shell that understands only one digit, and make, locks and
# progress take several descriptors.
run_with_standard_descriptors()
(
	for descriptor in /proc/$BASHPID/fd/*; do
		descriptor=${descriptor##*/}
		[ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
	done
	"$@"
)

make_root_archive()
{
	say "making a fresh Debian ($suite) with ${packages[*]} (a minute)"
	run_quietly "clean-root-$suite" run_with_standard_descriptors run_as_root mmdebstrap \
		--variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
		--aptopt='APT::Install-Recommends "false"' \
		"$suite" "$1/root.tar" "$CACHE/apt/$suite/sources.list"
}

install_groups root
update_suite_lists "$suite" || die "no fresh Debian: its suite $suite cannot be reached"
packages=("$@")
key=$(for package; do echo "$package=$(print_suite_candidate "$suite" "$package")"; done |
	sha256sum | cut -c 1-12)
make_once "$CACHE/root/$suite-$key" make_root_archive
mkdir -p "$dir"
# A container may forbid to make device files.
run_as_root tar -C "$dir" --exclude='./dev/*' -xf "$CACHE/root/$suite-$key/root.tar"
