/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPINLOCK_STATS_H
#define _NTKLOG_SPINLOCK_STATS_H

/*
 * Sums of WMI_SPINLOCK records, by lock and caller. NT writes a sample of all acquisitions by known
 * rules, so each record stands for a known number of acquisitions, and the sums are estimates of
 * all.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_sums.h"
#include "hash.h"
#include "histogram.h"
#include "step_watch.h"
#include "timeline.h"
#include "wmi_record.h"

/* Deepest nesting that NT tracks. */
#define SPINLOCK_DEPTHS		8

/* Pairs of lock and caller that are told apart; all others are one. */
#define SPINLOCK_PAIRS_MAX	16384

/**
 * struct spinlock_rates - the parameters of the sampling
 * @known: the file has them
 * @spin_threshold: SpinLockSpinThreshold
 * @contention_rate: SpinLockContentionSampleRate
 * @acquire_rate: SpinLockAcquireSampleRate
 * @hold_threshold: SpinLockHoldThreshold, cycles
 * @has_rules: records say by which rule they were written
 * @linux_mode: NTKLOG_LINUX_MODE_*, if @has_rules
 * @blockers: one of so many releases that left a waiter behind was written, if @has_rules; 0: none
 *	for that
 */
struct spinlock_rates {
	uint32_t known;
	uint32_t spin_threshold;
	uint32_t contention_rate;
	uint32_t acquire_rate;
	uint32_t hold_threshold;
	uint32_t has_rules;
	uint32_t linux_mode;
	uint32_t blockers;
};

/**
 * struct spinlock_sum - sums of the records of a lock, or of a lock and a caller
 * @sampled: number of records without those that only the blocker rule has written
 * @in_step: number of @sampled records that a rate chose which may be in step with a loop
 * @acquisitions: estimated number of acquisitions
 * @contended: estimated number of contended acquisitions
 * @spins: estimated number of spins
 * @dpc: estimated number of acquisitions that were released in a DPC
 * @isr: estimated number of acquisitions that were released in an interrupt routine
 * @depths: estimated numbers of acquisitions by AcquireDepth, from 1 on
 * @max_depth: greatest AcquireDepth
 * @modes: bits of WMI_SPINLOCK_* modes seen
 * @waits_only: number of records that have a wait and no hold
 * @wait: distribution of the waits of contended acquisitions, cycles
 * @hold: distribution of the holds, which all but @waits_only have, cycles
 * @interrupted: distribution of the interrupted holds, cycles
 * @blockers: number of records that the blocker rule has written: a waiter was there at the release
 * @blocking: distribution of the holds of these records, weighted by the blocker rate, cycles
 * @first_ticks: time of the first record, ticks since where time lines begin
 * @last_ticks: time of the last record
 * @cpus: acquisitions and waits by CPU, if they are kept apart
 */
struct spinlock_sum {
	uint64_t sampled;
	uint64_t in_step;
	uint64_t acquisitions;
	uint64_t contended;
	double spins;
	uint64_t dpc;
	uint64_t isr;
	uint64_t depths[SPINLOCK_DEPTHS];
	uint8_t max_depth;
	uint64_t modes;
	uint64_t waits_only;
	struct histogram wait;
	struct histogram hold;
	struct histogram interrupted;
	uint64_t blockers;
	struct histogram blocking;
	uint64_t first_ticks;
	uint64_t last_ticks;
	struct cpu_sums cpus;
};

/**
 * struct spinlock_lock - a lock
 * @address: of it
 * @sum: of all its callers, once spinlock_stats_finish() was called
 * @timeline: cycles waited for it in each slot, or NULL
 * @pairs: number of pairs of this lock in the table of pairs
 * @hh: in the table of locks
 */
struct spinlock_lock {
	uint64_t address;
	struct spinlock_sum sum;
	struct timeline *timeline;
	size_t pairs;
	UT_hash_handle hh;
};

struct spinlock_key {
	uint64_t lock;
	uint64_t caller;
};

/**
 * struct spinlock_score - what a pair is kept for: waits first, then holds
 * @wait: cycles
 * @hold: cycles
 */
struct spinlock_score {
	double wait;
	double hold;
};

/**
 * struct spinlock_pair - a lock and a caller
 * @key: their addresses
 * @lock: that lock
 * @sum: of both
 * @missed: score of the pair that was evicted for this one: at most that much of this pair was
 *	added to the others before
 * @heap_score: score of the pair when its place in the heap was last corrected
 * @hh: in the table of pairs
 */
struct spinlock_pair {
	struct spinlock_key key;
	struct spinlock_lock *lock;
	struct spinlock_sum sum;
	struct spinlock_score missed;
	struct spinlock_score heap_score;
	UT_hash_handle hh;
};

#define SPINLOCK_CACHE_BITS	13

/* Records that wait for the memory of their sums, which has been prefetched. */
#define SPINLOCK_PENDING	32

/**
 * struct spinlock_pending - a record that is about to be added
 * @record: the record
 * @rates: parameters by which it was sampled
 * @pair: that it is of; NULL: the others
 * @hold: cycles
 * @weight: that it has
 * @ticks: of the session's clock since where time lines begin
 * @cpu: number of the CPU
 * @in_step: the record's sampling may be in step with a loop
 */
struct spinlock_pending {
	struct spinlock_record record;
	const struct spinlock_rates *rates;
	struct spinlock_pair *pair;
	uint64_t hold;
	uint64_t weight;
	uint64_t ticks;
	unsigned int cpu;
	bool in_step;
};

/**
 * struct spinlock_stats - of a file, or of a time; all zero: empty
 * @rates: of the sampling, at its start
 * @highest: highest rates during the recording
 * @has_cpus: sums are kept by CPU
 * @pairs: table
 * @locks: table
 * @timelines: of the locks
 * @others: all records of pairs that were evicted
 * @heap: pairs, the one with the lowest @heap_score first; NULL: the table has not been full yet
 * @evicted: number of pairs that were evicted for others
 * @missed: score of the last of them: a pair in the table lacks at most that
 * @total: of all
 * @backwards: records released before they were acquired: hold 0
 * @steps: the last records by a rate
 * @no_memory: something is missing for want of it
 * @pending: records not yet added
 * @pending_count: of them
 * @cache: pairs by a few bits of their addresses, to find them at once
 */
struct spinlock_stats {
	struct spinlock_rates rates;
	struct spinlock_rates highest;
	bool has_cpus;
	struct spinlock_pair *pairs;
	struct spinlock_lock *locks;
	struct timelines timelines;
	struct spinlock_sum others;
	struct spinlock_pair **heap;
	uint64_t evicted;
	struct spinlock_score missed;
	struct spinlock_sum total;
	uint64_t backwards;
	struct step_watch steps;
	bool no_memory;
	struct spinlock_pending pending[SPINLOCK_PENDING];
	unsigned int pending_count;
	struct spinlock_pair *cache[1 << SPINLOCK_CACHE_BITS];
};

uint8_t spinlock_rule(const struct spinlock_rates *rates, const struct spinlock_record *record);
uint64_t spinlock_weight(const struct spinlock_rates *rates,
			 const struct spinlock_record *record);
void spinlock_stats_add(struct spinlock_stats *stats,
			const struct spinlock_record *record,
			const struct spinlock_rates *rates, unsigned int cpu, uint64_t ticks);
void spinlock_stats_finish(struct spinlock_stats *stats);
void spinlock_stats_free(struct spinlock_stats *stats);

#endif /* _NTKLOG_SPINLOCK_STATS_H */
