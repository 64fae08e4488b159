// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>

#include "perfetto_packet.h"

/*
 * Upper limit of the bytes of a packet. The largest one has the numbers of a stack's frames. Each
 * number is 11 bytes at most.
 */
#define PACKET_SIZE	(16 * STACK_ADDRESSES_MAX + 4 * NAME_SIZE)

#define SEQ_INCREMENTAL_STATE_CLEARED	1
#define SEQ_NEEDS_INCREMENTAL_STATE	2

static const char *const group_names[PERFETTO_GROUPS] = {
	[PERFETTO_SPINLOCKS] = "spin locks, by CPU",
	[PERFETTO_RESOURCES] = "resources and sleeping locks, by task",
	[PERFETTO_THREADS] = "tasks, by CPU",
	[PERFETTO_CLASSES] = "waits, by class of locks",
};

static void put_packet(struct perfetto_writer *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	char *to = out_reserve(&perfetto->out, PACKET_SIZE);

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = 1;
	trace.n_packet = 1;
	trace.packet = &packet;
	perfetto->out.used += perfetto__trace__pack(&trace, (uint8_t *)to);
}

/**
 * perfetto_put_interned() - put names or stacks
 * @perfetto: state of the conversion
 * @interned: names and stacks, with their numbers
 * @is_first: the trace refers to no earlier name or stack from here on
 */
void perfetto_put_interned(struct perfetto_writer *perfetto, Perfetto__InternedData *interned,
			   bool is_first)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = interned;
	packet.has_sequence_flags = true;
	packet.sequence_flags = SEQ_NEEDS_INCREMENTAL_STATE |
				(is_first ? SEQ_INCREMENTAL_STATE_CLEARED : 0);
	put_packet(perfetto, &packet);
}

static void put_track(struct perfetto_writer *perfetto, uint64_t number, char *name,
		      Perfetto__TrackDescriptor *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = true;
	track->uuid = number;
	track->name = name;
	packet.track_descriptor = track;
	put_packet(perfetto, &packet);
}

/**
 * perfetto_put_groups() - put the groups of tracks
 * @perfetto: state of the conversion
 */
void perfetto_put_groups(struct perfetto_writer *perfetto)
{
	enum track_group group;

	for (group = PERFETTO_SPINLOCKS; group < PERFETTO_GROUPS; group++) {
		Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

		track.has_child_ordering = true;
		track.child_ordering = group == PERFETTO_CLASSES ?
			PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__LEXICOGRAPHIC :
			PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
		put_track(perfetto, group, (char *)group_names[group], &track);
	}
}

/* Print the name of a CPU, a task or a class of locks, which has the tracks of a group. */
static void format_track_name(const struct perfetto_writer *perfetto, enum track_group group,
			      uint64_t number, char *text, size_t size)
{
	const struct names *names = perfetto->conversion->names;

	if (group == PERFETTO_CLASSES)
		names_format_address(names, number, text, size);
	else if (group == PERFETTO_RESOURCES)
		perfetto_format_task_name(names, number, text, size);
	else
		snprintf(text, size, "cpu %u", (unsigned int)number);
}

/**
 * perfetto_find_lane() - find a lane for a wait and the hold behind it
 * @perfetto: state of the conversion
 * @group: group of the track
 * @track_owner: number of the CPU, id of the task, or key of the class of locks
 * @wait_begin_ns: begin of the wait, ns
 * @hold_begin_ns: begin of the hold, ns
 * @hold_end_ns: end of the hold, ns
 *
 * A new lane gets a name. If no lane has space, the wait and the hold get a lane that is not used
 * again; but those of a class get none, because any number of tasks may wait for its locks.
 *
 * Return: number of the lane; 0: no lane of the class has space.
 */
uint64_t perfetto_find_lane(struct perfetto_writer *perfetto, enum track_group group,
			    uint64_t track_owner, int64_t wait_begin_ns,
			    int64_t hold_begin_ns, int64_t hold_end_ns)
{
	struct perfetto_track *track = perfetto_track_find(&perfetto->tracks, group, track_owner);
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	unsigned int old_lane_count = track ? track->lane_count : 0;
	char text[NAME_SIZE], name[NAME_SIZE + 16];
	const struct perfetto_lane *lane;
	uint64_t number;

	lane = perfetto_lane_find(&perfetto->tracks, track, wait_begin_ns, hold_begin_ns,
				  hold_end_ns);
	if (lane && track->lane_count == old_lane_count)
		return lane->number;
	if (!lane && group == PERFETTO_CLASSES)
		return 0;
	number = lane ? lane->number : perfetto_take_number(&perfetto->tracks);
	format_track_name(perfetto, group, track_owner, text, sizeof(text));
	snprintf(name, sizeof(name), old_lane_count ? "%s (%u)" : "%s", text, old_lane_count + 1);
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = group;
	descriptor.has_sibling_order_rank = group != PERFETTO_CLASSES;
	descriptor.sibling_order_rank = (int32_t)track_owner;
	put_track(perfetto, number, name, &descriptor);
	return number;
}

/**
 * perfetto_add_number() - add an argument that is a number
 * @slice: slice, which gets at most PERFETTO_ARGUMENTS_MAX arguments
 * @argument: argument
 * @value: its value
 */
void perfetto_add_number(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
			 uint64_t value)
{
	slice->arguments[slice->argument_count++] = (struct perfetto_argument) {
		argument, PERFETTO_IS_NUMBER, value
	};
}

/**
 * perfetto_add_bool() - add an argument that is true or false
 * @slice: slice, which gets at most PERFETTO_ARGUMENTS_MAX arguments
 * @argument: argument
 * @value: its value
 */
