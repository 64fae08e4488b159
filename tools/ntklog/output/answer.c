// SPDX-License-Identifier: GPL-2.0-only
/* The answer that a report begins with, in at most ANSWER_LINES lines. */

#define _GNU_SOURCE

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>

#include "answer.h"
#include "answer_lines.h"
#include "answer_open.h"
#include "macros.h"
#include "report_longest.h"
#include "report_rows.h"

/* Number of locks that the answer shows, and of names for each of them. */
#define LOCKS_MAX	5
#define NAMES_MAX	2

/* Number of locks of the longest chain that the answer shows. */
#define CHAIN_LINKS	3

/* Least share that the answer shows. */
#define SHARE_MIN	0.02

/* Least shares of the waiting at which the answer blames want of CPUs, stopped virtual CPUs. */
#define SHORTAGE_MIN	(1.0 / 3)
#define STOPPED_MIN	0.25

/* Least share of the CPUs' time that is told to be steal time. */
#define STEAL_MIN	0.02

/* Least share of unknown holders at which the answer names the option that records them. */
#define UNKNOWN_MIN	0.1

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static int compare_classes(const void *a, const void *b)
{
	const struct charge_class *left = *(const struct charge_class *const *)a;
	const struct charge_class *right = *(const struct charge_class *const *)b;

	if (left->sum.wait != right->sum.wait)
		return left->sum.wait > right->sum.wait ? -1 : 1;
	return left->key.class < right->key.class ? -1 : left->key.class > right->key.class;
}

static size_t sort_classes(const struct charge_sums *sums, const struct charge_class ***sorted)
{
	const struct charge_class *class;
	size_t count = 0;

	*sorted = calloc(HASH_COUNT(sums->classes) + 1, sizeof(**sorted));
	for (class = sums->classes; *sorted && class; class = class->hh.next)
		(*sorted)[count++] = class;
	if (count)
		qsort(*sorted, count, sizeof(**sorted), compare_classes);
	return count;
}

/* Unused entries of @largest become NULL. */
static void find_largest(const struct charge_sums *sums, const struct charge_class *class,
			 enum charge_row_kind kind, const struct charge_row **largest, size_t count)
{
	const struct charge_row *row;
	size_t i;

	memset(largest, 0, count * sizeof(*largest));
	for (row = sums->rows; row; row = row->hh.next) {
		if (row->key.kind != kind || charge_row_is_of_others(sums, row) ||
		    memcmp(&row->key.class, &class->key, sizeof(class->key)))
			continue;
		for (i = count; i && (!largest[i - 1] || row->ticks > largest[i - 1]->ticks); i--) {
			if (i < count)
				largest[i] = largest[i - 1];
			largest[i - 1] = row;
		}
	}
}

static void append_names(const struct answer *answer, const struct charge_class *class,
			 enum charge_row_kind kind, char *text, size_t size, size_t reserved)
{
	const struct charge_sums *sums = &answer->report->analysis->charges;
	const struct charge_row *rows[NAMES_MAX];
	uint64_t all = class->sum.wait;
	size_t i;

	find_largest(sums, class, kind, rows, NAMES_MAX);
	for (i = 0; i < NAMES_MAX && rows[i]; i++) {
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%s%s %.0f%%", i ? ", " : "",
			 rows[i]->key.first->text,
			 100 * share_of(rows[i]->ticks, all));
		if (i && (share_of(rows[i]->ticks, all) < SHARE_MIN ||
			  strlen(text) + strlen(name) + reserved > ANSWER_COLUMNS))
			break;
		answer_append(text, size, "%s", name);
	}
}

static uint64_t held_ticks(const struct charge_sum *sum)
{
	return sum->parts[CHARGE_HOLDER_RAN] + sum->parts[CHARGE_HOLDER_PREEMPTED] +
	       sum->parts[CHARGE_HOLDER_BLOCKED];
}

