/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPINLOCK_STATS_H
#define _NTKLOG_SPINLOCK_STATS_H

/*
 * Sums of WMI_SPINLOCK records, by lock and caller. Each record stands for a number of
 * acquisitions, so the sums are estimates.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/group_mask.h>
#include <ntklog/wmi_spinlock.h>

#include "cpu_sums.h"
#include "hash.h"
#include "histogram.h"
#include "step_watch.h"
#include "timeline.h"
#include "wmi_record.h"

/* Deepest nesting that NT tracks. */
#define SPINLOCK_DEPTHS		8

#define SPINLOCK_PAIRS_MAX	16384

#define SPINLOCK_LINUX_GROUPS	(PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK)

/*
 * Sampling parameters of spin locks.
 * @is_known: the file has the parameters up to @hold_threshold
 * @hold_threshold: SpinLockHoldThreshold, cycles
 * @has_rules: records say by which rule they were written
 * @blocker_rate: rate of the blocker rule, if @has_rules: one in @blocker_rate of the releases that
 *	left a waiter behind was written; 0: the rule was off
 */
struct spinlock_rates {
	uint32_t is_known;
	uint32_t spin_threshold;
	uint32_t contention_rate;
	uint32_t acquire_rate;
	uint32_t hold_threshold;
	uint32_t has_rules;
	uint32_t linux_mode;
	uint32_t blocker_rate;
};

/*
 * Sums of the records of a lock, or of a lock and a caller.
 * @record_count: number of records without those that only the blocker rule has written
 * @in_step_count: number of @record_count records whose sampling may be in step with a loop
 * @depth_counts: estimated numbers of acquisitions by AcquireDepth, from 1 on
 * @wait_only_count: number of records that have a wait and no hold
 * @wait: distribution of the waits of contended acquisitions, cycles
 * @interrupted_hold: distribution of the holds with interrupts since the begin of the wait, cycles
 * @blocker_count: number of records that the blocker rule has written: a waiter was there at the
 *	release
 */
struct spinlock_sum {
	uint64_t record_count;
	uint64_t in_step_count;
	uint64_t acquisition_count;
	uint64_t contended_count;
	double spin_count;
	uint64_t dpc_count;
	uint64_t isr_count;
	uint64_t depth_counts[SPINLOCK_DEPTHS];
	uint8_t max_depth;
	uint64_t mode_mask;
	uint64_t wait_only_count;
	struct histogram wait;
	struct histogram hold;
	struct histogram interrupted_hold;
	uint64_t blocker_count;
	struct cpu_sums cpu_sums;
};

/*
 * @address: address of the lock, or key of the class
 * @sum: sums over all callers, after spinlock_stats_finish()
 * @timeline: cycles waited in each slot of time, or NULL
 */
struct spinlock_entry {
	uint64_t address;
	struct spinlock_sum sum;
	struct timeline *timeline;
	size_t pair_count;
	UT_hash_handle hh;
};

struct spinlock_key {
	uint64_t lock;
	uint64_t caller;
};

/* Importance of a pair, cycles; @hold decides between equal @wait. */
struct spinlock_score {
	double wait;
	double hold;
};

/*
 * @key: address of the lock or key of its class, and address of the caller
 * @evicted_score: score of the pair that was evicted for this one. Its wait is an upper limit for
 *	the earlier records of this pair, which are in the sums of @others
 * @heap_score: score of the pair when its position in the heap was last corrected
 */
struct spinlock_pair {
	struct spinlock_key key;
	struct spinlock_entry *lock;
	struct spinlock_sum sum;
	struct spinlock_score evicted_score;
	struct spinlock_score heap_score;
	UT_hash_handle hh;
};

#define SPINLOCK_CACHE_BITS	13

/*
 * A record with its rule and its weight.
 * @rates: parameters by which the record was sampled
 * @rule: find_spinlock_rule()
 * @weight: compute_spinlock_weight()
 * @origin: where and when the record was written
 */
struct spinlock_sample {
	const struct spinlock_record *record;
	const struct spinlock_rates *rates;
	uint8_t rule;
	uint64_t weight;
	struct record_origin origin;
};

/*
 * Sums of the records of a trace; all zero: none.
 * @rates: sampling parameters at the start
 * @others: sums of the records of pairs that were evicted or could not be allocated
 * @heap: pairs, as a heap with the lowest @heap_score on top; NULL before the table is full
 * @evicted_score: score of the pair that was evicted last: its wait is an upper limit of the waits
 *	that any pair in the table lacks, because they were recorded before the pair was added
 * @total: sums of all records, after spinlock_stats_finish()
 * @backward_count: number of records released before they were acquired; their hold counts as 0
 * @step_watch: last records of each CPU that the acquire rate has selected
 */
struct spinlock_stats {
	struct spinlock_rates rates;
	struct spinlock_rates highest_rates;
	bool sums_by_cpu;
	struct spinlock_pair *pairs;
	struct spinlock_entry *locks;
	struct timelines timelines;
	struct spinlock_sum others;
	struct spinlock_pair **heap;
	uint64_t evicted_count;
	struct spinlock_score evicted_score;
	struct spinlock_sum total;
	uint64_t backward_count;
	struct step_watch step_watch;
	bool no_memory;
	struct spinlock_pair *cache[1 << SPINLOCK_CACHE_BITS];
};

/**
 * find_spinlock_groups() - find the event groups of spin locks
 * @modes: modes of the acquisitions, as bits
 * @has_linux: Linux' locks were recorded
 *
 * Only NT's locks are ordinary or converted. Linux' locks are queued, shared or exclusive; where
 * they were recorded, such a lock of NT counts as one of them.
 *
 * Return: event groups, PERF_*.
 */
static inline uint32_t find_spinlock_groups(uint64_t modes, bool has_linux)
{
	const uint64_t nt_modes = UINT64_C(1) << WMI_SPINLOCK_ORDINARY |
				  UINT64_C(1) << WMI_SPINLOCK_EXECUTIVE_CONVERTED;

	return !(modes & nt_modes) && has_linux ? SPINLOCK_LINUX_GROUPS : PERF_SPINLOCK;
}

uint8_t find_spinlock_rule(const struct spinlock_rates *rates,
			   const struct spinlock_record *record);
uint64_t compute_spinlock_weight(const struct spinlock_rates *rates,
				 const struct spinlock_record *record);
struct spinlock_pair *spinlock_stats_find(struct spinlock_stats *stats, uint64_t lock,
					  uint64_t caller);
void spinlock_stats_add(struct spinlock_stats *stats, struct spinlock_pair *pair,
			const struct spinlock_sample *sample);
void spinlock_stats_finish(struct spinlock_stats *stats);
void spinlock_stats_free(struct spinlock_stats *stats);

#endif /* _NTKLOG_SPINLOCK_STATS_H */
