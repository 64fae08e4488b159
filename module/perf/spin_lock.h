/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_H
#define _NTKLOG_PERF_SPIN_LOCK_H

/*
 * Counting, tracking and sampling of spin locks. The callers are the lock hooks, the debugfs files
 * for parameters and counters, and the tracepoint.
 *
 * The fast paths run for each acquisition and release and are inline here, because a call would
 * cost about as much as they do. NT's locks are inlined into drivers and call
 * ntklog_log_spin_lock_acquire(), which contains the fast path. The slow paths are in
 * spin_lock_slots.c. They decide by NT's exact rules; the fast paths only detect when a decision is
 * needed.
 */

#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/types.h>
#include <ntklog/spin_lock.h>

#include "../ground/clock.h"
#include "information.h"
#include "interrupt_count.h"
#include "this_cpu.h"

struct etw_rundown_event;

/* Depth of tracking: NT tracks at most eight held locks of a CPU. */
#define PERF_SPIN_LOCK_DEPTH	8

/* Number of locks that a CPU can hold with a slot for each. */
#define PERF_SPIN_LOCK_SLOTS	63

/* Number of sampled Linux locks that a CPU can hold at the same time. */
#define PERF_SAMPLED_SPIN_LOCKS	16

/*
 * Slots beyond the limit. A context takes its slot before it finds that the limit is exceeded;
 * there are four contexts: task, softirq, hard interrupt and NMI.
 */
#define PERF_SPIN_LOCK_OVERFLOW_SLOTS	4

/*
 * slot->acquire_mode after an interrupt has added details to the slot: the interrupt does not know
 * the mode, and the release supplies it.
 */
#define PERF_SPIN_LOCK_MODE_UNKNOWN	0xff

/*
 * Tags in the low two bits of slot->lock; lock addresses are multiples of four. NOTED: the slot has
 * details (wait_time, acquire_mode, interrupt_count, spins). UNTRACKED: the slot is only there so
 * that the release finds it.
 */
#define PERF_SPIN_LOCK_HAS_DETAILS		1UL
#define PERF_SPIN_LOCK_UNTRACKED	2UL
#define PERF_SPIN_LOCK_TAGS		3UL

/*
 * Kind of lock, in the two high bits of a hook's acquire mode. The kind selects the event group. It
 * is 0 for NT's locks. The records use these two bits for something else.
 */
#define PERF_SPIN_LOCK_LINUX_SPIN	0x40
#define PERF_SPIN_LOCK_LINUX_RW		0x80
#define PERF_SPIN_LOCK_KIND(_mode)	((_mode) >> 6)
#define PERF_SPIN_LOCK_KIND_MASK	0xc0

/* Also in the acquire mode, at a release: a CPU waits for the lock. */
#define PERF_SPIN_LOCK_LEAVES_WAITER	0x20

/**
 * struct ntklog_spin_lock_wait_start - state at the start of a wait
 * @time: clock at that moment
 * @interrupts: interrupt counters at that moment, from ntklog_snapshot_interrupts()
 */
struct ntklog_spin_lock_wait_start {
	struct ntklog_time time;
	u64 interrupts;
};

/**
 * struct ntklog_spin_lock_slot - one acquisition of a lock that this CPU holds
 * @lock: address of the lock, and PERF_SPIN_LOCK_* tags; 0 if the slot is free or not yet filled
 * @time: clock at the start of the hold
 * @interrupts: interrupt counters, from ntklog_snapshot_interrupts(), at the start of the wait or
 *	else of the hold; unused for uncontended Linux locks, see ntklog_count_interrupt_in_slots()
 * @wait_time: duration of the wait, in cycles; valid with PERF_SPIN_LOCK_HAS_DETAILS
 * @acquire_mode: WMI_SPINLOCK_* or PERF_SPIN_LOCK_MODE_UNKNOWN; valid with
 *	PERF_SPIN_LOCK_HAS_DETAILS. Without this tag the release supplies the mode
 * @interrupt_count: number of interrupts that ntklog_count_interrupt_in_slots() has counted during
 *	the hold; valid with PERF_SPIN_LOCK_HAS_DETAILS
 */
struct ntklog_spin_lock_slot {
	unsigned long lock;
	struct ntklog_time time;
	u64 interrupts;
	u32 wait_time;
	u32 acquire_mode : 8;
	u32 interrupt_count : 24;
};