static void add_reasons(struct answer *answer, const struct charge_class *class)
{
	static const struct {
		enum charge_part part;
		enum charge_row_kind row_kind;
		const char *text;
	} reasons[] = {
		{ CHARGE_HOLDER_PREEMPTED, CHARGE_ROW_PREEMPTED, "had no CPU" },
		{ CHARGE_HOLDER_BLOCKED, CHARGE_ROW_BLOCKED, "blocked" },
		{ CHARGE_HOLDER_RAN, CHARGE_ROW_KINDS, "ran" },
	};
	const struct charge_sums *sums = &answer->report->analysis->charges;
	const char *chain = NULL, *held_by;
	char text[512] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		uint64_t ticks = class->sum.parts[reasons[i].part] -
				 (reasons[i].part == CHARGE_HOLDER_RAN ?
				  class->sum.unknown_state : 0);
		const struct charge_row *place = NULL;

		if (share_of(ticks, held_ticks(&class->sum)) < SHARE_MIN)
			continue;
		if (reasons[i].row_kind != CHARGE_ROW_KINDS)
			find_largest(sums, class, reasons[i].row_kind, &place, 1);
		answer_append(text, sizeof(text), "%s%s %.0f%%", *text ? ", " : "", reasons[i].text,
			      100 * share_of(ticks, held_ticks(&class->sum)));
		if (!place)
			continue;
		/* The chain of locks has a line of its own. */
		held_by = strstr(place->key.first->text, CHARGE_HELD_BY);
		if (held_by)
			chain = place->key.first->text;
		answer_append(text, sizeof(text), " (%.*s)",
			      held_by ? (int)(held_by - chain) : NAME_SIZE, place->key.first->text);
	}
	if (*text && share_of(class->sum.unknown_state, held_ticks(&class->sum)) >= SHARE_MIN)
		answer_append(text, sizeof(text), ", not recorded %.0f%%",
			      100 * share_of(class->sum.unknown_state, held_ticks(&class->sum)));
	if (*text)
		answer_add_line(answer, "   Holders %s", text);
	if (chain)
		answer_add_line(answer, "   Chain: %s", chain);
}

/* Format when a wait began, which may have been before the session. */
static const char *format_wait_begin(const struct report *report, uint64_t time, char *text,
				     size_t size)
{
	if (time < report->file->start_clock)
		snprintf(text, size, "from before the start on");
	else
		snprintf(text, size, "at %.3fs", etl_seconds(report->file, time));
	return text;
}

static void add_lock(struct answer *answer, const struct charge_class *class, size_t number)
{
	const struct report *report = answer->report;
	const struct charge_sums *sums = &report->analysis->charges;
	const struct charge_sum *sum = &class->sum;
	uint64_t free_ticks = sum->wait - held_ticks(sum) - sum->parts[CHARGE_UNKNOWN];
	char name[NAME_SIZE], time[32], begin[32], text[512], suffix[64] = "";

	names_address(report->names, class->key.class, name, sizeof(name));
	answer_add_line(answer, "%zu. %s: %s (%.0f%%) in %" PRIu64 " wait%s", number, name,
			answer_time(report, sum->wait, time, sizeof(time)),
			100 * share_of(sum->wait, sums->total.wait), sum->waits,
			sum->waits == 1 ? "" : "s");
	format_wait_begin(report, sum->longest_at, begin, sizeof(begin));
	snprintf(text, sizeof(text), "   Longest %s %s; waited: ",
		 answer_time(report, sum->longest, time, sizeof(time)), begin);
	append_names(answer, class, CHARGE_ROW_WAITER, text, sizeof(text), 0);
	answer_add_line(answer, "%s", text);
	if (share_of(free_ticks, sum->wait) >= SHARE_MIN)
		answer_append(suffix, sizeof(suffix), "; free %.0f%%",
			      100 * share_of(free_ticks, sum->wait));
	if (share_of(sum->parts[CHARGE_UNKNOWN], sum->wait) >= SHARE_MIN)
		answer_append(suffix, sizeof(suffix), "; unknown %.0f%%",
			      100 * share_of(sum->parts[CHARGE_UNKNOWN], sum->wait));
	snprintf(text, sizeof(text), "   Held %.0f%%", 100 * share_of(held_ticks(sum), sum->wait));
	if (held_ticks(sum)) {
		answer_append(text, sizeof(text), ": ");
		append_names(answer, class, CHARGE_ROW_HOLDER, text, sizeof(text), strlen(suffix));
	}
	answer_add_line(answer, "%s%s", text, suffix);
	if (class->key.is_sleeping && sums->has_off_cpu)
		add_reasons(answer, class);
}

