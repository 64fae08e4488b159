// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events with their stacks. stack_matcher_open() searches some buffers of a file for stacks. As
 * long as no stack is known, stack_matcher_next() returns each event at once. Then it copies events
 * into a queue, and returns the oldest one when the queue is full.
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

/* Number of buffers at the start of each CPU that are searched for stacks, besides the last one. */
#define SEARCHED_BUFFERS_MAX	2

/* The largest value of compute_fit(): same CPU, same thread, and no stack yet. */
#define BEST_FIT	6

/*
 * A place in the queue.
 *
 * @event: event, whose pointers lead into @bytes
 * @stack: stack of the event, if @has_stack
 */
struct queued_event {
	struct etl_event event;
	unsigned char *bytes;
	size_t byte_capacity;
	struct stack stack;
	bool has_stack;
	uint64_t *addresses;
	size_t address_capacity;
};

/*
 * @has_stacks: a stack has been seen, or stacks were enabled in the trace
 * @queued: queue of events, a ring of STACKS_PENDING_MAX places
 * @was_returned: the oldest event was returned, and is dropped when the next one is asked for
 */
struct stack_matcher {
	struct etl_file *file;
	struct etl_merge *merge;
	bool has_stacks;
	bool has_ended;
	struct queued_event *queued;
	size_t first_index;
	size_t count;
	bool was_returned;
	struct stack_keys keys;
	struct stack_rundowns rundowns;
	struct stack_counts counts;
};

/* Test whether an event is about stacks, so that the file has stacks from here on. */
static bool event_begins_stacks(const struct etl_event *event)
{
	return event_is_stack_rundown(event) ||
	       (event->has_hook_id && event->hook_id >= PERFINFO_LOG_TYPE_STACKWALK &&
		event->hook_id <= PERFINFO_LOG_TYPE_STACKWALK_KEY_USER);
}

static void search_buffers_for_stacks(struct stack_matcher *matcher, struct etl_reader *reader)
{
	uint8_t *seen = calloc(ETL_PROCESSORS_MAX, sizeof(*seen));
	uint64_t *last = calloc(ETL_PROCESSORS_MAX, sizeof(*last));
	struct etl_cursor cursor = { 0 };
	struct etl_event event;
	struct etl_stack stack;
	uint64_t number;
	size_t i;

	for (i = 1; seen && last && i < reader->file.buffers + ETL_PROCESSORS_MAX; i++) {
		if (i < reader->file.buffers) {
			number = reader->index_entries[i].number;
			if (seen[reader->index_entries[i].processor]++ >= SEARCHED_BUFFERS_MAX) {
				seen[reader->index_entries[i].processor]--;
				last[reader->index_entries[i].processor] = number;
				continue;
			}
		} else {
			number = last[i - reader->file.buffers];
			if (!number)
				continue;
		}
		if (!etl_read_buffer(reader, &cursor, number))
			continue;
		while (cursor.next_offset < cursor.end_offset &&
		       etl_parse_event_quietly(reader, &cursor, &event) == 1) {
			if (event_is_stack_rundown(&event))
				stack_rundowns_add(&matcher->rundowns, &event);
			else if (event_begins_stacks(&event) &&
				 !etl_read_stack(&stack, &reader->file, &event))
				matcher->has_stacks |= stack.kind != ETL_STACK_NONE;
		}
	}
	matcher->has_stacks |= matcher->rundowns.count > 0;
	free(cursor.buffer);
	free(seen);
	free(last);
}

/* Read the definitions of keys, which may be anywhere in the file. */
static void read_definitions(struct stack_matcher *matcher, const struct etl_reader *reader)
{
	struct etl_reader copy = *reader;
	const struct etl_event *event;
	struct etl_stack stack;

	copy.cursor.buffer = NULL;
	copy.cursor.next_offset = 0;
	copy.cursor.end_offset = 0;
	copy.next_index = 0;
	while ((event = etl_next_event(&copy.file)))
		if (event_begins_stacks(event) && !etl_read_stack(&stack, &copy.file, event) &&
		    (stack.kind == ETL_STACK_DEFINITION || stack.kind == ETL_STACK_DELETION)) {
			stack_keys_define(&matcher->keys, event, &stack);
			matcher->has_stacks = true;
		}
	free(copy.cursor.buffer);
}

/**
 * stack_matcher_open_session() - begin to join the events of a running session with their stacks
 * @file: header of the session's trace
 *
 * The caller passes the events to stack_matcher_add(), and takes them by
 * stack_matcher_next_pending().
 *
 * Return: the stacks, or NULL without memory.
 */