/**
 * struct ntklog_sampled_spin_locks - state of mode "sampled"
 * @sample_at_count: number of uncontended acquisitions at which sampled_countdown becomes negative
 * @countdown_excess: number of further acquisitions until the chosen one, after sampled_countdown
 *	has become negative; 0 if that acquisition is the chosen one. Not 0 only where the distance
 *	exceeds 31 bits
 * @interval_rest: number of acquisitions between the chosen one and the end of its interval; the
 *	length of an interval is the acquire sample rate
 * @random: state of the random number generator that chooses one acquisition of each interval
 * @choice: PERF_CHOOSE_BY_RATE, except during the self-test
 * @slot: slots of the chosen locks that are held, the first sampled_in_use of them
 * @spins: for each slot, the SpinCount
 * @nested: for each slot, the number of later shared acquisitions of the same lock that were not
 *	chosen. A u8 suffices, because each held lock takes one of the 255 levels of preempt_count
 *
 * Accessed by this CPU only, with interrupts off. NMI handlers do not access it.
 */
struct ntklog_sampled_spin_locks {
	u32 sample_at_count;
	u32 interval_rest;
	u64 countdown_excess;
	u32 random;
	u8 choice;
	struct ntklog_spin_lock_slot slot[PERF_SAMPLED_SPIN_LOCKS];
	u32 spins[PERF_SAMPLED_SPIN_LOCKS];
	u8 nested[PERF_SAMPLED_SPIN_LOCKS];
};

/*
 * Layout of the word state. Bits 0 to 15: size in bytes of the slots in use, which is the offset of
 * the topmost slot, so that no instruction is needed to compute it. The other bits: countdown of
 * uncontended acquisitions.
 */
#define PERF_SPIN_LOCK_SLOT_SIZE	((long)sizeof(struct ntklog_spin_lock_slot))
#define PERF_SPIN_LOCK_USED_MASK	0xFFFFL
#define PERF_SPIN_LOCK_COUNTDOWN_ONE	0x10000L
/* The largest countdown that fits into the word. */
#define PERF_SPIN_LOCK_COUNTDOWN_MAX	(LONG_MAX / PERF_SPIN_LOCK_COUNTDOWN_ONE)

/**
 * struct ntklog_spin_lock_cpu - per-CPU state of the spin lock instrumentation
 * @sampled_in_use: number of slots in use in @sampled. Must be the first member, because assembler
 *	code accesses it
 * @sampled_countdown: countdown of uncontended acquisitions of sampled locks; the acquisition that
 *	makes it negative takes the slow path
 * @state: size of the slots in use, and countdown of uncontended acquisitions; see
 *	PERF_SPIN_LOCK_USED_MASK and PERF_SPIN_LOCK_COUNTDOWN_ONE. The acquisition that makes the
 *	word negative takes the slow path. One subtraction thus counts the acquisition, takes a slot
 *	and tests for the slow path
 * @hold_limit: releases after a hold of at least this many cycles take the slow path. Usually
 *	SpinLockHoldThreshold + 1. It is 0 while all releases must take the slow path. This begins
 *	with the acquisition that makes the uncontended count a multiple of the sample rate. It ends
 *	with the first release that finds another count or leaves no lock held
 * @sample_at_count: uncontended count at which @state becomes negative; see
 *	ntklog_uncontended_count()
 * @contention_count: NT's SpinLockContentionCount; wraps
 * @spin_count: NT's SpinLockSpinCount; wraps
 * @writing: this CPU is writing an event with code that may take locks; these locks are tracked but
 *	write no events
 * @untracked_slots: number of slots in use with PERF_SPIN_LOCK_UNTRACKED: acquired while tracking
 *	was being enabled or disabled, while eight other locks were tracked, or in an NMI
 * @without_slot: number of locks that are held without a slot
 * @sequence: lets other CPUs read @sample_at_count and @state consistently
 * @untracked: acquisitions that were not tracked, because eight other locks were, because they were
 *	made in an NMI, or because all slots of @sampled were in use
 * @unmatched: releases of locks that this CPU has not acquired
 * @unmatched_expected: releases without a slot while hooks of Linux locks were being attached or
 *	detached; these locks may have been acquired without a hook
 * @suppressed: events not written, because another one was being written, RCU was not watching, or
 *	in an NMI
 * @events: events written to at least one consumer
 * @blocker_count: releases that left a waiter behind, while they are sampled; wraps
 * @slot: the slots. Slot 0 is never used; the first slot in use is slot 1. In a free slot,
 *	or one that is taken but not yet filled, lock is 0: while tracking is enabled or disabled,
 *	an interrupt handler may acquire without a slot and then search for one at its release
 * @spins: for each slot with PERF_SPIN_LOCK_HAS_DETAILS, the SpinCount
 * @sampled: state of mode "sampled"; together with the first two members independent of @slot
 *
 * Only the CPU itself writes these fields; any CPU may read them for the counters. The slots form a
 * stack, except for releases out of order. The fast paths, and the slow path of an uncontended
 * tracked acquisition, may be interrupted at any instruction; the other slow paths run with
 * interrupts off.
 *
 * An interrupt handler releases all locks that it has acquired before it returns. It therefore
 * leaves the slots and their size in @state as it found them. If it acquires a lock that the
 * interrupted code holds shared, it finds its own slot first, because that slot is above.
 *
 * An NMI handler may interrupt even the slow paths. Members that it also changes are only changed
 * by single instructions while hooks run: @state, @untracked_slots, @without_slot, @blocker_count
 * and the statistics.
 */
