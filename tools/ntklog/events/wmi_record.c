// SPDX-License-Identifier: GPL-2.0-only
/* Callers have checked the type and the size of the event. */

#include <string.h>

#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "etl_reader.h"
#include "event_type.h"
#include "resource_kind.h"
#include "wmi_record.h"

/* Copy the members, which have the same names in both layouts. */
#define READ_SPINLOCK(_record, _raw)					\
	(*(_record) = (struct spinlock_record) {			\
		.lock = (_raw).spin_lock_address,			\
		.caller = (_raw).caller_address,			\
		.acquire_time = (_raw).acquire_time,			\
		.release_time = (_raw).release_time,			\
		.wait_time = (_raw).wait_time_in_cycles,		\
		.spin_count = (_raw).spin_count,			\
		.thread_id = (_raw).thread_id,				\
		.depth = (_raw).acquire_depth,				\
		.mode = (_raw).acquire_mode,				\
		.irql = (_raw).irql,					\
		.dpc = (_raw).execute_dpc,				\
		.isr = (_raw).execute_isr,				\
		.interrupt_count = (_raw).interrupt_count,			\
		.rule = (_raw).rule,					\
	})

#define READ_RESOURCE(_record, _raw)					\
	(*(_record) = (struct resource_record) {			\
		.resource = (_raw).resource,				\
		.acquire_time = (_raw).acquire_time,			\
		.hold_time = (_raw).hold_time,				\
		.wait_time = (_raw).wait_time,				\
		.depth = (_raw).max_recursion_depth,			\
		.thread_id = (_raw).thread_id,				\
		.kind = resource_kind_find((_raw).action),		\
		.action = resource_nt_action((_raw).action),		\
		.contention_delta = (_raw).contention_delta,		\
		.is_blocker = resource_is_blocker_only((_raw).action),	\
	})

#define READ_CONTEXTSWAP(_record, _raw)					\
	(*(_record) = (struct contextswap_record) {			\
		.new_thread_id = (_raw).new_thread_id,			\
		.old_thread_id = (_raw).old_thread_id,			\
		.old_thread_state = (_raw).old_thread_state,		\
		.old_thread_wait_reason = (_raw).old_thread_wait_reason,	\
	})

/**
 * spinlock_record_read() - read a WMI_SPINLOCK
 * @record: set to the record
 * @event: PERFINFO_LOG_TYPE_SPINLOCK
 */
void spinlock_record_read(struct spinlock_record *record, const struct etl_event *event)
{
	if (event->pointer_size == 8) {
		struct wmi_spinlock64 raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_SPINLOCK(record, raw);
	} else {
		struct wmi_spinlock32 raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_SPINLOCK(record, raw);
	}
	if (record->release_time < record->acquire_time) {
		record->acquire_time = record->release_time;
		record->is_backward = true;
	}
}

/**
 * resource_record_read() - read a WMI_RESOURCE
 * @record: set to the record
 * @event: PERFINFO_LOG_TYPE_RESOURCE
 */
void resource_record_read(struct resource_record *record, const struct etl_event *event)
{
	if (event->pointer_size == 8) {
		struct wmi_resource64 raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_RESOURCE(record, raw);
	} else {
		struct wmi_resource32 raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_RESOURCE(record, raw);
	}
}

/**
 * resource_record_is_release() - test whether a record is of a last release
 * @record: the record
 *
 * Return: true if the hold of the lock has ended.
 */
bool resource_record_is_release(const struct resource_record *record)
{
	return record->action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE ||
	       record->action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED;
}

/**
 * contextswap_record_read() - read a WMI_CONTEXTSWAP
 * @record: set to the record
 * @event: PERFINFO_LOG_TYPE_CONTEXTSWAP of any version
 */
void contextswap_record_read(struct contextswap_record *record,
			     const struct etl_event *event)
{
	if (event->version == 1) {
		struct wmi_contextswap_v1 raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_CONTEXTSWAP(record, raw);
	} else {
		struct wmi_contextswap raw;

		memcpy(&raw, event->data, sizeof(raw));
		READ_CONTEXTSWAP(record, raw);
		record->new_thread_wait_time = raw.new_thread_wait_time;
	}
}

/*
 * Test whether a wait and the hold after it are longer together than the clock of the file had run
 * at the event. A clock that does not count cycles is compared with a tolerance of 1 %, because the
 * file tells the frequency of the cycles in whole MHz.
 */
static bool predates_clock(uint64_t hold, uint64_t wait, const struct etl_file *file,
			   const struct etl_event *event)
{
	uint64_t time = event->time_stamp;

	if (file->perf_freq == file->cycle_freq)
		return hold > time || wait > time - hold;
	return ((double)hold + (double)wait) * (double)file->perf_freq >
	       1.01 * (double)time * (double)file->cycle_freq;
}

