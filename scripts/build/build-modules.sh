#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build-modules.sh KDIR DIRECTORY [ARGUMENT...]: build the modules against the
# kernel, and leave what comes of it in the directory, so that builds for several
# kernels do not overwrite each other, nor what a user's own make has built. They are
# built in the cache: paths are part of what ccache knows an object by.

. "$(dirname "$0")/../lib.sh"

kdir=${1:?usage: build-modules.sh KDIR DIRECTORY [ARGUMENT...]}
dir=${2:?usage: build-modules.sh KDIR DIRECTORY [ARGUMENT...]}
shift 2
# dwarves has the pahole that makes the type information of Debian's modules.
need modules
name=$(basename "$dir")
work=$CACHE/build/$name
mkdir -p "$dir" "$work"
# Steps that run side by side, and trees, build for the same kernel: one after the other.
exec 9>"$work.lock"
flock 9
# What another tree has made, and this one has no source of, goes; what a build left that was
# interrupted or failed; and what had warnings, which whoever builds next is to see too.
tree="$TOP $(stat -c %i "$TOP")"
[ "$(cat "$work/.tree" 2>/dev/null)" = "$tree" ] || rm -rf "$work"
mkdir -p "$work"
rm -f "$work/.tree"
# What differs gets the time of its copying, which comes after all that has been compiled: also
# what was written while the last build was under way, which its own time would not tell.
rsync -rlpc --delete --filter='P *.o' --filter='P *.ko' --filter='P .*.cmd' \
	--filter='P *.mod*' --filter='P *.symvers' --include='/Kbuild' \
	--include='/include/***' --include='/module/***' --include='/kunit/***' \
	--include='/workload/***' --include='/tests/' --include='/tests/modules/***' \
	--exclude='*' "$TOP/" "$work/"
quietly "modules-$name" make -C "$kdir" M="$work" NTKLOG_TESTS=1 -j"$(nproc)" "$@" modules
rsync -ac --delete --exclude='*.o' --exclude='.*.cmd' "$work/" "$dir/"
grep -qE 'warning:|WARNING:' "$OUT/log/modules-$name.log" || echo "$tree" >"$work/.tree"
