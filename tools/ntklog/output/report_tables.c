// SPDX-License-Identifier: GPL-2.0-only
/* The tables of an analysis, what is to be known before they are read, and JSON. */

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntklog/event.h>
#include <ntklog/group_mask.h>
#include <ntklog/logfile.h>
#include <ntklog/wmi_spinlock.h>

#include "answer.h"
#include "event_group.h"
#include "hook_id.h"
#include "linux_mode.h"
#include "macros.h"
#include "message.h"
#include "report.h"
#include "report_blockers.h"

/* The order is that in which add_spinlock_sum() fills the cells. */
static const struct column caller_columns[] = {
	{ "caller", "caller", CELL_TEXT, false, NULL, NULL },
	{ "lock", "lock", CELL_TEXT, false, NULL, NULL },
	{ "locks", "locks", CELL_COUNT, true, NULL, NULL },
	{ "mode", "mode", CELL_TEXT, true, NULL, NULL },
	{ "sampled", "sampled", CELL_COUNT, false, NULL, NULL },
	{ "acquisitions", "acquired", CELL_ESTIMATE, false, "acquisitions_error", NULL },
	{ "acquisitions_error", "acquired error", CELL_ERROR, true, NULL, NULL },
	{ "per_second", "per second", CELL_ESTIMATE, true, "acquisitions_error", NULL },
	{ "contended", "contended", CELL_SHARE, false, NULL, NULL },
	{ "spins", "spins", CELL_ESTIMATE, true, NULL, NULL },
	{ "waiting", "waiting", CELL_SHARE, true, "wait_total_error", NULL },
	{ "wait_total", "wait", CELL_TIME, false, "wait_total_error", NULL },
	{ "wait_total_error", "wait error", CELL_ERROR, true, NULL, NULL },
	{ "wait_mean", "wait mean", CELL_TIME, false, NULL, NULL },
	{ "wait_p50", "wait p50", CELL_TIME, true, NULL, NULL },
	{ "wait_p95", "wait p95", CELL_TIME, false, NULL, NULL },
	{ "wait_p99", "wait p99", CELL_TIME, true, NULL, NULL },
	{ "wait_max", "wait max", CELL_TIME, false, NULL, NULL },
	{ "hold_total", "hold", CELL_TIME, false, "hold_total_error", NULL },
	{ "hold_total_error", "hold error", CELL_ERROR, true, NULL, NULL },
	{ "hold_mean", "hold mean", CELL_TIME, false, NULL, NULL },
	{ "hold_p50", "hold p50", CELL_TIME, true, NULL, NULL },
	{ "hold_p95", "hold p95", CELL_TIME, false, NULL, NULL },
	{ "hold_p99", "hold p99", CELL_TIME, true, NULL, NULL },
	{ "hold_max", "hold max", CELL_TIME, false, NULL, NULL },
	{ "depth", "depth", CELL_COUNT, false, NULL, NULL },
	{ "dpc", "dpc", CELL_SHARE, false, NULL, NULL },
	{ "isr", "isr", CELL_SHARE, false, NULL, NULL },
	{ "interrupted", "interrupted", CELL_SHARE, false, NULL, NULL },
	{ "interrupted_mean", "interrupted mean", CELL_TIME, true, NULL, NULL },
	{ "interrupted_max", "interrupted max", CELL_TIME, true, NULL, NULL },
	{ "undisturbed_mean", "undisturbed mean", CELL_TIME, true, NULL, NULL },
};

static const struct column resource_columns[] = {
	{ "resource", "resource", CELL_TEXT, false, NULL, NULL },
	{ "locks", "locks", CELL_COUNT, true, NULL, NULL },
	{ "kind", "kind", CELL_TEXT, true, NULL, NULL },
	{ "class", "class", CELL_TEXT, false, NULL, NULL },
	{ "sampled", "sampled", CELL_COUNT, false, NULL, NULL },
	{ "releases", "released", CELL_ESTIMATE, false, "releases_error", NULL },
	{ "releases_error", "released error", CELL_ERROR, true, NULL, NULL },
	{ "per_second", "per second", CELL_ESTIMATE, true, "releases_error", NULL },
	{ "waited", "waited", CELL_SHARE, false, NULL, NULL },
	{ "contention", "contention", CELL_COUNT, false, NULL, NULL },
	{ "excessive", "excessive", CELL_COUNT, false, NULL, NULL },
	{ "waiting", "waiting", CELL_SHARE, true, "wait_total_error", NULL },
	{ "wait_total", "wait", CELL_TIME, false, "wait_total_error", NULL },
	{ "wait_total_error", "wait error", CELL_ERROR, true, NULL, NULL },
	{ "wait_mean", "wait mean", CELL_TIME, false, NULL, NULL },
	{ "wait_p50", "wait p50", CELL_TIME, true, NULL, NULL },
	{ "wait_p95", "wait p95", CELL_TIME, false, NULL, NULL },
	{ "wait_p99", "wait p99", CELL_TIME, true, NULL, NULL },
	{ "wait_max", "wait max", CELL_TIME, false, NULL, NULL },
	{ "hold_total", "hold", CELL_TIME, false, "hold_total_error", "hold_unknown" },
	{ "hold_total_error", "hold error", CELL_ERROR, true, NULL, NULL },
	{ "hold_mean", "hold mean", CELL_TIME, false, NULL, NULL },
	{ "hold_p50", "hold p50", CELL_TIME, true, NULL, NULL },
	{ "hold_p95", "hold p95", CELL_TIME, false, NULL, NULL },
	{ "hold_p99", "hold p99", CELL_TIME, true, NULL, NULL },
	{ "hold_max", "hold max", CELL_TIME, false, NULL, NULL },
	{ "hold_unknown", "hold unknown", CELL_ESTIMATE, true, NULL, NULL },
	{ "depth", "recursion", CELL_COUNT, false, NULL, NULL },
	{ "initialized", "initialized", CELL_COUNT, true, NULL, NULL },
};

static const struct column stack_columns[] = {
	{ "stack", "stack", CELL_TEXT, false, NULL, NULL },
	{ "sampled", "sampled", CELL_COUNT, false, NULL, NULL },
	{ "acquisitions", "acquired", CELL_ESTIMATE, false, "acquisitions_error", NULL },
	{ "acquisitions_error", "acquired error", CELL_ERROR, true, NULL, NULL },
	{ "contended", "contended", CELL_SHARE, false, NULL, NULL },
	{ "wait_total", "wait", CELL_TIME, false, "wait_total_error", NULL },
	{ "wait_total_error", "wait error", CELL_ERROR, true, NULL, NULL },
	{ "wait_mean", "wait mean", CELL_TIME, true, NULL, NULL },
	{ "wait_max", "wait max", CELL_TIME, false, NULL, NULL },
	{ "hold_total", "hold", CELL_TIME, false, "hold_total_error", NULL },
	{ "hold_total_error", "hold error", CELL_ERROR, true, NULL, NULL },
	{ "hold_mean", "hold mean", CELL_TIME, true, NULL, NULL },
	{ "hold_max", "hold max", CELL_TIME, false, NULL, NULL },
};

