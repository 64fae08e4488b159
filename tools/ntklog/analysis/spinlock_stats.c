// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_spinlock.h>

#include "spinlock_stats.h"

/**
 * find_spinlock_rule() - get the rules by which a record was written
 * @rates: parameters by which the record was sampled
 * @record: record
 *
 * Return: WMI_SPINLOCK_RULE_*; 0 in files without rules, where the byte is reserved.
 */
uint8_t find_spinlock_rule(const struct spinlock_rates *rates, const struct spinlock_record *record)
{
	return rates->has_rules ? record->rule : 0;
}

/**
 * compute_spinlock_weight() - get the number of acquisitions that a record stands for
 * @rates: parameters by which the record was sampled
 * @record: record
 *
 * NT writes every acquisition whose hold is longer than the hold threshold, unless that is 0. Of
 * the others of a CPU it writes every Nth uncontended one, N being the acquire rate, and every Nth
 * contended one that has spun enough, N being the contention rate. It does not write contended ones
 * with fewer spins, so they are not estimated. Records of mode sampled (WMI_SPINLOCK_RULE_SAMPLED)
 * are chosen at the acquisition, whatever the hold will be.
 *
 * Return: number of acquisitions; 0 for a record that only the blocker rule has written.
 */
uint64_t compute_spinlock_weight(const struct spinlock_rates *rates,
				 const struct spinlock_record *record)
{
	uint32_t hold = record->release_time - record->acquire_time;

	if (find_spinlock_rule(rates, record) & WMI_SPINLOCK_RULE_BLOCKER_ONLY)
		return 0;
	if (!rates->is_known)
		return 1;
	if (!(find_spinlock_rule(rates, record) & WMI_SPINLOCK_RULE_SAMPLED) &&
	    rates->hold_threshold && hold > rates->hold_threshold)
		return 1;
	if (!record->spin_count)
		return rates->acquire_rate;
	return record->spin_count >= rates->spin_threshold ? rates->contention_rate : 1;
}

static bool add_record(struct spinlock_sum *sum, const struct spinlock_sample *sample,
		       uint64_t hold, bool in_step)
{
	const struct spinlock_record *record = sample->record;
	uint64_t weight = sample->weight;
	unsigned int depth = record->depth;

	sum->mode_mask |= UINT64_C(1) << record->mode;
	if (sample->rule & WMI_SPINLOCK_RULE_BLOCKER)
		sum->blocker_count++;
	if (sample->rule & WMI_SPINLOCK_RULE_BLOCKER_ONLY)
		return true;
	sum->record_count++;
	sum->in_step_count += in_step;
	sum->acquisition_count += weight;
	sum->dpc_count += record->dpc ? weight : 0;
	sum->isr_count += record->isr ? weight : 0;
	if (depth > sum->max_depth)
		sum->max_depth = depth;
	if (depth >= 1 && depth <= SPINLOCK_DEPTHS)
		sum->depth_counts[depth - 1] += weight;
	if (record->spin_count) {
		sum->contended_count += weight;
		sum->spin_count += (double)record->spin_count * (double)weight;
		if (!histogram_add(&sum->wait, record->wait_time, weight))
			return false;
	}
	if (sample->rule & WMI_SPINLOCK_RULE_WAIT) {
		sum->wait_only_count++;
		return true;
	}
	return histogram_add(&sum->hold, hold, weight) &&
	       (!record->interrupt_count || histogram_add(&sum->interrupted_hold, hold, weight));
}

static bool add_sum(struct spinlock_sum *sum, const struct spinlock_sum *more)
{
	unsigned int i;

	sum->record_count += more->record_count;
	sum->in_step_count += more->in_step_count;
	sum->acquisition_count += more->acquisition_count;
	sum->contended_count += more->contended_count;
	sum->spin_count += more->spin_count;
	sum->dpc_count += more->dpc_count;
	sum->isr_count += more->isr_count;
	for (i = 0; i < SPINLOCK_DEPTHS; i++)
		sum->depth_counts[i] += more->depth_counts[i];
	if (more->max_depth > sum->max_depth)
		sum->max_depth = more->max_depth;
	sum->mode_mask |= more->mode_mask;
	sum->wait_only_count += more->wait_only_count;
	sum->blocker_count += more->blocker_count;
	return histogram_merge(&sum->wait, &more->wait) &&
	       histogram_merge(&sum->hold, &more->hold) &&
	       histogram_merge(&sum->interrupted_hold, &more->interrupted_hold) &&
	       cpu_sums_merge(&sum->cpu_sums, &more->cpu_sums);
}

