// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rare half of NT's tracking of spin locks: counts at which something is sampled, waits,
 * more than eight locks at once, releases out of order and those that are sampled. The
 * other half is inline in spin_lock.h, and here for NT's locks, whose inline code calls it.
 *
 * All else here that changes a processor's words runs on it with interrupts off, unless it is
 * offline; but for the acquisition that is looked at, which does as the inline half does.
 *
 * NT's locks are not taken in an NMI, but Linux' are, and it may have interrupted any of this.
 * What it takes gets a slot above all others and gives it back before it returns, so it leaves
 * slots, bytes in use and untracked_slots as it found them, whatever instruction of a change
 * of them it came between. The counts it would not leave so: out of line it does not touch
 * them, and what the inline half counts while they are being changed is forgotten.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "../compat.h"
#include "spin_lock_event.h"
#include "spin_lock_sampled.h"
#include "spin_lock_slots.h"

/* None so far; the first acquisition is looked at. */
DEFINE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu) = {
	.next = 1, .sampled.next = 1 };
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_spin_lock_cpu);

static_assert(sizeof_field(struct ntklog_spin_lock_cpu, slot) < PERF_SPIN_LOCK_USED);

/* Not NT's: by default its rules are all there are. Any value at any time. */
u32 ntklog_spin_lock_blockers __read_mostly;
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_blockers);

/* Each release is looked at while the count is a multiple of the rate and something is owned. */
static __always_inline void ntklog_set_hold_limit(struct ntklog_spin_lock_cpu *cpu, bool look)
{
	WRITE_ONCE(cpu->hold_limit, look ? 0 : READ_ONCE(ntklog_spin_lock_hold_limit));
}

/* How many there were, and so in how many more to look again. */
static __always_inline void ntklog_set_left(struct ntklog_spin_lock_cpu *cpu, u32 count, long left)
{
	raw_write_seqcount_begin(&cpu->sequence);
	WRITE_ONCE(cpu->next, count + 1 + (u32)left);
	WRITE_ONCE(cpu->state, left * PERF_SPIN_LOCK_ONE +
			       (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED));
	raw_write_seqcount_end(&cpu->sequence);
}

/*
 * Those before the next multiple, not counting that. 0, after the count has wrapped, is a multiple
 * of any rate.
 */
static __always_inline long ntklog_left(u32 count, u32 beyond, u32 rate)
{
	/* Each is looked at. */
	if (unlikely(READ_ONCE(ntklog_spin_lock_unarmed)))
		return -1;
	return min_t(unsigned long, min(rate - 1 - beyond, ~count), PERF_SPIN_LOCK_MOST_LEFT);
}

/**
 * ntklog_set_uncontended_count() - set how many there were
 * @cpu: the processor's
 * @count: SpinLockAcquireCount less SpinLockContentionCount
 *
 * Context: interrupts off, on the processor; or it is offline.
 */
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_words.spin_lock_acquire_sample_rate);
	u32 beyond = count % rate;

	ntklog_set_left(cpu, count, ntklog_left(count, beyond, rate));
	ntklog_set_hold_limit(cpu, !beyond && ntklog_slots_in_use(cpu));
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_set_uncontended_count);

/**
 * ntklog_spin_lock_acquire_count() - NT's SpinLockAcquireCount
 * @number: of the processor
 *
 * Context: any.
 * Return: the count, which wraps.
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
 * ntklog_spin_lock_slots_in_use() - spin locks that a processor owns and that have a slot
 * @number: of the processor
 *
 * Context: any. A moment's; 0 while nothing is tracked or sampled.
 * Return: so many.
 */
u32 ntklog_spin_lock_slots_in_use(int number)
{
	const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

	return (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED) / PERF_SPIN_LOCK_SLOT +
	       READ_ONCE(cpu->sampled_in_use);
}

/**
 * ntklog_last_spin_lock() - the last acquired of those that this processor owns
 *
 * Context: interrupts off.
 * Return: the lock; NULL if none has a slot.
 */
const void *ntklog_last_spin_lock(void)
{
	const struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	unsigned long lock = cpu->slot[ntklog_slots_in_use(cpu)].lock;

	return (const void *)(lock & ~PERF_SPIN_LOCK_TAGS);
}

