// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <string.h>
#include <strings.h>

#include <ntklog/event.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "comparison.h"
#include "wmi_record.h"

static bool order_matches(enum comparison_operator operator, int order)
{
	switch (operator) {
	case IS_EQUAL:
		return !order;
	case IS_NOT_EQUAL:
		return order;
	case IS_LESS:
		return order < 0;
	case IS_GREATER:
		return order > 0;
	case IS_LESS_OR_EQUAL:
		return order <= 0;
	case IS_GREATER_OR_EQUAL:
		return order >= 0;
	case CONTAINS:
		break;
	}
	return false;
}

static bool text_matches(const struct comparison *comparison, const char *text)
{
	if (comparison->operator == CONTAINS)
		return strcasestr(text, comparison->text);
	return order_matches(comparison->operator, strcasecmp(text, comparison->text));
}

/*
 * Compare a thing that may have a second name, @other. "!=" is true if the filter's text is neither
 * name; any other operator is true if it is true of one name.
 */
static bool names_match(const struct comparison *comparison, const char *name, const char *other)
{
	if (!other)
		return text_matches(comparison, name);
	if (comparison->operator == IS_NOT_EQUAL)
		return text_matches(comparison, name) && text_matches(comparison, other);
	return text_matches(comparison, name) || text_matches(comparison, other);
}

static bool duration_matches(const struct comparison *comparison, double ns)
{
	return order_matches(comparison->operator,
			     (ns > comparison->ns) - (ns < comparison->ns));
}

static bool number_matches(const struct comparison *comparison, uint64_t value)
{
	if (comparison->kind == OPERAND_SIGNED)
		return order_matches(comparison->operator,
				     ((int64_t)value > (int64_t)comparison->number) -
				     ((int64_t)value < (int64_t)comparison->number));
	return order_matches(comparison->operator,
			     (value > comparison->number) - (value < comparison->number));
}

static bool address_matches(const struct comparison *comparison, const struct names *names,
			    uint64_t address, enum symbol_kind symbol_kind)
{
	char text[NAME_SIZE];
	uint64_t offset;
	const char *name, *module;
	bool is_same;

	if (comparison->is_number)
		return number_matches(comparison, address);
	if (comparison->operator == CONTAINS)
		return names_format_symbol(names, address, symbol_kind, text, sizeof(text)) &&
		       text_matches(comparison, text);
	name = names_find_symbol(names, address, symbol_kind, &offset, &module);
	is_same = name && !strcmp(name, comparison->symbol) &&
		(!comparison->has_offset || offset == comparison->number) &&
		(!comparison->module || (module && !strcmp(module, comparison->module)));
	return is_same == (comparison->operator == IS_EQUAL);
}

static bool class_matches(const struct comparison *comparison, const struct names *names,
			  const struct etl_event *event, uint64_t address)
{
	uint64_t key = names_find_lock_key(names, address, event->time_stamp);
	char text[NAME_SIZE];

	/* A lock without a class differs from every class: only "!=" is true. */
	if (!names_key_is_class(names, key))
		return comparison->operator == IS_NOT_EQUAL;
	names_format_symbol(names, key, NAMES_OF_ANY, text, sizeof(text));
	return text_matches(comparison, text);
}

/* Compare a lock: by a number its address, by a name its symbol and its class. */
static bool lock_matches(const struct comparison *comparison, const struct names *names,
			 const struct etl_event *event, uint64_t address)
{
	bool symbol_matches = address_matches(comparison, names, address, NAMES_OF_ANY);

	if (comparison->is_number)
		return symbol_matches;
	/* "==" needs one of the two names, "!=" neither of them. */
	if (comparison->operator == IS_NOT_EQUAL)
		return symbol_matches && class_matches(comparison, names, event, address);
	return symbol_matches || class_matches(comparison, names, event, address);
}

/*
 * Compare the name of a task, of its process or of its cgroup. If the file does not tell that name,
 * only "!=" is true. The idle thread may be called IDLE_NAME besides the name in the file.
 */