static int compare_parts(const void *a, const void *b, void *sum)
{
	const uint64_t *parts = ((const struct charge_sum *)sum)->parts;
	const enum charge_part left = *(const enum charge_part *)a;
	const enum charge_part right = *(const enum charge_part *)b;

	if (parts[left] != parts[right])
		return parts[left] > parts[right] ? -1 : 1;
	return (int)left - (int)right;
}

static void add_parts(struct answer *answer, size_t most)
{
	const struct charge_sums *sums = &answer->report->analysis->charges;
	struct charge_sum total = sums->total;
	enum charge_part order[CHARGE_PARTS];
	size_t i;

	for (i = 0; i < CHARGE_PARTS; i++)
		order[i] = i;
	qsort_r(order, CHARGE_PARTS, sizeof(*order), compare_parts, &total);
	for (i = 0; i < CHARGE_PARTS && i < most; i++) {
		const char *text = answer_part_texts[order[i]];

		/* A holder that may sleep is not always known to have run. */
		if (order[i] == CHARGE_HOLDER_RAN &&
		    share_of(total.unknown_state, total.wait) >= SHARE_MIN)
			text = "a task held the lock, see below";
		if (share_of(total.parts[order[i]], total.wait) >= SHARE_MIN)
			answer_add_line(answer, "  %3.0f%%  %s",
					100 * share_of(total.parts[order[i]], total.wait), text);
	}
}

/* Say so if the tasks waited for CPUs rather than for locks, or for stopped virtual CPUs. */
static void add_verdicts(struct answer *answer)
{
	const struct charge_sums *sums = &answer->report->analysis->charges;
	const struct charge_sum *total = &sums->total;
	uint64_t cpu_shortage = total->parts[CHARGE_HOLDER_PREEMPTED] +
				total->parts[CHARGE_FREE_READY];
	uint64_t spun = total->wait - sums->sleeping.wait;
	char time[32], all[32];

	if (share_of(cpu_shortage, total->wait) >= SHORTAGE_MIN)
		answer_add_line(answer, "=> %.0f%% of the waiting is want of CPUs, not of locks.",
				100 * share_of(cpu_shortage, total->wait));
	if (share_of(total->stopped, spun) >= STOPPED_MIN)
		answer_add_line(answer,
				"=> Host stopped virtual CPUs: for %s of %s the lock was free.",
				answer_time(answer->report, total->stopped, time, sizeof(time)),
				answer_time(answer->report, spun, all, sizeof(all)));
}

static void add_steal_time(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct selection *selection = report->analysis->selection;
	double steal_ns = (double)rates_steal_time(&report->analysis->history);
	double share = steal_ns / (report->seconds * 1e9 * report->file->processors);
	const union cell cell = { .number = steal_ns };
	char time[32];

	/* The file tells the steal time of the whole recording only. */
	if (!(share >= STEAL_MIN) || (selection && (selection->has_begin || selection->has_end)))
		return;
	cell_format(CELL_TIME, &cell, time, sizeof(time));
	answer_add_line(answer, "=> Host stopped virtual CPUs for %s, %.0f%% of their time.", time,
			100 * share);
}

static void add_hints(struct answer *answer)
{
	const struct analysis *analysis = answer->report->analysis;
	const struct spinlock_rates *spinlock = &analysis->spinlocks.rates;
	const struct charge_sums *sums = &analysis->charges;
	const struct charge_sum *total = &sums->total;
	uint64_t unknown_spinning = total->parts[CHARGE_UNKNOWN] -
				    sums->sleeping.parts[CHARGE_UNKNOWN];
	bool has_stacks = analysis->stacks.has_any || sums->has_block_stacks;

	if (rates_dropped_blockers(&analysis->history))
		answer_add_line(answer,
				"Not recorded: %" PRIu64 " holders of what is free or unknown.",
				rates_dropped_blockers(&analysis->history));
	if (spinlock->has_rules && spinlock->linux_mode == NTKLOG_LINUX_MODE_WAITS)
		answer_add_line(answer,
				"Mode waits records no holders of spin locks: --holders or --mode full.");
	else if (share_of(unknown_spinning, total->wait - sums->sleeping.wait) > UNKNOWN_MIN &&
		 !spinlock->blocker_rate)
		answer_add_line(answer,
				"Not recorded: who held spin locks (record without --no-blockers).");
	if (sums->sleeping.wait && !sums->has_off_cpu)
		answer_add_line(answer, "Not recorded: why holders were slow (-e contextswap)%s.",
				has_stacks ? "" : ", and where (--stacks)");
	else if (sums->sleeping.wait && !sums->has_switches && !sums->has_block_stacks)
		answer_add_line(answer, "Not recorded: where holders blocked (--stacks).");
	else if (sums->sleeping.wait && !has_stacks)
		answer_add_line(answer, "Not recorded: where holders were slow (--stacks).");
}

