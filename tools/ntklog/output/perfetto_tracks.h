/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERFETTO_TRACKS_H
#define _NTKLOG_PERFETTO_TRACKS_H

/*
 * Tracks and their lanes. Viewers require that the slices of a lane nest: two slices may be apart,
 * or one within the other. A slice that would cross another one goes to another lane. So does a
 * slice that begins at the same time as another one, because Perfetto nests the two in the order
 * of their packets.
 */

#include <stdint.h>

#include "hash.h"
#include "timeline.h"

/* Groups of tracks, which are their parents. */
enum track_group {
	PERFETTO_SPINLOCKS = 1,
	PERFETTO_RESOURCES,
	PERFETTO_THREADS,
	PERFETTO_CLASSES,
	PERFETTO_GROUPS,
};

#define PERFETTO_LANES_MAX	8

/*
 * Greatest number of intervals that a lane remembers. A slice that begins before the end of a
 * forgotten one goes to another lane.
 */
#define PERFETTO_INTERVALS_MAX	24

struct perfetto_interval {
	int64_t begin_ns;
	int64_t end_ns;
};

/*
 * @intervals: intervals of slices without those within others; the newest is the last
 * @forgotten_end_ns: latest end of a forgotten interval, ns
 */
struct perfetto_lane {
	uint64_t number;
	struct perfetto_interval intervals[PERFETTO_INTERVALS_MAX];
	unsigned int interval_count;
	int64_t forgotten_end_ns;
};

/*
 * Track of a CPU, a task or a class of locks.
 * @key: group, and number of the CPU, id of the task or key of the class
 * @wait_timeline: nanoseconds waited for the class in each slot, or NULL
 */
struct perfetto_track {
	struct {
		uint64_t group;
		uint64_t number;
	} key;
	struct perfetto_lane *lanes[PERFETTO_LANES_MAX];
	unsigned int lane_count;
	struct timeline *wait_timeline;
	UT_hash_handle hh;
};

/* Binary logarithm of the number of entries of recent_tracks. */
#define PERFETTO_RECENT_TRACK_BITS	10

/*
 * All tracks; all zero if there are none.
 * @recent_tracks: by a hash of group and number: a track of this hash, or NULL
 * @last_number: highest number of a lane or a counter, above those of the groups
 */
struct perfetto_tracks {
	struct perfetto_track *track_table;
	struct perfetto_track *recent_tracks[1 << PERFETTO_RECENT_TRACK_BITS];
	uint64_t last_number;
	struct timelines timelines;
};

struct perfetto_track *perfetto_track_find(struct perfetto_tracks *tracks,
					   enum track_group group, uint64_t number);
uint64_t perfetto_take_number(struct perfetto_tracks *tracks);
const struct perfetto_lane *perfetto_lane_find(struct perfetto_tracks *tracks,
					       struct perfetto_track *track, int64_t wait_begin_ns,
					       int64_t hold_begin_ns, int64_t hold_end_ns);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

#endif /* _NTKLOG_PERFETTO_TRACKS_H */
