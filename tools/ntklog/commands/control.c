// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "kernel.h"
#include "message.h"
#include "parameter.h"
#include "session.h"
#include "text.h"

enum {
	OPTION_JSON = 0x100,
};

/* @session_number: number of a session; -1: all */
struct options {
	bool prints_json;
	int session_number;
	char **arguments;
	size_t argument_count;
};

/* Read a file of a session as one line. The text is empty if the file cannot be read. */
static const char *read_session_text(int number, const char *name, char *text, size_t size)
{
	if (kernel_read(text, size, "sessions/%d/%s", number, name))
		text[0] = '\0';
	/* json_pack() refuses text that is not UTF-8. */
	text_clean(text);
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	return text;
}

static json_t *session_json(int number)
{
	char state[KERNEL_TEXT], name[KERNEL_TEXT], mask[KERNEL_TEXT], mode[KERNEL_TEXT];
	char size[KERNEL_TEXT], buffers[KERNEL_TEXT], stacks[KERNEL_TEXT];
	struct session_counts counts;

	read_session_counts(number, &counts);
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I}",
			 "session", number,
			 "state", read_session_text(number, "state", state, sizeof(state)),
			 "name", read_session_text(number, "name", name, sizeof(name)),
			 "group_mask", read_session_text(number, "group_mask", mask, sizeof(mask)),
			 "mode", read_session_text(number, "mode", mode, sizeof(mode)),
			 "stacks", read_session_text(number, "stacks", stacks, sizeof(stacks)),
			 "buffer_size",
			 atoi(read_session_text(number, "buffer_size", size, sizeof(size))),
			 "buffers",
			 atoi(read_session_text(number, "buffers", buffers, sizeof(buffers))),
			 "generated", (json_int_t)counts.generated,
			 "written", (json_int_t)counts.written,
			 "lost", (json_int_t)counts.lost,
			 "finished", (json_int_t)counts.finished_buffer_count,
			 "unread", (json_int_t)counts.unread_buffer_count);
}

static void print_session(int number)
{
	json_t *session = session_json(number);
	const char *state, *name, *mask, *mode;
	int size, buffers;

	if (!session || json_unpack(session, "{s:s, s:s, s:s, s:s, s:i, s:i}", "state", &state,
				    "name", &name, "group_mask", &mask, "mode", &mode,
				    "buffer_size", &size, "buffers", &buffers))
		return;
	printf("  %d  %-7s  %-18s  %-10s  %3d x %-7d  %s\n", number, state, name, mode,
	       buffers, size, mask);
	json_decref(session);
}

static void print_session_counts(int number)
{
	struct session_counts counts;
	char stacks[KERNEL_TEXT];

	if (read_session_counts(number, &counts))
		return;
	printf("     events %" PRIu64 ", written %" PRIu64 ", lost %" PRIu64,
	       counts.generated, counts.written, counts.lost);
	printf("; buffers finished %" PRIu64 ", not yet read %" PRIu64 "\n",
	       counts.finished_buffer_count, counts.unread_buffer_count);
	read_session_text(number, "stacks", stacks, sizeof(stacks));
	if (*stacks && strcmp(stacks, "none"))
		printf("     with stacks of %s\n", stacks);
}

