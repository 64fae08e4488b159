/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROW_H
#define _NTKLOG_GROW_H

/* Arrays that grow by one, whose room doubles; and to what is asked for, by number. */

#include <stdlib.h>
#include <string.h>

/**
 * grown() - room for one more
 * @array: of @count things, which has grown by this alone; NULL: of none
 * @count: of them
 * @size: of one
 *
 * Return: the array, or NULL: there is no memory, and the array is as it was.
 */
static inline void *grown(void *array, size_t count, size_t size)
{
	/* There was room for 1, 2, 4, ... */
	if (array && count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

/**
 * grown_to() - room for so many, those that are new all zero
 * @array: of @count things; NULL: of none
 * @count: of them
 * @wanted: more than that
 * @size: of one
 *
 * Return: the array, or NULL: there is no memory, and the array is as it was.
 */
static inline void *grown_to(void *array, size_t count, size_t wanted, size_t size)
{
	char *more = reallocarray(array, wanted, size);

	if (more)
		memset(more + count * size, 0, (wanted - count) * size);
	return more;
}

#endif /* _NTKLOG_GROW_H */
