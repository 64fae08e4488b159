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

#define HASH_NONFATAL_OOM	1

#include <uthash.h>

#include <ntklog/wmi_resource.h>

#include "convert.h"
#include "message.h"
#include "names_cache.h"
#include "out.h"
#include "wmi_record.h"

/* The tracks' groups, which are processes to the viewer. */
enum {
	GROUP_SPINLOCKS = 1,
	GROUP_RESOURCES,
	GROUP_THREADS,
};

/* Of a processor or a thread: NT tracks 8 locks, and 8 resources, at once. */
#define LANES_MAX	8

/* Threads that have tracks of their own resources. */
#define TRACKS_MAX	65536

/* Intervals of a lane that are remembered: what begins before them finds no place there. */
#define INTERVALS_MAX	24

/* Tracks of lanes but the first, which is that of the processor or thread. */
#define FIRST_OTHER_TRACK	0x60000000u

struct interval {
	int64_t from;
	int64_t to;
};

/*
 * @track: its number
 * @intervals: of slices, those within others left out; the last is the newest
 * @count: of them
 * @forgotten: nothing before this is known
 */
struct lane {
	uint32_t track;
	struct interval intervals[INTERVALS_MAX];
	unsigned int count;
	int64_t forgotten;
};

/*
 * @key: group and number
 * @lanes: of it
 * @lane_count: of them
 * @hh: in the table
 */
struct track {
	struct {
		uint32_t group;
		uint32_t number;
	} key;
	struct lane *lanes[LANES_MAX];
	unsigned int lane_count;
	UT_hash_handle hh;
};

/*
 * @out: where to
 * @conversion: of the trace
 * @names: of locks and callers
 * @first: nothing has been written
 * @tracks: table
 * @track_count: in it
 * @next_track: of the next lane that is not the first
 * @next_id: of the next slice that finds no lane
 * @ns_per_tick: of the session's clock
 * @running: by processor: who, 0: nobody known; and since when, ns
 */
struct perfetto {
	struct out out;
	struct conversion *conversion;
	struct names_cache names;
	bool first;
	struct track *tracks;
	size_t track_count;
	uint32_t next_track;
	uint64_t next_id;
	double ns_per_tick;
	struct {
		uint32_t thread_id;
		int64_t since;
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
	} else {
		snprintf(text, sizeof(text), "cpu %u%s", number, more);
	}
	put_name(perfetto, group, &track, text);
}

static struct track *find_track(struct perfetto *perfetto, uint32_t group, uint32_t number)
{
	struct track *track, key = { .key = { group, number } };

	HASH_FIND(hh, perfetto->tracks, &key.key, sizeof(key.key), track);
	if (track || perfetto->track_count == TRACKS_MAX)
		return track;
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->key = key.key;
	HASH_ADD(hh, perfetto->tracks, key, sizeof(track->key), track);
	if (!track->hh.tbl) {
		free(track);
		return NULL;
	}
	perfetto->track_count++;
	return track;
}

/* Is this time within an interval of the lane, and so what begins then across its end? */
static bool is_within(const struct lane *lane, int64_t time)
{
	unsigned int i;

	if (time < lane->forgotten)
		return true;
	for (i = lane->count; i-- > 0 && lane->intervals[i].to > time;)
		if (lane->intervals[i].from < time)
			return true;
	return false;
}

static void add_interval(struct lane *lane, int64_t from, int64_t to)
{
	/* What lies within the new one is not looked at any more. */
	while (lane->count && lane->intervals[lane->count - 1].from >= from)
		lane->count--;
	if (lane->count == INTERVALS_MAX) {
		lane->forgotten = lane->intervals[0].to;
		memmove(lane->intervals, lane->intervals + 1,
			(INTERVALS_MAX - 1) * sizeof(*lane->intervals));
		lane->count--;
	}
	lane->intervals[lane->count++] = (struct interval) { from, to };
}

/*
 * A lane where what begins at these two times is not across anything; ends come in order,
 * nearly. NULL: there is none.
 */
static struct lane *find_lane(struct perfetto *perfetto, uint32_t group, uint32_t number,
			      int64_t wait, int64_t hold, int64_t end)
{
	struct track *track = find_track(perfetto, group, number);
	struct lane *lane;
	unsigned int i;

	for (i = 0; track && i < track->lane_count; i++) {
		lane = track->lanes[i];
		if (lane->count && lane->intervals[lane->count - 1].to > end)
			continue;
		if (!is_within(lane, wait) && !is_within(lane, hold))
			goto found;
	}
	if (!track || i == LANES_MAX)
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->forgotten = INT64_MIN;
	lane->track = i ? perfetto->next_track++ : number;
	track->lanes[track->lane_count++] = lane;
	put_track_name(perfetto, group, number, lane->track, i);
found:
	add_interval(lane, wait, end);
	return lane;
}

