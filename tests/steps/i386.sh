#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Modules, example and tool for Debian 12's i386, without a warning.

. "$(dirname "$0")/../lib.sh"

need tool modules programs32
debian_kernel 6.1-686-pae
built=$OUT/build/$ABI
root=$(known foreign-root i386)
result "i386: the modules build with W=1 and no warning" builds_silently "$KDIR" "$built"
cp -r "$TOP/Documentation/examples" "$DIR/example"
result "i386: the example builds as another module would" \
	make -s -C "$DIR/example" KDIR="$KDIR" NTKLOG="$built"
result "i386: the tool builds" make -s -C "$TOP/tools/ntklog" O="$DIR/tool" \
	CC="gcc -m32 --sysroot=$root" CFLAGS="-O2 -g -Werror" "$DIR/tool/ntklog"
