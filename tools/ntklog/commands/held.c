// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "command.h"
#include "held.h"
#include "held_waits.h"
#include "kernel.h"
#include "message.h"
#include "names.h"
#include "session.h"
#include "table.h"

enum {
	OPTION_JSON = 0x100,
	OPTION_WATCH,
	OPTION_ALL,
};

struct options {
	double delay_s;
	bool watches;
	bool prints_json;
	bool prints_uncontended;
};

static const char *format_age(uint64_t ns, char *text, size_t size)
{
	const union cell cell = { .number = (double)ns };

	cell_format_text(CELL_TIME, &cell, text, size);
	return text;
}

static int length_without_offset(const char *symbol)
{
	return strcspn(symbol, "+");
}

static const char *format_lock_name(const struct graph_slot *slot, char *text, size_t size)
{
	if (slot->symbol)
		snprintf(text, size, "%s %s", slot->kind, slot->symbol);
	else
		snprintf(text, size, "%s 0x%" PRIx64, slot->kind, slot->address);
	return text;
}

static void print_lock_name(const struct graph_slot *slot)
{
	char name[NAME_SIZE];

	fputs(format_lock_name(slot, name, sizeof(name)), stdout);
}

static void print_stack(const struct graph_task *task)
{
	size_t column = 9, i;

	for (i = 0; i < task->frame_count; i++) {
		int length = length_without_offset(task->stack[i]);

		/* Wrap lines at 80 columns. */
		if (i && column + 3 + length > 80)
			column = printf("\n\t ") + 6;
		if (!i)
			printf("\tin ");
		column += printf("%s%.*s", i ? " < " : "", length, task->stack[i]);
	}
	if (task->frame_count)
		putchar('\n');
}

static void print_slot(const struct graph_slot *slot)
{
	const struct graph_task *task = slot->task;
	char age[32];

	printf("  %s %-9s %8s  %s (%" PRIu32 ") in %.*s\n", slot->is_waiting ? "waits" : "held ",
	       slot->is_exclusive ? "exclusive" : "shared",
	       format_age(slot->age_ns, age, sizeof(age)), task->name, task->thread_id,
	       length_without_offset(slot->caller), slot->caller);
}

/*
 * Print what a holder waits for: the chain of locks and their holders, up to the last one. The
 * chain of tasks that are not deadlocked may lead back to a task that it has passed.
 */
static void print_chain(const struct graph_slot *slot)
{
	struct graph_task *end = slot->task;

	while (end->wait && end->blocker && !end->cycle && end->walk_start != slot) {
		end->walk_start = slot;
		printf("\t%s ", end == slot->task ? "waits for" : "which waits for");
		print_lock_name(end->wait);
		end = end->blocker;
		printf(", held by %s (%" PRIu32 ")\n", end->name, end->thread_id);
	}
	if (end->cycle) {
		printf("\tin deadlock %u\n", end->cycle);
	} else if (end->walk_start == slot) {
		puts("\twhich is named above, but this is not known to be a deadlock");
		return;
	} else if (end->wait) {
		fputs("\twaits for ", stdout);
		print_lock_name(end->wait);
		fputs(", whose holder is not known\n", stdout);
	}
	print_stack(end);
}

static void print_lock(const struct graph_lock *lock)
{
	size_t i;

	putchar('\n');
	print_lock_name(lock->slots);
	if (lock->slots->symbol)
		printf(" 0x%" PRIx64, lock->slots->address);
	putchar('\n');
	if (!lock->holder_count)
		puts("  held by no task that is known");
	for (i = 0; i < lock->holder_count + lock->waiter_count; i++) {
		print_slot(&lock->slots[i]);
		if (i < lock->holder_count)
			print_chain(&lock->slots[i]);
	}
}

static void print_deadlock(const struct wait_graph *graph, unsigned int number)
{
	const struct graph_task *first = wait_graph_find_cycle(graph, number), *task = first;
	char age[32];

	printf("Deadlock %u:\n", number);
	do {
		printf("  %s (%" PRIu32 ") waits %s for ", task->name, task->thread_id,
		       format_age(task->wait->age_ns, age, sizeof(age)));
		print_lock_name(task->wait);
		task = task->blocker;
		printf(", held by %s (%" PRIu32 ")\n", task->name, task->thread_id);
	} while (task != first);
}