static const struct column thread_columns[] = {
	{ "thread", "thread", CELL_COUNT, false, NULL, NULL },
	{ "name", "name", CELL_TEXT, false, NULL, NULL },
	{ "switches", "switches", CELL_COUNT, false, NULL, NULL },
	{ "preempted", "preempted", CELL_SHARE, false, NULL, NULL },
	{ "run_total", "run", CELL_TIME, false, NULL, NULL },
	{ "run_mean", "run mean", CELL_TIME, false, NULL, NULL },
	{ "run_p95", "run p95", CELL_TIME, false, NULL, NULL },
	{ "run_max", "run max", CELL_TIME, false, NULL, NULL },
	{ "ready_total", "ready", CELL_TIME, false, NULL, NULL },
};

static const struct column processor_columns[] = {
	{ "processor", "processor", CELL_COUNT, false, NULL, NULL },
	{ "switches", "switches", CELL_COUNT, false, NULL, NULL },
	{ "per_second", "per second", CELL_COUNT, false, NULL, NULL },
	{ "busy", "busy", CELL_SHARE, false, NULL, NULL },
	{ "busy_total", "busy time", CELL_TIME, false, NULL, NULL },
	{ "idle_total", "idle time", CELL_TIME, false, NULL, NULL },
	{ "unknown", "gaps", CELL_COUNT, false, NULL, NULL },
};

static const struct column unknown_columns[] = {
	{ "event", "event", CELL_TEXT, false, NULL, NULL },
	{ "count", "events", CELL_COUNT, false, NULL, NULL },
};

static char *symbol_text(const struct report *report, uint64_t address)
{
	char text[NAME_SIZE];

	names_address(report->names, address, text, sizeof(text));
	return strdup(text);
}

static char *code_text(const struct report *report, uint64_t address)
{
	char text[NAME_SIZE];

	names_code_address(report->names, address, text, sizeof(text));
	return strdup(text);
}

/* How many a class has: known where there are classes. */
static double lock_count(const struct report *report, uint64_t key)
{
	return (double)lock_classes_count(&report->analysis->classes, key);
}

static double cycles_ns(const struct report *report, double cycles)
{
	return etl_cycles_ns(report->file, cycles);
}

static double ticks_ns(const struct report *report, double ticks)
{
	return ticks * 1e9 / (double)report->file->perf_freq;
}

static union cell *add_unknown_times(union cell *cell)
{
	unsigned int i;

