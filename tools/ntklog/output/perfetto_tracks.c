// SPDX-License-Identifier: GPL-2.0-only

#include <stdbool.h>

#include "perfetto_tracks.h"

#define TRACKS_MAX	65536

/**
 * perfetto_track_find() - find or make a track
 * @tracks: all tracks
 * @group: group of the track
 * @number: number of the CPU, id of the task, or key of the class of locks
 *
 * Return: the track, or NULL if there are too many tracks or no memory.
 */
struct perfetto_track *perfetto_track_find(struct perfetto_tracks *tracks,
					   enum track_group group, uint64_t number)
{
	const struct perfetto_track wanted = { .key = { group, number } };
	uint64_t mixed = (number + group) * UINT64_C(0x9E3779B97F4A7C15);
	struct perfetto_track **recent =
		&tracks->recent_tracks[mixed >> (64 - PERFETTO_RECENT_TRACK_BITS)];
	struct perfetto_track *track = *recent;

	if (track && track->key.number == number && track->key.group == group)
		return track;
	hash_find_or_add(tracks->track_table, key, &wanted.key, TRACKS_MAX, track);
	*recent = track;
	return track;
}

/**
 * perfetto_take_number() - get a number for a lane or a counter
 * @tracks: all tracks
 *
 * Return: the number.
 */
uint64_t perfetto_take_number(struct perfetto_tracks *tracks)
{
	if (tracks->last_number < PERFETTO_GROUPS)
		tracks->last_number = PERFETTO_GROUPS;
	return ++tracks->last_number;
}

/* Test whether a slice that begins at a time may cross the end of an interval of the lane. */
static bool begin_may_cross(const struct perfetto_lane *lane, int64_t time)
{
	unsigned int i;

	if (time < lane->forgotten_end_ns)
		return true;
	for (i = lane->interval_count; i-- > 0 && lane->intervals[i].end_ns > time;)
		if (lane->intervals[i].begin_ns <= time)
			return true;
	return false;
}

static void add_interval(struct perfetto_lane *lane, int64_t from, int64_t to)
{
	/* Intervals within the new one do not matter any more. */
	while (lane->interval_count && lane->intervals[lane->interval_count - 1].begin_ns >= from)
		lane->interval_count--;
	if (lane->interval_count == PERFETTO_INTERVALS_MAX) {
		lane->forgotten_end_ns = lane->intervals[0].end_ns;
		memmove(lane->intervals, lane->intervals + 1,
			(PERFETTO_INTERVALS_MAX - 1) * sizeof(*lane->intervals));
		lane->interval_count--;
	}
	lane->intervals[lane->interval_count++] = (struct perfetto_interval) { from, to };
}

/**
 * perfetto_lane_find() - find or make a lane in which a wait and a hold nest with all slices
 * @tracks: all tracks
 * @track: track to search, or NULL
 * @wait_begin_ns: begin of the wait, ns
 * @hold_begin_ns: begin of the hold, ns
 * @hold_end_ns: end of the hold, ns; calls come nearly in the order of @hold_end_ns
 *
 * Return: the lane, to which the interval was added; NULL if slices of all lanes overlap it, or
 * without memory.
 */
const struct perfetto_lane *perfetto_lane_find(struct perfetto_tracks *tracks,
					       struct perfetto_track *track, int64_t wait_begin_ns,
					       int64_t hold_begin_ns, int64_t hold_end_ns)
{
	struct perfetto_lane *lane;
	unsigned int i;

	for (i = 0; track && i < track->lane_count; i++) {
		lane = track->lanes[i];
		if (lane->interval_count &&
		    lane->intervals[lane->interval_count - 1].end_ns > hold_end_ns)
			continue;
		if (!begin_may_cross(lane, wait_begin_ns) && !begin_may_cross(lane, hold_begin_ns))
			goto found;
	}
	if (!track || i == PERFETTO_LANES_MAX)
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->forgotten_end_ns = INT64_MIN;
	lane->number = perfetto_take_number(tracks);
	track->lanes[track->lane_count++] = lane;
found:
	add_interval(lane, wait_begin_ns, hold_end_ns);
	return lane;
}

/**
 * perfetto_tracks_free() - free all tracks
 * @tracks: all tracks
 */
void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
	struct perfetto_track *track;
	size_t i;

	timelines_free(&tracks->timelines);
	while ((track = hash_take_first(tracks->track_table))) {
		for (i = 0; i < PERFETTO_LANES_MAX; i++)
			free(track->lanes[i]);
		free(track);
	}
}
