/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_ERESOURCE_STATE_H
#define _NTKLOG_EX_ERESOURCE_STATE_H

/*
 * The word of a resource:
 *
 *	0			nobody owns it, nobody waits
 *	task | depth | E	the thread owns it so often (1 to 15), exclusively
 *				if E is set, else shared; no other owner, nobody waits
 *	ERESOURCE_INNER		whatever is the case is in the other members
 *
 * A task is aligned to a cache line, which leaves six bits for the rest.
 *
 * Who changes the word, always by compare-exchange: anybody from 0 to himself;
 * the owner, or who releases for him, by one in depth, or to 0, or away from E; the
 * holder of the inner lock from anything to ERESOURCE_INNER. From there to
 * something else, by a store: the holder of the inner lock alone.
 */

#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <ntklog/eresource.h>

#define ERESOURCE_EXCLUSIVE	0x01ul
#define ERESOURCE_INNER		0x02ul
#define ERESOURCE_DEPTH_ONE	0x04ul
#define ERESOURCE_DEPTH		0x3Cul
#define ERESOURCE_THREAD	(~0x3Ful)

static_assert(L1_CACHE_BYTES > ~ERESOURCE_THREAD);

/*
 * One who waits; on his stack.
 *
 * @list: among the waiters of his kind, then among those that are granted
 * @thread: who
 * @again: he owned the resource already when he asked
 * @depth: how often he owns it once he is granted
 * @granted: wakes him. Its own lock lets him go only when who completes it no
 *	longer looks at it
 */
struct eresource_waiter {
	struct list_head list;
	unsigned long thread;
	bool again;
	u32 depth;
	struct completion granted;
};

/* How often the owner owns, by the word. */
static inline u32 eresource_depth(unsigned long word)
{
	return (word & ERESOURCE_DEPTH) / ERESOURCE_DEPTH_ONE;
}

static inline u32 eresource_owner_entries(const struct eresource *resource)
{
	return 1 + resource->owner_table_size;
}

static inline struct eresource_owner *
eresource_owner(struct eresource *resource, u32 i)
{
	return i ? &resource->owner_table[i - 1] : &resource->owner;
}

unsigned long eresource_lock(struct eresource *resource);
void eresource_unlock(struct eresource *resource, unsigned long flags);
struct eresource_owner *eresource_find_owner(struct eresource *resource,
					     unsigned long thread);
unsigned long eresource_any_owner(struct eresource *resource);
bool eresource_has_room(const struct eresource *resource);
void eresource_add_owner(struct eresource *resource, unsigned long thread, u32 *i);
bool eresource_grow(struct eresource *resource, u32 had);
struct eresource_owner *eresource_shrink(struct eresource *resource);
void eresource_free_table(struct eresource_owner *table);

bool eresource_refuse_null(const char *function, unsigned long caller);

#endif /* _NTKLOG_EX_ERESOURCE_STATE_H */
