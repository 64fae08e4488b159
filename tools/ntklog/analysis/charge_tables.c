// SPDX-License-Identifier: GPL-2.0-only
/* The tables of the sums of charged pieces: see charge_tables.h. */

#include <stdlib.h>
#include <string.h>

#include "charge_mix.h"
#include "charge_tables.h"
#include "macros.h"
#include "resource_kind.h"

/* Number of values that size_bucket_of_sum() can return. */
#define SIZE_BUCKETS	252

/* First size of charge_sums::row_index. It must be a power of two. */
#define FIRST_INDEX_SIZE	1024

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

static bool keys_are_equal(const struct charge_row_key *a, const struct charge_row_key *b)
{
	return a->class == b->class && a->first_label == b->first_label &&
	       a->second_label == b->second_label && a->kind == b->kind;
}

/* Return the entry of @row_index that has the row, or in which it is to be entered. */
static uint32_t *find_index_entry(const struct charge_sums *sums, const struct charge_row_key *key)
{
	/* No file can choose the addresses, so the hash needs no secret. */
	size_t at = mix_numbers((uintptr_t)key->class + key->kind, (uintptr_t)key->first_label,
				(uintptr_t)key->second_label) >> 32;

	for (;; at++) {
		uint32_t *entry = &sums->row_index[at & (sums->row_index_size - 1)];

		if (!*entry || keys_are_equal(&sums->rows[*entry - 1].key, key))
			return entry;
	}
}

static void index_rows(struct charge_sums *sums)
{
	size_t i;

	memset(sums->row_index, 0, sums->row_index_size * sizeof(*sums->row_index));
	for (i = 0; i < sums->row_count; i++)
		*find_index_entry(sums, &sums->rows[i].key) = i + 1;
}

static inline bool has_room_for_row(const struct charge_sums *sums)
{
	return sums->row_count < sums->row_index_size / 2;
}

/* Make room for more rows. Returns false without memory. */
static bool grow_rows(struct charge_sums *sums)
{
	size_t size = sums->row_index_size ? 2 * sums->row_index_size : FIRST_INDEX_SIZE;
	struct charge_row *rows;
	uint32_t *index;

	rows = reallocarray(sums->rows, size / 2, sizeof(*rows));
	if (!rows)
		return false;
	sums->rows = rows;
	index = reallocarray(sums->row_index, size, sizeof(*index));
	if (!index)
		return false;
	sums->row_index = index;
	sums->row_index_size = size;
	index_rows(sums);
	return true;
}

/**
 * charge_find_row() - find a row, or add it
 * @sums: open
 * @key: key of the row, whose class and labels are of @sums
 *
 * Return: the row, which moves when another one is added; NULL without memory.
 */
struct charge_row *charge_find_row(struct charge_sums *sums, const struct charge_row_key *key)
{
	uint32_t *entry;

	if (!has_room_for_row(sums) && !grow_rows(sums)) {
		sums->no_memory = true;
		return NULL;
	}
	entry = find_index_entry(sums, key);
	if (!*entry) {
		sums->rows[sums->row_count++] = (struct charge_row) { .key = *key };
		*entry = sums->row_count;
	}
	return &sums->rows[*entry - 1];
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
	if (row->greatest_variance_part > sum->greatest_variance_part)
		sum->greatest_variance_part = row->greatest_variance_part;
	if (row->longest_piece > sum->longest_piece)
		sum->longest_piece = row->longest_piece;
}

/*
 * Add a row to the row "(others)" of its kind, and mark it as dropped. @others_numbers has the
 * numbers plus 1 of the rows "(others)" that were found.
 */
static void add_row_to_others(struct charge_sums *sums, size_t number, size_t *others_numbers)
{
	size_t *others_number = &others_numbers[sums->rows[number].key.kind];

	if (!*others_number) {
		struct charge_label *others = &sums->fixed_labels[CHARGE_LABEL_OTHERS];
		struct charge_row *sum = charge_find_row(sums, &(struct charge_row_key) {
			.class = &sums->fallback_class,
			.kind = sums->rows[number].key.kind,
			.first_label = others,
			.second_label = others,
		});

		if (sum)
			*others_number = sum - sums->rows + 1;
	}
	if (*others_number)
		charge_row_add(&sums->rows[*others_number - 1], &sums->rows[number]);
	sums->rows[number].key.class = NULL;
}

