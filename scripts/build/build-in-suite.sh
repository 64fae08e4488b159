#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build-in-suite.sh ROOT KDIR DIRECTORY [ARGUMENT...]: build the modules, the example and the tool
# in DIRECTORY, with the compiler and the libraries of the Debian in ROOT (see clean-root.sh). In
# ROOT the directory is always /build, so that ccache finds what was compiled before in another
# directory.

. "$(dirname "$0")/../lib.sh"

root=${1:?usage: build-in-suite.sh ROOT KDIR DIRECTORY [ARGUMENT...]}
kdir=${2:?usage: build-in-suite.sh ROOT KDIR DIRECTORY [ARGUMENT...]}
dir=${3:?usage: build-in-suite.sh ROOT KDIR DIRECTORY [ARGUMENT...]}
shift 3
log=$OUT/log/suite-$(basename "$dir").log
rm -rf "$dir" 2>/dev/null || run_as_root rm -rf "$dir"
mkdir -p "$dir" "$OUT/log"
(cd "$TOP" && git ls-files -z Kbuild include module workload tools dkms.conf \
	Documentation/examples tests | xargs -0 cp --parents -t "$dir")

# The cache has the kernel's headers, so it is mounted in ROOT, too.
# shellcheck disable=SC2016 # the inner shell's
run_as_root unshare --mount --propagation private sh -e -c '
	root=$1 cache=$2 kdir=$3 dir=$4 cpus=$5
	shift 5
	mkdir -p "$root$cache" "$root/build"
	mount --bind "$cache" "$root$cache"
	mount --bind "$dir" "$root/build"
	mount --bind /dev "$root/dev"
	# objtool of kernel 7.3 reads the limit of its stack from /proc.
	mount --bind /proc "$root/proc"
	exec chroot "$root" /usr/bin/env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin \
		CCACHE_DIR="$cache/ccache-root" LC_ALL=C sh -e -c "
		kdir=\$1 cpus=\$2 dir=/build
		shift 2
		make -C \"\$kdir\" M=\"\$dir\" NTKLOG_TESTS=1 -j\"\$cpus\" \"\$@\" modules
		make -C \"\$dir/Documentation/examples\" KDIR=\"\$kdir\" NTKLOG=\"\$dir\" \"\$@\"
		make -C \"\$dir/tools/ntklog\" -j\"\$cpus\" CFLAGS=\"-O2 -g -Werror\"
	" - "$kdir" "$cpus" "$@"
' - "$root" "$CACHE" "$kdir" "$dir" "$(nproc)" "$@" >"$log" 2>&1 </dev/null || {
	tail -n 40 "$log" >&2
	die "the build failed; the whole output is in $log"
}
