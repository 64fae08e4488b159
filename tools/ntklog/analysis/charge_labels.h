/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_LABELS_H
#define _NTKLOG_CHARGE_LABELS_H

/* Names of waiters and holders, and of the places in which holders have no CPU. */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "charge.h"
#include "names.h"

/*
 * Bytes of the longest label: the path of a cgroup, and charge_context_text(). The functions of a
 * stack are shorter, and so is the chain of charge_format_absence(): at most 4 locks and 4 tasks,
 * the function in which the last one is blocked, and the words between them.
 */
#define CHARGE_LABEL_SIZE	(PATH_MAX + NAME_SIZE)

/* Text before the holder of a lock that another holder waits for. */
#define CHARGE_HELD_BY	", held by "

/**
 * enum charge_attribute - attribute by which waiters and holders are told apart
 * @CHARGE_BY_CALLER: of a spin lock the function that released it; of a lock that sleeps the task,
 *	and the function of the stack, or without a stack the function that acquired the lock
 * @CHARGE_BY_FUNCTION: the same function without the task
 * @CHARGE_BY_TASK: the name of the task
 * @CHARGE_BY_STACK: the innermost functions of the stack
 * @CHARGE_BY_THREAD: the task's id and name
 * @CHARGE_BY_PROCESS: the id and the name of the task's process
 * @CHARGE_BY_CGROUP: the path of the task's cgroup
 * @CHARGE_BY_CPU: the CPU that released the lock
 * @CHARGE_BY_IRQL: the IRQL of the release, by its name
 * @CHARGE_ATTRIBUTES: number of attributes
 */
enum charge_attribute {
	CHARGE_BY_CALLER,
	CHARGE_BY_FUNCTION,
	CHARGE_BY_TASK,
	CHARGE_BY_STACK,
	CHARGE_BY_THREAD,
	CHARGE_BY_PROCESS,
	CHARGE_BY_CGROUP,
	CHARGE_BY_CPU,
	CHARGE_BY_IRQL,
	CHARGE_ATTRIBUTES,
};

/* The names of the attributes, for messages. */
#define CHARGE_BY_NAMES	"caller, function, task, stack, thread, process, cgroup, cpu or irql"

extern const char *const charge_attribute_names[CHARGE_ATTRIBUTES];

enum charge_attribute charge_find_attribute(const char *name);

const char *charge_context_text(const struct charge_hold *hold);
bool charge_format_function(const struct names *names, const struct charge_hold *hold, char *text,
			    size_t size);
void charge_format_attribute(const struct names *names, enum charge_attribute attribute,
			     const struct charge_hold *hold, char *text, size_t size);
void charge_format_holder(const struct names *names, enum charge_attribute attribute,
			  const struct charge_hold *hold, char *text, size_t size);
bool charge_format_absence(const struct names *names, const struct charger *charger,
			   const struct charge_absence *absence, char *text, size_t size);

#endif /* _NTKLOG_CHARGE_LABELS_H */
