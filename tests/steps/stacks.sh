#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stacks.sh KERNEL: the stacks of events, on a stock kernel of Debian's, against a module that
# takes locks at the end of chains of calls that are known.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# As in modes.sh, a queue needs three CPUs and real queued spin locks.
vm_options=(-c 3 -a clearcpuid=159)
run_guest "$1" stacks
check_with "$1" check_stacks.py
