/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_FLAME_H
#define _NTKLOG_FLAME_H

/* The tree of stacks, from the outermost functions on, for flame graphs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "hash.h"
#include "report.h"

/*
 * Sums of a function.
 * @FLAME_WAIT: waits of the records that have the function in their stack
 * @FLAME_HOLD: holds of these records
 * @FLAME_CHARGED: waits of others that are charged to these holds
 */
enum flame_kind {
	FLAME_WAIT,
	FLAME_HOLD,
	FLAME_CHARGED,
	FLAME_KINDS,
};

/*
 * A function, called by its parent in the tree. The root is no function and has no name.
 * @ns: sums of all stacks through the function, ns
 * @own_ns: sums of the stacks that end in it, ns
 */
struct flame_node {
	double ns[FLAME_KINDS];
	double own_ns[FLAME_KINDS];
	uint64_t sample_count;
	struct flame_node *callees;
	UT_hash_handle hh;
	char name[];
};

bool flame_make_tree(struct flame_node *root, const struct report *report,
		     const struct charged_class_key *lock);
void flame_print_folded(const struct flame_node *root, enum flame_kind flame_kind, FILE *stream);
void flame_free(struct flame_node *root);

#endif /* _NTKLOG_FLAME_H */
