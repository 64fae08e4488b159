/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_FILTER_H
#define _NTKLOG_FILTER_H

/*
 * Expressions that choose events:
 *
 *	expression:	term { "||" term }
 *	term:		factor { "&&" factor }
 *	factor:		"!" factor | "(" expression ")" | FIELD OPERATOR VALUE
 *	OPERATOR:	== != < <= > >= ~ (the text contains)
 *
 * FIELD is a field of the record by NT's name, or Event, Cpu, Time (seconds), HookId.
 * VALUE is a number, a name of a value (Action == release_shared), a symbol's name for
 * an address, or any of these in double quotes. What an event has no field for is
 * false.
 */

#include <stdbool.h>
#include <stddef.h>

#include "etl.h"
#include "event_type.h"
#include "names.h"

struct filter;

struct filter *filter_parse(const char *text, char *error, size_t size);
bool filter_match(const struct filter *filter, const struct etl_file *file,
		  const struct etl_event *event, const struct event_type *type,
		  const struct names *names);
void filter_free(struct filter *filter);

#endif /* _NTKLOG_FILTER_H */
