// SPDX-License-Identifier: GPL-2.0-only
/* The answer that a report begins with, in at most ANSWER_LINES lines. */

#define _GNU_SOURCE

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>

#include "answer.h"
#include "answer_hints.h"
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

/* Number of locks that come before smaller parts, the chain, and reasons. */
#define LOCKS_RESERVED	3

/* Lines about a lock without those about the reasons. */
#define LOCK_LINES	3

/* Least share that the answer shows, and least share of a part that comes before the locks. */
#define SHARE_MIN	0.02
#define PART_MIN	0.05

/* Shares of the waiting above which the answer blames want of CPUs, stopped virtual CPUs. */
#define SHORTAGE_MIN	0.5
#define STOPPED_MIN	0.25

/* Least share of the CPUs' time that is told to be steal time. */
#define STEAL_MIN	0.02

static int compare_classes(const void *a, const void *b)
{
	const struct charged_class *left = *(const struct charged_class *const *)a;
	const struct charged_class *right = *(const struct charged_class *const *)b;

	if (left->sum.wait_ticks != right->sum.wait_ticks)
		return left->sum.wait_ticks > right->sum.wait_ticks ? -1 : 1;
	return left->key.class < right->key.class ? -1 : left->key.class > right->key.class;
}

static size_t sort_classes(const struct charge_sums *sums, const struct charged_class ***sorted)
{
	const struct charged_class *class;
	size_t count = 0;

	*sorted = calloc(HASH_COUNT(sums->classes) + 1, sizeof(**sorted));
	for (class = sums->classes; *sorted && class; class = class->hh.next)
		(*sorted)[count++] = class;
	if (count)
		qsort(*sorted, count, sizeof(**sorted), compare_classes);
	return count;
}

/* Unused entries of @largest become NULL. */
static void find_largest_rows(const struct charge_sums *sums, const struct charged_class *class,
			      enum charge_row_kind kind, const struct charge_row **largest,
			      size_t count)
{
	const struct charge_row *row;
	size_t i;

	memset(largest, 0, count * sizeof(*largest));
	for_each_charge_row(row, sums) {
		if (row->key.kind != kind || row->key.class != class)
			continue;
		for (i = count; i && (!largest[i - 1] || row->ticks > largest[i - 1]->ticks); i--) {
			if (i < count)
				largest[i] = largest[i - 1];
			largest[i - 1] = row;
		}
	}
}

static void append_names(const struct answer *answer, const struct charged_class *class,
			 enum charge_row_kind kind, char *text, size_t size, size_t suffix_length)
{
	const struct charge_sums *sums = &answer->report->analysis->charge_sums;
	const struct charge_row *rows[NAMES_MAX];
	uint64_t all = class->sum.wait_ticks;
	size_t i;

	find_largest_rows(sums, class, kind, rows, NAMES_MAX);
	for (i = 0; i < NAMES_MAX && rows[i]; i++) {
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%s%s %.0f%%", i ? ", " : "",
			 rows[i]->key.first_label->text,
			 100 * answer_share(rows[i]->ticks, all));
		if (i && (answer_share(rows[i]->ticks, all) < SHARE_MIN ||
			  strlen(text) + strlen(name) + suffix_length > ANSWER_COLUMNS))
			break;
		answer_append(text, size, "%s", name);
	}
}

static uint64_t sum_held_ticks(const struct charge_sum *sum)
{
	return sum->part_ticks[CHARGE_HOLDER_RAN] + sum->part_ticks[CHARGE_HOLDER_PREEMPTED] +
	       sum->part_ticks[CHARGE_HOLDER_BLOCKED];
}

