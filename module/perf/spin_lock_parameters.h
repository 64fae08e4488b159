/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H
#define _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H

/* Sample rates and thresholds of spin locks. The hooks read them with READ_ONCE(). */

#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct etw_rundown_event;

/* NT's parameters. Written with the lock of ntklog_spin_lock_parameter_set held. */
extern struct event_trace_spinlock_information ntklog_spin_lock_parameter_values;

/*
 * Blocker rate: every Nth release that leaves a waiter behind is sampled; 0 means none. Written by
 * linux/locks.c and at module load.
 */
extern u32 ntklog_spin_lock_blocker_rate;

void ntklog_fill_spin_lock_rundown(struct etw_rundown_event *event, bool is_end);

#endif /* _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H */
