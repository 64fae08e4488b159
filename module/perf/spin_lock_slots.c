// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rare half of NT's tracking of spin locks: counts at which something is sampled, waits,
 * more than eight locks at once, releases out of order and those that are sampled. The
 * other half is inline in spin_lock.h, and here for NT's locks, whose inline code calls it.
 *
 * All else here that changes a processor's words runs on it with interrupts off, unless it is
 * offline.
 *
 * NT's locks are not taken in an NMI, but Linux' are, and it may have interrupted any of this.
 * What it takes gets a slot above all others and gives it back before it returns, so it leaves
 * slots, bytes in use and untracked_slots as it found them, whatever instruction of a change
 * of them it came between. The counts it would not leave so: out of line it does not touch
 * them, and what the inline half counts while they are being changed is forgotten.
 */

#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "../compat.h"
#include "spin_lock_sampled.h"
#include "spin_lock_slots.h"

/* None so far; the first acquisition is looked at. */
DEFINE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu) = {
	.next = 1, .sampled.next = 1 };
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_spin_lock_cpu);

static_assert(sizeof_field(struct ntklog_spin_lock_cpu, slot) < PERF_SPIN_LOCK_USED);

/*
 * Nothing is tracked yet, or any more: every acquisition is looked at. Written by one at a
 * time (struct ntklog_want), before all processors' words are made to follow.
 */
static bool ntklog_spin_lock_unarmed __read_mostly;

/* All hooks see both keys on: what is acquired now will be released there too. */
static bool ntklog_spin_lock_hooked __read_mostly;

/* Of somebody's locks only the releases are sure to come: see ntklog_join_spin_locks(). */
static bool ntklog_spin_lock_releases_only __read_mostly;

/* Not NT's: by default its rules are all there are. Any value at any time. */
u32 ntklog_spin_lock_blockers __read_mostly;
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_blockers);

/* RCU's, of when the slots were last given up. */
static unsigned long ntklog_spin_lock_off_state;

/* SpinLockAcquireCount less SpinLockContentionCount; it wraps as they do. */
static u32 ntklog_uncontended_count(const struct ntklog_spin_lock_cpu *cpu)
{
	return READ_ONCE(cpu->next) - 1 - (u32)(READ_ONCE(cpu->state) >> 16);
}

/* The greatest hold limit means never; one that holds so long is not over any threshold. */
static u32 ntklog_spin_lock_hold_limit(void)
{
	u32 threshold = READ_ONCE(ntklog_spin_lock_words.spin_lock_hold_threshold);

	return threshold && threshold < U32_MAX ? threshold + 1 : U32_MAX;
}

/**
 * ntklog_set_uncontended_count() - how many there were, and so when to look again
 * @cpu: the processor's
 * @count: SpinLockAcquireCount less SpinLockContentionCount
 *
 * Context: interrupts off, on the processor; or it is offline.
 */
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_words.spin_lock_acquire_sample_rate);
	u32 left = rate - count % rate;
	bool is_sampled = left == rate;

	/* At once while this count is a multiple: the next one is not, or is too. */
	if (is_sampled || READ_ONCE(ntklog_spin_lock_unarmed))
		left = 0;
	else	/* 0, after the count has wrapped, is a multiple of any rate. */
		left = min_t(unsigned long, min(left, -count), LONG_MAX / PERF_SPIN_LOCK_ONE);
	raw_write_seqcount_begin(&cpu->sequence);
	WRITE_ONCE(cpu->next, count + left);
	WRITE_ONCE(cpu->state, ((long)left - 1) * PERF_SPIN_LOCK_ONE +
			       (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED));
	raw_write_seqcount_end(&cpu->sequence);
	WRITE_ONCE(cpu->hold_limit, is_sampled ? 0 : ntklog_spin_lock_hold_limit());
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

/*
 * The processor's count has become one to look at. Not by an NMI, which may have interrupted
 * this very thing: the next acquisition looks.
 */
static void ntklog_look_at_count(struct ntklog_spin_lock_cpu *cpu)
{
	if (!in_nmi())
		ntklog_set_uncontended_count(cpu, ntklog_uncontended_count(cpu));
}

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
 * Context: as ntklog_log_spin_lock_acquire(), which has counted it.
 */
void ntklog_count_spin_lock_acquire_slowly(void)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	unsigned long flags;

	local_irq_save(flags);
	ntklog_look_at_count(cpu);
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

/*
 * The slot that has been taken is filled: with a tag if it is not to be tracked, or given
 * back. Returns its number, or 0.
 */
