// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions that choose events: parsed into a tree, in which each comparison knows what
 * of which event it compares with what, and evaluated for each event.
 */

#define _GNU_SOURCE

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ntklog/wmi_resource.h>

#include "filter.h"
#include "macros.h"
#include "wmi_record.h"

/* Parentheses and "!" within each other: more are a mistake, or an attack. */
#define DEPTH_MAX	64

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_COMPARE,
};

enum comparison {
	IS_EQUAL,
	IS_NOT_EQUAL,
	IS_LESS_OR_EQUAL,
	IS_GREATER_OR_EQUAL,
	IS_LESS,
	IS_GREATER,
	CONTAINS,
};

/* Longer ones first: "<=" begins with "<". */
static const struct {
	const char *text;
	enum comparison comparison;
} operators[] = {
	{ "==", IS_EQUAL },
	{ "!=", IS_NOT_EQUAL },
	{ "<=", IS_LESS_OR_EQUAL },
	{ ">=", IS_GREATER_OR_EQUAL },
	{ "<", IS_LESS },
	{ ">", IS_GREATER },
	{ "~", CONTAINS },
	{ "=", IS_EQUAL },
};

/* What is compared. */
enum subject {
	/* Of the event's own fields: */
	SUBJECT_FIELD,
	SUBJECT_FIELD_SYMBOL,
	/* Of all events: */
	SUBJECT_EVENT,
	SUBJECT_CPU,
	SUBJECT_TIME,
	SUBJECT_TIME_STAMP,
	SUBJECT_WRONG_TIME_STAMP,
	SUBJECT_HOOK_ID,
	SUBJECT_VERSION,
	SUBJECT_SIZE,
	SUBJECT_HEADER_TYPE,
	SUBJECT_PMC,
	SUBJECT_PEBS_INDEX,
	SUBJECT_PROVIDER,
	SUBJECT_ID,
	SUBJECT_OPCODE,
	SUBJECT_LEVEL,
	SUBJECT_PROCESS_ID,
	/* What several events have under different names: */
	SUBJECT_HOLD,
	SUBJECT_WAIT,
	SUBJECT_LOCK,
	SUBJECT_CALLER,
	SUBJECT_THREAD,
};

/* And as what. */
enum operand_kind {
	OPERAND_NUMBER,
	OPERAND_SIGNED,
	OPERAND_ADDRESS,	/* a number, or a symbol */
	OPERAND_SYMBOL,		/* of a value: a number, or a name of those there are */
	OPERAND_CYCLES,		/* a number, or a time with its unit */
	OPERAND_LASTS,		/* a time with its unit */
	OPERAND_SECONDS,	/* a time, in seconds if it has none */
	OPERAND_THREAD,		/* a number, or a name */
	OPERAND_TEXT,
	OPERAND_EVENT,		/* a name of an event */
};

static const struct {
	const char *name;
	enum subject subject;
	enum operand_kind kind;
	uint64_t most;
} subjects[] = {
	{ "Event", SUBJECT_EVENT, OPERAND_EVENT, 0 },
	{ "Cpu", SUBJECT_CPU, OPERAND_NUMBER, UINT16_MAX },
	{ "Time", SUBJECT_TIME, OPERAND_SECONDS, 0 },
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
	{ "hold", SUBJECT_HOLD, OPERAND_LASTS, 0 },
	{ "wait", SUBJECT_WAIT, OPERAND_LASTS, 0 },
	{ "lock", SUBJECT_LOCK, OPERAND_ADDRESS, UINT64_MAX },
	{ "caller", SUBJECT_CALLER, OPERAND_ADDRESS, UINT64_MAX },
	{ "thread", SUBJECT_THREAD, OPERAND_THREAD, UINT32_MAX },
};