static void add_wait_reasons(struct answer *answer, const struct charged_class *class)
{
	static const struct {
		enum charge_part_kind part_kind;
		enum charge_row_kind row_kind;
		const char *text;
	} reasons[] = {
		{ CHARGE_HOLDER_PREEMPTED, CHARGE_ROW_PREEMPTED, "had no CPU" },
		{ CHARGE_HOLDER_BLOCKED, CHARGE_ROW_BLOCKED, "blocked" },
		{ CHARGE_HOLDER_RAN, CHARGE_ROW_KINDS, "ran" },
	};
	const struct charge_sums *sums = &answer->report->analysis->charge_sums;
	const char *chain = NULL, *held_by;
	char text[512] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		uint64_t ticks = class->sum.part_ticks[reasons[i].part_kind] -
				 (reasons[i].part_kind == CHARGE_HOLDER_RAN ?
				  class->sum.unknown_state_ticks : 0);
		const struct charge_row *place = NULL;

		if (answer_share(ticks, sum_held_ticks(&class->sum)) < SHARE_MIN)
			continue;
		if (reasons[i].row_kind != CHARGE_ROW_KINDS)
			find_largest_rows(sums, class, reasons[i].row_kind, &place, 1);
		answer_append(text, sizeof(text), "%s%s %.0f%%", *text ? ", " : "", reasons[i].text,
			      100 * answer_share(ticks, sum_held_ticks(&class->sum)));
		if (!place)
			continue;
		/* The chain of locks has a line of its own. */
		held_by = strstr(place->key.first_label->text, CHARGE_HELD_BY);
		if (held_by)
			chain = place->key.first_label->text;
		answer_append(text, sizeof(text), " (%.*s)",
			      held_by ? (int)(held_by - chain) : NAME_SIZE,
			      place->key.first_label->text);
	}
	if (*text &&
	    answer_share(class->sum.unknown_state_ticks, sum_held_ticks(&class->sum)) >= SHARE_MIN)
		answer_append(text, sizeof(text), ", not recorded %.0f%%",
			      100 * answer_share(class->sum.unknown_state_ticks,
						 sum_held_ticks(&class->sum)));
	if (*text)
		answer_add_line(answer, "   Holders %s", text);
	if (chain)
		answer_add_line(answer, "   Chain: %s", chain);
}

