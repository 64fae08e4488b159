// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/group_mask.h>
#include <ntklog/wmi_spinlock.h>

#include "difference.h"
#include "event_group.h"
#include "grow.h"
#include "macros.h"
#include "report_rows.h"
#include "text.h"

static const char *const measure_names[DIFFERENCE_MEASURES] = {
	[DIFFERENCE_OF_WAITS] = "wait_total",
	[DIFFERENCE_OF_HOLDS] = "hold_total",
	[DIFFERENCE_OF_COUNTS] = "waits",
};

/**
 * difference_measure_name() - get the name of a measure, for options and JSON
 * @measure: measure, such as DIFFERENCE_OF_WAITS
 *
 * Return: the name.
 */
const char *difference_measure_name(enum difference_measure measure)
{
	return measure_names[measure];
}

/**
 * difference_find_measure() - find a measure by its name
 * @name: name of the measure
 *
 * Return: the measure, or DIFFERENCE_MEASURES if none has that name.
 */
enum difference_measure difference_find_measure(const char *name)
{
	unsigned int i;

	for (i = 0; i < DIFFERENCE_MEASURES; i++)
		if (!strcmp(measure_names[i], name))
			break;
	return i;
}

/* The bits of these groups differ, although NT's are in another word of the group mask. */
#define NT_LOCK_GROUPS		PERF_MASK_BITS(PERF_SPINLOCK | PERF_SYNC_OBJECTS)
#define LINUX_LOCK_GROUPS	0xFF
#define SPINNING_GROUPS		PERF_MASK_BITS(PERF_SPINLOCK | SPINLOCK_LINUX_GROUPS)

/* Return the groups of locks in a group mask; all of them if the file names none. */
static uint32_t find_enabled_groups(const struct analysis *analysis)
{
	const uint32_t *masks = analysis->groups.masks;
	uint32_t groups = (masks[PERF_MASK_INDEX(PERF_SPINLOCK)] & NT_LOCK_GROUPS) |
			  (masks[PERF_MASK_INDEX(PERF_LINUX_SPINLOCK)] & LINUX_LOCK_GROUPS);

	return groups ? groups : NT_LOCK_GROUPS | LINUX_LOCK_GROUPS;
}

static uint32_t find_group_of_spinlock(const struct analysis *analysis,
				       const struct spinlock_sum *sum)
{
	bool has_linux = find_enabled_groups(analysis) & PERF_MASK_BITS(SPINLOCK_LINUX_GROUPS);
	uint32_t groups = find_spinlock_groups(sum->mode_mask, has_linux);

	if (groups != SPINLOCK_LINUX_GROUPS)
		return PERF_MASK_BITS(groups);
	return PERF_MASK_BITS(sum->mode_mask & UINT64_C(1) << WMI_SPINLOCK_QUEUED ?
			      PERF_LINUX_SPINLOCK : PERF_LINUX_RWLOCK);
}

/* Return the variance that a sum of times has because its events arrive at random. */
static double compute_arrival_variance(const struct histogram *times)
{
	double variance = 0, value;
	uint64_t weight;
	unsigned int i;

	for (i = 0; i < times->capacity; i++) {
		value = histogram_bucket_middle(times, i, &weight);
		variance += (double)weight * value * value;
	}
	return variance;
}

static void add_sum(struct difference_sum *to, const struct difference_sum *from)
{
	to->estimate += from->estimate;
	to->variance += from->variance;
}

static void add_times(struct difference_sum *sum, const struct histogram *times,
		      double ns_per_cycle)
{
	double error = histogram_sum_error(times) * times->sum;

	sum->estimate += times->sum * ns_per_cycle;
	sum->variance += (error * error +
			  compute_arrival_variance(times)) * ns_per_cycle * ns_per_cycle;
}

static void add_sums(struct difference_sum *sums, const struct histogram *wait,
		     const struct histogram *hold, double ns_per_cycle)
{
	add_times(&sums[DIFFERENCE_OF_WAITS], wait, ns_per_cycle);
	add_times(&sums[DIFFERENCE_OF_HOLDS], hold, ns_per_cycle);
	sums[DIFFERENCE_OF_COUNTS].estimate += (double)wait->total_weight;
	sums[DIFFERENCE_OF_COUNTS].variance += wait->total_variance + (double)wait->total_weight;
}

struct add_rows_context {
	struct difference *difference;
	size_t side;
	double ns_per_cycle;
	struct histogram wait, hold;
};

