/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_WAIT_H
#define _NTKLOG_PERF_SPIN_LOCK_WAIT_H

/* Contended acquisitions of spin locks. */

#include <linux/percpu.h>
#include <linux/types.h>

#include "../ground/clock.h"
#include "interrupt_count.h"
#include "spin_lock_cpu.h"
#include "spin_lock_parameters.h"

/**
 * ntklog_start_spin_lock_wait() - record time and interrupt counters at the start of a wait
 * @wait_start: filled in
 *
 * Context: preemption off.
 */
static __always_inline void
ntklog_start_spin_lock_wait(struct ntklog_spin_lock_wait_start *wait_start)
{
	wait_start->time = ntklog_read_time();
	wait_start->interrupt_snapshot = ntklog_snapshot_interrupts();
}

static inline void ntklog_count_wait(u32 spin_count)
{
	this_cpu_inc(ntklog_spin_lock_cpu.contention_count);
	this_cpu_add(ntklog_spin_lock_cpu.spin_count, spin_count);
}

/* NT's rule, by the present contention count of the CPU. */
static inline bool ntklog_wait_is_sampled(u32 spin_count)
{
	const struct event_trace_spinlock_information *parameters =
		&ntklog_spin_lock_parameter_values;

	return spin_count >= READ_ONCE(parameters->spin_lock_spin_threshold) &&
	       this_cpu_read(ntklog_spin_lock_cpu.contention_count) %
	       READ_ONCE(parameters->spin_lock_contention_sample_rate) == 0;
}

bool ntklog_count_and_sample_wait(u32 spin_count);
void ntklog_log_spin_lock_wait(const void *lock, u8 acquire_mode, u32 spin_count,
			       const struct ntklog_spin_lock_wait_start *wait_start,
			       unsigned long caller);

#endif /* _NTKLOG_PERF_SPIN_LOCK_WAIT_H */
