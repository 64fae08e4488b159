// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chrome's trace events: for each processor a track of the spin locks waited for and
 * owned and one of the threads that ran, for each thread one of its resources. Slices of a
 * track have to lie within each other or apart: locks that are not released in the reverse
 * order go to another lane of the same name. Whole nanoseconds: what touches does not
 * overlap by rounding.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "convert.h"
#include "hash.h"
#include "message.h"
#include "names_cache.h"
#include "out.h"
#include "perfetto_tracks.h"
#include "put.h"
#include "text.h"
#include "wmi_record.h"

/* The tracks' groups, which are processes to the viewer. */
enum {
	GROUP_SPINLOCKS = 1,
	GROUP_RESOURCES,
	GROUP_THREADS,
};

/* Of an event in JSON at most: up to four slices' parts, names in each. */
#define EVENT_SIZE	(4 * (2 * NAMES_CACHE_TEXT + 512) + PUT_MORE)

/* Functions of stacks that are told apart by who called them; an event whose has more has none. */
#define FRAMES_MAX	0x10000

/* Of a number as text, with what put_short() may read behind it. */
#define NUMBER_SIZE	(OUT_DIGITS + PUT_MORE)

/*
 * @group: of @track
 * @track: its number; NULL: none
 * @category: of it
 * @prefix: before the name
 * @name: of it
 * @length: of that
 * @from: its begin, ns
 * @to: its end
 */
struct slice {
	unsigned int group;
	const uint32_t *track;
	const char *category;
	const char *prefix;
	const char *name;
	size_t length;
	int64_t from;
	int64_t to;
};

/* Where a stack goes through, and the number of where that was called from; 0: of nothing. */
struct frame_key {
	uint64_t address;
	uint64_t caller;
};

struct frame {
	struct frame_key key;
	uint64_t number;
	UT_hash_handle hh;
};

/*
 * @out: where to
 * @conversion: of the trace
 * @locks: names of locks
 * @code: names of instructions
 * @threads: names of threads
 * @first: nothing has been written
 * @tracks: of processors and threads
 * @next_id: of the next slice that finds no lane
 * @ns_per_tick: of the session's clock
 * @frames: of stacks: a table, in the order of their numbers
 * @running: by processor: who, 0: nobody known; and since when, ns; and its tracks
 */
struct perfetto {
	struct out out;
	struct conversion *conversion;
	struct names_cache locks;
	struct names_cache code;
	struct names_cache threads;
	bool first;
	struct perfetto_tracks tracks;
	uint64_t next_id;
	double ns_per_tick;
	struct frame *frames;
	struct {
		uint32_t thread_id;
		int64_t since;
		struct perfetto_track *spinlocks;
		struct perfetto_track *threads;
	} running[UINT16_MAX + 1];
};

static void begin_event(struct perfetto *perfetto)
{
	if (perfetto->first)
		out_literal(&perfetto->out, "\n");
	else
		out_literal(&perfetto->out, ",\n");
	perfetto->first = false;
}

/* A name of a group or, with a track, of that. */
static void put_name(struct perfetto *perfetto, int group, const uint32_t *track,
		     const char *name)
{
	struct out *out = &perfetto->out;

	begin_event(perfetto);
	out_literal(out, "{\"ph\":\"M\",\"name\":\"");
	out_text(out, track ? "thread_name" : "process_name");
	out_literal(out, "\",\"pid\":");
	out_unsigned(out, group);
	if (track) {
		out_literal(out, ",\"tid\":");
		out_unsigned(out, *track);
	}
	out_literal(out, ",\"args\":{\"name\":\"");
	out_json(out, name);
	out_literal(out, "\"}}");
}

static void put_track_name(struct perfetto *perfetto, int group, uint32_t number,
			   uint32_t track, unsigned int lane)
{
	char text[NAME_SIZE], more[32] = "";
	const char *name;

	if (lane)
		snprintf(more, sizeof(more), " (%u)", lane + 1);
	if (group == GROUP_RESOURCES) {
		name = names_thread(perfetto->conversion->names, number);
		snprintf(text, sizeof(text), "%.200s %u%s", name ? name : "thread", number, more);
		/* The name may be cut within a character. */
		text_clean(text);
	} else {
		snprintf(text, sizeof(text), "cpu %u%s", number, more);
	}
	put_name(perfetto, group, &track, text);
}

