/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_EVENTS_H
#define _NTKLOG_CHARGE_EVENTS_H

/* The events of a file as holds and context switches, for charge_sums.h. */

#include <ntklog/etl.h>
#include <stdbool.h>

#include <ntklog/event.h>

#include "charge_sums.h"
#include "stacks.h"
#include "wmi_record.h"

/**
 * struct record_source - event that a record was read from
 * @file: file of the event
 * @event: the event; events are added in the order of time
 * @stack: stack of the event, or NULL
 * @is_selected: the user's filter is true of the event. The wait of another event is not counted,
 *	but its hold may have made a selected task wait
 */
struct record_source {
	const struct etl_file *file;
	const struct etl_event *event;
	const struct stack *stack;
	bool is_selected;
};

/**
 * struct hold_with_stacks - a record as a hold, with the stacks that the hold points to
 * @hold: the hold
 * @frames: stack of the release
 * @block_frames: stack with which the task was blocked for longest
 */
struct hold_with_stacks {
	struct charge_hold hold;
	uint64_t frames[CHARGE_FRAMES_MAX];
	uint64_t block_frames[CHARGE_FRAMES_MAX];
};

void convert_spinlock_to_hold(struct hold_with_stacks *dest, const struct record_source *source,
			      const struct spinlock_record *record, uint8_t rule);
void convert_resource_to_hold(struct hold_with_stacks *dest, const struct record_source *source,
			      const struct resource_record *record);
void charge_add_open_hold(struct charge_sums *sums, const struct etl_file *file,
			  const struct ntklog_open_hold *event, uint64_t class,
			  bool has_off_cpu_times, uint64_t weight);
void charge_add_contextswap(struct charge_sums *sums, const struct record_source *source,
			    const struct contextswap_record *record);

#endif /* _NTKLOG_CHARGE_EVENTS_H */
