// SPDX-License-Identifier: GPL-2.0-only
/* The tables of the sums of charged pieces: see charge_tables.h. */

#include <stdlib.h>
#include <string.h>

#include "charge_mix.h"
#include "charge_tables.h"
#include "macros.h"

/* Number of values that size_bucket_of_sum() can return. */
#define SIZE_BUCKETS	252

/* Return the size bucket of a sum. Sums of one size bucket differ by a quarter at most. */
static unsigned int size_bucket_of_sum(uint64_t ticks)
{
	unsigned int bits = ticks < 8 ? 0 : 61 - __builtin_clzll(ticks);

	return 4 * bits + (ticks >> bits);
}

/* Which sums are kept: all of @size_bucket and above, and @extra_count of the bucket below. */
struct size_limit {
	unsigned int size_bucket;
	size_t extra_count;
};

static struct size_limit find_size_limit(const size_t *counts, size_t kept)
{
	struct size_limit limit = { SIZE_BUCKETS, kept };

	while (limit.size_bucket && counts[limit.size_bucket - 1] <= limit.extra_count) {
		limit.size_bucket--;
		limit.extra_count -= counts[limit.size_bucket];
	}
	return limit;
}

static bool is_kept(struct size_limit *limit, uint64_t ticks)
{
	unsigned int size_bucket = size_bucket_of_sum(ticks);

	if (size_bucket >= limit->size_bucket)
		return true;
	if (size_bucket + 1 < limit->size_bucket || !limit->extra_count)
		return false;
	limit->extra_count--;
	return true;
}

static void choose_light_classes(struct charge_sums *sums)
{
	struct charged_class *class;
	size_t counts[SIZE_BUCKETS] = { 0 };
	struct size_limit limit;

	for (class = sums->classes; class; class = class->hh.next)
		counts[size_bucket_of_sum(class->sum.wait_ticks)]++;
	limit = find_size_limit(counts, CHARGE_CLASSES_KEPT);
	for (class = sums->classes; class; class = class->hh.next)
		class->is_dropped = !is_kept(&limit, class->sum.wait_ticks);
}

static void drop_light_classes(struct charge_sums *sums)
{
	struct charged_class *class, *next;

	HASH_ITER(hh, sums->classes, class, next) {
		if (!class->is_dropped)
			continue;
		HASH_DEL(sums->classes, class);
		free(class);
	}
}

/**
 * charge_find_row() - find a row, or add it
 * @sums: open
 * @key: key of the row, whose class and labels are of @sums
 *
 * Return: the row, or NULL without memory.
 */
struct charge_row *charge_find_row(struct charge_sums *sums, const struct charge_row_key *key)
{
	/* No file can choose the addresses, so the hash needs no secret. */
	uint32_t hash = charge_mix((uintptr_t)key->class + key->kind, (uintptr_t)key->first_label,
				   (uintptr_t)key->second_label) >> 32;
	struct charge_row **cached = &sums->row_cache[hash >> (32 - CHARGE_CACHE_BITS)];
	struct charge_row *row = *cached;

	if (row && !memcmp(&row->key, key, sizeof(*key)))
		return row;
	HASH_FIND_BYHASHVALUE(hh, sums->rows, key, sizeof(*key), hash, row);
	if (!row)
		hash_add_hashed(sums->rows, key, key, hash, row);
	sums->no_memory |= !row;
	*cached = row;
	return row;
}

/**
 * charge_row_add() - add the pieces of a row to another one
 * @sum: the other row
 * @row: the row
 */
void charge_row_add(struct charge_row *sum, const struct charge_row *row)
{
	sum->piece_count += row->piece_count;
	sum->ticks += row->ticks;
	sum->variance += row->variance;
	if (row->greatest_variance > sum->greatest_variance)
		sum->greatest_variance = row->greatest_variance;
	if (row->longest_piece > sum->longest_piece)
		sum->longest_piece = row->longest_piece;
}

/* Add a dropped row to the row "(others)" of its kind. */
static void fold_row(struct charge_sums *sums, const struct charge_row *row)
{
	struct charge_label *others = sums->fixed_labels[CHARGE_LABEL_OTHERS];
	struct charge_row *sum = charge_find_row(sums, &(struct charge_row_key) {
		.class = &sums->fallback_class,
		.kind = row->key.kind,
		.first_label = others,
		.second_label = others,
	});

	if (sum)
		charge_row_add(sum, row);
}

/* Drop the light rows, and the rows of dropped classes: if such a class returns, it begins anew. */
static void drop_light_rows(struct charge_sums *sums)
{
	struct charge_row *row, *next;
	size_t counts[SIZE_BUCKETS] = { 0 };
	struct size_limit limit;

	for (row = sums->rows; row; row = row->hh.next)
		counts[size_bucket_of_sum(row->ticks)]++;
	limit = find_size_limit(counts, CHARGE_ROWS_KEPT);
	HASH_ITER(hh, sums->rows, row, next) {
		if (charge_row_is_of_others(sums, row))
			continue;
		if (!row->key.class->is_dropped && is_kept(&limit, row->ticks))
			continue;
		HASH_DEL(sums->rows, row);
		fold_row(sums, row);
		free(row);
	}
}

static void drop_unused_labels(struct charge_sums *sums)
{
	struct charge_label *label;
	struct charge_row *row;
	size_t i;

	for (label = sums->labels.labels; label; label = label->hh.next)
		label->is_used = false;
	for (i = 0; i < CHARGE_FIXED_LABELS; i++)
		sums->fixed_labels[i]->is_used = true;
	for (row = sums->rows; row; row = row->hh.next) {
		row->key.first_label->is_used = true;
		row->key.second_label->is_used = true;
	}
	label_table_drop_unused(&sums->labels);
}

/**
 * charge_limit_tables() - drop the lightest entries of full tables
 * @sums: open; the caller keeps no pointer to a class, row or label
 */
void charge_limit_tables(struct charge_sums *sums)
{
	if (HASH_COUNT(sums->classes) < 2 * CHARGE_CLASSES_KEPT &&
	    HASH_COUNT(sums->rows) < 2 * CHARGE_ROWS_KEPT &&
	    HASH_COUNT(sums->labels.labels) < CHARGE_LABELS_MAX)
		return;
	memset(sums->row_cache, 0, sizeof(sums->row_cache));
	choose_light_classes(sums);
	drop_light_rows(sums);
	drop_light_classes(sums);
	drop_unused_labels(sums);
	sums->current_class = NULL;
	sums->waiter_label = NULL;
}

/**
 * charge_row_is_of_others() - test whether a row is the sum of rows that were dropped
 * @sums: open or finished
 * @row: row of @sums
 *
 * Return: true if @row is such a sum, or if its label could not be allocated.
 */
bool charge_row_is_of_others(const struct charge_sums *sums, const struct charge_row *row)
{
	return row->key.first_label == sums->fixed_labels[CHARGE_LABEL_OTHERS];
}
