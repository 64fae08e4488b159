// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack of a slice: among its arguments, which viewers show, and as the number of its
 * innermost frame, by which Chrome finds it in a table of all frames.
 */

#include <stdlib.h>

#include "perfetto_slice.h"

/* A stack is left out of the table if it would need more frames than this. */
#define FRAMES_MAX	0x10000

/*
 * @address: return address
 * @caller: number of the frame of the caller, or 0 for the outermost frame
 */
struct frame_key {
	uint64_t address;
	uint64_t caller;
};

/*
 * @key: address and caller: one function called from two places has two frames
 * @number: of the frame, from 1 on
 * @hh: entry of the hash table
 */
struct perfetto_frame {
	struct frame_key key;
	uint64_t number;
	UT_hash_handle hh;
};

/* Return the number of the stack's innermost frame, or 0 if there are too many frames. */
static uint64_t find_frames(struct perfetto *perfetto, const struct stack *stack)
{
	struct frame_key key = { .caller = 0 };
	struct perfetto_frame *frame;
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

/* Put the symbol of an instruction, or its address. */
static void put_address(struct perfetto *perfetto, uint64_t address)
{
	const struct cached_name *name = names_cache_find(&perfetto->code, address);

	if (name->length)
		out_bytes(&perfetto->out, name->text, name->length);
	else
		out_hex(&perfetto->out, address);
}

/**
 * perfetto_end_slice_with_stack() - put the event's stack and the end of a slice
 * @perfetto: state of the conversion
 * @to: end of the slice's last argument, in the memory from perfetto_reserve()
 */
void perfetto_end_slice_with_stack(struct perfetto *perfetto, const char *to)
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

/**
 * perfetto_put_frames() - put the table of all frames
 * @perfetto: state of the conversion
 */
void perfetto_put_frames(struct perfetto *perfetto)
{
	struct out *out = &perfetto->out;
	const struct perfetto_frame *frame;

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

/**
 * perfetto_free_frames() - free the table of all frames
 * @perfetto: state of the conversion
 */
void perfetto_free_frames(struct perfetto *perfetto)
{
	struct perfetto_frame *frame, *next;

	HASH_ITER(hh, perfetto->frames, frame, next) {
		HASH_DEL(perfetto->frames, frame);
		free(frame);
	}
}