struct stack_matcher *stack_matcher_open_session(struct etl_file *file)
{
	struct stack_matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		return NULL;
	matcher->file = file;
	matcher->queued = calloc(STACKS_PENDING_MAX, sizeof(*matcher->queued));
	if (matcher->queued)
		return matcher;
	free(matcher);
	return NULL;
}

/**
 * stack_matcher_open() - begin to read events with their stacks
 * @file: open file, whose position and error stay
 * @merge: merge of @file, of which no event was read; the caller closes it after
 *	stack_matcher_close()
 *
 * Return: the stacks, or NULL without memory.
 */
struct stack_matcher *stack_matcher_open(struct etl_file *file, struct etl_merge *merge)
{
	struct stack_matcher *matcher = stack_matcher_open_session(file);
	const struct etl_reader *reader = etl_const_reader_of(file);
	struct etl_reader copy = *reader;

	if (!matcher)
		return NULL;
	matcher->merge = merge;
	/* The buffers of a stream can be read only once. */
	if (reader->input)
		return matcher;
	search_buffers_for_stacks(matcher, &copy);
	if (etl_may_have_names(reader))
		read_definitions(matcher, reader);
	return matcher;
}

static struct queued_event *queued_at(struct stack_matcher *matcher, size_t number)
{
	return &matcher->queued[(matcher->first_index + number) % STACKS_PENDING_MAX];
}

/*
 * Test whether an event has the id @thread_id. Set @has_thread_id to false if no such id is known
 * of the event.
 */
static bool event_is_of_thread(const struct etl_event *event, uint32_t thread_id,
			       bool *has_thread_id)
{
	const struct event_type *type = event_type_find(event);
	struct contextswap_record contextswap;
	struct spinlock_record spinlock;
	struct resource_record resource;

	*has_thread_id = type && event_has_size(event, type);
	if (!*has_thread_id)
		return false;
	switch (type->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		return spinlock.thread_id == thread_id;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		return resource.thread_id == thread_id;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		/* Windows records the stack of the new thread, ntklog that of the old thread. */
		contextswap_record_read(&contextswap, event);
		return contextswap.old_thread_id == thread_id ||
		       contextswap.new_thread_id == thread_id;
	default:
		*has_thread_id = false;
		return false;
	}
}

/*
 * Rate how well a stack fits an event that has the stack's time stamp. With a coarse clock several
 * events may have the same time stamp.
 *
 * Return: 0 if the stack cannot belong to the event, at most BEST_FIT; the largest value wins.
 */
static unsigned int compute_fit(const struct queued_event *queued, const struct etl_event *event,
				const struct etl_stack *stack)
{
	bool is_same_cpu = queued->event.processor == event->processor, has_thread_id, is_own;

	if (queued->has_stack && queued->stack.state == STACK_ALONE)
		return 0;
	/* The stack belongs to the record behind these events, which has the same time stamp. */
	if (queued->event.has_hook_id &&
	    (queued->event.hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER ||
	     queued->event.hook_id == PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK))
		return 0;
	is_own = event_is_of_thread(&queued->event, stack->thread_id, &has_thread_id);
	/*
	 * The program's part of a stack may follow the kernel's part, which the event has already.
	 */
	if (queued->has_stack)
		return queued->stack.thread_id == stack->thread_id ? 1 : 0;
	/* On one CPU the thread may differ: a thread may release a lock of another thread. */
	if (!is_same_cpu && !is_own)
		return 0;
	return 2 + 2 * is_own + (is_same_cpu ? (has_thread_id && !is_own ? 1 : 2) : 0);
}

static struct queued_event *find_event(struct stack_matcher *matcher, const struct etl_event *event,
				       const struct etl_stack *stack)
{
	unsigned int best_fit = 0, this_fit;
	struct queued_event *best = NULL, *queued;
	size_t i;

	for (i = matcher->count; i--;) {
		queued = queued_at(matcher, i);
		if (queued->event.time_stamp != stack->event_time_stamp ||
		    !queued->event.has_time || queued->event.has_impossible_time)
			continue;
		this_fit = compute_fit(queued, event, stack);
		if (this_fit > best_fit) {
			best = queued;
			best_fit = this_fit;
		}
		/* No older event fits better. */
		if (best_fit == BEST_FIT)
			break;
	}
	return best;
}

static void add_addresses(struct stack_matcher *matcher, struct queued_event *queued,
			  const struct etl_event *event, const struct etl_stack *stack,
			  enum stack_state state)
{
	const struct stack_definition *definition = NULL;
	size_t count = stack->count;
	uint64_t *more;