static void print_text(const struct wait_graph *graph, const struct options *options)
{
	size_t uncontended_count = graph->lock_count - graph->contended_count, i;
	unsigned int cycle;

	for (cycle = 1; cycle <= graph->cycle_count; cycle++)
		print_deadlock(graph, cycle);
	if (!graph->lock_count && !session_any_is_started())
		puts("No session records locks that sleep: ntklog start -e linux_mutex,linux_rwsem");
	printf("Locks that sleep: %zu with waiters, %zu held without%s.\n", graph->contended_count,
	       uncontended_count,
	       uncontended_count && !options->prints_uncontended ? " (--all prints them)" : "");
	for (i = 0; i < (options->prints_uncontended ? graph->lock_count : graph->contended_count);
	     i++)
		print_lock(&graph->locks[i]);
}

static void format_wait_name(const struct names *names, const struct graph_slot *slot, char *text,
			     size_t size)
{
	uint64_t key = names_find_lock_key(names, slot->address, UINT64_MAX);
	char class[NAME_SIZE];
	size_t used;

	format_lock_name(slot, text, size);
	if (key == slot->address)
		return;
	names_format_address(names, key, class, sizeof(class));
	used = strlen(text);
	snprintf(text + used, size - used, " %s", class);
}

/**
 * held_print_waits() - print the longest present wait of each lock, and its oldest known holder
 * @stream: where to
 * @names: classes of locks
 * @name_part: print only locks with this text in their names
 * @matches_tasks: the text may also be in the name of the waiter or the holder
 * @count: most locks to print
 * @width: most characters of a line
 *
 * An older module lacks the file "held": then nothing is printed.
 *
 * Return: 0, or -1 after a message.
 */
int held_print_waits(FILE *stream, const struct names *names, const char *name_part,
		     bool matches_tasks, size_t count, size_t width)
{
	char path[PATH_SIZE], name[2 * NAME_SIZE], line[3 * NAME_SIZE], age[32];
	struct held_list held;
	size_t printed_count = 0, i;
	int err;

	snprintf(path, sizeof(path), "%s/held", kernel_directory());
	if (access(path, R_OK))
		return 0;
	err = held_read(&held);
	for (i = 0; !err && i < held.graph.contended_count && printed_count < count; i++) {
		const struct graph_lock *lock = &held.graph.locks[i];
		const struct graph_slot *wait = &lock->slots[lock->holder_count];
		int length;

		format_wait_name(names, lock->slots, name, sizeof(name));
		/* The tables are filtered by names without the kind of the lock. */
		if (!strstr(name + strlen(lock->slots->kind) + 1, name_part) &&
		    !(matches_tasks && (strstr(wait->task->name, name_part) ||
					strstr(lock->slots->task->name, name_part))))
			continue;
		if (!printed_count++)
			fputs("\nWaits that go on\n", stream);
		length = snprintf(line, sizeof(line), "%8s  %s (%" PRIu32 ") waits for %s",
				  format_age(wait->age_ns, age, sizeof(age)), wait->task->name,
				  wait->task->thread_id, name);
		if (lock->holder_count && length < (int)sizeof(line))
			snprintf(line + length, sizeof(line) - length, ", held by %s (%" PRIu32 ")%s",
				 lock->slots->task->name, lock->slots->task->thread_id,
				 wait->task->cycle ? ": deadlock" : "");
		fprintf(stream, "%.*s\n", (int)width, line);
	}
	held_free(&held);
	return err;
}

static json_t *task_json(const struct graph_task *task)
{
	json_t *stack = json_array();
	size_t i;

	for (i = 0; i < task->frame_count; i++)
		json_array_append_new(stack, json_string(task->stack[i]));
	return json_pack("{s:I, s:s, s:o}", "thread", (json_int_t)task->thread_id, "task",
			 task->name, "stack", stack);
}

static json_t *slot_json(const struct graph_slot *slot)
{
	json_t *object = task_json(slot->task);

	json_object_update_new(object, json_pack("{s:s, s:I, s:s}", "mode",
						 slot->is_exclusive ? "exclusive" : "shared",
						 "age_ns", (json_int_t)slot->age_ns, "caller",
						 slot->caller));
	if (!slot->is_waiting)
		json_object_set_new(object, "waits_begun", json_integer(slot->contention_count));
	if (slot->task->cycle)
		json_object_set_new(object, "deadlock", json_integer(slot->task->cycle));
	return object;
}

