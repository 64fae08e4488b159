// SPDX-License-Identifier: GPL-2.0-only
/* The labels of waiters, holders and functions: see label_table.h. */

#include <stdlib.h>
#include <string.h>

#include "charge_mix.h"
#include "label_table.h"
#include "macros.h"

/* Flag of a key: the stack of the hold is a part of it, too. */
#define LABEL_KEY_HAS_FRAMES	0x10u

static void free_label(struct label_table *table, struct charge_label *label)
{
	HASH_DEL(table->labels, label);
	free(label->text);
	free(label);
}

static struct charge_label *add_label(struct label_table *table, const char *text, size_t length,
				      unsigned int hash)
{
	struct charge_label *label = calloc(1, sizeof(*label));

	if (!label)
		return NULL;
	label->text = strdup(text);
	if (label->text)
		HASH_ADD_KEYPTR_BYHASHVALUE(hh, table->labels, label->text, length, hash, label);
	if (label->hh.tbl)
		return label;
	free(label->text);
	free(label);
	return NULL;
}

/**
 * label_table_find() - find or add the label of a text
 * @table: the table
 * @text: the text
 *
 * Return: the label, or NULL if the table is full or there is no memory.
 */
struct charge_label *label_table_find(struct label_table *table, const char *text)
{
	size_t length = strlen(text);
	struct charge_label *label;
	unsigned int hash;

	HASH_VALUE(text, length, hash);
	HASH_FIND_BYHASHVALUE(hh, table->labels, text, length, hash, label);
	if (label || HASH_COUNT(table->labels) >= LABELS_MAX)
		return label;
	label = add_label(table, text, length, hash);
	if (!label)
		table->no_memory = true;
	return label;
}

/* Make the key of the members of a hold that make its label; other members of the key are 0. */
static struct label_key make_label_key(const struct label_table *table,
				       const struct charge_hold *hold)
{
	struct label_key key = {
		.flags = hold->is_shared | hold->in_softirq << 1 | hold->in_interrupt << 2 |
			 hold->is_sleeping_lock << 3,
	};
	const char *name;

	switch (table->attribute) {
	case CHARGE_BY_CALLER:
	case CHARGE_BY_FUNCTION:
	case CHARGE_BY_STACK:
		key.caller = hold->caller;
		key.flags |= hold->frames ? LABEL_KEY_HAS_FRAMES : 0;
		/* A spin lock's holder is named by its function, whichever task called it. */
		if (table->attribute != CHARGE_BY_FUNCTION &&
		    (table->attribute != CHARGE_BY_CALLER || !key.caller || hold->is_sleeping_lock))
			key.thread_id = hold->thread_id;
		break;
	case CHARGE_BY_PROCESS:
		/*
		 * A task's process and cgroup may change. The key has the address of their name at
		 * this time.
		 */
		if (names_find_process(table->names, hold->thread_id, hold->log_time,
				       &key.thread_id, &name)) {
			key.caller = (uintptr_t)name;
			/* Tell a process without a name from the thread of the same number. */
			key.flags |= 1u << 31;
		} else {
			key.thread_id = hold->thread_id;
		}
		break;
	case CHARGE_BY_CGROUP:
		key.caller = (uintptr_t)names_find_cgroup(table->names, hold->thread_id,
							  hold->log_time);
		key.thread_id = hold->thread_id;
		break;
	case CHARGE_BY_CPU:
		key.flags |= hold->cpu << 16;
		break;
	case CHARGE_BY_IRQL:
		key.flags |= hold->irql << 16;
		break;
	case CHARGE_BY_TASK:
	case CHARGE_BY_THREAD:
	case CHARGE_ATTRIBUTES:
		key.thread_id = hold->thread_id;
		break;
	}
	return key;
}

/*
 * Return the entry of the cache that has the label of a key and a stack. If none has it, empty one
 * for it.
 */
static size_t find_cached_label(struct label_table *table, const struct label_key *key,
				const uint64_t *frames)
{
	size_t first = mix_numbers(key->caller + key->flags, key->thread_id,
				   frames ? frames[1] : 0) >> (64 - LABEL_CACHE_BITS);
	size_t empty = first, way;

	for (way = 0; way < LABEL_CACHE_WAYS; way++) {
		size_t at = first ^ way;
		const struct cached_label *cached = &table->cache[at];

		if (!cached->label)
			empty = at;
		else if (!memcmp(&cached->key, key, sizeof(*key)) &&
			 (!frames || !memcmp(table->cached_frames[at], frames,
					     sizeof(table->cached_frames[at]))))
			return at;
	}
	table->cache[empty].label = NULL;
	return empty;
}

/**
 * label_table_find_hold() - find or add the label of a waiter or a holder
 * @table: the table
 * @hold: the hold
 *
 * Return: the label, or NULL if the table is full or there is no memory.
 */
struct charge_label *label_table_find_hold(struct label_table *table,
					   const struct charge_hold *hold)
{
	struct label_key key = make_label_key(table, hold);
	const uint64_t *frames = key.flags & LABEL_KEY_HAS_FRAMES ? hold->frames : NULL;
	size_t at = find_cached_label(table, &key, frames);
	struct cached_label *cached = &table->cache[at];
	char text[CHARGE_LABEL_SIZE];

	if (!cached->label) {
		charge_format_holder(table->names, table->attribute, hold, text, sizeof(text));
		cached->label = label_table_find(table, text);
		if (cached->label)
			cached->label->context_length = strlen(charge_context_text(hold));
		cached->key = key;
		if (frames)
			memcpy(table->cached_frames[at], frames, sizeof(table->cached_frames[at]));
	}
	return cached->label;
}

/**
 * label_table_drop_unused() - remove the labels whose @is_used is false
 * @table: the table
 */
void label_table_drop_unused(struct label_table *table)
{
	struct charge_label *label, *next;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table->cache); i++)
		if (table->cache[i].label && !table->cache[i].label->is_used)
			table->cache[i].label = NULL;
	HASH_ITER(hh, table->labels, label, next) {
		if (!label->is_used)
			free_label(table, label);
	}
}

/**
 * label_table_free() - free all labels
 * @table: the table; it is not used afterwards
 */
void label_table_free(struct label_table *table)
{
	struct charge_label *label, *next;

	HASH_ITER(hh, table->labels, label, next)
		free_label(table, label);
}
