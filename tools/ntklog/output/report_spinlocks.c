// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ntklog/wmi_spinlock.h>

#include "macros.h"
#include "report_rows.h"

/*
 * @lock: class or address of the lock
 * @caller: address of the caller
 * @is_others: the row is the sum of all pairs without a row of their own
 */
struct spinlock_row {
	struct lock_row times;
	uint64_t lock;
	uint64_t caller;
	bool is_others;
	const struct spinlock_sum *sum;
};

static const struct spinlock_row *row_of(const void *row)
{
	return row;
}

static const struct spinlock_sum *sum_of(const void *row)
{
	return row_of(row)->sum;
}

static char *caller_cell(const struct report *report, const void *row)
{
	return row_of(row)->is_others ? strdup("(others)") :
		report_code_text(report, row_of(row)->caller);
}

static char *lock_cell(const struct report *report, const void *row)
{
	return row_of(row)->is_others ? strdup("(others)") :
		report_symbol_text(report, row_of(row)->lock);
}

static double locks_cell(const struct report *report, const void *row)
{
	return row_of(row)->is_others ? NAN : report_lock_count(report, row_of(row)->lock);
}

static char *mode_cell(const struct report *report, const void *row)
{
	static const char *const names[] = {
		[WMI_SPINLOCK_ORDINARY] = "ordinary",
		[WMI_SPINLOCK_QUEUED] = "queued",
		[WMI_SPINLOCK_EXECUTIVE_SHARED] = "shared",
		[WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE] = "exclusive",
		[WMI_SPINLOCK_EXECUTIVE_CONVERTED] = "converted",
	};
	uint64_t modes = sum_of(row)->mode_mask;
	char text[64], *end = text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (modes & UINT64_C(1) << i)
			end = stpcpy(end == text ? end : stpcpy(end, "+"), names[i]);
	return strdup(end > text ? text : "other");
}

static double sampled_cell(const struct report *report, const void *row)
{
	return (double)sum_of(row)->record_count;
}

static const struct spinlock_rates *highest_rates(const struct report *report)
{
	return &report->analysis->spinlocks.highest_rates;
}

static enum sampling_kind find_acquire_sampling(const struct report *report)
{
	return find_sampling_kind(highest_rates(report)->is_known,
				  highest_rates(report)->acquire_rate);
}

/* Records of waits alone do not tell the number of acquisitions. */
static double acquisitions_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);

	return sum->wait_only_count ? NAN : (double)sum->acquisition_count;
}

static bool sum_is_mostly_in_step(const struct spinlock_sum *sum)
{
	return 2 * sum->in_step_count > sum->record_count;
}

/* The records have a hold, except those of waits alone. */
static double acquisitions_error_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);
	double variance = sum->hold.total_variance;

	if (sum_is_mostly_in_step(sum))
		return INFINITY;
	if (sum->wait_only_count)
		return NAN;
	return compute_relative_error(variance, (double)sum->acquisition_count, variance,
				      find_acquire_sampling(report));
}

static uint32_t find_groups(const struct report *report, const struct spinlock_sum *sum)
{
	return find_spinlock_groups(sum->mode_mask,
				    coverage_knows_group(&report->analysis->coverage,
							 SPINLOCK_LINUX_GROUPS));
}

static double per_second_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);

	return sum->wait_only_count ? NAN :
		report_per_second(report, find_groups(report, sum), &sum->cpu_sums, CPU_SUM_COUNT,
				  (double)sum->acquisition_count);
}

/*
 * Without the rates the share is not known: the records may have more of the contended acquisitions
 * than of the others.
 */
static double contended_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);

	return highest_rates(report)->is_known && !sum->wait_only_count ?
		share_of((double)sum->contended_count, (double)sum->acquisition_count) : NAN;
}

static double spins_cell(const struct report *report, const void *row)
{
	return sum_of(row)->spin_count;
}

static double mean_waiting_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);

	return report_mean_waiting(report, find_groups(report, sum), &sum->cpu_sums, &sum->wait);
}

static double depth_cell(const struct report *report, const void *row)
{
	return sum_of(row)->max_depth ? sum_of(row)->max_depth : NAN;
}

