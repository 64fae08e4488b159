// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "comparison.h"
#include "macros.h"
#include "message.h"

static const struct {
	const char *name;
	enum subject_kind subject;
	enum operand_kind kind;
	uint64_t max_value;
} subjects[] = {
	{ "Event", SUBJECT_EVENT, OPERAND_EVENT, 0 },
	{ "Cpu", SUBJECT_CPU, OPERAND_NUMBER, UINT16_MAX },
	{ "Time", SUBJECT_SECONDS, OPERAND_SECONDS, 0 },
	{ "TimeStamp", SUBJECT_TIME_STAMP, OPERAND_NUMBER, UINT64_MAX },
	{ "WrongTimeStamp", SUBJECT_WRONG_TIME_STAMP, OPERAND_NUMBER, UINT64_MAX },
	{ "HookId", SUBJECT_HOOK_ID, OPERAND_NUMBER, UINT16_MAX },
	{ "Version", SUBJECT_VERSION, OPERAND_NUMBER, UINT16_MAX },
	{ "Size", SUBJECT_SIZE, OPERAND_NUMBER, UINT16_MAX },
	{ "HeaderType", SUBJECT_HEADER_TYPE, OPERAND_NUMBER, UINT8_MAX },
	{ "PebsIndex", SUBJECT_PEBS_INDEX, OPERAND_NUMBER, UINT64_MAX },
	{ "Provider", SUBJECT_PROVIDER, OPERAND_TEXT, 0 },
	{ "ProviderGuid", SUBJECT_PROVIDER, OPERAND_TEXT, 0 },
	{ "Id", SUBJECT_ID, OPERAND_NUMBER, UINT16_MAX },
	{ "Opcode", SUBJECT_OPCODE, OPERAND_NUMBER, UINT8_MAX },
	{ "Level", SUBJECT_LEVEL, OPERAND_NUMBER, UINT8_MAX },
	{ "ProcessId", SUBJECT_PROCESS_ID, OPERAND_NUMBER, UINT32_MAX },
	{ "hold", SUBJECT_HOLD, OPERAND_DURATION, 0 },
	{ "wait", SUBJECT_WAIT, OPERAND_DURATION, 0 },
	{ "lock", SUBJECT_LOCK, OPERAND_ADDRESS, UINT64_MAX },
	{ "caller", SUBJECT_CALLER, OPERAND_ADDRESS, UINT64_MAX },
	{ "class", SUBJECT_CLASS, OPERAND_TEXT, 0 },
	{ "thread", SUBJECT_THREAD, OPERAND_THREAD, UINT32_MAX },
	{ "process", SUBJECT_PROCESS, OPERAND_THREAD, UINT32_MAX },
	{ "cgroup", SUBJECT_CGROUP, OPERAND_TEXT, 0 },
};

/* Write a message about the text at character @at of the filter, counted from 1. Returns -1. */
__printf(4, 5)
static int refuse(char *error, size_t size, size_t at, const char *format, ...)
{
	va_list arguments;
	size_t used;

	va_start(arguments, format);
	vsnprintf(error, size, format, arguments);
	va_end(arguments);
	used = strlen(error);
	snprintf(error + used, size - used, " (character %zu)", at);
	return -1;
}

static enum operand_kind find_operand_kind(const struct event_field *field)
{
	if (field->is_cycles)
		return OPERAND_CYCLES;
	switch (field->format) {
	case FIELD_HEX:
		return OPERAND_ADDRESS;
	case FIELD_SYMBOL:
		return OPERAND_SYMBOL;
	case FIELD_SIGNED:
		return OPERAND_SIGNED;
	case FIELD_DECIMAL:
		break;
	}
	return OPERAND_NUMBER;
}

static uint64_t max_value_of_field(const struct event_field *field)
{
	unsigned int bytes = field->places[1].size;
	uint64_t all = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	if (field->mask)
		return field->mask >> field->shift;
	return field->format == FIELD_SIGNED ? all >> 1 : all;
}

static bool parse_counter_name(const char *name, unsigned int *number)
{
	if (strncasecmp(name, "Pmc", 3) || name[3] < '0' || name[3] > '7' || name[4])
		return false;
	*number = name[3] - '0';
	return true;
}

/* Behind the last field of a type its additional field for filters, or NULL. */
static const struct event_field *field_at(const struct event_type *type, size_t i)
{
	return i < type->field_count ? &type->fields[i] : type->filter_field;
}

