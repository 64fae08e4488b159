#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# suite-root.sh SUITE KDIR DIRECTORY: unpack in DIRECTORY a fresh Debian of the suite, in which
# build-in-suite.sh can build for the kernel whose headers are in KDIR, also with clang.

. "$(dirname "$0")/../lib.sh"

TOOLS="ccache make perl python3 dwarves libc6-dev libelf-dev pkg-config libbpf-dev libjansson-dev libmicrohttpd-dev uthash-dev protobuf-c-compiler libprotobuf-c-dev zlib1g-dev"
CLANG="clang lld llvm"

suite=${1:?usage: suite-root.sh SUITE KDIR DIRECTORY}
kdir=${2:?usage: suite-root.sh SUITE KDIR DIRECTORY}
dir=${3:?usage: suite-root.sh SUITE KDIR DIRECTORY}
# The compiler that Debian built the kernel with, from its headers.
compiler=$(sed -n 's/^.*\(gcc-[0-9]*\).*$/\1/p' "$kdir/.kernelvariables" | head -n 1)
# shellcheck disable=SC2086 # words
"$TOP/scripts/vm/clean-root.sh" "$suite" "$dir" $TOOLS "$compiler" $CLANG
