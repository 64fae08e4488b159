// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing the names of the running kernel's symbols and threads. All symbols are written
 * at the start; those of a module that is loaded later, which may be unloaded again, and
 * threads when they are seen.
 */

#define _GNU_SOURCE

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM	1
#include <uthash.h>

#include "message.h"
#include "names.h"
#include "names_writer.h"

/*
 * @id: of a thread
 * @name: that has been written
 * @hh: in the table
 */
struct names_thread {
	unsigned int id;
	char name[64];
	UT_hash_handle hh;
};

static char *read_modules(size_t *size)
{
	FILE *stream = fopen("/proc/modules", "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t got;

	*size = 0;
	if (!stream)
		return NULL;
	/* The file has no NUL: all of it is one line up to that. */
	got = getdelim(&text, &room, '\0', stream);
	*size = got > 0 ? got : 0;
	fclose(stream);
	return text;
}

/* Is "MODULE ... ADDRESS" of this module also in the text? Counts of its users change. */
static bool is_known(const char *modules, const char *line)
{
	const char *address = strstr(line, " 0x");
	size_t name = strcspn(line, " ");
	const char *known = modules;

	while (known && *known) {
		if (!strncmp(known, line, name + 1)) {
			const char *its = strstr(known, " 0x");
			size_t length = strcspn(known, "\n");

			return address && its && its < known + length &&
			       !strncmp(its, address, 19);
		}
		known = strchr(known, '\n');
		known = known ? known + 1 : NULL;
	}
	return false;
}

/* Symbols of all, or of those modules that @names, "[a][b]", has. */
static void write_symbols(struct names_writer *writer, const char *names)
{
	FILE *stream = fopen("/proc/kallsyms", "r");
	char *line = NULL, *module;
	size_t room = 0;

	if (!stream)
		return;
	while (getline(&line, &room, stream) > 0) {
		module = strrchr(line, '[');
		if (names) {
			if (!module)
				continue;
			module = strndup(module, strcspn(module, "]") + 1);
			if (module && strstr(names, module))
				fputs(line, writer->stream);
			free(module);
		} else {
			fputs(line, writer->stream);
		}
	}
	free(line);
	fclose(stream);
}

/* Once, and when it changes. */
static void write_thread(struct names_writer *writer, unsigned int id, const char *name)
{
	struct names_thread *thread;

	HASH_FIND(hh, writer->threads, &id, sizeof(id), thread);
	if (thread && !strncmp(thread->name, name, sizeof(thread->name) - 1))
		return;
	fprintf(writer->stream, "thread %u %s\n", id, name);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return;
		thread->id = id;
		HASH_ADD(hh, writer->threads, id, sizeof(id), thread);
		if (!thread->hh.tbl) {
			free(thread);
			return;
		}
	}
	snprintf(thread->name, sizeof(thread->name), "%s", name);
}

static void write_process(struct names_writer *writer, const char *process)
{
	char path[300], name[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%s/task", process);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		FILE *stream;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task/%.20s/comm", process,
			 entry->d_name);
		stream = fopen(path, "r");
		if (stream && fgets(name, sizeof(name), stream)) {
			name[strcspn(name, "\n")] = '\0';
			write_thread(writer, strtoul(entry->d_name, NULL, 10), name);
		}
		if (stream)
			fclose(stream);
	}
	if (tasks)
		closedir(tasks);
}

static void write_threads(struct names_writer *writer)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]) && strlen(entry->d_name) < 20)
			write_process(writer, entry->d_name);
	if (processes)
		closedir(processes);
}

/**
 * names_writer_open() - write what there is now
 * @writer: what is begun
 * @trace_path: of the trace, beside which the names go
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_open(struct names_writer *writer, const char *trace_path)
{
	size_t size;
	int fd;

	if (asprintf(&writer->path, "%s%s", trace_path, NAMES_SUFFIX) < 0)
		return -1;
	/* It tells where the kernel is in memory. */
	fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	writer->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!writer->stream) {
		message("%s: %s", writer->path, strerror(errno));
		free(writer->path);
		return -1;
	}
	writer->modules = read_modules(&size);
	write_symbols(writer, NULL);
	write_threads(writer);
	fflush(writer->stream);
	return 0;
}

/**
 * names_writer_update() - write what is new
 * @writer: of the trace
 */
void names_writer_update(struct names_writer *writer)
{
	size_t size, used = 0;
	char *modules = read_modules(&size), *line, *added;

	if (modules && writer->modules && strcmp(modules, writer->modules)) {
		added = calloc(1, size + 3);
		for (line = modules; added && line && *line;) {
			if (!is_known(writer->modules, line))
				used += sprintf(added + used, "[%.*s]",
						(int)strcspn(line, " "), line);
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
		if (used)
			write_symbols(writer, added);
		free(added);
		free(writer->modules);
		writer->modules = modules;
	} else {
		free(modules);
	}
	write_threads(writer);
	fflush(writer->stream);
}

/**
 * names_writer_close() - the trace has ended
 * @writer: of the trace
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_close(struct names_writer *writer)
{
	int err = finish_output(writer->stream, writer->path);
	struct names_thread *thread, *next;

	fclose(writer->stream);
	HASH_ITER(hh, writer->threads, thread, next) {
		HASH_DEL(writer->threads, thread);
		free(thread);
	}
	free(writer->modules);
	free(writer->path);
	return err;
}
