/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SLOTS_H
#define _NTKLOG_PERF_SPIN_LOCK_SLOTS_H

/* What the two halves of perf's spin locks know of each other. */

#include <linux/compiler_types.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "this_cpu.h"

struct ntklog_spin_lock_cpu;

extern struct event_trace_spinlock_information ntklog_spin_lock_words;

void ntklog_write_spin_lock(struct ntklog_spin_lock_cpu *cpu, u32 number, u8 acquire_mode,
			    u32 acquire_depth, struct ntklog_time release_time,
			    unsigned long caller);

void ntklog_start_spin_lock_slots(void);
void ntklog_arm_spin_lock_slots(void);
void ntklog_disarm_spin_lock_slots(void);
void ntklog_stop_spin_lock_slots(void);
void ntklog_look_at_spin_lock_parameters(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SLOTS_H */
