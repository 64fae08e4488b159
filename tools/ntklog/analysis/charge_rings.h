/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_RINGS_H
#define _NTKLOG_CHARGE_RINGS_H

/*
 * The newest holds and absences, for charge.c and charge_search.c: they are kept in two rings. Each
 * hold links to an older one of the same bucket of locks or of tasks, so that looking back from a
 * wait passes few others. An absence links to older ones of its task. A link to an entry that has
 * been overwritten ends the list.
 */

#include <stddef.h>

#include "charge_hold.h"
#include "charge_order.h"

#define CHARGE_BUCKET_BITS	16

/* Holds that one wait is charged to; the time of further ones is unknown. */
#define CHARGE_OVERLAPS_MAX	4096

/**
 * struct charger - rings of the newest holds and absences, and the wait that is being charged
 * @sorter: the holds that wait for late ones
 * @holds: ring of the newest holds
 * @hold_frames: their stacks
 * @block_frames: their stacks when they were blocked
 * @hold_count: number of holds so far; the newest has this number minus 1
 * @absences: ring of the newest absences
 * @absence_frames: their stacks
 * @absence_count: number of absences so far
 * @lock_heads: number of the newest hold of each bucket of locks, plus 1
 * @wait_heads: number of the newest hold that followed a wait, of each bucket of
 *	find_charge_owner(), plus 1
 * @absence_heads: number of the newest absence of each bucket of tasks, plus 1. It begins a list of
 *	the newest absence of each task of the bucket, the newest first
 * @overlaps: holds that overlap the wait that is being charged
 * @visits_max: greatest number of holds that one search for a wait or a holder visits
 * @callback: gets each piece of a wait
 * @argument: for @callback
 * @emits_runs: each time in which a holder ran is a piece; otherwise their sum is
 */
struct charger {
	struct release_sorter sorter;
	struct charge_hold *holds;
	uint64_t (*hold_frames)[CHARGE_FRAMES_MAX];
	uint64_t (*block_frames)[CHARGE_FRAMES_MAX];
	uint64_t hold_count;
	struct charge_absence *absences;
	uint64_t (*absence_frames)[CHARGE_FRAMES_MAX];
	uint64_t absence_count;
	uint64_t lock_heads[1 << CHARGE_BUCKET_BITS];
	uint64_t wait_heads[1 << CHARGE_BUCKET_BITS];
	uint64_t absence_heads[1 << CHARGE_BUCKET_BITS];
	const struct charge_hold *overlaps[CHARGE_OVERLAPS_MAX];
	uint64_t visits_max;
	charge_callback callback;
	void *argument;
	bool emits_runs;
};

static inline size_t bucket_of_key(uint64_t key)
{
	return (key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CHARGE_BUCKET_BITS);
}

static inline const struct charge_hold *hold_at(const struct charger *charger, uint64_t link)
{
	if (!link || charger->hold_count - (link - 1) > CHARGE_KEPT_MAX)
		return NULL;
	return &charger->holds[(link - 1) % CHARGE_KEPT_MAX];
}

static inline uint64_t find_older_link(uint64_t link, int32_t distance)
{
	return distance ? link - distance : 0;
}

static inline struct charge_absence *absence_at(const struct charger *charger, uint64_t link)
{
	if (!link || charger->absence_count - (link - 1) > CHARGE_KEPT_MAX)
		return NULL;
	return &charger->absences[(link - 1) % CHARGE_KEPT_MAX];
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct charge_absence *charger_find_newest_absence(const struct charger *charger,
						   uint32_t thread_id);
const struct charge_absence *charger_find_last_absence(const struct charger *charger,
						       const struct charge_absence *newer,
						       uint32_t thread_id, uint64_t time);

#endif /* _NTKLOG_CHARGE_RINGS_H */
