/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_CPU_H
#define _NTKLOG_PERF_SPIN_LOCK_CPU_H

/*
 * Data of the spin lock instrumentation.
 *
 * While tracking is on, a held lock usually has a slot with the time of its acquisition. The
 * release decides whether an event is written: after a long hold, after a sampled wait, after every
 * Nth uncontended acquisition, or, beyond NT's rules, for every Nth release that leaves a waiter
 * behind. The rules of the hold and of the Nth acquisition are turned into a limit and a countdown,
 * both per CPU, because most acquisitions and releases write nothing:
 *
 *	struct ntklog_spin_lock_cpu
 *	+------------------------------------------+
 *	| state:  countdown           | used bytes |   slots[]
 *	|                                    |     |   +------------------------+
 *	| hold_limit                         +---->|   | n: topmost slot in use |
 *	| counters                                 |   | ...                    |
 *	| overflow_slots, sampling: more slots     |   | 1: acquired first      |
 *	+------------------------------------------+   | 0: has no lock         |
 *	                                               +------------------------+
 *
 * An uncontended acquisition subtracts (COUNTDOWN_ONE - SLOT_SIZE) from state. This one instruction
 * counts the acquisition, takes a slot, and sets the sign flag if the slow path must run. The low
 * bits of the result are the offset of the slot, which the acquisition fills with the lock's
 * address and the clock. The release tests that the topmost slot belongs to its lock and that the
 * hold was shorter than hold_limit, and frees the slot. hold_limit is 0 while the next release must
 * apply the rules.
 *
 * Contexts: preemption is off from the acquisition to the release, so only interrupts run in
 * between, on the same CPU. The fast paths, and usually the slow path of an uncontended
 * acquisition, may be interrupted at any instruction. The other slow paths run with interrupts off.
 * An interrupt handler frees its own slots before it returns. No memory barrier is needed, because
 * only the CPU itself writes its state while hooks run on it. Other CPUs read the countdowns under
 * the seqcount @sequence.
 *
 * NMIs: Linux' locks are also taken in NMI handlers, which may interrupt even a slow path. In an
 * NMI the fast paths work as elsewhere. The slow path of an acquisition takes an untracked slot, if
 * any, and does not restart the countdown. A release writes no event.
 */

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/clock.h"
#include "record_limit.h"

/* Depth of tracking: NT tracks at most eight held locks of a CPU. */
#define PERF_SPIN_LOCK_DEPTH	8

/*
 * Number of slots of a CPU. The fast paths fill the first PERF_SPIN_LOCK_DEPTH slots only. The
 * others are overflow slots, which are allocated, because static per-CPU memory is scarce.
 */
#define PERF_SPIN_LOCK_SLOT_COUNT	63
#define PERF_OVERFLOW_SLOT_COUNT	(PERF_SPIN_LOCK_SLOT_COUNT - PERF_SPIN_LOCK_DEPTH)

#define PERF_SAMPLED_SLOT_COUNT	16

/*
 * Number of slots after the first PERF_SPIN_LOCK_DEPTH that an acquisition may take but does not
 * fill: their lock stays 0, so a release that reads one takes the slow path. At least one
 * is in use while overflow slots are in use. The other four are for acquisitions that have not yet
 * tested the limit: one in each of the contexts task, softirq, hard interrupt and NMI.
 */
#define PERF_EMPTY_SLOT_COUNT		5

/* slot->acquire_mode of a slot with details whose mode only the release knows. */
#define PERF_SPIN_LOCK_MODE_UNKNOWN	0xff

/*
 * Tags in the low two bits of slot->lock; lock addresses are multiples of four.
 * HAS_DETAILS: wait_time, acquire_mode and SpinCount of the slot are valid.
 * UNTRACKED: the release finds the slot but writes no event.
 */
#define PERF_SPIN_LOCK_HAS_DETAILS		1UL
#define PERF_SPIN_LOCK_UNTRACKED	2UL
#define PERF_SPIN_LOCK_TAG_MASK		3UL

/* Kind of lock, in the two high bits of the acquire mode that a hook passes; 0 is an NT lock. */
#define PERF_SPIN_LOCK_LINUX_SPIN	0x40
#define PERF_SPIN_LOCK_LINUX_RW		0x80
#define PERF_SPIN_LOCK_KIND(_mode)	((_mode) >> 6)
#define PERF_SPIN_LOCK_KIND_MASK	0xc0

