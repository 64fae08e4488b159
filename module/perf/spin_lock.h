/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_H
#define _NTKLOG_PERF_SPIN_LOCK_H

/*
 * Counting, tracking and sampling of spin locks, for the locks (the hooks), the
 * files (parameters and counters) and the tracepoint.
 *
 * What happens to every lock is here and inline: so little that a call would be much of it. NT's
 * locks, whose code is in drivers, call ntklog_log_spin_lock_acquire(), which has it.
 * What is rare is out of line, in spin_lock_slots.c, and exact.
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

/* NT's depth of tracking. */
#define PERF_SPIN_LOCK_DEPTH	8

/* Locks that a processor can own at once and each still have a slot. */
#define PERF_SPIN_LOCK_SLOTS	63

/* Locks of Linux' that are sampled and that a processor can own at once. */
#define PERF_SAMPLED_SPIN_LOCKS	16

/* Taken beyond those, not yet given back: by a thread, a softirq, a hard interrupt, an NMI. */
#define PERF_SPIN_LOCK_SPARE	4

/* The mode of a slot that is noted for it was interrupted: its release says it. */
#define PERF_SPIN_LOCK_MODE_UNKNOWN	0xff

/* In the word of a slot's lock, whose address is a multiple of four. */
#define PERF_SPIN_LOCK_NOTED		1UL
#define PERF_SPIN_LOCK_UNTRACKED	2UL
#define PERF_SPIN_LOCK_TAGS		3UL

/*
 * In the hooks' acquire modes: whose lock it is, and so who wants its events. NT's own is 0.
 * Records have other things in these two bits.
 */
#define PERF_SPIN_LOCK_LINUX_SPIN	0x40
#define PERF_SPIN_LOCK_LINUX_RW		0x80
#define PERF_SPIN_LOCK_WHOSE(_mode)	((_mode) >> 6)
#define PERF_SPIN_LOCK_WHOSE_MASK	0xc0

/* There too, of a release: somebody waits for the lock. */
#define PERF_SPIN_LOCK_LEAVES_WAITER	0x20

/**
 * struct ntklog_spin_lock_query - what is noted before a lock is waited for
 * @time: when
 * @interrupts: what ntklog_note_interrupts() returned
 */
struct ntklog_spin_lock_query {
	struct ntklog_time time;
	u64 interrupts;
};

/**
 * struct ntklog_spin_lock_slot - one acquisition
 * @lock: the lock's address, and its tags
 * @time: when ownership began
 * @interrupts: ntklog_note_interrupts(), at the query if it waited; nothing where interrupts are
 *	heard of: see ntklog_spin_locks_interrupted()
 * @wait_time: if noted, cycles from the query to ownership
 * @acquire_mode: if noted, WMI_SPINLOCK_* or PERF_SPIN_LOCK_MODE_UNKNOWN; the others' is what
 *	their release says
 * @heard: if noted, interrupts that were heard of since
 */
struct ntklog_spin_lock_slot {
	unsigned long lock;
	struct ntklog_time time;
	u64 interrupts;
	u32 wait_time;
	u32 acquire_mode : 8;
	u32 heard : 24;
};

/**
 * struct ntklog_sampled_spin_locks - the acquisitions that were chosen when they were made
 * @next: their count, of those that had not to wait, when sampled_left has become -1
 * @beyond: how many there are to come after that until one is chosen; 0: that one is
 * @rest: of its stretch of as many as the rate says, those after the chosen one
 * @random: the state of the numbers by which they are chosen
 * @choice: by the rate; the self-test has others
 * @slot: of those that are owned, the first ones of sampled_in_use
 * @spins: of each slot
 * @nested: of each slot, acquisitions of the same lock since, shared, that were not chosen; each
 *	takes one of the 255 that preempt_count has room for
 *
 * All with interrupts off, and not by NMIs.
 */
struct ntklog_sampled_spin_locks {
	u32 next;
	u32 rest;
	u64 beyond;
	u32 random;
	u8 choice;
	struct ntklog_spin_lock_slot slot[PERF_SAMPLED_SPIN_LOCKS];
	u32 spins[PERF_SAMPLED_SPIN_LOCKS];
	u8 nested[PERF_SAMPLED_SPIN_LOCKS];
};

/*
 * Of the word state: bytes of the slots in use, so that no instruction is needed to find
 * the last one; and of what remains one acquisition.
 */
#define PERF_SPIN_LOCK_SLOT	((long)sizeof(struct ntklog_spin_lock_slot))
#define PERF_SPIN_LOCK_USED	0xFFFFL
#define PERF_SPIN_LOCK_ONE	0x10000L
/* As many as that word has room for. */
#define PERF_SPIN_LOCK_MOST_LEFT	(LONG_MAX / PERF_SPIN_LOCK_ONE)

