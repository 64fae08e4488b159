// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <string.h>

#include <ntklog/wmi_spinlock.h>

#include "lock_metrics.h"
#include "resource_kind.h"

/* Class of the locks that neither a type, a cache nor a symbol names. An address is no label. */
#define UNNAMED_CLASS	"unnamed"

/* Holder of the waiting for free locks, and of waits before the first recorded hold. */
#define FREE_HOLDER	"free"
#define UNKNOWN_HOLDER	"unknown"

/*
 * Sums of a class of locks in an interval; of resources in one mode.
 * @key: key of the class, or the address of a lock without one; 0: the sum of all other locks
 * @wait: sum of the waits, cycles
 */
struct class_sums {
	const char *kind;
	struct charged_class_key key;
	char class[NAME_SIZE];
	const struct spinlock_sum *spinlock;
	const struct resource_sum *resource;
	double wait;
	double acquisition_count;
	struct lock_series *series;
};

struct interval_sums {
	struct class_sums *classes;
	size_t class_count;
};

static const char *kind_of_modes(uint64_t modes)
{
	const uint64_t ordinary = UINT64_C(1) << WMI_SPINLOCK_ORDINARY |
				  UINT64_C(1) << WMI_SPINLOCK_QUEUED;

	return modes & ~ordinary ? "rwlock" : "spinlock";
}

static void format_class_name(const struct names *names, uint64_t key, char *class)
{
	if (names_key_is_class(names, key) ||
	    names_format_symbol(names, key, NAMES_OF_ANY, class, NAME_SIZE))
		names_format_address(names, key, class, NAME_SIZE);
	else
		snprintf(class, NAME_SIZE, UNNAMED_CLASS);
}

static void add_spinlock(struct interval_sums *sums, const char *class, uint64_t key,
			 const struct spinlock_sum *spinlock)
{
	struct class_sums *sum = &sums->classes[sums->class_count];

	if (!spinlock->record_count)
		return;
	*sum = (struct class_sums) {
		.kind = kind_of_modes(spinlock->mode_mask),
		.key.class = key,
		.spinlock = spinlock,
		.wait = spinlock->wait.sum,
		/* Records of waits alone do not tell the number of acquisitions. */
		.acquisition_count =
			spinlock->wait_only_count ? 0 : (double)spinlock->acquisition_count,
	};
	snprintf(sum->class, sizeof(sum->class), "%s", class);
	sums->class_count++;
}

static void add_resource(struct interval_sums *sums, const char *class,
			 const struct resource_entry *entry, enum resource_kind kind)
{
	unsigned int i;

	for (i = 0; i < RESOURCE_ACCESSES; i++) {
		const struct resource_sum *resource = &entry->sums[i];
		struct class_sums *sum = &sums->classes[sums->class_count];

		if (!resource->record_count)
			continue;
		*sum = (struct class_sums) {
			.kind = resource_kinds[kind].name,
			.key = { entry->key.address, true, kind },
			.resource = resource,
			.wait = resource->wait.sum,
			.acquisition_count = (double)resource->release_count,
		};
		snprintf(sum->class, sizeof(sum->class), "%s", class);
		sums->class_count++;
	}
}

static bool list_classes(struct interval_sums *sums, const struct analysis *analysis)
{
	const struct spinlock_stats *spinlocks = &analysis->spinlocks;
	const struct resource_stats *resources = &analysis->resources;
	size_t most = HASH_COUNT(spinlocks->locks) + 1 +
		      RESOURCE_ACCESSES * (HASH_COUNT(resources->resources) + RESOURCE_KINDS);
	const struct resource_entry *resource;
	const struct spinlock_entry *lock;
	char class[NAME_SIZE];
	unsigned int kind;

	sums->classes = calloc(most, sizeof(*sums->classes));
	if (!sums->classes)
		return false;
	for (lock = spinlocks->locks; lock; lock = lock->hh.next) {
		format_class_name(analysis->names, lock->address, class);
		add_spinlock(sums, class, lock->address, &lock->sum);
	}
	add_spinlock(sums, OTHER_SERIES, 0, &spinlocks->others);
	for (resource = resources->resources; resource; resource = resource->hh.next) {
		format_class_name(analysis->names, resource->key.address, class);
		add_resource(sums, class, resource, resource->key.kind);
	}
	for (kind = 0; kind < RESOURCE_KINDS; kind++)
		add_resource(sums, OTHER_SERIES, &resources->others[kind], kind);
	return true;
}

