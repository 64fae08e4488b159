/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_TABLE_H
#define _NTKLOG_NAMES_TABLE_H

/* The tables behind struct names, for the files of this folder. */

#include <stddef.h>
#include <stdint.h>

#include "lock_names.h"
#include "thread_name.h"

/*
 * A symbol of the kernel, or an image of Windows.
 * @size: bytes of an image, which has its name up to its end; 0 for a symbol, which has its name up
 *	to the next one
 * @name: name, in the text of the file or in an added text
 * @rank: position among symbols of one address, of which the least counts: symbols come in the
 *	order of the file, and before images
 */
struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *module;
	char type;
	size_t rank;
};

/* A name that is not part of the text of a file of names. */
struct added_text {
	struct added_text *next;
	char text[];
};

/*
 * Base of @rank of threads from a file of names, and of images. Other threads, and symbols, have a
 * lower rank.
 */
#define FILE_RANK_BASE	((size_t)1 << (8 * sizeof(size_t) - 2))

/*
 * @text: text of the file of names, in which lines have become strings; NULL without a file
 * @symbol_texts: names of symbols and modules that are not in @text
 * @thread_texts: names and cgroups of threads that are not in @text
 * @symbols: symbols, in the order of addresses after names_sort()
 * @threads: names of threads, in the order of compare_thread_entries() after names_sort()
 * @boot_id: boot_id of the kernel that has these names; empty if the file does not tell it
 * @boot_time: FILETIME of the boot; 0 if the file does not tell it
 */
struct names {
	char *text;
	struct added_text *symbol_texts;
	struct added_text *thread_texts;
	struct symbol *symbols;
	size_t symbol_count;
	struct thread_name *threads;
	size_t thread_count;
	char boot_id[40];
	uint64_t boot_time;
	struct lock_names locks;
};

/* Compare the ids and kinds of two entries, then the times from which on they are true. */
static inline int compare_thread_entries(const struct thread_name *left,
					 const struct thread_name *right)
{
	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	if (left->is_windows_process != right->is_windows_process)
		return left->is_windows_process ? 1 : -1;
	if (left->valid_from != right->valid_from)
		return left->valid_from < right->valid_from ? -1 : 1;
	return 0;
}

#endif /* _NTKLOG_NAMES_TABLE_H */