/**
 * struct ntklog_spin_lock_cpu - what a processor knows of its spin locks
 * @sampled_in_use: of @sampled; the first word, for what is written in assembler
 * @sampled_left: uncontended acquisitions until one has to be looked at, which makes it negative
 * @state: slots in use, in bytes, and 65536 times the number of uncontended acquisitions that
 *	are left before one has to be looked at: it makes this word negative. So one
 *	subtraction counts, takes a slot and tells whether there is more to do
 * @hold_limit: a release after so many cycles has to be looked at: one more than
 *	SpinLockHoldThreshold, or 0, for every release, from when the uncontended count becomes a
 *	multiple of the sample rate until a release finds that it is none, or leaves nothing owned
 * @next: the uncontended count of the acquisition that makes @state negative; so the count
 *	itself: ntklog_uncontended_count()
 * @contention_count: NT's SpinLockContentionCount; wraps
 * @spin_count: NT's SpinLockSpinCount; wraps
 * @writing: an event is being written by who may call somebody; then others are not
 * @untracked_slots: slots in use of acquisitions that are not tracked: made while tracking
 *	was about to begin or to end, or while eight others were
 * @without_slot: acquisitions that have none
 * @sequence: for who reads the uncontended count on another processor
 * @untracked: acquisitions that were not tracked, for eight others were
 * @unmatched: releases of what has not been acquired on this processor
 * @before: such releases while somebody's locks were joining the tracking or parting from it:
 *	they may have been acquired before, or when they no longer came here
 * @suppressed: events not written since another was being written, or RCU does not watch, or in
 *	an NMI
 * @events: events written to whatever sinks there are
 * @blockers: releases that left a waiter behind, while those were looked for; wraps
 * @slot: the first one in use is 1; 0 never is. Those that are not in use, or have been
 *	taken but not yet filled, have no lock: while tracking goes on or off there are
 *	interrupts whose acquisitions have no slot, and whose releases look for one
 * @spins: of each slot, if noted, additional tests of the lock
 * @sampled: see there; what is in it, and the first two words, know nothing of the slots
 *
 * Written by its own processor only, read by any (the counters). What an NMI changes too - @state,
 * @untracked_slots, @without_slot, @blockers and what is only counted - by one instruction each,
 * while others are in the hooks. Slots are a stack, but for releases out of order. A thread's
 * writes can be interrupted anywhere, but for those out of line, which keep interrupts off; those
 * of an acquisition that is looked at do not. What interrupts releases all it has acquired before
 * it returns, and so leaves slots and the bytes in use as it found them. It finds its own
 * acquisitions first, since they are on top: the same lock below, shared, is who was interrupted's.
 */
struct ntklog_spin_lock_cpu {
	u32 sampled_in_use;
	s32 sampled_left;
	long state;
	u32 hold_limit;
	u32 next;
	u32 contention_count;
	u32 spin_count;
	u32 without_slot;
	u8 untracked_slots;
	bool writing;
	seqcount_t sequence;
	u64 untracked;
	u64 unmatched;
	u64 before;
	u64 suppressed;
	u64 events;
	u32 blockers;
	struct ntklog_spin_lock_slot slot[PERF_SPIN_LOCK_SLOTS + 1 + PERF_SPIN_LOCK_SPARE];
	u32 spins[PERF_SPIN_LOCK_SLOTS + 1 + PERF_SPIN_LOCK_SPARE];
	struct ntklog_sampled_spin_locks sampled;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu);

void ntklog_count_spin_lock_acquire_slowly(void);
void ntklog_track_spin_lock_acquire_slowly(const void *lock);
void ntklog_track_spin_lock_release_slowly(const void *lock, u8 acquire_mode, u32 time_low,
					   u32 time_high, unsigned long caller);
void ntklog_spin_locks_interrupted(void);
void ntklog_log_contended_spin_lock(const void *lock, u8 acquire_mode, u32 spin_count,
				    const struct ntklog_spin_lock_query *query);
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode);
bool ntklog_count_spin_lock_wait(u32 spin_count);
void ntklog_log_spin_lock_wait(const void *lock, u8 acquire_mode, u32 spin_count,
			       const struct ntklog_spin_lock_query *query, unsigned long caller);

/**
 * ntklog_query_spin_lock() - note time and interrupts before a lock is waited for
 * @query: where
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
static __always_inline void ntklog_query_spin_lock(struct ntklog_spin_lock_query *query)
{
	query->time = ntklog_read_time();
	query->interrupts = ntklog_note_interrupts();
}

/* A member of the slot so many bytes on. */
#define ntklog_write_spin_lock_slot(_bytes, _member, _value)				\
	ntklog_this_cpu_write_at(ntklog_spin_lock_cpu.slot[0]._member, _bytes, _value)