static u32 ntklog_fill_slot(struct ntklog_spin_lock_cpu *cpu, const void *lock,
			    unsigned long tag, struct ntklog_time time, u64 interrupts)
{
	bool unarmed = READ_ONCE(ntklog_spin_lock_unarmed);
	u32 number = ntklog_slots_in_use(cpu);
	struct ntklog_spin_lock_slot *slot = &cpu->slot[number];

	if (unarmed && !READ_ONCE(ntklog_spin_lock_hooked)) {
		/* Its release may not come here. */
		ntklog_change_slots_in_use(-1);
		return 0;
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
		return 0;
	}
	if (tag == PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_slots);
	slot->lock = (unsigned long)lock | tag;
	slot->time = time;
	slot->interrupts = interrupts;
	return number;
}

/**
 * ntklog_track_spin_lock_acquire_slowly() - the count is one to look at, or there is no room
 * @lock: the lock, now owned
 *
 * Context: as ntklog_log_spin_lock_acquire(), which has counted it and taken a slot.
 */
void ntklog_track_spin_lock_acquire_slowly(const void *lock)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_time time = ntklog_read_time();
	unsigned long flags;

	local_irq_save(flags);
	ntklog_look_at_count(cpu);
	ntklog_fill_slot(cpu, lock, 0, time, ntklog_note_interrupts());
	local_irq_restore(flags);
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
	struct ntklog_spin_lock_slot slot = {
		.lock = (unsigned long)lock | PERF_SPIN_LOCK_NOTED,
		.time = time,
		.interrupts = query->interrupts,
		.wait_time = ntklog_time_value(time) - ntklog_time_value(query->time),
		.acquire_mode = acquire_mode,
	};
	struct ntklog_spin_lock_release release = {
		.slot = &slot,
		.spins = spin_count,
		.interrupts = ntklog_interrupts_since(query->interrupts),
		.rule = WMI_SPINLOCK_RULE_WAIT,
		.acquire_mode = acquire_mode,
		.time = time,
		.caller = caller,
	};

	ntklog_write_spin_lock(&release);
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
	unsigned long flags;
	u32 number;

	local_irq_save(flags);
	ntklog_count_wait(spin_count);
	if (static_branch_likely(&ntklog_spin_lock_tracking_key)) {
		ntklog_change_slots_in_use(1);
		number = ntklog_fill_slot(cpu, lock, PERF_SPIN_LOCK_NOTED, time, query->interrupts);
		/* Of slot 0, if it got none, nobody reads them. */
		cpu->slot[number].wait_time = ntklog_time_value(time) -
					      ntklog_time_value(query->time);
		cpu->slot[number].acquire_mode = acquire_mode;
		cpu->spins[number] = spin_count;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_contended_spin_lock);

/* The number of a lock's slot, the most recent one's; 0: none. */
static u32 ntklog_find_slot(const struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	u32 number = ntklog_slots_in_use(cpu);

	while (number && (cpu->slot[number].lock & ~PERF_SPIN_LOCK_TAGS) != (unsigned long)lock)
		number--;
	return number;
}

