// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's trace events. Each CPU has a track of the spin locks that it waited for and held, and
 * a track of the threads that it ran. Each thread has a track of its resources. Slices of a track
 * have to nest. A lock that is not released in the reverse order of the acquisitions goes to
 * another lane, which is a track of the same name.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "message.h"
#include "perfetto_slice.h"
#include "wmi_record.h"

/* Size of a number as text, with the bytes behind it that put_short() may read. */
#define NUMBER_SIZE	(OUT_DIGITS + PUT_MORE)

/* A damaged frequency makes any time possible. Limit it to a century, which fits in int64_t. */
static int64_t whole_ns(double ns)
{
	static const double century = 3.15576e18;

	return (int64_t)fmax(-century, fmin(ns, century));
}

static int64_t ticks_ns(const struct perfetto *perfetto, uint64_t time_stamp)
{
	const struct etl_file *file = perfetto->conversion->file;

	return whole_ns((double)(int64_t)(time_stamp - file->start_clock) *
			perfetto->ns_per_tick);
}

static int64_t cycles_ns(const struct perfetto *perfetto, uint64_t cycles)
{
	return whole_ns(etl_cycles_ns(perfetto->conversion->file, (double)cycles));
}

/*
 * Return when a spin lock was released. The event follows the release after a time that varies.
 * The record has the time itself, in cycles, which is exact if the session's clock counts cycles.
 */
static int64_t release_ns(const struct perfetto *perfetto, const struct etl_event *event,
			  uint64_t release_time)
{
	const struct etl_file *file = perfetto->conversion->file;

	if (file->perf_freq == file->cycle_freq && release_time <= event->time_stamp &&
	    event->time_stamp - release_time < file->perf_freq / 100)
		return ticks_ns(perfetto, release_time);
	return ticks_ns(perfetto, event->time_stamp);
}

/*
 * Return when a lock was acquired whose hold time is not known: the CPU that released it does not
 * trust the other CPU's clock that far. If the session's clock does not count cycles, or the time
 * is not known either, return the release: the wait ended no later.
 */
static int64_t acquire_ns(const struct perfetto *perfetto, const struct etl_event *event,
			  uint64_t acquire_time)
{
	const struct etl_file *file = perfetto->conversion->file;

	if (file->perf_freq == file->cycle_freq && acquire_time <= event->time_stamp &&
	    acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN)
		return ticks_ns(perfetto, acquire_time);
	return ticks_ns(perfetto, event->time_stamp);
}

/* Return the name, or print the address if there is none. */
static const char *address_text(const struct cached_name *name, uint64_t address,
				char number[NUMBER_SIZE], size_t *length)
{
	if (name->length) {
		*length = name->length;
		return name->text;
	}
	*length = put_hex(number, address) - number;
	return number;
}

static const char *lock_text(struct perfetto *perfetto, uint64_t lock,
			     const struct etl_event *event, char number[NUMBER_SIZE],
			     size_t *length)
{
	return address_text(names_cache_find_at(&perfetto->locks, lock, event->time_stamp), lock,
			    number, length);
}

static char *put_bool(char *to, bool yes)
{
	return yes ? put_literal(to, "true") : put_literal(to, "false");
}

/* Put the wait that ended when the hold of @slice began. */
static char *begin_wait(struct perfetto *perfetto, char *to, const struct perfetto_slice *slice,
			int64_t wait)
{
	struct perfetto_slice waited = *slice;

	waited.category = "wait";
	waited.prefix = "wait: ";
	waited.from = wait;
	waited.to = slice->from;
	return perfetto_begin_slice(perfetto, to, &waited);
}

/* Put the arguments that name the caller and its context. */
static char *put_caller(struct perfetto *perfetto, char *to, const struct spinlock_record *record)
{
	char number[NUMBER_SIZE];
	const char *caller;
	size_t length;

	caller = address_text(names_cache_find(&perfetto->code, record->caller), record->caller,
			      number, &length);
	/* A record of a wait has no caller if the kernel did not tell it. */
	if (record->caller) {
		to = put_short(put_literal(to, "\"caller\":\""), caller, length);
		to = put_literal(to, "\",");
	}
	to = put_unsigned(put_literal(to, "\"thread\":"), record->thread_id);
	if (record->depth)
		to = put_unsigned(put_literal(to, ",\"depth\":"), record->depth);
	to = put_bool(put_literal(to, ",\"dpc\":"), record->dpc);
	return put_bool(put_literal(to, ",\"isr\":"), record->isr);
}

