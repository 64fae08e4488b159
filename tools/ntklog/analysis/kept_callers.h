/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KEPT_CALLERS_H
#define _NTKLOG_KEPT_CALLERS_H

/*
 * The events that stand before the records of Linux' sleeping locks. NtklogCaller has what its
 * record lacks: the place in which the lock was acquired, and the times without a CPU of the hold
 * and of the wait. NtklogBlockStack, which may follow, says where the holder was blocked.
 */

#include <stdbool.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/event.h>

#include "wmi_record.h"

/**
 * struct kept_caller - the last such events of a CPU
 * @time_stamp: time stamp of the event, which its record has too
 * @caller_event: data of the event; of version 1 the times are 0
 * @has_off_cpu_times: the event has the times
 * @block_stack: data of the second event; its @blocked is 0 if there was none
 */
struct kept_caller {
	uint64_t time_stamp;
	struct ntklog_caller caller_event;
	bool has_off_cpu_times;
	struct ntklog_block_stack block_stack;
};

bool kept_callers_keep(struct kept_caller **callers, const struct etl_event *event);
void kept_callers_add_block_stack(struct kept_caller *callers, const struct etl_event *event);
void kept_callers_complete_record(const struct kept_caller *callers, const struct etl_event *event,
				  struct resource_record *record);

#endif /* _NTKLOG_KEPT_CALLERS_H */
