#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build-modules.sh [-s] KDIR DIRECTORY [ARGUMENT...]: build the modules against the kernel with W=1
# and copy sources, modules and the log (modules.log) to DIRECTORY. With -s, then run sparse on the
# sources that this kernel compiles; its output is DIRECTORY/sparse.log. The build itself is in the
# cache, below build/, in a directory with the last part of DIRECTORY's name, because paths are part
# of ccache's keys.

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

# keep_log LABEL: copy out/log/LABEL-NAME.log to LABEL.log of DIRECTORY at once, since others may
# read that, and the next build with this name overwrites the first.
keep_log()
{
	cp "$OUT/log/$1-$name.log" "$dir/.$1.log"
	mv "$dir/.$1.log" "$dir/$1.log"
}

work=$CACHE/build/$name
mkdir -p "$dir" "$work"
exec 9>"$work.lock"
flock 9
# The file .tree has the directory of the sources and the kernel of the last build, if that had no
# error and no warning. If these are others now, or there is no such file, compile all again: then
# the warnings are printed again.
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
# Other modules are those of an earlier build. Kernels name them with .o or .ko, and by the whole
# path or by that below the build's directory.
sed -E "s|^[^/]|$work/&|; s/\.k?o$/.ko/" "$work/modules.order" >"$work/.modules"
find "$work" -name '*.ko' | grep -vxFf "$work/.modules" | xargs -r rm || true
rsync -rlptc --delete --exclude='*.o' --exclude='.*.cmd' --exclude='/*.log' "$work/" "$dir/"
keep_log modules
grep -qE 'warning:|WARNING:' "$OUT/log/modules-$name.log" || echo "$tree" >"$work/.tree"
# All is compiled, so C=2 starts sparse only.
if [ -n "$checked" ]; then
	run_quietly "sparse-$name" "${build[@]}" C=2
	keep_log sparse
fi