/**
 * ntklog_count_spin_lock_acquire_slowly() - the count is one to look at
 *
 * Nobody samples what is only counted: there is nothing to look at before the tracking begins,
 * which sets the count anew.
 *
 * Context: as ntklog_log_spin_lock_acquire(), which has counted it.
 */
void ntklog_count_spin_lock_acquire_slowly(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	unsigned long flags;

	/* Not an NMI, which may have interrupted this very thing: the next acquisition looks. */
	if (in_nmi())
		return;
	local_irq_save(flags);
	/*
	 * Unless an interrupt between the acquisition and this has. Who has seen the tracking key
	 * off as it went on, so late that others are tracked already, has the next one look.
	 */
	if (READ_ONCE(cpu->state) < 0)
		ntklog_set_left(cpu, ntklog_uncontended_count(cpu),
				READ_ONCE(ntklog_spin_lock_unarmed) ||
				static_key_enabled(&ntklog_spin_lock_tracking_key) ?
				-1 : PERF_SPIN_LOCK_MOST_LEFT);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_count_spin_lock_acquire_slowly);

/*
 * One instruction, as for untracked_slots, without_slot and blockers below: an NMI counts in the
 * same words. Only ntklog_empty_slots() stores them, while nobody is in the hooks.
 */
static void ntklog_change_slots_in_use(int slots)
{
	this_cpu_add(ntklog_spin_lock_cpu.state, slots * PERF_SPIN_LOCK_SLOT);
}

/* The last one in use; the first, which nobody has: none is. */
static struct ntklog_spin_lock_slot *ntklog_last_slot(struct ntklog_spin_lock_cpu *cpu)
{
	return (void *)cpu->slot + (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED);
}

/* Additional tests of the lock, of a slot that is noted. */
static u32 *ntklog_spins_of(struct ntklog_spin_lock_cpu *cpu,
			    const struct ntklog_spin_lock_slot *slot)
{
	return &cpu->spins[slot - cpu->slot];
}

static __always_inline void ntklog_fill_slot(struct ntklog_spin_lock_slot *slot, const void *lock,
					     unsigned long tag, struct ntklog_time time,
					     u64 interrupts)
{
	slot->lock = (unsigned long)lock | tag;
	slot->time = time;
	slot->interrupts = interrupts;
}

/*
 * The slot that has been taken is filled: with a tag if it is not to be tracked, or given
 * back. Returns it, or the first one, which nobody has and nobody reads.
 */
static noinline struct ntklog_spin_lock_slot *
ntklog_fill_any_slot(struct ntklog_spin_lock_cpu *cpu, const void *lock, unsigned long tag,
		     struct ntklog_time time, u64 interrupts)
{
	bool unarmed = READ_ONCE(ntklog_spin_lock_unarmed);
	u32 number = ntklog_slots_in_use(cpu);

	if (unarmed && !READ_ONCE(ntklog_spin_lock_hooked)) {
		/* Its release may not come here. */
		ntklog_change_slots_in_use(-1);
		return cpu->slot;
	}
	if (unarmed) {
		tag = PERF_SPIN_LOCK_UNTRACKED;
	} else if (in_nmi() ||
		   number - READ_ONCE(cpu->untracked_slots) > PERF_SPIN_LOCK_DEPTH) {
		/* untracked_slots may be half changed by what an NMI has interrupted. */
		this_cpu_inc(ntklog_spin_lock_cpu.untracked);
		tag = PERF_SPIN_LOCK_UNTRACKED;
	}
	if (number > PERF_SPIN_LOCK_SLOTS) {
		ntklog_change_slots_in_use(-1);
		this_cpu_inc(ntklog_spin_lock_cpu.without_slot);
		return cpu->slot;
	}
	if (tag == PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_slots);
	ntklog_fill_slot(&cpu->slot[number], lock, tag, time, interrupts);
	return &cpu->slot[number];
}

/* Of more than eight, while tracking begins or ends, or by an NMI. */
static noinline void ntklog_track_any_acquire(const void *lock)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	unsigned long flags;

	local_irq_save(flags);
	ntklog_fill_any_slot(cpu, lock, 0, time, ntklog_note_interrupts());
	/* As in ntklog_count_spin_lock_acquire_slowly(). */
	if (!in_nmi() && READ_ONCE(cpu->state) < 0)
		ntklog_set_uncontended_count(cpu, ntklog_uncontended_count(cpu));
	local_irq_restore(flags);
}