/*
 * A comparison; of what an event of no such field has it is false.
 *
 * @subject: what is compared
 * @kind: as what
 * @comparison: how
 * @fields: of SUBJECT_FIELD: by the event's type
 * @is_thread: it is ThreadId
 * @counter: of SUBJECT_PMC
 * @most: value that the subject can have
 * @text: the value as it was given, in words of OPERAND_ADDRESS without offset and module
 * @at: where it was, from 1 on
 * @is_number: @number counts; else @text
 * @number: the value, as int64_t of OPERAND_SIGNED
 * @is_time: @ns counts
 * @ns: the value
 * @has_offset: of a symbol: @number counts too
 * @module: of a symbol, "[...]", or NULL
 */
struct compared {
	enum subject subject;
	enum operand_kind kind;
	enum comparison comparison;
	const struct event_field *fields[EVENT_TYPES];
	bool is_thread;
	unsigned int counter;
	uint64_t most;
	char *text;
	size_t at;
	bool is_number;
	uint64_t number;
	bool is_time;
	double ns;
	bool has_offset;
	char *module;
};

/*
 * @kind: what it is
 * @left, @right: of FILTER_AND and FILTER_OR; @left of FILTER_NOT
 * @compared: of FILTER_COMPARE
 */
struct filter {
	enum filter_kind kind;
	struct filter *left, *right;
	struct compared compared;
};

struct parser {
	const char *start;
	const char *at;
	unsigned int depth;
	char *error;
	size_t size;
};

static struct filter *parse_expression(struct parser *parser);

static struct filter *fail(struct parser *parser, const char *expected)
{
	if (!parser->error[0])
		snprintf(parser->error, parser->size, "%s expected at \"%.20s\" (character %zu)",
			 expected, parser->at, parser->at - parser->start + 1);
	return NULL;
}

/* What is wrong with what begins at this character, from 1 on. */
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

static void skip_spaces(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool accept(struct parser *parser, const char *token)
{
	skip_spaces(parser);
	if (strncmp(parser->at, token, strlen(token)))
		return false;
	parser->at += strlen(token);
	return true;
}

/* A word, or what is between double quotes; NULL: there is none. */
static char *parse_word(struct parser *parser, size_t *at)
{
	const char *from;

	skip_spaces(parser);
	from = parser->at;
	*at = from - parser->start + 1;
	if (*from == '"') {
		const char *end = strchr(++from, '"');

		if (!end)
			return NULL;
		parser->at = end + 1;
		return strndup(from, end - from);
	}
	/* Symbols have dots, threads what they like. */
	while (*parser->at && (isalnum((unsigned char)*parser->at) ||
			       strchr("_.+-:/@$", *parser->at)))
		parser->at++;
	return parser->at > from ? strndup(from, parser->at - from) : NULL;
}

/* What a field of this format is compared as. */
static enum operand_kind field_operand(const struct event_field *field)
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

static uint64_t field_most(const struct event_field *field)
{
	unsigned int bytes = field->where[1].size;
	uint64_t all = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;

	if (field->mask)
		return field->mask >> field->shift;
	return field->format == FIELD_SIGNED ? all >> 1 : all;
}

/* "Pmc0" to "Pmc7". */
static bool is_counter(const char *name, unsigned int *number)
{
	if (strncasecmp(name, "Pmc", 3) || name[3] < '0' || name[3] > '7' || name[4])
		return false;
	*number = name[3] - '0';
	return true;
}

/* Is it a field of events, or the symbol of one? */
static bool find_fields(struct compared *compared, const char *name)
{
	size_t length = strlen(name), i, j;
	bool found = false, symbol;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *field = &event_types[i].fields[j];
			size_t own = strlen(field->name);

			/* The name of a ThreadId is a ThreadName. */
			if (field->is_thread && length == own + 2 &&
			    !strncasecmp(name, field->name, own - 2) &&
			    !strcasecmp(name + own - 2, "Name")) {
				compared->fields[i] = field;
				compared->subject = SUBJECT_FIELD;
				compared->kind = OPERAND_THREAD;
				compared->most = UINT32_MAX;
				found = true;
			}
			if (strncasecmp(name, field->name, own))
				continue;
			symbol = field->format == FIELD_HEX && length == own + 6 &&
				 !strcasecmp(name + own, "Symbol");
			if (length != own && !symbol)
				continue;
			compared->fields[i] = field;
			compared->is_thread = !strcmp(field->name, "ThreadId");
			compared->subject = symbol ? SUBJECT_FIELD_SYMBOL : SUBJECT_FIELD;
			compared->kind = symbol ? OPERAND_ADDRESS : field_operand(field);
			if (!found || field_most(field) > compared->most)
				compared->most = field_most(field);
			found = true;
		}
	return found;
}

