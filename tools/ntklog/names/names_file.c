// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "message.h"
#include "names.h"
#include "names_table.h"
#include "text.h"

/* Parse an id. */
static bool parse_id(char *text, char **end, uint32_t *id)
{
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoull(text, end, 10);
	*id = value;
	return value <= UINT32_MAX;
}

/* Parse "@CLOCK", which need not be there. */
static bool parse_clock(char *text, char **end, uint64_t *clock)
{
	*clock = 0;
	*end = text;
	if (*text != '@')
		return true;
	if (text[1] < '0' || text[1] > '9')
		return false;
	errno = 0;
	*clock = strtoull(text + 1, end, 10);
	return !errno;
}

/* Parse "ID NAME" or "ID@CLOCK NAME", with the process and the cgroup behind tabs, if known. */
static int add_thread(struct names *names, char *line)
{
	struct thread_name *more, thread = { .rank = FILE_RANK_BASE + names->thread_count };
	char *end, *process;
	uint32_t process_id;

	if (!parse_id(line, &end, &thread.id) || !parse_clock(end, &end, &thread.valid_from) ||
	    *end != ' ')
		return -EINVAL;
	thread.name = end + 1;
	process = strchr(thread.name, '\t');
	/* A name in an earlier version's file may have a tab. */
	if (process && parse_id(process + 1, &end, &process_id) && (!*end || *end == '\t')) {
		*process = '\0';
		thread.process_id = process_id;
		thread.cgroup = *end ? end + 1 : NULL;
	}
	more = grow_by_one(names->threads, names->thread_count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->threads = more;
	more[names->thread_count++] = thread;
	return 0;
}

/* Parse a hexadecimal number. This is faster than strtoull(). */
static uint64_t parse_address(char *line, char **end)
{
	uint64_t value = 0;
	unsigned int digit;

	if (line[0] == '0' && (line[1] | 0x20) == 'x')
		line += 2;
	for (*end = line; *end < line + 16; ++*end) {
		char c = **end;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (c | 0x20) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	return value;
}

static int add_symbol(struct names *names, char *line)
{
	struct symbol *more;
	char *end, *name, *module;
	uint64_t address = parse_address(line, &end);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return -EINVAL;
	name = end + 3;
	module = strpbrk(name, "\t ");
	if (module) {
		*module++ = '\0';
		module = strchr(module, '[');
		if (module && strchr(module, ']'))
			module[strcspn(module, "]") + 1] = '\0';
	}
	/*
	 * An address that the kernel hides is 0. A __key. of lockdep may have no size, and then has
	 * the address of the variable behind it.
	 */
	if (!address || !strncmp(name, "__key.", 6))
		return 0;
	more = grow_by_one(names->symbols, names->symbol_count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->symbols = more;
	more[names->symbol_count] = (struct symbol) {
		.address = address,
		.name = name,
		.module = module,
		.type = end[1],
		.rank = names->symbol_count,
	};
	names->symbol_count++;
	return 0;
}

/* Parse "ADDRESS CLASS" or "ADDRESS@CLOCK CLASS". */
static int add_lock(struct names *names, char *line)
{
	char *end;
	uint64_t address = parse_address(line, &end), clock;

	if (end == line || !parse_clock(end, &end, &clock) ||
	    *end != ' ' || !end[1] || end[1] == ' ')
		return -EINVAL;
	return lock_names_add(&names->locks, address, clock, end + 1);
}

/* Parse "ID TIME": a UUID, and a FILETIME like BootTime of the trace's header. */
static int set_boot(struct names *names, const char *line)
{
	char id[sizeof(names->boot_id)];
	uint64_t time;
	int used = 0;

	if (sscanf(line, "%36[0-9a-f-] %" SCNu64 "%n", id, &time, &used) != 2 || line[used] ||
	    strlen(id) != 36)
		return -EINVAL;
	memcpy(names->boot_id, id, sizeof(id));
	names->boot_time = time;
	return 0;
}

static int read_line(struct names *names, char *line)
{
	if (!strncmp(line, "thread ", 7))
		return add_thread(names, line + 7);
	if (!strncmp(line, "lock ", 5))
		return add_lock(names, line + 5);
	if (!strncmp(line, "boot ", 5))
		return set_boot(names, line + 5);
	return add_symbol(names, line);
}

static int read_lines(struct names *names, const char *path)
{
	unsigned long number = 0;
	char *line, *next = names->text;

	while ((line = strsep(&next, "\n"))) {
		int err;

		/* A line without an end is incomplete: the writer may have been killed. */
		if (!next)
			break;
		number++;
		if (!*line)
			continue;
		err = read_line(names, line);
		if (err == -EINVAL)
			message("%s: line %lu is neither a symbol nor a thread, a lock or a boot",
				path, number);
		else if (err)
			message("%s: %s", path, strerror(-err));
		if (err)
			return -1;
	}
	return 0;
}

static int read_text(struct names *names, FILE *stream)
{
	size_t size = 0, capacity = 0;

	do {
		char *more;

		capacity = capacity ? 2 * capacity : 1 << 20;
		more = realloc(names->text, capacity + 1);
		if (!more)
			return -1;
		names->text = more;
		size += fread(names->text + size, 1, capacity - size, stream);
	} while (size == capacity);
	names->text[size] = '\0';
	/* A NUL would hide the rest of the text. */
	if (ferror(stream) || strlen(names->text) != size)
		return -1;
	text_clean_large(names->text, size);
	return 0;
}

/**
 * names_load() - read the file of names of a trace
 * @names: set to the names, or to NULL if there is no file of names
 * @path: path of the file of names, or NULL for the one beside the trace, which need not exist
 * @trace_path: path of the trace
 *
 * Return: 0, or -1 after a message.
 */
int names_load(struct names **names, const char *path, const char *trace_path)
{
	char default_path[4096];
	FILE *stream;

	*names = NULL;
	if (!path)
		snprintf(default_path, sizeof(default_path), "%s%s", trace_path, NAMES_SUFFIX);
	stream = fopen(path ? path : default_path, "r");
	if (!stream && !path && errno == ENOENT)
		return 0;
	if (!stream) {
		message("%s: %s%s", path ? path : default_path, strerror(errno),
			path ? "" : ": --names FILE takes other names, /dev/null none");
		return -1;
	}
	if (!path)
		path = default_path;
	*names = calloc(1, sizeof(**names));
	if (!*names || read_text(*names, stream)) {
		message("%s: cannot be read as text", path);
		goto err;
	}
	if (read_lines(*names, path))
		goto err;
	fclose(stream);
	names_sort(*names);
	return 0;

err:
	fclose(stream);
	names_free(*names);
	*names = NULL;
	return -1;
}
