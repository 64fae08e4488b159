// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "kernel.h"
#include "message.h"
#include "task_names.h"
#include "text.h"

/* Updates during which the name of a new task is read again. */
#define NEW_TASK_UPDATES	3

/* Greatest number of notes of tasks that no event has so far. */
#define NOTES_MAX	65536

/* @until: session clock */
struct task_note {
	struct task_note *next;
	uint64_t until;
	uint32_t process_id;
	char *name;
	char *cgroup;
};

/*
 * A task that has notes, and is not in the trace so far.
 *
 * @notes: its notes, in the order of time
 * @hh: link in the table, in the order of the first notes
 */
struct noted_task {
	uint32_t id;
	struct task_note *notes;
	unsigned int note_count;
	UT_hash_handle hh;
};

/*
 * A task, whether it is in the trace or not.
 *
 * @notes: if it is in the trace: notes that are not given yet, in the order of time
 * @from: session clock from which on the members below are true; 0: from the start
 * @process_id: number of its process; 0: not known
 * @name: its name, which may be empty; NULL: not known
 * @is_given: the user of this file has the members above as they are now
 * @has_name: the user has at least one name of the task
 * @young_since_update: number of the update at which it was first in the trace, or had its last
 *	note
 */
struct task_name {
	uint32_t id;
	struct task_name *next_new;
	struct task_note *notes;
	uint64_t from;
	uint32_t process_id;
	char *name;
	char *cgroup;
	bool is_in_trace;
	bool is_given;
	bool has_name;
	unsigned int young_since_update;
	UT_hash_handle hh;
};

/*
 * Find the line of a file in /proc that begins with @prefix. Returns the line without the prefix,
 * and without control characters, which FILE.names must not have; NULL if there is no such line.
 */
static char *read_line(uint32_t id, const char *file, const char *prefix)
{
	size_t capacity = 0, length = strlen(prefix);
	char path[PATH_SIZE], *line = NULL;
	bool found = false;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%u/%s", kernel_proc_directory(), id, file);
	stream = fopen(path, "re");
	if (!stream)
		return NULL;
	while (!found && getline(&line, &capacity, stream) > 0)
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

/* Replace a text; NULL as the new one keeps the old one. Returns true if the text has changed. */
static bool replace_text(char **text, char *new_text)
{
	if (!new_text || (*text && !strcmp(*text, new_text))) {
		free(new_text);
		return false;
	}
	free(*text);
	*text = new_text;
	return true;
}

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
	if (replace_text(&task->cgroup, cgroup))
		task->is_given = false;
	if (replace_text(&task->name, read_line(task->id, "comm", "")))
		task->is_given = false;
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

static void free_notes(struct task_note *note)
{
	struct task_note *next;

	for (; note; note = next) {
		next = note->next;
		free(note->name);
		free(note->cgroup);
		free(note);
	}
}

static void append_note(struct task_note **notes, struct task_note *note)
{
	while (*notes)
		notes = &(*notes)->next;
	*notes = note;
}

static void remove_noted(struct task_names *names, struct noted_task *noted)
{
	HASH_DEL(names->noted_tasks, noted);
	names->noted_count -= noted->note_count;
	free(noted);
}

/* Note that a task is in the trace. Returns the task; NULL without memory. */
static struct task_name *add_to_trace(struct task_names *names, uint32_t id)
{
	struct task_name *task = find_task(names, id);
	struct noted_task *noted;

	if (!task || task->is_in_trace)
		return task;
	task->is_in_trace = true;
	task->young_since_update = names->update_count;
	task->next_new = names->new_tasks;
	names->new_tasks = task;
	HASH_FIND(hh, names->noted_tasks, &id, sizeof(id), noted);
	if (noted) {
		task->notes = noted->notes;
		/* /proc does not have the process of a task that has ended; the note has it. */
		task->process_id = noted->notes->process_id;
		remove_noted(names, noted);
	}
	return task;
}

static void keep_note_for_later(struct task_names *names, uint32_t id, struct task_note *note)
{
	struct noted_task *noted;

	HASH_FIND(hh, names->noted_tasks, &id, sizeof(id), noted);
	if (!noted)
		hash_add(names->noted_tasks, id, &id, noted);
	if (!noted) {
		free_notes(note);
		return;
	}
	append_note(&noted->notes, note);
	noted->note_count++;
	names->noted_count++;
	while (names->noted_count > NOTES_MAX) {
		noted = names->noted_tasks;
		free_notes(noted->notes);
		remove_noted(names, noted);
	}
}

static void store_note(struct task_names *names, uint32_t id, struct task_note *note)
{
	struct task_name *task;

	HASH_FIND(hh, names->tasks, &id, sizeof(id), task);
	if (!task || !task->is_in_trace) {
		keep_note_for_later(names, id, note);
		return;
	}
	append_note(&task->notes, note);
	add_to_trace(names, note->process_id);
}

/* Parse "THREAD PROCESS TIME NAME<tab>CGROUP". Returns NULL if it is none, or without memory. */
static struct task_note *parse_note(char *line, uint32_t *id)
{
	struct task_note *note = calloc(1, sizeof(*note));
	char *tab = strchr(line, '\t');
	int used = 0;

	if (!note || !tab || sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 "%n", id,
				    &note->process_id, &note->until, &used) != 3 ||
	    line[used] != ' ') {
		free(note);
		return NULL;
	}
	*tab++ = '\0';
	text_clean_line(line);
	text_clean_line(tab);
	note->name = strdup(line + used + 1);
	note->cgroup = *tab == '/' ? strdup(tab) : NULL;
	if (note->name)
		return note;
	free_notes(note);
	return NULL;
}

