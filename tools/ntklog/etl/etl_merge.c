// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging the events of all processors by time, with a heap of the next event of each. The events
 * and the buffers of one processor are taken to be in the order of time; the buffers of a circular
 * file are sorted by sequence number first. A pipe is read until it is certain which event is the
 * earliest.
 */

#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "grow.h"

/*
 * @event: next event of the processor
 * @is_in_heap: @event is valid, and the processor is in the heap
 */
struct etl_merge_cpu {
	struct etl_cursor cursor;
	struct etl_event event;
	struct etl_index_entry *buffers;
	size_t buffer_count;
	size_t next_buffer_index;
	bool is_in_heap;
};

/*
 * @cpus: processors by number; NULL for a processor without buffers
 * @heap: processors that have an event, as a heap with the earliest event on top
 * @was_returned: etl_merge_next() has returned the event on top
 * @last_returned_time: session clock of that event
 * @entry_count: number of the reader's index entries that were added to @cpus
 * @skip_begin_time: events before it need not be returned, session clock
 * @skip_end_time: events after it need not be returned
 * @is_skipped: function that tells which events need not be returned; NULL: all events are
 * @latest_skipped_time: of the events that were not returned, session clock; 0: there are none
 * @is_in_order: the sequence numbers of the index entries had no gap
 * @latest_first_time: latest time of a first event in the buffers that the pipe has given before
 *	the first gap, session clock
 */
struct etl_merge {
	struct etl_reader *reader;
	struct etl_merge_cpu **cpus;
	size_t cpu_count;
	struct etl_merge_cpu **heap;
	size_t heap_count;
	bool was_returned;
	uint64_t last_returned_time;
	size_t entry_count;
	uint64_t skip_begin_time;
	uint64_t skip_end_time;
	bool (*is_skipped)(uint16_t hook_id);
	uint64_t latest_skipped_time;
	bool is_in_order;
	uint64_t latest_first_time;
};

static bool has_earlier_event(const struct etl_merge_cpu *a, const struct etl_merge_cpu *b)
{
	/* Events of the same time keep the order of the file. */
	if (a->event.time_stamp == b->event.time_stamp)
		return a->event.offset < b->event.offset;
	return a->event.time_stamp < b->event.time_stamp;
}

/* Restore the order of a heap whose top has changed. */
static void sift_down(struct etl_merge *merge)
{
	struct etl_merge_cpu **heap = merge->heap, *cpu = heap[0];
	size_t count = merge->heap_count, at = 0, child;

	for (child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && has_earlier_event(heap[child + 1], heap[child]))
			child++;
		if (!has_earlier_event(heap[child], cpu))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = cpu;
}

/*
 * Test whether a buffer that was just read can be skipped: its events are not needed, have no
 * damage, and are in the order of time behind @last, which is set to the last of them. Callers
 * learn from a processor's first and last buffers which time the file covers. The very first one
 * may be the file's header.
 */
static bool can_skip_buffer(const struct etl_merge *merge, const struct etl_merge_cpu *cpu,
			    uint64_t *last)
{
	const struct etl_cursor *cursor = &cpu->cursor;
	const struct perfinfo_trace_header *header;
	size_t at, size, end = cursor->end_offset;
	uint64_t time = *last;

	if (!merge->is_skipped || !time || cpu->next_buffer_index <= 2 ||
	    cpu->next_buffer_index == cpu->buffer_count)
		return false;
	for (at = cursor->next_offset; at < end; at += size + -size % TRACE_EVENT_ALIGNMENT) {
		header = (const struct perfinfo_trace_header *)(cursor->buffer + at);
		size = end - at < sizeof(*header) ? 0 : header->size;
		if (size < sizeof(*header) || size > end - at ||
		    header->header_type != TRACE_HEADER_TYPE_PERFINFO64 ||
		    header->flags != TRACE_HEADER_FLAGS || header->extended_flags ||
		    header->time_stamp < time ||
		    header->time_stamp > cursor->latest_possible_time ||
		    (header->time_stamp >= merge->skip_begin_time &&
		     header->time_stamp <= merge->skip_end_time) ||
		    !merge->is_skipped(header->hook_id))
			return false;
		time = header->time_stamp;
	}
	*last = time;
	return true;
}

/*
 * Read the next event of a processor whose buffer has none, or is damaged. @last is the time of the
 * event before it in the buffer. Returns false if there is none.
 */
