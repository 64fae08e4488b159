// SPDX-License-Identifier: GPL-2.0-only
/* The tables of the sums of charged pieces: see charge_tables.h. */

#include <stdlib.h>
#include <string.h>

#include "charge_tables.h"

/* Number of values that size_bucket_of_sum() can return. */
#define SUM_SIZES	252

/* Return the size bucket of a sum. Sums of one size bucket differ by a quarter at most. */
static unsigned int size_bucket_of_sum(uint64_t ticks)
{
	unsigned int bits = ticks < 8 ? 0 : 61 - __builtin_clzll(ticks);

	return 4 * bits + (ticks >> bits);
}

/* Which sums are kept: all of @size_bucket and above, and @extra_count of the bucket below. */
struct limit {
	unsigned int size_bucket;
	size_t extra_count;
};

static struct limit find_limit(const size_t *counts, size_t kept)
{
	struct limit limit = { SUM_SIZES, kept };

	while (limit.size_bucket && counts[limit.size_bucket - 1] <= limit.extra_count) {
		limit.size_bucket--;
		limit.extra_count -= counts[limit.size_bucket];
	}
	return limit;
}

static bool is_kept(struct limit *limit, uint64_t ticks)
{
	unsigned int size_bucket = size_bucket_of_sum(ticks);

	if (size_bucket >= limit->size_bucket)
		return true;
	if (size_bucket + 1 < limit->size_bucket || !limit->extra_count)
		return false;
	limit->extra_count--;
	return true;
}

static void drop_light_classes(struct charge_sums *sums)
{
	struct charge_class *class, *next;
	size_t counts[SUM_SIZES] = { 0 };
	struct limit limit;

	for (class = sums->classes; class; class = class->hh.next)
		counts[size_bucket_of_sum(class->sum.wait)]++;
	limit = find_limit(counts, CHARGE_CLASSES_KEPT);
	HASH_ITER(hh, sums->classes, class, next) {
		if (is_kept(&limit, class->sum.wait))
			continue;
		HASH_DEL(sums->classes, class);
		free(class);
	}
}

/**
 * charge_row_add() - add the pieces of a row to another one
 * @sum: the other row
 * @row: the row
 */
void charge_row_add(struct charge_row *sum, const struct charge_row *row)
{
	sum->pieces += row->pieces;
	sum->ticks += row->ticks;
	sum->variance += row->variance;
	if (row->greatest_variance > sum->greatest_variance)
		sum->greatest_variance = row->greatest_variance;
	if (row->longest > sum->longest)
		sum->longest = row->longest;
}

/* Add a dropped row to the row "(others)" of its kind. */
static void fold_row(struct charge_sums *sums, const struct charge_row *row)
{
	struct charge_label *others = sums->fixed[CHARGE_LABEL_OTHERS];
	const struct charge_row_key key = {
		.kind = row->key.kind,
		.first = others,
		.second = others,
	};
	struct charge_row *sum;

	hash_find_or_add(sums->rows, key, &key, UINT32_MAX, sum);
	sums->no_memory |= !sum;
	if (!sum)
		return;
	charge_row_add(sum, row);
}

/* Drop the light rows, and the rows of dropped classes: if such a class returns, it begins anew. */
static void drop_light_rows(struct charge_sums *sums)
{
	struct charge_row *row, *next;
	struct charge_class *class;
	size_t counts[SUM_SIZES] = { 0 };
	struct limit limit;

	for (row = sums->rows; row; row = row->hh.next)
		counts[size_bucket_of_sum(row->ticks)]++;
	limit = find_limit(counts, CHARGE_ROWS_KEPT);
	HASH_ITER(hh, sums->rows, row, next) {
		if (charge_row_is_of_others(sums, row))
			continue;
		HASH_FIND(hh, sums->classes, &row->key.class, sizeof(row->key.class), class);
		if (class && is_kept(&limit, row->ticks))
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
		sums->fixed[i]->is_used = true;
	for (row = sums->rows; row; row = row->hh.next) {
		row->key.first->is_used = true;
		row->key.second->is_used = true;
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
	drop_light_classes(sums);
	drop_light_rows(sums);
	drop_unused_labels(sums);
	sums->current = NULL;
	sums->waiter = NULL;
	memset(sums->row_cache, 0, sizeof(sums->row_cache));
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
	return row->key.first == sums->fixed[CHARGE_LABEL_OTHERS];
}
