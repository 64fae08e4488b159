#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build-modules.sh KDIR DIRECTORY [ARGUMENT...]: build the modules against the
# kernel in a directory of their own, so that builds for several kernels do not
# overwrite each other, nor what a user's own make has built.

. "$(dirname "$0")/lib.sh"

kdir=${1:?usage: build-modules.sh KDIR DIRECTORY [ARGUMENT...]}
dir=${2:?usage: build-modules.sh KDIR DIRECTORY [ARGUMENT...]}
shift 2
# dwarves has the pahole that makes the type information of Debian's modules.
need modules
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
# Steps that run side by side build for the same kernel: one after the other.
exec 9>"$dir/.lock"
flock 9
# Times are kept, so that kbuild rebuilds only what has changed.
rsync -a --delete --filter='P *.o' --filter='P *.ko' --filter='P .*.cmd' \
	--filter='P *.mod*' --filter='P *.symvers' --filter='P /.lock' --include='/Kbuild' \
	--include='/include/***' --include='/module/***' --include='/kunit/***' \
	--include='/workload/***' --include='/tests/' --include='/tests/modules/***' \
	--exclude='*' "$TOP/" "$dir/"
quietly "modules-$(basename "$dir")" make -C "$kdir" M="$dir" NTKLOG_TESTS=1 \
	-j"$(nproc)" "$@" modules