static double dpc_cell(const struct report *report, const void *row)
{
	return share_of((double)sum_of(row)->dpc_count, (double)sum_of(row)->acquisition_count);
}

static double isr_cell(const struct report *report, const void *row)
{
	return share_of((double)sum_of(row)->isr_count, (double)sum_of(row)->acquisition_count);
}

static double interrupted_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);

	return sum->hold.total_weight ? share_of((double)sum->interrupted_hold.total_weight,
						 (double)sum->hold.total_weight) :
					NAN;
}

static double interrupted_mean_cell(const struct report *report, const void *row)
{
	const struct histogram *times = &sum_of(row)->interrupted_hold;

	return times->total_weight ? report_cycles_ns(report, histogram_mean(times)) : NAN;
}

static double interrupted_max_cell(const struct report *report, const void *row)
{
	const struct histogram *times = &sum_of(row)->interrupted_hold;

	return times->total_weight ? report_cycles_ns(report, (double)times->max_value) : NAN;
}

static double undisturbed_mean_cell(const struct report *report, const void *row)
{
	const struct spinlock_sum *sum = sum_of(row);
	double count = (double)(sum->hold.total_weight - sum->interrupted_hold.total_weight);

	return count > 0 ?
		report_cycles_ns(report, (sum->hold.sum - sum->interrupted_hold.sum) / count) : NAN;
}