static bool find_subject(struct compared *compared, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		if (!strcasecmp(name, subjects[i].name)) {
			compared->subject = subjects[i].subject;
			compared->kind = subjects[i].kind;
			compared->most = subjects[i].most;
			return true;
		}
	if (is_counter(name, &compared->counter)) {
		compared->subject = SUBJECT_PMC;
		compared->kind = OPERAND_NUMBER;
		compared->most = UINT64_MAX;
		return true;
	}
	return find_fields(compared, name);
}

/* A time with its unit; without one, in @usual nanoseconds, or 0: that is none. */
static bool parse_time(const char *text, double usual, double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double number;
	char *end;
	size_t i;

	/* No words: strtod() takes "nan" and "infinity", and hexadecimal ones. */
	if (strspn(text, "+-.0123456789") == 0 || strpbrk(text, "xX"))
		return false;
	number = strtod(text, &end);
	if (end == text || !isfinite(number))
		return false;
	if (!*end) {
		*ns = number * usual;
		return usual > 0;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name)) {
			*ns = number * units[i].ns;
			return true;
		}
	return false;
}

/**
 * parse_seconds() - understand a time
 * @text: seconds, or with a unit: ns, us, ms, s
 * @seconds: the time
 *
 * Return: whether it is one.
 */
bool parse_seconds(const char *text, double *seconds)
{
	if (!parse_time(text, 1e9, seconds))
		return false;
	*seconds /= 1e9;
	return true;
}

