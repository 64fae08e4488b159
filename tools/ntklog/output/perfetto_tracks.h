/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERFETTO_TRACKS_H
#define _NTKLOG_PERFETTO_TRACKS_H

/*
 * Where slices find room: those of a track have to lie within each other or apart, so that
 * what would be across another goes to another lane.
 */

#include <stdint.h>

#include "hash.h"

/* Of a processor or a thread: NT tracks 8 locks, and 8 resources, at once. */
#define PERFETTO_LANES_MAX	8

/* Intervals of a lane that are remembered: what begins before them finds no place there. */
#define PERFETTO_INTERVALS_MAX	24

struct perfetto_interval {
	int64_t from;
	int64_t to;
};

/**
 * struct perfetto_lane - a lane of a track
 * @number: of it, among all
 * @intervals: of slices, those within others left out; the last is the newest
 * @count: of them
 * @forgotten: nothing before this is known
 */
struct perfetto_lane {
	uint32_t number;
	struct perfetto_interval intervals[PERFETTO_INTERVALS_MAX];
	unsigned int count;
	int64_t forgotten;
};

/**
 * struct perfetto_track - of a processor or a thread
 * @key: group and number
 * @lanes: of it
 * @lane_count: of them
 * @hh: in the table
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
 * struct perfetto_tracks - all; all zero: none
 * @table: of them
 * @others: lanes but the first of a track
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