static void put_us(struct out *out, const char *name, int64_t ns)
{
	out_text(out, name);
	out_fixed(out, ns, 3, 0);
}

/*
 * The beginning of a slice of a track, up to its arguments. Without a track it is an
 * asynchronous one, which may lie as it likes, and its end is put first.
 */
static void begin_slice(struct perfetto *perfetto, int group, const uint32_t *track,
			const char *category, const char *prefix, const char *name,
			size_t length, int64_t from, int64_t to)
{
	struct out *out = &perfetto->out;
	int part;

	for (part = track ? 1 : 0; part < 2; part++) {
		begin_event(perfetto);
		out_literal(out, "{\"ph\":\"");
		out_char(out, track ? 'X' : part ? 'b' : 'e');
		out_literal(out, "\",\"cat\":\"");
		out_text(out, category);
		out_literal(out, "\",\"name\":\"");
		out_text(out, prefix);
		out_bytes(out, name, length);
		out_literal(out, "\",\"pid\":");
		out_unsigned(out, group);
		if (track) {
			out_literal(out, ",\"tid\":");
			out_unsigned(out, *track);
		} else {
			out_literal(out, ",\"id\":");
			out_unsigned(out, perfetto->next_id);
		}
		put_us(out, ",\"ts\":", part ? from : to);
		if (!part)
			out_char(out, '}');
	}
	if (track)
		put_us(out, ",\"dur\":", to - from);
	else
		perfetto->next_id++;
	out_literal(out, ",\"args\":{");
}

