#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit-stock.sh KDIR: build KUnit's core as a module (kunit.ko) for a kernel that was configured
# without KUnit, and print the directory that has kunit.ko and its Module.symvers, and the arguments of
# make that modules with suites need: CORE=... and ARGUMENTS=(...). The sources are lib/kunit of
# Debian's linux-source; kunit/stock/ says how they fit that kernel.

. "$(dirname "$0")/../lib.sh"

kdir=${1:?usage: kunit-stock.sh KDIR}
need modules
source=$("$TOP/scripts/kernels/kernel-source.sh")
abi=$(cat "$kdir/include/config/kernel.release")
work=$CACHE/build/kunit-core-$abi
next=$work/next
mkdir -p "$work/src"
exec 9>"$work.lock"
flock 9
rm -rf "$next"
mkdir "$next"
cp "$source"/lib/kunit/*.[ch] "$source/lib/kunit/Makefile" "$next/"
cp "$TOP"/kunit/stock/{kunit_stock.h,core.c} "$next/"
cp "$TOP/kunit/stock/core.Kbuild" "$next/Kbuild"
# The suites of a module are in struct kunit_stock, not in struct module.
sed -i 's/\bmod->\(num_\)\?kunit_/kunit_stock_of(mod)->\1kunit_/g' "$next/test.c"
arguments=()
case $abi in
6.1.*)
	# The suites need a newer KUnit than 6.1's, so 6.12's headers come before the kernel's own.
	# 6.1 writes to a bus type.
	sed -i 's/^static const struct bus_type/static struct bus_type/' "$next/device.c"
	mkdir -p "$work/include/linux"
	rsync -rlpc "$source/include/kunit" "$work/include/"
	echo '#include <linux/kernel.h>' >"$work/include/linux/args.h"
	arguments=("NOSTDINC_FLAGS=-nostdinc -I$work/include")
	;;
esac
# Only a changed file gets a new time, so that an unchanged KUnit is not compiled again.
rsync -rlpc "$next/" "$work/src/"
rm -rf "$next"
quietly "kunit-core-$abi" make -C "$kdir" M="$work/src" CONFIG_KUNIT=m CONFIG_KUNIT_DEBUGFS=y \
	"${arguments[@]}" -j"$(nproc)" modules
arguments+=(NTKLOG_KUNIT=1 "KBUILD_EXTRA_SYMBOLS=$work/src/Module.symvers")
printf 'CORE=%s\nARGUMENTS=(%s)\n' "$work/src" "${arguments[*]@Q}"
