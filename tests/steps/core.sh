#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# core.sh KERNEL: the core of e2e.sh - sessions, events byte by byte, a short torture of every
# lock - for before each commit, and for kernels of other suites. There, without what does not
# depend on the kernel: texts that files take and refuse, and parameters of a load; on Debian 13's,
# which is another compiler's 6.12, nor with readers and unloading.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

case $1 in
trixie) scripts=(loaded sessions events resources torture example) ;;
newest) scripts=(loaded sessions readers events resources torture example unload) ;;
*)
	scripts=(loaded files information sessions claim readers events resources torture example unload
		load)
	;;
esac
run_guest "$1" "${scripts[@]}"
check_with "$1" check_e2e.py Session Records Resources Locks