void perfetto_add_bool(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
		       bool value)
{
	slice->arguments[slice->argument_count++] = (struct perfetto_argument) {
		argument, PERFETTO_IS_BOOL, value
	};
}

/**
 * perfetto_add_text() - add an argument that is a text
 * @slice: slice, which gets at most PERFETTO_ARGUMENTS_MAX arguments
 * @argument: argument
 * @number: number of the text, of kind PERFETTO_CODE_TEXT or PERFETTO_TEXT
 */
void perfetto_add_text(struct perfetto_slice *slice, enum perfetto_argument_kind argument,
		       uint64_t number)
{
	slice->arguments[slice->argument_count++] = (struct perfetto_argument) {
		argument, PERFETTO_IS_TEXT, number
	};
}

/* Put an event of a track. A damaged time before the clock's zero becomes 0. */
static void put_event(struct perfetto_writer *perfetto, Perfetto__TrackEvent *event,
		      Perfetto__TrackEvent__Type type, uint64_t track, int64_t ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	event->has_type = true;
	event->type = type;
	event->has_track_uuid = true;
	event->track_uuid = track;
	packet.has_timestamp = true;
	packet.timestamp = ns >= 0 || perfetto->start_ns >= -(uint64_t)ns ?
		perfetto->start_ns + ns : 0;
	packet.track_event = event;
	packet.has_sequence_flags = true;
	packet.sequence_flags = SEQ_NEEDS_INCREMENTAL_STATE;
	put_packet(perfetto, &packet);
}

static void set_annotation(Perfetto__DebugAnnotation *to, const struct perfetto_argument *argument)
{
	perfetto__debug_annotation__init(to);
	to->has_name_iid = true;
	to->name_iid = argument->argument;
	to->has_uint_value = argument->type == PERFETTO_IS_NUMBER;
	to->uint_value = argument->value;
	to->has_bool_value = argument->type == PERFETTO_IS_BOOL;
	to->bool_value = argument->value;
	to->has_string_value_iid = argument->type == PERFETTO_IS_TEXT;
	to->string_value_iid = argument->value;
}

static void put_begin(struct perfetto_writer *perfetto, Perfetto__TrackEvent__Type type,
		      struct perfetto_slice *slice)
{
	Perfetto__DebugAnnotation annotations[PERFETTO_ARGUMENTS_MAX];
	Perfetto__DebugAnnotation *arguments[PERFETTO_ARGUMENTS_MAX];
	Perfetto__TrackEvent begin = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = slice->category;
	size_t i;

	for (i = 0; i < slice->argument_count; i++) {
		set_annotation(&annotations[i], &slice->arguments[i]);
		arguments[i] = &annotations[i];
	}
	begin.n_category_iids = 1;
	begin.category_iids = &category;
	begin.n_debug_annotations = slice->argument_count;
	begin.debug_annotations = arguments;
	begin.has_name_iid = true;
	begin.name_iid = slice->name;
	begin.n_flow_ids = !!slice->next_flow_number;
	begin.flow_ids = &slice->next_flow_number;
	begin.has_callstack_iid = !!slice->stack;
	begin.callstack_iid = slice->stack;
	put_event(perfetto, &begin, type, slice->track, slice->begin_ns);
}

/**
 * perfetto_put_slice() - put a slice
 * @perfetto: state of the conversion
 * @slice: slice to put
 */
void perfetto_put_slice(struct perfetto_writer *perfetto, struct perfetto_slice *slice)
{
	Perfetto__TrackEvent end = PERFETTO__TRACK_EVENT__INIT;

	put_begin(perfetto, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, slice);
	end.n_terminating_flow_ids = !!slice->previous_flow_number;
	end.terminating_flow_ids = &slice->previous_flow_number;
	put_event(perfetto, &end, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, slice->track,
		  slice->end_ns);
}

/**
 * perfetto_put_instant() - put an instant
 * @perfetto: state of the conversion
 * @slice: instant to put
 */
void perfetto_put_instant(struct perfetto_writer *perfetto, struct perfetto_slice *slice)
{
	put_begin(perfetto, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT, slice);
}

/* Put a counter of the waiters of a class: their number on average, for each slot of time. */
static void put_counter(struct perfetto_writer *perfetto, const struct perfetto_track *track)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	uint64_t number = perfetto_take_number(&perfetto->tracks), i;
	uint64_t slot_ns = perfetto->tracks.timelines.slot_ticks;
	char text[NAME_SIZE], name[NAME_SIZE + 16];
	double value, before = 0;

	format_track_name(perfetto, track->key.group, track->key.number, text, sizeof(text));
	snprintf(name, sizeof(name), "%s: waiters", text);
	counter.has_unit = true;
	counter.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
	descriptor.counter = &counter;
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = track->key.group;
	put_track(perfetto, number, name, &descriptor);
	for (i = 0; i <= TIMELINE_SLOTS; i++) {
		Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

		value = i < TIMELINE_SLOTS ?
			track->wait_timeline->slot_sums[i] / (double)slot_ns : 0;
		if (i && value == before)
			continue;
		before = value;
		event.has_double_counter_value = true;
		event.double_counter_value = value;
		put_event(perfetto, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, number,
			  (int64_t)(i * slot_ns));
	}
}

/**
 * perfetto_put_counters() - put the counters of waiters, after the last event
 * @perfetto: state of the conversion
 */
void perfetto_put_counters(struct perfetto_writer *perfetto)
{
	const struct perfetto_track *track;

	for (track = perfetto->tracks.track_table; track; track = track->hh.next)
		if (track->wait_timeline)
			put_counter(perfetto, track);
}
