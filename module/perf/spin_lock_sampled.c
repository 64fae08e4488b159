// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which acquisitions are chosen, and what becomes of them; see spin_lock_sampled.h.
 *
 * A processor's acquisitions that had not to wait are cut into stretches of as many as the rate
 * says. Of each stretch one is chosen, each with the same probability, whatever was chosen
 * before: so each acquisition of each lock is chosen once in as many as the rate says, also of a
 * load that repeats itself in step with the rate. Documentation/design.rst has the argument.
 *
 * All here that changes a processor's words runs on it with interrupts off, unless it is offline.
 * What interrupts an acquisition between its count and its being looked at is looked at in its
 * place. An NMI's is not chosen, nor is anything done that it may have interrupted: the next
 * acquisition is looked at in its place.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../compat.h"
#include "interrupt_count.h"
#include "spin_lock_event.h"
#include "spin_lock_parameters.h"
#include "spin_lock_sampled.h"
#include "spin_lock_wait.h"

/* Marsaglia's xorshift; its state is never 0. */
static u32 ntklog_random_below(struct ntklog_sampled_spin_locks *sampled, u32 limit)
{
	u32 random = sampled->random;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	sampled->random = random;
	return (u64)random * limit >> 32;
}

/* The acquisition that is looked at next is so many on: one that is chosen, or just one. */
static void ntklog_set_sampled_countdown(struct ntklog_spin_lock_cpu *cpu, u32 count, u64 distance)
{
	s32 left = min_t(u64, distance - 1, S32_MAX);

	cpu->sampled.countdown_excess = distance - 1 - left;
	raw_write_seqcount_begin(&cpu->sequence);
	WRITE_ONCE(cpu->sampled.sample_at_count, count + 1 + left);
	WRITE_ONCE(cpu->sampled_countdown, left);
	raw_write_seqcount_end(&cpu->sequence);
}

/* One of the next stretch, when so many of the present one are left. */
static void ntklog_choose_in_next_interval(struct ntklog_spin_lock_cpu *cpu, u32 count, u32 left)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate);
	u32 before = ntklog_random_below(&cpu->sampled, rate);

	cpu->sampled.interval_rest = rate - 1 - before;
	if (cpu->sampled.choice == PERF_CHOOSE_BY_RATE)
		ntklog_set_sampled_countdown(cpu, count, (u64)left + before + 1);
	else
		ntklog_set_sampled_countdown(cpu, count,
					     cpu->sampled.choice == PERF_CHOOSE_ALL ? 1 : S32_MAX);
}

/**
 * ntklog_restart_interval() - a rate has changed: forget what was to be chosen
 * @cpu: the processor's
 *
 * Context: interrupts off, on the processor; or it is offline.
 */
void ntklog_restart_interval(struct ntklog_spin_lock_cpu *cpu)
{
	ntklog_choose_in_next_interval(cpu, ntklog_sampled_count(cpu), 0);
}

/**
 * ntklog_seed_sampling() - let each processor choose as no other does
 *
 * Context: load, before anybody looks at a rate, which is done where the kernel's own random
 * numbers, that take a lock, cannot be had.
 */
void __init ntklog_seed_sampling(void)
{
	int number;

	for_each_possible_cpu(number)
		per_cpu_ptr(&ntklog_spin_lock_cpu, number)->sampled.random = get_random_u32() | 1;
}

/* The most recent one of a lock; -1: none. */
static int ntklog_find_sampled(const struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	int number = cpu->sampled_in_use;

	while (--number >= 0)
		if ((cpu->sampled.slot[number].lock & ~PERF_SPIN_LOCK_TAGS) == (unsigned long)lock)
			break;
	return number;
}

/* One that is not chosen of a lock that may be owned already, shared, and have a slot. */
static void ntklog_count_nested(struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	int number = ntklog_find_sampled(cpu, lock);

	if (number >= 0)
		cpu->sampled.nested[number]++;
}

/* The slot of a lock that is owned from now on, or NULL. */
static struct ntklog_spin_lock_slot *ntklog_alloc_sampled_slot(struct ntklog_spin_lock_cpu *cpu,
							       const void *lock, unsigned long tag)
{
	struct ntklog_spin_lock_slot *slot = &cpu->sampled.slot[cpu->sampled_in_use];

	if (cpu->sampled_in_use == PERF_SAMPLED_SPIN_LOCKS) {
		this_cpu_inc(ntklog_spin_lock_cpu.untracked);
		return NULL;
	}
	slot->lock = (unsigned long)lock | tag;
	cpu->sampled.nested[cpu->sampled_in_use] = 0;
	WRITE_ONCE(cpu->sampled_in_use, cpu->sampled_in_use + 1);
	return slot;
}

/**
 * ntklog_sample_spin_lock_acquire_slow() - an acquisition that has to be looked at
 * @lock: the lock, now owned
 *
 * Context: as ntklog_sample_spin_lock_acquire(), which has counted it.
 */
notrace void ntklog_sample_spin_lock_acquire_slow(const void *lock)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot = NULL;
	unsigned long flags;
	u32 count;

	if (in_nmi())
		return;
	local_irq_save(flags);
	/*
	 * It is only that something has a slot; or an interrupt in between has been looked at in
	 * its place; unless all are chosen.
	 */
	if (cpu->sampled_countdown >= 0 && cpu->sampled.choice != PERF_CHOOSE_ALL)
		goto out;
	count = ntklog_sampled_count(cpu);
	if (cpu->sampled.countdown_excess) {
		ntklog_set_sampled_countdown(cpu, count, cpu->sampled.countdown_excess);
		goto out;
	}
	ntklog_choose_in_next_interval(cpu, count, cpu->sampled.interval_rest);
	slot = ntklog_alloc_sampled_slot(cpu, lock, 0);
	if (slot) {
		slot->time = time;
		slot->interrupts = ntklog_snapshot_interrupts();
	}
