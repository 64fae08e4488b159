/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SLOTS_H
#define _NTKLOG_PERF_SPIN_LOCK_SLOTS_H

/* Shared by the files of the spin lock instrumentation. */

#include <linux/compiler_types.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "spin_lock.h"

/*
 * Parts of a record, packed into words as the record stores them. PERF_SPIN_LOCK_SAMPLE: rule,
 * acquire mode with PERF_SPIN_LOCK_LINUX_*, and AcquireDepth. PERF_SPIN_LOCK_WAIT: SpinCount and
 * WaitTimeInCycles.
 */
#define PERF_SPIN_LOCK_SAMPLE(_rule, _acquire_mode, _depth)				\
	((u32)(_rule) << 24 | (u32)(_acquire_mode) << 16 | (u32)(u8)(_depth) << 8)
#define PERF_SPIN_LOCK_SAMPLE_MODE(_sample)	((u8)((_sample) >> 16))
#define PERF_SPIN_LOCK_WAIT(_spins, _wait_time)	((u64)(_spins) << 32 | (u32)(_wait_time))

/**
 * ntklog_slot_wait_words() - return the wait of a slot
 * @slot: the slot
 * @spins: SpinCount of the slot
 * @acquire_mode: set to the acquire mode of the slot, if the slot has one
 *
 * Return: PERF_SPIN_LOCK_WAIT(); 0 if the slot has no PERF_SPIN_LOCK_HAS_DETAILS.
 */
static __always_inline u64 ntklog_slot_wait_words(const struct ntklog_spin_lock_slot *slot,
						  const u32 *spins, u8 *acquire_mode)
{
	if (likely(!(slot->lock & PERF_SPIN_LOCK_HAS_DETAILS)))
		return 0;
	if (slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN)
		*acquire_mode = slot->acquire_mode |
				(*acquire_mode & PERF_SPIN_LOCK_KIND_MASK);
	return PERF_SPIN_LOCK_WAIT(*spins, slot->wait_time);
}

/* Consistent even if an NMI changes the word, because the NMI frees its slots before it returns. */
static inline u32 ntklog_slots_in_use(const struct ntklog_spin_lock_cpu *cpu)
{
	return (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED_MASK) / PERF_SPIN_LOCK_SLOT_SIZE;
}

extern struct event_trace_spinlock_information ntklog_spin_lock_parameter_values;

/*
 * True while tracking is being enabled or disabled: every acquisition takes the slow path and is
 * not tracked. False while tracking is armed, and also while it is off. Written by the thread that
 * changes tracking, see struct ntklog_event_group; a change to true is followed by an interrupt to
 * all CPUs that makes their countdowns negative.
 */
extern bool ntklog_spin_lock_in_transition;

/*
 * True if each hook on each CPU sees both static keys on. An acquisition may then take a slot,
 * because its release will free it. Written like ntklog_spin_lock_in_transition.
 */
extern bool ntklog_spin_lock_hooks_paired;

/*
 * True while hooks of Linux locks are attached or detached: a release without a slot is then
 * expected. See ntklog_begin_spin_lock_attach().
 */
extern bool ntklog_spin_lock_expect_unmatched;

/*
 * Value of hold_limit on all CPUs, while it is not 0: hold threshold + 1, or U32_MAX if there is no
 * threshold. Written when a parameter changes, with the lock of the parameters held.
 */
extern u32 ntklog_spin_lock_hold_limit;

/* SpinLockAcquireCount minus SpinLockContentionCount, computed from @state; wraps like these. */
static __always_inline u32 ntklog_count_of_state(const struct ntklog_spin_lock_cpu *cpu, long state)
{
	return READ_ONCE(cpu->sample_at_count) - 1 - (u32)(state >> 16);
}

static __always_inline u32 ntklog_uncontended_count(const struct ntklog_spin_lock_cpu *cpu)
{
	return ntklog_count_of_state(cpu, READ_ONCE(cpu->state));
}

void ntklog_write_spin_lock(const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
			    u32 sample, struct ntklog_time time, unsigned long caller);

void ntklog_start_spin_lock_slots(void);
void ntklog_arm_spin_lock_slots(void);
void ntklog_disarm_spin_lock_slots(void);
void ntklog_stop_spin_lock_slots(void);
void ntklog_set_spin_lock_expect_unmatched(bool only);
void ntklog_restart_spin_lock_sampling(void);
void ntklog_apply_spin_lock_parameters(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SLOTS_H */
