/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PAGE_LOCKS_H
#define _NTKLOG_PAGE_LOCKS_H

#include <stddef.h>

#include <jansson.h>

#include "report.h"

/*
 * @name: name, with the kind of @resource if the trace has Linux' locks that sleep
 * @resource: its sums, or NULL; without @spinlock and @resource the lock has no record
 * @charged_ticks: sum of the waits as in the answer, with those that had not ended; session clock
 * @wait_cycles: sum of the recorded waits, cycles
 * @acquisition_count: number of acquisitions, or of releases of a lock that sleeps
 */
struct page_lock {
	struct charged_class_key key;
	char name[NAME_SIZE + 16];
	const struct spinlock_entry *spinlock;
	const struct resource_entry *resource;
	const struct timeline *timeline;
	uint64_t charged_ticks;
	double wait_cycles;
	uint64_t acquisition_count;
};

struct page_lock *page_locks_find(const struct report *report, unsigned int tables, size_t *count);
json_t *page_locks_json(const struct report *report, const struct page_lock *locks, size_t count);
json_t *page_parts_json(const struct report *report, const struct charge_sum *sum);

#endif /* _NTKLOG_PAGE_LOCKS_H */