/* Whole, decimal or hexadecimal; -1: none, 1: beyond 64 bits. */
static int parse_number(const char *text, bool is_signed, uint64_t *number)
{
	const char *digits = text + (is_signed && *text == '-');
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	/* Neither an octal one, which nobody means, nor spaces or a second sign. */
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

/* SYMBOL[+0xOFFSET][ [MODULE]], as it is printed. */
static int split_symbol(struct compared *compared, char *error, size_t size)
{
	char *module = strchr(compared->text, ' ');
	char *offset;

	if (module) {
		*module = '\0';
		compared->module = strdup(module + 1);
		if (!compared->module)
			return refuse(error, size, compared->at, "no memory");
	}
	offset = strchr(compared->text, '+');
	if (!offset)
		return 0;
	if (parse_number(offset + 1, false, &compared->number))
		return refuse(error, size, compared->at + (offset - compared->text) + 1,
			      "\"%s\" is no offset", offset + 1);
	*offset = '\0';
	compared->has_offset = true;
	return 0;
}

static int resolve_name_of_value(struct compared *compared, char *error, size_t size)
{
	const struct event_field *field = NULL;
	size_t i, used;

	for (i = 0; i < EVENT_TYPES && !field; i++)
		field = compared->fields[i];
	for (i = 0; i < field->symbol_count; i++)
		if (!strcasecmp(compared->text, field->symbols[i].name)) {
			compared->number = field->symbols[i].value;
			compared->is_number = true;
			return 0;
		}
	used = snprintf(error, size, "%s is never \"%.40s\", but a number or", field->name,
			compared->text);
	for (i = 0; i < field->symbol_count && used < size; i++)
		used += snprintf(error + used, size - used, " %s", field->symbols[i].name);
	if (used < size)
		snprintf(error + used, size - used, " (character %zu)", compared->at);
	return -1;
}

static bool is_text(enum operand_kind kind)
{
	return kind == OPERAND_TEXT || kind == OPERAND_EVENT || kind == OPERAND_ADDRESS ||
	       kind == OPERAND_SYMBOL || kind == OPERAND_THREAD;
}

/* What the text means for what it is compared with. */
static int resolve_value(struct compared *compared, const char *field, char *error,
			 size_t size)
{
	bool ordered = compared->comparison != IS_EQUAL &&
		       compared->comparison != IS_NOT_EQUAL;
	int number;

	if (compared->comparison == CONTAINS) {
		if (is_text(compared->kind))
			return 0;
		return refuse(error, size, compared->at, "%s is no text: ~ is for names", field);
	}
	switch (compared->kind) {
	case OPERAND_EVENT:
		if (ordered)
			return refuse(error, size, compared->at,
				      "%s has no order: ==, != or ~", field);
		if (!event_name_exists(compared->text))
			return refuse(error, size, compared->at,
				      "no event is called \"%.40s\"", compared->text);
		return 0;
	case OPERAND_TEXT:
		return 0;
	case OPERAND_LASTS:
	case OPERAND_SECONDS:
		compared->is_time = true;
		if (parse_time(compared->text, compared->kind == OPERAND_SECONDS ? 1e9 : 0,
			       &compared->ns))
			return 0;
		return refuse(error, size, compared->at,
			      "\"%.40s\" is no time: %s wants ns, us, ms or s behind a number",
			      compared->text, field);
	case OPERAND_CYCLES:
		if (parse_time(compared->text, 0, &compared->ns)) {
			compared->is_time = true;
			return 0;
		}
		break;
	default:
		break;
	}
	number = parse_number(compared->text, compared->kind == OPERAND_SIGNED,
			      &compared->number);
	compared->is_number = !number;
	if (number > 0 ||
	    (!number && (compared->kind == OPERAND_SIGNED ?
			 (int64_t)compared->number > (int64_t)compared->most ||
			 (int64_t)compared->number < -(int64_t)compared->most - 1 :
			 compared->number > compared->most)))
		return refuse(error, size, compared->at, "%s is never %.40s", field,
			      compared->text);
	if (!number)
		return 0;
	if (compared->kind == OPERAND_SYMBOL) {
		if (ordered)
			return refuse(error, size, compared->at,
				      "names have no order: ==, != or ~");
		return resolve_name_of_value(compared, error, size);
	}
	if (compared->kind == OPERAND_ADDRESS || compared->kind == OPERAND_THREAD) {
		if (ordered)
			return refuse(error, size, compared->at,
				      "names have no order: ==, != or ~");
		return compared->kind == OPERAND_ADDRESS ?
			split_symbol(compared, error, size) : 0;
	}
	return refuse(error, size, compared->at, "\"%.40s\" is no number: %s wants %s",
		      compared->text, field, compared->kind == OPERAND_CYCLES ?
		      "cycles, or a time with ns, us, ms or s" : "a whole one");
}

static struct filter *parse_comparison(struct parser *parser, struct filter *filter)
{
	struct compared *compared = &filter->compared;
	struct filter *parsed = NULL;
	size_t at, i;
	char *name;

	filter->kind = FILTER_COMPARE;
	name = parse_word(parser, &at);
	if (!name)
		return fail(parser, "a field's name");
	if (!find_subject(compared, name)) {
		refuse(parser->error, parser->size, at, "no event has a field %.40s", name);
		goto out;
	}
	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (accept(parser, operators[i].text))
			break;
	if (i == ARRAY_SIZE(operators)) {
		fail(parser, "==, !=, <, <=, >, >= or ~");
		goto out;
	}
	compared->comparison = operators[i].comparison;
	compared->text = parse_word(parser, &compared->at);
	if (!compared->text)
		fail(parser, "a value");
	else if (!resolve_value(compared, name, parser->error, parser->size))
		parsed = filter;
out:
	free(name);
	return parsed;
}

static struct filter *parse_factor(struct parser *parser)
{
	struct filter *filter = calloc(1, sizeof(*filter));
	struct filter *parsed;

	if (!filter || parser->depth++ == DEPTH_MAX) {
		filter_free(filter);
		return fail(parser, "less depth");
	}
	skip_spaces(parser);
	if (parser->at[0] == '!' && accept(parser, "!")) {
		filter->kind = FILTER_NOT;
		filter->left = parse_factor(parser);
		parsed = filter->left ? filter : NULL;
	} else if (accept(parser, "(")) {
		parsed = parse_expression(parser);
		if (parsed && !accept(parser, ")")) {
			filter_free(parsed);
			parsed = fail(parser, ")");
		}
	} else {
		parsed = parse_comparison(parser, filter);
	}
	parser->depth--;
	if (parsed != filter)
		filter_free(filter);
	return parsed;
}

static struct filter *parse_chain(struct parser *parser, const char *token,
				  enum filter_kind kind,
				  struct filter *(*parse)(struct parser *parser))
{
	struct filter *left = parse(parser);

	while (left && accept(parser, token)) {
		struct filter *both = calloc(1, sizeof(*both));
		struct filter *right = both ? parse(parser) : NULL;

		if (!right) {
			filter_free(left);
			filter_free(both);
			return NULL;
		}
		*both = (struct filter) { .kind = kind, .left = left, .right = right };
		left = both;
	}
	return left;
}

static struct filter *parse_term(struct parser *parser)
{
	return parse_chain(parser, "&&", FILTER_AND, parse_factor);
}

static struct filter *parse_expression(struct parser *parser)
{
	return parse_chain(parser, "||", FILTER_OR, parse_term);
}

/**
 * filter_parse() - understand an expression
 * @text: the expression
 * @error: what is wrong with it is written here
 * @size: of @error
 *
 * Return: the filter, or NULL.
 */
struct filter *filter_parse(const char *text, char *error, size_t size)
{
	struct parser parser = { text, text, 0, error, size };
	struct filter *filter;

	error[0] = '\0';
	filter = parse_expression(&parser);
	skip_spaces(&parser);
	if (filter && *parser.at) {
		filter_free(filter);
		filter = fail(&parser, "&&, || or the end");
	}
	if (!filter && !error[0])
		fail(&parser, "something else");
	return filter;
}

/**
 * filter_resolve() - are the names in it names?
 * @filter: the filter, or NULL
 * @names: that the file has, or NULL
 * @error: what is wrong with it is written here
 * @size: of @error
 *
 * Return: 0 or -1.
 */
int filter_resolve(struct filter *filter, const struct names *names, char *error,
		   size_t size)
{
	const struct compared *compared;

	if (!filter)
		return 0;
	if (filter->kind != FILTER_COMPARE)
		return filter_resolve(filter->left, names, error, size) ||
		       filter_resolve(filter->right, names, error, size) ? -1 : 0;
	compared = &filter->compared;
	if (compared->is_number || compared->comparison == CONTAINS)
		return 0;
	if (compared->kind == OPERAND_ADDRESS && !names_have_symbol(names, compared->text))
		return refuse(error, size, compared->at, "no symbol is called \"%.40s\"",
			      compared->text);
	if (compared->kind == OPERAND_THREAD && !names_have_thread(names, compared->text))
		return refuse(error, size, compared->at, "no thread is called \"%.40s\"",
			      compared->text);
	return 0;
}

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
			    uint64_t address)
{
	char text[NAME_SIZE];
	uint64_t offset;
	const char *name, *module;
	bool is_it;

	if (compared->is_number)
		return compare_number(compared, address);
	if (compared->comparison == CONTAINS)
		return names_symbol(names, address, text, sizeof(text)) &&
		       compare_text(compared, text);
	name = names_find_symbol(names, address, &offset, &module);
	is_it = name && !strcmp(name, compared->text) &&
		(!compared->has_offset || offset == compared->number) &&
		(!compared->module || (module && !strcmp(module, compared->module)));
	return is_it == (compared->comparison == IS_EQUAL);
}