static bool task_matches(const struct comparison *comparison, const struct names *names,
			 uint64_t clock, uint32_t thread_id)
{
	const char *name = NULL;
	uint32_t id = thread_id;

	switch (comparison->subject) {
	case SUBJECT_PROCESS:
		if (!names_find_process(names, thread_id, clock, &id, &name) && thread_id)
			return comparison->operator == IS_NOT_EQUAL;
		break;
	case SUBJECT_CGROUP:
		name = names_find_cgroup(names, thread_id, clock);
		break;
	default:
		name = names_find_thread_name(names, thread_id);
		break;
	}
	if (comparison->is_number)
		return number_matches(comparison, id);
	if (!thread_id)
		return names_match(comparison, IDLE_NAME, name);
	return name ? text_matches(comparison, name) : comparison->operator == IS_NOT_EQUAL;
}

static bool compares_task(const struct comparison *comparison)
{
	return comparison->subject == SUBJECT_THREAD || comparison->subject == SUBJECT_PROCESS ||
	       comparison->subject == SUBJECT_CGROUP;
}

static bool field_matches(const struct comparison *comparison, const struct etl_file *file,
			  const struct etl_event *event, const struct event_type *type,
			  const struct names *names)
{
	const struct event_field *field = type ? comparison->fields[type - event_types] : NULL;
	const char *symbol;
	uint64_t value;

	if (!field || !event_has_field(event, field))
		return false;
	value = event_field_value(field, event);
	if (comparison->kind == OPERAND_ADDRESS)
		return event_field_is_lock(field) ?
			lock_matches(comparison, names, event, value) :
			address_matches(comparison, names, value, NAMES_OF_CODE);
	if (comparison->kind == OPERAND_THREAD)
		return task_matches(comparison, names, event->time_stamp, value);
	if (comparison->is_time)
		return duration_matches(comparison, etl_cycles_ns(file, (double)value));
	if (comparison->is_number)
		return number_matches(comparison, value);
	symbol = event_field_symbol(field, value);
	return symbol && text_matches(comparison, symbol);
}

static bool ticks_match(const struct comparison *comparison, const struct etl_file *file,
			uint64_t begin, uint64_t end)
{
	return duration_matches(comparison, end < begin ? 0 : (double)(end - begin) * 1e9 /
				(double)file->perf_freq);
}

/* Compare how long a lock has been held or waited for when the recording ended. */
static bool open_hold_time_matches(const struct comparison *comparison, const struct etl_file *file,
				   const struct ntklog_open_hold *hold)
{
	if (open_hold_is_waiting(hold))
		return comparison->subject == SUBJECT_WAIT &&
		       ticks_match(comparison, file, hold->since, hold->list_time);
	if (comparison->subject == SUBJECT_HOLD)
		return ticks_match(comparison, file, hold->since, hold->list_time);
	return hold->wait_time != WMI_RESOURCE_WAIT_TIME_UNKNOWN &&
	       duration_matches(comparison, etl_cycles_ns(file, (double)hold->wait_time));
}

/*
 * Test whether the hold of a spin lock is known. A record of a wait, or of a release alone, has
 * such a rule and equal times. The times replace the search for ntklog's rundown, which may come
 * late in a stream: in files without it the byte is reserved, and different times are a hold.
 */
static bool hold_is_known(const struct spinlock_record *record)
{
	return record->release_time > record->acquire_time ||
	       !(record->rule & (WMI_SPINLOCK_RULE_WAIT | WMI_SPINLOCK_RULE_HOLD_UNKNOWN));
}

