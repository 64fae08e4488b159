/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HASH_H
#define _NTKLOG_HASH_H

/*
 * uthash's tables, whose entries have a hh, and where memory that there is not is no end of
 * the program. Nobody can make a file whose keys all have one hash.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM	1
#define HASH_FUNCTION(_key, _size, _hash)	((_hash) = hash_bytes(_key, _size))

uint32_t hash_bytes(const void *bytes, size_t size);

#include <uthash.h>

/**
 * hash_add() - make an entry, which the table has not got
 * @table: where to
 * @member: its key
 * @key: what that is, by its address
 * @entry: set to it, all zero but for the key; or NULL: there is no memory
 */
#define hash_add(table, member, key, entry)					\
do {										\
	(entry) = calloc(1, sizeof(*(entry)));					\
	if (!(entry))								\
		break;								\
	memcpy(&(entry)->member, key, sizeof((entry)->member));			\
	HASH_ADD(hh, table, member, sizeof((entry)->member), entry);		\
	if (!(entry)->hh.tbl) {							\
		free(entry);							\
		(entry) = NULL;							\
	}									\
} while (0)

/**
 * hash_find_or_add() - find an entry, or make it if there is room for one more
 * @table: where
 * @member: its key
 * @key: what that is, by its address
 * @most: entries that the table may have
 * @entry: set to it; or NULL: the table is full, or else there is no memory
 */
#define hash_find_or_add(table, member, key, most, entry)			\
do {										\
	HASH_FIND(hh, table, key, sizeof((entry)->member), entry);		\
	if (!(entry) && HASH_COUNT(table) < (most))				\
		hash_add(table, member, key, entry);				\
} while (0)

#endif /* _NTKLOG_HASH_H */