/**
 * task_names_read_notes() - read the module's new notes
 * @names: tasks of the trace
 *
 * The module keeps a bounded number of notes, so they must be read often.
 */
void task_names_read_notes(struct task_names *names)
{
	struct task_note *note;
	char *line = NULL;
	size_t capacity = 0;
	uint32_t id;

	if (!names->notes)
		return;
	/* The end of the file is the end of the notes so far. */
	clearerr(names->notes);
	while (getline(&line, &capacity, names->notes) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "lost %" SCNu64 " long %u", &names->lost_note_count,
			   &names->long_path_count) == 2)
			continue;
		note = parse_note(line, &id);
		if (note)
			store_note(names, id, note);
	}
	free(line);
}

/* Open the module's notes, which it makes from now on. An older module has no such file. */
static void open_notes(struct task_names *names)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/tasks", kernel_directory());
	names->notes = fopen(path, "re");
	if (!names->notes && errno != ENOENT)
		message("%s: %s: tasks that end have no names", path, strerror(errno));
}

/**
 * task_names_add() - add a task to the tasks of the trace, and its process
 * @names: tasks of the trace
 * @id: id of the task
 */
void task_names_add(struct task_names *names, uint32_t id)
{
	uint32_t *seen = &names->seen_ids[id % (1 << TASK_NAMES_SEEN_BITS)];
	struct task_name *task;

	/* Thread 0 is the idle thread of each CPU. */
	if (!id || *seen == id)
		return;
	*seen = id;
	task = add_to_trace(names, id);
	/* The name of a process is that of its first task. */
	if (task && task->process_id)
		add_to_trace(names, task->process_id);
}

/**
 * task_names_prepare() - read all tasks, because one may be gone when its first event is read
 * @names: all zero
 *
 * From now on the module notes the tasks that end.
 */
void task_names_prepare(struct task_names *names)
{
	DIR *processes = opendir(kernel_proc_directory()), *tasks;
	struct dirent *entry, *task;
	char path[PATH_SIZE];

	open_notes(names);
	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.20s/task", kernel_proc_directory(),
			 entry->d_name);
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

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void give_name(struct task_names *names, struct task_name *task, uint32_t process_id,
		      const char *name, const char *cgroup)
{
	names->on_name(names->argument, &(struct thread_name) {
		.id = task->id,
		.valid_from = task->from,
		.process_id = process_id,
		.name = name,
		.cgroup = cgroup,
	});
	task->has_name = true;
}