	if (!queued->has_stack) {
		queued->stack.state = state;
		queued->stack.event_time_stamp = stack->event_time_stamp;
		queued->stack.process_id = stack->process_id;
		queued->stack.thread_id = stack->thread_id;
		queued->stack.count = 0;
		queued->has_stack = true;
	}
	if (stack->kind == ETL_STACK_KEY_OF_EVENT) {
		definition = stack_keys_find(&matcher->keys, stack->key, event->time_stamp);
		count = definition ? definition->count : 0;
		if (!definition && state == STACK_FOUND && !queued->stack.count)
			queued->stack.state = STACK_UNKNOWN;
	}
	if (count > STACK_ADDRESSES_MAX - queued->stack.count)
		count = STACK_ADDRESSES_MAX - queued->stack.count;
	if (!count)
		return;
	if (queued->stack.count + count > queued->address_capacity) {
		more = reallocarray(queued->addresses, queued->stack.count + count, sizeof(*more));
		if (!more) {
			if (!queued->stack.count)
				queued->stack.state = STACK_UNKNOWN;
			return;
		}
		queued->addresses = more;
		queued->address_capacity = queued->stack.count + count;
	}
	if (queued->stack.state == STACK_UNKNOWN)
		queued->stack.state = STACK_FOUND;
	if (definition)
		memcpy(queued->addresses + queued->stack.count, definition->addresses,
		       count * sizeof(*queued->addresses));
	else
		etl_copy_stack(queued->addresses + queued->stack.count, stack, count);
	queued->stack.count += count;
	queued->stack.addresses = queued->addresses;
}

/* Copy an event to the end of the queue, which must not be full. Returns NULL without memory. */
static struct queued_event *queue_event(struct stack_matcher *matcher,
					const struct etl_event *event)
{
	struct queued_event *queued = queued_at(matcher, matcher->count);
	unsigned char *more;

	if (event->size > queued->byte_capacity) {
		more = realloc(queued->bytes, event->size);
		if (!more)
			return NULL;
		queued->bytes = more;
		queued->byte_capacity = event->size;
	}
	memcpy(queued->bytes, event->header, event->size);
	queued->event = *event;
	queued->event.header = queued->bytes;
	queued->event.extension = queued->bytes + (event->extension - event->header);
	queued->event.data = queued->bytes + (event->data - event->header);
	queued->has_stack = false;
	matcher->count++;
	return queued;
}

/* Put an event into the queue, or add it to the queued event whose stack it is. */
static void take_event(struct stack_matcher *matcher, const struct etl_event *event)
{
	struct etl_stack stack;
	struct queued_event *queued;

	if (!event_begins_stacks(event)) {
		queue_event(matcher, event);
		return;
	}
	if (event_is_stack_rundown(event))
		stack_rundowns_add(&matcher->rundowns, event);
	if (etl_read_stack(&stack, matcher->file, event))
		return;
	if (stack.kind != ETL_STACK_OF_EVENT && stack.kind != ETL_STACK_KEY_OF_EVENT) {
		if (stack.kind != ETL_STACK_NONE && etl_const_reader_of(matcher->file)->input)
			stack_keys_define(&matcher->keys, event, &stack);
		queue_event(matcher, event);
		return;
	}
	queued = find_event(matcher, event, &stack);
	if (queued) {
		add_addresses(matcher, queued, event, &stack, STACK_FOUND);
		return;
	}
	queued = queue_event(matcher, event);
	if (queued)
		add_addresses(matcher, queued, event, &stack, STACK_ALONE);
}

static void drop_returned_event(struct stack_matcher *matcher)
{
	if (!matcher->was_returned)
		return;
	matcher->first_index = (matcher->first_index + 1) % STACKS_PENDING_MAX;
	matcher->count--;
	matcher->was_returned = false;
}

static const struct etl_event *take_oldest(struct stack_matcher *matcher,
					   const struct stack **stack)
{
	struct queued_event *queued;

	drop_returned_event(matcher);
	*stack = NULL;
	if (!matcher->count)
		return NULL;
	matcher->was_returned = true;
	queued = queued_at(matcher, 0);
	if (!queued->has_stack && stack_rundowns_say_stack(&matcher->rundowns, &queued->event)) {
		queued->stack = (struct stack) { .state = STACK_MISSING };
		queued->has_stack = true;
	}
	if (queued->has_stack) {
		*stack = &queued->stack;
		stack_counts_add(&matcher->counts, *stack);
	}
	return &queued->event;
}

/*
 * Test whether the stack of the oldest event may still arrive. ntklog writes it right behind its
 * event: once another event of the same CPU has arrived, the stack is lost.
 */
