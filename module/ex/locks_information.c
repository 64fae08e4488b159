// SPDX-License-Identifier: GPL-2.0-only
/* Description of all live resources, for NT's SystemLocksInformation. */

#include <linux/err.h>
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/mm.h>

#include "../ground/address.h"
#include "eresource_state.h"
#include "eresource_tree.h"
#include "locks_information.h"

/* Number of resources that are described with interrupts off before the lock is dropped. */
#define EX_LOCKS_BATCH_SIZE	32

static void ex_describe_resource(struct eresource *resource,
				 struct ex_resource_description *description)
{
	struct rtl_process_lock_information64 *lock_information = &description->information;
	unsigned long word;
	bool exclusive;
	u32 i;

	raw_spin_lock(&resource->lock);
	word = atomic_long_read(&resource->word);
	if (word == ERESOURCE_STATE_IN_MEMBERS) {
		exclusive = resource->exclusive && resource->active_count;
		lock_information->lock_count = resource->active_count;
		for (i = 0; i < eresource_count_owner_entries(resource); i++) {
			struct eresource_owner *owner = eresource_get_owner_entry(resource, i);

			if (!owner->thread)
				continue;
			lock_information->entry_count += owner->count;
			if (exclusive)
				description->owner = owner->thread;
		}
	} else {
		/* The word is read once, so the description is consistent. */
		exclusive = word & ERESOURCE_EXCLUSIVE_BIT;
		lock_information->lock_count = !!word;
		lock_information->entry_count = eresource_get_depth(word);
		if (exclusive)
			description->owner = word & ERESOURCE_TASK_MASK;
	}
	if (exclusive)
		lock_information->recursion_count = lock_information->entry_count;
	lock_information->address = ntklog_get_displayed_address((unsigned long)resource);
	description->resource = (unsigned long)resource;
	lock_information->type = RTL_RESOURCE_TYPE;
	lock_information->contention_count = resource->contention_count;
	lock_information->number_of_waiting_shared = resource->shared_waiter_count;
	lock_information->number_of_waiting_exclusive = resource->exclusive_waiter_count;
	description->init_caller = resource->init_caller;
	raw_spin_unlock(&resource->lock);
}

/* The address is compared with those of all tasks and not dereferenced. */
static u32 ex_get_owner_thread_id(unsigned long owner)
{
	struct task_struct *process, *thread;
	u32 id = 0;

	if (!owner || owner & ~ERESOURCE_TASK_MASK)
		return 0;
	rcu_read_lock();
	for_each_process_thread(process, thread) {
		if ((unsigned long)thread == owner) {
			id = task_pid_nr(thread);
			goto out;
		}
	}
out:
	rcu_read_unlock();
	return id;
}

/* Describe up to @max_count resources. Returns true if these were all. */
static bool ex_describe_resources(struct ex_resource_descriptions *descriptions, u32 max_count)
{
	unsigned long flags, next_address = 0;
	struct eresource *resource;
	u32 i;

	descriptions->count = 0;
	do {
		raw_spin_lock_irqsave(&ex_resources_lock, flags);
		resource = ex_find_resource_at_or_above(next_address);
		for (i = 0; resource && i < EX_LOCKS_BATCH_SIZE; i++) {
			if (descriptions->count == max_count)
				break;
			ex_describe_resource(resource,
					     &descriptions->entries[descriptions->count++]);
			next_address = (unsigned long)resource + 1;
			resource = ex_get_next_resource(resource);
		}
		raw_spin_unlock_irqrestore(&ex_resources_lock, flags);
		cond_resched();
	} while (resource && descriptions->count < max_count);
	return !resource;
}

/**
 * ex_describe_all_resources() - describe all live resources
 *
 * Resources that are initialised or deleted meanwhile may be described or not.
 *
 * Context: task; may sleep.
 * Return: the descriptions, to be freed with kvfree(), or ERR_PTR(-ENOMEM).
 */
struct ex_resource_descriptions *ex_describe_all_resources(void)
{
	struct ex_resource_descriptions *descriptions;
	u32 max_count, i;

	for (;;) {
		/* Allocate more, because resources may be initialised during the allocation. */
		max_count = READ_ONCE(ex_resource_count) + EX_LOCKS_BATCH_SIZE;
		descriptions = kvzalloc(struct_size(descriptions, entries, max_count),
					GFP_KERNEL);
		if (!descriptions)
			return ERR_PTR(-ENOMEM);
		if (ex_describe_resources(descriptions, max_count))
			break;
		kvfree(descriptions);
	}
	for (i = 0; i < descriptions->count; i++) {
		struct ex_resource_description *description = &descriptions->entries[i];

		description->information.owning_thread = ex_get_owner_thread_id(description->owner);
		cond_resched();
	}
	return descriptions;
}

/**
 * ex_query_locks_information() - describe all live resources in NT's format
 * @size: set to the size of the result in bytes
 *
 * Context: task; may sleep.
 * Return: RTL_PROCESS_LOCKS in the 64-bit layout, to be freed with kvfree(), or ERR_PTR(-ENOMEM).
 */
struct rtl_process_locks64 *ex_query_locks_information(size_t *size)
{
	struct ex_resource_descriptions *descriptions = ex_describe_all_resources();
	struct rtl_process_locks64 *information;
	u32 i;

	if (IS_ERR(descriptions))
		return ERR_CAST(descriptions);
	*size = struct_size(information, locks, descriptions->count);
	information = kvzalloc(*size, GFP_KERNEL);
	if (information) {
		information->number_of_locks = descriptions->count;
		for (i = 0; i < descriptions->count; i++)
			information->locks[i] = descriptions->entries[i].information;
	}
	kvfree(descriptions);
	return information ?: ERR_PTR(-ENOMEM);
}
