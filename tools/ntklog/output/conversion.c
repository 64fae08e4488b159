// SPDX-License-Identifier: GPL-2.0-only
/* What all conversions have in common: the rates, and the known events in the order of time. */

#include "analysis.h"
#include "convert.h"

/**
 * conversion_find_rates() - find the rates of the sampling, before what was sampled
 * @conversion: of a file that is open; its place stays
 */
void conversion_find_rates(struct conversion *conversion)
{
	static struct analysis analysis;

	/* Of all that is summed up these alone. */
	analysis_find_rates(&analysis, conversion->file);
	conversion->rates = analysis.spinlocks.rates;
	analysis_free(&analysis);
}

/**
 * conversion_next() - the next known event
 * @conversion: of the trace
 * @type: of it
 *
 * What is damaged is left out: see the file's error.
 *
 * Return: the event, until the next call, or NULL at the end.
 */
const struct etl_event *conversion_next(struct conversion *conversion,
					const struct event_type **type)
{
	const struct etl_event *event;

	while ((event = stacks_next(conversion->stacks, &conversion->stack))) {
		/* A stack alone is of nothing that is converted. */
		if (event->wrong_time ||
		    (conversion->stack && conversion->stack->state == STACK_ALONE))
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
		return event;
	}
	return NULL;
}
