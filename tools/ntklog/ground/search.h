/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SEARCH_H
#define _NTKLOG_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * count_until_time() - count the elements of a sorted array up to a time
 * @array: array, sorted by the uint64_t that each element begins with
 * @count: number of elements in @array
 * @size: bytes of an element
 * @time: last time to count
 *
 * Return: number of elements whose time is at most @time.
 */
static inline size_t count_until_time(const void *array, size_t count, size_t size, uint64_t time)
{
	size_t low = 0, high = count, middle;
	uint64_t element_time;

	while (low < high) {
		middle = low + (high - low) / 2;
		memcpy(&element_time, (const char *)array + middle * size, sizeof(element_time));
		if (element_time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif /* _NTKLOG_SEARCH_H */
