/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_H
#define _NTKLOG_PERF_SPIN_LOCK_H

/*
 * Counting, tracking and sampling of spin locks, for the locks (the hooks), the
 * files (parameters and counters) and the tracepoint.
 */

#include <linux/jump_label.h>
#include <linux/timex.h>
#include <linux/types.h>

#include "information.h"
#include "interrupt_count.h"

/* NT's depth of tracking. */
#define PERF_SPIN_LOCK_DEPTH	8

/* One acquisition without an entry, in ntklog_spin_lock_cpu.in_use. */
#define PERF_SPIN_LOCK_OWED	0x100

/*
 * On while acquisitions are tracked, not only counted; also for a moment before and
 * after, see ntklog_start_spin_lock_tracking().
 */
DECLARE_STATIC_KEY_FALSE(ntklog_spin_lock_tracking_key);

/**
 * struct ntklog_spin_lock_query - what is noted before a lock is tried
 * @query_time: TSC cycles
 * @interrupt_count: of the processor
 */
struct ntklog_spin_lock_query {
	u64 query_time;
	u32 interrupt_count;
};

/**
 * struct ntklog_spin_lock_entry - one tracked acquisition
 * @acquire_time: when ownership began, TSC cycles
 * @lock: address of the lock; NULL marks an entry that is not (yet) valid
 * @wait_time_in_cycles: from the query to ownership, TSC cycles
 * @spin_count: additional tests of the lock
 * @interrupt_count: of the processor, at the query
 * @context: who acquired it, as ntklog_spin_lock_context() has it; its low byte, which is
 *	0 there, is WMI_SPINLOCK_*
 */
struct ntklog_spin_lock_entry {
	u64 acquire_time;
	const void *lock;
	u32 wait_time_in_cycles;
	u32 spin_count;
	u32 interrupt_count;
	u32 context;
};

/**
 * struct ntklog_spin_lock_cpu - what a processor knows of its spin locks
 * @in_use: entries in use, valid or being made; and PERF_SPIN_LOCK_OWED for each
 *	acquisition that has none and whose release is still to come. With any of
 *	those it is greater than all limits, so that neither costs a test of its own
 * @writing: an event is being written; then others are not
 * @entries: oldest first; those not in use have a NULL lock
 * @acquire_count: NT's SpinLockAcquireCount; wraps
 * @contention_count: NT's SpinLockContentionCount; wraps
 * @spin_count: NT's SpinLockSpinCount; wraps
 * @untracked: acquisitions that found no entry free
 * @unmatched: releases of what has not been acquired, on this processor and in this
 *	context: neither with an entry nor without one
 * @suppressed: events not written since another was being written
 * @events: events written to whatever sinks there are
 *
 * Written by its own processor only, read by any (the counters). A thread's
 * writes can be interrupted anywhere; what interrupts releases all it has
 * acquired before it returns, and so leaves entries and @in_use as it found
 * them. The exception: ntklog_start_spin_lock_tracking() clears @in_use and the
 * entries' locks of all, when nobody is in the tracking.
 */
struct ntklog_spin_lock_cpu {
	u32 in_use;
	bool writing;
	struct ntklog_spin_lock_entry entries[PERF_SPIN_LOCK_DEPTH];
	u32 acquire_count;
	u32 contention_count;
	u32 spin_count;
	u64 untracked;
	u64 unmatched;
	u64 suppressed;
	u64 events;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu);

/**
 * ntklog_query_spin_lock() - note time and interrupts before a lock is tried
 * @query: where
 *
 * Context: IRQL >= DISPATCH_LEVEL. Nothing to note when only counting.
 */
static __always_inline void
ntklog_query_spin_lock(struct ntklog_spin_lock_query *query)
{
	/* What is not noted is not looked at: tracking is not armed before we are done. */
	if (!static_branch_likely(&ntklog_spin_lock_tracking_key))
		return;
	query->query_time = get_cycles();
	query->interrupt_count = ntklog_interrupt_count();
}

void ntklog_track_spin_lock_acquire(const void *lock, u32 acquire_mode,
				    u32 spin_count,
				    const struct ntklog_spin_lock_query *query);
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode);
void ntklog_track_spin_lock_release(const void *lock, u64 release_time,
				    unsigned long caller);

/**
 * ntklog_log_spin_lock_acquire() - NT's PerfLogSpinLockAcquire
 * @lock: the lock, now owned
 * @acquire_mode: WMI_SPINLOCK_*
 * @spin_count: additional tests of the lock; 0 if it was had at once
 * @query: what ntklog_query_spin_lock() noted before
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the acquisition.
 */
static __always_inline void
ntklog_log_spin_lock_acquire(const void *lock, u8 acquire_mode, u32 spin_count,
			     const struct ntklog_spin_lock_query *query)
{
	/* Single instructions: an interrupt's own counting loses nothing. */
	this_cpu_inc(ntklog_spin_lock_cpu.acquire_count);
	if (unlikely(spin_count)) {
		this_cpu_inc(ntklog_spin_lock_cpu.contention_count);
		this_cpu_add(ntklog_spin_lock_cpu.spin_count, spin_count);
	}
	if (static_branch_likely(&ntklog_spin_lock_tracking_key))
		ntklog_track_spin_lock_acquire(lock, acquire_mode, spin_count,
					       query);
}

/**
 * ntklog_spin_lock_release_time() - the time of a release, read before it
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 * Return: TSC cycles. When only counting, 0: if the key goes on before the release is
 * logged, the lock has no entry that would need it.
 */
static __always_inline u64 ntklog_spin_lock_release_time(void)
{
	return static_branch_likely(&ntklog_spin_lock_tracking_key) ?
		get_cycles() : 0;
}

/**
 * ntklog_log_spin_lock_release() - NT's PerfLogSpinLockRelease
 * @lock: the lock, let go already
 * @release_time: ntklog_spin_lock_release_time()
 * @caller: where the function that releases returns to
 *
 * Context: IRQL >= DISPATCH_LEVEL, before the IRQL is lowered.
 */
static __always_inline void
ntklog_log_spin_lock_release(const void *lock, u64 release_time,
			     unsigned long caller)
{
	if (static_branch_likely(&ntklog_spin_lock_tracking_key))
		ntklog_track_spin_lock_release(lock, release_time, caller);
}

/* EVENT_TRACE_SPINLOCK_INFORMATION. */
extern struct ntklog_information ntklog_spin_lock_information;

#define PERF_SPIN_LOCK_PARAMETERS	4

void ntklog_spin_lock_init(void);
void ntklog_spin_lock_exit(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_H */