/* Add a line about interrupts that came while spin locks were held. */
static void add_interrupts(struct answer *answer, const struct charge_sum *sum)
{
	double share = answer_share(sum->interrupted_ticks, sum_held_ticks(sum));

	if (share >= SHARE_MIN)
		answer_add_line(answer, "   Holders ran, %.0f%% of this in holds with interrupts",
				100 * share);
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

static void add_lock(struct answer *answer, const struct charged_class *class, size_t number)
{
	const struct report *report = answer->report;
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charge_sum *sum = &class->sum;
	uint64_t free_ticks =
		sum->wait_ticks - sum_held_ticks(sum) - sum->part_ticks[CHARGE_UNKNOWN];
	const char *estimate_mark = sum->is_estimate ? "~" : "";
	bool has_namesake = charged_class_has_namesake(sums, &class->key);
	char name[NAME_SIZE], time[32], begin[32], text[512], suffix[64] = "";

	names_format_address(report->names, class->key.class, name, sizeof(name));
	answer_add_line(answer, "%zu. %s%s%s: %s%s (%.0f%%) in %s%" PRIu64 " wait%s", number, name,
			has_namesake ? " " : "",
			has_namesake ? charged_class_kind_name(&class->key) : "", estimate_mark,
			answer_format_time(report, sum->wait_ticks, time, sizeof(time)),
			100 * answer_share(sum->wait_ticks, sums->total.wait_ticks), estimate_mark,
			sum->wait_count, sum->wait_count == 1 ? "" : "s");
	format_wait_begin(report, sum->longest_wait_begin, begin, sizeof(begin));
	snprintf(text, sizeof(text), "   Longest %s %s; waited: ",
		 answer_format_time(report, sum->longest_wait, time, sizeof(time)), begin);
	append_names(answer, class, CHARGE_ROW_WAITER, text, sizeof(text), 0);
	answer_add_line(answer, "%s", text);
	if (answer_share(free_ticks, sum->wait_ticks) >= SHARE_MIN)
		answer_append(suffix, sizeof(suffix), "; free %.0f%%",
			      100 * answer_share(free_ticks, sum->wait_ticks));
	if (answer_share(sum->part_ticks[CHARGE_UNKNOWN], sum->wait_ticks) >= SHARE_MIN)
		answer_append(suffix, sizeof(suffix), "; unknown %.0f%%",
			      100 * answer_share(sum->part_ticks[CHARGE_UNKNOWN], sum->wait_ticks));
	snprintf(text, sizeof(text), "   Held %.0f%%",
		 100 * answer_share(sum_held_ticks(sum), sum->wait_ticks));
	if (sum_held_ticks(sum)) {
		answer_append(text, sizeof(text), ": ");
		append_names(answer, class, CHARGE_ROW_HOLDER, text, sizeof(text), strlen(suffix));
	}
	answer_add_line(answer, "%s%s", text, suffix);
	if (!class->key.is_sleeping_lock)
		add_interrupts(answer, sum);
	else if (sums->has_off_cpu_times)
		add_wait_reasons(answer, class);
}

static int compare_parts(const void *a, const void *b, void *sum)
{
	const uint64_t *parts = ((const struct charge_sum *)sum)->part_ticks;
	const enum charge_part_kind left = *(const enum charge_part_kind *)a;
	const enum charge_part_kind right = *(const enum charge_part_kind *)b;

	if (parts[left] != parts[right])
		return parts[left] > parts[right] ? -1 : 1;
	return (int)left - (int)right;
}

static size_t count_parts(const struct charge_sum *total, double least)
{
	size_t count = 0, i;

	for (i = 0; i < CHARGE_PARTS; i++)
		count += answer_share(total->part_ticks[i], total->wait_ticks) >= least;
	return count;
}

static void add_parts(struct answer *answer, size_t count)
{
	const struct charge_sums *sums = &answer->report->analysis->charge_sums;
	struct charge_sum total = sums->total;
	enum charge_part_kind order[CHARGE_PARTS];
	size_t i;

	for (i = 0; i < CHARGE_PARTS; i++)
		order[i] = i;
	qsort_r(order, CHARGE_PARTS, sizeof(*order), compare_parts, &total);
	for (i = 0; i < CHARGE_PARTS && i < count; i++) {
		uint64_t ticks = total.part_ticks[order[i]];
		const char *text = answer_part_texts[order[i]];
		char interrupt_text[64] = "";

		/* A holder that may sleep is not always known to have run. */
		if (order[i] == CHARGE_HOLDER_RAN &&
		    answer_share(total.unknown_state_ticks, total.wait_ticks) >= SHARE_MIN)
			text = "a task held the lock, see below";
		if (order[i] == CHARGE_HOLDER_RAN &&
		    answer_share(total.interrupted_ticks, ticks) >= SHARE_MIN)
			snprintf(interrupt_text, sizeof(interrupt_text),
				 "; %.0f%% of this in holds with interrupts",
				 100 * answer_share(total.interrupted_ticks, ticks));
		answer_add_line(answer, "  %3.0f%%  %s%s",
				100 * answer_share(ticks, total.wait_ticks), text, interrupt_text);
	}
}

/*
 * Say so if the tasks waited for CPUs rather than for locks, or for stopped virtual CPUs. Stopped
 * CPUs are a guess if the file has no steal time.
 */
static void add_verdicts(struct answer *answer)
{
	const struct analysis *analysis = answer->report->analysis;
	const struct charge_sums *sums = &analysis->charge_sums;
	const struct charge_sum *total = &sums->total;
	uint64_t cpu_shortage_ticks = total->part_ticks[CHARGE_HOLDER_PREEMPTED] +
				total->part_ticks[CHARGE_FREE_READY];
	uint64_t spin_ticks = total->wait_ticks - sums->sleeping_lock_total.wait_ticks;
	double stopped_share = answer_share(total->stopped_ticks, spin_ticks);

	if (answer_share(cpu_shortage_ticks, total->wait_ticks) > SHORTAGE_MIN)
		answer_add_line(answer, "=> %.0f%% of the waiting is want of CPUs, not of locks.",
				100 * answer_share(cpu_shortage_ticks, total->wait_ticks));
	if (stopped_share > STOPPED_MIN)
		answer_add_line(answer, "=> %.0f%% of spinning: locks free for over 1ms%s",
				100 * stopped_share, rates_get_steal_ns(&analysis->rates_history) ?
				": the host stopped virtual CPUs." :
				", as when a host stops virtual CPUs.");
}

static void add_steal_time(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct selection *selection = report->analysis->selection;
	double steal_ns = (double)rates_get_steal_ns(&report->analysis->rates_history);
	double share = steal_ns / (report->seconds * 1e9 * report->file->processors);
	const union cell cell = { .number = steal_ns };
	char time[32];

	/* The file tells the steal time of the whole recording only. */
	if (!(share >= STEAL_MIN) || (selection && (selection->has_begin || selection->has_end)))
		return;
	cell_format_text(CELL_TIME, &cell, time, sizeof(time));
	answer_add_line(answer, "=> Host stopped virtual CPUs for %s, %.0f%% of their time.", time,
			100 * share);
}

static void add_total(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct charge_sum *total = &report->analysis->charge_sums.total;
	char time[32];

	answer_add_line(answer,
			"Tasks waited %s%s for locks in %.3f s of %u CPUs: %" PRIu64 " wait%s.",
			total->is_estimate ? "about " : "",
			answer_format_time(report, total->wait_ticks, time, sizeof(time)),
			report->seconds, report->file->processors, total->wait_count,
			total->wait_count == 1 ? "" : "s");
}

static void add_longest_chain(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct longest_waits *longest = report->analysis->charge_sums.longest_waits;
	const struct longest_chain *chain = &longest->chain;
	char phrases[2 * CHAIN_LINKS + 1][ANSWER_PHRASE_SIZE];
	char lock[NAME_SIZE], task[NAME_SIZE], begin[64], time[32];
	size_t count = 0, i;

	if (!chain->link_count || report->analysis->open_holds.graph.cycle_count)
		return;
	for (i = 0; i < chain->link_count && i < CHAIN_LINKS; i++) {
		const struct chain_link *link = &chain->links[i];

		names_format_address(report->names, link->class, lock, sizeof(lock));
		if (!i)
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE,
				 "Longest chain, %s %s: %s waits for %s",
				 answer_format_time(report, chain->ticks, time, sizeof(time)),
				 format_wait_begin(report, chain->from, begin, sizeof(begin)),
				 answer_format_task(report, chain->thread_id, task, sizeof(task)),
				 lock);
		else
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "which waits for %s", lock);
		if (link->has_holder)
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "held by %s%s",
				 answer_format_task(report, link->thread_id, task, sizeof(task)),
				 report_link_context(link));
	}
	if (chain->link_count > CHAIN_LINKS)
		snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "and %zu more locks (--json)",
			 chain->link_count - CHAIN_LINKS);
	answer_add_phrases(answer, phrases, count);
}

