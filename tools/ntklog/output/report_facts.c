// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ntklog/event.h>
#include <ntklog/group_mask.h>

#include "event_group.h"
#include "linux_mode.h"
#include "macros.h"
#include "message.h"
#include "report.h"
#include "report_rows.h"
#include "text.h"

/*
 * Print a fact between @before and @after. Without them it is broken into lines that fit the
 * terminal.
 */
__printf(4, 5)
static void print_fact(FILE *stream, const char *before, const char *after,
		       const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (!text)
		return;
	if (*before)
		fprintf(stream, "%s%s%s\n", before, text, after);
	else
		text_print_wrapped(text, terminal_width(stream), stream);
	free(text);
}

static void format_start(const struct report *report, char *text, size_t size)
{
	time_t seconds = etl_unix_time(report->file, report->analysis->origin_time) / 10000000;
	struct tm tm;

	if (!seconds || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, size, "from %Y-%m-%d %H:%M:%S UTC on", &tm))
		snprintf(text, size, "at an unknown time");
}

/**
 * report_resources_text() - name the locks in the table of resources
 * @report: report with its analysis
 *
 * Return: words for a sentence, such as "Linux' locks that sleep".
 */
const char *report_resources_text(const struct report *report)
{
	const struct resource_stats *stats = &report->analysis->resources;

	if (!resource_stats_has_linux(stats))
		return "resources";
	return stats->kind_mask & 1 << RESOURCE_KIND_NT ?
		"resources and Linux' locks that sleep" : "Linux' locks that sleep";
}

/* Return "all", or "1 in N" for a sample rate of N. */
static const char *format_one_in(uint32_t rate, char *text, size_t size)
{
	if (rate == 1)
		return "all";
	snprintf(text, size, "1 in %" PRIu32, rate);
	return text;
}

/* Return "none" for UINT32_MAX, the rate with which the module writes no such record. */
static const char *format_one_in_or_none(uint32_t rate, char *text, size_t size)
{
	return rate == UINT32_MAX ? "none" : format_one_in(rate, text, size);
}

static void print_spinlock_rates(const struct report *report, const struct spinlock_rates *rates,
				 FILE *stream, const char *before, const char *after)
{
	char contended[32], others[32], spins[48] = "", hold[96] = "", time[32];
	const union cell threshold = {
		.number = report_cycles_ns(report, rates->hold_threshold)
	};

	/* A waiter spins at least once. */
	if (rates->spin_threshold > 1)
		snprintf(spins, sizeof(spins), " %" PRIu32 " spins or more",
			 rates->spin_threshold);
	if (rates->hold_threshold) {
		cell_format_text(CELL_TIME, &threshold, time, sizeof(time));
		snprintf(hold, sizeof(hold), "; and all held for more than %s (%" PRIu32 " cycles)",
			 time, rates->hold_threshold);
	}
	print_fact(stream, before, after,
		   "%s: %s acquisitions that waited%s %s written; of those that did not wait %s%s",
		   linux_mode_has_holds(rates->linux_mode) ? "spin locks" : "NT's spin locks",
		   format_one_in(rates->contention_rate, contended, sizeof(contended)), spins,
		   rates->contention_rate == 1 ? "were" : "was",
		   format_one_in_or_none(rates->acquire_rate, others, sizeof(others)), hold);
}

/*
 * Test whether the trace may have acquisitions and holds of spin locks, so that a reader needs
 * their rates. In the modes waits and holders only NT's spin locks have acquisitions and holds.
 */
static bool has_nt_or_holds(const struct report *report)
{
	const struct analysis *analysis = report->analysis;

	return linux_mode_has_holds(analysis->spinlocks.rates.linux_mode) ||
	       !analysis->has_groups || analysis_has_group(analysis, PERF_SPINLOCK);
}

static void print_linux_mode(const struct report *report, const struct spinlock_rates *rates,
			     FILE *stream, const char *before, const char *after)
{
	char waits[32];

	switch (rates->linux_mode) {
	case NTKLOG_LINUX_MODE_SAMPLED:
		print_fact(stream, before, after,
			   "Linux' spin locks and rwlocks, mode \"sampled\": records were chosen at the acquisition; there is no hold threshold and no depth");
		break;
	case NTKLOG_LINUX_MODE_WAITS:
	case NTKLOG_LINUX_MODE_HOLDERS:
		print_fact(stream, before, after,
			   "Linux' spin locks and rwlocks, mode \"%s\": of the waits in a queue %s %s written, with the function that asked for the lock; holds and other acquisitions are not known",
			   linux_mode_name(rates->linux_mode),
			   format_one_in(rates->contention_rate, waits, sizeof(waits)),
			   rates->contention_rate == 1 ? "were" : "was");
		print_fact(stream, before, after,
			   "the first waiter of a spin lock does not queue: %s%s",
			   rates->linux_mode == NTKLOG_LINUX_MODE_HOLDERS ?
			   "of its wait only the release that ended it is seen" :
			   "a spin lock that only two CPUs use is never seen",
			   report->file->processors > 2 ||
			   rates->linux_mode == NTKLOG_LINUX_MODE_HOLDERS ? "" :
			   "; with the CPUs of this machine that is every spin lock, use --mode sampled or full");
		break;
	}
}

