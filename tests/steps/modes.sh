#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# modes.sh KERNEL: test the modes (parameter linux_mode) in which Linux' own spinning locks are
# traced, on a stock kernel of Debian's, against linux_pairs.ko.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# A queue needs three CPUs: of the owner, of the waiter that spins on the lock word, and of the
# waiter in the queue. Feature bit 159 says "virtual machine"; without it the kernel uses real
# queued spin locks.
vm_options=(-c 3 -a clearcpuid=159)
run_guest "$1" modes
run_check_program "$1" check_modes.py
