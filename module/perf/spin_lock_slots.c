// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slow paths of spin lock tracking. The fast paths are inline functions in spin_lock_slots.h.
 *
 * An NMI may interrupt any instruction of this file, and its handler may take Linux' locks. The
 * handler leaves the slots, their size in state and untracked_slots_in_use as it found them. If the
 * NMI interrupts code that sets the uncontended count, the acquisitions of the handler may be
 * missing in the result.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <ntklog/spin_lock.h>

#include "spin_lock_blocker.h"
#include "spin_lock_event.h"
#include "spin_lock_number.h"
#include "spin_lock_parameters.h"
#include "spin_lock_slots.h"
#include "spin_lock_wait.h"

static __always_inline void ntklog_set_hold_limit(struct ntklog_spin_lock_cpu *cpu,
						  bool is_always_slow)
{
	WRITE_ONCE(cpu->hold_limit, is_always_slow ? 0 : READ_ONCE(ntklog_spin_lock_hold_limit));
}

static __always_inline void ntklog_set_countdown(struct ntklog_spin_lock_cpu *cpu, u32 count,
						 long countdown)
{
	raw_write_seqcount_begin(&cpu->sequence);
	WRITE_ONCE(cpu->sample_at_count, count + 1 + (u32)countdown);
	WRITE_ONCE(cpu->state, countdown * PERF_SPIN_LOCK_COUNTDOWN_ONE +
			       (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED_MASK));
	raw_write_seqcount_end(&cpu->sequence);
}

/*
 * Return the number of uncontended acquisitions before the next sampled one, or fewer. When the
 * count wraps to 0 the acquisition is sampled, because 0 is a multiple of every rate.
 */
static __always_inline long ntklog_compute_countdown_to_sample(u32 count, u32 remainder, u32 rate)
{
	/* Tracking is being enabled or disabled: every acquisition takes the slow path. */
	if (unlikely(READ_ONCE(ntklog_spin_lock_in_transition)))
		return -1;
	return min_t(unsigned long, min(rate - 1 - remainder, ~count),
		     PERF_SPIN_LOCK_COUNTDOWN_MAX);
}

/**
 * ntklog_set_uncontended_count() - set the uncontended count and compute countdown and hold limit
 * @cpu: state of a CPU
 * @count: the count, modulo 2^32
 *
 * Context: interrupts off, on that CPU; or the CPU is offline.
 */
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate);
	u32 remainder = count % rate;

	ntklog_set_countdown(cpu, count,
			     ntklog_compute_countdown_to_sample(count, remainder, rate));
	ntklog_set_hold_limit(cpu, !remainder && ntklog_count_slots_in_use(cpu));
}

/**
 * ntklog_find_topmost_spin_lock() - return the lock of this CPU's topmost slot
 *
 * Context: interrupts off.
 * Return: address of the lock; NULL if no slot is in use, or the topmost one is not yet filled.
 */
const void *ntklog_find_topmost_spin_lock(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);

	return (const void *)
		ntklog_get_slot_lock_address(ntklog_get_slot(cpu, ntklog_count_slots_in_use(cpu)));
}

/**
 * ntklog_count_spin_lock_acquire_slow() - slow path of an acquisition that is only counted
 *
 * While nothing is sampled, makes the countdown as long as possible.
 *
 * Context: preemption off, after the acquisition has been counted; also NMI.
 */
void ntklog_count_spin_lock_acquire_slow(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	unsigned long flags;

	/* The NMI may have interrupted this function. */
	if (in_nmi())
		return;
	local_irq_save(flags);
	/*
	 * Tracking may have started since this CPU saw the tracking key off. A long countdown would
	 * delay tracking on this CPU: set -1, so that the next acquisition takes the slow path.
	 */
	if (READ_ONCE(cpu->state) < 0)
		ntklog_set_countdown(cpu, ntklog_get_uncontended_count(cpu),
				     READ_ONCE(ntklog_spin_lock_in_transition) ||
				     static_key_enabled(&ntklog_spin_lock_tracking_key) ?
				     -1 : PERF_SPIN_LOCK_COUNTDOWN_MAX);
	local_irq_restore(flags);
}

