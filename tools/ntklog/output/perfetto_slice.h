/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERFETTO_SLICE_H
#define _NTKLOG_PERFETTO_SLICE_H

/* The JSON of a slice: an interval of a track, with a name, arguments and a stack. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert.h"
#include "hash.h"
#include "names_cache.h"
#include "out.h"
#include "perfetto_tracks.h"
#include "put.h"

/* Groups of tracks. A viewer shows each group as a process. */
enum perfetto_group {
	PERFETTO_SPINLOCKS = 1,
	PERFETTO_RESOURCES,
	PERFETTO_THREADS,
};

struct perfetto_frame;

/**
 * struct perfetto - state of a conversion
 * @out: JSON that has not been written yet
 * @conversion: trace to convert, with the stack of the current event
 * @locks: names of locks, escaped for JSON
 * @code: names of instructions, escaped for JSON
 * @threads: names of threads, escaped for JSON
 * @has_output: an event has been written, so that the next one needs a comma before it
 * @tracks: tracks of CPUs and threads, and the lanes of each
 * @next_id: id of the next slice that fits into no lane
 * @ns_per_tick: nanoseconds per tick of the session's clock
 * @frames: hash table of the frames of all stacks, in the order of their numbers
 * @running: by CPU: the thread that runs there, or 0 if it is not known; since when, ns; and the
 *	CPU's tracks, or NULL before their first use
 */
struct perfetto {
	struct out out;
	struct conversion *conversion;
	struct names_cache locks;
	struct names_cache code;
	struct names_cache threads;
	bool has_output;
	struct perfetto_tracks tracks;
	uint64_t next_id;
	double ns_per_tick;
	struct perfetto_frame *frames;
	struct {
		uint32_t thread_id;
		int64_t since;
		struct perfetto_track *spinlocks;
		struct perfetto_track *threads;
	} running[UINT16_MAX + 1];
};

/**
 * struct perfetto_slice - an interval of a track
 * @group: group of the track
 * @track: number of the track's lane, or NULL if no lane has room
 * @category: category, which viewers can select slices by
 * @prefix: text before the name
 * @name: name, escaped for JSON, with PUT_MORE readable bytes behind its end
 * @length: bytes of @name
 * @from: begin, ns
 * @to: end, ns
 */
struct perfetto_slice {
	enum perfetto_group group;
	const uint32_t *track;
	const char *category;
	const char *prefix;
	const char *name;
	size_t length;
	int64_t from;
	int64_t to;
};

void perfetto_put_name(struct perfetto *perfetto, enum perfetto_group group,
		       const uint32_t *track, const char *name);
void perfetto_put_track_name(struct perfetto *perfetto, enum perfetto_group group, uint32_t number,
			     uint32_t track, unsigned int lane);
struct perfetto_track *perfetto_cpu_track(struct perfetto *perfetto, enum perfetto_group group,
					  uint32_t cpu);
const uint32_t *perfetto_find_lane(struct perfetto *perfetto, struct perfetto_track *track,
				   int64_t wait, int64_t hold, int64_t end);
char *perfetto_reserve(struct perfetto *perfetto);
char *perfetto_begin_slice(struct perfetto *perfetto, char *to,
			   const struct perfetto_slice *slice);
char *perfetto_end_slice(char *to);
void perfetto_end_slice_with_stack(struct perfetto *perfetto, const char *to);
void perfetto_put_frames(struct perfetto *perfetto);
void perfetto_free_frames(struct perfetto *perfetto);

#endif /* _NTKLOG_PERFETTO_SLICE_H */
