#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# core.sh KERNEL: the core of e2e.sh. On a kernel of another suite than Debian 12's it leaves out the
# tests that do not depend on the kernel.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

case $1 in
trixie) scripts=(loaded sessions events ready_threads resources torture example) ;;
newest) scripts=(loaded sessions readers events ready_threads resources torture example unload) ;;
*)
	scripts=(loaded files information sessions claim readers events ready_threads resources torture
		example unload load)
	;;
esac
run_guest "$1" "${scripts[@]}"
run_check_program "$1" check_e2e.py Session Records Resources Locks
run_check_program "$1" check_ready_threads.py