/**
 * ntklog_track_spin_lock_acquire_slowly() - the count is one to look at, or there is no room
 * @lock: the lock, now owned
 *
 * As long as the count is not set on each acquisition comes here: the first release that is
 * looked at does it, for it divides by the rate anyway.
 *
 * Context: as ntklog_log_spin_lock_acquire(), which has counted it and taken a slot.
 */
void ntklog_track_spin_lock_acquire_slowly(const void *lock)
{
	unsigned long used = ntklog_this_cpu_low_half(ntklog_spin_lock_cpu.state);

	/* As the inline half, and like that it may be interrupted by who does the same. */
	if (likely(used <= PERF_SPIN_LOCK_DEPTH * PERF_SPIN_LOCK_SLOT &&
		   !READ_ONCE(ntklog_spin_lock_unarmed) && !in_nmi())) {
		ntklog_fill_plain_spin_lock_slot(lock, used);
		ntklog_write_spin_lock_slot(used, interrupts, ntklog_note_interrupts());
		/* Its release is looked at. */
		this_cpu_write(ntklog_spin_lock_cpu.hold_limit, 0);
	} else {
		ntklog_track_any_acquire(lock);
	}
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_track_spin_lock_acquire_slowly);

/**
 * ntklog_log_spin_lock_acquire() - NT's PerfLogSpinLockAcquire, of a lock had at once
 * @lock: the lock, now owned
 *
 * Tracked, or only counted. One reading of the clock is both when it was asked for and when it was
 * owned: NT reads it twice, but what it measures then is the reading itself. WaitTimeInCycles is 0.
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the acquisition.
 */
notrace void ntklog_log_spin_lock_acquire(const void *lock)
{
	unsigned long used;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key)) {
		if (unlikely(ntklog_this_cpu_sub_is_negative(ntklog_spin_lock_cpu.state,
							     PERF_SPIN_LOCK_ONE)))
			ntklog_count_spin_lock_acquire_slowly();
	} else if (likely(ntklog_push_spin_lock(lock, &used))) {
		ntklog_write_spin_lock_slot(used, interrupts, ntklog_note_interrupts());
	} else {
		ntklog_track_spin_lock_acquire_slowly(lock);
	}
}
EXPORT_SYMBOL_GPL(ntklog_log_spin_lock_acquire);

static void ntklog_count_wait(u32 spin_count)
{
	this_cpu_inc(ntklog_spin_lock_cpu.contention_count);
	this_cpu_add(ntklog_spin_lock_cpu.spin_count, spin_count);
}

/* NT's rule for who waited, with the count of this moment. */
static bool ntklog_wait_is_sampled(u32 spin_count)
{
	const struct event_trace_spinlock_information *information = &ntklog_spin_lock_words;

	return spin_count >= READ_ONCE(information->spin_lock_spin_threshold) &&
	       this_cpu_read(ntklog_spin_lock_cpu.contention_count) %
	       READ_ONCE(information->spin_lock_contention_sample_rate) == 0;
}

/**
 * ntklog_count_spin_lock_wait() - count a wait of a lock that is not tracked
 * @spin_count: additional tests of the lock, at least 1
 *
 * Context: interrupts off, right after the acquisition.
 * Return: whether it is one that NT would write.
 */
notrace bool ntklog_count_spin_lock_wait(u32 spin_count)
{
	ntklog_count_wait(spin_count);
	return ntklog_wait_is_sampled(spin_count);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_count_spin_lock_wait);

/**
 * ntklog_log_spin_lock_wait() - write the event of a wait of which the release is not seen
 * @lock: the lock, now owned
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_LINUX_*
 * @spin_count: as ntklog_count_spin_lock_wait() was told
 * @query: what ntklog_query_spin_lock() noted before
 * @caller: who asked for the lock
 *
 * Context: interrupts off, right after the acquisition.
 */
