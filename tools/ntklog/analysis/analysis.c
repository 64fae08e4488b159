// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that is summed up of a trace. Events are taken in the order of the file: of one
 * processor that is the order of time, and more is not needed. Memory does not grow with
 * the file: see the limits of each kind.
 */

#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>

#include <ntklog/group_mask.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "analysis.h"
#include "charge_events.h"
#include "etl_reader.h"
#include "event_type.h"
#include "grow.h"

/* Of a stream, bytes in which a rundown is looked for. */
#define RUNDOWN_BYTES	0x1000000

/* Of each processor, buffers at the start in which a rundown is looked for. */
#define RUNDOWN_BUFFERS	2

#define HOOK_IDS	0x10000

static void read_spinlock_rates(struct spinlock_rates *rates,
				const struct etl_event *event)
{
	struct perfinfo_spinlock_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	/* NT's least is 1; 0 in a file would make records stand for nothing. */
	if (!dc.contention_sample_rate || !dc.acquire_sample_rate)
		return;
	rates->known = 1;
	rates->spin_threshold = dc.spin_threshold;
	rates->contention_rate = dc.contention_sample_rate;
	rates->acquire_rate = dc.acquire_sample_rate;
	rates->hold_threshold = dc.hold_threshold;
}

static void read_rules(struct spinlock_rates *rates, const struct etl_event *event)
{
	struct ntklog_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	rates->has_rules = 1;
	rates->linux_mode = dc.linux_mode;
	rates->blockers = dc.blockers;
}

static void read_resource_rates(struct resource_rates *rates,
				const struct etl_event *event)
{
	struct perfinfo_eresource_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	if (!dc.release_sampling_rate || !dc.contention_sampling_rate)
		return;
	*rates = (struct resource_rates) {
		.known = 1,
		.release_rate = dc.release_sampling_rate,
		.contention_rate = dc.contention_sampling_rate,
		.timeouts = dc.number_of_excessive_timeouts,
	};
}

/* A rundown at the start decides; one at the end where there is no other. */
static void take_rundown(struct analysis *analysis, struct etl_file *file,
			 const struct etl_event *event)
{
	const struct event_type *type = event_type_find(event);

	if (!type || event_type_check(file, event, type))
		return;
	if ((type->hook_id == PERFINFO_LOG_TYPE_SPINLOCK_DC_START ||
	     type->hook_id == PERFINFO_LOG_TYPE_SPINLOCK_DC_END) &&
	    !analysis->spinlocks.rates.known)
		read_spinlock_rates(&analysis->spinlocks.rates, event);
	if ((type->hook_id == NTKLOG_LOG_TYPE_DC_START ||
	     type->hook_id == NTKLOG_LOG_TYPE_DC_END) &&
	    !analysis->spinlocks.rates.has_rules)
		read_rules(&analysis->spinlocks.rates, event);
	if ((type->hook_id == PERFINFO_LOG_TYPE_ERESOURCE_DC_START ||
	     type->hook_id == PERFINFO_LOG_TYPE_ERESOURCE_DC_END) &&
	    !analysis->resources.rates.known)
		read_resource_rates(&analysis->resources.rates, event);
}

static void look_for_rundown(struct analysis *analysis, struct etl_reader *reader,
			     struct etl_cursor *cursor, uint64_t number)
{
	struct etl_event event;

	if (!etl_read_buffer(reader, cursor, number))
		return;
	while (cursor->next < cursor->end && etl_parse_event(reader, cursor, &event) == 1)
		take_rundown(analysis, &reader->file, &event);
}

/* The earliest event of the earliest buffer of each processor. */
static uint64_t first_time_left(struct etl_reader reader)
{
	struct etl_place *first = calloc(UINT16_MAX + 1, sizeof(*first));
	struct etl_cursor cursor = { 0 };
	uint64_t time = UINT64_MAX;
	struct etl_event event;
	size_t i;

	for (i = 1; first && i < reader.file.buffers; i++) {
		const struct etl_place *place = &reader.places[i];

		if (!first[place->processor].number ||
		    place->sequence_number < first[place->processor].sequence_number)
			first[place->processor] = *place;
	}
	for (i = 0; first && i <= UINT16_MAX; i++) {
		if (!first[i].number || !etl_read_buffer(&reader, &cursor, first[i].number))
			continue;
		while (cursor.next < cursor.end &&
		       etl_parse_event(&reader, &cursor, &event) == 1)
			if (event.has_time && !event.wrong_time) {
				if (event.time_stamp < time)
					time = event.time_stamp;
				break;
			}
	}
	free(cursor.buffer);
	free(first);
	return time == UINT64_MAX ? reader.file.start_clock : time;
}

