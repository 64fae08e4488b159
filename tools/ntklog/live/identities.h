/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_IDENTITIES_H
#define _NTKLOG_IDENTITIES_H

/*
 * Read the module's notes about locks, and make names of classes of them. The module makes notes
 * while its file "identities" is open.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "classes.h"

/*
 * The file; all zero: not open.
 * @stream: the file, or NULL: no lock has a class
 * @missed_note_count: number of notes that the module could not make
 * @replaced_note_count: number of notes that were overwritten before they were read
 */
struct identities_file {
	FILE *stream;
	struct class_namer *classes;
	unsigned int missed_note_count;
	unsigned int replaced_note_count;
};

void identities_open(struct identities_file *identities);
void identities_read(struct identities_file *identities,
		     void (*take)(void *argument, const struct class_note *note), void *argument);
void identities_rewind(struct identities_file *identities);
void identities_refresh_classes(struct identities_file *identities);
void identities_close(struct identities_file *identities);

#endif /* _NTKLOG_IDENTITIES_H */