	/* As many as add_times() has. */
	for (i = 0; i < 7; i++)
		cell++->number = NAN;
	return cell;
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* How the records were chosen that a sum is of. */
enum sampling {
	SAMPLING_UNKNOWN,
	SAMPLING_ALL,
	SAMPLING_SOME,
};

static enum sampling sampling_of(uint32_t known, uint32_t rate)
{
	if (!known)
		return SAMPLING_UNKNOWN;
	return rate > 1 ? SAMPLING_SOME : SAMPLING_ALL;
}

/*
 * The standard error of a sum, relative to it. Where records stand for themselves alone, so that
 * their number has no variance, none of them tells how many there are that were not written.
 */
static double error_of(double variance, double sum, double number_variance,
		       enum sampling sampling)
{
	if (sampling == SAMPLING_UNKNOWN)
		return NAN;
	if (sampling == SAMPLING_SOME && number_variance == 0)
		return INFINITY;
	return share(sqrt(variance), sum);
}

static union cell *add_times(union cell *cell, const struct report *report,
			     const struct histogram *times, enum sampling sampling)
{
	cell++->number = cycles_ns(report, times->sum);
	cell++->number = sampling == SAMPLING_SOME && times->total_variance > 0 ?
		histogram_sum_error(times) :
		error_of(times->sum_variance, times->sum, times->total_variance, sampling);
	cell++->number = cycles_ns(report, histogram_mean(times));
	cell++->number = cycles_ns(report, histogram_percentile(times, 50));
	cell++->number = cycles_ns(report, histogram_percentile(times, 95));
	cell++->number = cycles_ns(report, histogram_percentile(times, 99));
	cell++->number = cycles_ns(report, (double)times->max);
	return cell;
}

/* The time that a CPU is covered and a group observed, seconds; top has no coverage. */
static double covered_seconds(const struct report *report, uint32_t groups, size_t cpu)
{
	if (!report->has_coverage ||
	    (!report->analysis->coverage.is_uneven &&
	     !coverage_knows_group(&report->analysis->coverage, groups)))
		return report->seconds;
	return (double)coverage_ticks(&report->analysis->coverage, groups, cpu) /
	       (double)report->file->perf_freq;
}

/* A sum per second: @all, or where CPUs are covered for different times, the sum of their rates. */
static double per_second(const struct report *report, uint32_t groups,
			 const struct cpu_sums *sums, enum cpu_sum which, double all)
{
	double rate = 0;
	size_t cpu;

	if (!report->has_coverage || !report->analysis->coverage.is_uneven)
		return share(all, covered_seconds(report, groups, COVERAGE_LONGEST));
	for (cpu = 0; cpu < sums->count; cpu++)
		rate += share(sums->sums[cpu][which], covered_seconds(report, groups, cpu));
	return rate;
}

/* How many waited, on average of the time; as a share of one. */
static double waiting(const struct report *report, uint32_t groups, const struct cpu_sums *sums,
		      const struct histogram *wait)
{
	double seconds = cycles_ns(report, 1) / 1e9;

	if (!sums->count)
		return share(cycles_ns(report, wait->sum) / 1e9,
			     covered_seconds(report, groups, COVERAGE_LONGEST));
	return per_second(report, groups, sums, CPU_SUM_WAIT, wait->sum) * seconds;
}

/*
 * The group that a sum of spin locks is of. A record does not say whether its lock is NT's; one
 * that was written while Linux' locks were not observed must be.
 */
static uint32_t spinlock_groups(const struct report *report, const struct spinlock_sum *sum)
{
	const struct analysis *analysis = report->analysis;
	const uint32_t linux_groups = PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK;

	if (coverage_knows_group(&analysis->coverage, linux_groups) &&
	    coverage_contains(&analysis->coverage, linux_groups,
			      analysis->origin + sum->first_ticks,
			      analysis->origin + sum->last_ticks))
		return linux_groups;
	return PERF_SPINLOCK;
}

static uint32_t resource_group(enum resource_kind kind)
{
	static const uint32_t groups[RESOURCE_KINDS] = {
		[RESOURCE_KIND_NT] = PERF_SYNC_OBJECTS,
		[RESOURCE_KIND_LINUX_MUTEX] = PERF_LINUX_MUTEX,
		[RESOURCE_KIND_LINUX_RWSEM] = PERF_LINUX_RWSEM,
		[RESOURCE_KIND_LINUX_SEMAPHORE] = PERF_LINUX_SEMAPHORE,
		[RESOURCE_KIND_LINUX_RT_MUTEX] = PERF_LINUX_RT_MUTEX,
		[RESOURCE_KIND_LINUX_PERCPU_RWSEM] = PERF_LINUX_PERCPU_RWSEM,
		[RESOURCE_KIND_LINUX_WW_MUTEX] = PERF_LINUX_WW_MUTEX,
	};

	return groups[kind];
}

static char *modes_text(uint64_t modes)
{
	static const char *const names[] = {
		[WMI_SPINLOCK_ORDINARY] = "ordinary",
		[WMI_SPINLOCK_QUEUED] = "queued",
		[WMI_SPINLOCK_EXECUTIVE_SHARED] = "shared",
		[WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE] = "exclusive",
		[WMI_SPINLOCK_EXECUTIVE_CONVERTED] = "converted",
	};
	char text[64] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (modes & UINT64_C(1) << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? "+" : "", names[i]);
	return strdup(*text ? text : "other");
}

/* Holds during which an interrupt came, and the others. */
static void add_interrupted(union cell *cell, const struct report *report,
			    const struct spinlock_sum *sum)
{
	const struct histogram *hold = &sum->hold, *interrupted = &sum->interrupted;
	double others = (double)(hold->total - interrupted->total);

	cell++->number = hold->total ? share((double)interrupted->total, (double)hold->total) :
				       NAN;
	cell++->number = interrupted->total ? cycles_ns(report, histogram_mean(interrupted)) : NAN;
	cell++->number = interrupted->total ? cycles_ns(report, (double)interrupted->max) : NAN;
	cell++->number = others > 0 ?
		cycles_ns(report, (hold->sum - interrupted->sum) / others) : NAN;
}

static void add_spinlock_sum(union cell *cell, const struct report *report,
			     const struct spinlock_sum *sum)
{
	/* Of waits alone, all that is known is how many there were. */
	bool waits_only = sum->waits_only == sum->sampled;
	const struct spinlock_rates *rates = &report->analysis->spinlocks.highest;
	enum sampling of_all = sampling_of(rates->known, rates->acquire_rate);
	double all = (double)sum->acquisitions, variance = sum->hold.total_variance;
	uint32_t groups = spinlock_groups(report, sum);

	cell++->text = modes_text(sum->modes);
	cell++->number = (double)sum->sampled;
	cell++->number = sum->waits_only ? NAN : all;
	/* Each record but those of waits alone has a hold. */
	cell++->number = sum->waits_only ? NAN : error_of(variance, all, variance, of_all);
	cell++->number = sum->waits_only ? NAN :
		per_second(report, groups, &sum->cpus, CPU_SUM_COUNT, all);
	/* Contended ones and others are sampled by rates that are far apart. */
	cell++->number = rates->known && !sum->waits_only ?
		share((double)sum->contended, all) : NAN;
	cell++->number = sum->spins;
	cell++->number = waiting(report, groups, &sum->cpus, &sum->wait);
	cell = add_times(cell, report, &sum->wait,
			 sampling_of(rates->known, rates->contention_rate));
	cell = waits_only ? add_unknown_times(cell) : add_times(cell, report, &sum->hold, of_all);
	cell++->number = sum->max_depth ? sum->max_depth : NAN;
	cell++->number = share((double)sum->dpc, all);
	cell++->number = share((double)sum->isr, all);
	add_interrupted(cell, report, sum);
}

static void make_locks(struct report *report)
{
	const struct spinlock_stats *stats = &report->analysis->spinlocks;
	struct table *table = &report->tables[REPORT_LOCKS];
	const struct spinlock_lock *lock;
	union cell *cell;

	for (lock = stats->locks; lock; lock = lock->hh.next) {
		if (!lock->sum.sampled)
			continue;
		cell = table_add_row(table);
		if (!cell)
			return;
		cell++->text = symbol_text(report, lock->address);
		cell++->number = lock_count(report, lock->address);
		add_spinlock_sum(cell, report, &lock->sum);
	}
	cell = stats->others.sampled ? table_add_row(table) : NULL;
	if (cell) {
		cell++->text = strdup("(others)");
		cell++->number = NAN;
		add_spinlock_sum(cell, report, &stats->others);
	}
}

static void make_callers(struct report *report)
{
	const struct spinlock_stats *stats = &report->analysis->spinlocks;
	struct table *table = &report->tables[REPORT_CALLERS];
	const struct spinlock_pair *pair;
	union cell *cell;

	for (pair = stats->pairs; pair; pair = pair->hh.next) {
		if (!pair->sum.sampled)
			continue;
		cell = table_add_row(table);
		if (!cell)
			return;
		cell++->text = code_text(report, pair->key.caller);
		cell++->text = symbol_text(report, pair->key.lock);
		cell++->number = lock_count(report, pair->key.lock);
		add_spinlock_sum(cell, report, &pair->sum);
	}
	cell = stats->others.sampled ? table_add_row(table) : NULL;
	if (cell) {
		cell++->text = strdup("(others)");
		cell++->text = strdup("(others)");
		cell++->number = NAN;
		add_spinlock_sum(cell, report, &stats->others);
	}
}

static void add_resource(struct report *report, const struct resource_entry *entry,
			 char *name, double locks, enum resource_kind kind,
			 enum resource_class class)
{
	const struct resource_rates *rates = &report->analysis->resources.highest;
	enum sampling of_all = sampling_of(rates->known, rates->release_rate);
	const struct resource_sum *sum = &entry->classes[class];
	union cell *cell = table_add_row(&report->tables[REPORT_RESOURCES]);