/* What has been had at once has more to tell than it has a tag for. */
static void ntklog_note_slot(struct ntklog_spin_lock_cpu *cpu, u32 number)
{
	struct ntklog_spin_lock_slot *slot = &cpu->slot[number];

	slot->lock |= PERF_SPIN_LOCK_NOTED;
	slot->wait_time = 0;
	slot->acquire_mode = PERF_SPIN_LOCK_MODE_UNKNOWN;
	slot->heard = 0;
	cpu->spins[number] = 0;
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
	u32 number;

	for (number = ntklog_slots_in_use(cpu); number; number--) {
		/* Taken and not yet filled, or about to be given back. */
		if (!cpu->slot[number].lock)
			continue;
		if (!(cpu->slot[number].lock & PERF_SPIN_LOCK_TAGS))
			ntklog_note_slot(cpu, number);
		cpu->slot[number].heard++;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_locks_interrupted);

/* InterruptCount. */
static u32 ntklog_interrupts_of_slot(const struct ntklog_spin_lock_slot *slot, u8 acquire_mode)
{
	bool noted = slot->lock & PERF_SPIN_LOCK_NOTED;

	/* NT's, and who waited. */
	if (!PERF_SPIN_LOCK_WHOSE(acquire_mode) ||
	    (noted && slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN))
		return ntklog_interrupts_since(slot->interrupts);
	return noted ? slot->heard : 0;
}

/* The lock is no longer owned: those above move down. */
static void ntklog_give_slot_back(struct ntklog_spin_lock_cpu *cpu, u32 number)
{
	u32 above = ntklog_slots_in_use(cpu) - number;

	if (cpu->slot[number].lock & PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_dec(ntklog_spin_lock_cpu.untracked_slots);
	memmove(&cpu->slot[number], &cpu->slot[number + 1], above * sizeof(cpu->slot[0]));
	memmove(&cpu->spins[number], &cpu->spins[number + 1], above * sizeof(cpu->spins[0]));
	cpu->slot[number + above].lock = 0;
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
	unsigned long flags;
	u32 number;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key))
		return;
	local_irq_save(flags);
	number = ntklog_find_slot(cpu, lock);
	if (number) {
		if (!(cpu->slot[number].lock & PERF_SPIN_LOCK_TAGS))
			ntklog_note_slot(cpu, number);
		cpu->slot[number].time = time;
		cpu->slot[number].acquire_mode = acquire_mode;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_spin_lock_convert);

/* NT's three rules, each with the counts of this moment. */
static bool ntklog_slot_is_sampled(const struct ntklog_spin_lock_cpu *cpu, u32 number,
				   struct ntklog_time release_time)
{
	const struct event_trace_spinlock_information *information = &ntklog_spin_lock_words;
	u32 hold_threshold = READ_ONCE(information->spin_lock_hold_threshold);

	if (hold_threshold && release_time.low - cpu->slot[number].time.low > hold_threshold)
		return true;

	if (cpu->slot[number].lock & PERF_SPIN_LOCK_NOTED && cpu->spins[number])
		return ntklog_wait_is_sampled(cpu->spins[number]);

	return ntklog_uncontended_count(cpu) %
		READ_ONCE(information->spin_lock_acquire_sample_rate) == 0;
}

/* The rule for who made others wait, or none. Interrupts are off. */
static u8 ntklog_blocker_rule(u8 acquire_mode)
{
	u32 rate = READ_ONCE(ntklog_spin_lock_blockers);

	if (!(acquire_mode & PERF_SPIN_LOCK_LEAVES_WAITER) || !rate)
		return 0;
	if (this_cpu_inc_return(ntklog_spin_lock_cpu.blockers) % rate)
		return 0;
	return WMI_SPINLOCK_RULE_BLOCKER;
}

static void ntklog_write_if_sampled(struct ntklog_spin_lock_cpu *cpu, u32 number, u8 acquire_mode,
				    struct ntklog_spin_lock_release *release)
{
	release->rule = ntklog_blocker_rule(acquire_mode);
	if (!ntklog_slot_is_sampled(cpu, number, release->time)) {
		if (!release->rule)
			return;
		release->rule |= WMI_SPINLOCK_RULE_BLOCKER_ONLY;
	}
	ntklog_write_spin_lock(release);
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
	struct ntklog_spin_lock_release release = {
		.acquire_mode = acquire_mode & ~PERF_SPIN_LOCK_LEAVES_WAITER,
		.time = { .low = time_low, .high = time_high },
		.caller = caller,
	};
	unsigned long flags;
	u32 number;

	local_irq_save(flags);
	number = ntklog_find_slot(cpu, lock);
	if (number) {
		release.slot = &cpu->slot[number];
		release.spins = cpu->spins[number];
		release.interrupts = ntklog_interrupts_of_slot(release.slot, acquire_mode);
		release.depth = ntklog_slots_in_use(cpu) - READ_ONCE(cpu->untracked_slots);
		if (!(cpu->slot[number].lock & PERF_SPIN_LOCK_UNTRACKED))
			ntklog_write_if_sampled(cpu, number, acquire_mode, &release);
		ntklog_give_slot_back(cpu, number);
	} else if (READ_ONCE(cpu->without_slot)) {
		this_cpu_dec(ntklog_spin_lock_cpu.without_slot);
	} else if (READ_ONCE(ntklog_spin_lock_releases_only)) {
		this_cpu_inc(ntklog_spin_lock_cpu.before);
	} else if (READ_ONCE(ntklog_spin_lock_hooked) && !READ_ONCE(ntklog_spin_lock_unarmed)) {
		/* Before and after that it may have been acquired without hooks. */
		this_cpu_inc(ntklog_spin_lock_cpu.unmatched);
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_track_spin_lock_release_slowly);

/*
 * Call on each processor, by an interrupt, for only it may write its words; those that are
 * offline stay so meanwhile.
 */
typedef void (*ntklog_cpu_func_t)(struct ntklog_spin_lock_cpu *cpu);

static void ntklog_call_for_this_cpu(void *function)
{
	((ntklog_cpu_func_t)function)(this_cpu_ptr(&ntklog_spin_lock_cpu));
}

/*
 * Of the words of processors that are offline: sessions and parameters have no lock in common.
 * With interrupts off, since a reader of the counters waits for who writes the count.
 */
static DEFINE_RAW_SPINLOCK(ntklog_offline_lock);

static void ntklog_on_every_cpu(ntklog_cpu_func_t function)
{
	unsigned long flags;
	int cpu;

	cpus_read_lock();
	on_each_cpu(ntklog_call_for_this_cpu, function, true);
	raw_spin_lock_irqsave(&ntklog_offline_lock, flags);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			function(per_cpu_ptr(&ntklog_spin_lock_cpu, cpu));
	raw_spin_unlock_irqrestore(&ntklog_offline_lock, flags);
	cpus_read_unlock();
}

static void ntklog_look_again(struct ntklog_spin_lock_cpu *cpu)
{
	ntklog_set_uncontended_count(cpu, ntklog_uncontended_count(cpu));
	ntklog_choose_anew(cpu);
}

static void ntklog_empty_slots(struct ntklog_spin_lock_cpu *cpu)
{
	WRITE_ONCE(cpu->state, READ_ONCE(cpu->state) & ~PERF_SPIN_LOCK_USED);
	memset(cpu->slot, 0, sizeof(cpu->slot));
	cpu->untracked_slots = 0;
	cpu->without_slot = 0;
	ntklog_look_again(cpu);
}

/**
 * ntklog_look_at_spin_lock_parameters() - a parameter has changed
 *
 * Context: thread; may sleep. From its return on all processors sample by what there is now.
 */
void ntklog_look_at_spin_lock_parameters(void)
{
	ntklog_on_every_cpu(ntklog_look_again);
}

/**
 * ntklog_start_spin_lock_slots() - before the tracking key goes on
 *
 * Nobody has a slot, and nobody gets one without being looked at.
 *
 * Context: thread; may sleep. One at a time: see struct ntklog_want.
 */
void ntklog_start_spin_lock_slots(void)
{
	/*
	 * Who was in the tracking when it last went off has left. What a faulty owner
	 * has never released, or on another processor, is forgotten.
	 */
	cond_synchronize_rcu(ntklog_spin_lock_off_state);
	WRITE_ONCE(ntklog_spin_lock_unarmed, true);
	ntklog_on_every_cpu(ntklog_empty_slots);
}

/**
 * ntklog_arm_spin_lock_slots() - after the tracking key has gone on: begin to track
 *
 * The sites of a key do not switch at one instant: an acquisition may see it on and its
 * release, a moment later, still off. So none is tracked before all are sure to see it
 * on. Each section from before an acquisition to after its release has preemption off,
 * which makes it a reader of RCU's.
 *
 * Context: as ntklog_start_spin_lock_slots(); all processors run the new text.
 */
void ntklog_arm_spin_lock_slots(void)
{
	/* From now on what is acquired gets a slot, though an untracked one. */
	WRITE_ONCE(ntklog_spin_lock_hooked, true);
	/*
	 * Sections that began before have ended. The others have all of it: an acquisition
	 * that takes a slot, and a release that finds it.
	 */
	synchronize_rcu();
	/* Each processor's next acquisition is looked at, and so sees it. */
	WRITE_ONCE(ntklog_spin_lock_unarmed, false);
}

/**
 * ntklog_disarm_spin_lock_slots() - before the tracking key goes off: track nothing more
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_disarm_spin_lock_slots(void)
{
	WRITE_ONCE(ntklog_spin_lock_unarmed, true);
	ntklog_on_every_cpu(ntklog_look_again);
	/* What was tracked has been released, and those releases were hooked. */
	synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_hooked, false);
}

/**
 * ntklog_set_spin_lock_releases_only() - may releases come whose acquisitions have not?
 * @only: whether they may
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_set_spin_lock_releases_only(bool only)
{
	WRITE_ONCE(ntklog_spin_lock_releases_only, only);
}

/**
 * ntklog_stop_spin_lock_slots() - after the tracking key has gone off
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_stop_spin_lock_slots(void)
{
	ntklog_spin_lock_off_state = get_state_synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_unarmed, false);
}
