#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# modes.sh KERNEL: the modes in which Linux' own locks are watched, on a stock kernel of
# Debian's, against a module that takes locks so often as it is told.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# Three, for a queue: who owns, who waits for the owner, who waits in the queue. Without the
# feature bit (159) that says that it is a virtual machine the kernel has real queued spin locks.
vm_options=(-c 3 -a clearcpuid=159)
run_guest "$1" modes
check_with "$1" check_modes.py
