#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# modes.sh KERNEL: the modes in which Linux' own locks are watched, on a stock kernel of
# Debian's, against a module that takes locks so often as it is told.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# Three CPUs for a queue: the owner, the waiter for the owner, and the waiter in the queue. Without the
# feature bit of a virtual machine (159) the kernel uses queued spin locks.
vm_options=(-c 3 -a clearcpuid=159)
run_guest "$1" modes
check_with "$1" check_modes.py