/*
 * Find the fields called @name in all types of events. For FIELDSymbol the symbol of the value is
 * compared, and for FOOThreadName the name of the thread.
 */
static bool find_fields(struct comparison *comparison, const char *name)
{
	size_t length = strlen(name), i, j;
	bool found = false, is_symbol;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j <= event_types[i].field_count; j++) {
			const struct event_field *field = field_at(&event_types[i], j);
			size_t own_length;

			if (!field)
				continue;
			own_length = strlen(field->name);
			if (field->is_thread_id && length == own_length + 2 &&
			    !strncasecmp(name, field->name, own_length - 2) &&
			    !strcasecmp(name + own_length - 2, "Name")) {
				comparison->fields[i] = field;
				comparison->subject = SUBJECT_FIELD;
				comparison->kind = OPERAND_THREAD;
				comparison->max_value = UINT32_MAX;
				found = true;
			}
			if (field->duration_name && !strcasecmp(name, field->duration_name))
				own_length = length;
			else if (strncasecmp(name, field->name, own_length))
				continue;
			is_symbol = field->format == FIELD_HEX && length == own_length + 6 &&
				 !strcasecmp(name + own_length, "Symbol");
			if (length != own_length && !is_symbol)
				continue;
			comparison->fields[i] = field;
			comparison->is_thread_id = !strcmp(field->name, "ThreadId");
			comparison->subject = is_symbol ? SUBJECT_FIELD_SYMBOL : SUBJECT_FIELD;
			comparison->kind = is_symbol ? OPERAND_ADDRESS : find_operand_kind(field);
			if (!found || max_value_of_field(field) > comparison->max_value)
				comparison->max_value = max_value_of_field(field);
			found = true;
		}
	return found;
}

static bool compares_fields(const struct comparison *comparison, const struct event_field *field)
{
	switch (comparison->subject) {
	case SUBJECT_LOCK:
	case SUBJECT_CLASS:
		return event_field_is_lock(field);
	case SUBJECT_CALLER:
		return !strcmp(field->name, "CallerAddress");
	case SUBJECT_THREAD:
	case SUBJECT_PROCESS:
	case SUBJECT_CGROUP:
		return !strcmp(field->name, "ThreadId");
	default:
		return false;
	}
}

/* Find the field of a common name, such as lock, in each type of event that has such a thing. */
static void find_common_fields(struct comparison *comparison)
{
	size_t i, j;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count && !comparison->fields[i]; j++)
			if (compares_fields(comparison, &event_types[i].fields[j]))
				comparison->fields[i] = &event_types[i].fields[j];
}

/**
 * comparison_find_subject() - find the subject of a comparison by its name
 * @comparison: gets the subject, its kind, greatest value and fields
 * @name: name of a field, or a common name such as "hold"; upper and lower case are the same
 * @at: position of the name in the filter, counted from 1
 * @error: set to a message on failure
 * @size: bytes of @error
 *
 * Return: 0, or -1 if there is no such subject.
 */
int comparison_find_subject(struct comparison *comparison, const char *name, size_t at, char *error,
			    size_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		if (!strcasecmp(name, subjects[i].name)) {
			comparison->subject = subjects[i].subject;
			comparison->kind = subjects[i].kind;
			comparison->max_value = subjects[i].max_value;
			find_common_fields(comparison);
			return 0;
		}
	if (parse_counter_name(name, &comparison->counter_number)) {
		comparison->subject = SUBJECT_PMC;
		comparison->kind = OPERAND_NUMBER;
		comparison->max_value = UINT64_MAX;
		return 0;
	}
	if (find_fields(comparison, name))
		return 0;
	return refuse(error, size, at, "no event has a field %.40s", name);
}

/*
 * Parse a time with its unit. A time without a unit is in units of @default_ns nanoseconds; it is
 * refused if that is 0.
 */
static bool parse_time(const char *text, double default_ns, double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double number;
	char *end;
	size_t i;

	/* Refuse words and hexadecimal numbers. strtod() takes "nan", "infinity" and "0x1p3". */
	if (strspn(text, "+-.0123456789") == 0 || strpbrk(text, "xX"))
		return false;
	number = strtod(text, &end);
	if (end == text || !isfinite(number))
		return false;
	if (!*end) {
		*ns = number * default_ns;
		return default_ns > 0;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name)) {
			*ns = number * units[i].ns;
			return true;
		}
	return false;
}

