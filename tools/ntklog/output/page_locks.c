// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "answer_lines.h"
#include "page.h"
#include "page_flames.h"
#include "page_locks.h"
#include "report_histograms.h"
#include "report_rows.h"

/* Most locks with a section, most names in each of its lists, and functions of its flame graphs. */
#define LOCKS_MAX	12
#define NAMES_MAX	8
#define FUNCTIONS_MAX	600

static int compare_locks(const void *a, const void *b)
{
	const struct page_lock *left = a, *right = b;

	if (left->charged_ticks != right->charged_ticks)
		return left->charged_ticks < right->charged_ticks ? 1 : -1;
	if (left->wait_cycles != right->wait_cycles)
		return left->wait_cycles < right->wait_cycles ? 1 : -1;
	if (left->acquisition_count != right->acquisition_count)
		return left->acquisition_count < right->acquisition_count ? 1 : -1;
	return strcmp(left->name, right->name);
}

/* Name a lock, with its kind if it is a lock that sleeps in a trace with those of Linux. */
static void set_name(const struct report *report, struct page_lock *lock)
{
	names_format_address(report->names, lock->key.class, lock->name, NAME_SIZE);
	if (lock->key.is_sleeping_lock &&
	    resource_stats_has_linux(&report->analysis->resources))
		snprintf(lock->name + strlen(lock->name), 16, " %s",
			 charged_class_kind_name(&lock->key));
}

static void add_spinlocks(const struct report *report, struct page_lock *locks, size_t *count)
{
	const struct spinlock_entry *from;

	for (from = report->analysis->spinlocks.locks; from; from = from->hh.next) {
		struct page_lock *lock = &locks[*count];

		/* Records of blockers alone stand for no acquisition. */
		if (!from->sum.record_count)
			continue;
		*lock = (struct page_lock){
			.key.class = from->address,
			.spinlock = from,
			.timeline = from->timeline,
			.wait_cycles = from->sum.wait.sum,
			.acquisition_count = from->sum.acquisition_count,
		};
		set_name(report, lock);
		++*count;
	}
}

static void add_resources(const struct report *report, struct page_lock *locks, size_t *count)
{
	const struct resource_stats *stats = &report->analysis->resources;
	const struct resource_entry *from;

	for (from = stats->resources; from; from = from->hh.next) {
		struct page_lock *lock = &locks[(*count)++];

		*lock = (struct page_lock){
			.key = { from->key.address, true, from->key.kind },
			.resource = from,
			.timeline = from->timeline,
			.wait_cycles = from->sums[0].wait.sum + from->sums[1].wait.sum,
			.acquisition_count =
				from->sums[0].release_count + from->sums[1].release_count,
		};
		set_name(report, lock);
	}
}

/* Test whether a table of locks has the class. */
static bool lock_has_record(const struct analysis *analysis, const struct charged_class_key *key)
{
	const struct spinlock_entry *spinlock;
	const struct resource_entry *resource;
	const struct resource_key resource_key = { .address = key->class, .kind = key->kind };

	if (!key->is_sleeping_lock) {
		HASH_FIND(hh, analysis->spinlocks.locks, &key->class, sizeof(key->class), spinlock);
		return spinlock;
	}
	HASH_FIND(hh, analysis->resources.resources, &resource_key, sizeof(resource_key), resource);
	return resource;
}

/* Add the locks that only waits are known of, such as waits that lasted until the end. */
static void add_open_locks(const struct report *report, struct page_lock *locks, size_t *count)
{
	const struct charged_class *from;

	for (from = report->analysis->charge_sums.classes; from; from = from->hh.next) {
		struct page_lock *lock = &locks[*count];

		if (lock_has_record(report->analysis, &from->key))
			continue;
		*lock = (struct page_lock) { .key = from->key };
		set_name(report, lock);
		++*count;
	}
}

/* Set what the answer sorts the locks by. */
static void set_charged_waits(const struct report *report, struct page_lock *locks, size_t count)
{
	const struct charged_class *class;
	size_t i;

	for (i = 0; i < count; i++) {
		HASH_FIND(hh, report->analysis->charge_sums.classes, &locks[i].key,
			  sizeof(locks[i].key), class);
		locks[i].charged_ticks = class ? class->sum.wait_ticks : 0;
	}
}