/* Drop the light rows, and the rows of dropped classes: if such a class returns, it begins anew. */
static void drop_light_rows(struct charge_sums *sums)
{
	size_t counts[SIZE_BUCKETS] = { 0 }, others_numbers[CHARGE_ROW_KINDS] = { 0 };
	size_t count = sums->row_count, kept = 0, i;
	struct size_limit limit;

	for (i = 0; i < count; i++)
		counts[size_bucket_of_sum(sums->rows[i].ticks)]++;
	limit = find_size_limit(counts, CHARGE_ROWS_KEPT);
	for (i = 0; i < count; i++) {
		const struct charge_row *row = &sums->rows[i];

		if (!charge_row_is_of_others(sums, row) &&
		    (row->key.class->is_dropped || !is_kept(&limit, row->ticks)))
			add_row_to_others(sums, i, others_numbers);
	}
	for (i = 0; i < sums->row_count; i++)
		if (sums->rows[i].key.class)
			sums->rows[kept++] = sums->rows[i];
	sums->row_count = kept;
	if (kept)
		index_rows(sums);
}

static void drop_unused_labels(struct charge_sums *sums)
{
	struct charge_label *label;
	struct charge_row *row;

	for (label = sums->labels.labels; label; label = label->hh.next)
		label->is_used = false;
	for_each_charge_row(row, sums) {
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
	    sums->row_count < 2 * CHARGE_ROWS_KEPT &&
	    HASH_COUNT(sums->labels.labels) < CHARGE_LABELS_MAX)
		return;
	choose_light_classes(sums);
	drop_light_rows(sums);
	drop_light_classes(sums);
	drop_unused_labels(sums);
	memset(sums->class_cache, 0, sizeof(sums->class_cache));
	sums->current_class = NULL;
	sums->waiter_label = NULL;
}

/**
 * charge_row_is_of_others() - test whether a row is the sum of rows that were dropped
 * @sums: open or finished
 * @row: row of @sums
 *
 * Return: true if @row is such a sum, which has the key of add_row_to_others().
 */
bool charge_row_is_of_others(const struct charge_sums *sums, const struct charge_row *row)
{
	return row->key.class == &sums->fallback_class &&
	       row->key.first_label == &sums->fixed_labels[CHARGE_LABEL_OTHERS];
}

static bool has_class(const struct charge_sums *sums, const struct charged_class_key *key)
{
	const struct charged_class *class;

	HASH_FIND(hh, sums->classes, key, sizeof(*key), class);
	return class;
}

/**
 * charged_class_has_namesake() - test whether tasks waited for locks of two kinds in one class
 * @sums: finished
 * @key: the class
 *
 * Return: true if @sums has the class with another kind of lock, too.
 */
bool charged_class_has_namesake(const struct charge_sums *sums,
				const struct charged_class_key *key)
{
	struct charged_class_key other = { .class = key->class };

	if (key->is_sleeping_lock && has_class(sums, &other))
		return true;
	other.is_sleeping_lock = true;
	for (; other.kind <= RESOURCE_KINDS; other.kind++)
		if (memcmp(&other, key, sizeof(other)) && has_class(sums, &other))
			return true;
	return false;
}

/**
 * charged_class_kind_name() - name the kind of lock of a class
 * @key: the class
 *
 * Return: a name of resource_kinds; "spinlock" of spin locks and rwlocks; "lock" if the file has a
 * kind that no lock has.
 */
const char *charged_class_kind_name(const struct charged_class_key *key)
{
	if (!key->is_sleeping_lock)
		return "spinlock";
	return key->kind < RESOURCE_KINDS ? resource_kinds[key->kind].name : "lock";
}
