// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events with their stacks. Where a file has none, which its first buffers tell, or else the first
 * stack that comes, each event is given as it is. Where it has, events are copied into a queue of
 * STACKS_PENDING and given when it is full.
 */

#define _GNU_SOURCE

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>

#include "etl_reader.h"
#include "event_type.h"
#include "message.h"
#include "stack_keys.h"
#include "stack_rundowns.h"
#include "stacks.h"
#include "wmi_record.h"

/* Of each processor, buffers at the start in which stacks are looked for. */
#define LOOK_BUFFERS	2

/* The largest value of fit(): same CPU, same thread, and no stack yet. */
#define BEST_FIT	6

/*
 * An event that is kept.
 *
 * @event: it; points into @bytes
 * @bytes: a copy of all of it
 * @room: bytes at @bytes
 * @stack: of it; points to @addresses
 * @has_stack: there is one
 * @address_room: of @addresses
 */
struct kept {
	struct etl_event event;
	unsigned char *bytes;
	size_t room;
	struct stack stack;
	bool has_stack;
	uint64_t *addresses;
	size_t address_room;
};

/*
 * @file: that is read
 * @next: gives its events
 * @from: likewise
 * @has_stacks: a stack has been seen, or stacks were enabled in the trace
 * @has_ended: it has no more events
 * @kept: the queue
 * @first: the next one to be given
 * @count: of @kept that are in use
 * @given: @first has been
 * @keys: definitions of keys
 * @rundowns: which events are expected to have a stack
 * @counts: numbers of found, missing and unknown stacks
 */
struct stacks {
	struct etl_file *file;
	stacks_next_t next;
	void *from;
	bool has_stacks;
	bool has_ended;
	struct kept *kept;
	size_t first;
	size_t count;
	bool given;
	struct stack_keys keys;
	struct stack_rundowns rundowns;
	struct stacks_counts counts;
};

static void look_at_buffers(struct stacks *stacks, struct etl_reader *reader)
{
	uint8_t *seen = calloc(UINT16_MAX + 1, sizeof(*seen));
	uint64_t *last = calloc(UINT16_MAX + 1, sizeof(*last));
	struct etl_cursor cursor = { 0 };
	struct etl_event event;
	struct etl_stack stack;
	uint64_t number;
	size_t i;

	for (i = 1; seen && last && i < reader->file.buffers + UINT16_MAX + 1; i++) {
		if (i < reader->file.buffers) {
			number = reader->places[i].number;
			if (seen[reader->places[i].processor]++ >= LOOK_BUFFERS) {
				seen[reader->places[i].processor]--;
				last[reader->places[i].processor] = number;
				continue;
			}
		} else {
			number = last[i - reader->file.buffers];
			if (!number)
				continue;
		}
		if (!etl_read_buffer(reader, &cursor, number))
			continue;
		while (cursor.next < cursor.end &&
		       etl_parse_event_quietly(reader, &cursor, &event) == 1) {
			if (stack_rundowns_is_one(&event))
				stack_rundowns_add(&stacks->rundowns, &event);
			else if (!etl_read_stack(&stack, &reader->file, &event))
				stacks->has_stacks |= stack.kind != ETL_STACK_NONE;
		}
	}
	stacks->has_stacks |= stacks->rundowns.count > 0;
	free(cursor.buffer);
	free(seen);
	free(last);
}

/* Read the definitions of keys, which may be anywhere in the file. Only Windows writes them. */
static void read_definitions(struct stacks *stacks, const struct etl_reader *reader)
{
	struct etl_reader copy = *reader;
	const struct etl_event *event;
	struct etl_stack stack;

	copy.cursor.buffer = NULL;
	copy.cursor.next = 0;
	copy.cursor.end = 0;
	copy.next_place = 0;
	while ((event = etl_next_event(&copy.file)))
		if (!etl_read_stack(&stack, &copy.file, event) &&
		    (stack.kind == ETL_STACK_DEFINITION || stack.kind == ETL_STACK_DELETION)) {
			stack_keys_define(&stacks->keys, event, &stack);
			stacks->has_stacks = true;
		}
	free(copy.cursor.buffer);
}