static void add_lines_for_no_waits(struct answer *answer)
{
	const struct report *report = answer->report;
	uint64_t blocker_count = report->analysis->spinlocks.total.blocker_count;

	answer_add_line(answer, "No recorded task waited for a lock in %.3f s of %u CPUs.",
			report->seconds, report->file->processors);
	if (blocker_count)
		answer_add_line(answer,
				"Releases that left a waiter: %" PRIu64 "; no records of waits.",
				blocker_count);
}

/* The parts of an answer whose lines are chosen: @part_count is 0 before. */
struct chosen_lines {
	size_t part_count;
	struct answer chain;
	struct answer locks[LOCKS_MAX];
	size_t lock_count;
};

/* Take @lines of the room, if it has as many. */
static bool take_lines(size_t *lines_left, size_t lines)
{
	bool fits = lines <= *lines_left;

	*lines_left -= fits ? lines : 0;
	return fits;
}

/* Take room for lines one by one, until @chosen is @wanted. */
static void take_lines_up_to(size_t *lines_left, size_t *chosen, size_t wanted)
{
	while (*chosen < wanted && take_lines(lines_left, 1))
		++*chosen;
}

/* Choose the lines that fit into @lines_left, the most important ones first. */
static void choose_lines(struct chosen_lines *choice, const struct charge_sum *total,
			 size_t lines_left)
{
	size_t reserved_lock_count = choice->lock_count < LOCKS_RESERVED ? choice->lock_count :
									   LOCKS_RESERVED;
	size_t all_line_counts[LOCKS_RESERVED], locks = 0, i;

	take_lines_up_to(&lines_left, &choice->part_count, 1);
	for (; locks < reserved_lock_count && take_lines(&lines_left, LOCK_LINES); locks++) {
		all_line_counts[locks] = choice->locks[locks].line_count;
		choice->locks[locks].line_count = LOCK_LINES;
	}
	take_lines_up_to(&lines_left, &choice->part_count, count_parts(total, PART_MIN));
	if (locks)
		take_lines_up_to(&lines_left, &choice->locks[0].line_count, all_line_counts[0]);
	if (!take_lines(&lines_left, choice->chain.line_count))
		choice->chain.line_count = 0;
	for (i = 1; i < locks; i++)
		take_lines_up_to(&lines_left, &choice->locks[i].line_count, all_line_counts[i]);
	while (locks >= reserved_lock_count && locks < choice->lock_count &&
	       take_lines(&lines_left, choice->locks[locks].line_count))
		locks++;
	take_lines_up_to(&lines_left, &choice->part_count, count_parts(total, SHARE_MIN));
	choice->lock_count = locks;
}