/**
 * parse_seconds() - parse a time
 * @text: seconds, or a number with a unit: ns, us, ms or s
 * @seconds: set to the time, seconds
 *
 * Return: true if @text is a time.
 */
bool parse_seconds(const char *text, double *seconds)
{
	if (!parse_time(text, 1e9, seconds))
		return false;
	*seconds /= 1e9;
	return true;
}

/*
 * Parse a whole number, decimal or hexadecimal. Returns 0, -1 if @text is no such number, or 1 if
 * the number does not fit.
 */
static int parse_number(const char *text, bool is_signed, uint64_t *number)
{
	const char *digits = text + (is_signed && *text == '-');
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	/* Refuse spaces and a second sign. A leading 0 does not make the number octal. */
	if (!isdigit((unsigned char)*digits))
		return -1;
	errno = 0;
	*number = strtoull(digits, &end, is_hex ? 16 : 10);
	if (*end)
		return -1;
	if (errno || (digits != text && *number > (uint64_t)INT64_MAX + 1))
		return 1;
	if (digits != text)
		*number = -*number;
	return 0;
}

/**
 * comparison_is_of_locks() - test whether the subject is the address or the class of a lock
 * @comparison: comparison with a subject
 *
 * Return: true if it is; then the value may be the name of a class, too.
 */
bool comparison_is_of_locks(const struct comparison *comparison)
{
	size_t i;

	for (i = 0; i < EVENT_TYPES; i++)
		if (comparison->fields[i] && event_field_is_lock(comparison->fields[i]))
			return true;
	return false;
}

/*
 * Split a symbol, as dump prints it, into its parts: "NAME", "NAME+0xOFFSET", "NAME [MODULE]" or
 * "NAME+0xOFFSET [MODULE]". A "+" without a number behind it stays in the name, because the text
 * may be the name of a class.
 */
static int split_symbol(struct comparison *comparison, char *error, size_t size)
{
	char *symbol = strdup(comparison->text), *module, *offset;

	comparison->symbol = symbol;
	if (!symbol)
		return refuse(error, size, comparison->text_offset, "no memory");
	module = strchr(symbol, ' ');
	if (module) {
		*module = '\0';
		comparison->module = module + 1;
	}
	offset = strchr(symbol, '+');
	if (offset && !parse_number(offset + 1, false, &comparison->number)) {
		*offset = '\0';
		comparison->has_offset = true;
	}
	return 0;
}

static int resolve_name_of_value(struct comparison *comparison, char *error, size_t size)
{
	const struct event_field *field = NULL;
	size_t i, used;

	for (i = 0; i < EVENT_TYPES && !field; i++)
		field = comparison->fields[i];
	for (i = 0; i < field->symbol_count; i++)
		if (!strcasecmp(comparison->text, field->symbols[i].name)) {
			comparison->number = field->symbols[i].value;
			comparison->is_number = true;
			return 0;
		}
	used = snprintf(error, size, "%s cannot be \"%.40s\": it is a number or", field->name,
			comparison->text);
	for (i = 0; i < field->symbol_count && used < size; i++)
		used += snprintf(error + used, size - used, " %s", field->symbols[i].name);
	if (used < size)
		snprintf(error + used, size - used, " (character %zu)", comparison->text_offset);
	return -1;
}

static bool is_text(enum operand_kind kind)
{
	return kind == OPERAND_TEXT || kind == OPERAND_EVENT || kind == OPERAND_ADDRESS ||
	       kind == OPERAND_SYMBOL || kind == OPERAND_THREAD;
}

/**
 * comparison_resolve_value() - parse the value by the kind of the subject
 * @comparison: comparison with a subject, an operator and a text
 * @field: name of the subject as the user wrote it, for messages
 * @error: set to a message on failure
 * @size: bytes of @error
 *
 * Return: 0, or -1 if the subject cannot have the value.
 */
