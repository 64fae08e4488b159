// SPDX-License-Identifier: GPL-2.0-only
/* What all conversions have in common: the known events, in the order of time. */

#include "convert.h"

/**
 * conversion_next() - the next known event
 * @conversion: of the trace
 * @event: the event; its data is there until the next call
 * @type: of it
 *
 * What is damaged is left out: see the file's error.
 *
 * Return: 1, or 0 at the end.
 */
int conversion_next(struct conversion *conversion, struct etl_event *event,
		    const struct event_type **type)
{
	while (etl_merge_next(&conversion->merge, event)) {
		if (event->wrong_time)
			continue;
		*type = event_type_find(event);
		if (!*type && !selection_match(conversion->selection, conversion->file, event,
					       NULL, conversion->names))
			continue;
		if (!*type) {
			/* Those of the first buffer say what the file is. */
			conversion->left_out += event->offset >= conversion->file->buffer_size;
			continue;
		}
		if (event_type_check(conversion->file, event, *type))
			continue;
		if (!selection_match(conversion->selection, conversion->file, event, *type,
				     conversion->names))
			continue;
		conversion->converted++;
		return 1;
	}
	return 0;
}
