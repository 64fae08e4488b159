/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANSWER_OPEN_H
#define _NTKLOG_ANSWER_OPEN_H

/* The part of an answer about the locks that tasks held or waited for when the recording ended. */

#include "answer_lines.h"

void answer_add_deadlocks(struct answer *answer);
void answer_add_open_holds(struct answer *answer);
json_t *answer_deadlocks_json(const struct report *report);
json_t *answer_open_holds_json(const struct report *report);

#endif /* _NTKLOG_ANSWER_OPEN_H */