static bool spinlock_is_impossible(const struct spinlock_record *record,
				   const struct etl_file *file, const struct etl_event *event)
{
	return predates_clock(record->release_time - record->acquire_time,
			      record->spin_count ? record->wait_time : 0, file, event);
}

static bool resource_is_impossible(const struct resource_record *record,
				   const struct etl_file *file, const struct etl_event *event)
{
	return (resource_record_is_release(record) ||
		record->action == WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE ||
		record->action == WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED) &&
	       predates_clock(record->hold_time, record->wait_time, file, event);
}

static bool is_later_than_event(uint64_t time, const struct etl_file *file,
				const struct etl_event *event)
{
	return time > event->time_stamp &&
	       time - event->time_stamp > etl_const_reader_of(file)->slack_ticks;
}

/*
 * Test whether the list of open holds, of which this event is an entry, was made after the event or
 * before the session, or the hold or wait began after the event. slack_ticks allow for CPUs whose
 * clocks differ.
 */
static bool open_hold_is_impossible(const struct etl_file *file, const struct etl_event *event)
{
	struct ntklog_open_hold open_hold = { 0 };

	memcpy(&open_hold, event->data, event->data_size);
	return is_later_than_event(open_hold.list_time, file, event) ||
	       is_later_than_event(open_hold.since, file, event) ||
	       open_hold.list_time < etl_const_reader_of(file)->earliest_possible_time ||
	       predates_clock(0, open_hold.wait_time, file, event);
}

/**
 * steal_time_is_impossible() - test whether the host stole more time than all CPUs have run
 * @file: file of the event
 * @event: event of any type, with the size of its type
 *
 * The file's number of CPUs is no limit, because it leaves out those that went offline before the
 * recording.
 *
 * Return: true if the kernel cannot have written the event.
 */
bool steal_time_is_impossible(const struct etl_file *file, const struct etl_event *event)
{
	struct ntklog_dropped_dc dc = { 0 };
	double ticks = (double)event->time_stamp + (double)etl_const_reader_of(file)->slack_ticks;

	if (event->hook_id != NTKLOG_LOG_TYPE_DROPPED_DC_START &&
	    event->hook_id != NTKLOG_LOG_TYPE_DROPPED_DC_END)
		return false;
	/* Version 1 has no steal time. */
	memcpy(&dc, event->data, event->data_size);
	return (double)dc.steal_time > ticks / (double)file->perf_freq * 1e9 * ETL_PROCESSORS_MAX;
}

/**
 * wmi_record_read() - read the record of an event, and count damage
 * @record: set to the record; unchanged if events of this type have none
 * @file: file of the event
 * @event: the event, of the selected time
 * @type: type of the event
 *
 * All commands leave out the same events, because each calls this function, once for an event.
 *
 * Return: 0, or -1 if the size of the event is wrong, or its times are impossible; then
 * @file->error describes the first damage of the file.
 */
int wmi_record_read(union wmi_record *record, struct etl_file *file,
		    const struct etl_event *event, const struct event_type *type)
{
	bool is_impossible = false;

	if (event_check_size(file, event, type))
		return -1;
	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&record->spinlock, event);
		is_impossible = spinlock_is_impossible(&record->spinlock, file, event);
		break;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&record->resource, event);
		is_impossible = resource_is_impossible(&record->resource, file, event);
		break;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		contextswap_record_read(&record->contextswap, event);
		break;
	case NTKLOG_LOG_TYPE_OPEN_HOLD:
		is_impossible = open_hold_is_impossible(file, event);
		break;
	case NTKLOG_LOG_TYPE_DROPPED_DC_START:
	case NTKLOG_LOG_TYPE_DROPPED_DC_END:
		is_impossible = steal_time_is_impossible(file, event);
		break;
	}
	return is_impossible && !event->has_impossible_time ?
		etl_leave_out_event(file, event, "%s: its times are impossible", type->name) :
		0;
}

static uint32_t open_hold_state(const struct ntklog_open_hold *event)
{
	return event->action & ~WMI_RESOURCE_ACTION_CLASS;
}

/**
 * open_hold_is_waiting() - test whether the task waits for the lock
 * @event: the event
 *
 * Return: true if it waits; false if it holds the lock.
 */
bool open_hold_is_waiting(const struct ntklog_open_hold *event)
{
	return open_hold_state(event) == NTKLOG_OPEN_WAITS_EXCLUSIVE ||
	       open_hold_state(event) == NTKLOG_OPEN_WAITS_SHARED;
}

/**
 * open_hold_is_shared() - test whether the lock is held or wanted as a reader
 * @event: the event
 *
 * Return: true if it is.
 */
bool open_hold_is_shared(const struct ntklog_open_hold *event)
{
	return open_hold_state(event) == NTKLOG_OPEN_HELD_SHARED ||
	       open_hold_state(event) == NTKLOG_OPEN_WAITS_SHARED;
}