	if (!cell) {
		free(name);
		return;
	}
	cell++->text = name;
	cell++->number = locks;
	cell++->text = strdup(resource_kinds[kind].name);
	cell++->text = strdup(class == RESOURCE_EXCLUSIVE ? "exclusive" : "shared");
	cell++->number = (double)sum->sampled;
	cell++->number = (double)sum->releases;
	cell++->number = error_of(sum->variance, (double)sum->releases, sum->variance, of_all);
	cell++->number = per_second(report, resource_group(kind), &sum->cpus, CPU_SUM_COUNT,
				    (double)sum->releases);
	cell++->number = rates->known ?
		share((double)sum->waited, (double)sum->releases) : NAN;
	cell++->number = (double)sum->contention;
	cell++->number = (double)sum->excessive;
	cell++->number = waiting(report, resource_group(kind), &sum->cpus, &sum->wait);
	cell = add_times(cell, report, &sum->wait,
			 sampling_of(rates->known, rates->contention_rate));
	cell = add_times(cell, report, &sum->hold, of_all);
	cell++->number = (double)sum->hold_unknown;
	cell++->number = sum->max_depth;
	cell++->number = (double)entry->initialized;
}

static void make_resources(struct report *report)
{
	const struct resource_stats *stats = &report->analysis->resources;
	struct table *table = &report->tables[REPORT_RESOURCES];
	const struct resource_entry *entry;
	unsigned int i, kind;

	for (i = 0; i < RESOURCE_CLASSES; i++) {
		for (entry = stats->resources; entry; entry = entry->hh.next)
			if (entry->classes[i].sampled || entry->classes[i].excessive)
				add_resource(report, entry,
					     symbol_text(report, entry->key.address),
					     lock_count(report, entry->key.address),
					     entry->key.kind, i);
		for (kind = 0; kind < RESOURCE_KINDS; kind++) {
			entry = &stats->others[kind];
			if (entry->classes[i].sampled || entry->classes[i].excessive)
				add_resource(report, entry, strdup("(others)"), NAN, kind, i);
		}
	}
	/* Files of Windows have but one. */
	if (!resource_stats_has_linux(stats))
		return;
	table_insert(table, table_find_column(table, "kind"));
	table->title = stats->kinds & 1 << RESOURCE_KIND_NT ?
		"Executive resources and Linux' locks that sleep" : "Linux' locks that sleep";
}

/* Between the functions of a stack, from the innermost on: who was called < by whom. */
#define STACK_SEPARATOR	" < "

static char *stack_text(const struct report *report, const struct stack_entry *entry)
{
	char *text = malloc(entry->count * (NAME_SIZE + sizeof(STACK_SEPARATOR)) + 1), *at = text;
	char *shorter;
	size_t i;

	for (i = 0; text && i < entry->count; i++) {
		if (i)
			at = stpcpy(at, STACK_SEPARATOR);
		names_code_address(report->names, entry->addresses[i], at, NAME_SIZE);
		at += strlen(at);
	}
	/* There may be 16384 of these. */
	shorter = text ? realloc(text, at - text + 1) : NULL;
	return shorter ? shorter : text;
}

static void add_stack(struct report *report, char *text, const struct stack_sum *sum)
{
	bool known = report->analysis->spinlocks.rates.known ||
		     report->analysis->resources.rates.known;
	enum sampling of_all = sampling_of(known, sum->is_sample ? 2 : 1);
	enum sampling of_waits = sampling_of(known, sum->waits_are_sample ? 2 : 1);
	union cell *cell;

	if (!sum->sampled) {
		free(text);
		return;
	}
	cell = text ? table_add_row(&report->tables[REPORT_STACKS]) : NULL;
	if (!cell) {
		report->tables[REPORT_STACKS].no_memory = true;
		free(text);
		return;
	}
	cell++->text = text;
	cell++->number = sum->sampled;
	cell++->number = sum->acquisitions;
	cell++->number = error_of(sum->variance, sum->acquisitions, sum->variance, of_all);
	cell++->number = share(sum->waited, sum->acquisitions);
	cell++->number = cycles_ns(report, sum->wait);
	cell++->number = of_waits == SAMPLING_SOME && sum->waited_variance > 0 ?
		sum_error(sum->wait_variance, sum->wait_greatest, sum->wait) :
		error_of(sum->wait_variance, sum->wait, sum->waited_variance, of_waits);
	cell++->number = cycles_ns(report, share(sum->wait, sum->waited));
	cell++->number = cycles_ns(report, (double)sum->wait_max);
	cell++->number = cycles_ns(report, sum->hold);
	cell++->number = of_all == SAMPLING_SOME && sum->variance > 0 ?
		sum_error(sum->hold_variance, sum->hold_greatest, sum->hold) :
		error_of(sum->hold_variance, sum->hold, sum->variance, of_all);
	cell++->number = cycles_ns(report, share(sum->hold, sum->held));
	cell->number = cycles_ns(report, (double)sum->hold_max);
}

static void make_stacks(struct report *report)
{
	const struct stack_stats *stats = &report->analysis->stacks;
	const struct stack_entry *entry;

	for (entry = stats->stacks; entry; entry = entry->hh.next)
		add_stack(report, stack_text(report, entry), &entry->sum);
	add_stack(report, strdup("(other stacks)"), &stats->others);
	add_stack(report, strdup("(no stack)"), &stats->without);
}

/**
 * report_print_stacks() - the table of stacks, for people: each row's functions below its numbers
 * @report: made
 * @stream: where to
 * @top: stacks at most; 0: all
 */
void report_print_stacks(const struct report *report, FILE *stream, size_t top)
{
	const struct table *table = &report->tables[REPORT_STACKS];
	size_t rows = table_top(table, top), row, k, length;
	char text[NAME_SIZE];
	const char *at;

	fprintf(stream, "%s, by %s", table->title, table->columns[table->sort].name);
	if (rows < table->rows)
		fprintf(stream, " (%zu of %zu)", rows, table->rows);
	for (row = 0; row < rows; row++) {
		const union cell *cells = &table->cells[row * table->column_count];

		fputs("\n  ", stream);
		for (k = 0; k < table->shown_count; k++) {
			const struct column *column = &table->columns[table->shown[k]];

			if (column->kind == CELL_TEXT)
				continue;
			table_format_cell(table, row, table->shown[k], text, sizeof(text));
			fprintf(stream, "%s%s %s", k > 1 ? ", " : "", column->title, text);
		}
		fputc('\n', stream);
		for (at = cells[0].text; *at; at += length) {
			const char *end = strstr(at, STACK_SEPARATOR);

			length = end ? (size_t)(end - at) : strlen(at);
			fprintf(stream, "      %.*s\n", (int)length, at);
			length += end ? strlen(STACK_SEPARATOR) : 0;
		}
	}
}

static void add_thread(struct report *report, const struct switch_thread *thread,
		       const char *name)
{
	union cell *cell = table_add_row(&report->tables[REPORT_THREADS]);

	if (!cell)
		return;
	cell++->number = thread->thread_id;
	cell++->text = strdup(name ? name : "");
	cell++->number = (double)thread->switches;
	cell++->number = share((double)thread->preempted, (double)thread->switched_out);
	cell++->number = ticks_ns(report, thread->run.sum);
	cell++->number = ticks_ns(report, histogram_mean(&thread->run));
	cell++->number = ticks_ns(report, histogram_percentile(&thread->run, 95));
	cell++->number = ticks_ns(report, (double)thread->run.max);
	cell++->number = (double)thread->wait_ticks * (double)report->file->tick_ns;
}

static void make_threads(struct report *report)
{
	const struct switch_stats *stats = &report->analysis->switches;
	const struct switch_thread *thread;

	for (thread = stats->threads; thread; thread = thread->hh.next)
		add_thread(report, thread, names_thread(report->names, thread->thread_id));
	if (stats->others.switches || stats->others.switched_out)
		add_thread(report, &stats->others, "(others)");
}

static void make_processors(struct report *report)
{
	const struct switch_stats *stats = &report->analysis->switches;
	size_t i;

	for (i = 0; i < stats->processor_count; i++) {
		const struct switch_processor *processor = &stats->processors[i];
		double time = (double)(processor->last_time - processor->first_time);
		union cell *cell;

		if (!processor->switches)
			continue;
		cell = table_add_row(&report->tables[REPORT_PROCESSORS]);
		if (!cell)
			return;
		cell++->number = (double)i;
		cell++->number = (double)processor->switches;
		cell++->number = share((double)processor->switches * 1e9,
				       ticks_ns(report, time));
		cell++->number = share(processor->busy, processor->busy + processor->idle);
		cell++->number = ticks_ns(report, processor->busy);
		cell++->number = ticks_ns(report, processor->idle);
		cell++->number = (double)processor->unknown;
	}
}

__printf(3, 4)
static void add_unknown(struct report *report, uint64_t count, const char *format, ...)
{
	union cell *cell = count ? table_add_row(&report->tables[REPORT_UNKNOWN]) : NULL;
	va_list arguments;
	char text[64];

	if (!cell)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	cell++->text = strdup(text);
	cell++->number = (double)count;
}

static void make_unknown(struct report *report)
{
	const struct analysis *analysis = report->analysis;
	const struct resource_stats *resources = &analysis->resources;
	unsigned int i;

	for (i = 0; resources->unknown && i < RESOURCE_WMI_CLASSES; i++)
		add_unknown(report, resources->unknown[i], "Resource, class 0x%08x", i << 16);
	for (i = 0; analysis->unknown && i <= UINT16_MAX; i++)
		add_unknown(report, analysis->unknown[i], "HookId 0x%04x%s%s", i,
			    hook_name(i) ? " " : "", hook_name(i) ? hook_name(i) : "");
	for (i = 0; i < ARRAY_SIZE(analysis->unknown_headers); i++)
		if (i == TRACE_HEADER_TYPE_MESSAGE)
			add_unknown(report, analysis->unknown_headers[i], "WPP message");
		else
			add_unknown(report, analysis->unknown_headers[i],
				    "HeaderType 0x%04x", i);
}

static const struct {
	const char *name;
	const char *title;
	const struct column *columns;
	size_t column_count;
	const char *sort;
	void (*make)(struct report *report);
} kinds[REPORT_TABLES] = {
	[REPORT_LOCKS] = { "locks", "Spin locks", caller_columns + 1,
			   ARRAY_SIZE(caller_columns) - 1, "wait_total", make_locks },
	[REPORT_CALLERS] = { "callers", "Callers of spin locks",
			     caller_columns, ARRAY_SIZE(caller_columns), "wait_total",
			     make_callers },
	[REPORT_RESOURCES] = { "resources", "Executive resources",
			       resource_columns, ARRAY_SIZE(resource_columns),
			       "wait_total", make_resources },
	[REPORT_BLOCKERS] = { "blockers", "Who held the lock", blocker_columns, BLOCKER_COLUMNS,
			      "charged_total", report_make_blockers },
	[REPORT_STACKS] = { "stacks", "Stacks of locks", stack_columns,
			    ARRAY_SIZE(stack_columns), "wait_total", make_stacks },
	[REPORT_THREADS] = { "threads", "Threads", thread_columns,
			     ARRAY_SIZE(thread_columns), "run_total", make_threads },
	[REPORT_PROCESSORS] = { "processors", "Context switches of processors",
				processor_columns, ARRAY_SIZE(processor_columns),
				"switches", make_processors },
	[REPORT_UNKNOWN] = { "unknown", "Events that are not known, and were skipped",
			     unknown_columns, ARRAY_SIZE(unknown_columns), "count",
			     make_unknown },
};

/* Totals of CPUs that are covered for different times do not compare; rates do. */
static void rank_by_rates(struct report *report)
{
	static const char *const rates[] = { "per_second", "waiting" };
	size_t i, j;

	for (i = 0; i < REPORT_PROCESSORS; i++)
		for (j = 0; j < ARRAY_SIZE(rates); j++) {
			int column = table_find_column(&report->tables[i], rates[j]);

			if (column < 0)
				continue;
			table_insert(&report->tables[i], column);
			report->tables[i].sort = column;
		}
}

/**
 * report_make() - make the tables
 * @report: its file, analysis, names and seconds set
 */
void report_make(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (table_init(&report->tables[i], kinds[i].name, kinds[i].title,
			       kinds[i].columns, kinds[i].column_count, kinds[i].sort))
			kinds[i].make(report);
	if (report->has_coverage && report->analysis->coverage.is_uneven)
		rank_by_rates(report);
	for (i = 0; i < REPORT_TABLES && names_have_classes(report->names) &&
	     !report->analysis->by_address; i++)
		if (table_find_column(&report->tables[i], "locks") >= 0)
			table_insert(&report->tables[i],
				     table_find_column(&report->tables[i], "locks"));
}

/**
 * report_is_complete() - was there memory for all of it?
 * @report: made
 *
 * Return: whether there was.
 */
int report_is_complete(const struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (report->tables[i].no_memory)
			return false;
	return !report->analysis->spinlocks.no_memory &&
	       !report->analysis->resources.no_memory &&
	       !report->analysis->switches.no_memory &&
	       !report->analysis->stacks.no_memory &&
	       !report->analysis->charges.no_memory &&
	       !report->analysis->coverage.no_memory &&
	       !report->analysis->history.no_memory &&
	       !report->analysis->spinlocks.timelines.no_memory &&
	       !report->analysis->resources.timelines.no_memory &&
	       !report->analysis->switches.timelines.no_memory;
}

/* A line of report_facts(). */
__printf(4, 5)
static void fact(FILE *stream, const char *before, const char *after,
		 const char *format, ...)
{
	va_list arguments;

	fputs(before, stream);
	va_start(arguments, format);
	vfprintf(stream, format, arguments);
	va_end(arguments);
	fprintf(stream, "%s\n", after);
}

static void format_start(const struct report *report, char *text, size_t size)
{
	time_t seconds = etl_unix_time(report->file, report->analysis->origin) / 10000000;
	struct tm tm;

	if (!seconds || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(text, size, "at an unknown time");
}

/**
 * report_resources() - what is in the table of resources?
 * @report: its analysis set
 *
 * Return: what that is called in a sentence.
 */
const char *report_resources(const struct report *report)
{
	const struct resource_stats *stats = &report->analysis->resources;

	if (!resource_stats_has_linux(stats))
		return "resources";
	return stats->kinds & 1 << RESOURCE_KIND_NT ?
		"resources and Linux' locks that sleep" : "Linux' locks that sleep";
}

/* "all", or "1 in so many". */
static const char *one_in(uint32_t rate, char *text, size_t size)
{
	if (rate == 1)
		return "all";
	snprintf(text, size, "1 in %" PRIu32, rate);
	return text;
}

static void spinlock_rates_fact(const struct report *report, const struct spinlock_rates *rates,
				FILE *stream, const char *before, const char *after)
{
	char contended[32], others[32], spins[48] = "", hold[96] = "", time[32];
	const union cell threshold = {
		.number = cycles_ns(report, rates->hold_threshold)
	};

	/* Whoever waits spins once at the least. */
	if (rates->spin_threshold > 1)
		snprintf(spins, sizeof(spins), " %" PRIu32 " spins or more",
			 rates->spin_threshold);
	if (rates->hold_threshold) {
		cell_format(CELL_TIME, &threshold, time, sizeof(time));
		snprintf(hold, sizeof(hold), "; and all held for more than %s (%" PRIu32 " cycles)",
			 time, rates->hold_threshold);
	}
	fact(stream, before, after,
	     "%s: %s acquisitions that waited%s %s written; of those that did not wait %s%s",
	     rates->linux_mode == NTKLOG_LINUX_MODE_WAITS ? "NT's spin locks" : "spin locks",
	     one_in(rates->contention_rate, contended, sizeof(contended)), spins,
	     rates->contention_rate == 1 ? "were" : "was",
	     one_in(rates->acquire_rate, others, sizeof(others)), hold);
}

/* In mode waits the rules for acquisitions and holds are those of NT's spin locks alone. */
static bool has_nt_or_holds(const struct report *report)
{
	const struct analysis *analysis = report->analysis;

	return analysis->spinlocks.rates.linux_mode != NTKLOG_LINUX_MODE_WAITS ||
	       !analysis->has_groups || analysis_has_group(analysis, PERF_SPINLOCK);
}

/* What the mode in which Linux' locks were watched keeps from being known. */
static void linux_mode_fact(const struct report *report, const struct spinlock_rates *rates,
			    FILE *stream, const char *before, const char *after)
{
	char waits[32];

	switch (rates->linux_mode) {
	case NTKLOG_LINUX_MODE_SAMPLED:
		fact(stream, before, after,
		     "Linux' spin locks and rwlocks, mode \"sampled\": records were chosen at the acquisition; there is no hold threshold and no depth");
		break;
	case NTKLOG_LINUX_MODE_WAITS:
		fact(stream, before, after,
		     "Linux' spin locks and rwlocks, mode \"waits\": of the waits in a queue %s %s written, with the function that asked for the lock; holds and other acquisitions are not known",
		     one_in(rates->contention_rate, waits, sizeof(waits)),
		     rates->contention_rate == 1 ? "were" : "was");
		fact(stream, before, after,
		     "the first waiter of a spin lock does not queue: a spin lock that only two CPUs use is never seen%s",
		     report->file->processors > 2 ? "" :
		     "; with the CPUs of this machine that is every spin lock, use --mode sampled or full");
		break;
	}
}

/* In the other modes Linux' locks have no such rule: that none of them is told of says nothing. */
static void blockers_fact(const struct spinlock_rates *rates, FILE *stream, const char *before,
			  const char *after)
{
	bool all = rates->linux_mode == NTKLOG_LINUX_MODE_FULL;
	char blockers[32];

	fact(stream, before, after,
	     "blockers: %s releases%s that left a waiter behind %s written as well; only their own table counts those%s",
	     one_in(rates->blockers, blockers, sizeof(blockers)),
	     all ? "" : " of NT's queued locks", rates->blockers == 1 ? "were" : "was",
	     all ? "" : "; of Linux' locks there are none in this mode");
}

static void resource_rates_fact(const struct report *report, const struct resource_rates *rates,
				FILE *stream, const char *before, const char *after)
{
	const char *what = report_resources(report);
	char waited[32], others[32], multiple[48] = "";

	if (rates->release_rate == 1) {
		fact(stream, before, after, "%s: all releases were written", what);
		return;
	}
	if (rates->contention_rate > 1)
		snprintf(multiple, sizeof(multiple), "a multiple of %" PRIu32,
			 rates->contention_rate);
	fact(stream, before, after,
	     "%s: %s releases after a wait, and all that %s waited for, were written; of the others %s",
	     what,
	     one_in(rates->contention_rate, waited, sizeof(waited)),
	     *multiple ? multiple : "others",
	     one_in(rates->release_rate, others, sizeof(others)));
}

static void rates_facts(const struct report *report, const struct rates *rates, FILE *stream,
			const char *before, const char *after)
{
	const struct spinlock_rates *spinlock = &rates->spinlock;
	const struct analysis *analysis = report->analysis;

	if (analysis->spinlocks.total.sampled && spinlock->known && has_nt_or_holds(report))
		spinlock_rates_fact(report, spinlock, stream, before, after);
	if (spinlock->has_rules)
		linux_mode_fact(report, spinlock, stream, before, after);
	if (spinlock->blockers)
		blockers_fact(spinlock, stream, before, after);
	if (analysis->resources.records && rates->resource.known)
		resource_rates_fact(report, &rates->resource, stream, before, after);
}

static double stretch_begin(const struct report *report, size_t i)
{
	const struct rates_stretch *stretch = &report->analysis->history.stretches[i];

	return stretch->from ? etl_seconds(report->file, stretch->from) : 0;
}

/* The rates of each time in which they did not change. */
static void stretches_facts(const struct report *report, FILE *stream, const char *before,
			    const char *after)
{
	const struct rates_history *history = &report->analysis->history;
	size_t i;

	fact(stream, before, after,
	     "the rates were changed during the recording%s",
	     report->is_stream ? ": estimates use those of the start, because a pipe cannot be read again; write it to a file" :
				 ": each record is scaled by those of its time");
	for (i = 0; i < history->count; i++) {
		fact(stream, before, after, i + 1 < history->count ? "from %.3f s to %.3f s:" :
								     "from %.3f s on:",
		     stretch_begin(report, i),
		     i + 1 < history->count ? stretch_begin(report, i + 1) : 0);
		rates_facts(report, &history->stretches[i].rates, stream, before, after);
	}
}

/* The time of the groups of which the file says it. */
static void observed_facts(const struct report *report, FILE *stream, const char *before,
			   const char *after)
{
	const struct coverage *coverage = &report->analysis->coverage;
	size_t i;

	for (i = 0; report->has_coverage && i < EVENT_GROUPS; i++)
		if (coverage_knows_group(coverage, event_groups[i].value))
			fact(stream, before, after,
			     "%s was observed for %.3f s: its rates are of that time",
			     event_groups[i].name,
			     covered_seconds(report, event_groups[i].value, COVERAGE_LONGEST));
}

/* The CPUs whose time in a flight recording is the longest and the shortest. */
static void flight_facts(const struct report *report, FILE *stream, const char *before,
			 const char *after)
{
	const struct coverage *coverage = &report->analysis->coverage;
	const struct etl_file *file = report->file;
	size_t first = COVERAGE_LONGEST, last = COVERAGE_LONGEST, i;

	fact(stream, before, after, "a flight recording: %" PRIu64 " older buffers were overwritten",
	     file->overwritten);
	for (i = 0; report->has_coverage && i < coverage->cpu_count; i++) {
		if (!coverage->cpus[i].events)
			continue;
		if (first == COVERAGE_LONGEST ||
		    coverage_begin(coverage, i) < coverage_begin(coverage, first))
			first = i;
		if (last == COVERAGE_LONGEST ||
		    coverage_begin(coverage, i) > coverage_begin(coverage, last))
			last = i;
	}
	if (first == last)
		return;
	fact(stream, before, after,
	     "CPU %zu is covered from %.3f s on, the others from later on, the last, CPU %zu, from %.3f s; to %.3f s",
	     first, etl_seconds(file, coverage_begin(coverage, first)), last,
	     etl_seconds(file, coverage_begin(coverage, last)), etl_seconds(file, coverage->to));
	fact(stream, before, after,
	     "sums are of all that is left; per second, waiting and the order of rows use the time of each CPU");
}

static bool spinlocks_are_estimated(const struct spinlock_rates *rates)
{
	return rates->known && (rates->acquire_rate != 1 || rates->contention_rate != 1 ||
				rates->spin_threshold > 1);
}

static void estimates_fact(FILE *stream, const char *before, const char *after)
{
	fact(stream, before, after,
	     "\"~\": an estimate of what happened, from these rates; times and shares are scaled in the same way");
	fact(stream, before, after,
	     "\"+-23%%\": the standard error of an estimate, where it is above 10%%; \"+-?\": no record tells how large it is");
}

/* What has a stack, and what should have. */
static void stacks_fact(const struct stacks_counts *counts, FILE *stream, const char *before,
			const char *after)
{
	if (counts->found)
		fact(stream, before, after, "%" PRIu64 " events have a stack", counts->found);
	if (counts->missing)
		fact(stream, before, after,
		     "%" PRIu64 " events have no stack: it was lost, or could not be recorded",
		     counts->missing);
	if (counts->unknown)
		fact(stream, before, after,
		     "%" PRIu64 " events have keys, whose stacks are not in the file",
		     counts->unknown);
	if (counts->alone)
		fact(stream, before, after,
		     "%" PRIu64 " stacks belong to events that are not in the file",
		     counts->alone);
}

/**
 * report_facts() - what is to be known before the tables are read
 * @report: made
 * @stream: where to
 * @before: each line
 * @after: each line
 */
void report_facts(const struct report *report, FILE *stream, const char *before,
		  const char *after)
{
	const struct spinlock_rates *spinlock = &report->analysis->spinlocks.rates;
	const struct resource_rates *resource = &report->analysis->resources.rates;
	const struct analysis *analysis = report->analysis;
	static const char not_known[] =
		"the file does not say how they were sampled: the numbers count the records alone";
	const struct etl_file *file = report->file;
	char start[64];

	format_start(report, start, sizeof(start));
	fact(stream, before, after,
	     "%" PRIu64 " events in %.3f s of %u processors, from %s on",
	     analysis->events, report->seconds, file->processors, start);
	if (file->overwritten)
		flight_facts(report, stream, before, after);
	observed_facts(report, stream, before, after);
	if (file->events_lost || file->buffers_lost)
		fact(stream, before, after,
		     "LOST: %u events, %u buffers; the numbers below are of the rest",
		     file->events_lost, file->buffers_lost);
	else if (file->lossy_buffers)
		fact(stream, before, after,
		     "LOST: events after %" PRIu64 " buffers; the header does not say how many",
		     file->lossy_buffers);
	if (file->damaged_buffers || file->damaged_events || file->wrong_times)
		fact(stream, before, after,
		     "DAMAGED: %" PRIu64 " buffers, %" PRIu64 " events, %" PRIu64 " times left out",
		     file->damaged_buffers, file->damaged_events, file->wrong_times);
	if (file->twice || file->missing)
		fact(stream, before, after,
		     "DAMAGED: %" PRIu64 " buffers are in the file twice, %" PRIu64 " are missing",
		     file->twice, file->missing);
	if (!file->end_time)
		fact(stream, before, after,
		     "the session had not ended: events may be missing, and their number is not known");
	if (analysis->history.is_finished && analysis->history.count > 1 && report->has_coverage)
		stretches_facts(report, stream, before, after);
	else
		rates_facts(report, &(struct rates) { *spinlock, *resource }, stream, before, after);
	if (analysis->spinlocks.total.sampled && !spinlock->known)
		fact(stream, before, after, "spin locks: %s", not_known);
	if (analysis->resources.records && !resource->known)
		fact(stream, before, after, "%s: %s", report_resources(report), not_known);
	if ((analysis->spinlocks.total.sampled && spinlocks_are_estimated(spinlock)) ||
	    (analysis->resources.records && resource->known && resource->release_rate != 1))
		estimates_fact(stream, before, after);
	if (analysis->resources.hold_unknown)
		fact(stream, before, after,
		     "\">\": the hold of %" PRIu64 " releases is not known, because it began before the recording; the sum is of the others",
		     analysis->resources.hold_unknown);
	if (analysis->spinlocks.evicted) {
		const union cell missed = {
			.number = cycles_ns(report, analysis->spinlocks.missed.wait)
		};
		char time[32];

		cell_format(CELL_TIME, &missed, time, sizeof(time));
		fact(stream, before, after,
		     "the %d heaviest pairs of lock and caller are told apart, the rest is in (others); a row lacks at most %s of its wait",
		     SPINLOCK_PAIRS_MAX, time);
	}
	if (analysis->history.has_unknown_change)
		fact(stream, before, after,
		     "the rates were changed during the recording, at a time that the file does not tell: estimates use those before the change");
	stacks_fact(&analysis->stacks.counts, stream, before, after);
	if (analysis->spinlocks.backwards)
		fact(stream, before, after,
		     "%" PRIu64 " acquisitions end before they begin: their holds count as 0",
		     analysis->spinlocks.backwards);
	if (file->other_buffers)
		fact(stream, before, after, "%" PRIu64 " buffers hold no events: they were skipped",
		     file->other_buffers);
	if (!report_is_complete(report))
		fact(stream, before, after,
		     "there was not enough memory: the tables are not complete");
}

static json_t *rates_json(const struct rates *of)
{
	const struct spinlock_rates *spinlock = &of->spinlock;
	const struct resource_rates *resource = &of->resource;
	json_t *rates = json_object(), *of_linux;

	if (spinlock->known)
		json_object_set_new(rates, "spinlock",
				    json_pack("{s:I, s:I, s:I, s:I}", "spin_threshold",
					      (json_int_t)spinlock->spin_threshold,
					      "acquire_sample_rate",
					      (json_int_t)spinlock->acquire_rate,
					      "contention_sample_rate",
					      (json_int_t)spinlock->contention_rate,
					      "hold_threshold",
					      (json_int_t)spinlock->hold_threshold));
	if (spinlock->has_rules) {
		of_linux = json_pack("{s:s}", "mode", linux_mode_name(spinlock->linux_mode));
		if (spinlock->blockers && spinlock->linux_mode != NTKLOG_LINUX_MODE_FULL)
			json_object_set_new(of_linux, "blockers", json_integer(0));
		json_object_set_new(rates, "linux", of_linux);
	}
	if (spinlock->blockers)
		json_object_set_new(rates, "blockers", json_integer(spinlock->blockers));
	if (resource->known)
		json_object_set_new(rates, "resource",
				    json_pack("{s:I, s:I, s:I}", "release_sample_rate",
					      (json_int_t)resource->release_rate,
					      "contention_sample_rate",
					      (json_int_t)resource->contention_rate,
					      "excessive_timeouts",
					      (json_int_t)resource->timeouts));
	return rates;
}

/**
 * report_rates_json() - the parameters of the sampling, for programs
 * @analysis: of a trace
 *
 * Return: an object, or NULL.
 */
json_t *report_rates_json(const struct analysis *analysis)
{
	return rates_json(&(struct rates) { analysis->spinlocks.rates, analysis->resources.rates });
}

/* The rates of each time in which they did not change. */
static json_t *stretches_json(const struct report *report)
{
	const struct rates_history *history = &report->analysis->history;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < history->count; i++)
		json_array_append_new(array, json_pack("{s:f, s:o}", "from",
						       stretch_begin(report, i), "rates",
						       rates_json(&history->stretches[i].rates)));
	return array;
}

/* The time that is left of each CPU. */
static json_t *covered_json(const struct report *report)
{
	const struct coverage *coverage = &report->analysis->coverage;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < coverage->cpu_count; i++)
		if (coverage->cpus[i].events)
			json_array_append_new(array, json_pack("{s:I, s:f, s:f}",
				"processor", (json_int_t)i,
				"from", etl_seconds(report->file, coverage_begin(coverage, i)),
				"to", etl_seconds(report->file, coverage->to)));
	return array;
}