/* The row takes over the memory of @lock and @caller. They may be NULL for want of memory. */
static void add_row(struct add_rows_context *add_rows_context, char *lock, char *caller,
		    uint32_t groups, const struct histogram *wait, const struct histogram *hold)
{
	struct difference *difference = add_rows_context->difference;
	struct difference_row row = {
		.lock = lock, .caller = caller, .groups = groups,
	};
	struct difference_row *more =
		grow_by_one(difference->rows, difference->row_count, sizeof(*more));

	if (more)
		difference->rows = more;
	if (!more || !lock || !caller) {
		difference->no_memory = true;
		free(lock);
		free(caller);
		return;
	}
	add_sums(row.sums[add_rows_context->side], wait, hold, add_rows_context->ns_per_cycle);
	difference->rows[difference->row_count++] = row;
	/* A row of few records does not tell its error, but all rows together may tell theirs. */
	if (!histogram_merge(&add_rows_context->wait, wait) ||
	    !histogram_merge(&add_rows_context->hold, hold))
		difference->no_memory = true;
}

/**
 * difference_add() - add the sums of a recording
 * @difference: difference that is not yet merged
 * @side: 0 for the recording before, 1 for the one after
 * @analysis: sums of the recording
 * @file: file of the recording
 * @names: names of the recording, or NULL
 */
void difference_add(struct difference *difference, size_t side, const struct analysis *analysis,
		    const struct etl_file *file, const struct names *names)
{
	const struct spinlock_stats *spinlocks = &analysis->spinlocks;
	const struct resource_stats *resources = &analysis->resources;
	const struct report report = { .file = file, .analysis = analysis, .names = names };
	struct add_rows_context add_rows_context = {
		.difference = difference,
		.side = side,
		.ns_per_cycle = etl_cycles_ns(file, 1),
	};
	const struct resource_entry *entry;
	const struct spinlock_pair *pair;
	unsigned int class, kind;

	difference->lacks_names |= report_lacks_names(&report);
	difference->damaged_counts[side] = report_file_is_damaged(file);
	difference->lossy_counts[side] = report_file_is_lossy(file);
	difference->enabled_groups[side] = find_enabled_groups(analysis);
	difference->disabled_groups[side] = (NT_LOCK_GROUPS | LINUX_LOCK_GROUPS) &
					    ~difference->enabled_groups[side];
	for (pair = spinlocks->pairs; pair; pair = pair->hh.next)
		add_row(&add_rows_context, report_symbol_text(&report, pair->key.lock),
			report_code_text(&report, pair->key.caller),
			find_group_of_spinlock(analysis, &pair->sum), &pair->sum.wait,
			&pair->sum.hold);
	add_row(&add_rows_context, strdup("(others)"), strdup(""),
		find_group_of_spinlock(analysis, &spinlocks->others), &spinlocks->others.wait,
		&spinlocks->others.hold);
	for (class = 0; class < RESOURCE_ACCESSES; class++) {
		for (entry = resources->resources; entry; entry = entry->hh.next)
			add_row(&add_rows_context, report_symbol_text(&report, entry->key.address),
				entry->key.caller ? report_code_text(&report, entry->key.caller) :
						    strdup(""),
				PERF_MASK_BITS(resource_kind_group(entry->key.kind)),
				&entry->sums[class].wait, &entry->sums[class].hold);
		for (kind = 0; kind < RESOURCE_KINDS; kind++)
			add_row(&add_rows_context, strdup("(others)"), strdup(""),
				PERF_MASK_BITS(resource_kind_group(kind)),
				&resources->others[kind].sums[class].wait,
				&resources->others[kind].sums[class].hold);
	}
	add_sums(difference->total.sums[side], &add_rows_context.wait, &add_rows_context.hold,
		 add_rows_context.ns_per_cycle);
	histogram_free(&add_rows_context.wait);
	histogram_free(&add_rows_context.hold);
}

/**
 * difference_write() - write rows for difference_read() in another process of this program
 * @difference: the rows
 * @stream: stream to write to; after a failed write ferror() is true
 */
void difference_write(const struct difference *difference, FILE *stream)
{
	const struct difference_row *row;

	fwrite(difference, sizeof(*difference), 1, stream);
	for (row = difference->rows; row && row < difference->rows + difference->row_count; row++) {
		fwrite(row->sums, sizeof(row->sums), 1, stream);
		fwrite(&row->groups, sizeof(row->groups), 1, stream);
		text_send(row->lock, stream);
		text_send(row->caller, stream);
	}
}

/**
 * difference_read() - add the rows that difference_write() has written
 * @difference: gets the rows, and the sums of their total
 * @stream: stream to read the rows from
 *
 * Return: false if they are not complete.
 */