struct ntklog_spin_lock_cpu {
	u32 sampled_in_use;
	s32 sampled_countdown;
	long state;
	u32 hold_limit;
	u32 sample_at_count;
	u32 contention_count;
	u32 spin_count;
	u32 without_slot;
	u8 untracked_slots;
	bool writing;
	seqcount_t sequence;
	u64 untracked;
	u64 unmatched;
	u64 unmatched_expected;
	u64 suppressed;
	u64 events;
	u32 blocker_count;
	struct ntklog_spin_lock_slot slot[PERF_SPIN_LOCK_SLOTS + 1 + PERF_SPIN_LOCK_OVERFLOW_SLOTS];
	u32 spins[PERF_SPIN_LOCK_SLOTS + 1 + PERF_SPIN_LOCK_OVERFLOW_SLOTS];
	struct ntklog_sampled_spin_locks sampled;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu);

void ntklog_count_spin_lock_acquire_slow(void);
void ntklog_track_spin_lock_acquire_slow(const void *lock);
void ntklog_track_spin_lock_release_slow(const void *lock, u8 acquire_mode, u32 time_low,
					 u32 time_high, unsigned long caller);
void ntklog_count_interrupt_in_slots(void);
void ntklog_log_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				    const struct ntklog_spin_lock_wait_start *query);
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode);
bool ntklog_count_spin_lock_wait(u32 spin_count);
void ntklog_log_spin_lock_wait(const void *lock, u8 acquire_mode, u32 spin_count,
			       const struct ntklog_spin_lock_wait_start *query,
			       unsigned long caller);

/**
 * ntklog_start_spin_lock_wait() - record time and interrupt counters at the start of a wait
 * @query: filled in
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
static __always_inline void ntklog_start_spin_lock_wait(struct ntklog_spin_lock_wait_start *query)
{
	query->time = ntklog_read_time();
	query->interrupts = ntklog_snapshot_interrupts();
}

/* Write a member of the slot at offset _bytes. */
#define ntklog_write_spin_lock_slot(_bytes, _member, _value)				\
	ntklog_this_cpu_write_at(ntklog_spin_lock_cpu.slot[0]._member, _bytes, _value)

/**
 * ntklog_fill_uncontended_slot() - fill the slot of an uncontended acquisition, without
 *	interrupts
 * @lock: address of the lock, which is held
 * @slot_offset: offset of the slot, in bytes
 *
 * Context: as ntklog_log_spin_lock_acquire().
 */
static __always_inline void ntklog_fill_uncontended_slot(const void *lock,
							 unsigned long slot_offset)
{
	struct ntklog_time time;

	/*
	 * First, because from now on ntklog_count_interrupt_in_slots() counts interrupts in this
	 * slot.
	 */
	ntklog_write_spin_lock_slot(slot_offset, lock, (unsigned long)lock);
	time = ntklog_read_time();
	ntklog_write_spin_lock_slot(slot_offset, time.low, time.low);
	ntklog_write_spin_lock_slot(slot_offset, time.high, time.high);
}