static void end_slice(struct perfetto *perfetto)
{
	out_literal(&perfetto->out, "}}");
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

/* The name of an address, or its number. */
static const char *address_text(struct perfetto *perfetto, uint64_t address, char *number,
				size_t *length)
{
	const struct cached_name *name = names_cache_find(&perfetto->names, address);

	if (name->length) {
		*length = name->length;
		return name->text;
	}
	*length = snprintf(number, OUT_DIGITS, "0x%" PRIx64, address);
	return number;
}

static const char *yes_or_no(bool yes)
{
	return yes ? "true" : "false";
}

static void put_spinlock(struct perfetto *perfetto, const struct etl_event *event)
{
	char lock_number[OUT_DIGITS], caller_number[OUT_DIGITS];
	struct out *out = &perfetto->out;
	struct spinlock_record record;
	size_t lock_length, length;
	int64_t hold, wait, end;
	const struct lane *lane;
	const uint32_t *track;
	const char *lock, *caller;

	spinlock_record_read(&record, event);
	end = release_ns(perfetto, event, record.release_time);
	hold = record.release_time > record.acquire_time ?
		end - cycles_ns(perfetto, record.release_time - record.acquire_time) : end;
	wait = record.spin_count ? hold - cycles_ns(perfetto, record.wait_time) : hold;
	lane = find_lane(perfetto, GROUP_SPINLOCKS, event->processor, wait, hold, end);
	track = lane ? &lane->track : NULL;
	lock = address_text(perfetto, record.lock, lock_number, &lock_length);
	if (record.spin_count) {
		begin_slice(perfetto, GROUP_SPINLOCKS, track, "wait", "wait: ", lock,
			    lock_length, wait, hold);
		out_literal(out, "\"spins\":");
		out_unsigned(out, record.spin_count);
		end_slice(perfetto);
	}
	begin_slice(perfetto, GROUP_SPINLOCKS, track, "hold", "", lock, lock_length, hold, end);
	/* Of two in one place of the cache the first is not needed any more. */
	caller = address_text(perfetto, record.caller, caller_number, &length);
	out_literal(out, "\"caller\":\"");
	out_bytes(out, caller, length);
	out_literal(out, "\",\"thread\":");
	out_unsigned(out, record.thread_id);
	out_literal(out, ",\"depth\":");
	out_unsigned(out, record.depth);
	out_literal(out, ",\"dpc\":");
	out_text(out, yes_or_no(record.dpc));
	out_literal(out, ",\"isr\":");
	out_text(out, yes_or_no(record.isr));
	end_slice(perfetto);
}

static void put_resource(struct perfetto *perfetto, const struct etl_event *event)
{
	struct out *out = &perfetto->out;
	struct resource_record record;
	const char *class = "exclusive";
	char number[OUT_DIGITS];
	int64_t hold, wait, end;
	const struct lane *lane;
	const uint32_t *track;
	const char *name;
	size_t length;

	resource_record_read(&record, event);
	if (record.action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED)
		class = "shared";
	else if (record.action != WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE)
		return;
	end = ticks_ns(perfetto, event->time_stamp);
	hold = end - cycles_ns(perfetto, record.hold_time);
	/* Without the hold time it is not known when it waited. */
	wait = record.hold_time && record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ?
		hold - cycles_ns(perfetto, record.wait_time) : hold;
	lane = find_lane(perfetto, GROUP_RESOURCES, record.thread_id, wait, hold, end);
	track = lane ? &lane->track : NULL;
	name = address_text(perfetto, record.resource, number, &length);
	if (wait < hold) {
		begin_slice(perfetto, GROUP_RESOURCES, track, "wait", "wait: ", name, length,
			    wait, hold);
		out_literal(out, "\"class\":\"");
		out_text(out, class);
		out_char(out, '"');
		end_slice(perfetto);
	}
	begin_slice(perfetto, GROUP_RESOURCES, track, "hold", "", name, length, hold, end);
	out_literal(out, "\"class\":\"");
	out_text(out, class);
	out_literal(out, "\",\"contention\":");
	out_unsigned(out, record.contention_delta);
	end_slice(perfetto);
}

static void put_switch(struct perfetto *perfetto, const struct etl_event *event)
{
	int64_t now = ticks_ns(perfetto, event->time_stamp);
	char text[NAME_SIZE], escaped[NAMES_CACHE_TEXT];
	uint32_t processor = event->processor;
	struct contextswap_record record;
	struct out *out = &perfetto->out;
	struct track *track;
	const char *name;

	contextswap_record_read(&record, event);
	track = find_track(perfetto, GROUP_THREADS, processor);
	if (track && !track->lane_count) {
		track->lane_count = LANES_MAX;
		put_track_name(perfetto, GROUP_THREADS, processor, processor, 0);
	}
	if (record.old_thread_id && perfetto->running[processor].since <= now &&
	    perfetto->running[processor].thread_id == record.old_thread_id) {
		name = names_thread(perfetto->conversion->names, record.old_thread_id);
		snprintf(text, sizeof(text), "%.200s %u", name ? name : "thread",
			 record.old_thread_id);
		begin_slice(perfetto, GROUP_THREADS, &processor, "run", "", escaped,
			    names_format_json(escaped, text), perfetto->running[processor].since,
			    now);
		out_literal(out, "\"state\":");
		out_unsigned(out, record.old_thread_state);
		out_literal(out, ",\"wait_reason\":");
		out_unsigned(out, record.old_thread_wait_reason);
		end_slice(perfetto);
	}
	perfetto->running[processor].thread_id = record.new_thread_id;
	perfetto->running[processor].since = now;
}

static void free_tracks(struct perfetto *perfetto)
{
	struct track *track, *next;
	size_t i;

	HASH_ITER(hh, perfetto->tracks, track, next) {
		HASH_DEL(perfetto->tracks, track);
		for (i = 0; i < LANES_MAX; i++)
			free(track->lanes[i]);
		free(track);
	}
}

static void put_events(struct perfetto *perfetto)
{
	const struct event_type *type;
	struct etl_event event;

	while (!ferror(perfetto->out.stream) &&
	       conversion_next(perfetto->conversion, &event, &type)) {
		if (event.hook_id == PERFINFO_LOG_TYPE_SPINLOCK)
			put_spinlock(perfetto, &event);
		else if (event.hook_id == PERFINFO_LOG_TYPE_RESOURCE)
			put_resource(perfetto, &event);
		else if (event.hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP)
			put_switch(perfetto, &event);
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
	perfetto->names.names = conversion->names;
	perfetto->names.format = names_format_json;
	perfetto->first = true;
	perfetto->next_track = FIRST_OTHER_TRACK;
	perfetto->ns_per_tick = 1e9 / (double)conversion->file->perf_freq;
	out_literal(&perfetto->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	put_name(perfetto, GROUP_SPINLOCKS, NULL, "spin locks, by processor");
	put_name(perfetto, GROUP_RESOURCES, NULL, "resources, by thread");
	put_name(perfetto, GROUP_THREADS, NULL, "threads, by processor");
	put_events(perfetto);
	out_literal(&perfetto->out, "\n]}\n");
	out_flush(&perfetto->out);
	err = finish_output(stream, path);
	if (stream != stdout)
		fclose(stream);
	free_tracks(perfetto);
	free(perfetto);
	return err;
}