/* Print the rate of the blocker rule, and which of its records lack a part of the hold. */
static void print_blocker_rate(const struct spinlock_rates *rates, FILE *stream, const char *before,
			       const char *after)
{
	static const char *const limits[] = {
		[NTKLOG_LINUX_MODE_FULL] = "",
		[NTKLOG_LINUX_MODE_SAMPLED] =
			"; of Linux' locks most of these holds are known only since the release before",
		[NTKLOG_LINUX_MODE_WAITS] = "; of Linux' locks there are none in this mode",
		[NTKLOG_LINUX_MODE_HOLDERS] =
			"; of Linux' spin locks these holds are known only since the release before, and of rwlocks there are none",
	};
	char blockers[32];

	print_fact(stream, before, after,
		   "blockers: %s releases%s that left a waiter behind %s written as well; only their own table counts those%s",
		   format_one_in(rates->blocker_rate, blockers, sizeof(blockers)),
		   rates->linux_mode == NTKLOG_LINUX_MODE_WAITS ? " of NT's queued locks" : "",
		   rates->blocker_rate == 1 ? "were" : "was",
		   rates->linux_mode < LINUX_MODES ? limits[rates->linux_mode] : "");
}

static void print_resource_rates(const struct report *report, const struct resource_rates *rates,
				 FILE *stream, const char *before, const char *after)
{
	const char *what = report_resources_text(report);
	char waited[32], others[32], multiple[48] = "";

	if (rates->release_rate == 1) {
		print_fact(stream, before, after, "%s: all releases were written", what);
		return;
	}
	if (rates->contention_rate > 1)
		snprintf(multiple, sizeof(multiple), "a multiple of %" PRIu32,
			 rates->contention_rate);
	print_fact(stream, before, after,
		   "%s: %s releases after a wait, and all that %s waited for, were written; of the others %s",
		   what,
		   format_one_in(rates->contention_rate, waited, sizeof(waited)),
		   *multiple ? multiple : "others",
		   format_one_in_or_none(rates->release_rate, others, sizeof(others)));
}

static void print_rates(const struct report *report, const struct rates *rates, FILE *stream,
			const char *before, const char *after)
{
	const struct spinlock_rates *spinlock = &rates->spinlock;
	const struct analysis *analysis = report->analysis;

	if (analysis->spinlocks.total.record_count && spinlock->is_known && has_nt_or_holds(report))
		print_spinlock_rates(report, spinlock, stream, before, after);
	if (spinlock->has_rules)
		print_linux_mode(report, spinlock, stream, before, after);
	if (spinlock->blocker_rate)
		print_blocker_rate(spinlock, stream, before, after);
	if (analysis->resources.record_count && rates->resource.is_known)
		print_resource_rates(report, &rates->resource, stream, before, after);
}

static void print_changed_rates(const struct report *report, FILE *stream, const char *before,
				const char *after)
{
	const struct rates_history *history = &report->analysis->rates_history;
	size_t i;

	if (report->is_stream)
		print_fact(stream, before, after,
			   "the rates were changed during the recording: estimates use those of the start, because a pipe cannot be read again; write it to a file");
	else
		print_fact(stream, before, after,
			   "the rates were changed during the recording: each record is scaled by those of its time");
	for (i = 0; i < history->interval_count; i++) {
		print_fact(stream, before, after,
			   i + 1 < history->interval_count ? "from %.3f s to %.3f s:" :
							    "from %.3f s on:",
			   report_interval_begin(report, i),
			   i + 1 < history->interval_count ? report_interval_begin(report, i + 1) :
							    0);
		print_rates(report, &history->intervals[i].rates, stream, before, after);
	}
}

/* Print for how long the groups were observed, on one line: groups with equal times together. */
static void print_observed_times(const struct report *report, FILE *stream, const char *before,
				 const char *after)
{
	const struct coverage *coverage = &report->analysis->coverage;
	char times[EVENT_GROUPS][32] = { "" }, text[40 * EVENT_GROUPS] = "";
	size_t i, j, used = 0;

	for (i = 0; report->has_coverage && i < EVENT_GROUPS; i++)
		if (coverage_knows_group(coverage, event_groups[i].value))
			snprintf(times[i], sizeof(times[i]), "%.3f s",
				 report_covered_seconds(report, event_groups[i].value,
							COVERAGE_LONGEST_CPU));
	for (i = 0; i < EVENT_GROUPS; i++) {
		const char *separator = ": ";
		char time[sizeof(times[i])];

		if (!*times[i])
			continue;
		memcpy(time, times[i], sizeof(time));
		used += snprintf(text + used, sizeof(text) - used, "%sfor %s",
				 used ? "; " : "", time);
		for (j = i; j < EVENT_GROUPS; j++) {
			if (strcmp(times[j], time))
				continue;
			used += snprintf(text + used, sizeof(text) - used, "%s%s", separator,
					 event_groups[j].name);
			separator = ", ";
			*times[j] = '\0';
		}
	}
	if (used)
		print_fact(stream, before, after, "observed %s; rates are of these times", text);
}

