// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mode "sampled": which acquisitions are chosen, and their slots; see spin_lock_sampled.h.
 *
 * The uncontended acquisitions of a CPU are divided into intervals of as many acquisitions as the
 * acquire sample rate. One acquisition of each interval is chosen at random, with equal probability
 * and independently of earlier choices, so that a load that repeats itself in step with the rate
 * does not distort the sample.
 *
 * If an interrupt arrives after an acquisition has been counted and before it is chosen, an
 * acquisition of the handler may be chosen instead. In an NMI acquisitions are counted, but none
 * gets a slot. The choice of an uncontended one passes to the next uncontended one. A choice by the
 * contention sample rate is lost.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "interrupt_count.h"
#include "spin_lock_blocker.h"
#include "spin_lock_event.h"
#include "spin_lock_parameters.h"
#include "spin_lock_sampled.h"
#include "spin_lock_wait.h"

/* Marsaglia's xorshift generator, whose state is never 0. */
static u32 ntklog_get_random_below(struct ntklog_sampling_state *sampled, u32 bound)
{
	u32 random = sampled->random_state;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	sampled->random_state = random;
	return (u64)random * bound >> 32;
}

/*
 * Sample the acquisition number @distance from now. The slow path counts down the part of @distance
 * that exceeds a countdown.
 */
static void ntklog_set_sampled_countdown(struct ntklog_spin_lock_cpu *cpu, u32 count, u64 distance)
{
	s32 countdown = min_t(u64, distance - 1, S32_MAX);

	cpu->sampling->countdown_excess = distance - 1 - countdown;
	raw_write_seqcount_begin(&cpu->sequence);
	WRITE_ONCE(cpu->sampling->sample_at_count, count + 1 + countdown);
	WRITE_ONCE(cpu->sampled_countdown, countdown);
	raw_write_seqcount_end(&cpu->sequence);
}

/* @remaining_acquisitions: number of acquisitions that are left in the current interval. */
static void ntklog_choose_in_next_interval(struct ntklog_spin_lock_cpu *cpu, u32 count,
					   u32 remaining_acquisitions)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate);
	u32 chosen_index = ntklog_get_random_below(cpu->sampling, rate);

	cpu->sampling->remaining_in_interval = rate - 1 - chosen_index;
	if (cpu->sampling->choice_rule == PERF_CHOOSE_BY_RATE)
		ntklog_set_sampled_countdown(cpu, count,
					     (u64)remaining_acquisitions + chosen_index + 1);
	else
		ntklog_set_sampled_countdown(cpu, count,
					     cpu->sampling->choice_rule == PERF_CHOOSE_ALL ?
						     1 :
						     S32_MAX);
}

/**
 * ntklog_restart_sampling_interval() - begin a new interval, with the present rate and choice
 * @cpu: state of a CPU
 *
 * Context: interrupts off, on that CPU; or the CPU is offline.
 */
void ntklog_restart_sampling_interval(struct ntklog_spin_lock_cpu *cpu)
{
	ntklog_choose_in_next_interval(cpu, ntklog_get_sampled_mode_uncontended_count(cpu), 0);
}

/* Find the topmost slot of @lock. Returns its index, or -1 if the lock has no slot. */
static int ntklog_find_sampled_slot_index(const struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	int index = cpu->sampled_slots_in_use;

	while (--index >= 0)
		if ((cpu->sampling->slots[index].lock & ~PERF_SPIN_LOCK_TAG_MASK) ==
		    (unsigned long)lock)
			break;
	return index;
}

/* A lock that has a slot is held shared, and the next release belongs to this acquisition. */
static void ntklog_count_nested_acquire(struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	int index = ntklog_find_sampled_slot_index(cpu, lock);

	if (index >= 0)
		cpu->sampling->nested_counts[index]++;
}

static struct ntklog_spin_lock_slot *ntklog_alloc_sampled_slot(struct ntklog_spin_lock_cpu *cpu,
							       const void *lock, unsigned long tag)
{
	struct ntklog_spin_lock_slot *slot = &cpu->sampling->slots[cpu->sampled_slots_in_use];

	if (cpu->sampled_slots_in_use == PERF_SAMPLED_SLOT_COUNT) {
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_count);
		return NULL;
	}
	slot->lock = (unsigned long)lock | tag;
	cpu->sampling->nested_counts[cpu->sampled_slots_in_use] = 0;
	WRITE_ONCE(cpu->sampled_slots_in_use, cpu->sampled_slots_in_use + 1);
	return slot;
}

/**
 * ntklog_sample_spin_lock_acquire_slow() - slow path of ntklog_sample_spin_lock_acquire_fast()
 * @lock: address of the lock, which is held
 *
 * Context: as for ntklog_sample_spin_lock_acquire_fast(), after the acquisition has been counted.
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
	/* The caller may only have found a slot in use. The self-test chooses every acquisition. */
	if (cpu->sampled_countdown >= 0 && cpu->sampling->choice_rule != PERF_CHOOSE_ALL)
		goto out;
	count = ntklog_get_sampled_mode_uncontended_count(cpu);
	if (cpu->sampling->countdown_excess) {
		ntklog_set_sampled_countdown(cpu, count, cpu->sampling->countdown_excess);
		goto out;
	}
	ntklog_choose_in_next_interval(cpu, count, cpu->sampling->remaining_in_interval);
	slot = ntklog_alloc_sampled_slot(cpu, lock, 0);
	if (slot) {
		slot->time = time;
		slot->interrupt_snapshot = ntklog_snapshot_interrupts();
	}
out:
	if (!slot)
		ntklog_count_nested_acquire(cpu, lock);
	local_irq_restore(flags);
}

