// SPDX-License-Identifier: GPL-2.0-only
/* See task_names.h. */

#define _GNU_SOURCE

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "kernel.h"
#include "task_names.h"
#include "text.h"

/* Updates during which the name of a new task is read again. */
#define YOUNG	3

/*
 * A task, whether it is in the trace or not.
 *
 * @id: its number
 * @process_id: number of its process; 0: not known
 * @name: its name; NULL: not known
 * @cgroup: path of its cgroup; NULL: not known
 * @is_wanted: whether it is in the trace
 * @is_written: whether the file has the members above
 * @seen: number of the update at which it was first in the trace
 * @hh: link in the table
 */
struct task_name {
	uint32_t id;
	uint32_t process_id;
	char *name;
	char *cgroup;
	bool is_wanted;
	bool is_written;
	unsigned int seen;
	UT_hash_handle hh;
};

/*
 * Read a line of a file in /proc: the one that begins with @prefix, without the prefix. A line of
 * the file of names has no control characters. Returns NULL if there is none.
 */
static char *read_line(uint32_t id, const char *file, const char *prefix)
{
	size_t room = 0, length = strlen(prefix);
	char path[PATH_SIZE], *line = NULL;
	bool found = false;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%u/%s", kernel_proc(), id, file);
	stream = fopen(path, "re");
	if (!stream)
		return NULL;
	while (!found && getline(&line, &room, stream) > 0)
		found = !strncmp(line, prefix, length);
	fclose(stream);
	if (!found) {
		free(line);
		return NULL;
	}
	memmove(line, line + length, strlen(line + length) + 1);
	line[strcspn(line, "\n")] = '\0';
	text_clean_line(line);
	return line;
}

/* Replace a text, unless it is not known any more. Returns true if it has changed. */
static bool replace(char **text, char *by)
{
	if (!by || (*text && !strcmp(*text, by))) {
		free(by);
		return false;
	}
	free(*text);
	*text = by;
	return true;
}

/* Read what the kernel tells of a task, if the task still exists. */
static void read_task(struct task_name *task)
{
	char *process = read_line(task->id, "status", "Tgid:\t"), *cgroup, *deleted;

	if (process)
		task->process_id = strtoul(process, NULL, 10);
	free(process);
	cgroup = read_line(task->id, "cgroup", "0::");
	if (cgroup) {
		/* The path of a cgroup that was removed has this behind it. */
		deleted = strstr(cgroup, " (deleted)");
		if (deleted)
			*deleted = '\0';
	}
	if (replace(&task->cgroup, cgroup))
		task->is_written = false;
	if (replace(&task->name, read_line(task->id, "comm", "")))
		task->is_written = false;
}

static struct task_name *find_task(struct task_names *names, uint32_t id)
{
	struct task_name *task;

	HASH_FIND(hh, names->tasks, &id, sizeof(id), task);
	if (task)
		return task;
	hash_add(names->tasks, id, &id, task);
	if (task)
		read_task(task);
	return task;
}

/* Note that a task is in the trace. Returns the task; NULL without memory. */
static struct task_name *want_task(struct task_names *names, uint32_t id)
{
	struct task_name *task = find_task(names, id);

	if (task && !task->is_wanted) {
		task->is_wanted = true;
		task->seen = names->updates;
	}
	return task;
}

/**
 * task_names_take() - note that a task is in the trace
 * @names: tasks of the trace
 * @id: id of the task
 */
void task_names_take(struct task_names *names, uint32_t id)
{
	uint32_t *seen = &names->seen[id % (1 << TASK_NAMES_SEEN_BITS)];
	struct task_name *task;

	/* Thread 0 is the idle thread of each CPU. */
	if (!id || *seen == id)
		return;
	*seen = id;
	task = want_task(names, id);
	/* The name of a process is that of its first task. */
	if (task && task->process_id)
		want_task(names, task->process_id);
}

/**
 * task_names_prepare() - read all tasks, because one may be gone when its first event is read
 * @names: all zero
 */
void task_names_prepare(struct task_names *names)
{
	DIR *processes = opendir(kernel_proc()), *tasks;
	struct dirent *entry, *task;
	char path[PATH_SIZE];

	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.20s/task", kernel_proc(), entry->d_name);
		tasks = opendir(path);
		while (tasks && (task = readdir(tasks)))
			if (isdigit((unsigned char)task->d_name[0]))
				find_task(names, strtoul(task->d_name, NULL, 10));
		if (tasks)
			closedir(tasks);
	}
	if (processes)
		closedir(processes);
}

static void write_task(struct task_name *task, FILE *stream)
{
	if (task->is_written || !task->name || !*task->name)
		return;
	fprintf(stream, "thread %u %s", task->id, task->name);
	if (task->process_id)
		fprintf(stream, "\t%u", task->process_id);
	if (task->process_id && task->cgroup)
		fprintf(stream, "\t%s", task->cgroup);
	fputc('\n', stream);
	task->is_written = true;
}

/**
 * task_names_update() - write what is new
 * @names: tasks of the trace
 * @stream: file of names
 */
void task_names_update(struct task_names *names, FILE *stream)
{
	struct task_name *task;

	names->updates++;
	for (task = names->tasks; task; task = task->hh.next) {
		if (!task->is_wanted)
			continue;
		if (names->updates != task->seen && names->updates - task->seen <= YOUNG)
			read_task(task);
		write_task(task, stream);
	}
}

/**
 * task_names_finish() - read all tasks of the trace once more, and write what is new
 * @names: tasks of the trace
 * @stream: file of names
 */
void task_names_finish(struct task_names *names, FILE *stream)
{
	struct task_name *task;

	for (task = names->tasks; task; task = task->hh.next) {
		if (!task->is_wanted)
			continue;
		read_task(task);
		write_task(task, stream);
	}
}

/**
 * task_names_free() - free all tasks
 * @names: tasks of the trace
 */
void task_names_free(struct task_names *names)
{
	struct task_name *task, *next;

	HASH_ITER(hh, names->tasks, task, next) {
		HASH_DEL(names->tasks, task);
		free(task->name);
		free(task->cgroup);
		free(task);
	}
}
