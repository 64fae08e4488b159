/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_FILTER_H
#define _NTKLOG_FILTER_H

/*
 * Expressions that choose events:
 *
 *	expression:	term { "||" term }
 *	term:		factor { "&&" factor }
 *	factor:		"!" factor | "(" expression ")" | FIELD OPERATOR VALUE
 *	OPERATOR:	== != < <= > >= ~ (the text contains), and = for ==
 *
 * FIELD is the name of a field that dump prints; Kind, which is a part of Action; or a common name
 * of fields that have another name in each type of event: hold, wait, lock, caller, class, thread,
 * process, cgroup. VALUE is a number, a time with its unit, a symbol with or without an offset, a
 * GUID, the path of a cgroup, the name of a value (Action == release_shared), event, provider,
 * class, thread or process, or any of these in double quotes. A comparison is false for an event
 * without the field.
 */

#include <stdbool.h>
#include <stddef.h>

#include <ntklog/etl.h>

#include "event_type.h"
#include "kept_callers.h"
#include "names.h"

/* Bytes for a message with all names that a value can have. */
#define FILTER_ERROR_SIZE	2048

/* A filter needs names of: */
#define FILTER_NAMES_SYMBOLS	1u
#define FILTER_NAMES_CLASSES	2u
#define FILTER_NAMES_TASKS	4u

struct filter;

/* Filter and limits of time that events have to pass; seconds since the start of the session. */
struct selection {
	struct filter *filter;
	double begin_seconds;
	double end_seconds;
	bool has_begin;
	bool has_end;
};

struct filter *filter_parse(const char *text, char *error, size_t size);
unsigned int filter_needed_names(const struct filter *filter);
int filter_check_names(struct filter *filter, const struct names *names, bool has_classes,
		       char *error, size_t size);
bool filter_matches(const struct filter *filter, const struct etl_file *file,
		    const struct etl_event *event, const struct event_type *type,
		    const struct names *names, const struct kept_caller *callers);
void filter_free(struct filter *filter);

/**
 * selection_includes_time() - test whether an event is in the selected time
 * @selection: selection
 * @file: file of the event
 * @event: event
 *
 * Return: true if the event lies in the selected time.
 */
static inline bool selection_includes_time(const struct selection *selection,
					   const struct etl_file *file,
					   const struct etl_event *event)
{
	double seconds;

	if (!selection->has_begin && !selection->has_end)
		return true;
	seconds = etl_seconds(file, event->time_stamp);
	return (!selection->has_begin || seconds >= selection->begin_seconds) &&
	       (!selection->has_end || seconds <= selection->end_seconds);
}

bool selection_includes_all(const struct selection *selection);
bool selection_includes_event(const struct selection *selection, const struct etl_file *file,
			      const struct etl_event *event, const struct event_type *type,
			      const struct names *names, const struct kept_caller *callers);

#endif /* _NTKLOG_FILTER_H */
