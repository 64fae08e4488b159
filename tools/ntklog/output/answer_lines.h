/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANSWER_LINES_H
#define _NTKLOG_ANSWER_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "macros.h"
#include "report.h"

/* Size of the smallest terminal. */
#define ANSWER_LINES	20
#define ANSWER_COLUMNS	80

#define ANSWER_PHRASE_SIZE	(3 * NAME_SIZE + 64)

/* @costliest_lock_key: class of the lock that cost most */
struct answer {
	const struct report *report;
	char lines[ANSWER_LINES][ANSWER_COLUMNS + 1];
	size_t line_count;
	uint64_t costliest_lock_key;
};

extern const char *const answer_part_names[CHARGE_PARTS];
extern const char *const answer_part_texts[CHARGE_PARTS];

double answer_share(uint64_t part, uint64_t all);
__printf(2, 3)
void answer_add_line(struct answer *answer, const char *format, ...);
void answer_add_phrases(struct answer *answer, char phrases[][ANSWER_PHRASE_SIZE], size_t count);
void answer_add_lines(struct answer *answer, const struct answer *more);
__printf(3, 4)
void answer_append(char *text, size_t size, const char *format, ...);
const char *answer_format_time(const struct report *report, uint64_t ticks, char *text,
			       size_t size);
const char *answer_format_task(const struct report *report, uint32_t thread_id, char *text,
			       size_t size);

#endif /* _NTKLOG_ANSWER_LINES_H */