bool difference_read(struct difference *difference, FILE *stream)
{
	struct difference_row row, *more;
	struct difference head;
	size_t which, i;

	if (fread(&head, sizeof(head), 1, stream) != 1)
		return false;
	difference->no_memory |= head.no_memory;
	for (which = 0; which < 2; which++) {
		difference->damaged_counts[which] += head.damaged_counts[which];
		difference->lossy_counts[which] += head.lossy_counts[which];
		difference->enabled_groups[which] |= head.enabled_groups[which];
		difference->disabled_groups[which] |= head.disabled_groups[which];
		for (i = 0; i < DIFFERENCE_MEASURES; i++)
			add_sum(&difference->total.sums[which][i], &head.total.sums[which][i]);
	}
	for (i = 0; i < head.row_count; i++) {
		more = grow_by_one(difference->rows, difference->row_count, sizeof(*more));
		if (!more || fread(row.sums, sizeof(row.sums), 1, stream) != 1 ||
		    fread(&row.groups, sizeof(row.groups), 1, stream) != 1)
			break;
		difference->rows = more;
		row.lock = text_receive(stream);
		row.caller = row.lock ? text_receive(stream) : NULL;
		if (!row.caller) {
			free(row.lock);
			break;
		}
		difference->rows[difference->row_count++] = row;
	}
	return i == head.row_count;
}

static int compare_names(const void *a, const void *b)
{
	const struct difference_row *left = a, *right = b;
	int order = strcmp(left->lock, right->lock);

	return order ? order : strcmp(left->caller, right->caller);
}

static double change_of(const struct difference_row *row, enum difference_measure measure)
{
	return row->sums[1][measure].estimate - row->sums[0][measure].estimate;
}

static int compare_changes(const void *a, const void *b, void *measure)
{
	double left = fabs(change_of(a, *(enum difference_measure *)measure));
	double right = fabs(change_of(b, *(enum difference_measure *)measure));

	return (left < right) - (left > right);
}

static void merge_row(struct difference_row *to, struct difference_row *from)
{
	size_t which, i;

	for (which = 0; which < 2; which++)
		for (i = 0; i < DIFFERENCE_MEASURES; i++)
			add_sum(&to->sums[which][i], &from->sums[which][i]);
	to->groups |= from->groups;
	free(from->lock);
	free(from->caller);
}

/**
 * difference_merge() - make one row of the rows of a lock and caller, and sort the rows
 * @difference: the rows
 * @measure: measure by whose changes the rows are sorted, the greatest first
 */
void difference_merge(struct difference *difference, enum difference_measure measure)
{
	size_t kept = 0, i;

	if (!difference->row_count)
		return;
	qsort(difference->rows, difference->row_count, sizeof(*difference->rows), compare_names);
	for (i = 1; i < difference->row_count; i++)
		if (!compare_names(&difference->rows[kept], &difference->rows[i]))
			merge_row(&difference->rows[kept], &difference->rows[i]);
		else
			difference->rows[++kept] = difference->rows[i];
	difference->row_count = kept + 1;
	qsort_r(difference->rows, difference->row_count, sizeof(*difference->rows), compare_changes,
		&measure);
}

static bool side_has_sums(const struct difference_row *row, size_t side)
{
	return row->sums[side][DIFFERENCE_OF_COUNTS].estimate > 0 ||
	       row->sums[side][DIFFERENCE_OF_HOLDS].estimate > 0;
}

/* Return whether one side of a lock has callers, and the other one has only rows without them. */
static bool one_side_has_callers(const struct difference_row *rows, size_t count)
{
	bool has_rows[2] = { false }, has_callers[2] = { false };
	size_t which, i;

	for (i = 0; i < count; i++)
		for (which = 0; which < 2; which++) {
			has_rows[which] |= side_has_sums(&rows[i], which);
			has_callers[which] |= *rows[i].caller && side_has_sums(&rows[i], which);
		}
	return has_rows[0] && has_rows[1] && has_callers[0] != has_callers[1];
}

/**
 * difference_drop_callers() - drop the callers of each lock of which one side records none
 * @difference: rows of all files, merged by @measure
 * @measure: measure by whose changes the rows are sorted
 *
 * Events of locks that sleep have callers only in recordings of newer versions of ntklog. Rows by
 * caller would show the lock as less without a caller and as more with each of its callers.
 */