static void free_sum(struct spinlock_sum *sum)
{
	histogram_free(&sum->wait);
	histogram_free(&sum->hold);
	histogram_free(&sum->interrupted_hold);
	cpu_sums_free(&sum->cpu_sums);
}

static struct spinlock_pair **find_cached_pair(struct spinlock_stats *stats,
					       const struct spinlock_key *key)
{
	uint64_t mixed = (key->lock * 31 + key->caller) * UINT64_C(0x9E3779B97F4A7C15);

	return &stats->cache[mixed >> (64 - SPINLOCK_CACHE_BITS)];
}

static struct spinlock_score compute_score(const struct spinlock_pair *pair)
{
	return (struct spinlock_score) {
		.wait = pair->evicted_score.wait + pair->sum.wait.sum,
		.hold = pair->evicted_score.hold + pair->sum.hold.sum,
	};
}

static bool score_is_lower(const struct spinlock_score *left, const struct spinlock_score *right)
{
	return left->wait != right->wait ? left->wait < right->wait : left->hold < right->hold;
}

static void sift_down(struct spinlock_pair **heap, size_t count, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct spinlock_pair *pair = heap[at];

		for (; child <= 2 * at + 2 && child < count; child++)
			if (score_is_lower(&heap[child]->heap_score, &heap[least]->heap_score))
				least = child;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = pair;
		at = least;
	}
}

static bool make_heap(struct spinlock_stats *stats)
{
	size_t count = HASH_COUNT(stats->pairs), i = 0;
	struct spinlock_pair *pair;

	stats->heap = calloc(count, sizeof(*stats->heap));
	if (!stats->heap)
		return false;
	for (pair = stats->pairs; pair; pair = pair->hh.next) {
		pair->heap_score = compute_score(pair);
		stats->heap[i++] = pair;
	}
	for (i = count / 2; i--;)
		sift_down(stats->heap, count, i);
	return true;
}

/*
 * Find the lightest pair of a full table. Scores only grow, so that a pair's place in the heap is
 * corrected when the pair comes to the top.
 */
static struct spinlock_pair *find_lightest(struct spinlock_stats *stats)
{
	struct spinlock_pair *pair;
	struct spinlock_score score;

	for (;;) {
		pair = stats->heap[0];
		score = compute_score(pair);
		if (!score_is_lower(&pair->heap_score, &score))
			return pair;
		pair->heap_score = score;
		sift_down(stats->heap, HASH_COUNT(stats->pairs), 0);
	}
}

/*
 * Evict the lightest pair, whose records go to the others, and take its place with a pair for @key
 * (the Space-Saving algorithm). The new pair inherits the score.
 */
static struct spinlock_pair *replace_pair(struct spinlock_stats *stats,
					  const struct spinlock_key *key)
{
	struct spinlock_pair *pair, **cached;
	struct spinlock_entry *lock;

	if (!stats->heap && !make_heap(stats)) {
		stats->no_memory = true;
		return NULL;
	}
	pair = find_lightest(stats);
	if (!add_sum(&stats->others, &pair->sum))
		stats->no_memory = true;
	cached = find_cached_pair(stats, &pair->key);
	if (*cached == pair)
		*cached = NULL;
	lock = pair->lock;
	if (!--lock->pair_count) {
		HASH_DEL(stats->locks, lock);
		timeline_release(&stats->timelines, lock->timeline);
		free(lock);
	}
	free_sum(&pair->sum);
	HASH_DEL(stats->pairs, pair);
	stats->evicted_score = pair->heap_score;
	stats->evicted_count++;
	free(pair);
	hash_find_or_add(stats->locks, address, &key->lock, SPINLOCK_PAIRS_MAX, lock);
	pair = NULL;
	if (lock)
		hash_add(stats->pairs, key, key, pair);
	if (!pair) {
		/* The heap has lost its top, and is made again. */
		free(stats->heap);
		stats->heap = NULL;
		stats->no_memory = true;
		return NULL;
	}
	pair->lock = lock;
	lock->pair_count++;
	pair->evicted_score = stats->evicted_score;
	pair->heap_score = stats->evicted_score;
	stats->heap[0] = pair;
	sift_down(stats->heap, HASH_COUNT(stats->pairs), 0);
	return pair;
}

static struct spinlock_pair *make_pair(struct spinlock_stats *stats,
				       const struct spinlock_key *key)
{
	struct spinlock_pair *pair = NULL;
	struct spinlock_entry *lock;

	if (HASH_COUNT(stats->pairs) >= SPINLOCK_PAIRS_MAX)
		return replace_pair(stats, key);
	hash_find_or_add(stats->locks, address, &key->lock, SPINLOCK_PAIRS_MAX, lock);
	if (lock)
		hash_add(stats->pairs, key, key, pair);
	if (!pair) {
		stats->no_memory = true;
		return NULL;
	}
	pair->lock = lock;
	lock->pair_count++;
	return pair;
}