static int print_and_free_json(json_t *object)
{
	json_dumpf(object, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(object);
	return finish_output(stdout, NULL) ? NTKLOG_FAILED : NTKLOG_OK;
}

static json_t *parameters_json(const struct parameter_group *group, const uint32_t *values)
{
	json_t *parameters = json_object();
	size_t i;

	for (i = 0; i < group->parameter_count; i++)
		json_object_set_new(parameters, group->parameters[i].name,
				    json_pack("{s:I, s:I, s:I, s:b}",
					      "value", (json_int_t)values[i],
					      "minimum",
					      (json_int_t)group->parameters[i].minimum,
					      "maximum", (json_int_t)UINT32_MAX,
					      "or_zero", group->parameters[i].zero_is_valid));
	return parameters;
}

static void print_parameters(const struct parameter_group *group, const uint32_t *values)
{
	char limits_text[64];
	size_t i;

	for (i = 0; i < group->parameter_count; i++) {
		const struct parameter *parameter = &group->parameters[i];

		snprintf(limits_text, sizeof(limits_text), "(%s%" PRIu32 " to %" PRIu32 ")",
			 parameter->zero_is_valid ? "0, " : "", parameter->minimum, UINT32_MAX);
		printf("  %s %-22s  %10" PRIu32 "  %-28s  %s\n", group->name,
		       parameter->name, values[i], limits_text, parameter->help);
	}
}

static int print_list(const struct options *options)
{
	json_t *object = options->prints_json ? json_pack("{s:[], s:{}, s:[]}", "groups",
							  "parameters", "sessions") : NULL;
	uint32_t values[PARAMETERS_MAX];
	char text[KERNEL_TEXT];
	const char *trouble;
	size_t i;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (!object)
		puts("Events (-e)");
	for (i = 0; i < session_group_count; i++) {
		const struct session_group *group = &session_groups[i];

		trouble = session_explain_group(group, text);
		if (object)
			json_array_append_new(json_object_get(object, "groups"),
					      json_pack("{s:s, s:s, s:I, s:s?}", "name",
							group->name, "mask_name",
							group->mask_name, "mask",
							(json_int_t)group->mask, "trouble",
							trouble));
		else
			printf("  %-18s %-23s 0x%08" PRIx32 "  %s%s%s\n", group->name,
			       group->mask_name, group->mask, group->help,
			       trouble ? ": " : "", trouble ?: "");
	}
	if (!object)
		puts("\nNot recorded of Linux' own locks\n"
		     "  readers of percpu_rw_semaphores; lock functions that the compiler has put into\n"
		     "  their callers; rt_mutexes of futexes; what interrupts do with locks that sleep\n"
		     "\nParameters, in the order of ntklog set");
	for (i = 0; i < parameter_group_count; i++) {
		if (parameter_group_get(&parameter_groups[i], values)) {
			json_decref(object);
			return NTKLOG_FAILED;
		}
		if (object)
			json_object_set_new(json_object_get(object, "parameters"),
					    parameter_groups[i].name,
					    parameters_json(&parameter_groups[i], values));
		else
			print_parameters(&parameter_groups[i], values);
	}
	if (!object)
		puts("\nSessions");
	for (i = 0; i < KERNEL_SESSIONS; i++) {
		if (object)
			json_array_append_new(json_object_get(object, "sessions"),
					      session_json(i));
		else
			print_session(i);
	}
	if (object)
		return print_and_free_json(object);
	return finish_output(stdout, NULL) ? NTKLOG_FAILED : NTKLOG_OK;
}

static int print_status(const struct options *options)
{
	json_t *array = options->prints_json ? json_array() : NULL;
	int number;

	if (kernel_check())
		return NTKLOG_FAILED;
	for (number = 0; number < KERNEL_SESSIONS; number++) {
		if (options->session_number >= 0 && number != options->session_number)
			continue;
		if (array) {
			json_array_append_new(array, session_json(number));
			continue;
		}
		print_session(number);
		print_session_counts(number);
	}
	if (array)
		return print_and_free_json(array);
	return finish_output(stdout, NULL) ? NTKLOG_FAILED : NTKLOG_OK;
}

static void print_usage_of_set(const struct parameter_group *group)
{
	size_t i, needed_count = group->parameter_count - group->optional_parameter_count;

	fprintf(stderr, "usage: ntklog set %s", group->name);
	for (i = 0; i < group->parameter_count; i++)
		fprintf(stderr, i < needed_count ? " %s" : " [%s]",
			group->parameters[i].name);
	fputc('\n', stderr);
}

static int set_parameters(const struct options *options)
{
	const struct parameter_group *parameters =
		options->argument_count ? parameter_group_find(options->arguments[0]) : NULL;
	size_t count = options->argument_count - 1, i;
	uint32_t values[PARAMETERS_MAX];

	if (!parameters) {
		message("no parameters are named: give spinlock or resource");
		return NTKLOG_USAGE;
	}
	if (count > parameters->parameter_count ||
	    count < parameters->parameter_count - parameters->optional_parameter_count) {
		print_usage_of_set(parameters);
		return NTKLOG_USAGE;
	}
	for (i = 0; i < count; i++) {
		const char *text = options->arguments[i + 1];
		unsigned long long value;
		char *end;

		errno = 0;
		value = strtoull(text, &end, 10);
		if (end == text || *end || *text == '-' || errno || value > UINT32_MAX) {
			message("%s %s: \"%s\" is no number up to %" PRIu32,
				parameters->name, parameters->parameters[i].name, text,
				UINT32_MAX);
			return NTKLOG_USAGE;
		}
		values[i] = value;
	}
	if (parameter_group_check(parameters, values, count))
		return NTKLOG_USAGE;
	if (parameter_group_put(parameters, values, count) ||
	    parameter_group_get(parameters, values))
		return NTKLOG_FAILED;
	print_parameters(parameters, values);
	return finish_output(stdout, NULL) ? NTKLOG_FAILED : NTKLOG_OK;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_JSON:
		options->prints_json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_session(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != ARGP_KEY_ARG)
		return parse_option(key, argument, state);
	options->session_number = session_parse_number(argument);
	if (options->session_number < 0 || state->arg_num)
		argp_error(state, "give the number of one session, 0 to %d", KERNEL_SESSIONS - 1);
	return 0;
}

static error_t parse_arguments(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != ARGP_KEY_ARG)
		return parse_option(key, argument, state);
	options->arguments = &state->argv[state->next - 1];
	options->argument_count = state->argc - state->next + 1;
	state->next = state->argc;
	return 0;
}

