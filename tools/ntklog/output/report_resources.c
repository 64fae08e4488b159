// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <string.h>

#include "macros.h"
#include "report_rows.h"

/*
 * @lock: class or address of the lock
 * @is_others: @entry is the sum of all resources without a row of their own
 */
struct resource_row {
	struct lock_row times;
	uint64_t lock;
	const struct resource_entry *entry;
	enum resource_kind kind;
	enum resource_access access;
	bool is_others;
};

static const struct resource_sum *sum_of(const void *row)
{
	const struct resource_row *resource_row = row;

	return &resource_row->entry->sums[resource_row->access];
}

static char *resource_cell(const struct report *report, const void *row)
{
	const struct resource_row *resource_row = row;

	return resource_row->is_others ? strdup("(others)") :
			       report_symbol_text(report, resource_row->lock);
}

static double locks_cell(const struct report *report, const void *row)
{
	const struct resource_row *resource_row = row;

	return resource_row->is_others ? NAN :
	       report_lock_count(report, resource_row->lock);
}

static char *kind_cell(const struct report *report, const void *row)
{
	return strdup(resource_kinds[((const struct resource_row *)row)->kind].name);
}

static char *class_cell(const struct report *report, const void *row)
{
	return strdup(((const struct resource_row *)row)->access == RESOURCE_EXCLUSIVE ?
		      "exclusive" : "shared");
}

static double sampled_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->record_count;
}

static const struct resource_rates *highest_rates(const struct report *report)
{
	return &report->analysis->resources.highest_rates;
}

static enum sampling_kind find_release_sampling(const struct report *report)
{
	return find_sampling_kind(highest_rates(report)->is_known,
				  highest_rates(report)->release_rate);
}

static double releases_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->release_count;
}

static double releases_error_cell(const struct report *report, const void *row)
{
	const struct resource_sum *sum = sum_of(row);

	return compute_relative_error(sum->variance, (double)sum->release_count, sum->variance,
				      find_release_sampling(report));
}

static uint32_t find_event_group(const void *row)
{
	return resource_kind_group(((const struct resource_row *)row)->kind);
}

static double per_second_cell(const struct report *report, const void *row)
{
	const struct resource_sum *sum = sum_of(row);

	return report_per_second(report, find_event_group(row), &sum->cpu_sums, CPU_SUM_COUNT,
				 (double)sum->release_count);
}

static double waited_cell(const struct report *report, const void *row)
{
	const struct resource_sum *sum = sum_of(row);

	return highest_rates(report)->is_known ?
		share_of((double)sum->waited_count, (double)sum->release_count) : NAN;
}

static double contention_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->wait_during_hold_count;
}

static double excessive_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->excessive_wait_count;
}

static double mean_waiting_cell(const struct report *report, const void *row)
{
	return report_mean_waiting(report, find_event_group(row), &sum_of(row)->cpu_sums,
				   &sum_of(row)->wait);
}

static double hold_unknown_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->unknown_hold_count;
}

static double depth_cell(const struct report *report, const void *row)
{
	return sum_of(row)->max_depth;
}

static double initialized_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->init_count;
}