static bool compare_thread(const struct compared *compared, const struct names *names,
			   uint32_t thread_id)
{
	const char *name;

	if (compared->is_number)
		return compare_number(compared, thread_id);
	name = names_thread(names, thread_id);
	return name ? compare_text(compared, name) : compared->comparison == IS_NOT_EQUAL;
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
		return compare_address(compared, names, value);
	if (compared->kind == OPERAND_THREAD)
		return compare_thread(compared, names, value);
	if (compared->is_time)
		return compare_ns(compared, etl_cycles_ns(file, (double)value));
	if (compared->is_number)
		return compare_number(compared, value);
	symbol = event_field_symbol(field, value);
	return symbol && compare_text(compared, symbol);
}

/* What is asked of spin locks, resources and context switches alike. */
static bool compare_record(const struct compared *compared, const struct etl_file *file,
			   const struct etl_event *event, const struct names *names)
{
	struct contextswap_record contextswap;
	struct resource_record resource;
	struct spinlock_record spinlock;

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
			return compare_address(compared, names, spinlock.lock);
		case SUBJECT_CALLER:
			return compare_address(compared, names, spinlock.caller);
		default:
			return compare_thread(compared, names, spinlock.thread_id);
		}
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		switch (compared->subject) {
		case SUBJECT_HOLD:
			return resource.hold_time &&
			       compare_ns(compared,
					  etl_cycles_ns(file, (double)resource.hold_time));
		case SUBJECT_WAIT:
			return resource.wait_time != WMI_RESOURCE_WAIT_TIME_UNKNOWN &&
			       compare_ns(compared,
					  etl_cycles_ns(file, (double)resource.wait_time));
		case SUBJECT_LOCK:
			return compare_address(compared, names, resource.resource);
		case SUBJECT_CALLER:
			return false;
		default:
			return compare_thread(compared, names, resource.thread_id);
		}
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		if (compared->subject != SUBJECT_THREAD)
			return false;
		contextswap_record_read(&contextswap, event);
		/* One of both is it; or neither is. */
		if (compared->comparison == IS_NOT_EQUAL)
			return compare_thread(compared, names, contextswap.old_thread_id) &&
			       compare_thread(compared, names, contextswap.new_thread_id);
		return compare_thread(compared, names, contextswap.old_thread_id) ||
		       compare_thread(compared, names, contextswap.new_thread_id);
	}
	return false;
}

