/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANALYSIS_SUMS_H
#define _NTKLOG_ANALYSIS_SUMS_H

/* All sums of a trace, and the choices of the user. */

#include <ntklog/etl.h>

#include "charge_sums.h"
#include "coverage.h"
#include "filter.h"
#include "kept_callers.h"
#include "lock_classes.h"
#include "names.h"
#include "open_holds.h"
#include "rates.h"
#include "resource_stats.h"
#include "spinlock_stats.h"
#include "splits.h"
#include "stack_stats.h"
#include "switch_stats.h"
#include "wanted_lock.h"

/*
 * Sums of a trace; all zero before the first event.
 * @selection: events to sum up, or NULL for all events
 * @sums_by_address: sum up each lock by itself, and not by its class
 * @has_lock_stacks: set by the caller, with @charges_waits: analysis_read() makes @lock_stacks
 * @charge_attribute: set by the caller: attribute by which waiters and holders are told apart
 * @is_split: set by the caller: @charge_attribute splits other sums, too: analysis_read() makes
 *	@split_sums
 * @split_sums: sums by @charge_attribute; NULL: not @is_split
 * @open_holds: locks that were held at the end, or at the last snapshot
 * @is_of_ntklog: the trace has an event of a type that only ntklog writes
 * @groups: event groups that were enabled, if @has_groups
 * @origin_time: begin of the time lines, session clock: the start of the session, the first event
 *	that was not overwritten, or the begin of the selected time
 * @event_count: number of selected events, without those of the file's header and those that
 *	complete another one
 * @has_later_events: the file has events after the selected time
 * @unknown_counts: number of events of unknown types, by hook id; allocated for the first one
 * @kept_callers: last event of each CPU with the caller of a record; allocated for the first one
 * @unknown_header_counts: number of events without a hook id, by type of header
 * @newer_events: events of known types, but of versions newer than the known ones; name and version
 *	are those of the last one
 */
struct analysis {
	const struct selection *selection;
	const struct names *names;
	struct wanted_lock wanted_lock;
	bool sums_by_address;
	struct lock_classes classes;
	struct spinlock_stats spinlocks;
	struct resource_stats resources;
	struct switch_stats switches;
	struct stack_stats stacks;
	struct stack_stats lock_stacks;
	bool has_lock_stacks;
	struct charge_sums charge_sums;
	enum charge_attribute charge_attribute;
	bool charges_waits;
	bool is_split;
	struct split_sums *split_sums;
	struct open_holds open_holds;
	struct coverage coverage;
	struct rates_history rates_history;
	bool is_of_ntklog;
	bool has_groups;
	struct perfinfo_groupmask groups;
	uint64_t origin_time;
	uint64_t event_count;
	uint64_t first_time;
	uint64_t last_time;
	bool has_later_events;
	bool rates_changed;
	uint64_t *unknown_counts;
	struct kept_caller *kept_callers;
	uint64_t unknown_header_counts[0x100];
	struct newer_events {
		const char *name;
		uint16_t version;
		uint64_t count;
	} newer_events;
};

#endif /* _NTKLOG_ANALYSIS_SUMS_H */
