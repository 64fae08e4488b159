/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERFETTO_TRACKS_H
#define _NTKLOG_PERFETTO_TRACKS_H

/*
 * Tracks and their lanes. Viewers require that the slices of a lane nest: two slices may be apart,
 * or one within the other. A slice that would cross another one goes to another lane.
 */

#include <stdint.h>

#include "hash.h"

/* Most lanes of a track: NT tracks 8 spin locks of a processor and 8 resources of a thread. */
#define PERFETTO_LANES_MAX	8

/* Most intervals that a lane remembers. A slice that begins before them goes to another lane. */
#define PERFETTO_INTERVALS_MAX	24

struct perfetto_interval {
	int64_t from;
	int64_t to;
};

/**
 * struct perfetto_lane - a lane of a track
 * @number: number of the lane in the output
 * @intervals: intervals of slices without those within others; the newest is the last
 * @count: number of @intervals
 * @forgotten: time before which intervals were dropped, ns
 */
struct perfetto_lane {
	uint32_t number;
	struct perfetto_interval intervals[PERFETTO_INTERVALS_MAX];
	unsigned int count;
	int64_t forgotten;
};

/**
 * struct perfetto_track - track of a processor or a thread
 * @key: group, and number of the processor or id of the thread
 * @lanes: lanes of the track
 * @lane_count: number of @lanes
 * @hh: entry of the hash table
 */
struct perfetto_track {
	struct {
		uint32_t group;
		uint32_t number;
	} key;
	struct perfetto_lane *lanes[PERFETTO_LANES_MAX];
	unsigned int lane_count;
	UT_hash_handle hh;
};

/**
 * struct perfetto_tracks - all tracks; all zero if there are none
 * @table: hash table of tracks
 * @others: number of lanes that are not the first one of their track
 */
struct perfetto_tracks {
	struct perfetto_track *table;
	uint32_t others;
};

struct perfetto_track *perfetto_track_find(struct perfetto_tracks *tracks, uint32_t group,
					   uint32_t number);
const struct perfetto_lane *perfetto_lane_find(struct perfetto_tracks *tracks,
					       struct perfetto_track *track, int64_t wait,
					       int64_t hold, int64_t end);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

#endif /* _NTKLOG_PERFETTO_TRACKS_H */
