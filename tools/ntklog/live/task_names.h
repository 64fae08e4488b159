/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TASK_NAMES_H
#define _NTKLOG_TASK_NAMES_H

/*
 * Names, processes and cgroups of the tasks in a trace. They are read from /proc: at the start,
 * when a task is new, a few times while it is young (a program gets its name after its task was
 * started), and at the end. Tasks that have ended, and earlier names of a task, are in the module's
 * notes. The caller that sets @on_name is called the user here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "names.h"

#define TASK_NAMES_SEEN_BITS	10

struct noted_task;
struct task_name;

/*
 * The tasks of a trace; all zero: none.
 * @on_name: set by the user: called with each name of a task
 * @tasks: table of the tasks that ran at the start, or are in the trace
 * @new_tasks: list of tasks that are in the trace, and whose names may not be given yet
 * @noted_tasks: table of tasks that are not in the trace so far, but have notes
 * @notes: file with the module's notes; NULL: there are none
 * @long_path_count: notes without a cgroup, because its path is too long
 * @seen_ids: latest tasks in the trace, by hash
 */
struct task_names {
	void (*on_name)(void *argument, const struct thread_name *thread);
	void *argument;
	struct task_name *tasks;
	struct task_name *new_tasks;
	struct noted_task *noted_tasks;
	unsigned int noted_count;
	FILE *notes;
	uint64_t lost_note_count;
	unsigned int long_path_count;
	uint32_t seen_ids[1 << TASK_NAMES_SEEN_BITS];
	unsigned int update_count;
};

void task_names_prepare(struct task_names *names);
void task_names_read_notes(struct task_names *names);
void task_names_add(struct task_names *names, uint32_t id);
void task_names_give_new(struct task_names *names);
void task_names_update(struct task_names *names);
void task_names_finish(struct task_names *names);
size_t task_names_count(const struct task_names *names);
void task_names_free(struct task_names *names);

#endif /* _NTKLOG_TASK_NAMES_H */
