// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a resource: out of its word, into it again, and who its owners are.
 * What the state means is not decided here: see eresource_acquire.c and eresource_release.c.
 */

#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../address.h"
#include "eresource_state.h"

/**
 * eresource_refuse_null() - NULL is never a live resource
 * @function: which was asked for something with NULL
 * @caller: where from
 *
 * Warns each time: who does not look at what he is told goes on as if he owned
 * something.
 *
 * Context: any.
 * Return: false, so that who calls this last can return it.
 */
noinline bool eresource_refuse_null(const char *function, unsigned long caller)
{
	WARN(1, "%s: NULL is not a live resource, called from %pS\n", function,
	     ntklog_code(caller));
	return false;
}

/**
 * eresource_lock() - take the inner lock, and the state out of the word
 * @resource: the resource
 *
 * Context: any.
 * Return: interrupt state, for eresource_unlock().
 */
unsigned long eresource_lock(struct eresource *resource)
__acquires(&resource->lock)
{
	unsigned long flags;
	long word;

	raw_spin_lock_irqsave(&resource->lock, flags);
	word = atomic_long_read(&resource->word);
	if (word == ERESOURCE_INNER)
		return flags;
	/*
	 * Acquire; pairs with the releases in ex_release_resource(),
	 * ex_release_resource_slow() and ex_convert_exclusive_to_shared_lite(). The
	 * word may change until this has succeeded, but never to ERESOURCE_INNER:
	 * we have the lock.
	 */
	while (!atomic_long_try_cmpxchg_acquire(&resource->word, &word,
						ERESOURCE_INNER))
		;
	resource->active_count = !!word;
	resource->exclusive = word & ERESOURCE_EXCLUSIVE;
	resource->owner.thread = word & ERESOURCE_THREAD;
	resource->owner.count = eresource_depth(word);
	return flags;
}

/**
 * eresource_find_owner() - the entry of an owner
 * @resource: the resource, locked
 * @thread: thread or owner pointer, not 0
 *
 * Return: it, or NULL.
 */
struct eresource_owner *eresource_find_owner(struct eresource *resource,
					     unsigned long thread)
{
	u32 i;

	for (i = 0; i < eresource_owner_entries(resource); i++) {
		struct eresource_owner *owner = eresource_owner(resource, i);

		if (owner->thread == thread)
			return owner;
	}
	return NULL;
}

/* The word for a state that fits into it, or ERESOURCE_INNER. */
static unsigned long eresource_state(struct eresource *resource)
{
	struct eresource_owner *owner;
	unsigned long word;
	u32 i;

	if (resource->shared_waiter_count || resource->exclusive_waiter_count ||
	    resource->active_count > 1)
		return ERESOURCE_INNER;
	if (!resource->active_count)
		return 0;
	for (i = 0; !eresource_owner(resource, i)->thread; i++)
		;
	owner = eresource_owner(resource, i);
	/* Owner pointers have their low bits set. */
	if (owner->thread & ~ERESOURCE_THREAD ||
	    owner->count > eresource_depth(ERESOURCE_DEPTH))
		return ERESOURCE_INNER;
	word = owner->thread | owner->count * ERESOURCE_DEPTH_ONE |
	       (resource->exclusive ? ERESOURCE_EXCLUSIVE : 0);
	owner->thread = 0;
	return word;
}

/**
 * eresource_unlock() - put the state back into the word if it fits, and unlock
 * @resource: the resource; may be gone afterwards
 * @flags: from eresource_lock()
 */
void eresource_unlock(struct eresource *resource, unsigned long flags)
__releases(&resource->lock)
{
	unsigned long word = eresource_state(resource);

	/* Release; pairs with the acquire in __ex_acquire_resource(). */
	if (word != ERESOURCE_INNER)
		atomic_long_set_release(&resource->word, word);
	/*
	 * From the store on, others may own and release; but to delete it they
	 * need the lock, so it is still there to be unlocked.
	 */
	raw_spin_unlock_irqrestore(&resource->lock, flags);
}

