// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of a slice. Times are whole nanoseconds, so that slices that touch do not overlap by
 * rounding.
 */

#include <stdio.h>

#include "perfetto_slice.h"
#include "text.h"

/* Upper limit of the JSON of an event: up to four parts of slices, with names in each. */
#define EVENT_SIZE	(4 * (2 * NAMES_CACHE_TEXT + 512) + PUT_MORE)

static void begin_event(struct perfetto *perfetto)
{
	if (perfetto->has_output)
		out_literal(&perfetto->out, ",\n");
	else
		out_literal(&perfetto->out, "\n");
	perfetto->has_output = true;
}

/**
 * perfetto_put_name() - name a group or a track
 * @perfetto: state of the conversion
 * @group: group to name, or group of the track
 * @track: number of the track's lane to name, or NULL to name the group
 * @name: name, not yet escaped
 */
void perfetto_put_name(struct perfetto *perfetto, enum perfetto_group group,
		       const uint32_t *track, const char *name)
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

/**
 * perfetto_put_track_name() - name a lane after its CPU or thread
 * @perfetto: state of the conversion
 * @group: group of the track
 * @number: number of the CPU, or id of the thread
 * @track: number of the lane
 * @lane: index of the lane in the track, which the name of any but the first one shows
 */
void perfetto_put_track_name(struct perfetto *perfetto, enum perfetto_group group, uint32_t number,
			     uint32_t track, unsigned int lane)
{
	char text[NAME_SIZE], more[32] = "";
	const char *name;

	if (lane)
		snprintf(more, sizeof(more), " (%u)", lane + 1);
	if (group == PERFETTO_RESOURCES) {
		name = names_thread(perfetto->conversion->names, number);
		snprintf(text, sizeof(text), "%.200s %u%s", name ? name : "thread", number, more);
		/* snprintf() may have cut the name within a character. */
		text_clean(text);
	} else {
		snprintf(text, sizeof(text), "cpu %u%s", number, more);
	}
	perfetto_put_name(perfetto, group, &track, text);
}

/**
 * perfetto_cpu_track() - find or make the track of a CPU
 * @perfetto: state of the conversion, which keeps the CPU's tracks at hand
 * @group: PERFETTO_SPINLOCKS or PERFETTO_THREADS
 * @cpu: number of the CPU
 *
 * Return: the track, or NULL if there are too many tracks or no memory.
 */
struct perfetto_track *perfetto_cpu_track(struct perfetto *perfetto, enum perfetto_group group,
					  uint32_t cpu)
{
	struct perfetto_track **track = group == PERFETTO_SPINLOCKS ?
		&perfetto->running[cpu].spinlocks : &perfetto->running[cpu].threads;

	if (!*track)
		*track = perfetto_track_find(&perfetto->tracks, group, cpu);
	return *track;
}

/**
 * perfetto_find_lane() - find a lane for a wait and the hold behind it
 * @perfetto: state of the conversion
 * @track: track of the CPU or the thread, or NULL
 * @wait: begin of the wait, ns
 * @hold: begin of the hold, ns
 * @end: end of the hold, ns
 *
 * A lane that is new gets a name.
 *
 * Return: number of the lane, or NULL if none has room.
 */
const uint32_t *perfetto_find_lane(struct perfetto *perfetto, struct perfetto_track *track,
				   int64_t wait, int64_t hold, int64_t end)
{
	unsigned int lanes = track ? track->lane_count : 0;
	const struct perfetto_lane *lane = perfetto_lane_find(&perfetto->tracks, track, wait,
							      hold, end);

	if (lane && track->lane_count > lanes)
		perfetto_put_track_name(perfetto, track->key.group, track->key.number,
					lane->number, lanes);
	return lane ? &lane->number : NULL;
}

/**
 * perfetto_reserve() - reserve room for the JSON of an event
 * @perfetto: state of the conversion
 *
 * perfetto_end_slice_with_stack() ends the reservation.
 *
 * Return: where the JSON goes; EVENT_SIZE bytes.
 */
char *perfetto_reserve(struct perfetto *perfetto)
{
	return out_room(&perfetto->out, EVENT_SIZE);
}

/* Put microseconds with three decimals. */
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

/**
 * perfetto_begin_slice() - put a slice, up to the first of its arguments
 * @perfetto: state of the conversion
 * @to: where the JSON goes
 * @slice: slice to put
 *
 * A slice without a lane becomes an asynchronous event, which may overlap others. Its end is put
 * before its begin, because the arguments are the begin's.
 *
 * Return: the end of the JSON.
 */
char *perfetto_begin_slice(struct perfetto *perfetto, char *to, const struct perfetto_slice *slice)
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

/**
 * perfetto_end_slice() - put the end of a slice that has no stack
 * @to: behind the last argument
 *
 * Return: the end of the JSON.
 */
char *perfetto_end_slice(char *to)
{
	return put_literal(to, "}}");
}
