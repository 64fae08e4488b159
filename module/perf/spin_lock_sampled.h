/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H
#define _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H

/*
 * Mode "sampled": an acquisition is chosen when it is made, and only chosen acquisitions take a
 * slot. Uncontended acquisitions are chosen at random (see spin_lock_sampled.c), contended ones by
 * the spin threshold and the contention sample rate. The release frees the slot and writes the
 * event. This mode has no hold threshold and no AcquireDepth.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "spin_lock_cpu.h"
#include "this_cpu.h"

/**
 * enum ntklog_choice_rule - rule that chooses uncontended acquisitions
 * @PERF_CHOOSE_BY_RATE: one acquisition of each interval; see spin_lock_sampled.c
 * @PERF_CHOOSE_NONE: none of the next 2^31 - 2 acquisitions, for the self-test
 * @PERF_CHOOSE_ALL: every acquisition, for the self-test; their events are suppressed
 */
enum ntklog_choice_rule {
	PERF_CHOOSE_BY_RATE,
	PERF_CHOOSE_NONE,
	PERF_CHOOSE_ALL,
};

void ntklog_sample_spin_lock_acquire_slow(const void *lock);
void ntklog_sample_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				       const struct ntklog_spin_lock_wait_start *wait_start);
void ntklog_track_sampled_release(const void *lock, u8 acquire_mode, u32 time_low,
				  u32 time_high, unsigned long caller);

/**
 * ntklog_sample_spin_lock_acquire_fast() - count an uncontended acquisition in mode "sampled"
 * @lock: address of the lock, which is held
 *
 * Context: preemption off, right after the acquisition; also NMI.
 * Return: true if no slot is needed; otherwise call ntklog_sample_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_sample_spin_lock_acquire_fast(const void *lock)
{
	return likely(!ntklog_this_cpu_dec_is_negative(ntklog_spin_lock_cpu.sampled_countdown));
}

/**
 * ntklog_sample_shared_spin_lock_acquire_fast() - count a shared acquisition in mode "sampled"
 * @lock: address of the lock, which is held
 *
 * A slot that is in use may belong to the same lock.
 *
 * Context: as for ntklog_sample_spin_lock_acquire_fast().
 * Return: true if no slot is needed; otherwise call ntklog_sample_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_sample_shared_spin_lock_acquire_fast(const void *lock)
{
	return ntklog_sample_spin_lock_acquire_fast(lock) &&
	       likely(!this_cpu_read(ntklog_spin_lock_cpu.sampled_slots_in_use));
}

const void *ntklog_find_topmost_sampled_spin_lock(void);
void ntklog_restart_sampling_interval(struct ntklog_spin_lock_cpu *cpu);
void ntklog_set_choice_rule(enum ntklog_choice_rule choice_rule);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H */