/**
 * spinlock_stats_find() - find the sums of a lock and a caller
 * @stats: sums to change
 * @lock: address of the lock, or key of its class
 * @caller: address of the caller
 *
 * The sums of all pairs may be larger than the caches of a CPU. So the pair's sums are prefetched.
 *
 * Return: the pair, which is valid until the next call; NULL without memory.
 */
struct spinlock_pair *spinlock_stats_find(struct spinlock_stats *stats, uint64_t lock,
					  uint64_t caller)
{
	const struct spinlock_key key = { lock, caller };
	struct spinlock_pair **cached = find_cached_pair(stats, &key), *pair = *cached;

	if (pair && pair->key.lock == key.lock && pair->key.caller == key.caller) {
		__builtin_prefetch(pair->sum.wait.counts, 1);
		__builtin_prefetch(pair->sum.hold.counts, 1);
		return pair;
	}
	HASH_FIND(hh, stats->pairs, &key, sizeof(key), pair);
	if (!pair)
		pair = make_pair(stats, &key);
	if (pair)
		*cached = pair;
	return pair;
}

/*
 * Test whether the sampling of a record may be in step with a loop. Only the acquire rate can be:
 * mode sampled chooses at random, and a record of weight 1 was written in any case.
 */
static bool is_in_step(struct spinlock_stats *stats, const struct spinlock_sample *sample)
{
	const struct spinlock_record *record = sample->record;
	bool in_step;

	if (record->spin_count || sample->weight < 2 ||
	    sample->rule & WMI_SPINLOCK_RULE_SAMPLED ||
	    !step_rate_fits_loops(sample->rates->acquire_rate))
		return false;
	if (!step_watch_add(&stats->step_watch, sample->origin.cpu,
			    record->lock * 31 + record->caller, &in_step))
		stats->no_memory = true;
	return in_step;
}

/**
 * spinlock_stats_add() - add a record
 * @stats: sums to change
 * @pair: from spinlock_stats_find(), for the lock and the caller of the record; NULL: the record is
 *	added to the sums of all others
 * @sample: record to add
 */
void spinlock_stats_add(struct spinlock_stats *stats, struct spinlock_pair *pair,
			const struct spinlock_sample *sample)
{
	struct spinlock_sum *sum = pair ? &pair->sum : &stats->others;
	const struct spinlock_record *record = sample->record;
	uint64_t hold = record->release_time - record->acquire_time;
	bool in_step = is_in_step(stats, sample);
	double weight = (double)sample->weight;

	stats->backward_count += record->is_backward;
	if (!add_record(sum, sample, hold, in_step))
		stats->no_memory = true;
	if ((stats->sums_by_cpu || sample->origin.observation != OBSERVATION_ON) &&
	    !cpu_sums_add(&sum->cpu_sums, &sample->origin, weight,
			  record->spin_count ? (double)record->wait_time * weight : 0))
		stats->no_memory = true;
	if (pair && record->spin_count && sample->weight)
		timeline_add_wait(&stats->timelines, &pair->lock->timeline, sample->origin.ticks,
				  record->wait_time, hold, weight);
}

/**
 * spinlock_stats_finish() - compute the sums of each lock and of all locks
 * @stats: sums to which no record is added any more
 */
void spinlock_stats_finish(struct spinlock_stats *stats)
{
	struct spinlock_pair *pair;

	for (pair = stats->pairs; pair; pair = pair->hh.next)
		if (!add_sum(&pair->lock->sum, &pair->sum) ||
		    !add_sum(&stats->total, &pair->sum))
			stats->no_memory = true;
	if (!add_sum(&stats->total, &stats->others))
		stats->no_memory = true;
}

/**
 * spinlock_stats_free() - free the sums
 * @stats: sums; all zero afterwards
 */
void spinlock_stats_free(struct spinlock_stats *stats)
{
	struct spinlock_pair *pair;
	struct spinlock_entry *lock;

	while ((pair = hash_take_first(stats->pairs))) {
		free_sum(&pair->sum);
		free(pair);
	}
	while ((lock = hash_take_first(stats->locks))) {
		free_sum(&lock->sum);
		free(lock);
	}
	step_watch_free(&stats->step_watch);
	timelines_free(&stats->timelines);
	free(stats->heap);
	free_sum(&stats->others);
	free_sum(&stats->total);
	*stats = (struct spinlock_stats) { 0 };
}
