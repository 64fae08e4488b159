/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_FLAME_H
#define _NTKLOG_FLAME_H

/* Stacks by their functions, from the outermost on: what flame graphs are drawn of. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis.h"
#include "hash.h"
#include "names.h"

/**
 * enum flame_of - what is added up
 * @FLAME_WAIT: how long it was waited for what has been acquired there
 * @FLAME_HOLD: how long that was owned
 * @FLAME_KINDS: how many there are
 */
enum flame_of {
	FLAME_WAIT,
	FLAME_HOLD,
	FLAME_KINDS,
};

/**
 * struct flame - a function, called by those above it
 * @name: of it
 * @ns: of all stacks that go through it
 * @own_ns: of those that end in it
 * @samples: records of all stacks that go through it
 * @callees: table of what it calls
 * @hh: in its caller's
 */
struct flame {
	char name[NAME_SIZE];
	double ns[FLAME_KINDS];
	double own_ns[FLAME_KINDS];
	uint64_t samples;
	struct flame *callees;
	UT_hash_handle hh;
};

bool flame_make(struct flame *root, const struct analysis *analysis, const struct etl_file *file,
		const struct names *names);
void flame_print_folded(const struct flame *root, enum flame_of what, FILE *stream);
void flame_free(struct flame *root);

#endif /* _NTKLOG_FLAME_H */
