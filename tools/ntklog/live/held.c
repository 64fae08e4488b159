// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grow.h"
#include "held.h"
#include "kernel.h"
#include "macros.h"
#include "message.h"
#include "text.h"

#define FILE_NAME	"held"
#define HEADING		"Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task"

static uint64_t read_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static int read_text(struct held_list *held)
{
	char path[PATH_SIZE];
	FILE *stream;
	size_t capacity = 0;
	ssize_t length;
	int err;

	snprintf(path, sizeof(path), "%s/" FILE_NAME, kernel_directory());
	stream = fopen(path, "re");
	if (!stream) {
		err = errno;
		message("%s: %s", path, err == ENOENT ?
			"the loaded module has no such file: load a newer one" : strerror(err));
		return -1;
	}
	errno = 0;
	/* The file has no NUL. */
	length = getdelim(&held->text, &capacity, '\0', stream);
	err = errno;
	fclose(stream);
	if (length > 0)
		return 0;
	if (err == EPERM)
		message("%s: the kernel is locked down: it shows no addresses; load the module with addresses=hashed",
			path);
	else
		message("%s: %s", path, err ? strerror(err) : "is empty");
	return -1;
}

/* Cut a word, and a module in brackets behind it, from a line. Returns NULL at the line's end. */
static char *take_symbol(char **line)
{
	char *word = *line, *end = strchr(word, ' '), *module;

	/* A task may have a name in brackets, but behind it the line has nothing. */
	if (end && end[1] == '[') {
		module = strchr(end, ']');
		if (module && module[1] == ' ')
			end = module + 1;
	}
	if (!end)
		return NULL;
	*end = '\0';
	*line = end + 1;
	return word;
}

/*
 * Parse a line of a lock. @read_ns is how long it took to read the file: a younger hold or wait may
 * have begun after the module wrote an earlier line. Returns 0, or a negative errno.
 */
static int parse_slot(struct held_list *held, char *line, uint64_t read_ns)
{
	char mode[16], state[16], *next_field, *kind;
	struct graph_slot slot = { 0 };
	uint64_t age_us;
	uint32_t thread_id;
	int kind_offset, kind_end_offset, end = 0;

	if (sscanf(line, "0x%" SCNx64 " %n%*s%n %15s %15s %" SCNu32 " %" SCNu64 " %" SCNu32 " %n",
		   &slot.address, &kind_offset, &kind_end_offset, mode, state, &thread_id, &age_us,
		   &slot.contention_count, &end) != 6 || !end)
		return -EINVAL;
	next_field = line + end;
	kind = line + kind_offset;
	line[kind_end_offset] = '\0';
	slot.kind = kind;
	slot.symbol = take_symbol(&next_field);
	slot.caller = slot.symbol ? take_symbol(&next_field) : NULL;
	slot.is_exclusive = !strcmp(mode, "exclusive");
	slot.is_waiting = !strcmp(state, "waiting");
	slot.age_ns = age_us * 1000;
	slot.began_while_listing = slot.age_ns < read_ns;
	if (!slot.caller)
		return -EINVAL;
	if (!strcmp(slot.symbol, "-"))
		slot.symbol = NULL;
	slot.task = wait_graph_find_task(&held->graph, thread_id);
	if (!slot.task)
		return -ENOMEM;
	slot.task->name = next_field;
	return wait_graph_add_slot(&held->graph, &slot) ? 0 : -ENOMEM;
}

static int parse_text(struct held_list *held, uint64_t read_ns)
{
	char *line, *next = held->text;
	size_t number, i;
	int err = 0;

	for (number = 1; !err && (line = strsep(&next, "\n")) && (*line || next); number++) {
		struct graph_slot *last = held->graph.slots + held->graph.slot_count;
		const char **frames;

		text_clean(line);
		if (number == 1) {
			err = strcmp(line, HEADING) ? -EINVAL : 0;
		} else if (*line != '\t') {
			err = parse_slot(held, line, read_ns);
		} else if (!held->graph.slot_count) {
			err = -EINVAL;
		} else {
			frames = grow_by_one(held->frames, held->frame_count, sizeof(*frames));
			if (!frames) {
				err = -ENOMEM;
				continue;
			}
			held->frames = frames;
			held->frames[held->frame_count++] = line + 1;
			last[-1].task->frame_count++;
		}
	}
	if (err) {
		message(FILE_NAME ": line %zu: %s", number - 1, err == -ENOMEM ? strerror(ENOMEM) :
			"is not understood: tool and module are of different versions");
		return -1;
	}
	for (i = 0; i < held->graph.slot_count; i++) {
		if (held->graph.slots[i].address)
			continue;
		message(FILE_NAME ": locks cannot be told apart without their addresses: load the module with addresses=hashed");
		return -1;
	}
	return 0;
}

/* Let tasks point to their stacks: frames and slots are both still in the order of the file. */
static void find_stacks(struct held_list *held)
{
	const char **next = held->frames;
	size_t i;

	for (i = 0; i < held->graph.slot_count; i++) {
		struct graph_task *task = held->graph.slots[i].task;

		if (!task->frame_count || task->stack)
			continue;
		task->stack = next;
		next += task->frame_count;
	}
}

/**
 * held_read() - read the file held, and make the wait graph
 * @held: set to the graph
 *
 * Return: 0, or -1 after a message; held_free() in both cases.
 */
int held_read(struct held_list *held)
{
	uint64_t start = read_monotonic_ns(), read_ns;

	*held = (struct held_list) { 0 };
	if (read_text(held))
		return -1;
	read_ns = read_monotonic_ns() - start;
	if (parse_text(held, read_ns))
		return -1;
	find_stacks(held);
	if (wait_graph_finish(&held->graph))
		return 0;
	message(FILE_NAME ": %s", strerror(ENOMEM));
	return -1;
}

/**
 * held_free() - free the graph
 * @held: after held_read()
 */
void held_free(struct held_list *held)
{
	wait_graph_free(&held->graph);
	free(held->frames);
	free(held->text);
	*held = (struct held_list) { 0 };
}
