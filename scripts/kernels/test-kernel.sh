#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-kernel.sh [-n] FLAVOUR: build a test kernel in the cache unless it is there, and print its
# build directory, which is also the KDIR for modules. With -n nothing is built: exit status 1 if
# the kernel is not there.
#
# A flavour is a file scripts/kernels/FLAVOUR.config of symbols to set on top of tinyconfig; a line
# "include NAME" stands for those of another. The name in the cache has the source's version and a
# hash of the symbols and the compiler's version: if one of them changes, the kernel is built anew.

. "$(dirname "$0")/../lib.sh"

# The command that ends the script with -n; else empty.
if_absent=
[ "${1:-}" != -n ] || { if_absent="exit 1"; shift; }
flavour=${1:?usage: test-kernel.sh FLAVOUR}
[ -f "$TOP/scripts/kernels/$flavour.config" ] || die "no such test kernel: $flavour"

print_config_lines()
{
	local fragment=$TOP/scripts/kernels/$1.config word name

	while read -r word name; do
		case $word in
		include) print_config_lines "$name" ;;
		CONFIG_*) printf '%s\n' "$word" ;;
		esac
	done <"$fragment"
}

# print_config_symbols FLAVOUR: print the flavour's lines; of a repeated symbol only the last one.
print_config_symbols()
{
	print_config_lines "$1" | tac | awk -F = '!seen[$1]++' | tac
}

# check_config CONFIG: end the script if olddefconfig has dropped a symbol of the flavour, because a
# dependency is missing.
check_config()
{
	local config=$1 wanted missing=0

	while read -r wanted; do
		case $wanted in
		CONFIG_*=n)
			! grep -q "^${wanted%=n}=" "$config" && continue ;;
		CONFIG_*)
			grep -qxF "$wanted" "$config" && continue ;;
		*)
			continue ;;
		esac
		say "the configuration lost $wanted"
		missing=1
	done < <(print_config_symbols "$flavour")
	[ "$missing" = 0 ] || die "test kernel $flavour cannot be configured"
}

# print_status() of run.sh reads the last line of the log.
log_progress()
{
	while sleep 5 && kill -0 $$ 2>/dev/null; do
		SAY_FD='' say "$(find "$1" -name '*.o' | wc -l) of about 1500 files"
	done
}

build_kernel()
{
	local source=$1 dir=$2

	if [ ! -e "$dir/.configured" ]; then
		run_quietly "config-$flavour" make -C "$source" O="$dir" tinyconfig
		print_config_symbols "$flavour" >>"$dir/.config"
		run_quietly "config-$flavour" make -C "$source" O="$dir" olddefconfig
		check_config "$dir/.config"
		: >"$dir/.configured"
	fi
	say "building the test kernel $flavour (about 5 minutes on 2 processors)"
	log_progress "$dir" &
	run_quietly "build-$flavour" make -C "$source" O="$dir" -j"$(nproc)" \
		bzImage modules
	kill $! 2>/dev/null || true
	# Objects take most of the space. Builds of modules need only these few.
	find "$dir" -name '*.o' -not -path '*/scripts/*' -not -path '*/tools/*' \
		-not -name module.lds.o -delete
}

[ -n "$if_absent" ] || install_groups kernel
source=$("$TOP/scripts/kernels/kernel-source.sh" -a ${if_absent:+-n}) || exit 1
key=$({ print_config_symbols "$flavour"; gcc --version | head -n 1; } |
	sha256sum | cut -c1-12)
dir=$CACHE/kernel/$flavour-$(basename "$source")-$key
[ -d "$dir" ] || $if_absent
make_resumably "$dir" build_kernel "$source"
printf '%s\n' "$dir"
