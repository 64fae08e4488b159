// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "filter.h"
#include "macros.h"

/* Greatest depth of parentheses and "!", which limits the recursion of the parser. */
#define DEPTH_MAX	64

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_COMPARE,
};

/* Operators. "<=" comes before "<", because the first one that fits is taken. */
static const struct {
	const char *text;
	enum comparison_operator operator;
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

struct filter {
	enum filter_kind kind;
	struct filter *left, *right;
	struct comparison comparison;
};

struct parser {
	const char *start;
	const char *position;
	unsigned int depth;
	char *error;
	size_t size;
};

static struct filter *parse_expression(struct parser *parser);

static struct filter *fail_parse(struct parser *parser, const char *expected)
{
	if (!parser->error[0])
		snprintf(parser->error, parser->size, "%s expected at \"%.20s\" (character %zu)",
			 expected, parser->position, parser->position - parser->start + 1);
	return NULL;
}

static void skip_spaces(struct parser *parser)
{
	while (isspace((unsigned char)*parser->position))
		parser->position++;
}

static bool accept_token(struct parser *parser, const char *token)
{
	skip_spaces(parser);
	if (strncmp(parser->position, token, strlen(token)))
		return false;
	parser->position += strlen(token);
	return true;
}

static char *parse_word(struct parser *parser, size_t *at)
{
	const char *from;

	skip_spaces(parser);
	from = parser->position;
	*at = from - parser->start + 1;
	if (*from == '"') {
		const char *end = strchr(++from, '"');

		if (!end)
			return NULL;
		parser->position = end + 1;
		return strndup(from, end - from);
	}
	while (*parser->position && (isalnum((unsigned char)*parser->position) ||
				     strchr("_.+-:/@$", *parser->position)))
		parser->position++;
	return parser->position > from ? strndup(from, parser->position - from) : NULL;
}

static struct filter *parse_comparison(struct parser *parser, struct filter *filter)
{
	struct comparison *comparison = &filter->comparison;
	struct filter *parsed = NULL;
	size_t at, i;
	char *name;

	filter->kind = FILTER_COMPARE;
	name = parse_word(parser, &at);
	if (!name)
		return fail_parse(parser, "a field's name");
	if (comparison_find_subject(comparison, name, at, parser->error, parser->size))
		goto out;
	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (accept_token(parser, operators[i].text))
			break;
	if (i == ARRAY_SIZE(operators)) {
		fail_parse(parser, "==, !=, <, <=, >, >= or ~");
		goto out;
	}
	comparison->operator = operators[i].operator;
	comparison->text = parse_word(parser, &comparison->text_offset);
	if (!comparison->text)
		fail_parse(parser, "a value");
	else if (!comparison_resolve_value(comparison, name, parser->error, parser->size))
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
		return fail_parse(parser, "an expression with fewer levels");
	}
	skip_spaces(parser);
	if (parser->position[0] == '!' && accept_token(parser, "!")) {
		filter->kind = FILTER_NOT;
		filter->left = parse_factor(parser);
		parsed = filter->left ? filter : NULL;
	} else if (accept_token(parser, "(")) {
		parsed = parse_expression(parser);
		if (parsed && !accept_token(parser, ")")) {
			filter_free(parsed);
			parsed = fail_parse(parser, ")");
		}
	} else {
		parsed = parse_comparison(parser, filter);
	}
	parser->depth--;
	if (parsed != filter)
		filter_free(filter);
	return parsed;
}

static uint32_t find_event_types(const struct filter *filter)
{
	switch (filter->kind) {
	case FILTER_AND:
		return find_event_types(filter->left) & find_event_types(filter->right);
	case FILTER_OR:
		return find_event_types(filter->left) | find_event_types(filter->right);
	case FILTER_NOT:
		/* A comparison is false for an event without the field, so its negation is true. */
		return COMPARISON_ALL_TYPES;
	case FILTER_COMPARE:
		break;
	}
	return comparison_find_types(&filter->comparison);
}

static struct filter *parse_chain(struct parser *parser, const char *token,
				  enum filter_kind kind,
				  struct filter *(*parse)(struct parser *parser))
{
	struct filter *left = parse(parser);

