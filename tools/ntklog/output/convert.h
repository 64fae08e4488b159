/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CONVERT_H
#define _NTKLOG_CONVERT_H

/* The formats that a trace can be converted to. */

#include <stdint.h>

#include <ntklog/etl.h>

#include "event_type.h"
#include "filter.h"
#include "names.h"
#include "spinlock_stats.h"
#include "stacks.h"

/**
 * struct conversion - of a trace
 * @file: the trace
 * @stacks: its events in the order of time, with their stacks
 * @stack: of the event that conversion_next() has given, or NULL
 * @names: of addresses and threads, or NULL
 * @selection: of its events
 * @rates: of the sampling of spin locks, and whether records have rules
 * @converted: events
 * @left_out: events that are not known
 */
struct conversion {
	struct etl_file *file;
	struct stacks *stacks;
	const struct stack *stack;
	const struct names *names;
	const struct selection *selection;
	struct spinlock_rates rates;
	uint64_t converted;
	uint64_t left_out;
};

void conversion_find_rates(struct conversion *conversion);
const struct etl_event *conversion_next(struct conversion *conversion,
					const struct event_type **type);

int convert_to_ctf(struct conversion *conversion, const char *directory);
int convert_to_perfetto(struct conversion *conversion, const char *path);

#endif /* _NTKLOG_CONVERT_H */
