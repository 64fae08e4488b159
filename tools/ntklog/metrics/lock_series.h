/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LOCK_SERIES_H
#define _NTKLOG_LOCK_SERIES_H

/*
 * Series of locks, which sum up all intervals, and only grow. At most @series_limit classes have
 * series of their own, and so do at most @series_limit pairs of a class and a function. A series
 * stays once it is there; everything else is in the series "other" of the kind or of the class.
 * Each class may also have the holders "free" and "unknown".
 */

#include <stdbool.h>
#include <stddef.h>

#include "hash.h"
#include "time_buckets.h"

/* Class or holder of the series that has everything without a series of its own. */
#define OTHER_SERIES	"other"

/*
 * @key: kind, a line feed, and the class
 * @class: class, in @key
 */
struct lock_series {
	char *key;
	const char *kind;
	const char *class;
	double acquisition_count;
	double contended_count;
	struct time_buckets wait;
	struct time_buckets hold;
	UT_hash_handle hh;
};

/*
 * @key: key of @lock, a line feed, and the holder
 * @holder: holder, in @key
 */
struct holder_series {
	char *key;
	const struct lock_series *lock;
	const char *holder;
	double seconds;
	UT_hash_handle hh;
};

/*
 * The series; all zero but for @series_limit: none.
 * @series_limit: most classes, and most pairs of a class and a function, that have series of their
 *	own
 * @lock_count: number of @locks that are not of others
 * @idle_count: number of these that had not waited when they got their series
 * @holder_count: number of @holders that are functions
 */
struct lock_metrics {
	size_t series_limit;
	struct lock_series *locks;
	size_t lock_count;
	size_t idle_count;
	struct holder_series *holders;
	size_t holder_count;
	bool no_memory;
};

struct lock_series *lock_series_find(const struct lock_metrics *metrics, const char *kind,
				     const char *class);
struct lock_series *lock_series_add(struct lock_metrics *metrics, const char *kind,
				    const char *class);
struct lock_series *lock_series_find_other(struct lock_metrics *metrics, const char *kind);
struct holder_series *holder_series_find(const struct lock_metrics *metrics,
					 const struct lock_series *lock,
					 const char *holder);
struct holder_series *holder_series_add(struct lock_metrics *metrics,
					const struct lock_series *lock, const char *holder);

#endif /* _NTKLOG_LOCK_SERIES_H */