/**
 * stacks_open() - begin to read events with their stacks
 * @file: that is open; its place and error stay
 * @next: gives its events, one after the other; each may be gone when the next one comes
 * @from: argument for @next
 *
 * Return: the reading, or NULL: there is no memory.
 */
struct stacks *stacks_open(struct etl_file *file, stacks_next_t next, void *from)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	const struct etl_reader *reader = etl_const_reader(file);
	struct etl_reader copy = *reader;

	if (!stacks)
		return NULL;
	stacks->file = file;
	stacks->next = next;
	stacks->from = from;
	stacks->kept = calloc(STACKS_PENDING, sizeof(*stacks->kept));
	if (!stacks->kept) {
		free(stacks);
		return NULL;
	}
	/* A stream is not looked at: it comes once. */
	if (reader->input)
		return stacks;
	look_at_buffers(stacks, &copy);
	if (etl_may_have_names(reader))
		read_definitions(stacks, reader);
	return stacks;
}

static struct kept *kept_at(struct stacks *stacks, size_t number)
{
	return &stacks->kept[(stacks->first + number) % STACKS_PENDING];
}

/* Whose is it, as the event says? */
static bool is_of_thread(const struct etl_event *event, uint32_t thread_id, bool *says)
{
	const struct event_type *type = event_type_find(event);
	struct contextswap_record contextswap;
	struct spinlock_record spinlock;
	struct resource_record resource;

	*says = type && event->data_size == type->size[event->pointer_size == 8];
	if (!*says)
		return false;
	switch (type->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		return spinlock.thread_id == thread_id;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		return resource.thread_id == thread_id;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		/* Windows walks the one that goes on, ntklog the one that has been. */
		contextswap_record_read(&contextswap, event);
		return contextswap.old_thread_id == thread_id ||
		       contextswap.new_thread_id == thread_id;
	default:
		*says = false;
		return false;
	}
}

/*
 * Rate how well a stack fits an event that has the stack's time stamp. With a coarse clock several
 * events may have the same time stamp.
 *
 * Return: 0 if the stack cannot belong to the event, at most BEST_FIT; the largest value wins.
 */
static unsigned int fit(const struct kept *kept, const struct etl_event *event,
			const struct etl_stack *stack)
{
	bool here = kept->event.processor == event->processor, says, is_own;

	if (kept->has_stack && kept->stack.state == STACK_ALONE)
		return 0;
	is_own = is_of_thread(&kept->event, stack->thread_id, &says);
	/* More of one that it has: the program's behind the kernel's. */
	if (kept->has_stack)
		return kept->stack.thread_id == stack->thread_id ? 1 : 0;
	/* A thread may release a lock of another thread. */
	if (!here && !is_own)
		return 0;
	return 2 + 2 * is_own + (here ? (says && !is_own ? 1 : 2) : 0);
}

/* Find the newest of the queued events that @stack fits best; NULL if it fits none. */
static struct kept *find_event(struct stacks *stacks, const struct etl_event *event,
			       const struct etl_stack *stack)
{
	unsigned int best_fit = 0, this_fit;
	struct kept *best = NULL, *kept;
	size_t i;

	for (i = stacks->count; i--;) {
		kept = kept_at(stacks, i);
		if (kept->event.time_stamp != stack->event_time_stamp ||
		    !kept->event.has_time || kept->event.wrong_time)
			continue;
		this_fit = fit(kept, event, stack);
		if (this_fit > best_fit) {
			best = kept;
			best_fit = this_fit;
		}
		/* No older event fits better. Most stacks stop here after one or two events. */
		if (best_fit == BEST_FIT)
			break;
	}
	return best;
}

