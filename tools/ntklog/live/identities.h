/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_IDENTITIES_H
#define _NTKLOG_IDENTITIES_H

/* What locks lie in, as the module notes it while somebody has its file open, with names. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "classes.h"

/**
 * struct identities - the file; all zero: not open
 * @stream: it, or NULL: there is none, and no lock has a class
 * @classes: what names depend on
 * @missed: notes that were not made, as last told
 * @replaced: notes that had gone before they were read, as last told
 */
struct identities {
	FILE *stream;
	struct classes *classes;
	unsigned int missed;
	unsigned int replaced;
};

void identities_open(struct identities *identities);
void identities_read(struct identities *identities,
		     void (*take)(void *argument, const struct class_note *note), void *argument);
void identities_again(struct identities *identities);
void identities_refresh(struct identities *identities);
void identities_close(struct identities *identities);

#endif /* _NTKLOG_IDENTITIES_H */
