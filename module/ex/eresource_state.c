// SPDX-License-Identifier: GPL-2.0-only
/* Conversion between the word and the members, and the owner table: see eresource_state.h. */

#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ground/address.h"
#include "eresource_state.h"

/**
 * eresource_refuse_null() - warn about a NULL resource
 * @function: name of the called function
 * @caller: return address of that function
 *
 * Context: any.
 * Return: false, so that a caller can return it.
 */
noinline bool eresource_refuse_null(const char *function, unsigned long caller)
{
	WARN(1, "%s: NULL is not a live resource, called from %pS\n", function,
	     ntklog_get_printable_code(caller));
	return false;
}

/**
 * eresource_lock() - take the inner lock and move the state from the word to the members
 * @resource: the resource
 *
 * Context: any but NMI.
 * Return: interrupt state, for eresource_unlock().
 */
unsigned long eresource_lock(struct eresource *resource)
__acquires(&resource->lock)
{
	unsigned long flags;
	long word;

	raw_spin_lock_irqsave(&resource->lock, flags);
	word = atomic_long_read(&resource->word);
	if (word == ERESOURCE_STATE_IN_MEMBERS)
		return flags;
	/*
	 * Pairs with the releases in ex_release_resource_word(), ex_release_resource_slow() and
	 * ex_convert_exclusive_to_shared_lite(). The word may change until the exchange succeeds,
	 * but not to ERESOURCE_STATE_IN_MEMBERS, because this task holds the lock.
	 */
	while (!atomic_long_try_cmpxchg_acquire(&resource->word, &word,
						ERESOURCE_STATE_IN_MEMBERS))
		;
	resource->active_count = !!word;
	resource->exclusive = word & ERESOURCE_EXCLUSIVE_BIT;
	resource->owner.thread = word & ERESOURCE_TASK_MASK;
	resource->owner.count = eresource_get_depth(word);
	return flags;
}

/**
 * eresource_find_owner() - find the entry of an owner
 * @resource: the resource, locked
 * @thread: task or owner pointer, not 0
 *
 * Return: the entry, or NULL.
 */
struct eresource_owner *eresource_find_owner(struct eresource *resource,
					     unsigned long thread)
{
	u32 i;

	for (i = 0; i < eresource_count_owner_entries(resource); i++) {
		struct eresource_owner *owner = eresource_get_owner_entry(resource, i);

		if (owner->thread == thread)
			return owner;
	}
	return NULL;
}

/* Convert the members to a word; returns ERESOURCE_STATE_IN_MEMBERS if the state does not fit. */
static unsigned long eresource_pack_state(struct eresource *resource)
{
	struct eresource_owner *owner;
	unsigned long word;
	u32 i;

	if (resource->shared_waiter_count || resource->exclusive_waiter_count ||
	    resource->active_count > 1)
		return ERESOURCE_STATE_IN_MEMBERS;
	if (!resource->active_count)
		return 0;
	for (i = 0; !eresource_get_owner_entry(resource, i)->thread; i++)
		;
	owner = eresource_get_owner_entry(resource, i);
	/* An owner pointer has low bits set. */
	if (owner->thread & ~ERESOURCE_TASK_MASK ||
	    owner->count > eresource_get_depth(ERESOURCE_DEPTH_MASK))
		return ERESOURCE_STATE_IN_MEMBERS;
	word = owner->thread | owner->count * ERESOURCE_DEPTH_ONE |
	       (resource->exclusive ? ERESOURCE_EXCLUSIVE_BIT : 0);
	owner->thread = 0;
	return word;
}

/**
 * eresource_unlock() - move the state back into the word if it fits, and release the inner lock
 * @resource: the resource; may be deleted by another task afterwards
 * @flags: from eresource_lock()
 */
void eresource_unlock(struct eresource *resource, unsigned long flags)
__releases(&resource->lock)
{
	unsigned long word = eresource_pack_state(resource);

	/* Pairs with the acquire in __ex_acquire_resource(). */
	if (word != ERESOURCE_STATE_IN_MEMBERS)
		atomic_long_set_release(&resource->word, word);
	/* The resource still exists: to delete it another task needs the inner lock. */
	raw_spin_unlock_irqrestore(&resource->lock, flags);
}

