#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's kernel with PREEMPT_RT, where DISPATCH_LEVEL is preemption off: every lock under torture,
# records byte by byte, what of NT's semantics is another there, and Linux' own locks as far as that
# kernel lets us.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# A queue of waiters needs three CPUs. Without feature bit 159 the kernel uses real queued spin
# locks, as in modes.sh.
export PROCESSORS=3
vm_options=(-c "$PROCESSORS" -a clearcpuid=159)
run_guest 6.12-rt loaded sessions records resources torture rt
check_with 6.12-rt check_e2e.py Resources Session.test_idle_session_has_its_rundown \
	Records.test_{spin_lock_fields_have_possible_values,ntklog_dump_prints_the_same} \
	Records.test_every_event_is_counted