/* Where does what is wanted, and there, begin? */
static void find_origin(struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;

	analysis->origin = file->overwritten ? first_time_left(*etl_const_reader(file)) :
						 file->start_clock;
	if (selection && selection->has_from && selection->from > 0 &&
	    etl_seconds(file, analysis->origin) < selection->from)
		analysis->origin = file->start_clock +
				   (uint64_t)(selection->from * (double)file->perf_freq);
}

/* Is there nothing left to be looked for? */
static bool knows_rates(const struct analysis *analysis)
{
	return analysis->spinlocks.rates.known && analysis->spinlocks.rates.has_rules &&
	       analysis->resources.rates.known;
}

/* Of a stream more is read while the rates are not known. */
static bool may_look_further(const struct analysis *analysis, struct etl_reader *reader)
{
	if (!reader->input || reader->input->bytes >= RUNDOWN_BYTES || knows_rates(analysis))
		return false;
	return etl_more(reader);
}

/**
 * analysis_find_rates() - find the rates of the sampling, before what was sampled
 * @analysis: where they go
 * @file: a file that is open; its place and error stay
 *
 * A rundown is at the start of some processor's events, which may be anywhere in the file:
 * the first buffers of each processor are looked at, and then the last ones. Of a stream
 * the first 16 MiB are.
 */
void analysis_find_rates(struct analysis *analysis, struct etl_file *file)
{
	struct etl_reader *reader = etl_reader(file), copy = *reader;
	struct etl_cursor cursor = { 0 };
	uint64_t *last = calloc(UINT16_MAX + 1, sizeof(*last));
	uint8_t *seen = calloc(UINT16_MAX + 1, sizeof(*seen));
	size_t i;

	if (!last || !seen)
		goto out;
	for (i = 1; i < file->buffers || may_look_further(analysis, reader); i++) {
		unsigned int processor = reader->places[i].processor;

		if (seen[processor] < RUNDOWN_BUFFERS) {
			seen[processor]++;
			look_for_rundown(analysis, &copy, &cursor, reader->places[i].number);
		} else {
			last[processor] = reader->places[i].number;
		}
	}
	for (i = 0; i <= UINT16_MAX && !knows_rates(analysis); i++)
		if (last[i])
			look_for_rundown(analysis, &copy, &cursor, last[i]);
out:
	free(cursor.buffer);
	free(seen);
	free(last);
}

static void check_rundown(struct analysis *analysis, const struct etl_event *event)
{
	struct spinlock_rates spinlock = analysis->spinlocks.rates;
	struct resource_rates resource = analysis->resources.rates;

	if (event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK_DC_START ||
	    event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK_DC_END ||
	    event->hook_id == NTKLOG_LOG_TYPE_DC_START ||
	    event->hook_id == NTKLOG_LOG_TYPE_DC_END) {
		if (event->hook_id == NTKLOG_LOG_TYPE_DC_START ||
		    event->hook_id == NTKLOG_LOG_TYPE_DC_END)
			read_rules(&spinlock, event);
		else
			read_spinlock_rates(&spinlock, event);
		if (memcmp(&spinlock, &analysis->spinlocks.rates, sizeof(spinlock)))
			analysis->rates_changed = true;
	} else if (event->hook_id == PERFINFO_LOG_TYPE_ERESOURCE_DC_START ||
		   event->hook_id == PERFINFO_LOG_TYPE_ERESOURCE_DC_END) {
		read_resource_rates(&resource, event);
		if (memcmp(&resource, &analysis->resources.rates, sizeof(resource)))
			analysis->rates_changed = true;
	}
}

static void add_unknown(struct analysis *analysis, const struct etl_event *event)
{
	if (!event->has_hook_id) {
		analysis->unknown_headers[event->header_type]++;
		return;
	}
	if (!analysis->unknown)
		analysis->unknown = calloc(HOOK_IDS, sizeof(*analysis->unknown));
	if (analysis->unknown)
		analysis->unknown[event->hook_id]++;
}

/* The events of the first buffer say what the file is, and nothing of what happened. */
static bool is_of_header(const struct etl_file *file, const struct etl_event *event)
{
	return event->offset < file->buffer_size &&
	       (event->header_type == TRACE_HEADER_TYPE_SYSTEM32 ||
		event->header_type == TRACE_HEADER_TYPE_SYSTEM64);
}

