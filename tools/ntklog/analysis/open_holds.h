/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OPEN_HOLDS_H
#define _NTKLOG_OPEN_HOLDS_H

/* The locks that tasks held or waited for when the recording stopped, or at the last snapshot. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/event.h>

#include "charge_sums.h"
#include "wait_graph.h"

#define OPEN_HOLDS_MAX	4096

/*
 * @class: key of the lock's class, or the address of a lock that has none
 * @waiter_count, @holder_count: numbers of tasks; valid after open_holds_finish()
 */
struct open_hold {
	struct ntklog_open_hold event;
	uint64_t class;
	bool has_off_cpu_times;
	bool is_wanted;
	size_t waiter_count;
	size_t holder_count;
};

/*
 * The newest list of a file; all zero: no list.
 * @list_time: when the list began, session clock; 0: the file has no list
 * @entries: sorted by lock after open_holds_finish(), and of a lock the oldest first
 * @dropped_count: number of entries beyond OPEN_HOLDS_MAX
 * @wait_count: number of waits that no record tells of, because they or the holds after them had
 *	not ended; from open_holds_finish() on
 * @wait_ns: time of @wait_count, nanoseconds
 * @graph: the entries as a wait graph, with the deadlocks; from open_holds_finish() on
 */
struct open_holds {
	uint64_t list_time;
	struct open_hold *entries;
	size_t count;
	uint64_t dropped_count;
	uint64_t wait_count;
	double wait_ns;
	struct wait_graph graph;
	bool no_memory;
};

double open_hold_wait_ns(const struct ntklog_open_hold *event, const struct etl_file *file);
void open_holds_begin_list(struct open_holds *holds, const void *data);
void open_holds_add(struct open_holds *holds, const struct open_hold *hold);
void open_holds_drop_entry(struct open_holds *holds, uint64_t lock, uint32_t thread_id);
void open_holds_finish(struct open_holds *holds, const struct etl_file *file,
		       struct charge_sums *sums);
void open_holds_free(struct open_holds *holds);

#endif /* _NTKLOG_OPEN_HOLDS_H */