notrace void ntklog_log_spin_lock_wait(const void *lock, u8 acquire_mode, u32 spin_count,
				       const struct ntklog_spin_lock_query *query,
				       unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot slot = { .lock = (unsigned long)lock, .time = time };
	u32 wait_time = ntklog_time_value(time) - ntklog_time_value(query->time);

	ntklog_write_spin_lock(&slot, PERF_SPIN_LOCK_WAIT(spin_count, wait_time),
			       ntklog_interrupts_since(query->interrupts),
			       PERF_SPIN_LOCK_SAMPLE(WMI_SPINLOCK_RULE_WAIT, acquire_mode, 0),
			       time, caller);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_spin_lock_wait);

/**
 * ntklog_log_contended_spin_lock() - NT's PerfLogSpinLockAcquire, of a lock waited for
 * @lock: the lock, now owned
 * @acquire_mode: WMI_SPINLOCK_*
 * @spin_count: additional tests of the lock, at least 1
 * @query: what ntklog_query_spin_lock() noted before
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the acquisition.
 */
void ntklog_log_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				    const struct ntklog_spin_lock_query *query)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	ntklog_count_wait(spin_count);
	if (static_branch_likely(&ntklog_spin_lock_tracking_key)) {
		ntklog_change_slots_in_use(1);
		slot = ntklog_fill_any_slot(cpu, lock, PERF_SPIN_LOCK_NOTED, time,
					    query->interrupts);
		slot->wait_time = ntklog_time_value(time) - ntklog_time_value(query->time);
		slot->acquire_mode = acquire_mode;
		*ntklog_spins_of(cpu, slot) = spin_count;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_contended_spin_lock);

/* A lock's slot, the most recent one's; NULL: none. */
static struct ntklog_spin_lock_slot *ntklog_find_slot(struct ntklog_spin_lock_cpu *cpu,
						      const void *lock)
{
	struct ntklog_spin_lock_slot *slot;

	for (slot = ntklog_last_slot(cpu); slot != cpu->slot; slot--)
		if ((slot->lock & ~PERF_SPIN_LOCK_TAGS) == (unsigned long)lock)
			return slot;
	return NULL;
}

/* What has been had at once has more to tell than it has a tag for. */
static void ntklog_note_slot(struct ntklog_spin_lock_cpu *cpu, struct ntklog_spin_lock_slot *slot)
{
	slot->lock |= PERF_SPIN_LOCK_NOTED;
	slot->wait_time = 0;
	slot->acquire_mode = PERF_SPIN_LOCK_MODE_UNKNOWN;
	slot->heard = 0;
	*ntklog_spins_of(cpu, slot) = 0;
}

/**
 * ntklog_spin_locks_interrupted() - an interrupt begins
 *
 * While Linux' own locks are tracked each interrupt is heard of but NMIs, and noted in the slots
 * of what it interrupts. So who acquires has nothing to note: there are a dozen counters of
 * interrupts, and next to none between an acquisition and its release. Of NT's locks, which know
 * the counters, nobody asks for it. One that comes while a slot is being filled or given back is
 * lost: the lock has been owned for two instructions, or is about to be released.
 *
 * Context: interrupts off; not NMI.
 */
notrace void ntklog_spin_locks_interrupted(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_spin_lock_slot *slot;

	for (slot = ntklog_last_slot(cpu); slot != cpu->slot; slot--) {
		/* Taken and not yet filled, or about to be given back. */
		if (!slot->lock)
			continue;
		if (!(slot->lock & PERF_SPIN_LOCK_TAGS))
			ntklog_note_slot(cpu, slot);
		slot->heard++;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_locks_interrupted);

/* InterruptCount. */
static __always_inline u32 ntklog_interrupts_of_slot(const struct ntklog_spin_lock_slot *slot,
						     u8 acquire_mode)
{
	bool noted = slot->lock & PERF_SPIN_LOCK_NOTED;

	/* NT's, and who waited. */
	if (!PERF_SPIN_LOCK_WHOSE(acquire_mode) ||
	    (noted && slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN))
		return ntklog_interrupts_since(slot->interrupts);
	return noted ? slot->heard : 0;
}

/* The lock is no longer owned: those above move down. */
static void ntklog_give_slot_back(struct ntklog_spin_lock_cpu *cpu,
				  struct ntklog_spin_lock_slot *slot)
{
	struct ntklog_spin_lock_slot *last = ntklog_last_slot(cpu);
	u32 *spins = ntklog_spins_of(cpu, slot);

	if (slot->lock & PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_dec(ntklog_spin_lock_cpu.untracked_slots);
	if (slot != last) {
		memmove(slot, slot + 1, (last - slot) * sizeof(*slot));
		memmove(spins, spins + 1, (last - slot) * sizeof(*spins));
	}
	last->lock = 0;
	ntklog_change_slots_in_use(-1);
}

/**
 * ntklog_log_spin_lock_convert() - a tracked lock is now owned in another way
 * @lock: the lock
 * @acquire_mode: WMI_SPINLOCK_EXECUTIVE_CONVERTED
 *
 * Its acquisition counts from now. One that is not tracked is left so.
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the conversion.
 */
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key))
		return;
	local_irq_save(flags);
	slot = ntklog_find_slot(cpu, lock);
	if (slot) {
		if (!(slot->lock & PERF_SPIN_LOCK_TAGS))
			ntklog_note_slot(cpu, slot);
		slot->time = time;
		slot->acquire_mode = acquire_mode;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_spin_lock_convert);