/* The seconds for which each group was observed, of those of which the file says it. */
static json_t *observed_json(const struct report *report)
{
	const struct coverage *coverage = &report->analysis->coverage;
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < EVENT_GROUPS; i++)
		if (coverage_knows_group(coverage, event_groups[i].value))
			json_object_set_new(object, event_groups[i].name,
					    json_real(covered_seconds(report, event_groups[i].value,
								      COVERAGE_LONGEST)));
	return object;
}

/**
 * report_json() - all of it, for programs
 * @report: made
 * @top: rows of each table at most; 0: all
 * @tables: which, as bits
 *
 * Return: an object, or NULL.
 */
json_t *report_json(const struct report *report, size_t top, unsigned int tables)
{
	const struct analysis *analysis = report->analysis;
	const struct etl_file *file = report->file;
	json_t *object;
	size_t i;

	object = json_pack("{s:I, s:f, s:I, s:b, s:I, s:I, s:I, s:I, s:I,"
			   " s:I, s:I, s:I, s:I, s:b, s:o}",
			   "events", (json_int_t)analysis->events,
			   "seconds", report->seconds,
			   "processor_count", (json_int_t)file->processors,
			   "ended", file->end_time != 0,
			   "events_lost", (json_int_t)file->events_lost,
			   "buffers_lost", (json_int_t)file->buffers_lost,
			   "buffers_overwritten", (json_int_t)file->overwritten,
			   "lossy_buffers", (json_int_t)file->lossy_buffers,
			   "damaged_buffers", (json_int_t)file->damaged_buffers,
			   "damaged_events", (json_int_t)file->damaged_events,
			   "wrong_times", (json_int_t)file->wrong_times,
			   "buffers_twice", (json_int_t)file->twice,
			   "buffers_missing", (json_int_t)file->missing,
			   "rates_changed", analysis->rates_changed,
			   "rates", report_rates_json(analysis));
	if (object && analysis->charges_waits)
		json_object_set_new(object, "answer", answer_json(report));
	if (object && report->has_coverage && analysis->history.count > 1)
		json_object_set_new(object, "rates_by_time", stretches_json(report));
	if (object && report->has_coverage && analysis->coverage.is_uneven)
		json_object_set_new(object, "covered", covered_json(report));
	if (object && report->has_coverage && analysis->coverage.change_count)
		json_object_set_new(object, "observed", observed_json(report));
	if (object && analysis->stacks.has_any)
		json_object_set_new(object, "stack_counts",
				    json_pack("{s:I, s:I, s:I, s:I}",
					      "found", (json_int_t)analysis->stacks.counts.found,
					      "missing",
					      (json_int_t)analysis->stacks.counts.missing,
					      "unknown",
					      (json_int_t)analysis->stacks.counts.unknown,
					      "alone",
					      (json_int_t)analysis->stacks.counts.alone));
	for (i = 0; object && i < REPORT_TABLES; i++)
		if (tables & 1 << i)
			json_object_set_new(object, report->tables[i].name,
					    table_json(&report->tables[i], top));
	return object;
}

/**
 * report_free() - let the tables go
 * @report: made
 */
void report_free(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		table_free(&report->tables[i]);
}