/* Leave @reserved lines for the lines that follow. */
static void add_total(struct answer *answer, size_t reserved)
{
	const struct report *report = answer->report;
	const struct analysis *analysis = report->analysis;
	const struct charge_sums *sums = &analysis->charges;
	bool is_estimate = analysis->spinlocks.rates.contention_rate > 1 ||
			   analysis->resources.rates.contention_rate > 1;
	struct answer verdicts = { .report = report };
	char time[32];

	answer_add_line(answer,
			"Tasks waited %s%s for locks in %.3f s of %u CPUs: %" PRIu64 " wait%s.",
			is_estimate ? "about " : "",
			answer_time(report, sums->total.wait, time, sizeof(time)), report->seconds,
			report->file->processors, sums->total.waits,
			sums->total.waits == 1 ? "" : "s");
	add_verdicts(&verdicts);
	add_steal_time(&verdicts);
	add_parts(answer, ANSWER_LINES - answer->count - verdicts.count - reserved);
	answer_add_lines(answer, &verdicts);
}

/* A path is left out if it would be cut, or if it has characters that are special to a shell. */
static void add_command(struct answer *answer)
{
	static const char command[] = "More: ntklog report --table blockers";
	static const char special[] = " \t\n'\"\\`$&;|<>()[]{}*?#~";
	const char *path = answer->report->file->path;

	if (sizeof(command) + strlen(path) > ANSWER_COLUMNS || strpbrk(path, special))
		answer_add_line(answer, "%s, with the path of this file", command);
	else
		answer_add_line(answer, "%s %s", command, path);
}

static void add_longest_chain(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct longest_waits *longest = report->analysis->charges.longest;
	const struct longest_chain *chain = &longest->chain;
	char phrases[2 * CHAIN_LINKS + 1][ANSWER_PHRASE_SIZE];
	char lock[NAME_SIZE], task[NAME_SIZE], begin[64], time[32];
	size_t count = 0, i;

	if (!chain->count || report->analysis->open_holds.graph.cycles)
		return;
	for (i = 0; i < chain->count && i < CHAIN_LINKS; i++) {
		const struct charge_link *link = &chain->links[i];

		names_address(report->names, link->class, lock, sizeof(lock));
		if (!i)
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE,
				 "Longest chain, %s %s: %s waits for %s",
				 answer_time(report, chain->ticks, time, sizeof(time)),
				 format_wait_begin(report, chain->from, begin, sizeof(begin)),
				 answer_task(report, chain->thread_id, task, sizeof(task)), lock);
		else
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "which waits for %s", lock);
		if (link->has_holder)
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "held by %s",
				 answer_task(report, link->thread_id, task, sizeof(task)));
	}
	if (chain->count > CHAIN_LINKS)
		snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "and %zu more locks (--json)",
			 chain->count - CHAIN_LINKS);
	answer_add_phrases(answer, phrases, count);
}

static void add_lines_for_no_waits(struct answer *answer)
{
	const struct report *report = answer->report;
	uint64_t blockers = report->analysis->spinlocks.total.blockers;

	answer_add_line(answer, "No recorded task waited for a lock in %.3f s of %u CPUs.",
			report->seconds, report->file->processors);
	if (blockers)
		answer_add_line(answer,
				"Releases that left a waiter: %" PRIu64 "; no records of waits.",
				blockers);
}