	while (left && accept_token(parser, token)) {
		size_t at = parser->position - parser->start - strlen(token) + 1;
		struct filter *both = calloc(1, sizeof(*both));
		struct filter *right = both ? parse(parser) : NULL;

		if (!right) {
			filter_free(left);
			filter_free(both);
			return NULL;
		}
		*both = (struct filter) { .kind = kind, .left = left, .right = right };
		left = both;
		if (!find_event_types(both)) {
			snprintf(parser->error, parser->size,
				 "no event has the fields of both sides of %s (character %zu)",
				 token, at);
			filter_free(both);
			return NULL;
		}
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
 * filter_parse() - parse an expression
 * @text: expression
 * @error: set to a message on failure
 * @size: bytes of @error
 *
 * Return: the filter, or NULL if the expression is wrong.
 */
struct filter *filter_parse(const char *text, char *error, size_t size)
{
	struct parser parser = { text, text, 0, error, size };
	struct filter *filter;

	error[0] = '\0';
	filter = parse_expression(&parser);
	skip_spaces(&parser);
	if (filter && *parser.position) {
		filter_free(filter);
		filter = fail_parse(&parser, "&&, || or the end");
	}
	if (!filter && !error[0])
		fail_parse(&parser, "a comparison");
	return filter;
}

/**
 * filter_needed_names() - find out which names a filter needs
 * @filter: the filter
 *
 * Return: FILTER_NAMES_*; 0: the filter needs no names of the recorded machine.
 */
unsigned int filter_needed_names(const struct filter *filter)
{
	const struct comparison *comparison = &filter->comparison;

	if (filter->kind == FILTER_NOT)
		return filter_needed_names(filter->left);
	if (filter->kind != FILTER_COMPARE)
		return filter_needed_names(filter->left) | filter_needed_names(filter->right);
	/* The process and the cgroup of a thread are told by names, even if they are numbers. */
	if (comparison->subject == SUBJECT_PROCESS || comparison->subject == SUBJECT_CGROUP)
		return FILTER_NAMES_TASKS;
	if (comparison->is_number)
		return 0;
	if (comparison->subject == SUBJECT_CLASS)
		return FILTER_NAMES_CLASSES;
	if (comparison->kind == OPERAND_THREAD)
		return FILTER_NAMES_TASKS;
	if (comparison->kind != OPERAND_ADDRESS)
		return 0;
	return FILTER_NAMES_SYMBOLS |
	       (comparison_is_of_locks(comparison) ? FILTER_NAMES_CLASSES : 0);
}

/**
 * filter_check_names() - check that the names in a filter exist
 * @filter: filter, or NULL
 * @names: names of the file, or NULL
 * @has_classes: @names have the classes of locks; otherwise any class may exist
 * @error: set to a message on failure
 * @size: bytes of @error
 *
 * Return: 0, or -1 if a name does not exist.
 */
int filter_check_names(struct filter *filter, const struct names *names, bool has_classes,
		       char *error, size_t size)
{
	if (!filter)
		return 0;
	if (filter->kind != FILTER_COMPARE)
		return filter_check_names(filter->left, names, has_classes, error, size) ||
		       filter_check_names(filter->right, names, has_classes, error, size) ? -1 : 0;
	return comparison_check_names(&filter->comparison, names, has_classes, error, size);
}

/**
 * filter_matches() - evaluate a filter for an event
 * @filter: filter
 * @file: file of the event
 * @event: event
 * @type: type of the event, or NULL if it is not known
 * @names: names of addresses and threads, or NULL
 * @callers: callers of the records that follow, from kept_callers_keep(), or NULL
 *
 * Return: true if the event passes the filter.
 */
bool filter_matches(const struct filter *filter, const struct etl_file *file,
		    const struct etl_event *event, const struct event_type *type,
		    const struct names *names, const struct kept_caller *callers)
{
	switch (filter->kind) {
	case FILTER_AND:
		return filter_matches(filter->left, file, event, type, names, callers) &&
		       filter_matches(filter->right, file, event, type, names, callers);
	case FILTER_OR:
		return filter_matches(filter->left, file, event, type, names, callers) ||
		       filter_matches(filter->right, file, event, type, names, callers);
	case FILTER_NOT:
		return !filter_matches(filter->left, file, event, type, names, callers);
	case FILTER_COMPARE:
		break;
	}
	return comparison_is_true(&filter->comparison, file, event, type, names, callers);
}

/**
 * filter_free() - free a filter
 * @filter: filter, or NULL
 */
void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_free(filter->left);
	filter_free(filter->right);
	comparison_clear(&filter->comparison);
	free(filter);
}

/**
 * selection_includes_all() - test whether no event is left out
 * @selection: the selection; NULL selects all events
 *
 * Return: true if there is no filter and no limit of time.
 */
bool selection_includes_all(const struct selection *selection)
{
	return !selection ||
	       (!selection->filter && !selection->has_begin && !selection->has_end);
}

/**
 * selection_includes_event() - test whether an event is selected
 * @selection: selection
 * @file: file of the event
 * @event: event
 * @type: type of the event, or NULL if it is not known
 * @names: names of addresses and threads, or NULL
 * @callers: as for filter_matches()
 *
 * Return: true if the event passes the filter and is in the times of @selection.
 */
bool selection_includes_event(const struct selection *selection, const struct etl_file *file,
			      const struct etl_event *event, const struct event_type *type,
			      const struct names *names, const struct kept_caller *callers)
{
	return selection_includes_time(selection, file, event) &&
	       (!selection->filter ||
		filter_matches(selection->filter, file, event, type, names, callers));
}