/**
 * eresource_add_owner() - a new owner, with one acquisition
 * @resource: the resource, locked, with room for him
 * @thread: thread or owner pointer that does not own it
 * @i: an index at or after which there is a free entry; then that entry's
 */
void eresource_add_owner(struct eresource *resource, unsigned long thread, u32 *i)
{
	while (eresource_owner(resource, *i)->thread)
		(*i)++;
	eresource_owner(resource, *i)->thread = thread;
	eresource_owner(resource, *i)->count = 1;
	resource->active_count++;
}

/**
 * eresource_has_room() - is there an entry for one more owner?
 * @resource: the resource, locked
 *
 * Return: whether there is, besides those for who waits for shared ownership. If
 * nobody owns it and nobody waits, there always is.
 */
bool eresource_has_room(const struct eresource *resource)
{
	return resource->active_count + resource->shared_waiter_count <
		eresource_owner_entries(resource);
}

/**
 * eresource_any_owner() - one of the owners, to be named in a warning
 * @resource: the resource, locked
 *
 * Return: thread or owner pointer; 0 if nobody owns it.
 */
unsigned long eresource_any_owner(struct eresource *resource)
{
	u32 i;

	for (i = 0; i < eresource_owner_entries(resource); i++)
		if (eresource_owner(resource, i)->thread)
			return eresource_owner(resource, i)->thread;
	return 0;
}

/* Entries of the first table, and of the largest that stays when nobody is left in it. */
#define ERESOURCE_OWNERS_FIRST	4u
#define ERESOURCE_OWNERS_KEPT	32u

/**
 * eresource_grow() - make room for more owners
 * @resource: the resource, not locked
 * @had: its owner_table_size when there was no room
 *
 * It reclaims no memory: the caller may be who writes pages out.
 *
 * Context: IRQL <= DISPATCH_LEVEL, where with PREEMPT_RT memory cannot be allocated.
 * Return: whether there was memory.
 */
bool eresource_grow(struct eresource *resource, u32 had)
{
	u32 size = max(ERESOURCE_OWNERS_FIRST, 2 * had);
	struct eresource_owner *table;
	unsigned long flags;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !preemptible())
		return false;
	table = kcalloc(size, sizeof(*table), GFP_ATOMIC | __GFP_NOWARN);
	if (!table)
		return false;
	flags = eresource_lock(resource);
	/* Somebody else may have done the same meanwhile. */
	if (resource->owner_table_size < size) {
		if (resource->owner_table)
			memcpy(table, resource->owner_table,
			       resource->owner_table_size * sizeof(*table));
		swap(table, resource->owner_table);
		resource->owner_table_size = size;
	}
	eresource_unlock(resource, flags);
	kfree(table);
	return true;
}

static void eresource_free_by_rcu(struct rcu_head *head)
{
	kfree(head);
}

/**
 * eresource_free_table() - free a table of owners
 * @table: it, or NULL
 *
 * With PREEMPT_RT the allocator sleeps, and so leaves it to RCU to free what goes at
 * DISPATCH_LEVEL, which needs no memory but the table's own.
 *
 * Context: IRQL <= DISPATCH_LEVEL, the resource not locked.
 */
void eresource_free_table(struct eresource_owner *table)
{
	static_assert(sizeof(*table) * ERESOURCE_OWNERS_FIRST >= sizeof(struct rcu_head));
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && table && !preemptible())
		call_rcu((struct rcu_head *)table, eresource_free_by_rcu);
	else
		kfree(table);
}

/**
 * eresource_shrink() - give a large table back
 * @resource: the resource, locked; an owner has just gone
 *
 * Each search for an owner goes through the whole table, with interrupts off: many owners at
 * one time shall not make the resource slow for good.
 *
 * Return: the table, for eresource_free_table() when the resource is unlocked, or NULL.
 */
struct eresource_owner *eresource_shrink(struct eresource *resource)
{
	struct eresource_owner *table = NULL;

	if (resource->owner_table_size > ERESOURCE_OWNERS_KEPT &&
	    !resource->active_count && !resource->shared_waiter_count) {
		swap(table, resource->owner_table);
		resource->owner_table_size = 0;
	}
	return table;
}