static void make_answer(struct answer *answer)
{
	const struct report *report = answer->report;
	const struct spinlock_sum *spinlocks = &report->analysis->spinlocks.total;
	const struct charge_sums *sums = &report->analysis->charge_sums;
	struct answer hints = { .report = report }, open_lines = { .report = report };
	struct answer verdicts = { .report = report };
	struct chosen_lines choice = { .chain.report = report };
	const struct charged_class **sorted;
	size_t count, fixed, i;

	answer_add_deadlocks(answer);
	if (!spinlocks->record_count && !spinlocks->blocker_count &&
	    !report->analysis->resources.record_count && !report->analysis->open_holds.count) {
		if (selection_includes_all(report->analysis->selection)) {
			answer_add_line(answer, "This file has no events of locks%s.",
					report->analysis->newer_events.count ?
					" of versions that this ntklog knows" : "");
			return;
		}
		answer_add_line(answer,
				"No event of a lock is selected (--filter, --from, --to).");
		answer_add_line(answer,
				"Events are written at the end of holds and of their waits.");
		return;
	}
	if (!sums->total.wait_ticks) {
		add_lines_for_no_waits(answer);
		return;
	}
	add_total(answer);
	add_verdicts(&verdicts);
	add_steal_time(&verdicts);
	answer_add_hints(&hints);
	answer_add_open_holds(&open_lines);
	add_longest_chain(&choice.chain);
	count = sort_classes(sums, &sorted);
	for (i = 0; i < count && i < LOCKS_MAX; i++) {
		if (i &&
		    answer_share(sorted[i]->sum.wait_ticks, sums->total.wait_ticks) < SHARE_MIN)
			break;
		choice.locks[i].report = report;
		add_lock(&choice.locks[i], sorted[i], i + 1);
	}
	choice.lock_count = i;
	/* One line more is that of answer_print_command(). */
	fixed = answer->line_count + verdicts.line_count + open_lines.line_count +
		hints.line_count + 1;
	choose_lines(&choice, &sums->total, fixed < ANSWER_LINES ? ANSWER_LINES - fixed : 0);
	add_parts(answer, choice.part_count);
	answer_add_lines(answer, &verdicts);
	answer_add_lines(answer, &open_lines);
	answer_add_lines(answer, &choice.chain);
	for (i = 0; i < choice.lock_count; i++)
		answer_add_lines(answer, &choice.locks[i]);
	answer_add_lines(answer, &hints);
	if (count)
		answer->costliest_lock_key = sorted[0]->key.class;
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
	for (i = 0; i < answer.line_count; i++)
		fprintf(stream, "%s\n", answer.lines[i]);
	if (report->analysis->charge_sums.total.wait_ticks)
		answer_print_command(report, answer.costliest_lock_key, stream);
}

