/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H
#define _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H

/*
 * Sampling of locks of which not each acquisition is tracked: one is chosen when it is made, and
 * so are those that waited, by the contention rate. The others are only counted. What is chosen
 * is written when it is released. There is no hold threshold and no depth.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "spin_lock_cpu.h"
#include "this_cpu.h"

/**
 * enum ntklog_choice - which acquisitions are chosen
 * @PERF_CHOOSE_BY_RATE: one of as many as the acquire sample rate says
 * @PERF_CHOOSE_NONE: none for very long
 * @PERF_CHOOSE_ALL: each; then none is written, but counted as suppressed
 */
enum ntklog_choice {
	PERF_CHOOSE_BY_RATE,
	PERF_CHOOSE_NONE,
	PERF_CHOOSE_ALL,
};

void ntklog_sample_spin_lock_acquire_slow(const void *lock);
void ntklog_sample_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				       const struct ntklog_spin_lock_wait_start *query);
void ntklog_release_sampled_spin_lock(const void *lock, u8 acquire_mode, u32 time_low,
				      u32 time_high, unsigned long caller);

/**
 * ntklog_sample_spin_lock_acquire() - count an acquisition of a lock had at once
 * @lock: the lock, now owned
 *
 * Context: preemption off, right after the acquisition; NMI too.
 * Return: whether that was all; else ntklog_sample_spin_lock_acquire_slow() is to be called,
 * which may choose it.
 */
static __always_inline bool ntklog_sample_spin_lock_acquire(const void *lock)
{
	return likely(!ntklog_this_cpu_dec_is_negative(ntklog_spin_lock_cpu.sampled_countdown));
}

/**
 * ntklog_sample_shared_spin_lock_acquire() - the same of a lock that may be owned already, shared
 * @lock: the lock, now owned
 *
 * While something chosen is owned each has to be looked at: it may be the same lock.
 *
 * Context: as ntklog_sample_spin_lock_acquire().
 * Return: likewise.
 */
static __always_inline bool ntklog_sample_shared_spin_lock_acquire(const void *lock)
{
	return ntklog_sample_spin_lock_acquire(lock) &&
	       likely(!this_cpu_read(ntklog_spin_lock_cpu.sampled_in_use));
}

const void *ntklog_topmost_sampled_spin_lock(void);
void ntklog_seed_sampling(void);
void ntklog_restart_interval(struct ntklog_spin_lock_cpu *cpu);
void ntklog_set_spin_lock_choice(enum ntklog_choice choice);

#endif /* _NTKLOG_PERF_SPIN_LOCK_SAMPLED_H */