/*
 * Call names->on_name() with the name in each note of a task, unless the user has it already. Each
 * note ends a name, so the name that was read from /proc is outdated: read the task again.
 */
static void give_notes(struct task_names *names, struct task_name *task)
{
	const struct task_note *note;

	if (!task->notes)
		return;
	for (note = task->notes; note; note = note->next) {
		if (!task->is_given || note->process_id != task->process_id ||
		    !is_same_text(note->name, task->name) ||
		    !is_same_text(note->cgroup, task->cgroup))
			give_name(names, task, note->process_id, note->name, note->cgroup);
		task->from = note->until;
		task->process_id = note->process_id;
		task->is_given = false;
	}
	free_notes(task->notes);
	task->notes = NULL;
	free(task->name);
	free(task->cgroup);
	task->name = NULL;
	task->cgroup = NULL;
	task->young_since_update = names->update_count;
	read_task(task);
}

static void give_task(struct task_names *names, struct task_name *task)
{
	give_notes(names, task);
	if (task->is_given || !task->name)
		return;
	give_name(names, task, task->process_id, task->name, task->cgroup);
	task->is_given = true;
}

/**
 * task_names_give_new() - pass the names of the tasks that are new in the trace to @names->on_name
 * @names: tasks of the trace
 */
void task_names_give_new(struct task_names *names)
{
	for (; names->new_tasks; names->new_tasks = names->new_tasks->next_new)
		give_task(names, names->new_tasks);
}

/**
 * task_names_update() - pass new names of tasks to @names->on_name
 * @names: tasks of the trace
 */
void task_names_update(struct task_names *names)
{
	struct task_name *task;

	names->update_count++;
	names->new_tasks = NULL;
	for (task = names->tasks; task; task = task->hh.next) {
		if (!task->is_in_trace)
			continue;
		if (names->update_count != task->young_since_update &&
		    names->update_count - task->young_since_update <= NEW_TASK_UPDATES)
			read_task(task);
		give_task(names, task);
	}
}

/**
 * task_names_finish() - read all tasks of the trace again, and pass new names to @names->on_name
 * @names: tasks of the trace
 */
void task_names_finish(struct task_names *names)
{
	unsigned int unnamed_count = 0;
	struct task_name *task;

	for (task = names->tasks; task; task = task->hh.next) {
		if (!task->is_in_trace)
			continue;
		read_task(task);
		give_task(names, task);
		unnamed_count += !task->has_name;
	}
	if (names->notes && unnamed_count)
		message("%u tasks of the trace have no name, because they ended and the module has no note of them",
			unnamed_count);
}

/**
 * task_names_count() - count the tasks that are known
 * @names: tasks of the trace
 *
 * Return: number of tasks, whether they are in the trace or not.
 */
size_t task_names_count(const struct task_names *names)
{
	return HASH_COUNT(names->tasks);
}

/**
 * task_names_free() - say which notes are missing, and free all tasks
 * @names: tasks of the trace
 */
void task_names_free(struct task_names *names)
{
	struct noted_task *noted, *next_noted;
	struct task_name *task;

	if (names->lost_note_count)
		message("%" PRIu64 " notes about tasks that ended were overwritten before they were read: names, processes and cgroups may be missing",
			names->lost_note_count);
	if (names->long_path_count)
		message("%u tasks that ended were in a cgroup whose path is too long for a note",
			names->long_path_count);
	if (names->notes)
		fclose(names->notes);
	HASH_ITER(hh, names->noted_tasks, noted, next_noted) {
		free_notes(noted->notes);
		remove_noted(names, noted);
	}
	while ((task = hash_take_first(names->tasks))) {
		free_notes(task->notes);
		free(task->name);
		free(task->cgroup);
		free(task);
	}
}
