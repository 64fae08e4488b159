/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_ERESOURCE_STATE_H
#define _NTKLOG_EX_ERESOURCE_STATE_H

/*
 * State of an executive resource.
 *
 * Most of the time a resource has at most one owner and no waiter. This state fits into one word,
 * so that an acquisition or a release is usually one compare-exchange. Any other state, such as
 * several shared owners, an owner pointer or a waiter, is in the other members, protected by the
 * inner lock (eresource.lock). The word is then ERESOURCE_STATE_IN_MEMBERS, which makes every
 * compare-exchange of the fast paths fail.
 *
 *	word                        meaning
 *	0                           no owner, no waiter
 *	task | depth | E            the task is the only owner and holds depth acquisitions, 1 to
 *	                            15, exclusive if E is set, otherwise shared; no waiter
 *	ERESOURCE_STATE_IN_MEMBERS  the state is in the other members
 *
 * A task is aligned to a cache line, which leaves the six low bits of its address for the rest.
 *
 * Changes of the word:
 * - Any task changes 0 to itself as the owner, by compare-exchange.
 * - The owner, or a task that releases for the owner, changes the depth, changes the word to 0, or
 *   clears E, by compare-exchange.
 * - The holder of the inner lock changes any value to ERESOURCE_STATE_IN_MEMBERS by
 *   compare-exchange, and ERESOURCE_STATE_IN_MEMBERS to any value by a store.
 *
 * Ownership is handed over: the task that releases or converts makes the next waiters owners while
 * it holds the inner lock, and then wakes them. No waiter competes for the resource when it wakes.
 */

#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <ntklog/eresource.h>

#define ERESOURCE_EXCLUSIVE_BIT		0x01ul
#define ERESOURCE_STATE_IN_MEMBERS	0x02ul
#define ERESOURCE_DEPTH_ONE		0x04ul
#define ERESOURCE_DEPTH_MASK		0x3Cul
#define ERESOURCE_TASK_MASK		(~0x3Ful)

static_assert(L1_CACHE_BYTES > ~ERESOURCE_TASK_MASK);

/*
 * A waiting request, on the stack of the waiter.
 *
 * @list: entry in a list of waiters; after the grant, in a list of the granting task
 * @thread: the waiting task
 * @was_owner: the task was an owner already when it made the request
 * @depth: number of acquisitions that the task holds after the grant
 * @grant_completion: wakes the task. The completion's lock keeps the stack frame alive until
 *	complete() has finished
 */
struct eresource_waiter {
	struct list_head list;
	unsigned long thread;
	bool was_owner;
	u32 depth;
	struct completion grant_completion;
};

static inline u32 eresource_get_depth(unsigned long word)
{
	return (word & ERESOURCE_DEPTH_MASK) / ERESOURCE_DEPTH_ONE;
}

static inline u32 eresource_count_owner_entries(const struct eresource *resource)
{
	return 1 + resource->owner_table_size;
}

static inline struct eresource_owner *
eresource_get_owner_entry(struct eresource *resource, u32 index)
{
	return index ? &resource->owner_table[index - 1] : &resource->owner;
}

unsigned long eresource_lock(struct eresource *resource);
void eresource_unlock(struct eresource *resource, unsigned long flags);
struct eresource_owner *eresource_find_owner(struct eresource *resource,
					     unsigned long thread);
unsigned long eresource_find_any_owner(struct eresource *resource);
bool eresource_has_free_owner_entry(const struct eresource *resource);
void eresource_add_owner(struct eresource *resource, unsigned long thread, u32 *index);
bool eresource_grow_owner_table(struct eresource *resource, u32 old_size);
struct eresource_owner *eresource_detach_empty_table(struct eresource *resource);
void eresource_free_owner_table(struct eresource_owner *table);

bool eresource_refuse_null(const char *function, unsigned long caller);

#endif /* _NTKLOG_EX_ERESOURCE_STATE_H */