/**
 * ntklog_push_spin_lock() - take a slot and fill it, without interrupts
 * @lock: address of the lock, which is held
 * @slot_offset: set to the offset of the slot, in bytes
 *
 * Context: as ntklog_log_spin_lock_acquire().
 * Return: true if the slot is filled. False if the acquisition needs the slow path: the slot is
 * taken but empty, and the caller must call ntklog_track_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_push_spin_lock(const void *lock, unsigned long *slot_offset)
{
	if (unlikely(ntklog_this_cpu_sub_is_negative(ntklog_spin_lock_cpu.state,
						     PERF_SPIN_LOCK_COUNTDOWN_ONE -
						     PERF_SPIN_LOCK_SLOT_SIZE)))
		return false;
	*slot_offset = ntklog_this_cpu_low_half(ntklog_spin_lock_cpu.state);
	if (unlikely(*slot_offset > PERF_SPIN_LOCK_DEPTH * PERF_SPIN_LOCK_SLOT_SIZE))
		return false;
	ntklog_fill_uncontended_slot(lock, *slot_offset);
	return true;
}

/**
 * ntklog_push_linux_spin_lock() - track an uncontended acquisition of a Linux lock
 * @lock: address of the lock, which is held
 *
 * Like ntklog_log_spin_lock_acquire(), for hooks that are only installed while the tracking key is
 * on and interrupts are counted by ntklog_count_interrupt_in_slots(). It neither tests the key nor
 * reads the interrupt counters.
 *
 * Context: preemption off, right after the acquisition; also NMI.
 * Return: true if done; false if the caller must call ntklog_track_spin_lock_acquire_slow().
 */
static __always_inline bool ntklog_push_linux_spin_lock(const void *lock)
{
	unsigned long slot_offset;

	return ntklog_push_spin_lock(lock, &slot_offset);
}

/**
 * ntklog_pop_spin_lock() - NT's PerfLogSpinLockRelease, fast path: free the topmost slot
 * @lock: address of the lock, which is about to be released
 * @time: low half of the clock
 *
 * Succeeds if the topmost slot is of @lock, has no tag, and was held for less than hold_limit
 * cycles. Called before the lock is released, so that the compiler need not keep registers over the
 * release.
 *
 * Context: IRQL >= DISPATCH_LEVEL, or preemption off; the tracking key was on.
 * Return: true if the slot is freed; false if the caller must call
 * ntklog_track_spin_lock_release_slow() after it has released the lock.
 */
static __always_inline bool ntklog_pop_spin_lock(const void *lock, u32 time)
{
	unsigned long slot_offset = ntklog_this_cpu_low_half(ntklog_spin_lock_cpu.state);

	if (unlikely(!ntklog_this_cpu_equals_at(ntklog_spin_lock_cpu.slot[0].lock, slot_offset,
						lock)))
		return false;
	ntklog_this_cpu_sub_from_at(time, ntklog_spin_lock_cpu.slot[0].time.low, slot_offset);
	if (unlikely(!ntklog_this_cpu_exceeds(ntklog_spin_lock_cpu.hold_limit, time)))
		return false;
	ntklog_this_cpu_clear_at(ntklog_spin_lock_cpu.slot[0].lock, slot_offset);
	this_cpu_sub(ntklog_spin_lock_cpu.state, PERF_SPIN_LOCK_SLOT_SIZE);
	return true;
}

/*
 * Sample rate of releases that leave a waiter behind: one of so many is written; 0 turns this off.
 */
extern u32 ntklog_spin_lock_blocker_rate;

u32 ntklog_spin_lock_acquire_count(int cpu);
u32 ntklog_spin_lock_slots_in_use(int cpu);
const void *ntklog_topmost_spin_lock(void);
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count);

/* The parameters: EVENT_TRACE_SPINLOCK_INFORMATION. */
extern struct ntklog_information ntklog_spin_lock_information;

#define PERF_SPIN_LOCK_PARAMETERS	4

bool ntklog_spin_locks_are_tracked(void);
void ntklog_begin_spin_lock_attach(void);
void ntklog_end_spin_lock_attach(void);
void ntklog_begin_spin_lock_detach(void);
void ntklog_end_spin_lock_detach(void);
void ntklog_spin_lock_rundown(struct etw_rundown_event *event, bool end);

void ntklog_spin_lock_init(void);
void ntklog_spin_lock_exit(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_H */
