// SPDX-License-Identifier: GPL-2.0-only
/* Where slices find room. */

#include <stdbool.h>

#include "perfetto_tracks.h"

/* Threads that have tracks of their own resources. */
#define TRACKS_MAX	65536

/* Tracks of lanes but the first, which is that of the processor or thread. */
#define FIRST_OTHER_TRACK	0x60000000u

/**
 * perfetto_track_find() - find or make a track
 * @tracks: of which
 * @group: of tracks
 * @number: in the group
 *
 * Return: the track, or NULL: there is no room for one more.
 */
struct perfetto_track *perfetto_track_find(struct perfetto_tracks *tracks, uint32_t group,
					   uint32_t number)
{
	const struct perfetto_track wanted = { .key = { group, number } };
	struct perfetto_track *track;

	hash_find_or_add(tracks->table, key, &wanted.key, TRACKS_MAX, track);
	return track;
}

/* Is this time within an interval of the lane, and so what begins then across its end? */
static bool is_within(const struct perfetto_lane *lane, int64_t time)
{
	unsigned int i;

	if (time < lane->forgotten)
		return true;
	for (i = lane->count; i-- > 0 && lane->intervals[i].to > time;)
		if (lane->intervals[i].from < time)
			return true;
	return false;
}

static void add_interval(struct perfetto_lane *lane, int64_t from, int64_t to)
{
	/* What lies within the new one is not looked at any more. */
	while (lane->count && lane->intervals[lane->count - 1].from >= from)
		lane->count--;
	if (lane->count == PERFETTO_INTERVALS_MAX) {
		lane->forgotten = lane->intervals[0].to;
		memmove(lane->intervals, lane->intervals + 1,
			(PERFETTO_INTERVALS_MAX - 1) * sizeof(*lane->intervals));
		lane->count--;
	}
	lane->intervals[lane->count++] = (struct perfetto_interval) { from, to };
}

/**
 * perfetto_lane_find() - a lane where what begins at these two times is not across anything
 * @tracks: that the track is of
 * @track: the track, or NULL
 * @wait: the one, ns
 * @hold: the other
 * @end: of both; ends come in order, nearly
 *
 * Return: the lane, where the interval is then, and which may be the track's newest; or NULL:
 * there is none.
 */
const struct perfetto_lane *perfetto_lane_find(struct perfetto_tracks *tracks,
					       struct perfetto_track *track, int64_t wait,
					       int64_t hold, int64_t end)
{
	struct perfetto_lane *lane;
	unsigned int i;

	for (i = 0; track && i < track->lane_count; i++) {
		lane = track->lanes[i];
		if (lane->count && lane->intervals[lane->count - 1].to > end)
			continue;
		if (!is_within(lane, wait) && !is_within(lane, hold))
			goto found;
	}
	if (!track || i == PERFETTO_LANES_MAX)
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->forgotten = INT64_MIN;
	lane->number = i ? FIRST_OTHER_TRACK + tracks->others++ : track->key.number;
	track->lanes[track->lane_count++] = lane;
found:
	add_interval(lane, wait, end);
	return lane;
}

/**
 * perfetto_tracks_free() - let them go
 * @tracks: all
 */
void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
	struct perfetto_track *track, *next;
	size_t i;

	HASH_ITER(hh, tracks->table, track, next) {
		HASH_DEL(tracks->table, track);
		for (i = 0; i < PERFETTO_LANES_MAX; i++)
			free(track->lanes[i]);
		free(track);
	}
}