/* Columns of the table callers. The table locks has all of them but the first. */
static const struct column columns[] = {
	TEXT_COLUMN("caller", "caller", caller_cell,
		    "function that released the lock; in mode waits the one that asked for it"),
	TEXT_COLUMN("lock", "lock", lock_cell,
		    "class of the lock, or its address; ~ marks a guess"),
	NUMBER_COLUMN("locks", "locks", CELL_COUNT, locks_cell,
		      "locks of the class in the selected records, those of its other rows too",
		      .is_hidden = true, .drop_order = 3),
	TEXT_COLUMN("mode", "mode", mode_cell,
		    "ways of acquisition: ordinary, queued, shared, exclusive, converted, other",
		    .is_hidden = true),
	NUMBER_COLUMN("sampled", "records", CELL_COUNT, sampled_cell, "records of the row",
		      .drop_order = 13),
	NUMBER_COLUMN("acquisitions", "acquired", CELL_ESTIMATE, acquisitions_cell,
		      "all acquisitions", .error_column = "acquisitions_error",
		      .drop_order = 4),
	NUMBER_COLUMN("acquisitions_error", "acquired error", CELL_ERROR, acquisitions_error_cell,
		      "standard error of acquisitions", .is_hidden = true),
	NUMBER_COLUMN("per_second", "per second", CELL_ESTIMATE, per_second_cell,
		      "acquisitions per second of the observed time",
		      .is_hidden = true, .error_column = "acquisitions_error"),
	NUMBER_COLUMN("contended", "contended", CELL_SHARE, contended_cell,
		      "share of the acquisitions that waited"),
	NUMBER_COLUMN("spins", "spins", CELL_ESTIMATE, spins_cell,
		      "tests of the lock while waiting", .is_hidden = true),
	NUMBER_COLUMN("waiting", "waiters", CELL_SHARE, mean_waiting_cell,
		      "average number of waiters; 200% is two CPUs all the time",
		      .is_hidden = true, .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total", "wait", CELL_TIME, lock_row_wait_total,
		      "sum of all waits", .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total_error", "wait error", CELL_ERROR, lock_row_wait_error,
		      "standard error of wait_total", .is_hidden = true),
	NUMBER_COLUMN("wait_mean", "wait mean", CELL_TIME, lock_row_wait_mean,
		      "mean wait of contended acquisitions",
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
		      "sum of all holds", .error_column = "hold_total_error"),
	NUMBER_COLUMN("hold_total_error", "hold error", CELL_ERROR, lock_row_hold_error,
		      "standard error of hold_total", .is_hidden = true),
	NUMBER_COLUMN("hold_mean", "hold mean", CELL_TIME, lock_row_hold_mean,
		      "mean hold of all acquisitions",
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
	NUMBER_COLUMN("depth", "nested", CELL_COUNT, depth_cell,
		      "greatest number of spin locks that a CPU held at a release, at most 8",
		      .drop_order = 12),
	NUMBER_COLUMN("dpc", "softirq", CELL_SHARE, dpc_cell,
		      "share of the acquisitions that were released in a softirq",
		      .drop_order = 10),
	NUMBER_COLUMN("isr", "interrupt", CELL_SHARE, isr_cell,
		      "share of the acquisitions that were released in a hard interrupt",
		      .drop_order = 11),
	NUMBER_COLUMN("interrupted", "interrupted", CELL_SHARE, interrupted_cell,
		      "share of the holds with an interrupt during the hold or its wait",
		      .drop_order = 9),
	NUMBER_COLUMN("interrupted_mean", "interrupted mean", CELL_TIME, interrupted_mean_cell,
		      "mean of the holds with an interrupt", .is_hidden = true),
	NUMBER_COLUMN("interrupted_max", "interrupted max", CELL_TIME, interrupted_max_cell,
		      "longest hold with an interrupt", .is_hidden = true),
	NUMBER_COLUMN("undisturbed_mean", "undisturbed mean", CELL_TIME, undisturbed_mean_cell,
		      "mean of the holds without an interrupt", .is_hidden = true),
};

/* @key: lock or number of the split, and caller; NULL: all pairs without a row of their own */
static bool add_row(struct report *report, enum report_table_kind table,
		    const struct spinlock_key *key, const struct spinlock_sum *sum)
{
	const struct spinlock_rates *rates = highest_rates(report);
	struct split_pair split = { 0 };
	struct spinlock_row row = { .is_others = true, .sum = sum };

	if (key) {
		split = report_split_pair(report, key->lock);
		row.lock = split.key;
		row.caller = key->caller;
		row.is_others = report->analysis->split_sums && !split.label;
	}
	row.times.attribute_label = report_label_text(split.label);
	if (!sum->record_count)
		return true;
	set_time_figures(&row.times.wait, report, &sum->wait,
			 find_sampling_kind(rates->is_known, rates->contention_rate));
	if (sum->wait_only_count == sum->record_count)
		set_unknown_time_figures(&row.times.hold);
	else
		set_time_figures(&row.times.hold, report, &sum->hold,
				 find_acquire_sampling(report));
	if (sum_is_mostly_in_step(sum))
		row.times.hold.error = INFINITY;
	return table_add_row(&report->tables[table], report, &row);
}

static const struct spinlock_stats *stats_of(const struct report *report)
{
	const struct analysis *analysis = report->analysis;

	return analysis->split_sums ? &analysis->split_sums->spinlocks : &analysis->spinlocks;
}

static void make_locks(struct report *report)
{
	const struct spinlock_stats *stats = stats_of(report);
	const struct spinlock_entry *entry;

	for (entry = stats->locks; entry; entry = entry->hh.next) {
		const struct spinlock_key key = { .lock = entry->address };

		if (!add_row(report, REPORT_LOCKS, &key, &entry->sum))
			return;
	}
	add_row(report, REPORT_LOCKS, NULL, &stats->others);
}

static void make_callers(struct report *report)
{
	const struct spinlock_stats *stats = stats_of(report);
	const struct spinlock_pair *pair;

	for (pair = stats->pairs; pair; pair = pair->hh.next)
		if (!add_row(report, REPORT_CALLERS, &pair->key, &pair->sum))
			return;
	add_row(report, REPORT_CALLERS, NULL, &stats->others);
}

const struct table_class report_locks_class = {
	.name = "locks",
	.title = "Spin locks",
	.missing_events_text = "spin locks or rwlocks (record -e linux_spinlock)",
	.columns = columns + 1,
	.column_count = ARRAY_SIZE(columns) - 1,
	.sort_column_name = "wait_total",
	.make_attribute_text = make_lock_row_attribute,
	.make_table = make_locks,
};

const struct table_class report_callers_class = {
	.name = "callers",
	.title = "Callers of spin locks",
	.missing_events_text = "spin locks or rwlocks (record -e linux_spinlock)",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "wait_total",
	.make_attribute_text = make_lock_row_attribute,
	.make_table = make_callers,
};
