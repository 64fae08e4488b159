// SPDX-License-Identifier: GPL-2.0-only
/* Expressions that choose events: parsed into a tree, evaluated for each event. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "filter.h"

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

/*
 * @kind: what it is
 * @left, @right: of FILTER_AND and FILTER_OR; @left of FILTER_NOT
 * @field, @comparison, @text: of FILTER_COMPARE
 * @number: that @text is, if @is_number
 */
struct filter {
	enum filter_kind kind;
	struct filter *left, *right;
	char *field;
	enum comparison comparison;
	char *text;
	double number;
	bool is_number;
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
static char *parse_word(struct parser *parser)
{
	const char *from;
	char *word;

	skip_spaces(parser);
	from = parser->at;
	if (*from == '"') {
		const char *end = strchr(++from, '"');

		if (!end)
			return NULL;
		parser->at = end + 1;
		return strndup(from, end - from);
	}
	while (isalnum((unsigned char)*parser->at) || strchr("_.+-", *parser->at)) {
		if (!*parser->at)
			break;
		parser->at++;
	}
	word = parser->at > from ? strndup(from, parser->at - from) : NULL;
	return word;
}

static struct filter *parse_comparison(struct parser *parser, struct filter *filter)
{
	char *end;
	size_t i;

	filter->kind = FILTER_COMPARE;
	filter->field = parse_word(parser);
	if (!filter->field)
		return fail(parser, "a field's name");
	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (accept(parser, operators[i].text))
			break;
	if (i == ARRAY_SIZE(operators))
		return fail(parser, "==, !=, <, <=, >, >= or ~");
	filter->comparison = operators[i].comparison;
	filter->text = parse_word(parser);
	if (!filter->text)
		return fail(parser, "a value");
	/* 0x of an address has more digits than a double; see compare_integer(). */
	filter->number = strtod(filter->text, &end);
	filter->is_number = *filter->text && !*end;
	return filter;
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

static const char *const other_fields[] = { "Event", "Cpu", "Time", "HookId" };

/* A field that no event has is a slip of the pen. */
static const char *unknown_field(const struct filter *filter)
{
	const char *unknown;
	size_t i;

	if (!filter)
		return NULL;
	if (filter->kind != FILTER_COMPARE) {
		unknown = unknown_field(filter->left);
		return unknown ? unknown : unknown_field(filter->right);
	}
	for (i = 0; i < ARRAY_SIZE(other_fields); i++)
		if (!strcasecmp(filter->field, other_fields[i]))
			return NULL;
	return event_field_exists(filter->field) ? NULL : filter->field;
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
	const char *unknown;

	error[0] = '\0';
	filter = parse_expression(&parser);
	skip_spaces(&parser);
	if (filter && *parser.at) {
		filter_free(filter);
		filter = fail(&parser, "&&, || or the end");
	}
	unknown = unknown_field(filter);
	if (unknown) {
		snprintf(error, size, "no event has a field %s", unknown);
		filter_free(filter);
		filter = NULL;
	}
	if (!filter && !error[0])
		fail(&parser, "something else");
	return filter;
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

static bool compare_text(const struct filter *filter, const char *text)
{
	if (filter->comparison == CONTAINS)
		return strstr(text, filter->text);
	return compare_order(filter->comparison, strcmp(text, filter->text));
}

static bool compare_double(const struct filter *filter, double value)
{
	return filter->is_number &&
	       compare_order(filter->comparison,
			     (value > filter->number) - (value < filter->number));
}

/* All 64 bits count, which a double does not have. */
static bool compare_integer(const struct filter *filter, uint64_t value, bool is_signed)
{
	char *end;
	uint64_t number = strtoull(filter->text, &end, 0);

	if (*end)
		return compare_double(filter, is_signed ? (double)(int64_t)value :
							  (double)value);
	if (is_signed)
		return compare_order(filter->comparison,
				     ((int64_t)value > (int64_t)number) -
				     ((int64_t)value < (int64_t)number));
	return compare_order(filter->comparison, (value > number) - (value < number));
}

/* By the whole symbol, or without its offset and module. */
static bool compare_symbol(const struct filter *filter, const struct names *names,
			   uint64_t address)
{
	char text[NAME_SIZE];

	if (!names_symbol(names, address, text, sizeof(text)))
		return filter->comparison == IS_NOT_EQUAL;
	if (filter->comparison != CONTAINS && !strchr(filter->text, '+'))
		text[strcspn(text, "+ ")] = '\0';
	return compare_text(filter, text);
}

static bool compare_field(const struct filter *filter, const struct etl_event *event,
			  const struct event_field *field, const struct names *names)
{
	uint64_t value = event_field_value(field, event);
	const char *symbol;

	if (filter->is_number && filter->comparison != CONTAINS)
		return compare_integer(filter, value, field->format == FIELD_SIGNED);
	if (field->format == FIELD_HEX)
		return compare_symbol(filter, names, value);
	symbol = event_field_symbol(field, value);
	return compare_text(filter, symbol ? symbol : "");
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
	size_t i;

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
	if (!strcasecmp(filter->field, "Event"))
		return compare_text(filter, type ? type->name : "Event");
	if (!strcasecmp(filter->field, "Cpu"))
		return compare_integer(filter, event->processor, false);
	if (!strcasecmp(filter->field, "Time"))
		return compare_double(filter, etl_seconds(file, event->time_stamp));
	if (!strcasecmp(filter->field, "HookId"))
		return event->has_hook_id && compare_integer(filter, event->hook_id, false);
	for (i = 0; type && i < type->field_count; i++)
		if (event_has_field(event, &type->fields[i]) &&
		    !strcasecmp(filter->field, type->fields[i].name))
			return compare_field(filter, event, &type->fields[i], names);
	return false;
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
	free(filter->field);
	free(filter->text);
	free(filter);
}
