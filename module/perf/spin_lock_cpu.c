// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/seqlock.h>
#include <uapi/ntklog/system_information.h>

#include "spin_lock_cpu.h"

/* The initial count is 0 and the countdown is 0, so the first acquisition takes the slow path. */
DEFINE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu) = {
	.sample_at_count = 1 };

struct ntklog_allocated_slots {
	struct ntklog_overflow_slots overflow_slots;
	struct ntklog_sampling_state sampling;
};

static struct ntklog_allocated_slots __percpu *ntklog_allocated_slots __ro_after_init;

static_assert(sizeof_field(struct ntklog_spin_lock_cpu, slots) < PERF_SPIN_LOCK_USED_MASK);

bool ntklog_spin_lock_in_transition __read_mostly;
bool ntklog_spin_lock_may_take_slot __read_mostly;
bool ntklog_spin_lock_unmatched_is_expected __read_mostly;
u32 ntklog_spin_lock_hold_limit __read_mostly = EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD + 1;

/**
 * ntklog_alloc_spin_lock_slots() - allocate the overflow slots and the state of mode "sampled"
 *
 * Context: module load, before any other function of the spin lock instrumentation.
 * Return: 0 or -ENOMEM.
 */
int __init ntklog_alloc_spin_lock_slots(void)
{
	int cpu_number;

	ntklog_allocated_slots = alloc_percpu(struct ntklog_allocated_slots);
	if (!ntklog_allocated_slots)
		return -ENOMEM;
	for_each_possible_cpu(cpu_number) {
		struct ntklog_allocated_slots *state = per_cpu_ptr(ntklog_allocated_slots,
								   cpu_number);
		struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);

		state->sampling.sample_at_count = 1;
		state->sampling.random_state = get_random_u32() | 1;
		cpu->overflow_slots = &state->overflow_slots;
		cpu->sampling = &state->sampling;
	}
	return 0;
}

/**
 * ntklog_free_spin_lock_slots() - undo ntklog_alloc_spin_lock_slots()
 *
 * Context: module unload, or a load that failed; no hook and no reader of counters is left.
 */
void ntklog_free_spin_lock_slots(void)
{
	free_percpu(ntklog_allocated_slots);
}

/**
 * ntklog_get_spin_lock_acquire_count() - return NT's SpinLockAcquireCount
 * @cpu_number: number of the CPU
 *
 * Context: any, except NMI, which may have interrupted a write section of cpu->sequence.
 * Return: number of counted acquisitions on the CPU, modulo 2^32.
 */
u32 ntklog_get_spin_lock_acquire_count(int cpu_number)
{
	const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);
	unsigned int sequence;
	u32 count;

	do {
		sequence = raw_read_seqcount_begin(&cpu->sequence);
		count = ntklog_get_uncontended_count(cpu) +
			ntklog_get_sampled_mode_uncontended_count(cpu) +
			READ_ONCE(cpu->contention_count);
	} while (read_seqcount_retry(&cpu->sequence, sequence));
	return count;
}

/**
 * ntklog_count_spin_lock_slots_in_use() - count the held locks of a CPU that have a slot
 * @cpu_number: number of the CPU
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of slots in use.
 */
u32 ntklog_count_spin_lock_slots_in_use(int cpu_number)
{
	const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);

	return ntklog_count_slots_in_use(cpu) + READ_ONCE(cpu->sampled_slots_in_use);
}
