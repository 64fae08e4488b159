#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linux.sh KERNEL: NT's instrumentation on Linux' own spin locks and rwlocks, on a stock kernel
# of Debian's, against a module that knows what is true.

# Those of a test kernel are put under strain.
case $1 in
kasan | kcsan) exec "$(dirname "$0")/linux_strain.sh" "$1" ;;
esac

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" linux
check_with "$1" check_linux.py
