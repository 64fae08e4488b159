/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_NOTES_H
#define _NTKLOG_GROUND_TASK_NOTES_H

/*
 * Notes of tasks that have ended or got another name: user space cannot read their earlier names,
 * processes and cgroups from /proc any more.
 */

#include <linux/types.h>

/* Number of notes that are kept. */
#define NTKLOG_TASK_NOTES	4096

struct ntklog_task_note_reader;
struct task_struct;

void ntklog_note_task(struct task_struct *task);

struct ntklog_task_note_reader *ntklog_open_task_notes(void);
void ntklog_close_task_notes(struct ntklog_task_note_reader *reader);
ssize_t ntklog_read_task_notes(struct ntklog_task_note_reader *reader, char __user *buffer,
			       size_t count);

int ntklog_set_task_notes_always_enabled(bool enable);
void ntklog_task_notes_exit(void);

#endif /* _NTKLOG_GROUND_TASK_NOTES_H */
