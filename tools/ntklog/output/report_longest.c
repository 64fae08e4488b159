// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest waits, step by step: the holds to which each is charged, and the locks for which the
 * holders waited meanwhile. As a table they have a row for each step.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer_lines.h"
#include "report_longest.h"
#include "report_rows.h"

/* Columns before the text of a step. */
#define INDENT	24

/* Bytes of a task with its function, and with the attribute of --by. */
#define HOLD_SIZE	(3 * NAME_SIZE + CHARGE_LABEL_SIZE)

#define STEP_SIZE	((2 * LONGEST_LINKS_MAX + 1) * NAME_SIZE + HOLD_SIZE)

/* @step: the step; NULL: the sum of the steps that are not kept */
struct longest_row {
	size_t number;
	const struct longest_wait *wait;
	size_t step_number;
	const struct longest_step *step;
};

/* Format the task and the function, with the attribute of --by in brackets. */
static void format_hold(const struct report *report, const struct charge_hold *hold, char *text,
			size_t size)
{
	char place[NAME_SIZE], task[NAME_SIZE], attribute[CHARGE_LABEL_SIZE];

	snprintf(text, size, "%s", answer_format_task(report, hold->thread_id, task, sizeof(task)));
	if (charge_format_function(report->names, hold, place, sizeof(place)))
		answer_append(text, size, " in %s", place);
	answer_append(text, size, "%s", charge_context_text(hold));
	if (!report->attribute_name)
		return;
	charge_format_attribute(report->names, report->analysis->charge_attribute, hold, attribute,
				sizeof(attribute));
	answer_append(text, size, " [%s]", attribute);
}

/* The function in which the holder or the next owner had no CPU, with "in " before it; or "". */
static void format_absence(const struct report *report, const struct longest_step *step,
			   char *text, size_t size)
{
	const struct charge_absence absence = { .frames = step->absence_frames };

	charge_format_absence(report->names, NULL, &absence, text, size);
}

/**
 * report_link_context() - tell in which context a lock of a chain was held
 * @link: the lock
 *
 * Return: " (interrupt)", " (softirq)", or "".
 */
const char *report_link_context(const struct chain_link *link)
{
	return charge_context_text(&(struct charge_hold) {
		.in_softirq = link->in_softirq, .in_interrupt = link->in_interrupt,
	});
}

static void append_links(const struct report *report, const struct longest_step *step, char *text,
			 size_t size)
{
	char lock[NAME_SIZE], task[NAME_SIZE], time[32];
	size_t i;

	for (i = 0; i < step->link_count; i++) {
		const struct chain_link *link = &step->links[i];

		names_format_address(report->names, link->class, lock, sizeof(lock));
		answer_append(text, size, "%s waited %s for %s", i ? ", which" : "; it",
			      answer_format_time(report, link->ticks, time, sizeof(time)), lock);
		if (link->has_holder)
			answer_append(text, size, ", held by %s%s",
				      answer_format_task(report, link->thread_id, task,
							 sizeof(task)),
				      report_link_context(link));
	}
}

/* Format the state of the lock in a step, with the holder or the next owner. */
static void format_step(const struct report *report, const struct longest_step *step, char *text,
			size_t size)
{
	static const struct {
		const char *text_before;
		const char *text_behind;
	} texts[CHARGE_PARTS] = {
		[CHARGE_HOLDER_RAN] = { "held by ", "" },
		[CHARGE_HOLDER_PREEMPTED] = { "held by ", ", without a CPU" },
		[CHARGE_HOLDER_BLOCKED] = { "held by ", ", blocked" },
		[CHARGE_FREE_ASLEEP] = { "free; ", " was not woken yet" },
		[CHARGE_FREE_READY] = { "free; ", " had no CPU" },
		[CHARGE_FREE_SPINNING] = { "free; ", " did not take it yet" },
		[CHARGE_OVERTAKEN] = { "free; then ", " overtook the waiter" },
		[CHARGE_UNKNOWN] = { "unknown", "" },
	};
	char hold[HOLD_SIZE] = "", place[NAME_SIZE], task[NAME_SIZE];

	if (step->has_holder)
		format_hold(report, &step->holder, hold, sizeof(hold));
	format_absence(report, step, place, sizeof(place));
	snprintf(text, size, "%s%s%s%s%s", texts[step->piece.part_kind].text_before, hold,
		 texts[step->piece.part_kind].text_behind, *place ? " " : "", place);
	if (step->preempter_id)
		answer_append(text, size, "; preempted by %s",
			      answer_format_task(report, step->preempter_id, task, sizeof(task)));
	append_links(report, step, text, size);
}