static void add_addresses(struct stacks *stacks, struct kept *kept, const struct etl_event *event,
			  const struct etl_stack *stack, enum stack_state state)
{
	const struct stack_definition *definition = NULL;
	size_t count = stack->count, i;
	uint64_t *more;

	if (!kept->has_stack) {
		kept->stack.state = state;
		kept->stack.event_time_stamp = stack->event_time_stamp;
		kept->stack.process_id = stack->process_id;
		kept->stack.thread_id = stack->thread_id;
		kept->stack.count = 0;
		kept->has_stack = true;
	}
	if (stack->kind == ETL_STACK_KEY_OF_EVENT) {
		definition = stack_keys_find(&stacks->keys, stack->key, event->time_stamp);
		count = definition ? definition->count : 0;
		if (!definition && state == STACK_FOUND && !kept->stack.count)
			kept->stack.state = STACK_UNKNOWN;
	}
	if (count > STACK_ADDRESSES_MAX - kept->stack.count)
		count = STACK_ADDRESSES_MAX - kept->stack.count;
	if (!count)
		return;
	if (kept->stack.count + count > kept->address_room) {
		more = reallocarray(kept->addresses, kept->stack.count + count, sizeof(*more));
		if (!more) {
			if (!kept->stack.count)
				kept->stack.state = STACK_UNKNOWN;
			return;
		}
		kept->addresses = more;
		kept->address_room = kept->stack.count + count;
	}
	if (kept->stack.state == STACK_UNKNOWN)
		kept->stack.state = STACK_FOUND;
	for (i = 0; i < count; i++)
		kept->addresses[kept->stack.count + i] = definition ? definition->addresses[i] :
								      etl_stack_address(stack, i);
	kept->stack.count += count;
	kept->stack.addresses = kept->addresses;
}

/* There is room in the queue; NULL: there is no memory. */
static struct kept *keep(struct stacks *stacks, const struct etl_event *event)
{
	struct kept *kept = kept_at(stacks, stacks->count);
	unsigned char *more;

	if (event->size > kept->room) {
		more = realloc(kept->bytes, event->size);
		if (!more)
			return NULL;
		kept->bytes = more;
		kept->room = event->size;
	}
	memcpy(kept->bytes, event->header, event->size);
	kept->event = *event;
	kept->event.header = kept->bytes;
	kept->event.extension = kept->bytes + (event->extension - event->header);
	kept->event.data = kept->bytes + (event->data - event->header);
	kept->has_stack = false;
	stacks->count++;
	return kept;
}

/* The next event comes into the queue, or to the one that it belongs to. */
static void take(struct stacks *stacks, const struct etl_event *event)
{
	struct etl_stack stack;
	struct kept *kept;

	if (stack_rundowns_is_one(event))
		stack_rundowns_add(&stacks->rundowns, event);
	if (etl_read_stack(&stack, stacks->file, event))
		return;
	if (stack.kind != ETL_STACK_OF_EVENT && stack.kind != ETL_STACK_KEY_OF_EVENT) {
		if (stack.kind != ETL_STACK_NONE && etl_const_reader(stacks->file)->input)
			stack_keys_define(&stacks->keys, event, &stack);
		keep(stacks, event);
		return;
	}
	kept = find_event(stacks, event, &stack);
	if (kept) {
		add_addresses(stacks, kept, event, &stack, STACK_FOUND);
		return;
	}
	kept = keep(stacks, event);
	if (kept)
		add_addresses(stacks, kept, event, &stack, STACK_ALONE);
}

/* True if the file has stacks from this event on. Its content is read later. */
static bool begins(const struct etl_event *event)
{
	return stack_rundowns_is_one(event) ||
	       (event->has_hook_id && event->hook_id >= PERFINFO_LOG_TYPE_STACKWALK &&
		event->hook_id <= PERFINFO_LOG_TYPE_STACKWALK_KEY_USER);
}

static void drop_given(struct stacks *stacks)
{
	if (!stacks->given)
		return;
	stacks->first = (stacks->first + 1) % STACKS_PENDING;
	stacks->count--;
	stacks->given = false;
}

/* The first one that is kept. */
static const struct etl_event *give(struct stacks *stacks, const struct stack **stack)
{
	struct kept *kept;

	drop_given(stacks);
	*stack = NULL;
	if (!stacks->count)
		return NULL;
	stacks->given = true;
	kept = kept_at(stacks, 0);
	if (!kept->has_stack && stack_rundowns_expect(&stacks->rundowns, &kept->event)) {
		kept->stack = (struct stack) { .state = STACK_MISSING };
		kept->has_stack = true;
	}
	if (kept->has_stack) {
		*stack = &kept->stack;
		stacks->counts.found += kept->stack.state == STACK_FOUND;
		stacks->counts.missing += kept->stack.state == STACK_MISSING;
		stacks->counts.unknown += kept->stack.state == STACK_UNKNOWN;
		stacks->counts.alone += kept->stack.state == STACK_ALONE;
	}
	return &kept->event;
}

