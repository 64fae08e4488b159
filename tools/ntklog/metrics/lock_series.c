// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <string.h>

#include "charge_labels.h"
#include "lock_series.h"
#include "names.h"

#define LOCK_KEY_SIZE	(NAME_SIZE + 32)
#define HOLDER_KEY_SIZE	(LOCK_KEY_SIZE + CHARGE_LABEL_SIZE)

/**
 * lock_series_find() - find the series of a class
 * @metrics: series
 * @kind: kind of lock
 * @class: class
 *
 * Return: the series, or NULL if the class has none.
 */
struct lock_series *lock_series_find(const struct lock_metrics *metrics, const char *kind,
				     const char *class)
{
	struct lock_series *series;
	char key[LOCK_KEY_SIZE];

	snprintf(key, sizeof(key), "%s\n%s", kind, class);
	HASH_FIND_STR(metrics->locks, key, series);
	return series;
}

/**
 * lock_series_add() - add a series, whatever the limit is
 * @metrics: series
 * @kind: kind of lock, a text that stays
 * @class: class that has no series yet
 *
 * Return: the series, or NULL without memory.
 */
struct lock_series *lock_series_add(struct lock_metrics *metrics, const char *kind,
				    const char *class)
{
	struct lock_series *series = calloc(1, sizeof(*series));
	char key[LOCK_KEY_SIZE];

	snprintf(key, sizeof(key), "%s\n%s", kind, class);
	if (series)
		series->key = strdup(key);
	if (series && series->key) {
		series->kind = kind;
		series->class = series->key + strlen(kind) + 1;
		HASH_ADD_KEYPTR(hh, metrics->locks, series->key, strlen(series->key), series);
		if (series->hh.tbl)
			return series;
	}
	metrics->no_memory = true;
	if (series)
		free(series->key);
	free(series);
	return NULL;
}

/**
 * lock_series_find_other() - find the series of all classes of a kind that have none of their own
 * @metrics: series
 * @kind: kind of lock, a text that stays
 *
 * Return: the series, or NULL without memory.
 */
struct lock_series *lock_series_find_other(struct lock_metrics *metrics, const char *kind)
{
	struct lock_series *series = lock_series_find(metrics, kind, OTHER_SERIES);

	return series ? series : lock_series_add(metrics, kind, OTHER_SERIES);
}

/**
 * holder_series_find() - find the series of a holder
 * @metrics: series
 * @lock: series of the class of locks
 * @holder: holder
 *
 * Return: the series, or NULL if the holder has none.
 */
struct holder_series *holder_series_find(const struct lock_metrics *metrics,
					 const struct lock_series *lock, const char *holder)
{
	struct holder_series *series;
	char key[HOLDER_KEY_SIZE];

	snprintf(key, sizeof(key), "%s\n%s", lock->key, holder);
	HASH_FIND_STR(metrics->holders, key, series);
	return series;
}

/**
 * holder_series_add() - add a series, whatever the limit is
 * @metrics: series
 * @lock: series of the class of locks
 * @holder: holder that has no series yet
 *
 * Return: the series, or NULL without memory.
 */
struct holder_series *holder_series_add(struct lock_metrics *metrics,
					const struct lock_series *lock, const char *holder)
{
	struct holder_series *series = calloc(1, sizeof(*series));
	char key[HOLDER_KEY_SIZE];

	snprintf(key, sizeof(key), "%s\n%s", lock->key, holder);
	if (series)
		series->key = strdup(key);
	if (series && series->key) {
		series->lock = lock;
		series->holder = series->key + strlen(lock->key) + 1;
		HASH_ADD_KEYPTR(hh, metrics->holders, series->key, strlen(series->key), series);
		if (series->hh.tbl)
			return series;
	}
	metrics->no_memory = true;
	if (series)
		free(series->key);
	free(series);
	return NULL;
}
