/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RATES_H
#define _NTKLOG_RATES_H

/*
 * The sampling parameters. A session writes them in rundown events at its start, at its stop, and
 * at each change: DC_END with the old values, then DC_START with the new ones. A stretch is a time
 * in which they do not change.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/event.h>

#include "resource_stats.h"
#include "spinlock_stats.h"

struct rates {
	struct spinlock_rates spinlock;
	struct resource_rates resource;
};

/* @from: begin, session clock; 0 of the first one */
struct rates_interval {
	uint64_t from;
	struct rates rates;
};

struct rates_rundown;

/*
 * The module's counts of releases that left a waiter behind and were not written, of spin locks and
 * of locks that sleep, and the steal time.
 * @has_end: an event with the counts has been seen
 * @start: the counts at the start of the session, if @has_start
 */
struct dropped_counts {
	bool has_start;
	bool has_end;
	struct ntklog_dropped_dc start;
	struct ntklog_dropped_dc end;
};

/*
 * All changes of the parameters; all zero: none is known.
 * @rundowns, @intervals: in the order of time after rates_history_finish()
 * @has_unknown_change: a DC_END differs from the DC_START before it: the time of a change is not
 *	known
 */
struct rates_history {
	struct rates_rundown *rundowns;
	size_t rundown_count;
	struct rates_interval *intervals;
	size_t interval_count;
	bool has_unknown_change;
	bool is_finished;
	struct dropped_counts dropped;
	bool no_memory;
};

bool hook_is_rates_start(uint16_t hook_id);
bool rates_add_rundown(struct rates *rates, const struct etl_event *event);
void rates_find(struct rates *rates, struct etl_file *file);
void rates_history_add(struct rates_history *history, const struct etl_event *event);
uint64_t rates_get_dropped_blockers(const struct rates_history *history);
uint64_t rates_get_steal_ns(const struct rates_history *history);
void rates_history_finish(struct rates_history *history);
const struct rates *rates_at(const struct rates_history *history, uint64_t time);
void rates_find_highest(const struct rates_history *history, struct rates *highest);
void rates_history_free(struct rates_history *history);

#endif /* _NTKLOG_RATES_H */