/**
 * eresource_add_owner() - add an owner with one acquisition
 * @resource: the resource, locked, with a free owner entry
 * @thread: task or owner pointer that is not an owner
 * @index: index from which to search for a free entry; set to the index of the new owner's entry
 */
void eresource_add_owner(struct eresource *resource, unsigned long thread, u32 *index)
{
	while (eresource_get_owner_entry(resource, *index)->thread)
		(*index)++;
	eresource_get_owner_entry(resource, *index)->thread = thread;
	eresource_get_owner_entry(resource, *index)->count = 1;
	resource->active_count++;
}

/**
 * eresource_has_free_owner_entry() - test whether an owner entry is free
 * @resource: the resource, locked
 *
 * Each shared waiter has reserved an entry.
 *
 * Return: true if one more owner or shared waiter can be added.
 */
bool eresource_has_free_owner_entry(const struct eresource *resource)
{
	return resource->active_count + resource->shared_waiter_count <
		eresource_count_owner_entries(resource);
}

/**
 * eresource_find_any_owner() - return one of the owners, for a warning
 * @resource: the resource, locked
 *
 * Return: task or owner pointer; 0 if the resource has no owner.
 */
unsigned long eresource_find_any_owner(struct eresource *resource)
{
	u32 i;

	for (i = 0; i < eresource_count_owner_entries(resource); i++)
		if (eresource_get_owner_entry(resource, i)->thread)
			return eresource_get_owner_entry(resource, i)->thread;
	return 0;
}

/* Entries of the first owner table, and of the largest table that is kept while it is empty. */
#define ERESOURCE_FIRST_TABLE_SIZE	4u
#define ERESOURCE_KEPT_TABLE_SIZE_MAX	32u

/**
 * eresource_grow_owner_table() - enlarge the owner table
 * @resource: the resource, not locked
 * @old_size: owner_table_size when no entry was free
 *
 * Context: IRQL <= DISPATCH_LEVEL. With PREEMPT_RT, fails at DISPATCH_LEVEL.
 * Return: true if the table is larger than @old_size now; false if there is no memory.
 */
bool eresource_grow_owner_table(struct eresource *resource, u32 old_size)
{
	u32 size = max(ERESOURCE_FIRST_TABLE_SIZE, 2 * old_size);
	struct eresource_owner *table;
	unsigned long flags;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !preemptible())
		return false;
	table = kcalloc(size, sizeof(*table), GFP_ATOMIC | __GFP_NOWARN);
	if (!table)
		return false;
	flags = eresource_lock(resource);
	/* Another task may have enlarged the table meanwhile. */
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

static void eresource_rcu_free_callback(struct rcu_head *head)
{
	kfree(head);
}

/**
 * eresource_free_owner_table() - free an owner table
 * @table: the table, or NULL
 *
 * With PREEMPT_RT the allocator may sleep, so at DISPATCH_LEVEL RCU frees the table.
 *
 * Context: IRQL <= DISPATCH_LEVEL, the resource not locked.
 */
void eresource_free_owner_table(struct eresource_owner *table)
{
	static_assert(sizeof(*table) * ERESOURCE_FIRST_TABLE_SIZE >= sizeof(struct rcu_head));
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && table && !preemptible())
		call_rcu((struct rcu_head *)table, eresource_rcu_free_callback);
	else
		kfree(table);
}

/**
 * eresource_detach_empty_table() - detach a large owner table that is empty
 * @resource: the resource, locked; an owner has just been removed
 *
 * A search for an owner may scan the whole table with interrupts off.
 *
 * Return: the table, to be passed to eresource_free_owner_table() after unlocking; or NULL.
 */
struct eresource_owner *eresource_detach_empty_table(struct eresource *resource)
{
	struct eresource_owner *table = NULL;

	if (resource->owner_table_size > ERESOURCE_KEPT_TABLE_SIZE_MAX &&
	    !resource->active_count && !resource->shared_waiter_count) {
		swap(table, resource->owner_table);
		resource->owner_table_size = 0;
	}
	return table;
}
