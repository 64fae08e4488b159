/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SLOTS_H
#define _NTKLOG_PERF_SPIN_LOCK_SLOTS_H

/* What the two halves of perf's spin locks know of each other. */

#include <linux/compiler_types.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "spin_lock.h"

/*
 * Words of an acquisition that is written, as the record has them: its rule, acquire mode and
 * AcquireDepth; SpinCount and WaitTimeInCycles. In the mode is PERF_SPIN_LOCK_LINUX_* too.
 */
#define PERF_SPIN_LOCK_SAMPLE(_rule, _acquire_mode, _depth)				\
	((u32)(_rule) << 24 | (u32)(_acquire_mode) << 16 | (u32)(u8)(_depth) << 8)
#define PERF_SPIN_LOCK_SAMPLE_MODE(_sample)	((u8)((_sample) >> 16))
#define PERF_SPIN_LOCK_WAIT(_spins, _wait_time)	((u64)(_spins) << 32 | (u32)(_wait_time))

/**
 * ntklog_slot_wait() - what a slot that is noted has to tell
 * @slot: it
 * @spins: of it
 * @acquire_mode: set to the mode that is noted, if one is
 *
 * Return: SpinCount and WaitTimeInCycles; 0 if it is not noted.
 */
static __always_inline u64 ntklog_slot_wait(const struct ntklog_spin_lock_slot *slot,
					    const u32 *spins, u8 *acquire_mode)
{
	if (likely(!(slot->lock & PERF_SPIN_LOCK_NOTED)))
		return 0;
	if (slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN)
		*acquire_mode = slot->acquire_mode |
				(*acquire_mode & PERF_SPIN_LOCK_WHOSE_MASK);
	return PERF_SPIN_LOCK_WAIT(*spins, slot->wait_time);
}

/* An NMI that takes locks counts in the same word, and has given its slots back when it is over. */
static inline u32 ntklog_slots_in_use(const struct ntklog_spin_lock_cpu *cpu)
{
	return (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED) / PERF_SPIN_LOCK_SLOT;
}

extern struct event_trace_spinlock_information ntklog_spin_lock_words;

/*
 * Nothing is tracked yet, or any more: every acquisition is looked at. Written by one at a
 * time (struct ntklog_want), before all processors' words are made to follow.
 */
extern bool ntklog_spin_lock_unarmed;

/* All hooks see both keys on: what is acquired now will be released there too. */
extern bool ntklog_spin_lock_hooked;

/* Of somebody's locks only the releases are sure to come: see ntklog_join_spin_locks(). */
extern bool ntklog_spin_lock_releases_only;

/*
 * The processors' hold_limit while not each release is looked at. The greatest means never; one
 * that holds so long is not over any threshold. Written by who changes the parameters.
 */
extern u32 ntklog_spin_lock_hold_limit;

/* SpinLockAcquireCount less SpinLockContentionCount; it wraps as they do. */
static __always_inline u32 ntklog_count_of_state(const struct ntklog_spin_lock_cpu *cpu, long state)
{
	return READ_ONCE(cpu->next) - 1 - (u32)(state >> 16);
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
void ntklog_set_spin_lock_releases_only(bool only);
void ntklog_choose_spin_locks_anew(void);
void ntklog_look_at_spin_lock_parameters(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SLOTS_H */