/* Print a text whose first character is in column @column, and break it between words. */
static void print_wrapped(FILE *stream, size_t column, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > INDENT && column + 1 + length > ANSWER_COLUMNS)
			column = fprintf(stream, "\n%*s", INDENT, "") - 1;
		else if (column > INDENT)
			column += fprintf(stream, " ");
		column += fprintf(stream, "%.*s", (int)length, text);
		text += length + (text[length] == ' ');
	}
	fputc('\n', stream);
}

static void print_wait(const struct report *report, FILE *stream, size_t number,
		       const struct longest_wait *wait)
{
	char lock[NAME_SIZE], text[STEP_SIZE], time[32];
	size_t i;

	names_format_address(report->names, wait->waiter.class, lock, sizeof(lock));
	format_hold(report, &wait->waiter, text, sizeof(text));
	fprintf(stream, "%zu. %s: %s, %s\n", number, lock,
		answer_format_time(report, wait->ticks, time, sizeof(time)), text);
	for (i = 0; i < wait->step_count; i++) {
		const struct longest_step *step = &wait->steps[i];

		fprintf(stream, "  %10.6fs %8s  ", etl_seconds(report->file, step->piece.from),
			answer_format_time(report, step->piece.ticks, time, sizeof(time)));
		format_step(report, step, text, sizeof(text));
		print_wrapped(stream, INDENT, text);
	}
	if (wait->other_step_count)
		fprintf(stream, "  %11s %8s  in %" PRIu64 " shorter steps\n", "",
			answer_format_time(report, wait->other_ticks, time, sizeof(time)),
			wait->other_step_count);
}

/**
 * report_print_longest() - print the longest waits
 * @report: report with its file, analysis and names
 * @stream: stream to print to
 * @waits_max: most waits to print; 0 for all
 */
void report_print_longest(const struct report *report, FILE *stream, size_t waits_max)
{
	const struct longest_waits *longest = report->analysis->charge_sums.longest_waits;
	size_t i;

	if (!longest || !longest->waits_by_length[0]->ticks)
		return;
	fputs("The longest waits, step by step\n", stream);
	fprintf(stream, "  %11s %8s\n", "at", "for");
	for (i = 0; i < LONGEST_WAITS_MAX && longest->waits_by_length[i]->ticks &&
	     (!waits_max || i < waits_max); i++)
		print_wait(report, stream, i + 1, longest->waits_by_length[i]);
}

static json_t *task_json(const struct report *report, uint32_t thread_id)
{
	const char *name = names_find_thread_name(report->names, thread_id);

	return json_string(name ? name : "");
}

/* Make an object of a time, with its begin in seconds and its length in nanoseconds. */
static json_t *time_json(const struct report *report, uint64_t from, uint64_t ticks)
{
	return json_pack("{s:f, s:f}", "at", etl_seconds(report->file, from), "for_ns",
			 report_ticks_ns(report, (double)ticks));
}

static void add_hold_json(const struct report *report, json_t *object,
			  const struct charge_hold *hold)
{
	char place[NAME_SIZE];

	charge_format_function(report->names, hold, place, sizeof(place));
	json_object_set_new(object, "thread", json_integer(hold->thread_id));
	json_object_set_new(object, "task", task_json(report, hold->thread_id));
	json_object_set_new(object, "place", json_string(place));
	json_object_set_new(object, "reader", json_boolean(hold->is_shared));
}

/**
 * report_links_json() - make the list of the locks of a chain
 * @report: report of the file
 * @links: the locks
 * @count: number of @links
 *
 * Return: the list, or NULL without memory.
 */
json_t *report_links_json(const struct report *report, const struct chain_link *links,
			  size_t count)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		json_t *object = time_json(report, links[i].from, links[i].ticks);
		char lock[NAME_SIZE];

		names_format_address(report->names, links[i].class, lock, sizeof(lock));
		json_object_set_new(object, "lock", json_string(lock));
		if (links[i].has_holder) {
			json_object_set_new(object, "holder_thread",
					    json_integer(links[i].thread_id));
			json_object_set_new(object, "holder_task",
					    task_json(report, links[i].thread_id));
		}
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *step_json(const struct report *report, const struct longest_step *step)
{
	json_t *object = time_json(report, step->piece.from, step->piece.ticks);
	char place[NAME_SIZE];

	format_absence(report, step, place, sizeof(place));
	json_object_set_new(object, "part", json_string(answer_part_names[step->piece.part_kind]));
	if (step->has_holder)
		add_hold_json(report, object, &step->holder);
	if (*place)
		json_object_set_new(object, "without_cpu_in", json_string(place + strlen("in ")));
	if (step->preempter_id)
		json_object_set_new(object, "preempted_by",
				    json_string(answer_format_task(report, step->preempter_id,
								   place, sizeof(place))));
	if (step->link_count)
		json_object_set_new(object, "waited_for",
				    report_links_json(report, step->links, step->link_count));
	return object;
}

/**
 * report_longest_json() - make the list of the longest waits
 * @report: report with its file, analysis and names
 *
 * Return: the list, or NULL without memory.
 */
