#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kunit-stock.sh KDIR: build KUnit's core as a module (kunit.ko) for a kernel that was configured
# without KUnit. Print CORE=..., the directory that has kunit.ko and its Module.symvers, and
# ARGUMENTS=(...), the arguments of make that modules with suites need. The sources are lib/kunit of
# Debian's linux-source, and kunit/stock/, which adapts them to that kernel.

. "$(dirname "$0")/../lib.sh"

kdir=${1:?usage: kunit-stock.sh KDIR}
install_groups modules
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
# A kernel without KUnit has no members for suites in struct module.
sed -i 's/\bmod->\(num_\)\?kunit_/kunit_stock_of(mod)->\1kunit_/g' "$next/test.c"
arguments=()
case $abi in
6.1.*)
	# The suites need a newer KUnit than 6.1's, so include 6.12's headers of KUnit before the
	# kernel's own. In 6.1 bus_register() writes to the bus type, so that must not be const.
	sed -i 's/^static const struct bus_type/static struct bus_type/' "$next/device.c"
	mkdir -p "$work/include/linux"
	rsync -rlpc "$source/include/kunit" "$work/include/"
	echo '#include <linux/kernel.h>' >"$work/include/linux/args.h"
	arguments=("NOSTDINC_FLAGS=-nostdinc -I$work/include")
	;;
esac
# Replace changed files only, so that make does not compile an unchanged KUnit again.
rsync -rlpc "$next/" "$work/src/"
rm -rf "$next"
run_quietly "kunit-core-$abi" make -C "$kdir" M="$work/src" CONFIG_KUNIT=m CONFIG_KUNIT_DEBUGFS=y \
	"${arguments[@]}" -j"$(nproc)" modules
arguments+=(NTKLOG_KUNIT=1 "KBUILD_EXTRA_SYMBOLS=$work/src/Module.symvers")
printf 'CORE=%s\nARGUMENTS=(%s)\n' "$work/src" "${arguments[*]@Q}"
