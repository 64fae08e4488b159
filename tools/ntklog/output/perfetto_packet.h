/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERFETTO_PACKET_H
#define _NTKLOG_PERFETTO_PACKET_H

/*
 * The packets of a Perfetto trace: tracks, slices, counters, and the names and stacks that slices
 * refer to. Perfetto sorts packets by their time, so a slice is written when it has ended.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert.h"
#include "out.h"
#include "perfetto.pb-c.h"
#include "perfetto_tracks.h"

#define PERFETTO_ARGUMENTS_MAX	6

/* Categories of slices, by which viewers select them. */
enum perfetto_category {
	PERFETTO_WAIT = 1,
	PERFETTO_CLASS_WAIT,	/* a wait once more, on a track of its class */
	PERFETTO_HOLD,
	PERFETTO_RELEASE,
	PERFETTO_RUN,
	PERFETTO_CATEGORIES,
};

enum perfetto_argument_kind {
	PERFETTO_SPINS = 1,
	PERFETTO_CALLER,
	PERFETTO_THREAD,
	PERFETTO_DEPTH,
	PERFETTO_DPC,
	PERFETTO_ISR,
	PERFETTO_KIND,
	PERFETTO_CLASS,
	PERFETTO_CONTENTION,
	PERFETTO_OPEN,
	PERFETTO_STATE,
	PERFETTO_WAIT_REASON,
	PERFETTO_ARGUMENTS,
};

/* Kinds of names. Each has its own kind of value. */
enum perfetto_name_kind {
	PERFETTO_LOCK_NAME,	/* key of a lock's class */
	PERFETTO_WAIT_NAME,	/* the same; the name of the wait for it */
	PERFETTO_RELEASE_NAME,	/* the same; the name of its release */
	PERFETTO_TASK_NAME,	/* id of a task */
	PERFETTO_CODE_TEXT,	/* address of an instruction; a text of an argument */
	PERFETTO_TEXT,		/* address of a text that stays; a text of an argument */
	PERFETTO_FRAME,		/* address of an instruction; a frame of stacks */
	PERFETTO_STACK,		/* the same, with the number of the caller's stack */
};

/* Binary logarithm of the number of entries of recent_interned. */
#define PERFETTO_RECENT_BITS	12

struct perfetto_interned;

/*
 * @recent_interned: by a hash of kind and value: a name of this hash, or NULL
 * @start_ns: time of the trace's start, to which all times are added
 */
struct perfetto_writer {
	struct out_buffer out;
	struct conversion *conversion;
	struct perfetto_tracks tracks;
	struct perfetto_interned *interned;
	const struct perfetto_interned *recent_interned[1 << PERFETTO_RECENT_BITS];
	bool fixed_names_are_put;
	uint64_t last_interned_number;
	uint64_t start_ns;
	bool no_memory;
};

/* @value: of PERFETTO_IS_TEXT the number of the text */
struct perfetto_argument {
	enum perfetto_argument_kind argument;
	enum {
		PERFETTO_IS_NUMBER,
		PERFETTO_IS_BOOL,
		PERFETTO_IS_TEXT,
	} type;
	uint64_t value;
};

/*
 * An interval of a track, or an instant.
 * @track: number of the track's lane
 * @end_ns: end, ns; not used of an instant
 * @next_flow_number: number of the flow that begins in the slice, or 0
 * @previous_flow_number: number of the flow that ends at the slice's end, or 0; not used of an
 *	instant
 */
struct perfetto_slice {
	uint64_t track;
	enum perfetto_category category;
	uint64_t name;
	int64_t begin_ns;
	int64_t end_ns;
	uint64_t next_flow_number;
	uint64_t previous_flow_number;
	uint64_t stack;
	size_t argument_count;
	struct perfetto_argument arguments[PERFETTO_ARGUMENTS_MAX];
};

void perfetto_add_number(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
			 uint64_t value);
void perfetto_add_bool(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
		       bool value);
void perfetto_add_text(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
		       uint64_t number);
void perfetto_put_groups(struct perfetto_writer *perfetto);
uint64_t perfetto_find_lane(struct perfetto_writer *perfetto, enum track_group group,
			    uint64_t track_owner, int64_t wait_begin_ns,
			    int64_t hold_begin_ns, int64_t hold_end_ns);
void perfetto_put_slice(struct perfetto_writer *perfetto, struct perfetto_slice *slice);
void perfetto_put_instant(struct perfetto_writer *perfetto, struct perfetto_slice *slice);
void perfetto_put_counters(struct perfetto_writer *perfetto);
void perfetto_put_interned(struct perfetto_writer *perfetto, Perfetto__InternedData *interned,
			   bool is_first);
void perfetto_format_task_name(const struct names *names, uint32_t thread_id, char *text,
			       size_t size);
bool perfetto_must_renew_interned(const struct perfetto_writer *perfetto);
void perfetto_renew_interned(struct perfetto_writer *perfetto);
uint64_t perfetto_intern(struct perfetto_writer *perfetto, enum perfetto_name_kind name,
			 uint64_t value);
uint64_t perfetto_intern_stack(struct perfetto_writer *perfetto, const struct stack *stack);
void perfetto_free_interned(struct perfetto_writer *perfetto);

#endif /* _NTKLOG_PERFETTO_PACKET_H */