static void print_covered_times(const struct report *report, FILE *stream, const char *before,
				const char *after)
{
	const struct coverage *coverage = &report->analysis->coverage;
	const struct etl_file *file = report->file;
	size_t first = COVERAGE_LONGEST_CPU, last = COVERAGE_LONGEST_CPU, i;

	print_fact(stream, before, after,
		   "a flight recording: %" PRIu64 " older buffers were overwritten",
		   file->overwritten);
	for (i = 0; report->has_coverage && i < coverage->cpu_count; i++) {
		if (!coverage->cpus[i].event_count)
			continue;
		if (first == COVERAGE_LONGEST_CPU ||
		    coverage_begin_time(coverage, i) < coverage_begin_time(coverage, first))
			first = i;
		if (last == COVERAGE_LONGEST_CPU ||
		    coverage_begin_time(coverage, i) > coverage_begin_time(coverage, last))
			last = i;
	}
	if (first == last)
		return;
	print_fact(stream, before, after,
		   "CPU %zu is covered from %.3f s on, the others from later on, the last, CPU %zu, from %.3f s; to %.3f s",
		   first, etl_seconds(file, coverage_begin_time(coverage, first)), last,
		   etl_seconds(file, coverage_begin_time(coverage, last)),
		   etl_seconds(file, coverage->end_time));
	print_fact(stream, before, after,
		   "sums are of all that is left; per second, waiting and the order of rows use the time of each CPU");
}

static bool spinlocks_are_estimated(const struct spinlock_rates *rates)
{
	return rates->is_known && (rates->acquire_rate != 1 || rates->contention_rate != 1 ||
				   rates->spin_threshold > 1);
}

static void print_estimates(FILE *stream, const char *before, const char *after)
{
	print_fact(stream, before, after,
		   "\"~\": an estimate of what happened, from these rates; times and shares are scaled in the same way");
	print_fact(stream, before, after,
		   "\"+-23%%\": the standard error of an estimate, where it is above 10%%; \"+-?\": no record tells how large it is");
}

static void print_stack_counts(const struct stack_counts *counts, FILE *stream, const char *before,
			       const char *after)
{
	if (counts->found_count)
		print_fact(stream, before, after, "%" PRIu64 " events have a stack",
			   counts->found_count);
	if (counts->missing_count)
		print_fact(stream, before, after,
			   "%" PRIu64
			   " events have no stack: it was lost, or could not be recorded",
			   counts->missing_count);
	if (counts->unknown_count)
		print_fact(stream, before, after,
			   "%" PRIu64 " events have keys, whose stacks are not in the file",
			   counts->unknown_count);
	if (counts->alone_count)
		print_fact(stream, before, after,
			   "%" PRIu64 " stacks belong to events that are not in the file",
			   counts->alone_count);
}

/**
 * report_print_facts() - print what readers need to know before the tables
 * @report: report from report_make_tables()
 * @stream: stream to print to
 * @before: text before each line
 * @after: text behind each line
 */
