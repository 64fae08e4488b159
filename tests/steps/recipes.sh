#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# recipes.sh KERNEL: run the lines of Documentation/guide/recipes.rst for other tools on a stock
# kernel of Debian's. The tools are in a Debian of their own, which bench/peers.sh has too.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

install_groups root
run_as_root rm -rf "$DIR/root"
"$TOP/scripts/vm/clean-root.sh" trixie "$DIR/root" linux-perf bpftrace libbpf-tools trace-cmd
grep -P '^\t(trace-cmd|bpftrace|perf) ' "$TOP/Documentation/guide/recipes.rst" |
	sed 's/^\t//; s/\t*#.*//' >"$DIR/recipes.commands"
run_guest "$1" recipes
run_as_root rm -rf "$DIR/root"