static void take_time(struct analysis *analysis, unsigned int number, uint64_t time)
{
	struct analysis_processor *processor;

	if (number >= analysis->processor_count) {
		struct analysis_processor *more = grown_to(analysis->processors,
							   analysis->processor_count, number + 1,
							   sizeof(*more));

		if (!more) {
			analysis->switches.no_memory = true;
			return;
		}
		analysis->processors = more;
		analysis->processor_count = number + 1;
	}
	processor = &analysis->processors[number];
	if (!processor->events++ || time < processor->first_time)
		processor->first_time = time;
	if (!analysis->first_time || time < analysis->first_time)
		analysis->first_time = time;
	if (time > analysis->last_time)
		analysis->last_time = time;
}

static uint64_t key_of(struct analysis *analysis, uint64_t address, const struct etl_event *event)
{
	return analysis->by_address ? address :
		lock_classes_key(&analysis->classes, analysis->names, address, event->time_stamp);
}

static void add_spinlock(struct analysis *analysis, const struct charge_event *from)
{
	const struct spinlock_rates *rates = &analysis->spinlocks.rates;
	const struct etl_event *event = from->event;
	const struct stack *stack = from->stack;
	struct spinlock_record record;
	uint64_t class;
	int64_t hold;

	spinlock_record_read(&record, event);
	class = key_of(analysis, record.lock, event);
	if (analysis->charges.charges)
		charge_add_spinlock(&analysis->charges, from, &record, class,
				    spinlock_weight(rates, &record),
				    !(spinlock_rule(rates, &record) & WMI_SPINLOCK_RULE_WAIT));
	record.lock = class;
	spinlock_stats_add(&analysis->spinlocks, &record, event->time_stamp - analysis->origin);
	if (!stack)
		return;
	hold = record.release_time - record.acquire_time;
	stack_stats_add(&analysis->stacks, stack, &(struct stack_record) {
		.weight = spinlock_weight(rates, &record),
		.is_sample = rates->acquire_rate > 1,
		.waits_are_sample = rates->contention_rate > 1,
		.has_waited = record.spin_count,
		.wait = record.wait_time,
		.has_hold = !(spinlock_rule(rates, &record) & WMI_SPINLOCK_RULE_WAIT),
		.hold = hold > 0 ? hold : 0,
	});
}

static void add_resource(struct analysis *analysis, const struct charge_event *from)
{
	const struct resource_rates *rates = &analysis->resources.rates;
	const struct etl_event *event = from->event;
	const struct stack *stack = from->stack;
	struct resource_record record;
	uint64_t address, weight;

	resource_record_read(&record, event);
	address = record.resource;
	record.resource = key_of(analysis, address, event);
	weight = resource_stats_add(&analysis->resources, &record,
				    event->time_stamp - analysis->origin);
	if (analysis->charges.charges && weight) {
		uint64_t class = record.resource;

		record.resource = address;
		charge_add_resource(&analysis->charges, from, &record, class, weight);
	}
	stack_stats_add(&analysis->stacks, stack, &(struct stack_record) {
		.weight = weight,
		.is_sample = rates->release_rate > 1,
		.waits_are_sample = rates->contention_rate > 1,
		.has_waited = record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN,
		.wait = record.wait_time,
		.has_hold = record.hold_time,
		.hold = record.hold_time,
	});
}

/**
 * analysis_add() - add an event
 * @analysis: where to
 * @file: that it is of
 * @event: the event
 * @stack: of it, or NULL
 *
 * Return: 0, or -1 with a message in @file->error: it is damaged and left out.
 */
int analysis_add(struct analysis *analysis, struct etl_file *file,
		 const struct etl_event *event, const struct stack *stack)
{
	const struct charge_event from = { .file = file, .event = event, .stack = stack };
	const struct event_type *type = event_type_find(event);
	const struct selection *selection = analysis->selection;
	struct contextswap_record contextswap;

	if (event->wrong_time)
		return 0;
	if (selection && !selection_in_time(selection, file, event)) {
		analysis->more |= selection->has_to &&
				  etl_seconds(file, event->time_stamp) > selection->to;
		return 0;
	}
	if (type && event_type_check(file, event, type))
		return -1;
	/* What is left out by the filter has taken its time nevertheless. */
	if (event->has_time && !is_of_header(file, event))
		take_time(analysis, event->processor, event->time_stamp);
	if (selection && selection->filter &&
	    !filter_match(selection->filter, file, event, type, analysis->names))
		return 0;
	/* The file's header is made of events too, which say what the file is. */
	if (is_of_header(file, event))
		return 0;
	analysis->events++;
	if (!type) {
		if (!(stack && stack->state == STACK_ALONE))
			add_unknown(analysis, event);
		return 0;
	}
	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		add_spinlock(analysis, &from);
		break;
	case PERFINFO_LOG_TYPE_RESOURCE:
		add_resource(analysis, &from);
		break;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		contextswap_record_read(&contextswap, event);
		switch_stats_add(&analysis->switches, &contextswap, event->processor,
				 event->time_stamp, analysis->origin);
		if (analysis->charges.charges)
			charge_add_contextswap(&analysis->charges, &from, &contextswap);
		break;
	default:
		check_rundown(analysis, event);
	}
	return 0;
}

