#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian-kernel.sh [-n] [KERNEL]: unpack a kernel of Debian's, with its modules and headers, in the
# cache unless it is there, and print its paths, one assignment on a line:
#
#	IMAGE=... MODULES=... KDIR=... ABI=... SUITE=...
#
# KERNEL is one of:
#	SERIES		the newest kernel of a series that the system's apt has: 6.12 (default), 6.1
#	SERIES-rt	the same with PREEMPT_RT
#	SERIES-arm64, SERIES-686-pae
#			the same for another architecture
#	SUITE		the kernel of another suite, such as trixie
#	newest		the newest kernel that can be downloaded
#
# The output SUITE is the suite whose compiler and libraries the headers need; empty: those of the
# system. With -n nothing is unpacked: exit status 1 if the kernel is not there.
#
# The packages are not installed: that would put a kernel into the machine's boot menu.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/packages/suite.sh"

# SUITE:BASE: a suite that may have the newest kernel, and the suite whose compiler that kernel
# needs.
NEWEST_SUITES="trixie-backports:trixie sid:sid"

# print_dependencies PACKAGE PATTERN: print those dependencies of the package that match.
print_dependencies()
{
	run_apt apt-cache depends "$1" | sed -n "s/^ *Depends: \\($2\\)\$/\\1/p"
}

# run_apt COMMAND...: run a command of apt's with the lists of $suite, or with the system's if that
# is empty.
run_apt()
{
	if [ -n "$suite" ]; then
		run_suite_apt "$suite" "$@"
	else
		LC_ALL=C "$@"
	fi
}

# unpack_packages DIRECTORY PACKAGE...: unpack packages of $suite, or of the system's suite if that
# is empty.
unpack_packages()
{
	local package
	if [ -n "$suite" ]; then
		unpack_from_suite "$suite" "$@"
	else
		for package in "${@:2}"; do
			unpack_deb "$package" "$1"
		done
	fi
}

unpack_kernel()
{
	local abi=$1 dir=$2 packages

	# Parts of the headers are in other packages, and the modules of newer kernels are, too.
	mapfile -t packages < <(
		{
			print_dependencies "linux-image-$abi" "linux-\\(modules\\|binary\\)-$abi"
			# linux-kbuild has programs that the build runs: take the package for this
			# machine.
			print_dependencies "linux-headers-$abi" \
				'linux-headers-.*-common\(-rt\)\?\|linux-kbuild-.*\|linux-base-[0-9].*' |
				sed "s/^linux-kbuild-.*/&:$(dpkg --print-architecture)/"
			run_apt apt-cache search --names-only "^linux-modules-$abi\$" |
				cut -d ' ' -f 1
		} | sort -u)
	unpack_packages "$dir" "linux-image-$abi" "linux-headers-$abi" "${packages[@]}"
	# The Makefile of Debian's headers contains absolute paths. The directory has a temporary
	# name now (see make_once()).
	sed -i "s|\\([= ]\\)/usr/src/|\\1$CACHE/debian/$abi/usr/src/|" \
		"$dir/usr/src/linux-headers-$abi/Makefile"
	# The virtual machine's initramfs loads modules with modprobe, which needs modules.dep.
	depmod -b "$dir" "$abi" 2>/dev/null || depmod -b "$dir/usr" "$abi"
}

# print_suite_abi [META]: print the ABI of the kernel that the meta-package META of $suite depends
# on.
print_suite_abi()
{
	print_dependencies "${1:-linux-image-amd64}" 'linux-image-[0-9].*' | sed 's/^linux-image-//'
}

# choose_foreign_kernel ARCHITECTURE META...: set suite and abi by the first meta-package that
# exists.
choose_foreign_kernel()
{
	local meta
	suite=$(update_foreign_suite "$1")
	shift
	for meta; do
		abi=$(print_suite_abi "$meta" 2>/dev/null) || true
		[ -z "$abi" ] || return 0
	done
}

choose_newest_suites()
{
	local pair version best='' best_suite='' best_base=''
	for pair in $NEWEST_SUITES; do
		suite=${pair%:*}
		update_suite_lists "$suite" || continue
		version=$(print_suite_candidate "$suite" linux-image-amd64)
		if [ -n "$version" ] && { [ -z "$best" ] ||
		    dpkg --compare-versions "$version" gt "$best"; }; then
			best=$version best_suite=$suite best_base=${pair#*:}
		fi
	done
	[ -n "$best" ] || die "no suite with a newer kernel can be reached: $NEWEST_SUITES"
	suite=$best_suite base=$best_base
}

# The command that ends the script with -n; else empty.
if_absent=
[ "${1:-}" != -n ] || { if_absent="exit 1"; shift; }
[ -n "$if_absent" ] || install_groups unpack
mkdir -p "$CACHE"
suite='' base=''
case ${1:-$KERNEL_SERIES} in
[0-9]*-arm64)
	choose_foreign_kernel arm64 "linux-image-$1" linux-image-arm64
	;;
[0-9]*-686-pae)
	# The meta-package of the oldest series has no number in its name.
	choose_foreign_kernel i386 "linux-image-$1" linux-image-686-pae
	;;
[0-9]*)
	abi=$(resolve_abi "${1:-$KERNEL_SERIES}")
	;;
newest)
	choose_newest_suites
	abi=$(print_suite_abi)
	;;
*)
	suite=$1 base=$1
	update_suite_lists "$suite" || die "Debian's suite $suite cannot be reached"
	abi=$(print_suite_abi)
	;;
esac
[ -n "$abi" ] || die "no kernel ${1:-$KERNEL_SERIES} is known to apt"
dir=$CACHE/debian/$abi
[ -d "$dir" ] || $if_absent
make_once "$dir" unpack_kernel "$abi"
modules=$dir/lib/modules/$abi
[ -d "$modules" ] || modules=$dir/usr/lib/modules/$abi
image=$dir/boot/vmlinuz-$abi
[ -e "$image" ] || image=$modules/vmlinuz
printf 'IMAGE=%s\nMODULES=%s\nKDIR=%s\nABI=%s\nSUITE=%s\n' \
	"$image" "$modules" "$dir/usr/src/linux-headers-$abi" "$abi" "$base"