/* Compare SUBJECT_HOLD or SUBJECT_WAIT. */
static bool time_matches(const struct comparison *comparison, const struct etl_file *file,
			 const struct etl_event *event)
{
	struct ntklog_open_hold open_hold = { 0 };
	struct resource_record resource;
	struct spinlock_record spinlock;
	bool is_excessive;
	uint64_t wait;

	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		if (comparison->subject == SUBJECT_WAIT)
			return duration_matches(comparison,
						etl_cycles_ns(file, spinlock.wait_time));
		return hold_is_known(&spinlock) &&
		       duration_matches(comparison, etl_cycles_ns(file, (double)
			(spinlock.release_time - spinlock.acquire_time)));
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		is_excessive = resource.action & WMI_RESOURCE_ACTION_EXCESSIVE;
		if (comparison->subject == SUBJECT_HOLD)
			return resource.hold_time && !is_excessive &&
			       duration_matches(comparison,
						etl_cycles_ns(file, (double)resource.hold_time));
		wait = is_excessive ? resource.hold_time : resource.wait_time;
		return wait != WMI_RESOURCE_WAIT_TIME_UNKNOWN &&
		       duration_matches(comparison, etl_cycles_ns(file, (double)wait));
	case NTKLOG_LOG_TYPE_OPEN_HOLD:
		memcpy(&open_hold, event->data, event->data_size);
		return open_hold_time_matches(comparison, file, &open_hold);
	}
	return false;
}

static bool contextswap_matches(const struct comparison *comparison, const struct etl_event *event,
				const struct names *names)
{
	struct contextswap_record contextswap;
	bool old_matches, new_matches;

	contextswap_record_read(&contextswap, event);
	old_matches = task_matches(comparison, names, event->time_stamp,
				   contextswap.old_thread_id);
	new_matches = task_matches(comparison, names, event->time_stamp,
				   contextswap.new_thread_id);
	/* "==" needs one of the two threads, "!=" neither of them. */
	return comparison->operator == IS_NOT_EQUAL ? old_matches && new_matches :
						      old_matches || new_matches;
}

/* Compare the caller of a record, which another event before it may have. */
static bool caller_matches(const struct comparison *comparison, const struct etl_event *event,
			   const struct event_field *field, const struct names *names,
			   const struct kept_caller *callers)
{
	struct resource_record resource;

	if (field)
		return address_matches(comparison, names, event_field_value(field, event),
				       NAMES_OF_CODE);
	if (event->hook_id != PERFINFO_LOG_TYPE_RESOURCE)
		return false;
	resource_record_read(&resource, event);
	kept_callers_complete_record(callers, event, &resource);
	return resource.caller &&
	       address_matches(comparison, names, resource.caller, NAMES_OF_CODE);
}

/* The first event of a list of open holds has no lock and no task. */
static bool begins_list(const struct etl_event *event)
{
	struct ntklog_open_hold hold = { 0 };

	if (event->hook_id != NTKLOG_LOG_TYPE_OPEN_HOLD)
		return false;
	memcpy(&hold, event->data, event->data_size);
	return hold.action == NTKLOG_OPEN_LIST;
}

/* Compare a subject with a common name, such as SUBJECT_HOLD, in an event of a known type. */
static bool record_matches(const struct comparison *comparison, const struct etl_file *file,
			   const struct etl_event *event, const struct event_type *type,
			   const struct names *names, const struct kept_caller *callers)
{
	const struct event_field *field = comparison->fields[type - event_types];
	uint64_t value;

	if (begins_list(event))
		return false;
	if (comparison->subject == SUBJECT_HOLD || comparison->subject == SUBJECT_WAIT)
		return time_matches(comparison, file, event);
	if (comparison->subject == SUBJECT_CALLER)
		return caller_matches(comparison, event, field, names, callers);
	if (compares_task(comparison) && event->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP)
		return contextswap_matches(comparison, event, names);
	if (!field)
		return false;
	value = event_field_value(field, event);
	if (comparison->subject == SUBJECT_LOCK)
		return lock_matches(comparison, names, event, value);
	if (comparison->subject == SUBJECT_CLASS)
		return class_matches(comparison, names, event, value);
	return task_matches(comparison, names, event->time_stamp, value);
}