/**
 * page_locks_find() - list the locks that the tables are about, those with the longest waits first
 * @report: report with its analysis
 * @tables: tables of the page, as bits, which choose spin locks, locks that sleep, or both
 * @count: set to the number of locks
 *
 * Return: an array, which the caller frees; NULL without memory.
 */
struct page_lock *page_locks_find(const struct report *report, unsigned int tables, size_t *count)
{
	const struct analysis *analysis = report->analysis;
	size_t most = HASH_COUNT(analysis->spinlocks.locks) +
		      HASH_COUNT(analysis->resources.resources) +
		      HASH_COUNT(analysis->charge_sums.classes);
	struct page_lock *locks = calloc(most + 1, sizeof(*locks));
	unsigned int all = 1 << REPORT_BLOCKERS | 1 << REPORT_WAITERS;

	*count = 0;
	if (!locks)
		return NULL;
	if (tables & (all | 1 << REPORT_LOCKS | 1 << REPORT_CALLERS))
		add_spinlocks(report, locks, count);
	if (tables & (all | 1 << REPORT_RESOURCES))
		add_resources(report, locks, count);
	if (tables & all)
		add_open_locks(report, locks, count);
	set_charged_waits(report, locks, *count);
	qsort(locks, *count, sizeof(*locks), compare_locks);
	return locks;
}

/**
 * page_parts_json() - make the parts of the waiting time
 * @report: report with its file
 * @sum: waits and their parts
 *
 * Return: a JSON array of [id, text, time], or NULL without memory.
 */
json_t *page_parts_json(const struct report *report, const struct charge_sum *sum)
{
	json_t *parts = json_array();
	size_t i;

	for (i = 0; i < CHARGE_PARTS; i++) {
		uint64_t ticks = sum->part_ticks[i] -
				 (i == CHARGE_HOLDER_RAN ? sum->unknown_state_ticks : 0);

		json_array_append_new(parts,
				      json_pack("[s, s, f]", answer_part_names[i],
						answer_part_texts[i],
						report_ticks_ns(report, (double)ticks)));
	}
	json_array_append_new(parts,
			      json_pack("[s, s, f]", "held",
					"a task held the lock; not recorded whether it ran",
					report_ticks_ns(report, (double)sum->unknown_state_ticks)));
	return parts;
}

static int compare_rows(const void *a, const void *b)
{
	const struct charge_row *left = *(const struct charge_row *const *)a;
	const struct charge_row *right = *(const struct charge_row *const *)b;

	if (left->ticks != right->ticks)
		return left->ticks < right->ticks ? 1 : -1;
	return strcmp(left->key.first_label->text, right->key.first_label->text);
}

/* Make a list of a lock's waiters or holders, the greatest first, with the rest in one entry. */
static json_t *names_json(const struct report *report, const struct charged_class_key *key,
			  enum charge_row_kind kind)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charge_row **rows = calloc(sums->row_count + 1, sizeof(*rows));
	const struct charge_row *row;
	json_t *array = json_array();
	double rest = 0;
	size_t count = 0, i;

	for_each_charge_row(row, sums)
		if (rows && row->key.kind == kind &&
		    !memcmp(&row->key.class->key, key, sizeof(*key)))
			rows[count++] = row;
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (i = 0; i < count; i++) {
		double ns = report_ticks_ns(report, (double)rows[i]->ticks);
		const char *label = rows[i]->key.first_label->text;

		if (i < NAMES_MAX)
			json_array_append_new(array, json_pack("[o, f]", page_json_string(label),
							       ns));
		else
			rest += ns;
	}
	if (rest > 0)
		json_array_append_new(array, json_pack("[s, f]", "(others)", rest));
	free(rows);
	return array;
}