/**
 * ntklog_sample_contended_spin_lock() - count a contended acquisition, and maybe take a slot
 * @lock: address of the lock, which is held
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_LINUX_*
 * @spin_count: number of additional tests of the lock, at least 1
 * @wait_start: state at the start of the wait
 *
 * Context: preemption off, right after the acquisition; also NMI.
 */
notrace void ntklog_sample_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
					       const struct ntklog_spin_lock_wait_start *wait_start)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot = NULL;
	unsigned long flags;

	local_irq_save(flags);
	if (ntklog_count_and_sample_wait(spin_count) && !in_nmi())
		slot = ntklog_alloc_sampled_slot(cpu, lock, PERF_SPIN_LOCK_HAS_DETAILS);
	if (!slot && !in_nmi())
		ntklog_count_nested_acquire(cpu, lock);
	if (slot) {
		slot->time = time;
		slot->interrupt_snapshot = wait_start->interrupt_snapshot;
		slot->wait_time = ntklog_time_to_cycles(time) -
				  ntklog_time_to_cycles(wait_start->time);
		slot->acquire_mode = acquire_mode;
		cpu->sampling->spin_counts[slot - cpu->sampling->slots] = spin_count;
	}
	local_irq_restore(flags);
}

static void ntklog_free_sampled_slot(struct ntklog_spin_lock_cpu *cpu, u32 index)
{
	struct ntklog_sampling_state *sampled = cpu->sampling;
	u32 last = cpu->sampled_slots_in_use - 1;

	if (index != last) {
		memmove(&sampled->slots[index], &sampled->slots[index + 1],
			(last - index) * sizeof(sampled->slots[0]));
		memmove(&sampled->spin_counts[index], &sampled->spin_counts[index + 1],
			(last - index) * sizeof(sampled->spin_counts[0]));
		memmove(&sampled->nested_counts[index],
			&sampled->nested_counts[index + 1],
			(last - index) * sizeof(sampled->nested_counts[0]));
	}
	WRITE_ONCE(cpu->sampled_slots_in_use, last);
}

static void ntklog_write_sampled_event(const struct ntklog_spin_lock_cpu *cpu, u32 index,
				       u8 acquire_mode, struct ntklog_time time,
				       unsigned long caller)
{
	const struct ntklog_spin_lock_slot *slot = &cpu->sampling->slots[index];
	u8 mode = acquire_mode & ~PERF_SPIN_LOCK_LEAVES_WAITER;
	u64 wait_words =
		ntklog_get_slot_wait_words(slot, &cpu->sampling->spin_counts[index], &mode);
	u8 rule = WMI_SPINLOCK_RULE_SAMPLED | ntklog_count_and_sample_blocker(acquire_mode);

	ntklog_write_wmi_spinlock(slot, wait_words,
				  ntklog_count_irqs_since(slot->interrupt_snapshot),
				  PERF_PACK_RULE_MODE_DEPTH(rule, mode, 0), time, caller);
}

/**
 * ntklog_track_sampled_release() - slow path of a release in mode "sampled"
 * @lock: address of the lock, which has been released
 * @acquire_mode: PERF_SPIN_LOCK_*, and WMI_SPINLOCK_* for a slot that has no acquire mode itself
 * @time_low: low half of the clock before the release
 * @time_high: high half of the clock before the release
 * @caller: return address of the unlock function
 *
 * A CPU may hold a lock shared more than once. A release then ends the latest acquisition: an
 * interrupt handler releases the lock before the code that it has interrupted does, and the
 * acquisitions of one task cannot be told apart.
 *
 * Context: preemption off, right after the release; also NMI.
 */
notrace void ntklog_track_sampled_release(const void *lock, u8 acquire_mode, u32 time_low,
					  u32 time_high, unsigned long caller)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_sampling_state *sampled = cpu->sampling;
	struct ntklog_time time = { .low = time_low, .high = time_high };
	unsigned long flags;
	int index;

	/* An NMI handler takes no slots. */
	if (in_nmi())
		return;
	local_irq_save(flags);
	index = ntklog_find_sampled_slot_index(cpu, lock);
	if (index >= 0 && !sampled->nested_counts[index]) {
		if (sampled->choice_rule == PERF_CHOOSE_ALL)
			this_cpu_inc(ntklog_spin_lock_cpu.suppressed_count);
		else
			ntklog_write_sampled_event(cpu, index, acquire_mode, time, caller);
		ntklog_free_sampled_slot(cpu, index);
	} else {
		if (index >= 0)
			sampled->nested_counts[index]--;
		ntklog_log_blocker(lock, acquire_mode, time, caller);
	}
	local_irq_restore(flags);
}

/**
 * ntklog_find_topmost_sampled_spin_lock() - return the lock of the topmost sampled slot
 *
 * Context: interrupts off.
 * Return: address of the lock; NULL if no slot is in use.
 */
const void *ntklog_find_topmost_sampled_spin_lock(void)
{
	const struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	u32 in_use = cpu->sampled_slots_in_use;

	return in_use ? (const void *)(cpu->sampling->slots[in_use - 1].lock &
				       ~PERF_SPIN_LOCK_TAG_MASK) :
			NULL;
}

/**
 * ntklog_set_choice_rule() - set which acquisitions of this CPU are chosen
 * @choice_rule: the new rule
 *
 * Context: migration disabled.
 */
void ntklog_set_choice_rule(enum ntklog_choice_rule choice_rule)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_read(ntklog_spin_lock_cpu.sampling)->choice_rule = choice_rule;
	ntklog_restart_sampling_interval(this_cpu_ptr(&ntklog_spin_lock_cpu));
	local_irq_restore(flags);
}
