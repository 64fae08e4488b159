/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SLOTS_H
#define _NTKLOG_PERF_SPIN_LOCK_SLOTS_H

/* What the two halves of perf's spin locks know of each other. */

#include <linux/compiler_types.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "spin_lock.h"

/**
 * struct ntklog_spin_lock_release - a release that is sampled
 * @slot: the lock's
 * @spins: if noted, additional tests of the lock
 * @interrupts: the record's InterruptCount
 * @depth: the record's AcquireDepth
 * @rule: WMI_SPINLOCK_RULE_*
 * @acquire_mode: WMI_SPINLOCK_*, if none is noted, and PERF_SPIN_LOCK_LINUX_*
 * @time: when it was released
 * @caller: where the function that releases returns to
 */
struct ntklog_spin_lock_release {
	const struct ntklog_spin_lock_slot *slot;
	u32 spins;
	u32 interrupts;
	u8 depth;
	u8 rule;
	u8 acquire_mode;
	struct ntklog_time time;
	unsigned long caller;
};

/* An NMI that takes locks counts in the same word, and has given its slots back when it is over. */
static inline u32 ntklog_slots_in_use(const struct ntklog_spin_lock_cpu *cpu)
{
	return (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED) / PERF_SPIN_LOCK_SLOT;
}

extern struct event_trace_spinlock_information ntklog_spin_lock_words;

void ntklog_write_spin_lock(const struct ntklog_spin_lock_release *release);

void ntklog_start_spin_lock_slots(void);
void ntklog_arm_spin_lock_slots(void);
void ntklog_disarm_spin_lock_slots(void);
void ntklog_stop_spin_lock_slots(void);
void ntklog_set_spin_lock_releases_only(bool only);
void ntklog_look_at_spin_lock_parameters(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SLOTS_H */