static int compare_classes(const void *left, const void *right)
{
	const struct class_sums *a = left, *b = right;

	if (a->wait != b->wait)
		return a->wait < b->wait ? 1 : -1;
	if (a->acquisition_count != b->acquisition_count)
		return a->acquisition_count < b->acquisition_count ? 1 : -1;
	return strcmp(a->class, b->class);
}

/*
 * Find the series of a class, or give it one. Classes that have not waited take at most half of the
 * series, so that there are some for locks that become contended later.
 */
static struct lock_series *find_or_add_series(struct lock_metrics *metrics,
					      const struct class_sums *sum)
{
	struct lock_series *series = lock_series_find(metrics, sum->kind, sum->class);
	bool is_idle = !(sum->wait > 0);

	if (series)
		return series;
	if (!strcmp(sum->class, OTHER_SERIES) || metrics->lock_count >= metrics->series_limit ||
	    (is_idle && metrics->idle_count >= metrics->series_limit / 2))
		return lock_series_find_other(metrics, sum->kind);
	series = lock_series_add(metrics, sum->kind, sum->class);
	if (series) {
		metrics->lock_count++;
		metrics->idle_count += is_idle;
	}
	return series;
}

static void add_sums(struct lock_series *series, const struct class_sums *sum,
		     double cycle_seconds)
{
	series->acquisition_count += sum->acquisition_count;
	if (sum->spinlock) {
		series->contended_count += (double)sum->spinlock->contended_count;
		time_buckets_add(&series->wait, &sum->spinlock->wait, cycle_seconds);
		time_buckets_add(&series->hold, &sum->spinlock->hold, cycle_seconds);
	} else {
		series->contended_count += (double)sum->resource->waited_count;
		time_buckets_add(&series->wait, &sum->resource->wait, cycle_seconds);
		time_buckets_add(&series->hold, &sum->resource->hold, cycle_seconds);
	}
}

static int compare_keys(const void *left, const void *right)
{
	const struct class_sums *a = left, *b = right;

	return memcmp(&a->key, &b->key, sizeof(a->key));
}

/* Find the series of the class of a row; the classes are in the order of compare_keys(). */
static struct lock_series *find_series_of_row(struct lock_metrics *metrics,
					      const struct interval_sums *sums,
					      const struct charge_row *row)
{
	const struct class_sums key = { .key = row->key.class->key };
	const struct class_sums *sum = sums->class_count ?
		bsearch(&key, sums->classes, sums->class_count, sizeof(*sum),
			compare_keys) : NULL;

	if (sum)
		return sum->series;
	return lock_series_find_other(metrics, charged_class_kind_name(&key.key));
}

static const char *holder_name_of_row(const struct charge_sums *charge_sums,
				      const struct charge_row *row)
{
	const struct charge_label *holder = row->key.second_label;

	if (holder == &charge_sums->fixed_labels[CHARGE_LABEL_HANDED_OVER] ||
	    holder == &charge_sums->fixed_labels[CHARGE_LABEL_OVERTAKEN])
		return FREE_HOLDER;
	if (holder == &charge_sums->fixed_labels[CHARGE_LABEL_UNKNOWN])
		return UNKNOWN_HOLDER;
	if (holder == &charge_sums->fixed_labels[CHARGE_LABEL_OTHERS] ||
	    !strncmp(holder->text, "0x", 2))
		return OTHER_SERIES;
	return holder->text;
}