static json_t *parts_json(const struct report *report, const struct charge_sum *sum)
{
	double ns = 1e9 / (double)report->file->perf_freq;
	json_t *parts = json_object();
	size_t i;

	for (i = 0; i < CHARGE_PARTS; i++)
		json_object_set_new(parts, answer_part_names[i],
				    json_real((double)sum->part_ticks[i] * ns));
	return parts;
}

static json_t *chain_json(const struct report *report, const struct longest_chain *chain)
{
	const char *name = names_find_thread_name(report->names, chain->thread_id);

	return json_pack("{s:f, s:f, s:I, s:s, s:o}", "at",
			 etl_seconds(report->file, chain->from), "for_ns",
			 report_ticks_ns(report, (double)chain->ticks), "thread",
			 (json_int_t)chain->thread_id, "task", name ? name : "", "waited_for",
			 report_links_json(report, chain->links, chain->link_count));
}

/**
 * answer_json() - make the answer as a JSON object
 * @report: report with its file, analysis, names and seconds; the analysis has charged the waits
 *
 * Return: the object, or NULL without memory.
 */
json_t *answer_json(const struct report *report)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	double ns = 1e9 / (double)report->file->perf_freq;
	json_t *locks = json_array(), *answer;
	const struct charged_class **sorted;
	size_t count = sort_classes(sums, &sorted), i;

	for (i = 0; i < count && i < LOCKS_MAX; i++) {
		const struct charge_sum *sum = &sorted[i]->sum;
		char name[NAME_SIZE];

		names_format_address(report->names, sorted[i]->key.class, name, sizeof(name));
		json_array_append_new(locks,
				      json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:o}",
						"lock", name, "kind",
						charged_class_kind_name(&sorted[i]->key),
						"waits", (json_int_t)sum->wait_count,
						"wait_total_ns", (double)sum->wait_ticks * ns,
						"wait_max_ns", (double)sum->longest_wait * ns,
						"wait_max_at",
						etl_seconds(report->file, sum->longest_wait_begin),
						"interrupted_ns",
						(double)sum->interrupted_ticks * ns,
						"parts_ns", parts_json(report, sum)));
	}
	free(sorted);
	answer = json_pack("{s:I, s:f, s:b, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "waits",
			   (json_int_t)sums->total.wait_count, "wait_total_ns",
			   (double)sums->total.wait_ticks * ns,
			   "context_switches", sums->has_switches,
			   "undivided_ns", (double)sums->total.unknown_state_ticks * ns,
			   "interrupted_ns", (double)sums->total.interrupted_ticks * ns,
			   "parts_ns", parts_json(report, &sums->total), "locks", locks,
			   "open_holds", answer_open_holds_json(report), "deadlocks",
			   answer_deadlocks_json(report), "longest_waits",
			   report_longest_json(report));
	if (answer && sums->longest_waits && sums->longest_waits->chain.link_count)
		json_object_set_new(answer, "longest_chain",
				    chain_json(report, &sums->longest_waits->chain));
	return answer;
}