/**
 * ntklog_fill_plain_spin_lock_slot() - fill a slot that has been taken, but for interrupts
 * @lock: the lock, now owned
 * @used: so many bytes on the slot is
 *
 * Context: as ntklog_log_spin_lock_acquire().
 */
static __always_inline void ntklog_fill_plain_spin_lock_slot(const void *lock, unsigned long used)
{
	struct ntklog_time time;

	/* First: from now on interrupts that are heard of are noted in it. */
	ntklog_write_spin_lock_slot(used, lock, (unsigned long)lock);
	time = ntklog_read_time();
	ntklog_write_spin_lock_slot(used, time.low, time.low);
	ntklog_write_spin_lock_slot(used, time.high, time.high);
}

/**
 * ntklog_push_spin_lock() - take a slot and fill it, but for interrupts
 * @lock: the lock, now owned
 * @used: set to how many bytes on the slot is
 *
 * Context: as ntklog_log_spin_lock_acquire().
 * Return: whether it is filled. If not, it is taken all the same: and
 * ntklog_track_spin_lock_acquire_slowly() is to be called.
 */
static __always_inline bool ntklog_push_spin_lock(const void *lock, unsigned long *used)
{
	if (unlikely(ntklog_this_cpu_sub_is_negative(ntklog_spin_lock_cpu.state,
						     PERF_SPIN_LOCK_ONE - PERF_SPIN_LOCK_SLOT)))
		return false;
	*used = ntklog_this_cpu_low_half(ntklog_spin_lock_cpu.state);
	if (unlikely(*used > PERF_SPIN_LOCK_DEPTH * PERF_SPIN_LOCK_SLOT))
		return false;
	ntklog_fill_plain_spin_lock_slot(lock, *used);
	return true;
}

/**
 * ntklog_push_heard_spin_lock() - ntklog_log_spin_lock_acquire() without a note of interrupts
 * @lock: the lock, now owned
 *
 * For who is only there while the tracking key is on, and while interrupts are heard of: see
 * ntklog_spin_locks_interrupted(). They need no note.
 *
 * Context: preemption off, right after the acquisition; NMI too.
 * Return: whether that was all; else ntklog_track_spin_lock_acquire_slowly() is to be called.
 */
static __always_inline bool ntklog_push_heard_spin_lock(const void *lock)
{
	unsigned long used;

	return ntklog_push_spin_lock(lock, &used);
}

/**
 * ntklog_pop_spin_lock() - PerfLogSpinLockRelease: give back a slot that is not to be looked at
 * @lock: the lock, which is about to be released
 * @time: the low half of when
 *
 * That of the lock acquired last, had at once, tracked; not long held, and none of those sampled.
 *
 * Context: IRQL >= DISPATCH_LEVEL, or preemption off; the tracking key was on. Before the release:
 * then there is nothing to keep in registers over it.
 * Return: whether it is; if not, ntklog_track_spin_lock_release_slowly() is to be called, after it.
 */
static __always_inline bool ntklog_pop_spin_lock(const void *lock, u32 time)
{
	unsigned long used = ntklog_this_cpu_low_half(ntklog_spin_lock_cpu.state);

	if (unlikely(!ntklog_this_cpu_equals_at(ntklog_spin_lock_cpu.slot[0].lock, used, lock)))
		return false;
	ntklog_this_cpu_sub_from_at(time, ntklog_spin_lock_cpu.slot[0].time.low, used);
	if (unlikely(!ntklog_this_cpu_exceeds(ntklog_spin_lock_cpu.hold_limit, time)))
		return false;
	ntklog_this_cpu_clear_at(ntklog_spin_lock_cpu.slot[0].lock, used);
	this_cpu_sub(ntklog_spin_lock_cpu.state, PERF_SPIN_LOCK_SLOT);
	return true;
}

/* One of so many releases that leave a waiter behind is written; 0: none is for that. */
extern u32 ntklog_spin_lock_blockers;

u32 ntklog_spin_lock_acquire_count(int cpu);
u32 ntklog_spin_lock_slots_in_use(int cpu);
const void *ntklog_last_spin_lock(void);
void ntklog_set_uncontended_count(struct ntklog_spin_lock_cpu *cpu, u32 count);

/* EVENT_TRACE_SPINLOCK_INFORMATION. */
extern struct ntklog_information ntklog_spin_lock_information;

#define PERF_SPIN_LOCK_PARAMETERS	4

bool ntklog_spin_locks_are_tracked(void);
void ntklog_join_spin_locks(void);
void ntklog_spin_locks_joined(void);
void ntklog_part_from_spin_locks(void);
void ntklog_leave_spin_locks(void);
void ntklog_spin_lock_rundown(struct etw_rundown_event *event, bool end);

void ntklog_spin_lock_init(void);
void ntklog_spin_lock_exit(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_H */