static uint64_t extension_value(const struct etl_event *event, unsigned int i)
{
	uint64_t value;

	memcpy(&value, event->extension + 8 * i, sizeof(value));
	return value;
}

/* What the header says of an event that is not known. */
static bool compare_header(const struct compared *compared, const struct etl_event *event,
			   const struct names *names)
{
	struct etl_event_header info;
	char guid[ETL_GUID_SIZE];
	const char *name;

	etl_read_event_header(&info, event);
	switch (compared->subject) {
	case SUBJECT_PROVIDER:
		if (!info.has_provider)
			return false;
		etl_format_guid(info.provider, guid);
		name = etl_provider_name(info.provider);
		/* By either of both; or it is neither. */
		if (compared->comparison == IS_NOT_EQUAL)
			return compare_text(compared, guid) &&
			       (!name || compare_text(compared, name));
		return compare_text(compared, guid) || (name && compare_text(compared, name));
	case SUBJECT_ID:
		return info.has_id && compare_number(compared, info.id);
	case SUBJECT_VERSION:
		return info.has_opcode && compare_number(compared, info.version);
	case SUBJECT_OPCODE:
		return info.has_opcode && compare_number(compared, info.opcode);
	case SUBJECT_LEVEL:
		return info.has_opcode && compare_number(compared, info.level);
	case SUBJECT_PROCESS_ID:
		return info.has_process && compare_number(compared, info.process_id);
	default:
		return info.has_process && compare_thread(compared, names, info.thread_id);
	}
}