static __always_inline void ntklog_fill_slot(struct ntklog_spin_lock_slot *slot, const void *lock,
					     unsigned long tag, struct ntklog_time time,
					     u64 interrupt_snapshot)
{
	slot->lock = (unsigned long)lock | tag;
	slot->time = time;
	slot->interrupt_snapshot = interrupt_snapshot;
}

/*
 * Fill a slot for an acquisition that has taken one of cpu->slots: that slot or, if these are all
 * in use, an overflow slot. The slot may be tagged as untracked. Returns its number, or 0 if the
 * acquisition gets none: slot 0 is a dummy whose lock stays 0.
 */
static noinline u32 ntklog_fill_slot_slow(struct ntklog_spin_lock_cpu *cpu, const void *lock,
					  unsigned long tag, struct ntklog_time time,
					  u64 interrupt_snapshot)
{
	bool in_transition = READ_ONCE(ntklog_spin_lock_in_transition);
	u32 number;

	if (in_transition && !READ_ONCE(ntklog_spin_lock_may_take_slot)) {
		/* The release may run without a hook, which would leave the slot in use. */
		ntklog_add_slots_in_use(-1);
		return 0;
	}
	number = ntklog_choose_slot_number(cpu);
	if (in_transition) {
		tag = PERF_SPIN_LOCK_UNTRACKED;
	} else if (in_nmi() || !number ||
		   number - READ_ONCE(cpu->untracked_slots_in_use) > PERF_SPIN_LOCK_DEPTH) {
		/* In an NMI the depth is unreliable: untracked_slots_in_use may be changing. */
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_count);
		tag = PERF_SPIN_LOCK_UNTRACKED;
	}
	if (!number) {
		this_cpu_inc(ntklog_spin_lock_cpu.locks_without_slot);
		return 0;
	}
	if (tag == PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_slots_in_use);
	ntklog_fill_slot(ntklog_get_slot(cpu, number), lock, tag, time, interrupt_snapshot);
	return number;
}

static noinline void ntklog_track_acquire_irqsave(const void *lock)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	unsigned long flags;

	local_irq_save(flags);
	ntklog_fill_slot_slow(cpu, lock, 0, time, ntklog_snapshot_interrupts());
	/* Not in an NMI, which may have interrupted an update of state. */
	if (!in_nmi() && READ_ONCE(cpu->state) < 0)
		ntklog_set_uncontended_count(cpu, ntklog_get_uncontended_count(cpu));
	local_irq_restore(flags);
}

/**
 * ntklog_track_spin_lock_acquire_slow() - slow path of an uncontended tracked acquisition
 * @lock: address of the lock, which is held
 *
 * An expired countdown usually makes the next release take the slow path. That release restarts the
 * countdown, because it divides by the sample rate anyway.
 *
 * Context: preemption off, after the acquisition has taken a slot; also NMI.
 */
void ntklog_track_spin_lock_acquire_slow(const void *lock)
{
	unsigned long slot_offset = ntklog_this_cpu_read_low_u16(ntklog_spin_lock_cpu.state);

	/* Interrupts may be on: a handler may call this function before the slot is filled. */
	if (likely(slot_offset <= PERF_SPIN_LOCK_DEPTH * PERF_SPIN_LOCK_SLOT_SIZE &&
		   !READ_ONCE(ntklog_spin_lock_in_transition) && !in_nmi())) {
		ntklog_fill_uncontended_slot(lock, slot_offset);
		ntklog_write_spin_lock_slot(slot_offset, interrupt_snapshot,
					    ntklog_snapshot_interrupts());
		this_cpu_write(ntklog_spin_lock_cpu.hold_limit, 0);
	} else {
		ntklog_track_acquire_irqsave(lock);
	}
}

/**
 * ntklog_log_spin_lock_acquire() - NT's PerfLogSpinLockAcquire for an uncontended acquisition
 * @lock: address of the lock, which is held
 *
 * Reads the clock once, so WaitTimeInCycles is 0.
 *
 * Context: preemption off, right after the acquisition; also NMI.
 */