/* Flag in the acquire mode of a release: another CPU waits for the lock. */
#define PERF_SPIN_LOCK_LEAVES_WAITER	0x20

/**
 * struct ntklog_spin_lock_wait_start - state at the start of a wait
 * @time: clock
 * @interrupt_snapshot: from ntklog_snapshot_interrupts()
 */
struct ntklog_spin_lock_wait_start {
	struct ntklog_time time;
	u64 interrupt_snapshot;
};

/**
 * struct ntklog_spin_lock_slot - one acquisition of a lock that this CPU holds
 * @lock: address of the lock, and PERF_SPIN_LOCK_* tags. Except in mode "sampled", 0 if the slot is
 *	free or not yet filled
 * @time: clock at the start of the hold
 * @interrupt_snapshot: interrupt counters, from ntklog_snapshot_interrupts(), at the start of the
 *	wait or else of the hold; not used for uncontended Linux locks, except in mode "sampled":
 *	see @interrupt_count
 * @wait_time: duration of the wait, in cycles; valid with PERF_SPIN_LOCK_HAS_DETAILS
 * @acquire_mode: WMI_SPINLOCK_* or PERF_SPIN_LOCK_MODE_UNKNOWN; valid like @wait_time
 * @interrupt_count: number of interrupts during an uncontended hold; valid like @wait_time
 */
struct ntklog_spin_lock_slot {
	unsigned long lock;
	struct ntklog_time time;
	u64 interrupt_snapshot;
	u32 wait_time;
	u32 acquire_mode : 8;
	u32 interrupt_count : 24;
};

/**
 * struct ntklog_sampling_state - state of mode "sampled"
 * @sample_at_count: number of uncontended acquisitions at which sampled_countdown becomes negative
 * @countdown_excess: number of further acquisitions until the chosen one, after sampled_countdown
 *	has become negative; usually 0
 * @remaining_in_interval: number of acquisitions between the chosen one and the end of its interval
 * @random_state: state of the random number generator
 * @choice_rule: PERF_CHOOSE_BY_RATE, except during the self-test
 * @slots: slots of the chosen locks that are held, the first sampled_slots_in_use of them
 * @spin_counts: for each slot, the SpinCount
 * @nested_counts: for each slot, number of later shared acquisitions of the lock that have no
 *	slot and have not been released
 *
 * Used on its CPU with interrupts off, but not in NMI handlers, or by any CPU while its CPU is
 * offline. Any CPU may read @sample_at_count.
 */
struct ntklog_sampling_state {
	u32 sample_at_count;
	u32 remaining_in_interval;
	u64 countdown_excess;
	u32 random_state;
	u8 choice_rule;
	struct ntklog_spin_lock_slot slots[PERF_SAMPLED_SLOT_COUNT];
	u32 spin_counts[PERF_SAMPLED_SLOT_COUNT];
	u8 nested_counts[PERF_SAMPLED_SLOT_COUNT];
};

/*
 * Layout of the word state. Bits 0 to 15: size in bytes of the slots in use, which is the offset of
 * the topmost slot. The other bits: countdown of uncontended acquisitions.
 */
#define PERF_SPIN_LOCK_SLOT_SIZE	((long)sizeof(struct ntklog_spin_lock_slot))
#define PERF_SPIN_LOCK_USED_MASK	0xFFFFL
#define PERF_SPIN_LOCK_COUNTDOWN_ONE	0x10000L
#define PERF_SPIN_LOCK_COUNTDOWN_MAX	(LONG_MAX / PERF_SPIN_LOCK_COUNTDOWN_ONE)

/**
 * struct ntklog_overflow_slots - slots that only the slow paths access
 * @slots: the slots with the numbers PERF_SPIN_LOCK_DEPTH + 1 to PERF_SPIN_LOCK_SLOT_COUNT
 * @spin_counts: for each slot with PERF_SPIN_LOCK_HAS_DETAILS, by its number, the SpinCount
 */
struct ntklog_overflow_slots {
	struct ntklog_spin_lock_slot slots[PERF_OVERFLOW_SLOT_COUNT];
	u32 spin_counts[PERF_SPIN_LOCK_SLOT_COUNT + 1];
};