/* May the first one's stack still come, where that is right behind its event? */
static bool is_waiting(struct stacks *stacks)
{
	const struct kept *first = kept_at(stacks, 0);
	size_t i;

	if (first->has_stack || !stack_rundowns_expect(&stacks->rundowns, &first->event))
		return false;
	for (i = 1; i < stacks->count; i++)
		if (kept_at(stacks, i)->event.processor == first->event.processor)
			return false;
	return true;
}

/**
 * stacks_next_pending() - the next event, without waiting for more
 * @stacks: the reading
 * @stack: as stacks_next() has it
 *
 * For who wants to see what there is, of a stream in which nothing comes for now.
 *
 * Return: the event, until the next call, or NULL: none is kept, or its stack is about to come.
 */
const struct etl_event *stacks_next_pending(struct stacks *stacks, const struct stack **stack)
{
	drop_given(stacks);
	if (stacks->count && is_waiting(stacks)) {
		*stack = NULL;
		return NULL;
	}
	return give(stacks, stack);
}

/**
 * stacks_next() - the next event, with its stack
 * @stacks: the reading
 * @stack: set to its stack, or NULL: it has none and was not to have one
 *
 * Events of stacks are given only if the event that they belong to is not there. Damaged ones are
 * left out.
 *
 * Return: the event, until the next call, or NULL: there is none any more.
 */
const struct etl_event *stacks_next(struct stacks *stacks, const struct stack **stack)
{
	const struct etl_event *event;

	while (!stacks->has_ended && stacks->count - stacks->given < STACKS_PENDING - 1) {
		event = stacks->next(stacks->from);
		if (!event) {
			stacks->has_ended = true;
			break;
		}
		if (!stacks->has_stacks && begins(event))
			stacks->has_stacks = true;
		if (!stacks->has_stacks && stacks->count == stacks->given) {
			*stack = NULL;
			return event;
		}
		take(stacks, event);
	}
	return give(stacks, stack);
}

/**
 * stacks_counts() - what has been met so far
 * @stacks: the reading
 *
 * Return: the counts, until stacks_close().
 */
const struct stacks_counts *stacks_counts(const struct stacks *stacks)
{
	return &stacks->counts;
}

/**
 * stacks_tell() - say what is not there, if anything is not
 * @stacks: the reading, which is over; or NULL
 * @file: that it was of
 */
void stacks_tell(const struct stacks *stacks, const struct etl_file *file)
{
	const struct stacks_counts *counts = stacks ? &stacks->counts : NULL;

	if (!counts)
		return;
	if (counts->missing)
		message("%s: %" PRIu64
			" events have no stack: it was lost, or could not be recorded",
			file->path, counts->missing);
	if (counts->unknown)
		message("%s: %" PRIu64
			" events have keys, whose stacks are not in the file",
			file->path, counts->unknown);
	if (stacks->keys.is_full || stacks->rundowns.is_full)
		message("%s: too many notes about stacks and their keys: some were not used",
			file->path);
	if (counts->alone)
		message("%s: %" PRIu64 " stacks belong to events that are not in the file",
			file->path, counts->alone);
}

/**
 * stacks_has_any() - test whether events have stacks, or should have them
 * @stacks: the reading
 *
 * Return: true if an event read so far says that stacks are recorded.
 */
bool stacks_has_any(const struct stacks *stacks)
{
	return stacks->has_stacks;
}

/**
 * stacks_close() - let the reading go
 * @stacks: it, or NULL; the file stays open
 */
void stacks_close(struct stacks *stacks)
{
	size_t i;

	if (!stacks)
		return;
	for (i = 0; i < STACKS_PENDING; i++) {
		free(stacks->kept[i].bytes);
		free(stacks->kept[i].addresses);
	}
	free(stacks->kept);
	stack_keys_free(&stacks->keys);
	stack_rundowns_free(&stacks->rundowns);
	free(stacks);
}
