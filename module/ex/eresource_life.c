// SPDX-License-Identifier: GPL-2.0-only

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ground/address.h"
#include "../perf/resource.h"
#include "eresource_state.h"
#include "eresource_tree.h"

u32 __ex_initialize_resource_lite(struct eresource *resource, const char *name,
				  struct lock_class_key *key)
{
	unsigned long flags;
	bool is_live;

	if (!resource) {
		eresource_refuse_null("ExInitializeResource", _RET_IP_);
		return STATUS_INVALID_PARAMETER;
	}
	raw_spin_lock_irqsave(&ex_resources_lock, flags);
	is_live = ex_resource_is_live(resource);
	if (!is_live) {
		memset(resource, 0, sizeof(*resource));
		raw_spin_lock_init(&resource->lock);
		INIT_LIST_HEAD(&resource->shared_waiters);
		INIT_LIST_HEAD(&resource->exclusive_waiters);
		resource->init_caller = _RET_IP_;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
		lockdep_init_map_wait(&resource->dep_map, name, key, 0, LD_WAIT_SLEEP);
#endif
		ex_insert_resource(resource);
	}
	raw_spin_unlock_irqrestore(&ex_resources_lock, flags);
	if (WARN_ONCE(is_live,
		      "ExInitializeResource: resource %llx is live already, called from %pS\n",
		      ntklog_get_displayed_address((unsigned long)resource),
		      ntklog_get_printable_code(_RET_IP_)))
		return STATUS_INVALID_PARAMETER;
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_log_resource_initialize(resource);
	return STATUS_SUCCESS;
}
EXPORT_SYMBOL_GPL(__ex_initialize_resource_lite);

/**
 * ex_reinitialize_resource_lite() - NT's ExReinitializeResourceLite
 * @resource: a resource without waiters
 *
 * Removes all owners and resets the contention count.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: STATUS_SUCCESS, or STATUS_INVALID_PARAMETER after a warning.
 */
u32 ex_reinitialize_resource_lite(struct eresource *resource)
{
	u32 waiter_count, owner_entry_count, owner_count, i;
	unsigned long flags;

	if (!resource) {
		eresource_refuse_null("ExReinitializeResource", _RET_IP_);
		return STATUS_INVALID_PARAMETER;
	}
	flags = eresource_lock(resource);
	waiter_count = resource->shared_waiter_count + resource->exclusive_waiter_count;
	owner_entry_count = eresource_count_owner_entries(resource);
	owner_count = resource->active_count;
	if (!waiter_count) {
		for (i = 0; i < owner_entry_count; i++) {
			struct eresource_owner *owner = eresource_get_owner_entry(resource, i);

			if (owner->thread && static_branch_unlikely(&ntklog_resource_key))
				ntklog_drop_resource_slot(resource, owner->thread);
			owner->thread = 0;
		}
		resource->active_count = 0;
		WRITE_ONCE(resource->contention_count, 0);
#ifdef CONFIG_LOCKDEP
		if (lock_is_held(&resource->dep_map))
			lock_release(&resource->dep_map, _RET_IP_);
#endif
	}
	eresource_unlock(resource, flags);
	if (WARN_ONCE(waiter_count,
		      "ExReinitializeResource: %u wait for resource %llx, called from %pS\n",
		      waiter_count, ntklog_get_displayed_address((unsigned long)resource),
		      ntklog_get_printable_code(_RET_IP_)))
		return STATUS_INVALID_PARAMETER;
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_log_resource_reinitialize(resource, owner_entry_count, owner_count);
	return STATUS_SUCCESS;
}
EXPORT_SYMBOL_GPL(ex_reinitialize_resource_lite);

/**
 * ex_delete_resource_lite() - NT's ExDeleteResourceLite
 * @resource: a live resource without owners
 *
 * The caller may free the memory when this function has succeeded.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: STATUS_SUCCESS, or STATUS_INVALID_PARAMETER after a warning.
 */
u32 ex_delete_resource_lite(struct eresource *resource)
{
	struct eresource_owner *table = NULL;
	unsigned long tree_lock_flags, flags;
	u32 owner_count = 0;
	bool is_live;

	if (!resource) {
		eresource_refuse_null("ExDeleteResource", _RET_IP_);
		return STATUS_INVALID_PARAMETER;
	}
	raw_spin_lock_irqsave(&ex_resources_lock, tree_lock_flags);
	is_live = ex_resource_is_live(resource);
	if (is_live) {
		flags = eresource_lock(resource);
		/* A resource without owners has no waiters either. */
		owner_count = resource->active_count;
		if (!owner_count) {
			ex_remove_resource(resource);
			swap(table, resource->owner_table);
			resource->owner_table_size = 0;
		}
		eresource_unlock(resource, flags);
	}
	raw_spin_unlock_irqrestore(&ex_resources_lock, tree_lock_flags);
	if (WARN_ONCE(!is_live || owner_count,
		      "ExDeleteResource: resource %llx is %s, called from %pS\n",
		      ntklog_get_displayed_address((unsigned long)resource),
		      is_live ? "owned" : "not live", ntklog_get_printable_code(_RET_IP_)))
		return STATUS_INVALID_PARAMETER;
	eresource_free_owner_table(table);
	return STATUS_SUCCESS;
}
EXPORT_SYMBOL_GPL(ex_delete_resource_lite);