static bool read_event_of_next_buffer(struct etl_merge *merge, struct etl_merge_cpu *cpu,
				      uint64_t last)
{
	do {
		while (cpu->cursor.next_offset >= cpu->cursor.end_offset) {
			if (cpu->next_buffer_index == cpu->buffer_count ||
			    !etl_take_buffer(merge->reader, &cpu->cursor,
					     cpu->buffers[cpu->next_buffer_index++].number))
				return false;
			if (can_skip_buffer(merge, cpu, &last)) {
				cpu->cursor.next_offset = cpu->cursor.end_offset;
				cpu->cursor.time_stamp = last;
				cpu->cursor.last_time = last;
				if (last > merge->latest_skipped_time)
					merge->latest_skipped_time = last;
			}
		}
	} while (etl_parse_event(merge->reader, &cpu->cursor, &cpu->event) != 1);
	if (cpu->cursor.last_time && cpu->cursor.last_time < last)
		etl_count_backward_event(merge->reader, cpu->event.offset);
	return true;
}

/* Read the next event of a processor. Returns false if it has none. */
static inline bool read_next_event(struct etl_merge *merge, struct etl_merge_cpu *cpu)
{
	uint64_t last = cpu->cursor.last_time;

	return (cpu->cursor.next_offset < cpu->cursor.end_offset &&
		etl_parse_event(merge->reader, &cpu->cursor, &cpu->event) == 1) ||
	       read_event_of_next_buffer(merge, cpu, last);
}

static int add_buffer(struct etl_merge_cpu *cpu, const struct etl_index_entry *entry)
{
	struct etl_index_entry *more = grow_by_one(cpu->buffers, cpu->buffer_count, sizeof(*more));

	if (!more)
		return -1;
	cpu->buffers = more;
	cpu->buffers[cpu->buffer_count++] = *entry;
	return 0;
}

static int compare_sequence_numbers(const void *a, const void *b)
{
	const struct etl_index_entry *left = a, *right = b;

	if (left->sequence_number != right->sequence_number)
		return left->sequence_number < right->sequence_number ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static int grow_cpus(struct etl_merge *merge, size_t count)
{
	struct etl_merge_cpu **more;

	more = reallocarray(merge->heap, count, sizeof(*more));
	if (!more)
		return -1;
	merge->heap = more;
	more = grow_to(merge->cpus, merge->cpu_count, count, sizeof(*more));
	if (!more)
		return -1;
	merge->cpus = more;
	merge->cpu_count = count;
	return 0;
}

/* Add a buffer to its processor. Returns the processor, or NULL without memory. */
static struct etl_merge_cpu *add_indexed_buffer(struct etl_merge *merge,
						const struct etl_index_entry *entry)
{
	struct etl_merge_cpu *cpu;

	if (entry->processor >= merge->cpu_count && grow_cpus(merge, entry->processor + 1))
		return NULL;
	cpu = merge->cpus[entry->processor];
	if (!cpu)
		cpu = calloc(1, sizeof(*cpu));
	merge->cpus[entry->processor] = cpu;
	return cpu && !add_buffer(cpu, entry) ? cpu : NULL;
}

static int add_index(struct etl_merge *merge)
{
	const struct etl_reader *reader = merge->reader;
	struct etl_merge_cpu *cpu;
	size_t i;

	for (; merge->entry_count < reader->file.buffers; merge->entry_count++)
		if (!add_indexed_buffer(merge, &reader->index_entries[merge->entry_count]))
			return -1;
	for (i = 0; etl_is_circular(&reader->file) && i < merge->cpu_count; i++) {
		cpu = merge->cpus[i];
		if (cpu)
			qsort(cpu->buffers, cpu->buffer_count, sizeof(struct etl_index_entry),
			      compare_sequence_numbers);
	}
	return 0;
}

static void add_to_heap(struct etl_merge *merge, struct etl_merge_cpu *cpu)
{
	size_t at = merge->heap_count++, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (!has_earlier_event(cpu, merge->heap[parent]))
			break;
		merge->heap[at] = merge->heap[parent];
	}
	merge->heap[at] = cpu;
	cpu->is_in_heap = true;
}

/* Wait for one more buffer of a pipe. Returns false at its end, or without memory. */
static bool wait_for_buffer(struct etl_merge *merge)
{
	struct etl_reader *reader = merge->reader;
	const struct etl_index_entry *entry;
	struct etl_merge_cpu *cpu;
	uint64_t before;

	if (merge->entry_count == reader->file.buffers && !etl_add_next_buffer(reader))
		return false;
	entry = &reader->index_entries[merge->entry_count];
	merge->is_in_order &= entry->sequence_number == (int64_t)merge->entry_count;
	merge->entry_count++;
	if (merge->is_in_order && entry->first_time > merge->latest_first_time)
		merge->latest_first_time = entry->first_time;
	cpu = add_indexed_buffer(merge, entry);
	if (!cpu) {
		etl_set_no_memory(reader);
		return false;
	}
	if (cpu->is_in_heap)
		return true;
	before = cpu->cursor.time_stamp;
	if (!read_next_event(merge, cpu))
		return true;
	/*
	 * The event is too late if a later one was already returned. An event before the last one
	 * of its own processor is counted as one that goes backwards instead.
	 */
	reader->file.late_buffers += cpu->event.time_stamp < merge->last_returned_time &&
		      cpu->event.time_stamp >= before;
	add_to_heap(merge, cpu);
	return true;
}