static bool header_matches(const struct comparison *comparison, const struct etl_event *event,
			   const struct names *names)
{
	struct etl_event_header header;
	char guid[ETL_GUID_SIZE];

	etl_read_event_header(&header, event);
	switch (comparison->subject) {
	case SUBJECT_PROVIDER:
		if (!header.has_provider)
			return false;
		etl_format_guid(header.provider, guid);
		return names_match(comparison, guid, etl_provider_name(header.provider));
	case SUBJECT_ID:
		return header.has_id && number_matches(comparison, header.id);
	case SUBJECT_VERSION:
		return header.has_opcode && number_matches(comparison, header.version);
	case SUBJECT_OPCODE:
		return header.has_opcode && number_matches(comparison, header.opcode);
	case SUBJECT_LEVEL:
		return header.has_opcode && number_matches(comparison, header.level);
	case SUBJECT_PROCESS_ID:
		return header.has_process && number_matches(comparison, header.process_id);
	default:
		return header.has_process &&
		       task_matches(comparison, names, event->time_stamp, header.thread_id);
	}
}

/**
 * comparison_is_true() - test whether a comparison holds for an event
 * @comparison: comparison
 * @file: file of the event
 * @event: event
 * @type: type of the event, or NULL if it is not known
 * @names: names of addresses, or NULL
 * @callers: as for filter_matches()
 *
 * Return: true if the comparison holds for the event.
 */
bool comparison_is_true(const struct comparison *comparison, const struct etl_file *file,
			const struct etl_event *event, const struct event_type *type,
			const struct names *names, const struct kept_caller *callers)
{
	switch (comparison->subject) {
	case SUBJECT_EVENT:
		return text_matches(comparison, event_name(event, type));
	case SUBJECT_CPU:
		return number_matches(comparison, event->processor);
	case SUBJECT_SECONDS:
		return duration_matches(comparison, 1e9 * etl_seconds(file, event->time_stamp));
	case SUBJECT_TIME_STAMP:
		return !event->has_impossible_time && number_matches(comparison, event->time_stamp);
	case SUBJECT_WRONG_TIME_STAMP:
		return event->has_impossible_time && number_matches(comparison, event->raw_time);
	case SUBJECT_HOOK_ID:
		return event->has_hook_id && number_matches(comparison, event->hook_id);
	case SUBJECT_VERSION:
		if (!event->has_hook_id)
			return header_matches(comparison, event, names);
		return number_matches(comparison, event->version);
	case SUBJECT_PROVIDER:
	case SUBJECT_ID:
	case SUBJECT_OPCODE:
	case SUBJECT_LEVEL:
	case SUBJECT_PROCESS_ID:
		return !type && header_matches(comparison, event, names);
	case SUBJECT_SIZE:
		return number_matches(comparison, event->size);
	case SUBJECT_HEADER_TYPE:
		return number_matches(comparison, event->header_type);
	case SUBJECT_PMC:
		return comparison->counter_number < event->counters &&
		       number_matches(comparison, event_extension(event,
								  comparison->counter_number));
	case SUBJECT_PEBS_INDEX:
		return event->has_pebs_index &&
		       number_matches(comparison, event_extension(event, event->counters));
	case SUBJECT_FIELD:
		if (!type && comparison->is_thread_id)
			return header_matches(comparison, event, names);
		return field_matches(comparison, file, event, type, names);
	case SUBJECT_FIELD_SYMBOL:
		return field_matches(comparison, file, event, type, names);
	case SUBJECT_HOLD:
	case SUBJECT_WAIT:
	case SUBJECT_LOCK:
	case SUBJECT_CALLER:
	case SUBJECT_CLASS:
	case SUBJECT_THREAD:
	case SUBJECT_PROCESS:
	case SUBJECT_CGROUP:
		break;
	}
	if (!type)
		return compares_task(comparison) && header_matches(comparison, event, names);
	return record_matches(comparison, file, event, type, names, callers);
}