int comparison_resolve_value(struct comparison *comparison, const char *field, char *error,
			     size_t size)
{
	bool has_order = comparison->operator != IS_EQUAL &&
		       comparison->operator != IS_NOT_EQUAL;
	int number;

	if (comparison->operator == CONTAINS) {
		if (is_text(comparison->kind))
			return 0;
		return refuse(error, size, comparison->text_offset,
			      "%s is not text: ~ compares only text", field);
	}
	switch (comparison->kind) {
	case OPERAND_EVENT:
		if (has_order)
			return refuse(error, size, comparison->text_offset,
				      "%s has no order: use ==, != or ~", field);
		if (!event_name_exists(comparison->text))
			return refuse(error, size, comparison->text_offset,
				      "no event is called \"%.40s\"", comparison->text);
		return 0;
	case OPERAND_TEXT:
		if (has_order && (comparison->subject == SUBJECT_CLASS ||
				  comparison->subject == SUBJECT_CGROUP))
			return refuse(error, size, comparison->text_offset,
				      "names have no order: use ==, != or ~");
		return 0;
	case OPERAND_DURATION:
	case OPERAND_SECONDS:
		comparison->is_time = true;
		if (parse_time(comparison->text, comparison->kind == OPERAND_SECONDS ? 1e9 : 0,
			       &comparison->ns))
			return 0;
		return refuse(error, size, comparison->text_offset,
			      "\"%.40s\" is not a time: %s needs a number with ns, us, ms or s behind it",
			      comparison->text, field);
	case OPERAND_CYCLES:
		if (parse_time(comparison->text, 0, &comparison->ns)) {
			comparison->is_time = true;
			return 0;
		}
		break;
	default:
		break;
	}
	number = parse_number(comparison->text, comparison->kind == OPERAND_SIGNED,
			      &comparison->number);
	comparison->is_number = !number;
	if (number > 0 ||
	    (!number && (comparison->kind == OPERAND_SIGNED ?
			 (int64_t)comparison->number > (int64_t)comparison->max_value ||
			 (int64_t)comparison->number < -(int64_t)comparison->max_value - 1 :
			 comparison->number > comparison->max_value)))
		return refuse(error, size, comparison->text_offset, "%s cannot be %.40s", field,
			      comparison->text);
	if (!number)
		return 0;
	if (comparison->kind == OPERAND_SYMBOL) {
		if (has_order)
			return refuse(error, size, comparison->text_offset,
				      "names have no order: use ==, != or ~");
		return resolve_name_of_value(comparison, error, size);
	}
	if (comparison->kind == OPERAND_ADDRESS || comparison->kind == OPERAND_THREAD) {
		if (has_order)
			return refuse(error, size, comparison->text_offset,
				      "names have no order: use ==, != or ~");
		return comparison->kind == OPERAND_ADDRESS ?
			split_symbol(comparison, error, size) : 0;
	}
	return refuse(error, size, comparison->text_offset,
		      "\"%.40s\" is not a number: %s needs %s", comparison->text, field,
		      comparison->kind == OPERAND_CYCLES ?
		      "cycles, or a time with ns, us, ms or s" : "a whole number");
}

/* Test whether a symbol has the name, or, if locks are compared, their class. */
static bool name_of_address_exists(const struct comparison *comparison, const struct names *names)
{
	return names_have_symbol(names, comparison->symbol, comparison->module) ||
	       (comparison_is_of_locks(comparison) && names_have_class(names, comparison->text));
}

/* Say that neither a symbol nor a class has the name in @comparison. Returns -1. */
static int refuse_unknown_name(const struct comparison *comparison, char *error, size_t size)
{
	const char *symbol = comparison->symbol, *plus = strchr(symbol, '+');

	if (plus)
		return refuse(error, size, comparison->text_offset + (plus - symbol) + 1,
			      "\"%s\" is no offset, such as 0x10", plus + 1);
	return refuse(error, size, comparison->text_offset, "no symbol is called \"%.40s\"%s",
		      comparison->text,
		      comparison_is_of_locks(comparison) ? ", and no class of locks" : "");
}

/**
 * comparison_check_names() - check that the names in a comparison exist
 * @comparison: comparison whose value has been resolved
 * @names: names of the file, or NULL
 * @has_classes: @names have the classes of locks; otherwise any class may exist
 * @error: set to a message on failure
 * @size: bytes of @error
 *
 * Return: 0, or -1 if a name does not exist.
 */