static void put_spinlock(struct perfetto *perfetto, const struct etl_event *event)
{
	struct perfetto_slice slice = {
		.group = PERFETTO_SPINLOCKS, .category = "hold", .prefix = ""
	};
	struct spinlock_record record;
	char number[NUMBER_SIZE];
	int64_t hold, wait, end;
	bool is_wait_alone, has_waited;
	char *to;

	spinlock_record_read(&record, event);
	is_wait_alone = spinlock_rule(&perfetto->conversion->rates, &record) &
			WMI_SPINLOCK_RULE_WAIT;
	end = release_ns(perfetto, event, record.release_time);
	hold = record.release_time > record.acquire_time ?
		end - cycles_ns(perfetto, record.release_time - record.acquire_time) : end;
	has_waited = record.spin_count || is_wait_alone;
	wait = has_waited ? hold - cycles_ns(perfetto, record.wait_time) : hold;
	slice.track = perfetto_find_lane(perfetto,
					 perfetto_cpu_track(perfetto, PERFETTO_SPINLOCKS,
							    event->processor),
					 wait, hold, end);
	slice.name = lock_text(perfetto, record.lock, event, number, &slice.length);
	to = perfetto_reserve(perfetto);
	slice.from = hold;
	slice.to = end;
	if (has_waited) {
		to = put_literal(begin_wait(perfetto, to, &slice, wait), "\"spins\":");
		to = put_unsigned(to, record.spin_count);
		to = is_wait_alone ? put_literal(to, ",") : perfetto_end_slice(to);
	}
	/* If the hold is not known the wait gets the arguments and the stack of the hold. */
	if (!is_wait_alone)
		to = perfetto_begin_slice(perfetto, to, &slice);
	to = put_caller(perfetto, to, &record);
	perfetto_end_slice_with_stack(perfetto, to);
}

/* Put the class, and of Linux' locks the kind. */
static char *put_class(char *to, const char *kind, const char *class)
{
	if (kind)
		to = put_literal(put_text(put_literal(to, "\"kind\":\""), kind), "\",");
	to = put_text(put_literal(to, "\"class\":\""), class);
	return put_literal(to, "\"");
}

static void put_resource(struct perfetto *perfetto, const struct etl_event *event)
{
	struct perfetto_slice slice = {
		.group = PERFETTO_RESOURCES, .category = "hold", .prefix = ""
	};
	struct resource_record record;
	const char *class = "exclusive", *kind = NULL;
	char number[NUMBER_SIZE];
	int64_t acquired, wait, hold, end;
	bool has_waited;
	char *to;

	resource_record_read(&record, event);
	if (record.action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED)
		class = "shared";
	else if (record.action != WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE)
		return;
	if (record.kind != RESOURCE_KIND_NT)
		kind = resource_kinds[record.kind].name;
	end = ticks_ns(perfetto, event->time_stamp);
	hold = end - cycles_ns(perfetto, record.hold_time);
	has_waited = record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN;
	acquired = has_waited && !record.hold_time ?
		acquire_ns(perfetto, event, record.acquire_time) : hold;
	wait = has_waited ? acquired - cycles_ns(perfetto, record.wait_time) : hold;
	slice.track = perfetto_find_lane(perfetto,
					 perfetto_track_find(&perfetto->tracks, PERFETTO_RESOURCES,
							     record.thread_id),
					 wait, acquired, end);
	slice.name = lock_text(perfetto, record.resource, event, number, &slice.length);
	to = perfetto_reserve(perfetto);
	if (wait < acquired) {
		slice.from = acquired;
		to = put_class(begin_wait(perfetto, to, &slice, wait), kind, class);
		to = perfetto_end_slice(to);
	}
	slice.from = hold;
	slice.to = end;
	to = put_class(perfetto_begin_slice(perfetto, to, &slice), kind, class);
	to = put_literal(to, ",\"contention\":");
	perfetto_end_slice_with_stack(perfetto, put_unsigned(to, record.contention_delta));
}