/* Of a processor, whose tracks are used again and again. */
static struct perfetto_track *find_processor_track(struct perfetto *perfetto, uint32_t group,
						   uint32_t processor)
{
	struct perfetto_track **place = group == GROUP_SPINLOCKS ?
		&perfetto->running[processor].spinlocks : &perfetto->running[processor].threads;

	if (!*place)
		*place = perfetto_track_find(&perfetto->tracks, group, processor);
	return *place;
}

/* The number of the lane of what begins at these two times; NULL: there is none. */
static const uint32_t *find_lane(struct perfetto *perfetto, struct perfetto_track *track,
				 int64_t wait, int64_t hold, int64_t end)
{
	unsigned int lanes = track ? track->lane_count : 0;
	const struct perfetto_lane *lane = perfetto_lane_find(&perfetto->tracks, track, wait,
							      hold, end);

	if (lane && track->lane_count > lanes)
		put_track_name(perfetto, track->key.group, track->key.number,
			       lane->number, lanes);
	return lane ? &lane->number : NULL;
}

/* Microseconds with three decimals. */
static char *put_us(char *to, int64_t ns)
{
	uint64_t value = ns;

	if (ns < 0) {
		*to++ = '-';
		value = -value;
	}
	to = put_unsigned(to, value / 1000);
	value %= 1000;
	to[0] = '.';
	to[1] = '0' + value / 100;
	to[2] = '0' + value / 10 % 10;
	to[3] = '0' + value % 10;
	return to + 4;
}

/*
 * The beginning of a slice of a track, up to its arguments. Without a track it is an
 * asynchronous one, which may lie as it likes, and its end is put first.
 */
static char *begin_slice(struct perfetto *perfetto, char *to, const struct slice *slice)
{
	int part;

	for (part = slice->track ? 1 : 0; part < 2; part++) {
		to = put_literal(to, ",\n{\"ph\":\"");
		*to++ = slice->track ? 'X' : part ? 'b' : 'e';
		to = put_literal(to, "\",\"cat\":\"");
		to = put_text(to, slice->category);
		to = put_literal(to, "\",\"name\":\"");
		to = put_text(to, slice->prefix);
		to = put_short(to, slice->name, slice->length);
		to = put_literal(to, "\",\"pid\":");
		to = put_unsigned(to, slice->group);
		if (slice->track) {
			to = put_literal(to, ",\"tid\":");
			to = put_unsigned(to, *slice->track);
		} else {
			to = put_literal(to, ",\"id\":");
			to = put_unsigned(to, perfetto->next_id);
		}
		to = put_literal(to, ",\"ts\":");
		to = put_us(to, part ? slice->from : slice->to);
		if (!part)
			*to++ = '}';
	}
	if (slice->track) {
		to = put_literal(to, ",\"dur\":");
		to = put_us(to, slice->to - slice->from);
	} else {
		perfetto->next_id++;
	}
	return put_literal(to, ",\"args\":{");
}

/* What was waited for, before it was held as @slice says. */
static char *begin_wait(struct perfetto *perfetto, char *to, const struct slice *slice,
			int64_t wait)
{
	struct slice waited = *slice;

	waited.category = "wait";
	waited.prefix = "wait: ";
	waited.from = wait;
	waited.to = slice->from;
	return begin_slice(perfetto, to, &waited);
}

#define end_slice(to)	put_literal(to, "}}")

/* The number of the innermost one, or 0: there are too many. */
static uint64_t find_frames(struct perfetto *perfetto, const struct stack *stack)
{
	struct frame_key key = { .caller = 0 };
	struct frame *frame;
	size_t i;

	for (i = stack->count; i--;) {
		key.address = stack->addresses[i];
		hash_find_or_add(perfetto->frames, key, &key, FRAMES_MAX, frame);
		if (!frame)
			return 0;
		if (!frame->number)
			frame->number = HASH_COUNT(perfetto->frames);
		key.caller = frame->number;
	}
	return key.caller;
}