/**
 * struct ntklog_spin_lock_cpu - per-CPU state of the spin lock instrumentation
 * @sampled_slots_in_use: number of slots in use in @sampling. The first member, because assembler
 *	code accesses it
 * @sampled_countdown: countdown of uncontended acquisitions in mode "sampled"
 * @state: size of the slots of @slots in use, and countdown; see PERF_SPIN_LOCK_USED_MASK
 * @hold_limit: releases after a hold of at least this many cycles take the slow path:
 *	ntklog_spin_lock_hold_limit, or 0 while all releases must take the slow path
 * @sample_at_count: uncontended count at which @state becomes negative
 * @contention_count: NT's SpinLockContentionCount; wraps
 * @spin_count: NT's SpinLockSpinCount; wraps
 * @is_writing: code that may take locks is writing an event; these locks write no events
 * @untracked_slots_in_use: number of slots in use with PERF_SPIN_LOCK_UNTRACKED
 * @overflow_slots_in_use: number of overflow slots in use. While it is not 0, @state names an empty
 *	slot, so that all acquisitions and releases take the slow path
 * @locks_without_slot: number of held locks for which no slot was left
 * @sequence: lets other CPUs read each countdown with its sample_at_count
 * @untracked_count: acquisitions that should have been tracked, but could not be
 * @unmatched_count: releases without a slot that were not expected
 * @expected_unmatched_count: releases without a slot while hooks are being attached or detached
 * @suppressed_count: events not written, for example because this CPU was writing another one
 * @event_count: events that a session or the tracepoint needed, without the suppressed ones
 * @blocker_count: releases that left a waiter behind, while they are sampled; wraps
 * @blocker_limit: limit of records that no other rule would write
 * @overflow_slots: the overflow slots
 * @sampling: state of mode "sampled", beside @sampled_slots_in_use and @sampled_countdown
 * @slots: the first slots. The lock of a slot is 0 while the slot is free, or taken but not yet
 *	filled, because a search must not find an old address there
 *
 * The CPU itself writes these fields. Other CPUs write them only while no hook accesses them. Any
 * CPU may read the counters.
 *
 * An NMI handler may interrupt even the slow paths. A field that the handler changes too must be
 * changed by single instructions, or be as it was when the handler returns. The restart of a
 * countdown is an exception: it may lose the handler's acquisitions.
 */
struct ntklog_spin_lock_cpu {
	u32 sampled_slots_in_use;
	s32 sampled_countdown;
	long state;
	u32 hold_limit;
	u32 sample_at_count;
	u32 contention_count;
	u32 spin_count;
	u32 locks_without_slot;
	u8 untracked_slots_in_use;
	u8 overflow_slots_in_use;
	bool is_writing;
	seqcount_t sequence;
	u64 untracked_count;
	u64 unmatched_count;
	u64 expected_unmatched_count;
	u64 suppressed_count;
	u64 event_count;
	u32 blocker_count;
	struct ntklog_record_limit blocker_limit;
	struct ntklog_overflow_slots *overflow_slots;
	struct ntklog_sampling_state *sampling;
	struct ntklog_spin_lock_slot slots[PERF_SPIN_LOCK_DEPTH + 1 + PERF_EMPTY_SLOT_COUNT];
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu);

#if defined(CONFIG_64BIT) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
/*
 * The fast paths of an acquisition and its release touch two cache lines of the structure: the
 * first one, and the one that has the slot's lock and time.
 */
static_assert(offsetofend(struct ntklog_spin_lock_cpu, hold_limit) <= L1_CACHE_BYTES);
static_assert(L1_CACHE_BYTES % sizeof(struct ntklog_spin_lock_slot) == 0);
static_assert(offsetof(struct ntklog_spin_lock_cpu, slots) % sizeof(struct ntklog_spin_lock_slot) +
	      offsetofend(struct ntklog_spin_lock_slot, time) <=
	      sizeof(struct ntklog_spin_lock_slot));
#endif

/*
 * True while tracking is being enabled or disabled, so that acquisitions are not tracked. False
 * also while tracking is off. Written by the task that changes tracking.
 */
extern bool ntklog_spin_lock_in_transition;

/*
 * True if an acquisition may take a slot, because the hook of the release should free it. Written
 * by the task that changes tracking; the table in spin_lock_arming.c has the steps.
 */
extern bool ntklog_spin_lock_may_take_slot;

/* True while hooks of Linux locks are attached or detached: unmatched releases are expected. */
extern bool ntklog_spin_lock_unmatched_is_expected;

