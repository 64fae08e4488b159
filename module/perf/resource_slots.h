/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_SLOTS_H
#define _NTKLOG_PERF_RESOURCE_SLOTS_H

/*
 * The tracking's slots in the rooms of the threads: a stack, more or less, since most locks
 * are released in the reverse order of their acquisition.
 *
 * A thread changes its own with preemption off, and a softirq on top of it does so in its
 * name: it releases what it acquires, or gives it to an owner pointer, before it returns, and
 * so leaves next_slot as it found it (READ_ONCE() and WRITE_ONCE() are for the compiler and
 * for KCSAN). For that an acquisition first moves next_slot, then
 * fills the slot, then names its lock; a slot that is not named is not found.
 *
 * Others only take a slot away, that of a resource which they release for the thread. The
 * resource's inner lock keeps the thread from releasing it at the same time.
 */

#include <linux/compiler.h>
#include <asm/barrier.h>

#include "../ground/thread.h"

/*
 * Of the tracking: odd while there is one, and a room with another number has no slots in
 * use. Written by ntklog_start_resource_slots() and ntklog_stop_resource_slots(), one at a time;
 * read by the hooks with preemption off, for which the latter waits.
 */
extern u32 ntklog_resource_sequence;

struct ntklog_task *ntklog_find_slots(unsigned long thread);
struct ntklog_task *ntklog_alloc_resource_slots(void);
struct ntklog_resource_slot *ntklog_find_slot(struct ntklog_task *thread, const void *lock);
struct ntklog_resource_slot *ntklog_alloc_resource_slot(struct ntklog_task *thread,
							const void *lock);
void ntklog_free_slot(struct ntklog_task *thread, struct ntklog_resource_slot *slot);
void ntklog_start_resource_slots(void);
void ntklog_stop_resource_slots(void);

/* Context: any; what follows from it holds while preemption is off. */
static inline bool ntklog_resources_are_tracked(void)
{
	return READ_ONCE(ntklog_resource_sequence) & 1;
}

/**
 * ntklog_resource_slots_are_cached() - are they in ntklog_current.room, and in use?
 *
 * Context: preemption off.
 */
static __always_inline bool ntklog_resource_slots_are_cached(void)
{
	return ntklog_current_is_cached() &&
		likely(READ_ONCE(__this_cpu_read(ntklog_current.room)->sequence) ==
		       READ_ONCE(ntklog_resource_sequence));
}

#endif /* _NTKLOG_PERF_RESOURCE_SLOTS_H */
