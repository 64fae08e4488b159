/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LIVE_SUMS_H
#define _NTKLOG_LIVE_SUMS_H

/* Sums of the events of a running session, interval by interval, for ntklog top and exporter. */

#include <stdbool.h>

#include <ntklog/etl.h>

#include "analysis.h"
#include "event_order.h"
#include "identities.h"
#include "recording.h"
#include "stacks.h"
#include "symbols.h"

/*
 * @event_sorter: events that are not summed up yet, because an earlier one may still arrive
 * @stacks: events whose stacks may still arrive; NULL: no stacks are recorded
 * @has_reported_event: a message has described a damaged event
 * @symbols: symbols of the kernel, classes of locks, and names that a user of the sums adds
 * @before_event: called with @argument before an event is summed up; NULL: nothing is called
 * @before_read: called with @argument before buffers are read; NULL: nothing is called
 */
struct live_sums {
	struct recording recording;
	struct etl_file *file;
	struct event_sorter event_sorter;
	bool records_stacks;
	struct stack_matcher *stacks;
	struct analysis analysis;
	struct kernel_symbols symbols;
	struct identities_file identities;
	bool has_new_class;
	bool has_reported_event;
	void (*before_event)(void *argument, const struct etl_event *event);
	void (*before_read)(void *argument);
	void *argument;
};

int live_sums_prepare(struct live_sums *sums);
int live_sums_start(struct live_sums *sums, const struct session_settings *settings,
		    const int *signals);
int live_sums_follow(struct live_sums *sums);
int live_sums_begin(struct live_sums *sums);
int live_sums_charge(struct live_sums *sums, enum charge_attribute attribute);
int live_sums_take_rates(struct live_sums *sums);
int live_sums_read_all(struct live_sums *sums);
int live_sums_refresh_symbols(struct live_sums *sums);
uint64_t live_sums_count_left_out(const struct live_sums *sums);
void live_sums_reset(struct live_sums *sums);
void live_sums_stop(struct live_sums *sums);
void live_sums_close(struct live_sums *sums);

#endif /* _NTKLOG_LIVE_SUMS_H */
