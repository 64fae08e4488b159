/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CLASSES_H
#define _NTKLOG_CLASSES_H

/*
 * Classes of locks: "dentry.d_lockref.lock" for all that there are of it. The module notes what a
 * lock lies in when its event is written, and tells that by the lines of its file identities;
 * here they get their names. What is only likely begins with a "~"; what cannot be told has the
 * function that has called, in parentheses, and no name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

/* Room for the name of a class. */
#define CLASS_SIZE	256

struct classes;

/**
 * struct class_note - a line of the file identities, with the name that belongs to it
 * @address: of the lock, as the events show it
 * @time: from which on it holds, as the events' times
 * @class: its name
 */
struct class_note {
	uint64_t address;
	uint64_t time;
	char class[CLASS_SIZE];
};

struct classes *classes_open(const char *system_directory);
void classes_refresh(struct classes *classes);
bool classes_read(struct classes *classes, const char *line, struct class_note *note);
void classes_close(struct classes *classes);

#endif /* _NTKLOG_CLASSES_H */
