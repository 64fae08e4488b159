#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build-modules.sh [-s] KDIR DIRECTORY [ARGUMENT...]: build the modules against the kernel with W=1
# and copy them to DIRECTORY. With -s, then run sparse on the sources that this kernel compiles; its
# output is out/log/sparse.log. The build is in the cache, in a directory of the same name, because
# paths are part of ccache's keys.

. "$(dirname "$0")/../lib.sh"

usage='usage: build-modules.sh [-s] KDIR DIRECTORY [ARGUMENT...]'
checked=
if [ "${1:-}" = -s ]; then
	checked=1
	shift
fi
kdir=${1:?$usage}
dir=${2:?$usage}
shift 2
# dwarves has the pahole that makes the type information of Debian's modules.
install_groups modules
name=$(basename "$dir")
work=$CACHE/build/$name
mkdir -p "$dir" "$work"
exec 9>"$work.lock"
flock 9
# The file .tree names the sources and the kernel of the last build, if that succeeded without a
# warning. Otherwise remove all objects, so that the next build prints its warnings again.
tree="$TOP $(stat -c %i "$TOP") $kdir"
[ "$(cat "$work/.tree" 2>/dev/null)" = "$tree" ] || rm -rf "$work"
mkdir -p "$work"
rm -f "$work/.tree"
# Without -t a changed file gets the time at which it is copied. Its own time may be before that of
# an object that was compiled while the file was being edited.
rsync -rlpc --delete --filter='P *.o' --filter='P *.ko' --filter='P .*.cmd' \
	--filter='P *.mod*' --filter='P *.symvers' --include='/Kbuild' \
	--include='/include/***' --include='/module/***' --include='/kunit/***' \
	--include='/workload/***' --include='/tests/' --include='/tests/modules/***' \
	--exclude='*' "$TOP/" "$work/"
build=(make -C "$kdir" M="$work" NTKLOG_TESTS=1 W=1 -j"$(nproc)" "$@" modules)
run_quietly "modules-$name" "${build[@]}"
rsync -rlptc --delete --exclude='*.o' --exclude='.*.cmd' "$work/" "$dir/"
grep -qE 'warning:|WARNING:' "$OUT/log/modules-$name.log" || echo "$tree" >"$work/.tree"
# All is compiled, so C=2 starts sparse only.
[ -z "$checked" ] || run_quietly sparse "${build[@]}" C=2
