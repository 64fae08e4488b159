/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANSWER_HINTS_H
#define _NTKLOG_ANSWER_HINTS_H

/* The end of an answer: hints at data that is not recorded, and the command for more. */

#include <stdint.h>
#include <stdio.h>

#include "answer_lines.h"

void answer_add_hints(struct answer *answer);
void answer_print_command(const struct report *report, uint64_t lock, FILE *stream);

#endif /* _NTKLOG_ANSWER_HINTS_H */
