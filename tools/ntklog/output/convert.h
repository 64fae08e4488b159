/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CONVERT_H
#define _NTKLOG_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntklog/etl.h>

#include "event_type.h"
#include "filter.h"
#include "kept_callers.h"
#include "names.h"
#include "open_holds.h"
#include "spinlock_stats.h"
#include "stacks.h"

/*
 * @stack: stack of the event that conversion_next() has returned, or NULL
 * @keeps_callers: events with the caller of the next record are kept in @callers, and not returned
 * @open_holds: the newest list of holds and waits that had not ended, without those that ended
 *	after it; the user of conversion_next() adds the selected ones
 * @no_memory: there was no memory for @callers
 */
struct conversion {
	struct etl_file *file;
	struct stack_matcher *stacks;
	const struct stack *stack;
	const struct names *names;
	const struct selection *selection;
	struct spinlock_rates rates;
	bool keeps_callers;
	struct kept_caller *callers;
	struct open_holds open_holds;
	bool no_memory;
	uint64_t converted_count;
	uint64_t left_out_count;
};

void conversion_find_rates(struct conversion *conversion);
const struct etl_event *conversion_next(struct conversion *conversion,
					const struct event_type **type);
void conversion_clear(struct conversion *conversion);

int convert_to_ctf(struct conversion *conversion, const char *directory);
int convert_to_pprof(struct etl_file *file, const struct names *names,
		     const struct selection *selection, const char *path);
int convert_to_perfetto(struct conversion *conversion, const char *path);

#endif /* _NTKLOG_CONVERT_H */