static void put_switch(struct perfetto *perfetto, const struct etl_event *event)
{
	int64_t now = ticks_ns(perfetto, event->time_stamp);
	uint32_t cpu = event->processor;
	struct contextswap_record record;
	const struct cached_name *name;
	struct perfetto_track *track;
	char *to;

	contextswap_record_read(&record, event);
	track = perfetto_cpu_track(perfetto, PERFETTO_THREADS, cpu);
	if (track && !track->lane_count) {
		track->lane_count = PERFETTO_LANES_MAX;
		perfetto_put_track_name(perfetto, PERFETTO_THREADS, cpu, cpu, 0);
	}
	if (record.old_thread_id && perfetto->running[cpu].since <= now &&
	    perfetto->running[cpu].thread_id == record.old_thread_id) {
		char text[NAMES_CACHE_TEXT + NUMBER_SIZE];
		struct perfetto_slice slice = {
			.group = PERFETTO_THREADS, .track = &cpu, .category = "run",
			.prefix = "", .name = text,
			.from = perfetto->running[cpu].since, .to = now,
		};

		name = names_cache_find(&perfetto->threads, record.old_thread_id);
		to = name->length ? put_bytes(text, name->text, name->length) :
				    put_literal(text, "thread");
		*to++ = ' ';
		slice.length = put_unsigned(to, record.old_thread_id) - text;
		to = perfetto_begin_slice(perfetto, perfetto_reserve(perfetto), &slice);
		to = put_literal(to, "\"state\":");
		to = put_unsigned(to, record.old_thread_state);
		to = put_literal(to, ",\"wait_reason\":");
		to = put_unsigned(to, record.old_thread_wait_reason);
		perfetto_end_slice_with_stack(perfetto, to);
	}
	perfetto->running[cpu].thread_id = record.new_thread_id;
	perfetto->running[cpu].since = now;
}

static void put_events(struct perfetto *perfetto)
{
	const struct event_type *type;
	const struct etl_event *event;

	while (!ferror(perfetto->out.stream) &&
	       (event = conversion_next(perfetto->conversion, &type))) {
		if (event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK)
			put_spinlock(perfetto, event);
		else if (event->hook_id == PERFINFO_LOG_TYPE_RESOURCE)
			put_resource(perfetto, event);
		else if (event->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP)
			put_switch(perfetto, event);
	}
}

/**
 * convert_to_perfetto() - write Chrome's trace events
 * @conversion: trace to convert
 * @path: path of the file to write; "-" is the standard output
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_perfetto(struct conversion *conversion, const char *path)
{
	FILE *stream = strcmp(path, "-") ? fopen(path, "w") : stdout;
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int err;

	if (!stream || !perfetto) {
		message("%s: %s", path, strerror(errno));
		if (stream && stream != stdout)
			fclose(stream);
		free(perfetto);
		return -1;
	}
	perfetto->conversion = conversion;
	perfetto->out.stream = stream;
	perfetto->locks.names = conversion->names;
	perfetto->locks.format = names_format_json;
	perfetto->locks.kind = CACHED_LOCKS;
	perfetto->code.names = conversion->names;
	perfetto->code.format = names_format_json;
	perfetto->code.kind = CACHED_CODE;
	perfetto->threads.names = conversion->names;
	perfetto->threads.format = names_format_json;
	perfetto->threads.kind = CACHED_THREADS;
	perfetto->ns_per_tick = 1e9 / (double)conversion->file->perf_freq;
	out_literal(&perfetto->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	perfetto_put_name(perfetto, PERFETTO_SPINLOCKS, NULL, "spin locks, by processor");
	perfetto_put_name(perfetto, PERFETTO_RESOURCES, NULL, "resources, by thread");
	perfetto_put_name(perfetto, PERFETTO_THREADS, NULL, "threads, by processor");
	put_events(perfetto);
	out_literal(&perfetto->out, "\n]");
	perfetto_put_frames(perfetto);
	out_literal(&perfetto->out, "}\n");
	out_flush(&perfetto->out);
	err = finish_output(stream, path);
	if (stream != stdout)
		fclose(stream);
	perfetto_free_frames(perfetto);
	perfetto_tracks_free(&perfetto->tracks);
	names_cache_clear(&perfetto->locks);
	names_cache_clear(&perfetto->code);
	names_cache_clear(&perfetto->threads);
	free(perfetto);
	return err;
}