out:
	if (!slot)
		ntklog_count_nested(cpu, lock);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_sample_spin_lock_acquire_slow);

/**
 * ntklog_sample_contended_spin_lock() - count an acquisition of a lock waited for, maybe choose it
 * @lock: the lock, now owned
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_LINUX_*
 * @spin_count: additional tests of the lock, at least 1
 * @query: what ntklog_start_spin_lock_wait() noted before
 *
 * Context: preemption off, right after the acquisition.
 */
notrace void ntklog_sample_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
					       const struct ntklog_spin_lock_wait_start *query)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot = NULL;
	unsigned long flags;

	local_irq_save(flags);
	if (ntklog_count_spin_lock_wait(spin_count) && !in_nmi())
		slot = ntklog_alloc_sampled_slot(cpu, lock, PERF_SPIN_LOCK_HAS_DETAILS);
	if (!slot && !in_nmi())
		ntklog_count_nested(cpu, lock);
	if (slot) {
		slot->time = time;
		slot->interrupts = query->interrupts;
		slot->wait_time = ntklog_time_value(time) - ntklog_time_value(query->time);
		slot->acquire_mode = acquire_mode;
		cpu->sampled.spins[slot - cpu->sampled.slot] = spin_count;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_sample_contended_spin_lock);

static void ntklog_free_sampled_slot(struct ntklog_spin_lock_cpu *cpu, u32 number)
{
	struct ntklog_sampled_spin_locks *sampled = &cpu->sampled;
	u32 last = cpu->sampled_in_use - 1;

	if (number != last) {
		memmove(&sampled->slot[number], &sampled->slot[number + 1],
			(last - number) * sizeof(sampled->slot[0]));
		memmove(&sampled->spins[number], &sampled->spins[number + 1],
			(last - number) * sizeof(sampled->spins[0]));
		memmove(&sampled->nested[number], &sampled->nested[number + 1],
			(last - number) * sizeof(sampled->nested[0]));
	}
	WRITE_ONCE(cpu->sampled_in_use, last);
}

/**
 * ntklog_release_sampled_spin_lock() - write an acquisition that was chosen, if this is its end
 * @lock: the lock, let go already
 * @acquire_mode: WMI_SPINLOCK_*, if none is noted, and PERF_SPIN_LOCK_LINUX_*
 * @time_low: when, from before that
 * @time_high: its high half
 * @caller: where the function that releases returns to
 *
 * Who owns a lock twice, shared, gives back first what was acquired last: what interrupts
 * another reader does, and of one thread's two nobody can tell.
 *
 * Context: preemption off, right after the release; NMI too.
 */
notrace void ntklog_release_sampled_spin_lock(const void *lock, u8 acquire_mode, u32 time_low,
					      u32 time_high, unsigned long caller)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_sampled_spin_locks *sampled = &cpu->sampled;
	struct ntklog_time time = { .low = time_low, .high = time_high };
	const struct ntklog_spin_lock_slot *slot;
	unsigned long flags;
	int number;
	u64 wait;

	/* What it acquires has no slot. */
	if (in_nmi() || !cpu->sampled_in_use)
		return;
	local_irq_save(flags);
	number = ntklog_find_sampled(cpu, lock);
	if (number >= 0 && sampled->nested[number]) {
		sampled->nested[number]--;
	} else if (number >= 0) {
		slot = &sampled->slot[number];
		wait = ntklog_slot_wait_words(slot, &sampled->spins[number], &acquire_mode);
		if (sampled->choice == PERF_CHOOSE_ALL)
			this_cpu_inc(ntklog_spin_lock_cpu.suppressed);
		else
			ntklog_write_spin_lock(slot, wait,
					       ntklog_interrupts_since(slot->interrupts),
					       PERF_SPIN_LOCK_SAMPLE(WMI_SPINLOCK_RULE_SAMPLED,
								     acquire_mode, 0),
					       time, caller);
		ntklog_free_sampled_slot(cpu, number);
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_release_sampled_spin_lock);

/**
 * ntklog_topmost_sampled_spin_lock() - the last chosen of those that this processor owns
 *
 * Context: interrupts off.
 * Return: the lock; NULL if there is none.
 */
const void *ntklog_topmost_sampled_spin_lock(void)
{
	const struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	u32 in_use = cpu->sampled_in_use;

	return in_use ? (const void *)(cpu->sampled.slot[in_use - 1].lock & ~PERF_SPIN_LOCK_TAGS) :
			NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_topmost_sampled_spin_lock);

/**
 * ntklog_set_spin_lock_choice() - which acquisitions of this processor are chosen from now on
 * @choice: which
 *
 * Context: no migration; interrupts on or off.
 */
void ntklog_set_spin_lock_choice(enum ntklog_choice choice)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_write(ntklog_spin_lock_cpu.sampled.choice, choice);
	ntklog_restart_interval(this_cpu_ptr(&ntklog_spin_lock_cpu));
	local_irq_restore(flags);
}
