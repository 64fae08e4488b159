#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# forecast.sh TIER STEP...: say what a run of these steps will fetch and build before it can
# begin, about how long that takes on 2 processors and a good line, and whether there is room
# for it. Then install the packages, which is the one part that steps cannot do side by side.

. "$(dirname "$0")/../scripts/lib.sh"

tier=$1
shift

# groups_of STEP: of packages.sh.
groups_of()
{
	case $1 in
	headers) echo headers ;;
	docs) echo tool docs ;;
	instructions) echo unpack modules native ;;
	style) echo style source unpack modules ;;
	tool) echo tool tool-tests ;;
	model) echo model ;;
	litmus) echo source ;;
	kunit-[0-9]*) echo source unpack modules vm ;;
	fuzz) echo tool fuzz ;;
	page) echo tool page ;;
	packages) echo tool deb docs root unpack modules ;;
	kernel-*) echo kernel source ;;
	switching) echo tool unpack modules vm programs ;;
	costs | suspend) echo unpack modules vm ;;
	core-* | e2e-* | own-* | linux-* | modes-* | sleeping-* | stacks-* | classes-*) echo tool unpack modules vm programs programs32 ;;
	linkage-*) echo unpack modules vm ;;
	foreign-* | rt) echo tool unpack modules vm programs ;;
	builds) echo root unpack ;;
	*) echo modules vm programs ;;
	esac
}

minutes=0 megabytes=500 lines=()

# costs MINUTES MEGABYTES WORDS: of what is not there yet.
costs()
{
	minutes=$((minutes + $1))
	megabytes=$((megabytes + $2))
	lines+=("$3")
}

groups=()
for step; do
	for group in $(groups_of "$step"); do
		[[ " ${groups[*]:-} " == *" $group "* ]] || groups+=("$group")
	done
done
mapfile -t missing < <(missing_packages "${groups[@]}")
[ ${#missing[@]} = 0 ] ||
	costs $((1 + ${#missing[@]} / 10)) $((${#missing[@]} * 40)) \
		"install packages of Debian's: ${missing[*]}"
if [[ " ${groups[*]} " == *" vm "* ]]; then
	"$TOP/scripts/vm/qemu.sh" -n >/dev/null ||
		costs 0 100 "fetch a QEMU of 8.1 or later (13 MB, into the cache)"
fi
if [[ " ${groups[*]} " == *" source "* ]]; then
	"$TOP/scripts/kernels/kernel-source.sh" -n >/dev/null ||
		costs 1 300 "fetch the kernel's source and unpack parts of it (140 MB)"
fi
for step; do
	case $step in
	kernel-*)
		"$TOP/scripts/kernels/test-kernel.sh" -n "${step#kernel-}" >/dev/null ||
			costs 5 600 "build the test kernel ${step#kernel-}" ;;
	foreign-arm64)
		"$TOP/scripts/kernels/debian-kernel.sh" -n 6.12-arm64 >/dev/null ||
			costs 2 1200 "fetch Debian's kernel, QEMU and libraries for arm64 (160 MB)" ;;
	foreign-i386)
		"$TOP/scripts/kernels/debian-kernel.sh" -n 6.1-686-pae >/dev/null ||
			costs 1 1000 "fetch Debian's kernel and libraries for i386 (120 MB)" ;;
	rt)
		"$TOP/scripts/kernels/debian-kernel.sh" -n 6.12-rt >/dev/null ||
			costs 1 800 "fetch Debian's kernel 6.12-rt and its headers (120 MB)" ;;
	core-* | e2e-* | linkage-*)
		"$TOP/scripts/kernels/debian-kernel.sh" -n "${step#*-}" >/dev/null ||
			costs 1 800 "fetch Debian's kernel ${step#*-} and its headers (120 MB)" ;;
	builds)
		compgen -G "$CACHE/root/trixie-*/root.tar" >/dev/null ||
			costs 2 1500 "make a Debian 13 with compilers, to build for newer kernels" ;;
	packages)
		compgen -G "$CACHE/root/bookworm-*/root.tar" >/dev/null ||
			costs 1 400 "make a fresh Debian 12, to try the packages in" ;;
	esac
done
if [ ${#lines[@]} -gt 0 ]; then
	say "this run will first, or meanwhile,"
	for line in "${lines[@]}"; do
		say "  $line"
	done
	say "which takes about $minutes minutes and $megabytes MB below $CACHE, once"
fi
case $tier in
check) say "the steps themselves take less than 3 minutes on 2 processors" ;;
*) [ -n "${ONLY:-}" ] || say "the steps themselves take about 20 minutes on 2 processors" ;;
esac

# room DIRECTORY MEGABYTES
room()
{
	local there
	mkdir -p "$1"
	there=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$there" -ge "$2" ] ||
		die "this run needs $2 MB of room in $1, where $there MB are free"
}

room "$CACHE" "$megabytes"
room "$OUT" 1500
need "${groups[@]}"
