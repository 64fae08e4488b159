/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STACK_RUNDOWNS_H
#define _NTKLOG_STACK_RUNDOWNS_H

/* Rundowns of stacks: events that say to which kinds of events ntklog adds a stack from then on. */

#include <stdbool.h>
#include <stddef.h>

#include <ntklog/etl.h>

struct stack_rundown;

/* @rundowns: rundowns, sorted by time */
struct stack_rundowns {
	struct stack_rundown *rundowns;
	size_t count;
	bool is_full;
};

bool event_is_stack_rundown(const struct etl_event *event);
void stack_rundowns_add(struct stack_rundowns *rundowns, const struct etl_event *event);
bool stack_rundowns_say_stack(const struct stack_rundowns *rundowns,
			      const struct etl_event *event);
void stack_rundowns_free(struct stack_rundowns *rundowns);

#endif /* _NTKLOG_STACK_RUNDOWNS_H */
