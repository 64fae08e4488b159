// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>
#include <ntklog/eresource.h>

#include "eresource_state.h"

/* @exclusive is valid if the result is not 0. */
static u32 eresource_count_acquisitions(struct eresource *resource, bool *exclusive)
{
	unsigned long thread = ex_get_current_resource_thread();
	unsigned long word = atomic_long_read(&resource->word);
	struct eresource_owner *owner = NULL;
	unsigned long flags;
	u32 count = 0;

	/* Other tasks may change the word, but usually not the acquisitions of the current one. */
	if (word != ERESOURCE_STATE_IN_MEMBERS) {
		*exclusive = word & ERESOURCE_EXCLUSIVE_BIT;
		return (word & ERESOURCE_TASK_MASK) == thread ? eresource_get_depth(word) : 0;
	}
	flags = eresource_lock(resource);
	owner = eresource_find_owner(resource, thread);
	if (owner)
		count = owner->count;
	*exclusive = resource->exclusive;
	eresource_unlock(resource, flags);
	return count;
}

/**
 * ex_is_resource_acquired_exclusive_lite() - NT's ExIsResourceAcquiredExclusiveLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: true if the current task is the exclusive owner.
 */
bool ex_is_resource_acquired_exclusive_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredExclusive", _RET_IP_);
	return eresource_count_acquisitions(resource, &exclusive) && exclusive;
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_exclusive_lite);

/**
 * ex_is_resource_acquired_shared_lite() - NT's ExIsResourceAcquiredSharedLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: number of acquisitions that the current task holds, shared or exclusive.
 */
u32 ex_is_resource_acquired_shared_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredShared", _RET_IP_);
	return eresource_count_acquisitions(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_shared_lite);

/* Return the number of owners; set @exclusive if it is one exclusive owner. */
static u32 eresource_count_owners(struct eresource *resource, bool *exclusive)
{
	unsigned long word = atomic_long_read(&resource->word);
	unsigned long flags;
	u32 owner_count = !!word;

	*exclusive = word & ERESOURCE_EXCLUSIVE_BIT;
	if (word != ERESOURCE_STATE_IN_MEMBERS)
		return owner_count;
	flags = eresource_lock(resource);
	owner_count = resource->active_count;
	*exclusive = owner_count && resource->exclusive;
	eresource_unlock(resource, flags);
	return owner_count;
}

/**
 * ex_get_resource_active_count() - return NT's ERESOURCE.ActiveCount
 * @resource: the resource
 *
 * Context: any but NMI. The value may be stale when it is returned.
 * Return: number of owners.
 */
u32 ex_get_resource_active_count(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceActiveCount", _RET_IP_);
	return eresource_count_owners(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_get_resource_active_count);

/**
 * ex_get_resource_flag() - return NT's ERESOURCE.Flag
 * @resource: the resource
 *
 * Context: any but NMI. The value may be stale when it is returned.
 * Return: ERESOURCE_FLAG_*.
 */
u16 ex_get_resource_flag(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceFlag", _RET_IP_);
	eresource_count_owners(resource, &exclusive);
	return READ_ONCE(resource->flag) |
		(exclusive ? ERESOURCE_FLAG_OWNED_EXCLUSIVE : 0);
}
EXPORT_SYMBOL_GPL(ex_get_resource_flag);