void difference_drop_callers(struct difference *difference, enum difference_measure measure)
{
	struct difference_row *row = difference->rows, *end = row + difference->row_count, *next;

	if (row)
		qsort(row, difference->row_count, sizeof(*row), compare_names);
	for (; row < end; row = next) {
		for (next = row + 1; next < end && !strcmp(row->lock, next->lock); next++)
			;
		if (!one_side_has_callers(row, next - row))
			continue;
		difference->locks_without_callers++;
		for (; row < next; row++)
			*row->caller = '\0';
	}
	difference_merge(difference, measure);
}

static void forget_intervals(struct difference *difference, enum difference_measure measure)
{
	difference->total.sums[1][measure].variance = INFINITY;
}

/**
 * difference_forget_waits() - mark changes of waits of spin locks as unknown
 * @difference: rows of all files, whose modes record different waits
 */
void difference_forget_waits(struct difference *difference)
{
	difference->mixes_modes = true;
	forget_intervals(difference, DIFFERENCE_OF_WAITS);
	forget_intervals(difference, DIFFERENCE_OF_COUNTS);
}

/**
 * difference_forget_groups() - mark changes of locks that only one side recorded as unknown
 * @difference: rows of all files
 * @text: buffer for the names of the event groups of these locks
 * @size: its size
 *
 * Return: true if there is such a lock; then the changes of the totals are unknown, too.
 */
bool difference_forget_groups(struct difference *difference, char *text, size_t size)
{
	const uint32_t *enabled = difference->enabled_groups;
	const uint32_t *disabled = difference->disabled_groups;
	const uint32_t linux_word = PERF_MASK_INDEX(PERF_LINUX_SPINLOCK);
	const uint32_t nt_word = PERF_MASK_INDEX(PERF_SPINLOCK);
	uint32_t found = 0, group;
	size_t used = 0, i;

	difference->different_groups = (enabled[0] ^ enabled[1]) | (disabled[0] ^ disabled[1]);
	for (i = 0; i < difference->row_count; i++)
		if (side_has_sums(&difference->rows[i], 0) ||
		    side_has_sums(&difference->rows[i], 1))
			found |= difference->rows[i].groups & difference->different_groups;
	for (i = 0; found && i < DIFFERENCE_MEASURES; i++)
		forget_intervals(difference, i);
	for (i = 0; i < EVENT_GROUPS && used < size; i++) {
		group = event_groups[i].value;
		if (PERF_MASK_BITS(group) & found &
		    (PERF_MASK_INDEX(group) == linux_word ? LINUX_LOCK_GROUPS :
		     PERF_MASK_INDEX(group) == nt_word ? NT_LOCK_GROUPS : 0))
			used += snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					 event_groups[i].name);
	}
	return found;
}

/**
 * difference_half_width() - compute the confidence interval of a change, at 95 percent
 * @row: row of the change
 * @measure: measure whose change the interval is of
 *
 * Return: half the width of the interval; INFINITY if it is not known.
 */
double difference_half_width(const struct difference_row *row, enum difference_measure measure)
{
	return DIFFERENCE_INTERVAL_ERRORS *
	       sqrt(row->sums[0][measure].variance + row->sums[1][measure].variance);
}

/**
 * difference_print_total() - print the change of the sum of all rows
 * @difference: difference of all files
 * @measure: measure to print
 * @stream: stream to print to
 */
void difference_print_total(const struct difference *difference, enum difference_measure measure,
			    FILE *stream)
{
	enum cell_kind kind = measure == DIFFERENCE_OF_COUNTS ? CELL_COUNT : CELL_TIME;
	const struct difference_row *total = &difference->total;
	double change = total->sums[1][measure].estimate - total->sums[0][measure].estimate;
	const union cell cells[] = {
		{ .number = total->sums[0][measure].estimate },
		{ .number = total->sums[1][measure].estimate },
		{ .number = change }, { .number = difference_half_width(total, measure) },
	};
	char texts[4][32];
	size_t i;

	for (i = 0; i < 4; i++)
		cell_format_text(isinf(cells[i].number) ? CELL_ERROR : kind, &cells[i], texts[i],
				 sizeof(texts[i]));
	fprintf(stream, "%s: %s before, %s after: %s%s +-%s", difference_measure_name(measure),
		texts[0], texts[1], change > 0 ? "+" : "", texts[2], texts[3]);
	if (total->sums[0][measure].estimate > 0)
		fprintf(stream, " (%+.1f%%)", 100 * change / total->sums[0][measure].estimate);
	if (isinf(cells[3].number))
		fputs(", unknown\n", stream);
	else
		fputs(fabs(change) > cells[3].number ? "\n" : ", noise\n", stream);
}