static __always_inline bool ntklog_slot_is_held_long(const struct ntklog_spin_lock_slot *slot,
						     struct ntklog_time release_time)
{
	u32 hold_threshold = READ_ONCE(ntklog_spin_lock_words.spin_lock_hold_threshold);

	return hold_threshold && release_time.low - slot->time.low > hold_threshold;
}

/* NT's three rules, each with the counts of this moment. */
static bool ntklog_slot_is_sampled(const struct ntklog_spin_lock_cpu *cpu,
				   const struct ntklog_spin_lock_slot *slot, u64 wait,
				   struct ntklog_time release_time)
{
	if (ntklog_slot_is_held_long(slot, release_time))
		return true;
	if (wait >> 32)
		return ntklog_wait_is_sampled(wait >> 32);
	return ntklog_uncontended_count(cpu) %
		READ_ONCE(ntklog_spin_lock_words.spin_lock_acquire_sample_rate) == 0;
}

/* The rule for who made others wait, or none. Interrupts are off. */
static u8 ntklog_blocker_rule(u8 acquire_mode)
{
	u32 rate;

	if (likely(!(acquire_mode & PERF_SPIN_LOCK_LEAVES_WAITER)))
		return 0;
	rate = READ_ONCE(ntklog_spin_lock_blockers);
	if (!rate)
		return 0;
	if (this_cpu_inc_return(ntklog_spin_lock_cpu.blockers) % rate)
		return 0;
	return WMI_SPINLOCK_RULE_BLOCKER;
}

/* AcquireDepth of the last one. */
static __always_inline u32 ntklog_acquire_depth(const struct ntklog_spin_lock_cpu *cpu)
{
	return ntklog_slots_in_use(cpu) - READ_ONCE(cpu->untracked_slots);
}

static void ntklog_write_if_sampled(struct ntklog_spin_lock_cpu *cpu,
				    const struct ntklog_spin_lock_slot *slot, u8 acquire_mode,
				    struct ntklog_time time, unsigned long caller)
{
	u8 mode = acquire_mode & ~PERF_SPIN_LOCK_LEAVES_WAITER;
	u64 wait = ntklog_slot_wait(slot, ntklog_spins_of(cpu, slot), &mode);
	u8 rule = ntklog_blocker_rule(acquire_mode);

	if (!ntklog_slot_is_sampled(cpu, slot, wait, time)) {
		if (!rule)
			return;
		rule |= WMI_SPINLOCK_RULE_BLOCKER_ONLY;
	}
	ntklog_write_spin_lock(slot, wait, ntklog_interrupts_of_slot(slot, acquire_mode),
			       PERF_SPIN_LOCK_SAMPLE(rule, mode, ntklog_acquire_depth(cpu)), time,
			       caller);
}

/*
 * When to look next. Each release is looked at while the count is a multiple of the rate. No more,
 * if it is none, or if nothing is owned: what is released next has then been acquired first, which
 * counts, or waited for, which is looked at anyway. @state is what the count was made of: an NMI
 * since then does not have a countdown set that is not over.
 */
static __always_inline void ntklog_look_next(struct ntklog_spin_lock_cpu *cpu, long state,
					     u32 count, u32 beyond, u32 rate, bool is_owned)
{
	if (state < 0)
		ntklog_set_left(cpu, count, ntklog_left(count, beyond, rate));
	ntklog_set_hold_limit(cpu, !beyond && is_owned);
}