static void make_answer(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct spinlock_sum *spinlocks = &report->analysis->spinlocks.total;
	const struct charge_sums *sums = &report->analysis->charges;
	struct answer hints = { .report = report }, open_lines = { .report = report };
	const struct charge_class **sorted;
	size_t count, i;

	answer_add_deadlocks(answer);
	if (!spinlocks->sampled && !spinlocks->blockers && !report->analysis->resources.records &&
	    !report->analysis->open_holds.count) {
		if (selection_includes_all(report->analysis->selection)) {
			answer_add_line(answer, "This file has no events of locks.");
			return;
		}
		answer_add_line(answer,
				"No event of a lock is selected (--filter, --from, --to).");
		answer_add_line(answer,
				"Events are written at the end of holds and of their waits.");
		return;
	}
	if (!sums->total.wait) {
		add_lines_for_no_waits(answer);
		return;
	}
	add_hints(&hints);
	answer_add_open_holds(&open_lines);
	add_longest_chain(&open_lines);
	/* One line, the command, precedes the hints. */
	add_total(answer, open_lines.count + hints.count + 1);
	answer_add_lines(answer, &open_lines);
	count = sort_classes(sums, &sorted);
	for (i = 0; i < count && i < LOCKS_MAX; i++) {
		struct answer lock_lines = { .report = report };

		if (i && share_of(sorted[i]->sum.wait, sums->total.wait) < SHARE_MIN)
			break;
		add_lock(&lock_lines, sorted[i], i + 1);
		if (answer->count + lock_lines.count + hints.count + 1 > ANSWER_LINES)
			break;
		answer_add_lines(answer, &lock_lines);
	}
	add_command(answer);
	answer_add_lines(answer, &hints);
	free(sorted);
}

/**
 * answer_print() - print the answer
 * @report: report with its file, analysis, names and seconds; the analysis has charged the waits
 * @stream: stream to print to
 */
void answer_print(const struct report *report, FILE *stream)
{
	struct answer answer = { .report = report };
	size_t i;

	make_answer(&answer);
	for (i = 0; i < answer.count; i++)
		fprintf(stream, "%s\n", answer.lines[i]);
}

static json_t *parts_json(const struct report *report, const struct charge_sum *sum)
{
	double ns = 1e9 / (double)report->file->perf_freq;
	json_t *parts = json_object();
	size_t i;

	for (i = 0; i < CHARGE_PARTS; i++)
		json_object_set_new(parts, answer_part_names[i],
				    json_real((double)sum->parts[i] * ns));
	return parts;
}

static json_t *chain_json(const struct report *report, const struct longest_chain *chain)
{
	const char *name = names_thread(report->names, chain->thread_id);

	return json_pack("{s:f, s:f, s:I, s:s, s:o}", "at",
			 etl_seconds(report->file, chain->from), "for",
			 report_ticks_ns(report, (double)chain->ticks), "thread",
			 (json_int_t)chain->thread_id, "task", name ? name : "", "waited_for",
			 report_links_json(report, chain->links, chain->count));
}

/**
 * answer_json() - make the answer as a JSON object; times are nanoseconds
 * @report: report with its file, analysis, names and seconds; the analysis has charged the waits
 *
 * Return: the object, or NULL without memory.
 */
json_t *answer_json(const struct report *report)
{
	const struct charge_sums *sums = &report->analysis->charges;
	double ns = 1e9 / (double)report->file->perf_freq;
	json_t *locks = json_array(), *answer;
	const struct charge_class **sorted;
	size_t count = sort_classes(sums, &sorted), i;

	for (i = 0; i < count && i < LOCKS_MAX; i++) {
		const struct charge_sum *sum = &sorted[i]->sum;
		char name[NAME_SIZE];

		names_address(report->names, sorted[i]->key.class, name, sizeof(name));
		json_array_append_new(locks,
				      json_pack("{s:s, s:I, s:f, s:f, s:f, s:o}", "lock", name,
						"waits", (json_int_t)sum->waits, "wait_total",
						(double)sum->wait * ns, "wait_max",
						(double)sum->longest * ns, "wait_max_at",
						etl_seconds(report->file, sum->longest_at),
						"parts", parts_json(report, sum)));
	}
	free(sorted);
	answer = json_pack("{s:I, s:f, s:b, s:f, s:o, s:o, s:o, s:o, s:o}", "waits",
			   (json_int_t)sums->total.waits, "wait_total",
			   (double)sums->total.wait * ns, "context_switches", sums->has_switches,
			   "undivided", (double)sums->total.unknown_state * ns,
			   "parts", parts_json(report, &sums->total), "locks", locks,
			   "open_holds", answer_open_holds_json(report), "deadlocks",
			   answer_deadlocks_json(report), "longest_waits",
			   report_longest_json(report));
	if (answer && sums->longest && sums->longest->chain.count)
		json_object_set_new(answer, "longest_chain",
				    chain_json(report, &sums->longest->chain));
	return answer;
}