static const struct column columns[] = {
	TEXT_COLUMN("resource", "lock", resource_cell,
		    "class of the lock, or its address; ~ marks a guess"),
	NUMBER_COLUMN("locks", "locks", CELL_COUNT, locks_cell,
		      "locks of the class in the selected records, those of its other rows too",
		      .is_hidden = true, .drop_order = 3),
	TEXT_COLUMN("kind", "kind", kind_cell, "mutex, rwsem, ...; or resource, which is NT's",
		    .is_hidden = true, .drop_order = 3),
	TEXT_COLUMN("class", "held as", class_cell, "exclusive or shared"),
	NUMBER_COLUMN("sampled", "records", CELL_COUNT, sampled_cell, "records of the row",
		      .drop_order = 13),
	NUMBER_COLUMN("releases", "released", CELL_ESTIMATE, releases_cell,
		      "all last releases", .error_column = "releases_error",
		      .drop_order = 4),
	NUMBER_COLUMN("releases_error", "released error", CELL_ERROR, releases_error_cell,
		      "standard error of releases", .is_hidden = true),
	NUMBER_COLUMN("per_second", "per second", CELL_ESTIMATE, per_second_cell,
		      "releases per second of the observed time",
		      .is_hidden = true, .error_column = "releases_error"),
	NUMBER_COLUMN("waited", "waited", CELL_SHARE, waited_cell,
		      "share of the releases whose acquisition waited"),
	NUMBER_COLUMN("contention", "waits begun", CELL_COUNT, contention_cell,
		      "waits that began while the lock was held, in the row's records",
		      .drop_order = 10),
	NUMBER_COLUMN("excessive", "long waits", CELL_COUNT, excessive_cell,
		      "records of waits of half a second and more",
		      .drop_order = 11),
	NUMBER_COLUMN("waiting", "waiters", CELL_SHARE, mean_waiting_cell,
		      "average number of waiters; 200% is two tasks all the time",
		      .is_hidden = true, .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total", "wait", CELL_TIME, lock_row_wait_total,
		      "sum of all waits", .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total_error", "wait error", CELL_ERROR, lock_row_wait_error,
		      "standard error of wait_total", .is_hidden = true),
	NUMBER_COLUMN("wait_mean", "wait mean", CELL_TIME, lock_row_wait_mean,
		      "mean wait of acquisitions that waited",
		      .drop_order = 6),
	NUMBER_COLUMN("wait_p50", "wait p50", CELL_TIME, lock_row_wait_p50,
		      "median of the waits", .is_hidden = true),
	NUMBER_COLUMN("wait_p95", "wait p95", CELL_TIME, lock_row_wait_p95,
		      "95 of 100 waits are not longer",
		      .drop_order = 7),
	NUMBER_COLUMN("wait_p99", "wait p99", CELL_TIME, lock_row_wait_p99,
		      "99 of 100 waits are not longer", .is_hidden = true),
	NUMBER_COLUMN("wait_max", "wait max", CELL_TIME, lock_row_wait_max,
		      "longest wait that was written"),
	NUMBER_COLUMN("hold_total", "hold", CELL_TIME, lock_row_hold_total,
		      "sum of all holds; > marks a sum without those of hold_unknown",
		      .error_column = "hold_total_error", .missing_column = "hold_unknown"),
	NUMBER_COLUMN("hold_total_error", "hold error", CELL_ERROR, lock_row_hold_error,
		      "standard error of hold_total", .is_hidden = true),
	NUMBER_COLUMN("hold_mean", "hold mean", CELL_TIME, lock_row_hold_mean,
		      "mean of the known holds",
		      .drop_order = 5),
	NUMBER_COLUMN("hold_p50", "hold p50", CELL_TIME, lock_row_hold_p50,
		      "median of the holds", .is_hidden = true),
	NUMBER_COLUMN("hold_p95", "hold p95", CELL_TIME, lock_row_hold_p95,
		      "95 of 100 holds are not longer",
		      .drop_order = 8),
	NUMBER_COLUMN("hold_p99", "hold p99", CELL_TIME, lock_row_hold_p99,
		      "99 of 100 holds are not longer", .is_hidden = true),
	NUMBER_COLUMN("hold_max", "hold max", CELL_TIME, lock_row_hold_max,
		      "longest hold that was written"),
	NUMBER_COLUMN("hold_unknown", "hold unknown", CELL_ESTIMATE, hold_unknown_cell,
		      "releases whose hold began before the recording", .is_hidden = true),
	NUMBER_COLUMN("depth", "recursion", CELL_COUNT, depth_cell,
		      "greatest number of acquisitions that one owner had; 1 of Linux' locks",
		      .drop_order = 12),
	NUMBER_COLUMN("initialized", "initialized", CELL_COUNT, initialized_cell,
		      "initialisations of the resource, all in its row exclusive",
		      .is_hidden = true),
};

static void add_row(struct report *report, const struct resource_entry *entry,
		    enum resource_kind kind, enum resource_access access, bool is_others)
{
	const struct resource_rates *rates = highest_rates(report);
	const struct resource_sum *sum = &entry->sums[access];
	struct resource_row row = {
		.entry = entry, .kind = kind, .access = access, .is_others = is_others,
	};
	struct split_pair split = { 0 };

	if (!sum->record_count && !sum->excessive_wait_count &&
	    (!sum->init_count || report->omits_unused_resources))
		return;
	if (!is_others) {
		split = report_split_pair(report, entry->key.address);
		row.lock = split.key;
		row.is_others = report->analysis->split_sums && !split.label;
	}
	row.times.attribute_label = report_label_text(split.label);
	set_time_figures(&row.times.wait, report, &sum->wait,
			 find_sampling_kind(rates->is_known, rates->contention_rate));
	set_time_figures(&row.times.hold, report, &sum->hold, find_release_sampling(report));
	table_add_row(&report->tables[REPORT_RESOURCES], report, &row);
}

/**
 * report_set_resource_kinds() - give the table of resources the title and the column of its kinds
 * @report: report with its tables
 * @kinds: bits of enum resource_kind that the records are of
 */
void report_set_resource_kinds(struct report *report, uint32_t kinds)
{
	struct table *table = &report->tables[REPORT_RESOURCES];

	/* Files of Windows have executive resources alone. */
	if (!(kinds & ~(1 << RESOURCE_KIND_NT)))
		return;
	table_show_column_in_order(table, table_find_column(table, "kind"));
	table->title = kinds & 1 << RESOURCE_KIND_NT ?
		"Executive resources and Linux' locks that sleep" : "Linux' locks that sleep";
}

static void make_resources(struct report *report)
{
	const struct analysis *analysis = report->analysis;
	const struct resource_stats *stats =
		analysis->split_sums ? &analysis->split_sums->resources :
					     &analysis->resources;
	const struct resource_entry *entry;
	unsigned int access, kind;

	for (access = 0; access < RESOURCE_ACCESSES; access++) {
		for (entry = stats->resources; entry; entry = entry->hh.next)
			add_row(report, entry, entry->key.kind, access, false);
		for (kind = 0; kind < RESOURCE_KINDS; kind++)
			add_row(report, &stats->others[kind], kind, access, true);
	}
	report_set_resource_kinds(report, stats->kind_mask);
}

const struct table_class report_resources_class = {
	.name = "resources",
	.title = "Executive resources",
	.missing_events_text = "locks that sleep (record -e linux_mutex)",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "wait_total",
	.make_attribute_text = make_lock_row_attribute,
	.make_table = make_resources,
};