/* A symbol, or the number in its place. */
static void put_address(struct perfetto *perfetto, uint64_t address)
{
	const struct cached_name *name = names_cache_find(&perfetto->code, address);

	if (name->length)
		out_bytes(&perfetto->out, name->text, name->length);
	else
		out_hex(&perfetto->out, address);
}

/*
 * The end of the slice at @to, with the stack of the event: among its arguments, which viewers
 * show, and as Chrome has it, by the number of its innermost frame.
 */
static void end_slice_with_stack(struct perfetto *perfetto, const char *to)
{
	const struct stack *stack = perfetto->conversion->stack;
	struct out *out = &perfetto->out;
	uint64_t number;
	size_t i;

	out->used = to - out->buffer;
	if (!stack || !stack->count) {
		out_literal(out, "}}");
		return;
	}
	out_literal(out, ",\"stack\":[");
	for (i = 0; i < stack->count; i++) {
		out_text(out, i ? ",\"" : "\"");
		put_address(perfetto, stack->addresses[i]);
		out_char(out, '"');
	}
	out_literal(out, "]}");
	number = find_frames(perfetto, stack);
	if (number) {
		out_literal(out, ",\"sf\":");
		out_unsigned(out, number);
	}
	out_char(out, '}');
}

static void put_frames(struct perfetto *perfetto)
{
	struct out *out = &perfetto->out;
	const struct frame *frame;

	if (!perfetto->frames)
		return;
	out_literal(out, ",\"stackFrames\":{");
	for (frame = perfetto->frames; frame; frame = frame->hh.next) {
		out_text(out, frame->number > 1 ? ",\n\"" : "\n\"");
		out_unsigned(out, frame->number);
		out_literal(out, "\":{\"name\":\"");
		put_address(perfetto, frame->key.address);
		out_char(out, '"');
		if (frame->key.caller) {
			out_literal(out, ",\"parent\":\"");
			out_unsigned(out, frame->key.caller);
			out_char(out, '"');
		}
		out_char(out, '}');
	}
	out_literal(out, "\n}");
}

static void free_frames(struct perfetto *perfetto)
{
	struct frame *frame, *next;

	HASH_ITER(hh, perfetto->frames, frame, next) {
		HASH_DEL(perfetto->frames, frame);
		free(frame);
	}
}

static char *begin_put(struct perfetto *perfetto)
{
	return out_room(&perfetto->out, EVENT_SIZE);
}

/* A damaged frequency makes any number of a time: at most a century of it is shown. */
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
 * When was it released? The event is some time after that, which is not the same each time;
 * if the session's clock is that of the cycles, the record itself says it.
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

/* Who had a lock, or waited for it, and where. */
static char *put_whose(struct perfetto *perfetto, char *to, const struct spinlock_record *record)
{
	char number[NUMBER_SIZE];
	const char *caller;
	size_t length;

	caller = address_text(names_cache_find(&perfetto->code, record->caller), record->caller,
			      number, &length);
	/* What is 0 is not known. */
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
	struct slice slice = { .group = GROUP_SPINLOCKS, .category = "hold", .prefix = "" };
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
	slice.track = find_lane(perfetto, find_processor_track(perfetto, GROUP_SPINLOCKS,
							       event->processor),
				wait, hold, end);
	slice.name = lock_text(perfetto, record.lock, event, number, &slice.length);
	to = begin_put(perfetto);
	slice.from = hold;
	slice.to = end;
	if (has_waited) {
		to = put_literal(begin_wait(perfetto, to, &slice, wait), "\"spins\":");
		to = put_unsigned(to, record.spin_count);
		to = is_wait_alone ? put_literal(to, ",") : end_slice(to);
	}
	/* Nothing is known of its hold, so what is told of a hold is told of the wait. */
	if (!is_wait_alone)
		to = begin_slice(perfetto, to, &slice);
	to = put_whose(perfetto, to, &record);
	end_slice_with_stack(perfetto, to);
}

/* Of Linux' locks that sleep the kind too. */
static char *put_class(char *to, const char *kind, const char *class)
{
	if (kind)
		to = put_literal(put_text(put_literal(to, "\"kind\":\""), kind), "\",");
	to = put_text(put_literal(to, "\"class\":\""), class);
	return put_literal(to, "\"");
}

