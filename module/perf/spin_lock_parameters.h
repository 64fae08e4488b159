/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H
#define _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H

/* The sample rates and thresholds of spin locks. */

#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct etw_rundown_event;

extern struct event_trace_spinlock_information ntklog_spin_lock_parameter_values;

/*
 * Sample rate of releases that leave a waiter behind: one of so many is written; 0 turns this off.
 */
extern u32 ntklog_spin_lock_blocker_rate;

void ntklog_spin_lock_rundown(struct etw_rundown_event *event, bool end);

#endif /* _NTKLOG_PERF_SPIN_LOCK_PARAMETERS_H */