/*
 * Test whether the event on top can be returned before the pipe has ended: if all processors have
 * an event, or if buffers arrive in the order of their begin and the event is 0.1 s before the
 * latest begin. The margin is there because a logger reads the clock a little before it gets a
 * place in a buffer.
 */
static bool top_is_earliest(const struct etl_merge *merge)
{
	const struct etl_file *file = &merge->reader->file;
	size_t processor_count = file->processors > merge->cpu_count ? file->processors :
									  merge->cpu_count;

	if (!merge->heap_count)
		return false;
	return merge->heap_count == processor_count ||
	       (merge->is_in_order && merge->latest_first_time > file->perf_freq / 10 &&
		merge->heap[0]->event.time_stamp < merge->latest_first_time - file->perf_freq / 10);
}

/**
 * etl_merge_open() - begin to merge the events of all processors
 * @file: open file
 *
 * Damaged parts are left out, and the first one is described in @file's error. A pipe can be merged
 * once, before any event behind its first buffer was read.
 *
 * Return: the merge, or NULL with a message in @file's error.
 */
struct etl_merge *etl_merge_open(struct etl_file *file)
{
	struct etl_reader *reader = etl_reader_of(file);
	struct etl_merge *merge = calloc(1, sizeof(*merge));
	size_t i;

	if (reader->input && (reader->was_merged || reader->next_index > 1)) {
		free(merge);
		etl_set_damage(reader, 0,
			       "a pipe can be read only once, and this one has been read");
		return NULL;
	}
	if (!merge)
		goto err;
	reader->was_merged = true;
	merge->reader = reader;
	merge->is_in_order = true;
	if (add_index(merge))
		goto err;
	for (i = 0; i < merge->cpu_count; i++)
		if (merge->cpus[i] && read_next_event(merge, merge->cpus[i]))
			add_to_heap(merge, merge->cpus[i]);
	return merge;

err:
	etl_merge_close(merge);
	etl_set_no_memory(reader);
	return NULL;
}

/**
 * etl_merge_skip() - skip buffers with events that the caller does not need
 * @merge: merge of a file, of which no event was read; a pipe is read as without this call
 * @first: events before it are not needed, session clock
 * @last: events after it are not needed
 * @is_skipped: tells which events are not needed outside of this time, by their hook id
 *
 * Damage is found and counted as without this call. Where the clock of a processor goes back, the
 * order of events may be another one.
 */
void etl_merge_skip(struct etl_merge *merge, uint64_t first, uint64_t last,
		    bool (*is_skipped)(uint16_t hook_id))
{
	merge->skip_begin_time = first;
	merge->skip_end_time = last;
	merge->is_skipped = merge->reader->input ? NULL : is_skipped;
}

/**
 * etl_merge_latest_skipped() - get the time of the latest event in the skipped buffers
 * @merge: merge
 *
 * Return: session clock; 0 if no buffer was skipped.
 */
uint64_t etl_merge_latest_skipped(const struct etl_merge *merge)
{
	return merge->latest_skipped_time;
}

/**
 * etl_merge_next() - get the next event in the order of time
 * @merge: merge from etl_merge_open()
 *
 * Return: the event, which is valid until the next call or etl_merge_close(); NULL at the end.
 */
const struct etl_event *etl_merge_next(struct etl_merge *merge)
{
	struct etl_merge_cpu *cpu;

	/* Step over the event of the last call only now, because the caller was using its data. */
	if (merge->was_returned) {
		cpu = merge->heap[0];
		merge->was_returned = false;
		if (!read_next_event(merge, cpu)) {
			cpu->is_in_heap = false;
			merge->heap[0] = merge->heap[--merge->heap_count];
		}
		if (merge->heap_count)
			sift_down(merge);
	}
	while (merge->reader->input && !top_is_earliest(merge) && wait_for_buffer(merge))
		;
	if (!merge->heap_count)
		return NULL;
	merge->was_returned = true;
	merge->last_returned_time = merge->heap[0]->event.time_stamp;
	return &merge->heap[0]->event;
}

/**
 * etl_merge_close() - free a merge
 * @merge: merge, or NULL; the file stays open
 */
void etl_merge_close(struct etl_merge *merge)
{
	size_t i;

	if (!merge)
		return;
	for (i = 0; i < merge->cpu_count; i++) {
		if (!merge->cpus[i])
			continue;
		free(merge->cpus[i]->cursor.buffer);
		free(merge->cpus[i]->buffers);
		free(merge->cpus[i]);
	}
	free(merge->cpus);
	free(merge->heap);
	free(merge);
}