static void put_resource(struct perfetto *perfetto, const struct etl_event *event)
{
	struct slice slice = { .group = GROUP_RESOURCES, .category = "hold", .prefix = "" };
	struct resource_record record;
	const char *class = "exclusive", *kind = NULL;
	char number[NUMBER_SIZE];
	int64_t hold, wait, end;
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
	/* Without the hold time it is not known when it waited. */
	wait = record.hold_time && record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ?
		hold - cycles_ns(perfetto, record.wait_time) : hold;
	slice.track = find_lane(perfetto, perfetto_track_find(&perfetto->tracks, GROUP_RESOURCES,
							      record.thread_id),
				wait, hold, end);
	slice.name = lock_text(perfetto, record.resource, event, number, &slice.length);
	to = begin_put(perfetto);
	slice.from = hold;
	slice.to = end;
	if (wait < hold) {
		to = put_class(begin_wait(perfetto, to, &slice, wait), kind, class);
		to = end_slice(to);
	}
	to = put_class(begin_slice(perfetto, to, &slice), kind, class);
	to = put_literal(to, ",\"contention\":");
	end_slice_with_stack(perfetto, put_unsigned(to, record.contention_delta));
}

static void put_switch(struct perfetto *perfetto, const struct etl_event *event)
{
	int64_t now = ticks_ns(perfetto, event->time_stamp);
	uint32_t processor = event->processor;
	struct contextswap_record record;
	const struct cached_name *name;
	struct perfetto_track *track;
	char *to;

	contextswap_record_read(&record, event);
	track = find_processor_track(perfetto, GROUP_THREADS, processor);
	if (track && !track->lane_count) {
		track->lane_count = PERFETTO_LANES_MAX;
		put_track_name(perfetto, GROUP_THREADS, processor, processor, 0);
	}
	if (record.old_thread_id && perfetto->running[processor].since <= now &&
	    perfetto->running[processor].thread_id == record.old_thread_id) {
		char text[NAMES_CACHE_TEXT + NUMBER_SIZE];
		struct slice slice = {
			.group = GROUP_THREADS, .track = &processor, .category = "run",
			.prefix = "", .name = text,
			.from = perfetto->running[processor].since, .to = now,
		};

		name = names_cache_find(&perfetto->threads, record.old_thread_id);
		to = name->length ? put_bytes(text, name->text, name->length) :
				    put_literal(text, "thread");
		*to++ = ' ';
		slice.length = put_unsigned(to, record.old_thread_id) - text;
		to = begin_slice(perfetto, begin_put(perfetto), &slice);
		to = put_literal(to, "\"state\":");
		to = put_unsigned(to, record.old_thread_state);
		to = put_literal(to, ",\"wait_reason\":");
		to = put_unsigned(to, record.old_thread_wait_reason);
		end_slice_with_stack(perfetto, to);
	}
	perfetto->running[processor].thread_id = record.new_thread_id;
	perfetto->running[processor].since = now;
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
 * @conversion: of the trace
 * @path: of the file; "-" is the standard output
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
	perfetto->first = true;
	perfetto->ns_per_tick = 1e9 / (double)conversion->file->perf_freq;
	out_literal(&perfetto->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	put_name(perfetto, GROUP_SPINLOCKS, NULL, "spin locks, by processor");
	put_name(perfetto, GROUP_RESOURCES, NULL, "resources, by thread");
	put_name(perfetto, GROUP_THREADS, NULL, "threads, by processor");
	put_events(perfetto);
	out_literal(&perfetto->out, "\n]");
	put_frames(perfetto);
	out_literal(&perfetto->out, "}\n");
	out_flush(&perfetto->out);
	err = finish_output(stream, path);
	if (stream != stdout)
		fclose(stream);
	free_frames(perfetto);
	perfetto_tracks_free(&perfetto->tracks);
	names_cache_clear(&perfetto->locks);
	names_cache_clear(&perfetto->code);
	names_cache_clear(&perfetto->threads);
	free(perfetto);
	return err;
}
