#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test Debian's kernel with PREEMPT_RT, where NT's DISPATCH_LEVEL disables preemption.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# A queue of waiters needs three CPUs. Feature bit 159 says "virtual machine"; without it the kernel
# uses real queued spin locks.
export PROCESSORS=3
vm_options=(-c "$PROCESSORS" -a clearcpuid=159)
run_guest 6.12-rt loaded sessions records resources torture rt
run_check_program 6.12-rt check_e2e.py Resources Session.test_idle_session_has_its_rundown \
	Records.test_{spin_lock_fields_have_possible_values,ntklog_dump_prints_the_decoded_records} \
	Records.test_every_event_is_counted