static const struct argp_option json_options[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print JSON, for programs", 0 },
	{ 0 }
};

static int parse_and_run(const struct argp *argp, int argc, char **argv,
			 int (*function)(const struct options *options))
{
	struct options options = { .session_number = -1 };

	/*
	 * With ARGP_IN_ORDER "set" gets negative numbers, which it refuses. Otherwise argp would
	 * take them for options.
	 */
	argp_parse(argp, argc, argv, function == set_parameters ? ARGP_IN_ORDER : 0, NULL,
		   &options);
	return function(&options);
}

/**
 * command_list() - ntklog list
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_list(int argc, char **argv)
{
	static const struct argp argp = {
		.options = json_options,
		.parser = parse_option,
		.doc = "Print what the module offers: events, parameters with their limits and present\n"
		       "values, and sessions. Where the running kernel does not allow a kind of lock,\n"
		       "the reason is behind it.",
	};

	return parse_and_run(&argp, argc, argv, print_list);
}

/**
 * command_status() - ntklog status
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_status(int argc, char **argv)
{
	static const struct argp argp = {
		.options = json_options,
		.parser = parse_session,
		.args_doc = "[SESSION]",
		.doc = "Print the settings of sessions, and what they have counted.",
	};

	return parse_and_run(&argp, argc, argv, print_status);
}

/**
 * command_set() - ntklog set
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_set(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_arguments,
		.args_doc = "spinlock SPINS ACQUIRE_RATE CONTENTION_RATE [HOLD_THRESHOLD]\n"
			    "resource RELEASE_RATE CONTENTION_RATE EXCESSIVE_TIMEOUTS",
		.doc = "Set the parameters of the sampling, which are those of all sessions: all of\n"
		       "them, or none if one is refused. A rate is one in so many: a greater number\n"
		       "writes fewer records. Those of spin locks are in the order of xperf\n"
		       "-setspinlocksample. The hold threshold stays if it is not given. ntklog list\n"
		       "prints what each parameter means and its limits.",
	};

	return parse_and_run(&argp, argc, argv, set_parameters);
}
