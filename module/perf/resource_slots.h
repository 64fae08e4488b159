/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_SLOTS_H
#define _NTKLOG_PERF_RESOURCE_SLOTS_H

/*
 * Slots of executive resources, in the task records. The slots of a task are a stack, because most
 * resources are released in the reverse order of their acquisition. A release in another order
 * leaves a hole.
 *
 *	resource_slots[1]  [2]          [3]             next_resource_slot
 *	used               hole         used            v
 *	lock = A           lock = NULL  lock = B        free ... [8]
 *
 * Writers: the task itself, with preemption off, and softirqs that run on top of it. Before a
 * softirq returns, it releases each resource that it has acquired, or gives the resource to an
 * owner pointer. Its slots are thus free again. An acquisition that takes the slot at
 * next_resource_slot raises next_resource_slot first, then fills the slot, then stores the lock.
 *
 * Another task may free a slot, when it releases the resource on behalf of the owner, with the
 * resource's inner lock held.
 */

#include <linux/compiler.h>
#include <asm/barrier.h>

#include "../ground/thread.h"

/*
 * Sequence number of the tracking: odd while tracking is on. The slots of a task record are valid
 * if the record has the same number. Written by ntklog_start_resource_tracking() and
 * ntklog_stop_resource_tracking(), whose calls are serialised. Read by the hooks with preemption
 * off.
 */
extern u32 ntklog_resource_sequence;

struct ntklog_task *ntklog_find_record_with_slots(unsigned long owner);
struct ntklog_task *ntklog_get_record_with_slots(void);
struct ntklog_resource_slot *ntklog_find_resource_slot(struct ntklog_task *record,
						       const void *lock);
struct ntklog_resource_slot *ntklog_alloc_resource_slot(struct ntklog_task *record,
							const void *lock);
void ntklog_free_resource_slot(struct ntklog_task *record, struct ntklog_resource_slot *slot);
void ntklog_start_resource_tracking(void);
void ntklog_stop_resource_tracking(void);

static inline bool ntklog_resources_are_tracked(void)
{
	return READ_ONCE(ntklog_resource_sequence) & 1;
}

/**
 * ntklog_resource_slots_are_cached() - test whether this CPU caches the current task's slots
 *
 * Context: preemption off.
 * Return: true if ntklog_current.record may be used.
 */
static __always_inline bool ntklog_resource_slots_are_cached(void)
{
	return ntklog_current_is_cached() &&
		likely(READ_ONCE(__this_cpu_read(ntklog_current.record)->sequence) ==
		       READ_ONCE(ntklog_resource_sequence));
}

#endif /* _NTKLOG_PERF_RESOURCE_SLOTS_H */
