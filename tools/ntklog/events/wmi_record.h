/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WMI_RECORD_H
#define _NTKLOG_WMI_RECORD_H

/* Records of both pointer sizes and all versions in one structure. */

#include <stdbool.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/event.h>

#include "event_type.h"
#include "resource_kind.h"

/*
 * A WMI_SPINLOCK. Times are in cycles.
 * @acquire_time: time of the acquisition; that of the release if the record has a later one
 * @is_backward: the record has a release before the acquisition, because the clock was set back or
 *	was that of another CPU
 * @spin_count: number of spins; 0 for an uncontended acquisition
 * @depth: number of locks that the processor tracked at the release
 * @rule: WMI_SPINLOCK_RULE_*, which counts only if the file has a rundown of ntklog
 * @interrupt_count: those of the processor from the begin of the wait to the release
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
	bool is_backward;
	uint8_t irql;
	uint8_t rule;
	uint32_t interrupt_count;
};

/*
 * A WMI_RESOURCE.
 * @acquire_time: time of the acquisition, cycles; WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN or less if it
 *	is not known
 * @hold_time: duration of the hold, cycles; 0 if it is not known; of an excessive wait the duration
 *	of the wait so far
 * @wait_time: duration of the wait, cycles; 0 for no wait, 1 if it is not known; of an excessive
 *	wait the clock at its start, cycles
 * @depth: greatest recursion; of an excessive wait the number of time-outs so far; of a
 *	reinitialisation the number of owner entries
 * @thread_id: id of the owner; of an excessive wait the waiter
 * @action: WMI_RESOURCE_ACTION_* for all kinds, or a number that is not one of them
 * @contention_delta: number of waits that began during the hold
 * @caller: address behind the call of the lock function, from the NtklogCaller event before the
 *	record; 0: not recorded
 * @hold_ready_cycles: time of the hold in which the owner was ready and had no CPU, cycles; from
 *	the NtklogCaller event
 * @hold_blocked_cycles: time of the hold in which the owner was blocked
 * @wait_last_ready_cycles: time of the wait in which the owner was ready, before it last got a CPU
 * @wait_blocked_cycles: time of the wait in which the owner was blocked
 * @block_stack: the NtklogBlockStack event, which says where the owner was blocked for longest;
 *	NULL: the file has none for this record
 * @has_off_cpu_times: the NtklogCaller event has these four times
 * @is_blocker: the release was written only because it left a waiter behind: the record stands for
 *	no other release
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
	uint64_t caller;
	uint64_t hold_ready_cycles;
	uint64_t hold_blocked_cycles;
	uint64_t wait_last_ready_cycles;
	uint64_t wait_blocked_cycles;
	const struct ntklog_block_stack *block_stack;
	bool has_off_cpu_times;
	bool is_blocker;
};

/*
 * A WMI_CONTEXTSWAP of any version.
 * @new_thread_wait_time: wait of the new thread, ticks of the system clock; 0 in version 1
 */
struct contextswap_record {
	uint32_t new_thread_id;
	uint32_t old_thread_id;
	uint8_t old_thread_state;
	uint8_t old_thread_wait_reason;
	uint32_t new_thread_wait_time;
};

/* The record of an event, by its hook id. */
union wmi_record {
	struct spinlock_record spinlock;
	struct resource_record resource;
	struct contextswap_record contextswap;
};

void spinlock_record_read(struct spinlock_record *record, const struct etl_event *event);
void resource_record_read(struct resource_record *record, const struct etl_event *event);
bool resource_record_is_release(const struct resource_record *record);
void contextswap_record_read(struct contextswap_record *record,
			     const struct etl_event *event);
bool steal_time_is_impossible(const struct etl_file *file, const struct etl_event *event);
int wmi_record_read(union wmi_record *record, struct etl_file *file,
		    const struct etl_event *event, const struct event_type *type);
bool open_hold_is_waiting(const struct ntklog_open_hold *event);
bool open_hold_is_shared(const struct ntklog_open_hold *event);

#endif /* _NTKLOG_WMI_RECORD_H */
