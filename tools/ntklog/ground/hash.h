/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HASH_H
#define _NTKLOG_HASH_H

/*
 * Hash tables of uthash. A table that gets no memory reports it instead of ending the program. The
 * hash has a random key, so that a file with colliding keys is hard to make.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM	1
#define HASH_FUNCTION(_key, _size, _hash)	((_hash) = hash_bytes(_key, _size))

uint32_t hash_bytes(const void *bytes, size_t size);

#include <uthash.h>

/**
 * hash_add() - add an entry for a key that the table does not have
 * @table: table
 * @member: name of the member that is the key
 * @key: address of the value of the key
 * @entry: set to the new entry, which is zero but for the key and hh; NULL without memory
 */
#define hash_add(table, member, key, entry)					\
do {										\
	unsigned int _hash;							\
										\
	HASH_VALUE(key, sizeof((entry)->member), _hash);			\
	hash_add_hashed(table, member, key, _hash, entry);			\
} while (0)

/**
 * hash_add_hashed() - add an entry for a key whose hash is known
 * @hash: hash of the key
 *
 * The other arguments are those of hash_add().
 */
#define hash_add_hashed(table, member, key, hash, entry)			\
do {										\
	(entry) = calloc(1, sizeof(*(entry)));					\
	if (!(entry))								\
		break;								\
	memcpy(&(entry)->member, key, sizeof((entry)->member));			\
	HASH_ADD_BYHASHVALUE(hh, table, member, sizeof((entry)->member), hash, entry);	\
	if (!(entry)->hh.tbl) {							\
		free(entry);							\
		(entry) = NULL;							\
	}									\
} while (0)

/**
 * hash_find_or_add() - find an entry, or add it unless the table is full
 * @table: table
 * @member: name of the member that is the key
 * @key: address of the value of the key
 * @most: number of entries at which the table is full
 * @entry: set to the entry; NULL if the table is full or there is no memory
 */
#define hash_find_or_add(table, member, key, most, entry)			\
do {										\
	unsigned int _hash;							\
										\
	HASH_VALUE(key, sizeof((entry)->member), _hash);			\
	HASH_FIND_BYHASHVALUE(hh, table, key, sizeof((entry)->member), _hash, entry);	\
	if (!(entry) && HASH_COUNT(table) < (most))				\
		hash_add_hashed(table, member, key, _hash, entry);		\
} while (0)

/**
 * hash_take_first() - take the first entry out of a table
 * @table: table
 *
 * Return: the entry, which the caller frees; NULL if the table is empty.
 */
#define hash_take_first(table)							\
({										\
	typeof(table) _entry = (table);						\
										\
	if (_entry)								\
		HASH_DEL(table, _entry);					\
	_entry;									\
})

#endif /* _NTKLOG_HASH_H */