/*
 * Value of hold_limit unless that is 0: hold threshold + 1, but at most U32_MAX, which also stands
 * for no threshold. Written with the lock of ntklog_spin_lock_parameter_set held.
 */
extern u32 ntklog_spin_lock_hold_limit;

/*
 * Parts of a record, packed as the record stores them.
 * PERF_PACK_RULE_MODE_DEPTH(): AcquireDepth in bits 8 to 15, acquire mode with
 * PERF_SPIN_LOCK_LINUX_* in bits 16 to 23, rule in bits 24 to 31.
 * PERF_SPIN_LOCK_PACK_WAIT(): WaitTimeInCycles in the low half, SpinCount in the high half.
 */
#define PERF_PACK_RULE_MODE_DEPTH(_rule, _acquire_mode, _depth)				\
	((u32)(_rule) << 24 | (u32)(_acquire_mode) << 16 | (u32)(u8)(_depth) << 8)
#define PERF_SPIN_LOCK_GET_MODE(_rule_mode_depth)	((u8)((_rule_mode_depth) >> 16))
#define PERF_SPIN_LOCK_PACK_WAIT(_spins, _wait_time)	((u64)(_spins) << 32 | (u32)(_wait_time))

static __always_inline unsigned long ntklog_get_slot_lock_address(const struct ntklog_spin_lock_slot
									  *slot)
{
	return slot->lock & ~PERF_SPIN_LOCK_TAG_MASK;
}

/**
 * ntklog_get_slot_wait_words() - return the wait of a slot as two fields of a record
 * @slot: the slot
 * @spin_count: SpinCount of the slot
 * @acquire_mode: set to the acquire mode of the slot, if the slot has one; the kind of lock stays
 *
 * Return: PERF_SPIN_LOCK_PACK_WAIT(); 0 if the slot has no PERF_SPIN_LOCK_HAS_DETAILS.
 */
static __always_inline u64 ntklog_get_slot_wait_words(const struct ntklog_spin_lock_slot *slot,
						      const u32 *spin_count, u8 *acquire_mode)
{
	if (likely(!(slot->lock & PERF_SPIN_LOCK_HAS_DETAILS)))
		return 0;
	if (slot->acquire_mode != PERF_SPIN_LOCK_MODE_UNKNOWN)
		*acquire_mode = slot->acquire_mode |
				(*acquire_mode & PERF_SPIN_LOCK_KIND_MASK);
	return PERF_SPIN_LOCK_PACK_WAIT(*spin_count, slot->wait_time);
}

static inline u32 ntklog_count_slots_in_use(const struct ntklog_spin_lock_cpu *cpu)
{
	u32 overflow_count = READ_ONCE(cpu->overflow_slots_in_use);

	if (unlikely(overflow_count))
		return PERF_SPIN_LOCK_DEPTH + overflow_count;
	return (READ_ONCE(cpu->state) & PERF_SPIN_LOCK_USED_MASK) / PERF_SPIN_LOCK_SLOT_SIZE;
}

static __always_inline u32
ntklog_state_to_acquire_count(const struct ntklog_spin_lock_cpu *cpu, long state)
{
	return READ_ONCE(cpu->sample_at_count) - 1 - (u32)(state >> 16);
}

static __always_inline u32 ntklog_get_uncontended_count(const struct ntklog_spin_lock_cpu *cpu)
{
	return ntklog_state_to_acquire_count(cpu, READ_ONCE(cpu->state));
}

/**
 * ntklog_get_sampled_mode_uncontended_count() - return the uncontended count of mode "sampled"
 * @cpu: state of a CPU
 *
 * Context: any; on another CPU within a read section of cpu->sequence.
 * Return: the count, modulo 2^32.
 */
static inline u32 ntklog_get_sampled_mode_uncontended_count(const struct ntklog_spin_lock_cpu *cpu)
{
	return READ_ONCE(cpu->sampling->sample_at_count) - 1 - READ_ONCE(cpu->sampled_countdown);
}

int ntklog_alloc_spin_lock_slots(void);
void ntklog_free_spin_lock_slots(void);
u32 ntklog_get_spin_lock_acquire_count(int cpu);
u32 ntklog_count_spin_lock_slots_in_use(int cpu);

#endif /* _NTKLOG_PERF_SPIN_LOCK_CPU_H */
