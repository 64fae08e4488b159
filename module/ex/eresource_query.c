// SPDX-License-Identifier: GPL-2.0-only
/* Queries of an executive resource's owners. */

#include <linux/export.h>
#include <ntklog/eresource.h>

#include "eresource_state.h"

/* How often the current thread owns it, and whether exclusively. */
static u32 eresource_owned(struct eresource *resource, bool *exclusive)
{
	unsigned long thread = ex_get_current_resource_thread();
	unsigned long word = atomic_long_read(&resource->word);
	struct eresource_owner *owner = NULL;
	unsigned long flags;
	u32 count = 0;

	/* Whatever others do meanwhile, it does not change what this one owns. */
	if (word != ERESOURCE_INNER) {
		*exclusive = word & ERESOURCE_EXCLUSIVE;
		return (word & ERESOURCE_THREAD) == thread ? eresource_depth(word) : 0;
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
 * Return: whether the current thread owns it exclusively.
 */
bool ex_is_resource_acquired_exclusive_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredExclusive", _RET_IP_);
	return eresource_owned(resource, &exclusive) && exclusive;
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_exclusive_lite);

/**
 * ex_is_resource_acquired_shared_lite() - NT's ExIsResourceAcquiredSharedLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: how often the current thread owns it, shared or exclusively.
 */
u32 ex_is_resource_acquired_shared_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredShared", _RET_IP_);
	return eresource_owned(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_shared_lite);

/* Owners of any kind, and whether it is one exclusive one. */
static u32 eresource_owners(struct eresource *resource, bool *exclusive)
{
	unsigned long word = atomic_long_read(&resource->word);
	unsigned long flags;
	u32 owners = !!word;

	*exclusive = word & ERESOURCE_EXCLUSIVE;
	if (word != ERESOURCE_INNER)
		return owners;
	flags = eresource_lock(resource);
	owners = resource->active_count;
	*exclusive = owners && resource->exclusive;
	eresource_unlock(resource, flags);
	return owners;
}

/**
 * ex_get_resource_active_count() - what NT has in ERESOURCE.ActiveCount
 * @resource: the resource
 *
 * Context: any.
 * Return: how many owners it has at this moment.
 */
u32 ex_get_resource_active_count(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceActiveCount", _RET_IP_);
	return eresource_owners(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_get_resource_active_count);

/**
 * ex_get_resource_flag() - what NT has in ERESOURCE.Flag
 * @resource: the resource
 *
 * Context: any.
 * Return: ERESOURCE_FLAG_*, of this moment.
 */
u16 ex_get_resource_flag(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceFlag", _RET_IP_);
	eresource_owners(resource, &exclusive);
	return READ_ONCE(resource->flag) |
		(exclusive ? ERESOURCE_FLAG_OWNED_EXCLUSIVE : 0);
}
EXPORT_SYMBOL_GPL(ex_get_resource_flag);