notrace void ntklog_log_spin_lock_acquire(const void *lock)
{
	unsigned long slot_offset;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key)) {
		if (unlikely(ntklog_this_cpu_sub_is_negative(ntklog_spin_lock_cpu.state,
							     PERF_SPIN_LOCK_COUNTDOWN_ONE)))
			ntklog_count_spin_lock_acquire_slow();
	} else if (likely(ntklog_push_spin_lock(lock, &slot_offset))) {
		ntklog_write_spin_lock_slot(slot_offset, interrupt_snapshot,
					    ntklog_snapshot_interrupts());
	} else {
		ntklog_track_spin_lock_acquire_slow(lock);
	}
}
EXPORT_SYMBOL_GPL(ntklog_log_spin_lock_acquire);

/**
 * ntklog_log_contended_spin_lock() - NT's PerfLogSpinLockAcquire for a contended acquisition
 * @lock: address of the lock, which is held
 * @acquire_mode: WMI_SPINLOCK_*
 * @spin_count: number of additional tests of the lock, at least 1
 * @wait_start: state at the start of the wait
 *
 * Context: preemption off, right after the acquisition; also NMI.
 */
void ntklog_log_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				    const struct ntklog_spin_lock_wait_start *wait_start)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;
	u32 number;

	local_irq_save(flags);
	ntklog_count_wait(spin_count);
	if (static_branch_likely(&ntklog_spin_lock_tracking_key)) {
		ntklog_add_slots_in_use(1);
		number = ntklog_fill_slot_slow(cpu, lock, PERF_SPIN_LOCK_HAS_DETAILS, time,
					       wait_start->interrupt_snapshot);
		slot = ntklog_get_slot(cpu, number);
		slot->wait_time = ntklog_time_to_cycles(time) -
				  ntklog_time_to_cycles(wait_start->time);
		slot->acquire_mode = acquire_mode;
		cpu->overflow_slots->spin_counts[number] = spin_count;
	}
	local_irq_restore(flags);
}

static void ntklog_init_slot_details(struct ntklog_spin_lock_cpu *cpu, u32 number)
{
	struct ntklog_spin_lock_slot *slot = ntklog_get_slot(cpu, number);

	slot->lock |= PERF_SPIN_LOCK_HAS_DETAILS;
	slot->wait_time = 0;
	slot->acquire_mode = PERF_SPIN_LOCK_MODE_UNKNOWN;
	slot->interrupt_count = 0;
	cpu->overflow_slots->spin_counts[number] = 0;
}

/**
 * ntklog_count_interrupt_in_slots() - count an interrupt in the slots of this CPU
 *
 * The count may miss an interrupt that arrives while a slot is being filled or freed.
 *
 * Context: interrupts off; not NMI.
 */
notrace void ntklog_count_interrupt_in_slots(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_spin_lock_slot *slot;
	u32 number;

	for (number = ntklog_count_slots_in_use(cpu); number; number--) {
		slot = ntklog_get_slot(cpu, number);
		/* A slot without a lock is taken but not yet filled, or is being freed. */
		if (!slot->lock)
			continue;
		if (!(slot->lock & PERF_SPIN_LOCK_TAG_MASK))
			ntklog_init_slot_details(cpu, number);
		slot->interrupt_count++;
	}
}

static __always_inline u32 ntklog_count_slot_interrupts(const struct ntklog_spin_lock_slot *slot,
							u8 acquire_mode)
{
	bool has_details = slot->lock & PERF_SPIN_LOCK_HAS_DETAILS;

	/* NT's locks and contended acquisitions have a snapshot of the kernel's counters. */
	if (!PERF_SPIN_LOCK_KIND(acquire_mode) ||
	    (has_details && slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN))
		return ntklog_count_irqs_since(slot->interrupt_snapshot);
	return has_details ? slot->interrupt_count : 0;
}

