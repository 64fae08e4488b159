// SPDX-License-Identifier: GPL-2.0-only
/* Data of the spin lock instrumentation, and counters that any CPU may read. */

#include <linux/cache.h>
#include <linux/export.h>
#include <linux/seqlock.h>
#include <uapi/ntklog/system_information.h>

#include "../ground/compat.h"
#include "spin_lock_cpu.h"

/* No acquisition has been counted; the first one takes the slow path. */
DEFINE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu) = {
	.sample_at_count = 1, .sampled.sample_at_count = 1 };
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_spin_lock_cpu);

static_assert(sizeof_field(struct ntklog_spin_lock_cpu, slot) < PERF_SPIN_LOCK_USED_MASK);

bool ntklog_spin_lock_in_transition __read_mostly;
bool ntklog_spin_lock_hooks_paired __read_mostly;
bool ntklog_spin_lock_expect_unmatched __read_mostly;
u32 ntklog_spin_lock_hold_limit __read_mostly = EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD + 1;

/**
 * ntklog_spin_lock_acquire_count() - return NT's SpinLockAcquireCount
 * @number: CPU number
 *
 * Context: any.
 * Return: number of acquisitions on the CPU, modulo 2^32.
 */
u32 ntklog_spin_lock_acquire_count(int number)
{
	const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);
	unsigned int sequence;
	u32 count;

	do {
		sequence = raw_read_seqcount_begin(&cpu->sequence);
		count = ntklog_uncontended_count(cpu) + ntklog_sampled_count(cpu) +
			READ_ONCE(cpu->contention_count);
	} while (read_seqcount_retry(&cpu->sequence, sequence));
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_acquire_count);

/**
 * ntklog_spin_lock_slots_in_use() - count the held locks of a CPU that have a slot
 * @number: CPU number
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of slots in use; 0 while tracking and sampling are off.
 */
u32 ntklog_spin_lock_slots_in_use(int number)
{
	const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

	return ntklog_slots_in_use(cpu) + READ_ONCE(cpu->sampled_in_use);
}
