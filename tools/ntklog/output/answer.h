/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANSWER_H
#define _NTKLOG_ANSWER_H

#include <stdio.h>

#include <jansson.h>

#include "report.h"

void answer_print(const struct report *report, FILE *stream);
json_t *answer_json(const struct report *report);

#endif /* _NTKLOG_ANSWER_H */