static bool compare(const struct compared *compared, const struct etl_file *file,
		    const struct etl_event *event, const struct event_type *type,
		    const struct names *names)
{
	switch (compared->subject) {
	case SUBJECT_EVENT:
		return compare_text(compared, event_name(event, type));
	case SUBJECT_CPU:
		return compare_number(compared, event->processor);
	case SUBJECT_TIME:
		return compare_ns(compared, 1e9 * etl_seconds(file, event->time_stamp));
	case SUBJECT_TIME_STAMP:
		return !event->wrong_time && compare_number(compared, event->time_stamp);
	case SUBJECT_WRONG_TIME_STAMP:
		return event->wrong_time && compare_number(compared, event->raw_time);
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
		       compare_number(compared, extension_value(event, compared->counter));
	case SUBJECT_PEBS_INDEX:
		return event->has_pebs_index &&
		       compare_number(compared, extension_value(event, event->counters));
	case SUBJECT_FIELD:
		/* Of those that are not known the header may have it. */
		if (!type && compared->is_thread)
			return compare_header(compared, event, names);
		return compare_field(compared, file, event, type, names);
	case SUBJECT_FIELD_SYMBOL:
		return compare_field(compared, file, event, type, names);
	case SUBJECT_HOLD:
	case SUBJECT_WAIT:
	case SUBJECT_LOCK:
	case SUBJECT_CALLER:
	case SUBJECT_THREAD:
		break;
	}
	if (!type)
		return compared->subject == SUBJECT_THREAD &&
		       compare_header(compared, event, names);
	return compare_record(compared, file, event, names);
}

/**
 * filter_match() - is this event wanted?
 * @filter: the filter
 * @file: that the event is of
 * @event: the event
 * @type: of the event, or NULL if it is not known
 * @names: of addresses, or NULL
 *
 * Return: whether it is.
 */
bool filter_match(const struct filter *filter, const struct etl_file *file,
		  const struct etl_event *event, const struct event_type *type,
		  const struct names *names)
{
	switch (filter->kind) {
	case FILTER_AND:
		return filter_match(filter->left, file, event, type, names) &&
		       filter_match(filter->right, file, event, type, names);
	case FILTER_OR:
		return filter_match(filter->left, file, event, type, names) ||
		       filter_match(filter->right, file, event, type, names);
	case FILTER_NOT:
		return !filter_match(filter->left, file, event, type, names);
	case FILTER_COMPARE:
		break;
	}
	return compare(&filter->compared, file, event, type, names);
}

/**
 * filter_free() - let a filter go
 * @filter: the filter, or NULL
 */
void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_free(filter->left);
	filter_free(filter->right);
	free(filter->compared.text);
	free(filter->compared.module);
	free(filter);
}

/**
 * selection_in_time() - is this event between the limits?
 * @selection: the limits
 * @file: that the event is of
 * @event: the event
 *
 * Return: whether it is.
 */
bool selection_in_time(const struct selection *selection, const struct etl_file *file,
		       const struct etl_event *event)
{
	double seconds;

	if (!selection->has_from && !selection->has_to)
		return true;
	seconds = etl_seconds(file, event->time_stamp);
	return (!selection->has_from || seconds >= selection->from) &&
	       (!selection->has_to || seconds <= selection->to);
}

/**
 * selection_match() - is this event wanted?
 * @selection: which are
 * @file: that the event is of
 * @event: the event
 * @type: of the event, or NULL if it is not known
 * @names: of addresses, or NULL
 *
 * Return: whether it is.
 */
bool selection_match(const struct selection *selection, const struct etl_file *file,
		     const struct etl_event *event, const struct event_type *type,
		     const struct names *names)
{
	return selection_in_time(selection, file, event) &&
	       (!selection->filter ||
		filter_match(selection->filter, file, event, type, names));
}
