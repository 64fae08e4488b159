#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stacks.sh KERNEL: test the stacks of events, mode holders and planted_holders.ko on a stock kernel
# of Debian's.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# A queue of waiters needs three CPUs. Feature bit 159 says "virtual machine"; without it the kernel
# uses real queued spin locks.
vm_options=(-c 3 -a clearcpuid=159)
run_guest "$1" stacks holders planted
run_check_program "$1" check_stacks.py
run_check_program "$1" check_holders.py
run_check_program "$1" check_planted.py