static bool oldest_may_get_stack(struct stack_matcher *matcher)
{
	const struct queued_event *first = queued_at(matcher, 0);
	size_t i;

	if (first->has_stack || !stack_rundowns_say_stack(&matcher->rundowns, &first->event))
		return false;
	for (i = 1; i < matcher->count; i++)
		if (queued_at(matcher, i)->event.processor == first->event.processor)
			return false;
	return true;
}

/**
 * stack_matcher_add() - add an event of a running session
 * @matcher: from stack_matcher_open_session(); stack_matcher_next_pending() has returned NULL since
 *	the last call
 * @event: event; it is copied
 */
void stack_matcher_add(struct stack_matcher *matcher, const struct etl_event *event)
{
	drop_returned_event(matcher);
	take_event(matcher, event);
}

/**
 * stack_matcher_next_pending() - get the next queued event without reading more events
 * @matcher: from stack_matcher_open() or stack_matcher_open_session()
 * @stack: set to the stack of the event, as stack_matcher_next() does
 *
 * Return: the event, which is valid until the next call; NULL if the queue is empty or the stack of
 * the oldest event may still arrive.
 */
const struct etl_event *stack_matcher_next_pending(struct stack_matcher *matcher,
						   const struct stack **stack)
{
	drop_returned_event(matcher);
	/* A full queue has no room for the stack. */
	if (matcher->count && matcher->count < STACKS_PENDING_MAX &&
	    oldest_may_get_stack(matcher)) {
		*stack = NULL;
		return NULL;
	}
	return take_oldest(matcher, stack);
}

/**
 * stack_matcher_next() - get the next event with its stack
 * @matcher: from stack_matcher_open()
 * @stack: set to the stack of the event; NULL if the event has no stack and should have none
 *
 * A stack is returned as an event only if the event that it belongs to is not in the queue. Damaged
 * stacks are left out.
 *
 * Return: the event, which is valid until the next call; NULL at the end.
 */
const struct etl_event *stack_matcher_next(struct stack_matcher *matcher,
					   const struct stack **stack)
{
	const struct etl_event *event;

	while (!matcher->has_ended &&
	       matcher->count - matcher->was_returned < STACKS_PENDING_MAX - 1) {
		event = etl_merge_next(matcher->merge);
		if (!event) {
			matcher->has_ended = true;
			break;
		}
		if (!matcher->has_stacks && event_begins_stacks(event))
			matcher->has_stacks = true;
		if (!matcher->has_stacks && matcher->count == matcher->was_returned) {
			*stack = NULL;
			return event;
		}
		take_event(matcher, event);
	}
	return take_oldest(matcher, stack);
}

/**
 * stack_matcher_report_missing() - tell the user which stacks are missing
 * @matcher: stacks of which all events were read, or NULL
 * @file: file of the events
 */
void stack_matcher_report_missing(const struct stack_matcher *matcher, const struct etl_file *file)
{
	const struct stack_counts *counts = matcher ? &matcher->counts : NULL;

	if (!counts)
		return;
	if (counts->missing_count)
		message("%s: %" PRIu64
			" events have no stack: it was lost, or could not be recorded",
			file->path, counts->missing_count);
	if (counts->unknown_count)
		message("%s: %" PRIu64
			" events have keys, whose stacks are not in the file",
			file->path, counts->unknown_count);
	if (matcher->keys.is_full || matcher->rundowns.is_full)
		message("%s: too many notes about stacks and their keys: some were not used",
			file->path);
	if (counts->alone_count)
		message("%s: %" PRIu64 " stacks belong to events that are not in the file",
			file->path, counts->alone_count);
}

/**
 * stack_matcher_has_stacks() - test whether events have stacks, or should have them
 * @matcher: from stack_matcher_open()
 *
 * Return: true if an event read so far says that stacks are recorded.
 */
bool stack_matcher_has_stacks(const struct stack_matcher *matcher)
{
	return matcher->has_stacks;
}

/**
 * stack_matcher_close() - free the stacks
 * @matcher: from stack_matcher_open() or stack_matcher_open_session(), or NULL; the file stays open
 */
void stack_matcher_close(struct stack_matcher *matcher)
{
	size_t i;

	if (!matcher)
		return;
	for (i = 0; i < STACKS_PENDING_MAX; i++) {
		free(matcher->queued[i].bytes);
		free(matcher->queued[i].addresses);
	}
	free(matcher->queued);
	stack_keys_free(&matcher->keys);
	stack_rundowns_free(&matcher->rundowns);
	free(matcher);
}