static void append_times(json_t *array, const struct report *report, const char *label,
			 const struct histogram *wait, const struct histogram *hold)
{
	struct histogram_axis axis = { 0 };

	report_widen_axis(report, wait, &axis);
	report_widen_axis(report, hold, &axis);
	if (axis.decade_count)
		json_array_append_new(array,
				      json_pack("{s:s, s:i, s:i, s:o*, s:o*}", "label", label,
						"first", axis.first_power,
						"decades", axis.decade_count,
						"waits", report_histogram_json(report, wait, &axis),
						"holds",
						report_histogram_json(report, hold, &axis)));
}

/* Make the distributions of waits and holds: of a lock that sleeps for each of its two modes. */
static json_t *times_json(const struct report *report, const struct page_lock *lock)
{
	static const char *const classes[] = { "exclusive", "shared" };
	json_t *times = json_array();
	size_t i;

	if (lock->spinlock)
		append_times(times, report, "", &lock->spinlock->sum.wait,
			     &lock->spinlock->sum.hold);
	for (i = 0; lock->resource && i < RESOURCE_ACCESSES; i++)
		append_times(times, report, classes[i], &lock->resource->sums[i].wait,
			     &lock->resource->sums[i].hold);
	return times;
}

/*
 * Make the shares of the acquisitions by the number of locks that their CPU held at the release.
 * Returns NULL if no record has the number.
 */
static json_t *depths_json(const struct page_lock *lock)
{
	const struct spinlock_sum *sum = lock->spinlock ? &lock->spinlock->sum : NULL;
	json_t *depths;
	size_t i;

	if (!sum || !sum->max_depth || !sum->acquisition_count)
		return NULL;
	depths = json_array();
	for (i = 0; i < SPINLOCK_DEPTHS; i++)
		json_array_append_new(depths, json_real((double)sum->depth_counts[i] /
							(double)sum->acquisition_count));
	return depths;
}

static void add_charges(json_t *object, const struct report *report, const struct page_lock *lock)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charged_class *class;
	struct flame_node root = { 0 };

	HASH_FIND(hh, sums->classes, &lock->key, sizeof(lock->key), class);
	if (class) {
		double at = etl_seconds(report->file, class->sum.longest_wait_begin);

		json_object_set_new(object, "waits", json_integer(class->sum.wait_count));
		json_object_set_new(object, "wait",
				    json_real(report_ticks_ns(report,
							      (double)class->sum.wait_ticks)));
		json_object_set_new(object, "longest",
				    json_real(report_ticks_ns(report,
							      (double)class->sum.longest_wait)));
		json_object_set_new(object, "longest_at", json_real(at));
		json_object_set_new(object, "parts", page_parts_json(report, &class->sum));
		json_object_set_new(object, "waiters",
				    names_json(report, &lock->key, CHARGE_ROW_WAITER));
		json_object_set_new(object, "holders",
				    names_json(report, &lock->key, CHARGE_ROW_HOLDER));
	}
	if (report->analysis->has_lock_stacks && flame_make_tree(&root, report, &lock->key)) {
		json_object_set_new(object, "waiter_stacks",
				    page_flame_json(&root, FLAME_WAIT, FUNCTIONS_MAX));
		json_object_set_new(object, "holder_stacks",
				    page_flame_json(&root, FLAME_CHARGED, FUNCTIONS_MAX));
	}
	flame_free(&root);
}

/**
 * page_locks_json() - make the sections of the locks with the longest waits
 * @report: report with its analysis
 * @locks: all locks, from page_locks_find()
 * @count: number of @locks
 *
 * Return: a JSON array, or NULL without memory.
 */
json_t *page_locks_json(const struct report *report, const struct page_lock *locks, size_t count)
{
	json_t *array = json_array(), *object;
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < count && i < LOCKS_MAX; i++) {
		names_format_address(report->names, locks[i].key.class, name, sizeof(name));
		object = json_pack("{s:o, s:o, s:b, s:I, s:o, s:o*}", "name",
				   page_json_string(locks[i].name), "lock", page_json_string(name),
				   "is_sleeping", (int)locks[i].key.is_sleeping_lock,
				   "acquisitions", (json_int_t)locks[i].acquisition_count, "times",
				   times_json(report, &locks[i]), "depths",
				   depths_json(&locks[i]));
		if (report->analysis->charges_waits)
			add_charges(object, report, &locks[i]);
		json_array_append_new(array, object);
	}
	return array;
}
