// SPDX-License-Identifier: GPL-2.0-only

#include <string.h>

#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "analysis_records.h"
#include "charge_thread.h"

/* @is_counted: the tables of locks have the event */
static uint64_t lock_key_of(struct analysis *analysis, uint64_t address,
			    const struct etl_event *event, bool is_counted)
{
	return analysis->sums_by_address ? address :
		lock_classes_find_key(&analysis->classes, analysis->names, address,
				      event->time_stamp, is_counted);
}

static bool count_wanted_lock(struct analysis *analysis, uint64_t address,
			      const struct etl_event *event)
{
	return wanted_lock_count_event(&analysis->wanted_lock, analysis->names, address,
				       event->time_stamp, analysis->sums_by_address);
}

static const struct spinlock_rates *spinlock_rates_of(const struct analysis *analysis,
						      const struct etl_event *event)
{
	return analysis->rates_history.is_finished && analysis->rates_history.interval_count > 1 ?
		&rates_at(&analysis->rates_history, event->time_stamp)->spinlock :
		&analysis->spinlocks.rates;
}

static const struct resource_rates *resource_rates_of(const struct analysis *analysis,
						      const struct etl_event *event)
{
	return analysis->rates_history.is_finished && analysis->rates_history.interval_count > 1 ?
		&rates_at(&analysis->rates_history, event->time_stamp)->resource :
		&analysis->resources.rates;
}

static void add_stack(struct analysis *analysis, const struct stack *stack,
		      const struct stack_record *record)
{
	stack_stats_add(&analysis->stacks, stack, record);
	if (analysis->has_lock_stacks)
		stack_stats_add(&analysis->lock_stacks, stack, record);
}

/* Test whether a record has a stack to sum up, or belongs to the sums of locks without one. */
static bool has_stack_sums(const struct analysis *analysis, const struct record_source *source)
{
	return source->stack || analysis->stacks.sums_by_lock || analysis->has_lock_stacks;
}

static struct record_origin make_record_origin(const struct analysis *analysis,
					       const struct etl_event *event)
{
	return (struct record_origin) {
		.cpu = event->processor, .ticks = event->time_stamp - analysis->origin_time,
	};
}

static bool has_groups(const struct analysis *analysis, uint32_t groups)
{
	return analysis->groups.masks[PERF_MASK_INDEX(groups)] & PERF_MASK_BITS(groups);
}

/*
 * Tell whether the groups of a record were observed. The sums of a running session have no group
 * mask.
 */
static enum observation_state observation_state_of(const struct analysis *analysis, uint32_t groups,
						   const struct etl_event *event)
{
	if (!has_groups(analysis, groups))
		return OBSERVATION_ON;
	return coverage_observation_state(&analysis->coverage, groups, event->time_stamp);
}

static void add_spinlock(struct analysis *analysis, const struct record_source *source,
			 struct spinlock_record *record)
{
	const struct etl_event *event = source->event;
	struct spinlock_sample sample = {
		.record = record,
		.rates = spinlock_rates_of(analysis, event),
		.origin = make_record_origin(analysis, event),
	};
	struct split_sums *split_sums = analysis->split_sums;
	struct spinlock_pair *pair = NULL;
	struct hold_with_stacks result;
	bool is_wanted, has_hold;
	uint32_t groups;
	uint64_t class;

	sample.rule = find_spinlock_rule(sample.rates, record);
	sample.weight = compute_spinlock_weight(sample.rates, record);
	is_wanted = source->is_selected && count_wanted_lock(analysis, record->lock, event);
	class = lock_key_of(analysis, record->lock, event, is_wanted);
	if (is_wanted)
		pair = spinlock_stats_find(&analysis->spinlocks, class, record->caller);
	if (analysis->charge_sums.charger || split_sums)
		convert_spinlock_to_hold(&result, source, record, sample.rule);
	if (analysis->charge_sums.charger) {
		result.hold.class = class;
		result.hold.weight = is_wanted ? sample.weight : 0;
		charging_thread_add_hold(&analysis->charge_sums, &result.hold);
	}
	if (!is_wanted)
		return;
	record->lock = class;
	groups = find_spinlock_groups(UINT64_C(1) << record->mode,
				      has_groups(analysis, SPINLOCK_LINUX_GROUPS));
	sample.origin.observation = observation_state_of(analysis, groups, event);
	spinlock_stats_add(&analysis->spinlocks, pair, &sample);
	has_hold = !(sample.rule & WMI_SPINLOCK_RULE_WAIT);
	if (has_stack_sums(analysis, source))
		add_stack(analysis, source->stack, &(struct stack_record) {
			.weight = sample.weight,
			.is_sampled = sample.rates->acquire_rate > 1,
			.waits_are_sampled = sample.rates->contention_rate > 1,
			.has_waited = record->spin_count,
			.wait = record->wait_time,
			.is_wait_only = !has_hold,
			.has_hold = has_hold,
			.hold = record->release_time - record->acquire_time,
			.class = class,
			.attribute_number = split_sums ?
				split_sums_find(split_sums, 0, &result.hold) : record->thread_id,
			.caller = record->caller,
		});
	if (split_sums) {
		record->lock = split_sums_find(split_sums, class, &result.hold);
		pair = spinlock_stats_find(&split_sums->spinlocks, record->lock, record->caller);
		spinlock_stats_add(&split_sums->spinlocks, pair, &sample);
	}
}