void report_print_facts(const struct report *report, FILE *stream, const char *before,
			const char *after)
{
	const struct spinlock_rates *spinlock = &report->analysis->spinlocks.rates;
	const struct resource_rates *resource = &report->analysis->resources.rates;
	const struct analysis *analysis = report->analysis;
	const struct spinlock_stats *spinlocks =
		analysis->split_sums ? &analysis->split_sums->spinlocks :
								    &analysis->spinlocks;
	static const char not_known[] =
		"the file does not say how they were sampled: the numbers count the records alone";
	const struct etl_file *file = report->file;
	char start[64];

	format_start(report, start, sizeof(start));
	print_fact(stream, before, after,
		   "%" PRIu64 " events in %.3f s of %u processors, %s",
		   analysis->event_count, report->seconds, file->processors, start);
	if (file->overwritten)
		print_covered_times(report, stream, before, after);
	print_observed_times(report, stream, before, after);
	if (report_lacks_names(report))
		print_fact(stream, before, after,
			   "NO NAMES: locks and callers are addresses: %s, or record without --no-names",
			   report->is_stream ? "give --names FILE" : "copy FILE.names with FILE");
	if (file->events_lost || file->buffers_lost)
		print_fact(stream, before, after,
			   "LOST: %u events, %u buffers; the numbers below are of the rest",
			   file->events_lost, file->buffers_lost);
	else if (file->lossy_buffers)
		print_fact(stream, before, after,
			   "LOST: events after %" PRIu64
			   " buffers; the header does not say how many",
			   file->lossy_buffers);
	if (rates_get_dropped_blockers(&analysis->rates_history))
		print_fact(stream, before, after,
			   "LOST: %s%" PRIu64 " holders, beyond 10,000 a second and CPU",
			   analysis->rates_history.dropped.has_start ? "" : "at most ",
			   rates_get_dropped_blockers(&analysis->rates_history));
	if (file->error[0])
		print_fact(stream, before, after, "DAMAGED: %s", file->error);
	if (file->damaged_buffers || file->damaged_events || file->wrong_times)
		print_fact(stream, before, after,
			   "DAMAGED: %" PRIu64 " buffers, %" PRIu64 " events, %" PRIu64
			   " times left out",
			   file->damaged_buffers, file->damaged_events, file->wrong_times);
	if (file->repeated_buffers || file->missing_buffers)
		print_fact(stream, before, after,
			   "DAMAGED: %" PRIu64 " buffers are in the file twice, %" PRIu64
			   " are missing",
			   file->repeated_buffers, file->missing_buffers);
	if (!file->end_time)
		print_fact(stream, before, after,
			   "the session had not ended: events may be missing, and their number is not known");
	if (analysis->rates_history.is_finished && analysis->rates_history.interval_count > 1 &&
	    report->has_coverage)
		print_changed_rates(report, stream, before, after);
	else
		print_rates(report, &(struct rates) { *spinlock, *resource }, stream, before,
			    after);
	if (analysis->spinlocks.total.record_count && !spinlock->is_known)
		print_fact(stream, before, after, "spin locks: %s", not_known);
	if (analysis->resources.record_count && !resource->is_known)
		print_fact(stream, before, after, "%s: %s", report_resources_text(report),
			   not_known);
	if ((analysis->spinlocks.total.record_count && spinlocks_are_estimated(spinlock)) ||
	    (analysis->resources.record_count && resource->is_known && resource->release_rate != 1))
		print_estimates(stream, before, after);
	if (analysis->spinlocks.total.in_step_count)
		print_fact(stream, before, after,
			   "IN STEP? %ju of %ju records of spin locks repeat a short sequence of locks and callers: if the rate is in step with a loop, rows marked +-? are too large and other rows are missing; a prime rate, such as record's 1009, avoids that",
			   (uintmax_t)analysis->spinlocks.total.in_step_count,
			   (uintmax_t)analysis->spinlocks.total.record_count);
	if (analysis->resources.unknown_hold_count)
		print_fact(stream, before, after,
			   "%s: the hold of %ju releases is not known, because it began before the recording; the sum is of the others",
			   "\">\"", (uintmax_t)analysis->resources.unknown_hold_count);
	if (spinlocks->evicted_count) {
		const union cell missed = {
			.number = report_cycles_ns(report, spinlocks->evicted_score.wait)
		};
		char time[32];

		cell_format_text(CELL_TIME, &missed, time, sizeof(time));
		print_fact(stream, before, after,
			   "the %d heaviest pairs of lock and caller are told apart, the rest is in (others); a row lacks at most %s of its wait",
			   SPINLOCK_PAIRS_MAX, time);
	}
	if (analysis->rates_history.has_unknown_change)
		print_fact(stream, before, after,
			   "the rates were changed during the recording, at a time that the file does not tell: estimates use those before the change");
	if (analysis->open_holds.wait_count) {
		const union cell waited = { .number = analysis->open_holds.wait_ns };
		char time[32];

		cell_format_text(CELL_TIME, &waited, time, sizeof(time));
		print_fact(stream, before, after,
			   "%s of waiting in %ju wait%s has no record, because the waits or the holds after them had not ended: the answer and the tables blockers, waiters and longest have it, the tables of locks do not",
			   time, (uintmax_t)analysis->open_holds.wait_count,
			   analysis->open_holds.wait_count == 1 ? "" : "s");
	}
	print_stack_counts(&analysis->stacks.counts, stream, before, after);
	if (analysis->spinlocks.backward_count)
		print_fact(stream, before, after,
			   "%" PRIu64 " acquisitions end before they begin: their holds count as 0",
			   analysis->spinlocks.backward_count);
	if (file->other_buffers)
		print_fact(stream, before, after,
			   "%" PRIu64 " buffers hold no events: they were skipped",
			   file->other_buffers);
	if (!report_check_memory(report))
		print_fact(stream, before, after,
			   "there was not enough memory: the tables are not complete");
}
