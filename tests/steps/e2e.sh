#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# e2e.sh SERIES: all that users see, on Debian's stock kernel of the series; what the guest
# leaves is decoded byte by byte.

. "$(dirname "$0")/../lib.sh"

need tool
need programs32
tool
debian_kernel "$1"
result "$1: the modules build with W=1 and no warning" \
	builds_silently "$KDIR" "$OUT/build/$ABI"
mkdir -p "$DIR/example"
cp "$TOP"/Documentation/examples/* "$DIR/example/"
result "$1: the example builds as another module would" make -s -C "$DIR/example" \
	KDIR="$KDIR" NTKLOG="$OUT/build/$ABI"
cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI/workload"/*.ko \
	"$DIR/example/ntklog_example.ko" "$TESTS"/guest/*.sh "$DIR/"
guest_programs "$DIR" drain follow ioctl terminal
gcc -m32 -O2 -static -I"$TOP/include/uapi" -o "$DIR/ioctl32" "$TESTS/programs/ioctl.c"
mv "$DIR/ioctl" "$DIR/ioctl64"
result "$1: the virtual machine runs to its end" \
	"$TOP/scripts/vm.sh" -k "$IMAGE" -M "$MODULES" -P "$NTKLOG" -t 600 "$DIR"
grep -E '^(not )?ok |^#' "$DIR/guest.log" | sed "s/ok - /ok - $1 /"
python3 "$TESTS/check/check_e2e.py" "$NTKLOG" "$DIR" |
	sed "s/ok - /ok - $1 /" || true
python3 "$TESTS/check/check_tool.py" "$NTKLOG" "$DIR" |
	sed "s/ok - /ok - $1 /" || true