/*
 * NT's, the one acquired last, had at once, tracked, and nobody was left waiting: what nearly all
 * are that are sampled. Not an NMI's.
 */
static __always_inline void
ntklog_release_usual_slot(struct ntklog_spin_lock_cpu *cpu, struct ntklog_spin_lock_slot *slot,
			  const void *lock, u8 acquire_mode, struct ntklog_time time,
			  unsigned long caller)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_words.spin_lock_acquire_sample_rate);
	long state = READ_ONCE(cpu->state);
	u32 count = ntklog_count_of_state(cpu, state);
	u32 beyond = count % rate;

	/* First: what is called to write an event may count locks of Linux'. */
	ntklog_look_next(cpu, state, count, beyond, rate, slot != &cpu->slot[1]);
	if (!beyond || ntklog_slot_is_held_long(slot, time))
		ntklog_write_usual_spin_lock(false, slot, (unsigned long)lock, 0,
					     ntklog_interrupts_since(slot->interrupts),
					     PERF_SPIN_LOCK_SAMPLE(0, acquire_mode,
								   ntklog_acquire_depth(cpu)),
					     time, caller);
	slot->lock = 0;
	ntklog_change_slots_in_use(-1);
}

/* Any other: maybe it waited, or was not the last one acquired, is not tracked or has no slot. */
static noinline void ntklog_release_any_slot(struct ntklog_spin_lock_cpu *cpu, const void *lock,
					     u8 acquire_mode, struct ntklog_time time,
					     unsigned long caller)
{
	struct ntklog_spin_lock_slot *slot = ntklog_find_slot(cpu, lock);
	u32 count, rate;
	long state;

	if (slot) {
		if (!(slot->lock & PERF_SPIN_LOCK_UNTRACKED))
			ntklog_write_if_sampled(cpu, slot, acquire_mode, time, caller);
		ntklog_give_slot_back(cpu, slot);
	} else if (READ_ONCE(cpu->without_slot)) {
		this_cpu_dec(ntklog_spin_lock_cpu.without_slot);
	} else if (READ_ONCE(ntklog_spin_lock_releases_only)) {
		this_cpu_inc(ntklog_spin_lock_cpu.before);
	} else if (READ_ONCE(ntklog_spin_lock_hooked) && !READ_ONCE(ntklog_spin_lock_unarmed)) {
		/* Before and after that it may have been acquired without hooks. */
		this_cpu_inc(ntklog_spin_lock_cpu.unmatched);
	}
	/* An NMI does not tell: it may have interrupted who is changing the words. */
	if (!in_nmi() && !READ_ONCE(cpu->hold_limit)) {
		rate = READ_ONCE(ntklog_spin_lock_words.spin_lock_acquire_sample_rate);
		state = READ_ONCE(cpu->state);
		count = ntklog_count_of_state(cpu, state);
		ntklog_look_next(cpu, state, count, count % rate, rate, ntklog_slots_in_use(cpu));
	}
}

/**
 * ntklog_track_spin_lock_release_slowly() - forget an acquisition, and maybe write it
 * @lock: the lock, let go already
 * @acquire_mode: WMI_SPINLOCK_*, if none is noted, and PERF_SPIN_LOCK_*
 * @time_low: when, from before that
 * @time_high: its high half
 * @caller: where the function that releases returns to
 *
 * Context: IRQL >= DISPATCH_LEVEL, before the IRQL is lowered; the tracking key was on.
 */
void ntklog_track_spin_lock_release_slowly(const void *lock, u8 acquire_mode, u32 time_low,
					   u32 time_high, unsigned long caller)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = { .low = time_low, .high = time_high };
	struct ntklog_spin_lock_slot *slot;
	unsigned long flags;

	local_irq_save(flags);
	slot = ntklog_last_slot(cpu);
	if (likely(slot->lock == (unsigned long)lock &&
		   !(acquire_mode & (PERF_SPIN_LOCK_WHOSE_MASK | PERF_SPIN_LOCK_LEAVES_WAITER)) &&
		   !in_nmi()))
		ntklog_release_usual_slot(cpu, slot, lock, acquire_mode, time, caller);
	else
		ntklog_release_any_slot(cpu, lock, acquire_mode, time, caller);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_track_spin_lock_release_slowly);