struct shown_row {
	const struct difference_row *row;
	enum difference_measure measure;
	bool is_unknown;
};

static char *lock_cell(const struct report *report, const void *row)
{
	return strdup(((const struct shown_row *)row)->row->lock);
}

static char *caller_cell(const struct report *report, const void *row)
{
	return strdup(((const struct shown_row *)row)->row->caller);
}

static double before_cell(const struct report *report, const void *row)
{
	const struct shown_row *shown = row;

	return shown->row->sums[0][shown->measure].estimate;
}

static double after_cell(const struct report *report, const void *row)
{
	const struct shown_row *shown = row;

	return shown->row->sums[1][shown->measure].estimate;
}

static double absolute_change_cell(const struct report *report, const void *row)
{
	const struct shown_row *shown = row;

	return change_of(shown->row, shown->measure);
}

static double change_share_cell(const struct report *report, const void *row)
{
	return before_cell(report, row) ?
		       absolute_change_cell(report, row) / before_cell(report, row) :
		       NAN;
}

static double interval_cell(const struct report *report, const void *row)
{
	const struct shown_row *shown = row;

	return difference_half_width(shown->row, shown->measure);
}

static char *verdict_cell(const struct report *report, const void *row)
{
	double size = absolute_change_cell(report, row);

	if (isinf(interval_cell(report, row)) || ((const struct shown_row *)row)->is_unknown)
		return strdup("unknown");
	if (!(fabs(size) > interval_cell(report, row)))
		return strdup("noise");
	return strdup(size > 0 ? "more" : "less");
}

#define COLUMNS(kind_)								\
{										\
	TEXT_COLUMN("lock", "lock", lock_cell, "class of the lock, or its address"),	\
	TEXT_COLUMN("caller", "caller", caller_cell,					\
		    "function that released a spin lock, or acquired a lock "	\
		    "that sleeps"),						\
	NUMBER_COLUMN("before", "before", kind_, before_cell, "sum before",		\
		      .drop_order = 1),					\
	NUMBER_COLUMN("after", "after", kind_, after_cell, "sum after", .drop_order = 2), \
	NUMBER_COLUMN("change", "change", kind_, absolute_change_cell, "difference of both"),	\
	NUMBER_COLUMN("change_share", "change %", CELL_SHARE, change_share_cell,	\
		      "change by the sum before", .drop_order = 3),		\
	NUMBER_COLUMN("interval", "+-95%", kind_, interval_cell,			\
		      "half the confidence interval of the change, at 95 percent"), \
	TEXT_COLUMN("verdict", "verdict", verdict_cell,				\
		    "more, less, noise: the interval includes no change, or "	\
		    "unknown: no record tells the interval, or a side has "	\
		    "no names or another mode, or did not record the lock"),	\
}

static const struct column time_columns[] = COLUMNS(CELL_TIME);
static const struct column count_columns[] = COLUMNS(CELL_COUNT);

/**
 * difference_table() - make a table of the changes
 * @table: set to the table, which the caller frees with table_free()
 * @difference: difference that was merged by @measure
 * @measure: measure that the table shows
 *
 * Return: false without memory.
 */
bool difference_table(struct table *table, const struct difference *difference,
		      enum difference_measure measure)
{
	const struct column *columns = measure == DIFFERENCE_OF_COUNTS ? count_columns :
									  time_columns;
	size_t i;

	if (!table_init(table, "changes", difference_measure_name(measure), columns,
			ARRAY_SIZE(time_columns), "change"))
		return false;
	for (i = 0; i < difference->row_count; i++) {
		struct shown_row row = { .row = &difference->rows[i], .measure = measure };

		row.is_unknown = (difference->mixes_names &&
				  (!before_cell(NULL, &row) || !after_cell(NULL, &row))) ||
				 (difference->mixes_modes && row.row->groups & SPINNING_GROUPS &&
				  measure != DIFFERENCE_OF_HOLDS) ||
				 row.row->groups & difference->different_groups;
		if (before_cell(NULL, &row) || after_cell(NULL, &row))
			table_add_row(table, NULL, &row);
	}
	return !table->no_memory;
}

/**
 * difference_free() - free the rows
 * @difference: all zero afterwards
 */
void difference_free(struct difference *difference)
{
	size_t i;

	for (i = 0; i < difference->row_count; i++) {
		free(difference->rows[i].lock);
		free(difference->rows[i].caller);
	}
	free(difference->rows);
	*difference = (struct difference) { 0 };
}