static int compare_rows(const void *left, const void *right)
{
	const struct charge_row *a = *(const struct charge_row *const *)left;
	const struct charge_row *b = *(const struct charge_row *const *)right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? 1 : -1;
	return strcmp(a->key.second_label->text, b->key.second_label->text);
}

/* Test whether a holder is a function. Other holders do not count for the limit. */
static bool holder_is_function(const char *holder)
{
	return strcmp(holder, OTHER_SERIES) && strcmp(holder, FREE_HOLDER) &&
	       strcmp(holder, UNKNOWN_HOLDER);
}

static void add_row(struct lock_metrics *metrics, const struct interval_sums *sums,
		    const struct charge_sums *charge_sums, const struct charge_row *row,
		    double seconds)
{
	const char *holder = holder_name_of_row(charge_sums, row);
	struct lock_series *lock = find_series_of_row(metrics, sums, row);
	struct holder_series *series;

	if (!lock)
		return;
	series = holder_series_find(metrics, lock, holder);
	if (!series && holder_is_function(holder) &&
	    metrics->holder_count >= metrics->series_limit) {
		holder = OTHER_SERIES;
		series = holder_series_find(metrics, lock, holder);
	}
	if (!series) {
		series = holder_series_add(metrics, lock, holder);
		metrics->holder_count += series && holder_is_function(holder);
	}
	if (series)
		series->seconds += seconds;
}

static void add_holder_series(struct lock_metrics *metrics, const struct interval_sums *sums,
			      const struct analysis *analysis, const struct etl_file *file)
{
	const struct charge_sums *charge_sums = &analysis->charge_sums;
	size_t count = charge_sums->row_count, used = 0, i;
	const struct charge_row **rows = calloc(count + 1, sizeof(*rows));
	const struct charge_row *row;

	if (!rows) {
		metrics->no_memory = true;
		return;
	}
	for_each_charge_row(row, charge_sums)
		if (row->key.kind == CHARGE_ROW_BLOCKER)
			rows[used++] = row;
	qsort(rows, used, sizeof(*rows), compare_rows);
	for (i = 0; i < used; i++)
		add_row(metrics, sums, charge_sums, rows[i],
			(double)rows[i]->ticks / (double)file->perf_freq);
	free(rows);
}

/**
 * lock_metrics_add() - add the sums of an interval
 * @metrics: series to change
 * @analysis: finished sums
 * @file: header of the trace, with its clocks
 */
void lock_metrics_add(struct lock_metrics *metrics, const struct analysis *analysis,
		      const struct etl_file *file)
{
	double cycle_seconds = etl_cycles_ns(file, 1) / 1e9;
	struct interval_sums sums = { 0 };
	size_t i;

	if (!list_classes(&sums, analysis)) {
		metrics->no_memory = true;
		return;
	}
	qsort(sums.classes, sums.class_count, sizeof(*sums.classes), compare_classes);
	for (i = 0; i < sums.class_count; i++) {
		struct class_sums *sum = &sums.classes[i];

		sum->series = find_or_add_series(metrics, sum);
		if (sum->series)
			add_sums(sum->series, sum, cycle_seconds);
	}
	qsort(sums.classes, sums.class_count, sizeof(*sums.classes), compare_keys);
	add_holder_series(metrics, &sums, analysis, file);
	free(sums.classes);
}

/**
 * lock_metrics_free() - free the series
 * @metrics: series; all zero afterwards
 */
void lock_metrics_free(struct lock_metrics *metrics)
{
	struct holder_series *holder;
	struct lock_series *lock;

	while ((holder = hash_take_first(metrics->holders))) {
		free(holder->key);
		free(holder);
	}
	while ((lock = hash_take_first(metrics->locks))) {
		free(lock->key);
		free(lock);
	}
	*metrics = (struct lock_metrics) { 0 };
}
