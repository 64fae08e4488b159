// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <string.h>
#include <strings.h>

#include <ntklog/ready_thread.h>
#include <ntklog/wmi_resource.h>

#include "comparison.h"
#include "wmi_record.h"

static bool compare_order(enum comparison comparison, int order)
{
	switch (comparison) {
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

static bool compare_text(const struct compared *compared, const char *text)
{
	if (compared->comparison == CONTAINS)
		return strcasestr(text, compared->text);
	return compare_order(compared->comparison, strcasecmp(text, compared->text));
}

static bool compare_ns(const struct compared *compared, double ns)
{
	return compare_order(compared->comparison,
			     (ns > compared->ns) - (ns < compared->ns));
}

static bool compare_number(const struct compared *compared, uint64_t value)
{
	if (compared->kind == OPERAND_SIGNED)
		return compare_order(compared->comparison,
				     ((int64_t)value > (int64_t)compared->number) -
				     ((int64_t)value < (int64_t)compared->number));
	return compare_order(compared->comparison,
			     (value > compared->number) - (value < compared->number));
}

static bool compare_address(const struct compared *compared, const struct names *names,
			    uint64_t address, enum names_use use)
{
	char text[NAME_SIZE];
	uint64_t offset;
	const char *name, *module;
	bool is_same;

	if (compared->is_number)
		return compare_number(compared, address);
	if (compared->comparison == CONTAINS)
		return names_format_symbol(names, address, use, text, sizeof(text)) &&
		       compare_text(compared, text);
	name = names_find_symbol(names, address, use, &offset, &module);
	is_same = name && !strcmp(name, compared->text) &&
		(!compared->has_offset || offset == compared->number) &&
		(!compared->module || (module && !strcmp(module, compared->module)));
	return is_same == (compared->comparison == IS_EQUAL);
}

static bool compare_class(const struct compared *compared, const struct names *names,
			  const struct etl_event *event, uint64_t address)
{
	uint64_t key = names_lock_key(names, address, event->time_stamp);
	char text[NAME_SIZE];

	/* A lock without a class differs from every class: only "!=" is true. */
	if (!names_key_is_class(names, key))
		return compared->comparison == IS_NOT_EQUAL;
	names_format_symbol(names, key, NAMES_OF_ANY, text, sizeof(text));
	return compare_text(compared, text);
}

/*
 * Compare the name of a task, of its process or of its cgroup. A name that the file does not tell
 * differs from every name.
 */
static bool task_matches(const struct compared *compared, const struct names *names,
			 uint64_t clock, uint32_t thread_id)
{
	const char *name = NULL;
	uint32_t id = thread_id;

	switch (compared->subject) {
	case SUBJECT_PROCESS:
		if (!names_find_process(names, thread_id, clock, &id, &name))
			return compared->comparison == IS_NOT_EQUAL;
		break;
	case SUBJECT_CGROUP:
		name = names_find_cgroup(names, thread_id, clock);
		break;
	default:
		name = names_find_thread_name(names, thread_id);
		break;
	}
	if (compared->is_number)
		return compare_number(compared, id);
	return name ? compare_text(compared, name) : compared->comparison == IS_NOT_EQUAL;
}

static bool is_of_task(const struct compared *compared)
{
	return compared->subject == SUBJECT_THREAD || compared->subject == SUBJECT_PROCESS ||
	       compared->subject == SUBJECT_CGROUP;
}

static bool compare_field(const struct compared *compared, const struct etl_file *file,
			  const struct etl_event *event, const struct event_type *type,
			  const struct names *names)
{
	const struct event_field *field = type ? compared->fields[type - event_types] : NULL;
	const char *symbol;
	uint64_t value;

	if (!field || !event_has_field(event, field))
		return false;
	value = event_field_value(field, event);
	if (compared->kind == OPERAND_ADDRESS)
		return compare_address(compared, names, value,
				       field->is_code ? NAMES_OF_CODE : NAMES_OF_ANY);
	if (compared->kind == OPERAND_THREAD)
		return task_matches(compared, names, event->time_stamp, value);
	if (compared->is_time)
		return compare_ns(compared, etl_cycles_ns(file, (double)value));
	if (compared->is_number)
		return compare_number(compared, value);
	symbol = event_field_symbol(field, value);
	return symbol && compare_text(compared, symbol);
}

/* Compare a subject with a common name, such as SUBJECT_HOLD, in an event of a known type. */
static bool compare_record(const struct compared *compared, const struct etl_file *file,
			   const struct etl_event *event, const struct names *names)
{
	struct contextswap_record contextswap;
	struct etw_ready_thread_event ready;
	struct resource_record resource;
	struct spinlock_record spinlock;
	bool old_matches, new_matches, is_excessive;
	uint64_t wait;

	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		switch (compared->subject) {
		case SUBJECT_HOLD:
			return compare_ns(compared, etl_cycles_ns(file, (double)
				(int64_t)(spinlock.release_time - spinlock.acquire_time)));
		case SUBJECT_WAIT:
			return compare_ns(compared, etl_cycles_ns(file, spinlock.wait_time));
		case SUBJECT_LOCK:
			return compare_address(compared, names, spinlock.lock, NAMES_OF_ANY);
		case SUBJECT_CALLER:
			return compare_address(compared, names, spinlock.caller, NAMES_OF_CODE);
		case SUBJECT_CLASS:
			return compare_class(compared, names, event, spinlock.lock);
		default:
			return task_matches(compared, names, event->time_stamp,
					    spinlock.thread_id);
		}
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		is_excessive = resource.action & WMI_RESOURCE_ACTION_EXCESSIVE;
		switch (compared->subject) {
		case SUBJECT_HOLD:
			return resource.hold_time && !is_excessive &&
			       compare_ns(compared,
					  etl_cycles_ns(file, (double)resource.hold_time));
		case SUBJECT_WAIT:
			wait = is_excessive ? resource.hold_time : resource.wait_time;
			return wait != WMI_RESOURCE_WAIT_TIME_UNKNOWN &&
			       compare_ns(compared, etl_cycles_ns(file, (double)wait));
		case SUBJECT_LOCK:
			return compare_address(compared, names, resource.resource, NAMES_OF_ANY);
		case SUBJECT_CALLER:
			return false;
		case SUBJECT_CLASS:
			return compare_class(compared, names, event, resource.resource);
		default:
			return task_matches(compared, names, event->time_stamp,
					    resource.thread_id);
		}
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		if (!is_of_task(compared))
			return false;
		contextswap_record_read(&contextswap, event);
		old_matches = task_matches(compared, names, event->time_stamp,
					   contextswap.old_thread_id);
		new_matches = task_matches(compared, names, event->time_stamp,
					   contextswap.new_thread_id);
		/* "==" needs one of the two threads, "!=" neither of them. */
		return compared->comparison == IS_NOT_EQUAL ? old_matches && new_matches :
							      old_matches || new_matches;
	case PERFINFO_LOG_TYPE_READY_THREAD:
		if (!is_of_task(compared))
			return false;
		memcpy(&ready, event->data, sizeof(ready));
		return task_matches(compared, names, event->time_stamp, ready.thread_id);
	}
	return false;
}

static bool compare_header(const struct compared *compared, const struct etl_event *event,
			   const struct names *names)
{
	struct etl_event_header header;
	char guid[ETL_GUID_SIZE];
	const char *name;

	etl_read_event_header(&header, event);
	switch (compared->subject) {
	case SUBJECT_PROVIDER:
		if (!header.has_provider)
			return false;
		etl_format_guid(header.provider, guid);
		name = etl_provider_name(header.provider);
		/* A provider is compared by its GUID and by its name: "!=" needs both to differ. */
		if (compared->comparison == IS_NOT_EQUAL)
			return compare_text(compared, guid) &&
			       (!name || compare_text(compared, name));
		return compare_text(compared, guid) || (name && compare_text(compared, name));
	case SUBJECT_ID:
		return header.has_id && compare_number(compared, header.id);
	case SUBJECT_VERSION:
		return header.has_opcode && compare_number(compared, header.version);
	case SUBJECT_OPCODE:
		return header.has_opcode && compare_number(compared, header.opcode);
	case SUBJECT_LEVEL:
		return header.has_opcode && compare_number(compared, header.level);
	case SUBJECT_PROCESS_ID:
		return header.has_process && compare_number(compared, header.process_id);
	default:
		return header.has_process &&
		       task_matches(compared, names, event->time_stamp, header.thread_id);
	}
}

/**
 * comparison_is_true() - test whether a comparison holds for an event
 * @compared: comparison
 * @file: file of the event
 * @event: event
 * @type: type of the event, or NULL if it is not known
 * @names: names of addresses, or NULL
 *
 * Return: true if the comparison holds for the event.
 */
bool comparison_is_true(const struct compared *compared, const struct etl_file *file,
			const struct etl_event *event, const struct event_type *type,
			const struct names *names)
{
	switch (compared->subject) {
	case SUBJECT_EVENT:
		return compare_text(compared, event_name(event, type));
	case SUBJECT_CPU:
		return compare_number(compared, event->processor);
	case SUBJECT_SECONDS:
		return compare_ns(compared, 1e9 * etl_seconds(file, event->time_stamp));
	case SUBJECT_TIME_STAMP:
		return !event->has_impossible_time && compare_number(compared, event->time_stamp);
	case SUBJECT_WRONG_TIME_STAMP:
		return event->has_impossible_time && compare_number(compared, event->raw_time);
	case SUBJECT_HOOK_ID:
		return event->has_hook_id && compare_number(compared, event->hook_id);
	case SUBJECT_VERSION:
		if (!event->has_hook_id)
			return compare_header(compared, event, names);
		return compare_number(compared, event->version);
	case SUBJECT_PROVIDER:
	case SUBJECT_ID:
	case SUBJECT_OPCODE:
	case SUBJECT_LEVEL:
	case SUBJECT_PROCESS_ID:
		return !type && compare_header(compared, event, names);
	case SUBJECT_SIZE:
		return compare_number(compared, event->size);
	case SUBJECT_HEADER_TYPE:
		return compare_number(compared, event->header_type);
	case SUBJECT_PMC:
		return compared->counter < event->counters &&
		       compare_number(compared, event_extension(event, compared->counter));
	case SUBJECT_PEBS_INDEX:
		return event->has_pebs_index &&
		       compare_number(compared, event_extension(event, event->counters));
	case SUBJECT_FIELD:
		if (!type && compared->is_thread)
			return compare_header(compared, event, names);
		return compare_field(compared, file, event, type, names);
	case SUBJECT_FIELD_SYMBOL:
		return compare_field(compared, file, event, type, names);
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
		return is_of_task(compared) && compare_header(compared, event, names);
	return compare_record(compared, file, event, names);
}
