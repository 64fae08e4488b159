/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LABEL_TABLE_H
#define _NTKLOG_LABEL_TABLE_H

/* The labels of waiters, holders and functions: each text is there once. */

#include <stdbool.h>
#include <stdint.h>

#include "charge_labels.h"
#include "hash.h"

/* Greatest number of labels in a table. */
#define LABELS_MAX		0x20000

#define LABEL_CACHE_BITS	13

/* Entries of the cache in which a label may be. It must be a power of two. */
#define LABEL_CACHE_WAYS	4

/**
 * struct charge_label - a name of waiters, holders or functions
 * @text: the label; the table of labels is searched by it
 * @context_length: bytes at the end of @text that are charge_context_text()
 * @is_used: a row has the label; valid while labels are dropped
 * @hh: in the table of labels
 */
struct charge_label {
	char *text;
	size_t context_length;
	bool is_used;
	UT_hash_handle hh;
};

/**
 * struct label_table - labels, and those of recent holds
 * @names: set by the caller: of functions and tasks, or NULL
 * @attribute: set by the caller: attribute of a hold that its label tells
 * @labels: table, by text
 * @no_memory: a label is missing for want of memory
 * @cache: labels of recent holds, by the members of a hold that make its label
 * @cached_frames: stacks of these holds; not used unless the key has LABEL_KEY_HAS_FRAMES
 */
struct label_table {
	const struct names *names;
	enum charge_attribute attribute;
	struct charge_label *labels;
	bool no_memory;
	struct cached_label {
		struct label_key {
			uint64_t caller;
			uint32_t thread_id;
			uint32_t flags;
		} key;
		struct charge_label *label;
	} cache[1 << LABEL_CACHE_BITS];
	uint64_t cached_frames[1 << LABEL_CACHE_BITS][CHARGE_FRAMES_MAX];
};

struct charge_label *label_table_find(struct label_table *table, const char *text);
struct charge_label *label_table_find_hold(struct label_table *table,
					   const struct charge_hold *hold);
void label_table_drop_unused(struct label_table *table);
void label_table_free(struct label_table *table);

#endif /* _NTKLOG_LABEL_TABLE_H */