/**
 * ntklog_log_spin_lock_convert() - record that a held lock has changed its acquire mode
 * @lock: address of the lock
 * @acquire_mode: WMI_SPINLOCK_EXECUTIVE_CONVERTED
 *
 * Restarts the hold time of the lock. Does nothing if the lock has no slot.
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the conversion.
 */
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;
	u32 number;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key))
		return;
	local_irq_save(flags);
	number = ntklog_find_slot_number(cpu, lock);
	if (number) {
		slot = ntklog_get_slot(cpu, number);
		if (!(slot->lock & PERF_SPIN_LOCK_TAG_MASK))
			ntklog_init_slot_details(cpu, number);
		slot->time = time;
		slot->acquire_mode = acquire_mode;
	}
	local_irq_restore(flags);
}

static __always_inline bool ntklog_hold_exceeds_threshold(const struct ntklog_spin_lock_slot *slot,
							  struct ntklog_time release_time)
{
	u32 hold_threshold = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_hold_threshold);

	return hold_threshold && release_time.low - slot->time.low > hold_threshold;
}

/* Test whether one of NT's sampling rules selects the release, by the current counts. */
static bool ntklog_slot_is_sampled(const struct ntklog_spin_lock_cpu *cpu,
				   const struct ntklog_spin_lock_slot *slot, u64 wait_words,
				   struct ntklog_time release_time)
{
	if (ntklog_hold_exceeds_threshold(slot, release_time))
		return true;
	if (wait_words >> 32)
		return ntklog_wait_is_sampled(wait_words >> 32);
	return ntklog_get_uncontended_count(cpu) %
		READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate) == 0;
}

static __always_inline u32 ntklog_get_acquire_depth(const struct ntklog_spin_lock_cpu *cpu)
{
	return ntklog_count_slots_in_use(cpu) - READ_ONCE(cpu->untracked_slots_in_use);
}

/* Also called in an NMI, because the fast path does not tag its slots as untracked there. */
static void ntklog_write_event_if_sampled(struct ntklog_spin_lock_cpu *cpu, u32 number,
					  u8 acquire_mode, struct ntklog_time time,
					  unsigned long caller)
{
	const struct ntklog_spin_lock_slot *slot = ntklog_get_slot(cpu, number);
	u8 mode = acquire_mode & ~PERF_SPIN_LOCK_LEAVES_WAITER;
	u64 wait_words =
		ntklog_get_slot_wait_words(slot, &cpu->overflow_slots->spin_counts[number], &mode);
	u8 rule = ntklog_count_and_sample_blocker(acquire_mode);

	if (!ntklog_slot_is_sampled(cpu, slot, wait_words, time)) {
		if (!rule || !ntklog_admit_blocker())
			return;
		rule |= WMI_SPINLOCK_RULE_BLOCKER_ONLY;
	}
	ntklog_write_wmi_spinlock(slot, wait_words,
				  ntklog_count_slot_interrupts(slot, acquire_mode),
				  PERF_PACK_RULE_MODE_DEPTH(rule, mode,
							    ntklog_get_acquire_depth(cpu)),
				  time, caller);
}

/*
 * Restart an expired countdown, and have the next release take the slow path if @count, the number
 * of uncontended acquisitions, is a multiple of @rate.
 *
 * @is_lock_held: this CPU still holds a lock with a slot. With no lock held, hold_limit need not be
 * 0: an uncontended acquisition changes the count, and the tag of a contended acquisition makes its
 * release take the slow path anyway.
 *
 * @state is the value from which the caller has computed @count; cpu->state may have changed since.
 */
static __always_inline void ntklog_update_sampling(struct ntklog_spin_lock_cpu *cpu, long state,
						   u32 count, u32 remainder, u32 rate,
						   bool is_lock_held)
{
	if (state < 0)
		ntklog_set_countdown(cpu, count,
				     ntklog_compute_countdown_to_sample(count, remainder, rate));
	ntklog_set_hold_limit(cpu, !remainder && is_lock_held);
}