json_t *report_longest_json(const struct report *report)
{
	const struct longest_waits *longest = report->analysis->charge_sums.longest_waits;
	json_t *array = json_array();
	size_t i, j;

	for (i = 0; longest && i < LONGEST_WAITS_MAX && longest->waits_by_length[i]->ticks; i++) {
		const struct longest_wait *wait = longest->waits_by_length[i];
		json_t *object = time_json(report, wait->waiter.wait_start, wait->ticks);
		json_t *steps = json_array();
		char lock[NAME_SIZE];

		names_format_address(report->names, wait->waiter.class, lock, sizeof(lock));
		json_object_set_new(object, "lock", json_string(lock));
		add_hold_json(report, object, &wait->waiter);
		for (j = 0; j < wait->step_count; j++)
			json_array_append_new(steps, step_json(report, &wait->steps[j]));
		json_object_set_new(object, "steps", steps);
		json_object_set_new(object, "other_steps", json_integer(wait->other_step_count));
		json_object_set_new(object, "other_steps_for_ns",
				    json_real(report_ticks_ns(report, (double)wait->other_ticks)));
		json_array_append_new(array, object);
	}
	return array;
}

static const struct longest_row *row_of(const void *row)
{
	return row;
}

static char *step_cell(const struct report *report, const void *row)
{
	char text[32];

	/* Sorted as text, the steps stay in the order of time. */
	snprintf(text, sizeof(text), "%02zu.%02zu", row_of(row)->number, row_of(row)->step_number);
	return strdup(text);
}

static char *lock_cell(const struct report *report, const void *row)
{
	return report_symbol_text(report, row_of(row)->wait->waiter.class);
}

static char *waiter_cell(const struct report *report, const void *row)
{
	char text[HOLD_SIZE];

	format_hold(report, &row_of(row)->wait->waiter, text, sizeof(text));
	return strdup(text);
}

static char *make_waiter_attribute(const struct report *report, const void *row)
{
	char text[CHARGE_LABEL_SIZE];

	charge_format_holder(report->names, report->analysis->charge_attribute,
			     &row_of(row)->wait->waiter, text, sizeof(text));
	return strdup(text);
}

static char *happened_cell(const struct report *report, const void *row)
{
	char text[STEP_SIZE];

	if (!row_of(row)->step)
		return strdup("shorter steps");
	format_step(report, row_of(row)->step, text, sizeof(text));
	return strdup(text);
}

static double wait_time_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, (double)row_of(row)->wait->ticks);
}

static double step_at_cell(const struct report *report, const void *row)
{
	const struct longest_step *step = row_of(row)->step;

	return step ? etl_seconds(report->file, step->piece.from) * 1e9 : NAN;
}

static double step_for_cell(const struct report *report, const void *row)
{
	const struct longest_step *step = row_of(row)->step;

	return report_ticks_ns(report, (double)(step ? step->piece.ticks :
						row_of(row)->wait->other_ticks));
}

static const struct column columns[] = {
	TEXT_COLUMN("step", "step", step_cell,
		    "number of the wait, the longest first, and of its step"),
	TEXT_COLUMN("lock", "lock", lock_cell,
		    "class of the lock, or its address; ~ marks a guess"),
	TEXT_COLUMN("waiter", "waiter", waiter_cell, "task that waited, and its function"),
	NUMBER_COLUMN("wait", "whole wait", CELL_TIME, wait_time_cell, "length of the wait"),
	NUMBER_COLUMN("at", "at", CELL_TIME, step_at_cell,
		      "begin of the step, since the start of the session"),
	NUMBER_COLUMN("for", "for", CELL_TIME, step_for_cell, "length of the step"),
	TEXT_COLUMN("happened", "happened", happened_cell,
		    "holder, or next owner of the free lock, and locks that the holder waited for"),
};

static void make_longest(struct report *report)
{
	const struct longest_waits *longest = report->analysis->charge_sums.longest_waits;
	struct table *table = &report->tables[REPORT_LONGEST];
	size_t i, j;

	for (i = 0; longest && i < LONGEST_WAITS_MAX && longest->waits_by_length[i]->ticks; i++) {
		const struct longest_wait *wait = longest->waits_by_length[i];
		struct longest_row row = { .number = i + 1, .wait = wait };

		for (j = 0; j < wait->step_count; j++) {
			row.step_number = j + 1;
			row.step = &wait->steps[j];
			table_add_row(table, report, &row);
		}
		row.step_number = j + 1;
		row.step = NULL;
		if (wait->other_step_count)
			table_add_row(table, report, &row);
	}
}

const struct table_class report_longest_class = {
	.name = "longest",
	.title = "The longest waits, step by step",
	.missing_events_text = "waits for locks",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "step",
	.make_attribute_text = make_waiter_attribute,
	.make_table = make_longest,
};