static json_t *lock_name_json(const struct graph_slot *slot)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, slot->address);
	return json_pack("{s:s, s:s, s:s?}", "address", address, "kind", slot->kind, "symbol",
			 slot->symbol);
}

static json_t *slots_json(const struct graph_slot *slots, size_t count)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(array, slot_json(&slots[i]));
	return array;
}

static json_t *deadlock_json(const struct graph_task *first)
{
	const struct graph_task *task = first;
	json_t *array = json_array();

	do {
		json_t *object = lock_name_json(task->wait);

		json_object_update_new(object, json_pack("{s:I, s:s, s:I, s:I}", "thread",
							 (json_int_t)task->thread_id, "task",
							 task->name, "age_ns",
							 (json_int_t)task->wait->age_ns,
							 "holder_thread",
							 (json_int_t)task->blocker->thread_id));
		json_array_append_new(array, object);
		task = task->blocker;
	} while (task != first);
	return array;
}

static void print_json(const struct wait_graph *graph, const struct options *options)
{
	json_t *locks = json_array(), *deadlocks = json_array(), *document;
	unsigned int cycle;
	size_t i;

	for (i = 0; i < graph->lock_count; i++) {
		const struct graph_lock *lock = &graph->locks[i];
		json_t *object = lock_name_json(lock->slots);

		json_object_set_new(object, "holders", slots_json(lock->slots, lock->holder_count));
		json_object_set_new(object, "waiters",
				    slots_json(lock->slots + lock->holder_count,
					       lock->waiter_count));
		json_array_append_new(locks, object);
	}
	for (cycle = 1; cycle <= graph->cycle_count; cycle++)
		json_array_append_new(deadlocks, deadlock_json(wait_graph_find_cycle(graph,
										     cycle)));
	document = json_pack("{s:o, s:o}", "deadlocks", deadlocks, "locks", locks);
	json_dumpf(document, stdout, options->watches ? JSON_COMPACT : JSON_INDENT(1));
	putchar('\n');
	json_decref(document);
}

static int print_once(const struct options *options)
{
	struct held_list held;
	int err = held_read(&held);

	if (!err && options->prints_json) {
		print_json(&held.graph, options);
	} else if (!err) {
		if (options->watches && isatty(STDOUT_FILENO))
			fputs("\033[H\033[J", stdout);
		print_text(&held.graph, options);
		/* An empty line separates the outputs in a file. */
		if (options->watches)
			putchar('\n');
	}
	held_free(&held);
	return err ? -1 : finish_output(stdout, NULL);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;
	char *end;

	switch (key) {
	case 'd':
		options->delay_s = strtod(argument, &end);
		if (end == argument || *end ||
		    !(options->delay_s >= .1 && options->delay_s <= 3600))
			argp_error(state, "-d: \"%s\" is not 0.1 to 3600 seconds", argument);
		options->watches = true;
		return 0;
	case OPTION_WATCH:
		options->watches = true;
		return 0;
	case OPTION_ALL:
		options->prints_uncontended = true;
		return 0;
	case OPTION_JSON:
		options->prints_json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "the argument \"%s\" is not understood", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option held_options[] = {
	{ "all", OPTION_ALL, NULL, 0, "Print locks without waiters too", 0 },
	{ "watch", OPTION_WATCH, NULL, 0, "Print again and again, until Ctrl-C", 0 },
	{ "delay", 'd', "SECONDS", 0, "Time between two outputs of --watch (1)", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON; with --watch an object on each line", 0 },
	{ 0 }
};

static const struct argp held_argp = {
	.options = held_options,
	.parser = parse_option,
	.doc = "Print which tasks wait for locks that sleep, which tasks hold these locks,\n"
	       "since when, and where the holders are blocked. Tasks that wait for each other\n"
	       "are a deadlock. It knows the locks that were acquired while a session records\n"
	       "them.",
};

/**
 * command_held() - ntklog held
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_held(int argc, char **argv)
{
	struct options options = { .delay_s = 1 };
	int err;

	argp_parse(&held_argp, argc, argv, 0, NULL, &options);
	if (kernel_check())
		return NTKLOG_FAILED;
	while (!(err = print_once(&options)) && options.watches)
		usleep(options.delay_s * 1e6);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}