/* The slot is that of an NT lock, uncontended, tracked and without a waiter. Not in an NMI. */
static __always_inline void
ntklog_release_topmost_slot(struct ntklog_spin_lock_cpu *cpu, struct ntklog_spin_lock_slot *slot,
			    const void *lock, u8 acquire_mode, struct ntklog_time time,
			    unsigned long caller)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate);
	long state = READ_ONCE(cpu->state);
	u32 count = ntklog_state_to_acquire_count(cpu, state);
	u32 remainder = count % rate;
	/* The number of @slot is its index, because no overflow slot is in use. */
	u32 depth = slot - cpu->slots - READ_ONCE(cpu->untracked_slots_in_use);

	/* Before the event, because its writing may count acquisitions of Linux' locks. */
	ntklog_update_sampling(cpu, state, count, remainder, rate, slot != &cpu->slots[1]);
	if (!remainder || ntklog_hold_exceeds_threshold(slot, time))
		ntklog_write_wmi_spinlock_fast(false, slot, (unsigned long)lock, 0,
					       ntklog_count_irqs_since(slot->interrupt_snapshot),
					       PERF_PACK_RULE_MODE_DEPTH(0, acquire_mode, depth),
					       time, caller);
	slot->lock = 0;
	ntklog_add_slots_in_use(-1);
}

/* Handle a release for which ntklog_release_topmost_slot() is not meant. */
static noinline void ntklog_release_any_slot(struct ntklog_spin_lock_cpu *cpu, const void *lock,
					     u8 acquire_mode, struct ntklog_time time,
					     unsigned long caller)
{
	u32 number = ntklog_find_slot_number(cpu, lock);
	u32 count, rate;
	long state;

	if (number) {
		if (!(ntklog_get_slot(cpu, number)->lock & PERF_SPIN_LOCK_UNTRACKED))
			ntklog_write_event_if_sampled(cpu, number, acquire_mode, time, caller);
		ntklog_remove_slot(cpu, number);
	} else if (READ_ONCE(cpu->locks_without_slot)) {
		this_cpu_dec(ntklog_spin_lock_cpu.locks_without_slot);
	} else if (READ_ONCE(ntklog_spin_lock_unmatched_is_expected)) {
		this_cpu_inc(ntklog_spin_lock_cpu.expected_unmatched_count);
	} else if (READ_ONCE(ntklog_spin_lock_may_take_slot) &&
		   !READ_ONCE(ntklog_spin_lock_in_transition)) {
		/* While tracking is not armed, a lock without a slot is no error. */
		this_cpu_inc(ntklog_spin_lock_cpu.unmatched_count);
	}
	/* Not in an NMI, which may have interrupted an update of state or hold_limit. */
	if (!in_nmi() && !READ_ONCE(cpu->hold_limit)) {
		rate = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_acquire_sample_rate);
		state = READ_ONCE(cpu->state);
		count = ntklog_state_to_acquire_count(cpu, state);
		ntklog_update_sampling(cpu, state, count, count % rate, rate,
				       ntklog_count_slots_in_use(cpu));
	}
}

/**
 * ntklog_track_spin_lock_release_slow() - slow path of a tracked release
 * @lock: address of the lock, which has been released
 * @acquire_mode: PERF_SPIN_LOCK_*, and WMI_SPINLOCK_* for a slot that has no acquire mode itself
 * @time_low: low half of the clock before the release
 * @time_high: high half of the clock before the release
 * @caller: return address of the unlock function
 *
 * Context: preemption off, also NMI; the tracking key was on.
 */
void ntklog_track_spin_lock_release_slow(const void *lock, u8 acquire_mode, u32 time_low,
					 u32 time_high, unsigned long caller)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = { .low = time_low, .high = time_high };
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = (void *)cpu->slots + (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED_MASK);
	if (likely(slot->lock == (unsigned long)lock &&
		   !(acquire_mode & (PERF_SPIN_LOCK_KIND_MASK | PERF_SPIN_LOCK_LEAVES_WAITER)) &&
		   !in_nmi()))
		ntklog_release_topmost_slot(cpu, slot, lock, acquire_mode, time, caller);
	else
		ntklog_release_any_slot(cpu, lock, acquire_mode, time, caller);
	local_irq_restore(flags);
}