static const struct etl_event *next_event(void *merge)
{
	return etl_merge_next(merge);
}

/**
 * analysis_read() - sum up a file
 * @analysis: empty
 * @file: a file that is open and of which no event has been read
 *
 * What is damaged is left out: see @file->error.
 */
void analysis_read(struct analysis *analysis, struct etl_file *file)
{
	const struct etl_event *event;
	const struct stack *stack;
	struct etl_merge *merge;
	struct stacks *stacks;

	analysis->has_groups = etl_group_mask(file, &analysis->groups);
	analysis_find_rates(analysis, file);
	find_origin(analysis, file);
	analysis->spinlocks.timelines.ticks_per_cycle =
		(double)file->perf_freq / (double)file->cycle_freq;
	analysis->resources.timelines.ticks_per_cycle =
		analysis->spinlocks.timelines.ticks_per_cycle;
	/* Waits are charged in the order of time. */
	merge = etl_merge_open(file);
	stacks = merge ? stacks_open(file, next_event, merge) : NULL;
	if (!stacks) {
		analysis->stacks.no_memory = true;
		goto close;
	}
	if (analysis->charges_waits)
		charge_sums_open(&analysis->charges, analysis->names, analysis->charge_by,
				 file->perf_freq);
	while ((event = stacks_next(stacks, &stack)))
		analysis_add(analysis, file, event, stack);
	analysis->stacks.counts = *stacks_counts(stacks);
	analysis->stacks.has_any = stacks_has_any(stacks);
	stacks_close(stacks);
	charge_sums_finish(&analysis->charges);
	analysis_finish(analysis);
close:
	if (merge)
		etl_merge_close(merge);
}

/*
 * Of a flight recording each processor's events reach back as far as its buffers do. The
 * rates of all together are those of one time: the mean of those of each, by its events.
 */
static double covered_ticks(const struct analysis *analysis)
{
	double events = 0, per_tick = 0;
	size_t i;

	for (i = 0; i < analysis->processor_count; i++) {
		const struct analysis_processor *processor = &analysis->processors[i];

		if (!processor->events || processor->first_time >= analysis->last_time)
			continue;
		events += (double)processor->events;
		per_tick += (double)processor->events /
			    (double)(analysis->last_time - processor->first_time);
	}
	return per_tick > 0 ? events / per_tick : 0;
}

/**
 * analysis_seconds() - how long did it last?
 * @analysis: of a file
 * @file: the file
 *
 * Return: from the session's start, or what has been overwritten, or the first time that
 * is wanted, to the last event or the last time that is wanted; seconds.
 */
double analysis_seconds(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;
	double from = etl_seconds(file, analysis->origin), to;

	if (file->overwritten)
		return covered_ticks(analysis) / (double)file->perf_freq;
	if (selection && selection->has_to && analysis->more)
		to = selection->to;
	else if (analysis->last_time)
		to = etl_seconds(file, analysis->last_time);
	else
		return 0;
	return to > from ? to - from : 0;
}

/**
 * analysis_has_group() - was an event group enabled?
 * @analysis: analysis of a file
 * @group: one event group, PERF_*
 *
 * Return: true if the group was enabled; false if it was not, or the file does not say.
 */
bool analysis_has_group(const struct analysis *analysis, uint32_t group)
{
	return analysis->has_groups &&
	       analysis->groups.masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

/**
 * analysis_finish() - nothing is added any more
 * @analysis: to be shown
 */
void analysis_finish(struct analysis *analysis)
{
	uint64_t ticks = analysis->last_time - analysis->origin;

	spinlock_stats_finish(&analysis->spinlocks);
	timelines_cover(&analysis->spinlocks.timelines, ticks);
	timelines_cover(&analysis->resources.timelines, ticks);
	timelines_cover(&analysis->switches.timelines, ticks);
}

/**
 * analysis_free() - make it an empty one
 * @analysis: whatever it holds
 */
void analysis_free(struct analysis *analysis)
{
	lock_classes_free(&analysis->classes);
	spinlock_stats_free(&analysis->spinlocks);
	resource_stats_free(&analysis->resources);
	switch_stats_free(&analysis->switches);
	stack_stats_free(&analysis->stacks);
	charge_sums_free(&analysis->charges);
	free(analysis->processors);
	free(analysis->unknown);
	*analysis = (struct analysis) { 0 };
}
