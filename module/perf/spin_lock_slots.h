/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SLOTS_H
#define _NTKLOG_PERF_SPIN_LOCK_SLOTS_H

/*
 * Counting and tracking of the spin locks that a CPU acquires, and the decision which releases
 * write an event. The fast paths run for each acquisition and release, and are therefore inline.
 * They only detect when a decision is needed; the slow paths decide.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "../ground/clock.h"
#include "interrupt_count.h"
#include "spin_lock_cpu.h"
#include "this_cpu.h"

void ntklog_count_spin_lock_acquire_slow(void);
void ntklog_track_spin_lock_acquire_slow(const void *lock);
void ntklog_track_spin_lock_release_slow(const void *lock, u8 acquire_mode, u32 time_low,
					 u32 time_high, unsigned long caller);
void ntklog_count_interrupt_in_slots(void);
void ntklog_log_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				    const struct ntklog_spin_lock_wait_start *wait_start);
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode);

#define ntklog_write_spin_lock_slot(_offset, _member, _value)				\
	ntklog_this_cpu_write_at(ntklog_spin_lock_cpu.slots[0]._member, _offset, _value)

/**
 * ntklog_fill_uncontended_slot() - fill a slot, except for interrupt_snapshot
 * @lock: address of the lock, which is held
 * @slot_offset: offset of the slot, in bytes
 *
 * Context: as ntklog_log_spin_lock_acquire().
 */
static __always_inline void ntklog_fill_uncontended_slot(const void *lock,
							 unsigned long slot_offset)
{
	struct ntklog_time time;

	/* Before the clock is read: interrupts are counted in this slot from the store on. */
	ntklog_write_spin_lock_slot(slot_offset, lock, (unsigned long)lock);
	time = ntklog_read_time();
	ntklog_write_spin_lock_slot(slot_offset, time.low, time.low);
	ntklog_write_spin_lock_slot(slot_offset, time.high, time.high);
}

/**
 * ntklog_push_spin_lock() - take a slot and fill it, except .interrupt_snapshot
 * @lock: address of the lock, which is held
 * @slot_offset: set to the offset of the slot, in bytes
 *
 * Context: as ntklog_log_spin_lock_acquire().
 * Return: true if the slot is filled. False if the acquisition needs the slow path: the slot is
 * taken but empty, and the caller must call ntklog_track_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_push_spin_lock(const void *lock, unsigned long *slot_offset)
{
	if (unlikely(ntklog_this_cpu_sub_is_negative(ntklog_spin_lock_cpu.state,
						     PERF_SPIN_LOCK_COUNTDOWN_ONE -
						     PERF_SPIN_LOCK_SLOT_SIZE)))
		return false;
	*slot_offset = ntklog_this_cpu_read_low_u16(ntklog_spin_lock_cpu.state);
	if (unlikely(*slot_offset > PERF_SPIN_LOCK_DEPTH * PERF_SPIN_LOCK_SLOT_SIZE))
		return false;
	ntklog_fill_uncontended_slot(lock, *slot_offset);
	return true;
}

/**
 * ntklog_push_linux_spin_lock() - track an uncontended acquisition of a Linux lock
 * @lock: address of the lock, which is held
 *
 * Neither tests the tracking key nor reads the interrupt counters.
 *
 * Context: preemption off, right after the acquisition; also NMI.
 * Return: true if tracked; otherwise call ntklog_track_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_push_linux_spin_lock(const void *lock)
{
	unsigned long slot_offset;

	return ntklog_push_spin_lock(lock, &slot_offset);
}

/**
 * ntklog_hold_is_short() - test whether a release needs no decision
 * @lock: address of the lock, which is about to be released
 * @time_low: low half of the clock
 * @slot_offset: set to the offset of the topmost slot, in bytes
 *
 * Context: as ntklog_pop_spin_lock().
 * Return: true if the topmost slot has the lock, which was held for less than the limit.
 */
static __always_inline bool ntklog_hold_is_short(const void *lock, u32 time_low,
						 unsigned long *slot_offset)
{
	*slot_offset = ntklog_this_cpu_read_low_u16(ntklog_spin_lock_cpu.state);
	if (unlikely(!ntklog_this_cpu_equals_at(ntklog_spin_lock_cpu.slots[0].lock, *slot_offset,
						lock)))
		return false;
	ntklog_this_cpu_sub_from_at(time_low, ntklog_spin_lock_cpu.slots[0].time.low, *slot_offset);
	return likely(ntklog_this_cpu_exceeds(ntklog_spin_lock_cpu.hold_limit, time_low));
}

/**
 * ntklog_free_topmost_slot() - free the topmost slot
 * @slot_offset: offset of the slot, in bytes
 *
 * Context: as ntklog_pop_spin_lock().
 */
static __always_inline void ntklog_free_topmost_slot(unsigned long slot_offset)
{
	ntklog_this_cpu_clear_at(ntklog_spin_lock_cpu.slots[0].lock, slot_offset);
	this_cpu_sub(ntklog_spin_lock_cpu.state, PERF_SPIN_LOCK_SLOT_SIZE);
}

/**
 * ntklog_pop_spin_lock() - NT's PerfLogSpinLockRelease, fast path: free the topmost slot
 * @lock: address of the lock, which is about to be released
 * @time_low: low half of the clock
 *
 * Context: IRQL >= DISPATCH_LEVEL, or preemption off; the caller has seen the tracking key on.
 * Return: true if the slot is freed; false if the caller must call
 * ntklog_track_spin_lock_release_slow() after it has released the lock.
 */
static __always_inline bool ntklog_pop_spin_lock(const void *lock, u32 time_low)
{
	unsigned long slot_offset;

	if (unlikely(!ntklog_hold_is_short(lock, time_low, &slot_offset)))
		return false;
	ntklog_free_topmost_slot(slot_offset);
	return true;
}

const void *ntklog_find_topmost_spin_lock(void);
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SLOTS_H */