int comparison_check_names(struct comparison *comparison, const struct names *names,
			   bool has_classes, char *error, size_t size)
{
	bool may_be_class = comparison_is_of_locks(comparison) && !has_classes;

	if (comparison->subject == SUBJECT_PROCESS && !names_have_process(names, NULL))
		return refuse(error, size, comparison->text_offset,
			      "no process is known: record without --no-names");
	if (comparison->is_number || comparison->operator == CONTAINS ||
	    ((comparison->kind == OPERAND_THREAD || comparison->subject == SUBJECT_CGROUP) &&
	     !strcasecmp(comparison->text, IDLE_NAME)))
		return 0;
	if (may_be_class) {
		if (comparison->kind == OPERAND_ADDRESS && !comparison->is_taken_for_class &&
		    !names_have_symbol(names, comparison->symbol, comparison->module)) {
			message("no symbol is called \"%s\": it is taken for a class of locks",
				comparison->text);
			comparison->is_taken_for_class = true;
		}
		return 0;
	}
	if (comparison->kind == OPERAND_ADDRESS && !name_of_address_exists(comparison, names))
		return refuse_unknown_name(comparison, error, size);
	if (comparison->subject == SUBJECT_CLASS &&
	    !names_have_class(names, comparison->text))
		return refuse(error, size, comparison->text_offset,
			      "no class is called \"%.40s\": class ~ takes a part of a name, lock == the name of a variable",
			      comparison->text);
	if (comparison->subject == SUBJECT_CGROUP && !names_have_cgroup(names, comparison->text))
		return refuse(error, size, comparison->text_offset, "no cgroup is called \"%.40s\"",
			      comparison->text);
	if (comparison->subject == SUBJECT_PROCESS)
		return names_have_process(names, comparison->text) ? 0 :
			refuse(error, size, comparison->text_offset,
			       "no process is called \"%.40s\"", comparison->text);
	if (comparison->kind == OPERAND_THREAD && !names_have_thread(names, comparison->text))
		return refuse(error, size, comparison->text_offset, "no thread is called \"%.40s\"",
			      comparison->text);
	return 0;
}

static bool type_can_match(const struct comparison *comparison, const struct event_type *type)
{
	bool is_resource = type->hook_id == PERFINFO_LOG_TYPE_RESOURCE;

	switch (comparison->subject) {
	case SUBJECT_FIELD:
	case SUBJECT_FIELD_SYMBOL:
		return comparison->fields[type - event_types];
	case SUBJECT_EVENT:
		return comparison->operator != IS_EQUAL ||
		       !strcasecmp(comparison->text, type->name);
	case SUBJECT_HOOK_ID:
		return comparison->operator != IS_EQUAL || comparison->number == type->hook_id;
	case SUBJECT_PROVIDER:
	case SUBJECT_ID:
	case SUBJECT_OPCODE:
	case SUBJECT_LEVEL:
	case SUBJECT_PROCESS_ID:
		return false;
	case SUBJECT_CALLER:
		return comparison->fields[type - event_types] || is_resource;
	case SUBJECT_HOLD:
	case SUBJECT_WAIT:
		return is_resource || type->hook_id == PERFINFO_LOG_TYPE_SPINLOCK ||
		       type->hook_id == NTKLOG_LOG_TYPE_OPEN_HOLD;
	case SUBJECT_LOCK:
	case SUBJECT_CLASS:
		return comparison->fields[type - event_types];
	case SUBJECT_THREAD:
	case SUBJECT_PROCESS:
	case SUBJECT_CGROUP:
		return comparison->fields[type - event_types] ||
		       type->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP;
	default:
		return true;
	}
}

static bool unknown_type_can_match(const struct comparison *comparison)
{
	switch (comparison->subject) {
	case SUBJECT_FIELD:
		/* The header of an event may have a ThreadId, whatever its data is. */
		return comparison->is_thread_id;
	case SUBJECT_FIELD_SYMBOL:
	case SUBJECT_HOLD:
	case SUBJECT_WAIT:
	case SUBJECT_LOCK:
	case SUBJECT_CALLER:
	case SUBJECT_CLASS:
		return false;
	default:
		return true;
	}
}

/**
 * comparison_find_types() - find the types of events that a comparison can be true of
 * @comparison: comparison whose value has been resolved
 *
 * Return: the types, as bits: bit i for event_types[i], and COMPARISON_UNKNOWN_TYPES.
 */
uint32_t comparison_find_types(const struct comparison *comparison)
{
	uint32_t types = unknown_type_can_match(comparison) ? COMPARISON_UNKNOWN_TYPES : 0;
	size_t i;

	for (i = 0; i < EVENT_TYPES; i++)
		if (type_can_match(comparison, &event_types[i]))
			types |= UINT32_C(1) << i;
	return types;
}

/**
 * comparison_clear() - free the members of a comparison
 * @comparison: comparison
 */
void comparison_clear(struct comparison *comparison)
{
	free(comparison->text);
	free(comparison->symbol);
}