static void add_resource(struct analysis *analysis, const struct record_source *source,
			 struct resource_record *record)
{
	const struct etl_event *event = source->event;
	const struct resource_rates *rates = resource_rates_of(analysis, event);
	struct record_origin origin = make_record_origin(analysis, event);
	uint64_t class, weight = 0;
	struct split_sums *split_sums = analysis->split_sums;
	struct hold_with_stacks result;
	bool is_wanted;

	kept_callers_complete_record(analysis->kept_callers, event, record);
	if (resource_record_is_release(record))
		open_holds_drop_entry(&analysis->open_holds, record->resource, record->thread_id);
	is_wanted = source->is_selected && count_wanted_lock(analysis, record->resource, event);
	class = lock_key_of(analysis, record->resource, event, is_wanted);
	if (analysis->charge_sums.charger || split_sums)
		convert_resource_to_hold(&result, source, record);
	record->resource = class;
	if (is_wanted) {
		origin.observation = observation_state_of(analysis,
							  resource_kind_group(record->kind), event);
		weight = resource_stats_add(&analysis->resources, record, rates, &origin);
	}
	if (analysis->charge_sums.charger && resource_record_is_release(record)) {
		result.hold.class = class;
		result.hold.weight = weight;
		charging_thread_add_hold(&analysis->charge_sums, &result.hold);
	}
	if (!is_wanted)
		return;
	add_stack(analysis, source->stack, &(struct stack_record) {
		.weight = weight,
		.is_sampled = rates->release_rate > 1,
		.waits_are_sampled = rates->contention_rate > 1,
		.has_waited = record->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN,
		.wait = record->wait_time,
		.has_hold = record->hold_time,
		.hold = record->hold_time,
		.class = class,
		.is_sleeping_lock = true,
		.kind = record->kind,
		.attribute_number = split_sums ? split_sums_find(split_sums, 0, &result.hold) :
								    record->thread_id,
		.caller = record->caller,
	});
	if (split_sums) {
		record->resource = split_sums_find(split_sums, class, &result.hold);
		resource_stats_add(&split_sums->resources, record, rates, &origin);
	}
}

/* Add a context switch to the sums of each thread on each CPU. */
static void add_split_switch(struct split_sums *split_sums, const struct etl_event *event,
			     const struct contextswap_record *contextswap, uint64_t origin,
			     bool is_in_window)
{
	const struct charge_hold hold = { .cpu = event->processor };
	struct contextswap_record record = *contextswap;

	if (split_sums->labels.attribute != CHARGE_BY_CPU)
		return;
	if (record.old_thread_id)
		record.old_thread_id = split_sums_find(split_sums, record.old_thread_id, &hold);
	if (record.new_thread_id)
		record.new_thread_id = split_sums_find(split_sums, record.new_thread_id, &hold);
	switch_stats_add(&split_sums->switches, &record, event->processor, event->time_stamp,
			 origin, is_in_window);
}

/**
 * analysis_add_switch() - add a context switch to the sums of threads and CPUs
 * @analysis: analysis to change
 * @event: the event, which the filter selects
 * @record: its fields
 * @is_in_window: the selected time includes the event
 */
void analysis_add_switch(struct analysis *analysis, const struct etl_event *event,
			 const struct contextswap_record *record, bool is_in_window)
{
	switch_stats_add(&analysis->switches, record, event->processor, event->time_stamp,
			 analysis->origin_time, is_in_window);
	if (analysis->split_sums)
		add_split_switch(analysis->split_sums, event, record, analysis->origin_time,
				 is_in_window);
}

static void add_contextswap(struct analysis *analysis, const struct record_source *source,
			    const struct contextswap_record *record)
{
	if (source->is_selected)
		analysis_add_switch(analysis, source->event, record, true);
	if (analysis->charge_sums.charger)
		charge_add_contextswap(&analysis->charge_sums, source, record);
}

static void add_open_hold(struct analysis *analysis, const struct record_source *source)
{
	const struct etl_event *event = source->event;
	struct open_hold hold = { .has_off_cpu_times = event->data_size == sizeof(hold.event) };

	memcpy(&hold.event, event->data, event->data_size);
	hold.class = lock_key_of(analysis, hold.event.lock, event, false);
	hold.is_wanted = source->is_selected &&
			 count_wanted_lock(analysis, hold.event.lock, event);
	open_holds_add(&analysis->open_holds, &hold);
}

/**
 * analysis_add_record() - add an event to all sums
 * @analysis: analysis to change
 * @source: the event, which is of a known type; those of types without sums add nothing
 * @record: the fields of the event, which may be changed; not used for an open hold
 */
void analysis_add_record(struct analysis *analysis, const struct record_source *source,
			 union wmi_record *record)
{
	switch (source->event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		add_spinlock(analysis, source, &record->spinlock);
		break;
	case PERFINFO_LOG_TYPE_RESOURCE:
		add_resource(analysis, source, &record->resource);
		break;
	case NTKLOG_LOG_TYPE_OPEN_HOLD:
		add_open_hold(analysis, source);
		break;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		add_contextswap(analysis, source, &record->contextswap);
		break;
	}
}
