/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WMI_RECORD_H
#define _NTKLOG_WMI_RECORD_H

/* The records of both pointer sizes, and all versions, as one. */

#include <stdbool.h>
#include <stdint.h>

#include <ntklog/etl.h>

#include "resource_kind.h"

/**
 * struct spinlock_record - a WMI_SPINLOCK
 * @lock: address
 * @caller: address
 * @acquire_time: cycles
 * @release_time: cycles
 * @wait_time: cycles
 * @spin_count: 0: had at once
 * @thread_id: thread that was current
 * @depth: locks tracked at the release
 * @mode: WMI_SPINLOCK_*
 * @dpc: released in a DPC
 * @isr: released in an interrupt routine
 * @interrupts: of the processor, from when it was asked for to the release
 * @rule: WMI_SPINLOCK_RULE_*, of files that say so
 */
struct spinlock_record {
	uint64_t lock;
	uint64_t caller;
	uint64_t acquire_time;
	uint64_t release_time;
	uint32_t wait_time;
	uint32_t spin_count;
	uint32_t thread_id;
	uint8_t depth;
	uint8_t mode;
	bool dpc;
	bool isr;
	uint8_t rule;
	uint32_t interrupts;
};

/**
 * struct resource_record - a WMI_RESOURCE
 * @resource: address
 * @acquire_time: cycles; at most WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN: not known
 * @hold_time: cycles; 0: not known
 * @wait_time: cycles; 0: none, 1: not known
 * @depth: most acquisitions at once; of an excessive wait, the time-outs so far
 * @thread_id: the owner
 * @kind: of the object; RESOURCE_KINDS: not known
 * @action: WMI_RESOURCE_ACTION_*, of whatever kind; or what is none of them
 * @contention_delta: waits that others began meanwhile
 */
struct resource_record {
	uint64_t resource;
	uint64_t acquire_time;
	uint64_t hold_time;
	uint64_t wait_time;
	uint32_t depth;
	uint32_t thread_id;
	enum resource_kind kind;
	uint32_t action;
	uint32_t contention_delta;
};

/**
 * struct contextswap_record - what all versions of WMI_CONTEXTSWAP have
 * @new_thread_id: runs from now on
 * @old_thread_id: has run
 * @old_thread_state: KTHREAD_STATE_*
 * @old_thread_wait_reason: KWAIT_REASON_*
 * @new_thread_wait_time: ticks of the system's clock; 0 in version 1
 */
struct contextswap_record {
	uint32_t new_thread_id;
	uint32_t old_thread_id;
	uint8_t old_thread_state;
	uint8_t old_thread_wait_reason;
	uint32_t new_thread_wait_time;
};

void spinlock_record_read(struct spinlock_record *record, const struct etl_event *event);
void resource_record_read(struct resource_record *record, const struct etl_event *event);
void contextswap_record_read(struct contextswap_record *record,
			     const struct etl_event *event);

#endif /* _NTKLOG_WMI_RECORD_H */
