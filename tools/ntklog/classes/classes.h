/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CLASSES_H
#define _NTKLOG_CLASSES_H

/*
 * Classes of locks, such as "dentry.d_lockref.lock". While its file "identities" is open, the
 * module notes the memory that the lock of an event is in. The tool reads these notes and names the
 * class. A guessed name begins with "~".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

#define CLASS_SIZE	256

struct class_namer;

/*
 * Class of a lock, from a line of the file identities.
 * @time: session clock from which on the lock is of this class
 */
struct class_note {
	uint64_t address;
	uint64_t time;
	char class[CLASS_SIZE];
};

struct class_namer *classes_open(const char *system_directory);
void classes_refresh(struct class_namer *classes);
bool classes_parse_line(struct class_namer *classes, const char *line, struct class_note *note);
void classes_close(struct class_namer *classes);

#endif /* _NTKLOG_CLASSES_H */
