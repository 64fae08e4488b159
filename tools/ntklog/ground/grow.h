/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROW_H
#define _NTKLOG_GROW_H

#include <stdlib.h>
#include <string.h>

/**
 * grow_by_one() - reserve memory for one more element
 * @array: array that only this function has grown, or NULL for a new one
 * @count: number of elements in @array
 * @size: bytes of an element
 *
 * Return: the array, which may have moved; NULL without memory, and @array is unchanged.
 */
static inline void *grow_by_one(void *array, size_t count, size_t size)
{
	/* The memory is for 1, 2, 4, ... elements. It is full when @count is a power of two. */
	if (array && count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

/**
 * grow_to() - reserve memory for a number of elements, and set the new ones to zero
 * @array: array, or NULL for a new one
 * @count: number of elements in @array
 * @wanted: number of elements to reserve memory for; greater than @count
 * @size: bytes of an element
 *
 * Return: the array, which may have moved; NULL without memory, and @array is unchanged.
 */
static inline void *grow_to(void *array, size_t count, size_t wanted, size_t size)
{
	char *more = reallocarray(array, wanted, size);

	if (more)
		memset(more + count * size, 0, (wanted - count) * size);
	return more;
}

#endif /* _NTKLOG_GROW_H */
