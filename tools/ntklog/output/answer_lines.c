// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "answer_lines.h"
#include "text.h"

const char *const answer_part_names[CHARGE_PARTS] = {
	[CHARGE_HOLDER_RAN] = "holder_ran",
	[CHARGE_HOLDER_PREEMPTED] = "holder_preempted",
	[CHARGE_HOLDER_BLOCKED] = "holder_blocked",
	[CHARGE_FREE_ASLEEP] = "free_next_owner_asleep",
	[CHARGE_FREE_READY] = "free_next_owner_without_cpu",
	[CHARGE_FREE_SPINNING] = "free_handed_over",
	[CHARGE_OVERTAKEN] = "free_overtaken",
	[CHARGE_UNKNOWN] = "unknown",
};

const char *const answer_part_texts[CHARGE_PARTS] = {
	[CHARGE_HOLDER_RAN] = "the holder ran",
	[CHARGE_HOLDER_PREEMPTED] = "the holder was preempted: ready, but without a CPU",
	[CHARGE_HOLDER_BLOCKED] = "the holder was blocked",
	[CHARGE_FREE_ASLEEP] = "the lock was free; its next owner was not woken yet",
	[CHARGE_FREE_READY] = "the lock was free; its next owner had no CPU",
	[CHARGE_FREE_SPINNING] = "the lock was free; its next owner did not take it yet",
	[CHARGE_OVERTAKEN] = "the lock was free; then another task overtook the waiter",
	[CHARGE_UNKNOWN] = "unknown: no record says who held the lock",
};

/**
 * answer_share() - divide two sums
 * @part: part of @all
 * @all: may be 0
 *
 * Return: the share, 0 to 1.
 */
double answer_share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/**
 * answer_add_line() - add a line, cut to fit, if there is one left
 * @answer: the answer
 * @format: as of printf(), with its arguments
 *
 * The names of modules are cut first.
 */
void answer_add_line(struct answer *answer, const char *format, ...)
{
	char text[2 * ANSWER_PHRASE_SIZE];
	va_list arguments;

	if (answer->line_count == ANSWER_LINES)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	while (strlen(text) > ANSWER_COLUMNS && text_cut_module(text))
		;
	if (strlen(text) > ANSWER_COLUMNS) {
		size_t at = ANSWER_COLUMNS - 3;

		/* Do not cut between the bytes of a character. */
		while (at && text_is_continuation(text[at]))
			at--;
		memcpy(text + at, "...", 4);
	}
	/* Names come from the file: they may have been cut, or control a terminal. */
	text_clean_line(text);
	snprintf(answer->lines[answer->line_count++], sizeof(*answer->lines), "%s", text);
}

/**
 * answer_append() - append to a text, as far as it has room
 * @text: the text
 * @size: bytes of its buffer
 * @format: as of printf(), with its arguments
 */
void answer_append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

/**
 * answer_format_time() - format a duration
 * @report: report of the file
 * @ticks: the duration, session clock
 * @text: buffer
 * @size: bytes of @text
 *
 * Return: @text.
 */
const char *answer_format_time(const struct report *report, uint64_t ticks, char *text, size_t size)
{
	const union cell cell = {
		.number = (double)ticks * 1e9 / (double)report->file->perf_freq,
	};

	cell_format_text(CELL_TIME, &cell, text, size);
	return text;
}

/**
 * answer_format_task() - name a task, with its id
 * @report: report of the file
 * @thread_id: the task
 * @text: buffer
 * @size: bytes of @text
 *
 * Return: @text.
 */
const char *answer_format_task(const struct report *report, uint32_t thread_id, char *text,
			       size_t size)
{
	const char *name = names_find_thread_name(report->names, thread_id);

	if (name)
		snprintf(text, size, "%s (%" PRIu32 ")", name, thread_id);
	else
		snprintf(text, size, "task %" PRIu32, thread_id);
	return text;
}

/**
 * answer_add_phrases() - add a sentence, whose lines break only between its phrases
 * @answer: the answer
 * @phrases: the phrases
 * @count: number of @phrases
 */
void answer_add_phrases(struct answer *answer, char phrases[][ANSWER_PHRASE_SIZE], size_t count)
{
	char line[2 * ANSWER_PHRASE_SIZE];
	size_t i;

	snprintf(line, sizeof(line), "%s", phrases[0]);
	for (i = 1; i < count; i++) {
		/* The comma at the line's end needs a column, too. */
		if (strlen(line) + strlen(phrases[i]) + 3 > ANSWER_COLUMNS) {
			answer_add_line(answer, "%s,", line);
			snprintf(line, sizeof(line), "   %s", phrases[i]);
		} else {
			answer_append(line, sizeof(line), ", %s", phrases[i]);
		}
	}
	answer_add_line(answer, "%s", line);
}

/**
 * answer_add_lines() - add the lines of another answer
 * @answer: the answer
 * @more: the other one
 */
void answer_add_lines(struct answer *answer, const struct answer *more)
{
	size_t i;

	for (i = 0; i < more->line_count; i++)
		answer_add_line(answer, "%s", more->lines[i]);
}
