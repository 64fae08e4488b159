/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROW_H
#define _NTKLOG_GROW_H

/* Arrays that grow by one, whose room doubles. */

#include <stdlib.h>

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

#endif /* _NTKLOG_GROW_H */
